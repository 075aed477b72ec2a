//! The jobs of a quota, and their places in its queue.

use engine::job::phase::Phase;
use engine::schedule::order;
use engine::state::jobs::Job;
use engine::state::world::State;
use engine::unit::id::JobNo;
use engine::unit::id::QuotaNo;
use engine::unit::ordered::Map;
use engine::unit::sort;
use serde_json::Value;
use serde_json::json;

use crate::calendar;
use crate::operation::quota::ListWorkloads;
use crate::operation::quota::STRATEGIES;
use crate::problem::Problem;
use crate::service::amount;
use crate::service::job::times;
use crate::service::job::view;
use crate::service::visit::Visit;
use crate::service::visit::paged;

pub(super) fn list(visit: &Visit, asked: &ListWorkloads) -> Result<Value, Problem> {
    let state = visit.state()?;
    let asked_for = visit.quota(&asked.quota)?;
    let quotas = match asked.descendants.as_slice() {
        [] => vec![asked_for],
        named => {
            let below = state.subtree(asked_for);
            let nos = named.iter().map(|id| visit.quota(id)).collect::<Result<Vec<QuotaNo>, Problem>>()?;
            nos.into_iter().filter(|no| below.contains(no)).collect()
        }
    };
    let mut found = Vec::new();
    for quota in quotas {
        for (no, place) in members(visit, state, quota)? {
            if is_asked_for(asked, &state.jobs[no]) {
                found.push((no, place));
            }
        }
    }
    let (page, total) = paged(found, asked.page);
    let told = page.into_iter().map(|(no, place)| told(visit, state, no, place));
    let workloads = told.collect::<Result<Vec<Value>, Problem>>()?;
    Ok(json!({ "Workloads": workloads, "TotalCount": total }))
}

/// A quota's jobs that have not ended: those that wait in the order of its queue with their places from 1, and before
/// them those that do not.
fn members(visit: &Visit, state: &State, quota: QuotaNo) -> Result<Vec<(JobNo, Option<usize>)>, Problem> {
    let mut members = Vec::new();
    let order = order::positions(state, quota, visit.now);
    let places: Map<_, _> = order.into_iter().zip(1usize..).collect();
    let jobs = state.jobs.iter().filter(|(_, job)| job.spec.quota == quota && !job.bids() && !job.is_ended());
    for (no, job) in jobs {
        if visit.may_see_job(&job.spec.id)? {
            members.push((no, places.get(&no).copied()));
        }
    }
    sort::by_key(&mut members, |(_, place)| *place);
    Ok(members)
}

fn is_asked_for(asked: &ListWorkloads, job: &Job) -> bool {
    let spec = &job.spec;
    let among = |names: &[String], name: Option<&str>| {
        names.is_empty() || name.is_some_and(|name| names.iter().any(|one| one == name))
    };
    among(&asked.jobs, Some(spec.id.as_str()))
        && among(&asked.workspaces, spec.workspace.as_ref().map(engine::unit::id::WorkspaceId::as_str))
        && among(&asked.users, spec.user.as_ref().map(engine::unit::id::UserId::as_str))
        && asked.module.is_none_or(|module| spec.module == module)
        && asked.priority.is_none_or(|priority| spec.priority == priority)
        && asked.idle.is_none_or(|idle| view::runs_idle(job) == idle)
}

fn told(visit: &Visit, state: &State, no: JobNo, place: Option<usize>) -> Result<Value, Problem> {
    let job = &state.jobs[no];
    let spec = &job.spec;
    let workspace = spec.workspace.as_ref();
    let quota = &state.quotas[spec.quota.at()];
    let strategy = STRATEGIES.iter().find(|(_, strategy)| *strategy == quota.settings.strategy);
    let (code, reason) = waiting(visit, state, no)?;
    let enqueued = if job.is_queued() { job.waiting_since } else { job.submitted };
    Ok(json!({
        "WorkloadId": spec.id.as_str(),
        "WorkloadName": spec.name.as_deref().unwrap_or(spec.id.as_str()),
        "WorkloadType": spec.module.as_str().to_ascii_lowercase(),
        "WorkloadStatus": view::status(job),
        "Name": spec.id.as_str(),
        "Status": if job.is_queued() { "Enqueued" } else { "Dequeued" },
        "Position": place,
        "Priority": spec.priority.get(),
        "QuotaId": quota.id.as_str(),
        "QueueStrategy": strategy.map(|(name, _)| *name),
        "Resource": amount::resource(state, &view::all_pods(job)),
        "UseOversoldResource": view::runs_idle(job),
        "Code": code,
        "CodeType": if code.is_empty() { "" } else { "SchedulingRule" },
        "Reason": reason,
        "UserId": spec.user.as_ref().map(engine::unit::id::UserId::as_str),
        "UserName": spec.user.as_ref().map(engine::unit::id::UserId::as_str),
        "WorkspaceId": workspace.map(engine::unit::id::WorkspaceId::as_str),
        "WorkspaceName": workspace.and_then(|id| state.workspaces.get(id)?.name.as_deref()),
        "GmtCreatedTime": calendar::written(job.submitted),
        "GmtEnqueuedTime": calendar::written(enqueued),
        "GmtDequeuedTime": times(job, visit.now).get("GmtRunningTime"),
    }))
}

/// Why a job waits, as the last round found. A list does not try the sources anew, which an answer on one job does.
fn waiting(visit: &Visit, state: &State, no: JobNo) -> Result<(String, String), Problem> {
    let job = &state.jobs[no];
    if !matches!(job.phase, Phase::Queued { .. }) {
        return Ok(Default::default());
    }
    let found = job.class.and_then(|class| state.queue.classes[class.at()].hold.as_deref().cloned());
    found.map_or_else(|| Ok(Default::default()), |hold| view::binding(visit, hold))
}
