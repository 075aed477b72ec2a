//! The jobs of a quota, and their places in its queue.

use engine::job::phase::Phase;
use engine::schedule::order;
use engine::state::jobs::Job;
use engine::state::world::State;
use engine::unit::id::JobNo;
use engine::unit::id::QuotaNo;
use engine::unit::ordered::Map;
use engine::unit::sort;
use engine::unit::time::Timestamp;
use serde_json::Value;
use serde_json::json;

use crate::calendar;
use crate::operation::page::Direction;
use crate::operation::quota::STRATEGIES;
use crate::operation::workload::ListWorkloads;
use crate::operation::workload::WorkloadOrder;
use crate::problem::Problem;
use crate::service::amount;
use crate::service::context::Context;
use crate::service::context::one_of;
use crate::service::context::paged;
use crate::service::context::word_of;
use crate::service::document::Kind;
use crate::service::held;
use crate::service::job::pods;
use crate::service::job::started;
use crate::service::job::view;
use crate::service::named::quota_name;
use crate::service::workspace;

pub(super) fn list(context: &Context, asked: &ListWorkloads) -> Result<Value, Problem> {
    let state = context.state()?;
    let asked_for = context.quota(&asked.quota)?;
    let quotas = match asked.descendants.as_slice() {
        [] => vec![asked_for],
        named => {
            let below = state.subtree(asked_for);
            let nos = named.iter().map(|id| context.quota(id)).collect::<Result<Vec<QuotaNo>, Problem>>()?;
            nos.into_iter().filter(|no| below.contains(no)).collect()
        }
    };
    let mut found = Vec::new();
    for quota in quotas {
        for (no, place) in members(context, state, quota)? {
            if is_asked_for(context, asked, &state.jobs[no], place)? {
                found.push((no, place));
            }
        }
    }
    arrange(state, &mut found, asked);
    let (page, total) = paged(found, asked.page);
    let told = page.into_iter().map(|(no, place)| told(context, state, no, place));
    let workloads = told.collect::<Result<Vec<Value>, Problem>>()?;
    Ok(json!({ "Workloads": workloads, "TotalCount": total }))
}

/// A quota's jobs that have not ended: those that wait in the order of its queue with their places from 1, and before
/// them those that do not.
fn members(context: &Context, state: &State, quota: QuotaNo) -> Result<Vec<(JobNo, Option<usize>)>, Problem> {
    let mut members = Vec::new();
    let order = order::positions(state, quota, context.now);
    let places: Map<_, _> = order.into_iter().zip(1usize..).collect();
    let jobs = state.jobs.iter().filter(|(_, job)| job.spec.quota == quota && !job.bids() && !job.is_ended());
    for (no, job) in jobs {
        if context.may_see_job(&job.spec.id)? {
            members.push((no, places.get(&no).copied()));
        }
    }
    sort::by_key(&mut members, |(_, place)| *place);
    Ok(members)
}

fn is_asked_for(context: &Context, asked: &ListWorkloads, job: &Job, place: Option<usize>) -> Result<bool, Problem> {
    let spec = &job.spec;
    let shown = spec.name.as_deref().unwrap_or(spec.id.as_str());
    let is_at = |wanted: i64| place.is_some_and(|place| i64::try_from(place) == Ok(wanted));
    Ok(one_of(&asked.jobs, Some(spec.id.as_str()))
        && one_of(&asked.names, Some(shown))
        && one_of(&asked.workspaces, spec.workspace.as_ref().map(engine::unit::id::WorkspaceId::as_str))
        && one_of(&asked.users, spec.user.as_ref().map(engine::unit::id::UserId::as_str))
        && word_of(&asked.statuses, view::status(job))
        && (asked.modules.is_empty() || asked.modules.contains(&spec.module))
        && (asked.waiting.is_empty() || asked.waiting.contains(&job.is_queued()))
        && (!asked.own || spec.user.as_ref() == Some(&context.sender.user))
        && asked.priority.is_none_or(|priority| spec.priority == priority)
        && asked.place.is_none_or(is_at)
        && asked.idle.is_none_or(|idle| view::runs_idle(job) == idle)
        && is_on(context.state()?, asked.node.as_deref(), job)
        && asked.created.has(job.submitted)
        && asked.enqueued.has(enqueued(job))
        && (asked.dequeued.is_open() || started(job).is_some_and(|at| asked.dequeued.has(at))))
}

