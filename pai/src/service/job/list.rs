//! Lists of jobs.

use engine::job::phase::Phase;
use engine::job::spec::IdlePolicy;
use engine::state::jobs::Job;
use engine::state::world::State;
use engine::unit::amount::DimensionKind;
use engine::unit::id::QuotaNo;
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
use crate::service::held;
use crate::service::job::view;
use crate::service::visit::Visit;
use crate::service::visit::contains;
use crate::service::visit::paged;

/// How far back a list goes if nothing is asked for.
const DAYS_SHOWN: Millis = Millis(7 * Millis::DAY.0);

pub(super) fn list(visit: &Visit, asked: &ListJobs) -> Result<Value, Problem> {
    let state = visit.state()?;
    let deleted = visit.described(Kind::Deleted)?;
    // A quota that is not there has no jobs.
    let quotas: Vec<QuotaNo> = asked.quotas.iter().filter_map(|id| visit.quota(id).ok()).collect();
    let mut found = Vec::new();
    for (_, job) in state.jobs.iter().filter(|(_, job)| is_asked_for(visit, asked, &quotas, job)) {
        let id = job.spec.id.as_str();
        let is_deleted = deleted.binary_search_by(|name| name.as_str().cmp(id)).is_ok();
        if !is_deleted && visit.may_see_job(&job.spec.id)? {
            found.push(job);
        }
    }
    if asked.job_type.is_some() || asked.sort == JobOrder::JobType {
        let frameworks = Frameworks::of(visit)?;
        if let Some(wanted) = &asked.job_type {
            found.retain(|job| frameworks.of_job(job) == wanted);
        }
        order(&mut found, asked, |job| frameworks.of_job(job));
    } else {
        order(&mut found, asked, |_| "");
    }
    let (page, total) = paged(found, asked.page);
    let tell = |job: &Job| Ok(item(state, job, &visit.document(Kind::Job, job.spec.id.as_str())?, visit.now));
    let jobs = page.into_iter().map(tell).collect::<Result<Vec<Value>, Problem>>()?;
    Ok(json!({ "Jobs": jobs, "TotalCount": total }))
}

/// Everything but the framework, which only the documents know.
fn is_asked_for(visit: &Visit, asked: &ListJobs, quotas: &[QuotaNo], job: &Job) -> bool {
    let spec = &job.spec;
    let is_own = |user: &UserId| spec.user.as_ref() == Some(user);
    let named = spec.name.as_deref().unwrap_or(spec.id.as_str());
    // A list by name goes back as far as there is anything.
    let from = asked.from.unwrap_or(if asked.jobs.is_empty() { visit.now - DAYS_SHOWN } else { Timestamp(i64::MIN) });
    spec.module == Module::Dlc
        && asked.workspace.as_ref().is_none_or(|id| spec.workspace.as_ref().is_some_and(|of| of.as_str() == id))
        && (asked.jobs.is_empty() || asked.jobs.iter().any(|id| id == spec.id.as_str()))
        && contains(named, asked.name_part.as_deref())
        && (asked.quotas.is_empty() || quotas.contains(&spec.quota))
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

/// The frameworks of all jobs, which only the documents know.
struct Frameworks(Vec<(String, String)>);

impl Frameworks {
    fn of(visit: &Visit) -> Result<Self, Problem> {
        visit.told_of_all(Kind::Job, "JobType").map(Self)
    }

    /// The framework of a job; empty if nobody said it.
    fn of_job(&self, job: &Job) -> &str {
        let found = self.0.binary_search_by(|(id, _)| id.as_str().cmp(job.spec.id.as_str()));
        found.map_or("", |at| &self.0[at].1)
    }
}

/// Equal ones come in the order of their creation, and of their names.
fn order<'f>(jobs: &mut [&Job], asked: &ListJobs, framework: impl Fn(&Job) -> &'f str) {
    let by_creation = |a: &Job, b: &Job| (a.submitted, &a.spec.id).cmp(&(b.submitted, &b.spec.id));
    sort::by(jobs, |a, b| by_creation(a, b));
    match asked.sort {
        JobOrder::Created => {}
        JobOrder::DisplayName => sort::by(jobs, |a, b| a.spec.name.cmp(&b.spec.name)),
        JobOrder::Status => sort::by(jobs, |a, b| view::status(a).cmp(view::status(b))),
        JobOrder::Finished => sort::by(jobs, |a, b| finished(a).cmp(&finished(b))),
        JobOrder::JobType => sort::by(jobs, |a, b| framework(a).cmp(framework(b))),
    }
    if asked.direction == Direction::Descending {
        jobs.reverse();
    }
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
    let places = held::pods(job).filter_map(|(at, _)| at);
    let mut names: Vec<&str> = places.map(|pod| state.nodes[pod.node.at()].id.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names
}
