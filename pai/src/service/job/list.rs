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
use crate::operation::job::Payment;
use crate::operation::job::Said;
use crate::operation::page::Direction;
use crate::operation::page::Span;
use crate::operation::quantity;
use crate::problem::Problem;
use crate::service::amount;
use crate::service::context::Context;
use crate::service::context::contains;
use crate::service::context::paged;
use crate::service::document::Document;
use crate::service::document::Kind;
use crate::service::held;
use crate::service::job::said;
use crate::service::job::view;
use crate::service::named::quota_name;

/// How far back a list goes if nothing is asked for.
const DAYS_SHOWN: Millis = Millis(7 * Millis::DAY.0);

pub(super) fn list(context: &Context, asked: &ListJobs) -> Result<Value, Problem> {
    let (page, total) = paged(found(context, asked)?, asked.page);
    let tell = |job: &Job| item(context, job, &context.document(Kind::Job, job.spec.id.as_str())?);
    let jobs = page.into_iter().map(tell).collect::<Result<Vec<Value>, Problem>>()?;
    Ok(json!({ "Jobs": jobs, "TotalCount": total }))
}

/// All jobs that are asked for, in their order.
pub(super) fn found<'v>(context: &'v Context, asked: &ListJobs) -> Result<Vec<&'v Job>, Problem> {
    let state = context.state()?;
    let deleted = context.described(Kind::Deleted)?;
    let quotas = quotas(context, asked)?;
    let mut found = Vec::new();
    for (_, job) in state.jobs.iter().filter(|(_, job)| is_asked_for(context, asked, quotas.as_deref(), job)) {
        let id = job.spec.id.as_str();
        let is_deleted = deleted.binary_search_by(|name| name.as_str().cmp(id)).is_ok();
        if !is_deleted && context.may_see_job(&job.spec.id)? {
            found.push(job);
        }
    }
    if asked.said != Said::default() {
        found = said::those_that_say(context, &asked.said, found)?;
    }
    if !asked.job_types.is_empty() || asked.sort == JobOrder::JobType {
        let frameworks = Frameworks::of(context)?;
        let is_wanted = |job: &&Job| asked.job_types.iter().any(|wanted| frameworks.of_job(job) == wanted);
        found.retain(|job| asked.job_types.is_empty() || is_wanted(job));
        order(&mut found, asked, |job| frameworks.of_job(job));
    } else {
        order(&mut found, asked, |_| "");
    }
    Ok(found)
}

/// The quotas that are asked for, if it matters. A quota that is not there has no jobs.
fn quotas(context: &Context, asked: &ListJobs) -> Result<Option<Vec<QuotaNo>>, Problem> {
    if asked.quotas.is_empty() && asked.quota_name.is_none() {
        return Ok(None);
    }
    let named: Vec<QuotaNo> = asked.quotas.iter().filter_map(|id| context.quota(id).ok()).collect();
    let mut found = Vec::new();
    for (no, quota) in context.state()?.live_quotas() {
        let is_named = asked.quotas.is_empty() || named.contains(&no);
        let is_called = match &asked.quota_name {
            None => true,
            Some(name) => quota_name(context, quota)? == *name,
        };
        if is_named && is_called {
            found.push(no);
        }
    }
    Ok(Some(found))
}

/// By everything that the engine knows; what only the documents know comes after.
fn is_asked_for(context: &Context, asked: &ListJobs, quotas: Option<&[QuotaNo]>, job: &Job) -> bool {
    let spec = &job.spec;
    let is_own = |user: &UserId| spec.user.as_ref() == Some(user);
    let is_by = |name: &String| spec.user.as_ref().is_some_and(|of| of.as_str() == name);
    let named = spec.name.as_deref().unwrap_or(spec.id.as_str());
    // A list by name goes back as far as there is anything.
    let from = if asked.jobs.is_empty() { context.now - DAYS_SHOWN } else { Timestamp(i64::MIN) };
    let created = Span { from: asked.created.from.or(Some(from)), ..asked.created };
    spec.module == Module::Dlc
        && asked.workspace.as_ref().is_none_or(|id| spec.workspace.as_ref().is_some_and(|of| of.as_str() == id))
        && (asked.jobs.is_empty() || asked.jobs.iter().any(|id| id == spec.id.as_str()))
        && contains(named, asked.name_part.as_deref())
        && quotas.is_none_or(|quotas| quotas.contains(&spec.quota))
        && (asked.statuses.is_empty() || asked.statuses.contains(&view::status(job)))
        && asked.users.iter().all(is_by)
        && (!asked.own || is_own(&context.sender.user))
        && asked.idle.is_none_or(|(idle, runs)| is_idle(job, idle, runs))
        && asked.chooses_nodes.is_none_or(|wanted| names_nodes(job) == wanted)
        && asked.payment.is_none_or(|payment| payment == paid_with(job))
        && created.has(job.submitted)
}

/// Whether a job has chosen nodes by name.
fn names_nodes(job: &Job) -> bool {
    let choice = job.spec.shape.nodes();
    !choice.only.is_empty() || !choice.without.is_empty()
}

fn paid_with(job: &Job) -> Payment {
    if job.bids() { Payment::Spot } else { Payment::Quota }
}

/// By a job's use of idle amounts; of those that may use them, by whether they do.
pub(crate) fn is_idle(job: &Job, idle: IdlePolicy, runs: Option<bool>) -> bool {
    job.spec.idle == idle && runs.is_none_or(|runs| view::runs_idle(job) == runs)
}

/// The frameworks of all jobs, which only the documents know.
struct Frameworks(Vec<(String, String)>);

impl Frameworks {
    fn of(context: &Context) -> Result<Self, Problem> {
        context.told_of_all(Kind::Job, "JobType").map(Self)
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

fn item(context: &Context, job: &Job, document: &Document) -> Result<Value, Problem> {
    let state = context.state()?;
    let mut fields = view::told(context, job, document)?;
    let all = view::all_pods(job);
    let nodes: Vec<&str> = nodes(state, job);
    let more = json!({
        "UseOversoldResource": view::runs_idle(job),
        "RequestCPU": amount::whole(state, &all, DimensionKind::Cpu),
        "RequestGPU": quantity::decimal(state.cluster.gpus(&all)),
        "RequestMemory": amount::whole(state, &all, DimensionKind::Memory).to_string(),
        "NodeCount": nodes.len().to_string(),
        "NodeNames": nodes,
        "Username": job.spec.user.as_ref().map(UserId::as_str),
    });
    if let Value::Object(more) = more {
        fields.extend(more);
    }
    Ok(Value::Object(fields))
}

/// The nodes that a job runs on, each once.
fn nodes<'s>(state: &'s State, job: &Job) -> Vec<&'s str> {
    let places = held::pods(job).filter_map(|(at, _)| at);
    let mut names: Vec<&str> = places.map(|pod| state.nodes[pod.node.at()].id.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names
}