/// Whether a job has a pod on a node.
fn is_on(state: &State, node: Option<&str>, job: &Job) -> bool {
    let mut places = held::pods(job).filter_map(|(at, _)| at);
    node.is_none_or(|name| places.any(|pod| state.nodes[pod.node.at()].id.as_str() == name))
}

/// When a job was put into the queue the last time.
fn enqueued(job: &Job) -> Timestamp {
    if job.is_queued() { job.waiting_since } else { job.submitted }
}

/// Equal ones stay in the order of the queue.
fn arrange(state: &State, jobs: &mut [(JobNo, Option<usize>)], asked: &ListWorkloads) {
    match asked.sort {
        None => {}
        Some(WorkloadOrder::Created) => sort::by_key(jobs, |(no, _)| state.jobs[*no].submitted),
        Some(WorkloadOrder::Enqueued) => sort::by_key(jobs, |(no, _)| enqueued(&state.jobs[*no])),
        Some(WorkloadOrder::Priority) => sort::by_key(jobs, |(no, _)| state.jobs[*no].spec.priority),
        Some(WorkloadOrder::Position) => sort::by_key(jobs, |(_, place)| *place),
    }
    if asked.direction == Direction::Descending {
        jobs.reverse();
    }
}

fn told(context: &Context, state: &State, no: JobNo, place: Option<usize>) -> Result<Value, Problem> {
    let job = &state.jobs[no];
    let spec = &job.spec;
    let workspace = spec.workspace.as_ref();
    let quota = &state.quotas[spec.quota.at()];
    let strategy = STRATEGIES.iter().find(|(_, strategy)| *strategy == quota.settings.strategy);
    let (code, reason) = waiting(context, state, no)?;
    Ok(json!({
        "WorkloadId": spec.id.as_str(),
        "WorkloadName": spec.name.as_deref().unwrap_or(spec.id.as_str()),
        "WorkloadType": spec.module.as_str().to_ascii_lowercase(),
        "WorkloadStatus": view::status(job),
        "Name": pods::names(job, &context.document(Kind::Job, spec.id.as_str())?).next(),
        "Status": if job.is_queued() { "Enqueued" } else { "Dequeued" },
        "Position": place,
        "Priority": spec.priority.get(),
        "QuotaId": quota.id.as_str(),
        "QuotaName": quota_name(context, quota)?,
        "QueueStrategy": strategy.map(|(name, _)| *name),
        "Resource": amount::resource(state, &view::all_pods(job)),
        "UseOversoldResource": view::runs_idle(job),
        "Code": code,
        "CodeType": if code.is_empty() { "" } else { "SchedulingRule" },
        "Reason": reason,
        "UserId": spec.user.as_ref().map(engine::unit::id::UserId::as_str),
        "UserName": spec.user.as_ref().map(engine::unit::id::UserId::as_str),
        "WorkspaceId": workspace.map(engine::unit::id::WorkspaceId::as_str),
        "WorkspaceName": workspace.map(|id| workspace::shown_name(context, id)).transpose()?,
        "GmtCreatedTime": calendar::written(job.submitted),
        "GmtEnqueuedTime": calendar::written(enqueued(job)),
        "GmtDequeuedTime": started(job).map(calendar::written),
    }))
}

/// Why a job waits, as the last round found. A list does not try the sources anew, which an answer on one job does.
fn waiting(context: &Context, state: &State, no: JobNo) -> Result<(String, String), Problem> {
    let job = &state.jobs[no];
    if !matches!(job.phase, Phase::Queued { .. }) {
        return Ok(Default::default());
    }
    let found = job.class.and_then(|class| state.queue.classes[class.at()].hold.as_deref().cloned());
    found.map_or_else(|| Ok(Default::default()), |hold| view::binding(context, hold))
}
