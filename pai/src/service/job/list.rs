//! Lists of jobs.

use engine::job::phase::Phase;
use engine::job::spec::IdlePolicy;
use engine::state::jobs::Job;
use engine::state::world::State;
use engine::unit::amount::DimensionKind;
use engine::unit::id::UserId;
use engine::unit::priority::Module;
use engine::unit::sort;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use serde_json::Value;
use serde_json::json;

use crate::operation::job::JobOrder;
use crate::operation::job::ListJobs;
use crate::operation::page::Direction;
use crate::operation::quantity;
use crate::problem::Problem;
use crate::service::amount;
use crate::service::document::Document;
use crate::service::document::Kind;
use crate::service::job::view;
use crate::service::visit::Visit;
use crate::service::visit::contains;
use crate::service::visit::paged;

/// How far back a list goes if nothing is asked for.
const DAYS_SHOWN: Millis = Millis(7 * Millis::DAY.0);

pub(super) fn list(visit: &Visit, asked: &ListJobs) -> Result<Value, Problem> {
    let state = visit.state()?;
    let deleted = visit.described(Kind::Deleted)?;
    let mut found = Vec::new();
    for (_, job) in state.jobs.iter().filter(|(_, job)| is_asked_for(visit, asked, job)) {
        let id = job.spec.id.as_str();
        let is_deleted = deleted.binary_search_by(|name| name.as_str().cmp(id)).is_ok();
        if !is_deleted && visit.may_see_job(&job.spec.id)? {
            found.push(job);
        }
    }
    if let Some(job_type) = &asked.job_type {
        found = with_type(visit, found, job_type)?;
    }
    order(visit, &mut found, asked)?;
    let (page, total) = paged(found, asked.page);
    let tell = |job: &Job| Ok(item(state, job, &visit.document(Kind::Job, job.spec.id.as_str())?, visit.now));
    let jobs = page.into_iter().map(tell).collect::<Result<Vec<Value>, Problem>>()?;
    Ok(json!({ "Jobs": jobs, "TotalCount": total }))
}

/// Everything but the framework, which only the documents know.
fn is_asked_for(visit: &Visit, asked: &ListJobs, job: &Job) -> bool {
    let spec = &job.spec;
    let of_quota = |id: &String| visit.quota(id).is_ok_and(|no| no == spec.quota);
    let is_own = |user: &UserId| spec.user.as_ref() == Some(user);
    let named = spec.name.as_deref().unwrap_or(spec.id.as_str());
    // A list by name goes back as far as there is anything.
    let from = asked.from.unwrap_or(if asked.jobs.is_empty() { visit.now - DAYS_SHOWN } else { Timestamp(i64::MIN) });
    spec.module == Module::Dlc
        && asked.workspace.as_ref().is_none_or(|id| spec.workspace.as_ref().is_some_and(|of| of.as_str() == id))
        && (asked.jobs.is_empty() || asked.jobs.iter().any(|id| id == spec.id.as_str()))
        && contains(named, asked.name_part.as_deref())
        && (asked.quotas.is_empty() || asked.quotas.iter().any(of_quota))
        && asked.status.as_deref().is_none_or(|status| status == view::status(job))
        && asked.user.as_ref().is_none_or(|user| spec.user.as_ref().is_some_and(|of| of.as_str() == user))
        && (!asked.own || is_own(&visit.sender.user))
        && asked.idle.is_none_or(|(idle, runs)| is_idle(job, idle, runs))
        && job.submitted >= from
        && asked.until.is_none_or(|until| job.submitted <= until)
}

/// By a job's use of idle amounts; of those that may use them, by whether they do.
fn is_idle(job: &Job, idle: IdlePolicy, runs: Option<bool>) -> bool {
    job.spec.idle == idle && runs.is_none_or(|runs| view::runs_idle(job) == runs)
}

fn with_type<'j>(visit: &Visit, jobs: Vec<&'j Job>, job_type: &str) -> Result<Vec<&'j Job>, Problem> {
    let mut found = Vec::new();
    for job in jobs {
        if kind(visit, job)? == job_type {
            found.push(job);
        }
    }
    Ok(found)
}

fn kind(visit: &Visit, job: &Job) -> Result<String, Problem> {
    let document = visit.document(Kind::Job, job.spec.id.as_str())?;
    Ok(document.get("JobType").and_then(Value::as_str).unwrap_or_default().to_owned())
}

/// Equal ones come in the order of their creation, and of their names.
fn order(visit: &Visit, jobs: &mut [&Job], asked: &ListJobs) -> Result<(), Problem> {
    let by_creation = |a: &Job, b: &Job| (a.submitted, &a.spec.id).cmp(&(b.submitted, &b.spec.id));
    sort::by(jobs, |a, b| by_creation(a, b));
    match asked.sort {
        JobOrder::Created => {}
        JobOrder::DisplayName => sort::by(jobs, |a, b| a.spec.name.cmp(&b.spec.name)),
        JobOrder::Status => sort::by(jobs, |a, b| view::status(a).cmp(view::status(b))),
        JobOrder::Finished => sort::by(jobs, |a, b| finished(a).cmp(&finished(b))),
        JobOrder::JobType => {
            let mut kinds = Vec::new();
            for job in &*jobs {
                kinds.push((kind(visit, job)?, *job));
            }
            sort::by(&mut kinds, |(a, _), (b, _)| a.cmp(b));
            for (slot, (_, job)) in jobs.iter_mut().zip(kinds) {
                *slot = job;
            }
        }
    }
    if asked.direction == Direction::Descending {
        jobs.reverse();
    }
    Ok(())
}

fn finished(job: &Job) -> Option<Timestamp> {
    if let Phase::Ended { at, .. } = &job.phase { Some(*at) } else { None }
}

fn item(state: &State, job: &Job, document: &Document, now: Timestamp) -> Value {
    let mut fields = view::told(state, job, document, now);
    let all = view::all_pods(job);
    let nodes: Vec<&str> = nodes(state, job);
    let quota = (!job.bids()).then(|| state.quotas[job.spec.quota.at()].id.as_str());
    let more = json!({
        "UseOversoldResource": view::runs_idle(job),
        "RequestCPU": amount::whole(state, &all, DimensionKind::Cpu),
        "RequestGPU": quantity::decimal(state.cluster.gpus(&all)),
        "RequestMemory": amount::whole(state, &all, DimensionKind::Memory).to_string(),
        "NodeCount": nodes.len().to_string(),
        "NodeNames": nodes,
        "ResourceName": quota,
        "ResourceQuotaName": quota,
        "Username": job.spec.user.as_ref().map(UserId::as_str),
    });
    if let Value::Object(more) = more {
        fields.extend(more);
    }
    Value::Object(fields)
}

/// The nodes that a job runs on, each once.
fn nodes<'s>(state: &'s State, job: &Job) -> Vec<&'s str> {
    let placed = job.placed().map(|placed| placed.pods.as_ref()).unwrap_or_default();
    let mut names: Vec<&str> = placed.iter().map(|pod| state.nodes[pod.node.at()].id.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names
}
