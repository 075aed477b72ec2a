//! Quotas as they are told of.

use engine::quota::policy::ChildLevelPreemption;
use engine::quota::policy::SelfLevelPreemption;
use engine::quota::tree::Quota;
use engine::state::world::State;
use engine::unit::amount::Amount;
use engine::unit::id::QuotaNo;
use engine::unit::priority::Priority;
use engine::unit::priority::PrioritySet;
use engine::unit::sort;
use serde_json::Value;
use serde_json::json;

use crate::operation::page::Direction;
use crate::operation::quota::ListQuotas;
use crate::operation::quota::QuotaOrder;
use crate::operation::quota::STRATEGIES;
use crate::operation::quota::Under;
use crate::operation::quota::read_nodes;
use crate::problem::Problem;
use crate::service::amount;
use crate::service::context::Context;
use crate::service::context::contains;
use crate::service::context::is_labelled;
use crate::service::context::paged;
use crate::service::document::Document;
use crate::service::document::Kind;
use crate::service::job::view::all_pods;
use crate::service::job::view::kind_of_quota;
use crate::service::job::view::machine_word;
use crate::service::named::quota_name;
use crate::service::workspace;

pub(super) fn get(context: &Context, name: &str) -> Result<Value, Problem> {
    told(context, context.quota(name)?)
}

pub(super) fn list(context: &Context, asked: &ListQuotas) -> Result<Value, Problem> {
    let state = context.state()?;
    let parent = match &asked.under {
        Under::Anything => None,
        Under::Nothing => Some(None),
        Under::Quota(id) => Some(Some(context.quota(id)?)),
    };
    let quotas = state.live_quotas().filter(|_| context.is_somebody(state));
    let mut found = Vec::new();
    for (no, quota) in quotas {
        let is_meant = parent.is_none_or(|parent| quota.parent == parent)
            && (asked.quotas.is_empty() || asked.quotas.iter().any(|id| id == quota.id.as_str()))
            && asked.resource_type.is_none_or(|kind| kind_of_quota(state, no) == kind)
            && asked.ready
            && (asked.workspaces.is_empty() || is_attached(context, no, &asked.workspaces)?)
            && is_in_workspace_called(context, no, asked.workspace_part.as_deref())?;
        let document = context.document(Kind::Quota, quota.id.as_str())?;
        let shown = quota_name(context, quota)?;
        let is_called = contains(&shown, asked.name_part.as_deref());
        if is_meant && is_called && is_labelled(&document, "Labels", &asked.labels) {
            found.push((no, shown, document));
        }
    }
    order(state, &mut found, asked);
    let (page, total) = paged(found, asked.page);
    let quotas = page.into_iter().map(|(no, ..)| told(context, no)).collect::<Result<Vec<Value>, Problem>>()?;
    Ok(json!({ "Quotas": quotas, "TotalCount": total }))
}

/// Quotas that are equal come as they were created.
fn order(state: &State, quotas: &mut [(QuotaNo, String, Document)], asked: &ListQuotas) {
    let time =
        |document: &Document, field: &str| document.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    match asked.sort {
        // What was made natively has no times in its document; numbers are in the order of creation.
        None | Some(QuotaOrder::Created) => {}
        Some(QuotaOrder::Name) => sort::by(quotas, |(_, a, _), (_, b, _)| a.cmp(b)),
        Some(QuotaOrder::Modified) => {
            sort::by(quotas, |(.., a), (.., b)| time(a, "GmtModifiedTime").cmp(&time(b, "GmtModifiedTime")));
        }
        Some(QuotaOrder::Amount(kind)) => {
            sort::by_key(quotas, |(no, ..)| amount::in_units(state, &state.quotas[no.at()].min.amount, kind));
        }
    }
    if asked.direction == Direction::Descending {
        quotas.reverse();
    }
}

