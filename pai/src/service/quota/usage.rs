//! Who uses how much of a quota.

use std::collections::BTreeMap;

use engine::unit::amount::Amount;
use engine::unit::id::QuotaNo;
use engine::unit::sort;
use serde_json::Value;
use serde_json::json;

use crate::operation::page::Direction;
use crate::operation::workload::ListUsages;
use crate::operation::workload::UsageOrder;
use crate::problem::Problem;
use crate::service::amount;
use crate::service::context::Context;
use crate::service::context::paged;
use crate::service::held;
use crate::service::job::view::all_pods;

/// What a user has in a quota.
#[derive(Default)]
struct Usage {
    jobs: u32,
    submitted: Amount,
    used: Amount,
}

pub(super) fn list(context: &Context, asked: &ListUsages) -> Result<Value, Problem> {
    let ListUsages { quota, users, workspace, own_only, sort: order, direction, page } = asked;
    let (state, no) = (context.state()?, context.quota(quota)?);
    let quotas: Vec<QuotaNo> = if *own_only { vec![no] } else { state.subtree(no) };
    let mut usages: BTreeMap<&str, Usage> = BTreeMap::new();
    for (_, job) in state.jobs.iter().filter(|(_, job)| !job.is_ended() && quotas.contains(&job.spec.quota)) {
        let spec = &job.spec;
        let is_by = |name: &String| spec.user.as_ref().is_some_and(|of| of.as_str() == name);
        let is_meant = workspace.as_ref().is_none_or(|id| spec.workspace.as_ref().is_some_and(|of| of.as_str() == id))
            && users.iter().all(is_by);
        if !is_meant || !context.may_see_job(&spec.id)? {
            continue;
        }
        let usage = usages.entry(spec.user.as_ref().map_or("", |user| user.as_str())).or_default();
        usage.jobs += 1;
        usage.submitted += all_pods(job);
        usage.used += held::amount(job);
    }
    let mut usages: Vec<_> = usages.into_iter().collect();
    let key = |usage: &Usage| match order {
        None => 0,
        Some(UsageOrder::Jobs) => i64::from(usage.jobs),
        Some(UsageOrder::Submitted(kind)) => amount::in_units(state, &usage.submitted, *kind),
        Some(UsageOrder::Used(kind)) => amount::in_units(state, &usage.used, *kind),
    };
    sort::by_key(&mut usages, |(_, usage)| key(usage));
    if *direction == Direction::Descending {
        usages.reverse();
    }
    let (page, total) = paged(usages, *page);
    let one = |(user, usage): (&str, Usage)| {
        json!({
            "UserId": user,
            "Username": user,
            "WorkloadCount": usage.jobs,
            "Resources": {
                "Submitted": amount::resource(state, &usage.submitted),
                "Used": amount::resource(state, &usage.used),
            },
        })
    };
    let users: Value = page.into_iter().map(one).collect();
    // The field has had two names.
    Ok(json!({ "QuotaUserUsages": users, "QuotaUserUsage": users, "TotalCount": total }))
}