fn is_in_workspace_called(context: &Context, no: QuotaNo, part: Option<&str>) -> Result<bool, Problem> {
    let Some(part) = part else { return Ok(true) };
    for (id, workspace) in &context.state()?.workspaces {
        if workspace.quotas.contains(&no) && context.sees(workspace) {
            let shown = workspace.name.as_deref().unwrap_or_default();
            if contains(shown, Some(part)) || contains(&workspace::name_of(context, id)?, Some(part)) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

fn is_attached(context: &Context, no: QuotaNo, workspaces: &[String]) -> Result<bool, Problem> {
    let all = &context.state()?.workspaces;
    let is_one = |(id, _): &(&engine::unit::id::WorkspaceId, _)| workspaces.iter().any(|name| name == id.as_str());
    Ok(all.iter().filter(is_one).any(|(_, workspace)| context.sees(workspace) && workspace.quotas.contains(&no)))
}

fn told(context: &Context, no: QuotaNo) -> Result<Value, Problem> {
    let state = context.state()?;
    let quota = &state.quotas[no.at()];
    let mut fields = context.document(Kind::Quota, quota.id.as_str())?;
    let children = state
        .children(no)
        .map(|(_, child)| Ok(json!({ "QuotaId": child.id.as_str(), "QuotaName": quota_name(context, child)? })));
    let workspaces = state.workspaces.iter().filter(|(_, of)| context.sees(of) && of.quotas.contains(&no));
    let workspaces = workspaces
        .map(|(id, _)| Ok(json!({ "WorkspaceId": id.as_str(), "WorkspaceName": workspace::shown_name(context, id)? })));
    let groups = quota.groups.iter().map(|group| state.groups[group.at()].id.as_str());
    let strategy = STRATEGIES.iter().find(|(_, strategy)| *strategy == quota.settings.strategy);
    let told = json!({
        "QuotaId": quota.id.as_str(),
        "QuotaName": fields.get("QuotaName").and_then(Value::as_str).unwrap_or(quota.id.as_str()),
        "ParentQuotaId": quota.parent.map(|parent| state.quotas[parent.at()].id.as_str()),
        "SubQuotas": children.collect::<Result<Vec<Value>, Problem>>()?,
        "Workspaces": workspaces.collect::<Result<Vec<Value>, Problem>>()?,
        "ResourceType": machine_word(kind_of_quota(state, no)),
        "ResourceGroupIds": groups.collect::<Vec<_>>(),
        "AllocateStrategy": "ByNodeSpecs",
        "QueueStrategy": strategy.map(|(name, _)| *name),
        "Min": min(state, quota, &fields),
        "QuotaConfig": config(quota, &fields),
        "QuotaDetails": details(context, no)?,
        "Status": "Ready",
    });
    if let Value::Object(told) = told {
        fields.extend(told);
    }
    Ok(Value::Object(fields))
}

/// The amount in nodes: as it was sent, while it is still that; else in nodes of one type, if it is whole ones. An
/// amount that is neither is told in the details alone.
fn min(state: &State, quota: &Quota, document: &Document) -> Option<Value> {
    let sent = document.get("Min");
    let is_still_so = sent.and_then(Value::as_object).and_then(|min| read_nodes(min).ok()).is_some_and(|nodes| {
        amount::of_nodes(state, &nodes, |at| quota.min.states(at)).is_ok_and(|sums| {
            let stated = state.cluster.dimensions.iter().enumerate().filter(|(at, _)| quota.min.states(*at));
            stated
                .into_iter()
                .all(|(at, dimension)| sums.get(&dimension.name).copied().unwrap_or_default() == quota.min.amount[at])
        })
    });
    if is_still_so {
        return sent.cloned();
    }
    amount::in_nodes(state, quota).map(|nodes| amount::node_specs(&nodes))
}

/// The configuration as it was sent, with the engine's word on everything that it judges by.
fn config(quota: &Quota, document: &Document) -> Value {
    let settings = &quota.settings;
    let mut fields = document.get("QuotaConfig").and_then(Value::as_object).cloned().unwrap_or_default();
    let child_level = Value::from(settings.child_level.is_some());
    fields.insert("EnableSelfQuotaPreemption".to_owned(), Value::from(settings.self_level.is_some()));
    fields.insert("EnableSubQuotaPreemption".to_owned(), child_level.clone());
    // Its older name.
    fields.insert("EnablePreemptSubquotaWorkloads".to_owned(), child_level);
    if let Some(policy) = &settings.self_level {
        fields.insert("SelfQuotaPreemptionConfig".to_owned(), self_level(policy));
    }
    if let Some(policy) = &settings.child_level {
        fields.insert("SubQuotaPreemptionConfig".to_owned(), child_level_config(policy));
    }
    let oversold = fields.entry("OversoldUsageConfig").or_insert_with(|| json!({}));
    oversold["Disabled"] = Value::from(!settings.lends);
    Value::Object(fields)
}

fn self_level(policy: &SelfLevelPreemption) -> Value {
    json!({
        "PreemptorPriorities": policy.high,
        "PreemptedPriorities": policy.low,
        "PreemptedProducts": policy.modules,
    })
}

/// The wire has one upper bound where the engine has a set: a set that does not begin at 1 is told beside it.
fn child_level_config(policy: &ChildLevelPreemption) -> Value {
    let bound = (1..=9).filter_map(|value| Priority::new(value).ok());
    let bound = bound.into_iter().find(|top| PrioritySet::range(Priority::LOWEST, *top) == policy.preemptible);
    json!({
        "PreemptedPriorityUpperBound": bound.map(Priority::get),
        "PreemptedPriorities": policy.preemptible,
        "PreemptedProducts": policy.modules,
    })
}

/// Guarantee and use, split by whose quota a job was submitted to.
fn details(context: &Context, no: QuotaNo) -> Result<Value, Problem> {
    let state = context.state()?;
    let (quota, used) = (&state.quotas[no.at()], &state.ledger.quotas[no.at()]);
    let resource = |amount: &Amount| amount::resource(state, amount);
    let submitted = state.jobs.iter().filter(|(_, job)| job.spec.quota == no && !job.is_ended() && !job.bids());
    let (mut all, mut requested) = (Amount::ZERO, Amount::ZERO);
    for (_, job) in submitted {
        all += all_pods(job);
        if !job.is_queued() {
            requested += all_pods(job);
        }
    }
    let min = resource(&quota.min.amount);
    let allocated = resource(&used.used);
    Ok(json!({
        "DesiredMinQuota": min,
        "ActualMinQuota": min,
        "AllocatableQuota": min,
        "SelfSubmittedQuota": resource(&all),
        "RequestedQuota": resource(&requested),
        "AllocatedQuota": allocated,
        "UsedQuota": allocated,
        "SelfAllocatedQuota": resource(&used.own_jobs),
        "DescendantsAllocatedQuota": resource(&used.used.minus(&used.own_jobs)),
    }))
}
