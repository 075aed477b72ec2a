//! Training jobs (DLC).

mod history;
pub(crate) mod list;
pub(crate) mod pods;
mod said;
mod submit;
pub(crate) mod training;
pub(crate) mod view;

use engine::explain;
use engine::message::command::CancelJob;
use engine::message::command::Command;
use engine::message::command::SetPriority;
use engine::unit::id::JobId;
use engine::unit::priority::Module;
use engine::unit::priority::Priority;
use serde_json::Map;
use serde_json::Value;
use serde_json::json;

use crate::calendar;
use crate::operation::job::JobOperation;
use crate::operation::page::Span;
use crate::problem::Problem;
use crate::service::backend::Printed;
use crate::service::context::Context;
use crate::service::context::not_found;
use crate::service::document::Change;
use crate::service::document::Document;
use crate::service::document::Kind;
use crate::service::named::named;

pub(crate) use history::started;
pub(crate) use history::times;

/// How the names of jobs begin.
const PREFIX: &str = "dlc";

pub(super) fn serve(context: &mut Context, operation: JobOperation) -> Result<Value, Problem> {
    if let JobOperation::Get { job, .. }
    | JobOperation::Update { job, .. }
    | JobOperation::Stop { job }
    | JobOperation::Delete { job }
    | JobOperation::Events { job, .. }
    | JobOperation::Logs { job, .. } = &operation
    {
        check_module(context, job)?;
    }
    match operation {
        JobOperation::Create(job) => Ok(json!({ "JobId": submit::create(context, &job, PREFIX)? })),
        JobOperation::Get { job, detail } => view::get(context, &job, detail),
        JobOperation::List(list) => list::list(context, &list),
        JobOperation::Update { job, priority, changes } => update(context, &job, priority, changes),
        JobOperation::Stop { job } => stop(context, &job),
        JobOperation::Delete { job } => delete(context, &job),
        JobOperation::Events { job, pod, span, count } => events(context, &job, pod.as_deref(), span, count),
        JobOperation::Logs { job, pod, life, lines } => logs(context, &job, &pod, life.as_deref(), lines),
    }
}

/// Services and instances are jobs too; their own operations name them.
fn check_module(context: &Context, name: &str) -> Result<(), Problem> {
    if context.job(name)?.1.spec.module == Module::Dlc { Ok(()) } else { Err(not_found("Job", "job", name)) }
}

fn update(
    context: &mut Context,
    name: &str,
    priority: Option<Priority>,
    changes: Map<String, Value>,
) -> Result<Value, Problem> {
    let id = context.job(name)?.1.spec.id.clone();
    let mut document = context.document(Kind::Job, name)?;
    document.extend(changes);
    // The priority is read from the state.
    let priority = priority.unwrap_or(context.job(name)?.1.spec.priority);
    let change = Change::put(Kind::Job, name, &document);
    context.send(Command::SetPriority(SetPriority { job: id, priority }), &[change])?;
    Ok(json!({ "JobId": name }))
}

fn stop(context: &mut Context, name: &str) -> Result<Value, Problem> {
    cancel(context, name, &[])?;
    Ok(json!({ "JobId": name }))
}

/// Cancels a job; one that has ended stays as it is.
pub(crate) fn cancel(context: &mut Context, name: &str, changes: &[Change]) -> Result<(), Problem> {
    let (_, job) = context.job(name)?;
    if job.is_ended() {
        return if changes.is_empty() { Ok(()) } else { context.keep(changes) };
    }
    let id = job.spec.id.clone();
    context.send(Command::CancelJob(CancelJob { job: id }), changes).map(drop)
}

/// The engine keeps the story of a job that has ended; a deleted one is only shown no more. Who may stop a job may
/// delete it.
fn delete(context: &mut Context, name: &str) -> Result<Value, Problem> {
    let (_, job) = context.job(name)?;
    if !job.is_ended() {
        let message = format!("job {name} has not ended; stop it first");
        return Err(Problem::new(409, "JobStatusNotSupported", message));
    }
    let id = job.spec.id.clone();
    context.try_out(Command::CancelJob(CancelJob { job: id }))?;
    context.keep(&[Change::drop(Kind::Job, name), Change::put(Kind::Deleted, name, &Document::new())])?;
    Ok(json!({ "JobId": name }))
}

fn events(context: &Context, name: &str, pod: Option<&str>, span: Span, count: i64) -> Result<Value, Problem> {
    let (_, job) = context.job(name)?;
    if let Some(pod) = pod
        && !pods::names(job, &context.document(Kind::Job, name)?).any(|known| known == pod)
    {
        return Err(not_found("Pod", "pod", pod));
    }
    Ok(json!({ "JobId": name, "PodId": pod, "Events": told(context, &job.spec.id, span, count)? }))
}

/// What has happened to a job, a sentence each, the newest of them if there are too many.
pub(crate) fn told(context: &Context, id: &JobId, span: Span, count: i64) -> Result<Vec<String>, Problem> {
    let (_, job) = context.told(id.as_str())?;
    let submitted = (job.submitted, "Submitted".to_owned());
    let told = job.story.iter().map(|(at, episode)| (*at, explain::episode(episode)));
    let all = std::iter::once(submitted).chain(told).filter(|(at, _)| span.has(*at));
    let line = |(at, sentence): (_, String)| Ok(format!("{} {}", calendar::written(at), named(context, &sentence)?));
    let mut lines: Vec<String> = all.map(line).collect::<Result<_, Problem>>()?;
    let over = lines.len().saturating_sub(usize::try_from(count).unwrap_or(usize::MAX));
    lines.drain(..over);
    Ok(lines)
}

/// The last lines of what a pod prints, of the life that is asked for if one is named.
fn logs(context: &Context, name: &str, pod: &str, life: Option<&str>, lines: i64) -> Result<Value, Problem> {
    let (_, job) = context.job(name)?;
    let document = context.document(Kind::Job, name)?;
    let known: Vec<String> = pods::names(job, &document).collect();
    let rank = known.iter().position(|known| known == pod).ok_or_else(|| not_found("Pod", "pod", pod))?;
    let state = context.state()?;
    if !state.is_reported(job) {
        let message = "GetPodLogs is not served for this job: it is simulated, so nothing runs that could print";
        return Err(Problem::new(400, "UnsupportedOperation", message));
    }
    let stretches = history::stretches(state, job);
    let (ended, now) = (pods::lives_begun(&stretches), pods::life(job, &stretches));
    let is_life = |life: &str| (0..=now).any(|number| life == pods::life_name(pod, number));
    if let Some(life) = life.filter(|life| !is_life(life)) {
        return Err(not_found("Pod", "pod", life));
    }
    let printed = context.printed(&job.spec.id)?;
    let told = match &printed {
        Some(printed) if printed.is_over => ended.saturating_sub(1),
        Some(_) | None => now,
    };
    let uid = pods::life_name(pod, told);
    if let Some(life) = life.filter(|life| *life != uid) {
        let message = format!("what pod {life} has printed is not kept; the newest log is that of {uid}");
        return Err(Problem::new(404, "LogNotFound", message));
    }
    if printed.is_none() && ended > 0 {
        let message = format!("nothing is kept of what job {name} has printed");
        return Err(Problem::new(404, "LogNotFound", message));
    }
    let lines = usize::try_from(lines).unwrap_or(usize::MAX);
    let mut logs = printed.map(|printed| whole_lines(&printed)).unwrap_or_default();
    if known.len() > 1 {
        logs = logs.into_iter().filter_map(|line| of_pod(line, rank)).collect();
    }
    logs.drain(..logs.len().saturating_sub(lines));
    Ok(json!({ "JobId": name, "PodId": pod, "PodUid": uid, "Logs": logs }))
}

/// The last lines of a text, whole ones.
fn whole_lines(printed: &Printed) -> Vec<String> {
    let mut lines: Vec<String> = printed.text.lines().map(str::to_owned).collect();
    if printed.is_cut && lines.len() > 1 {
        lines.remove(0);
    }
    lines
}

/// What a pod has printed of a line of its run's log. Where there are several, agents write `[RANK] ` before each line; a pod
/// that began alone is the first, and prints without.
fn of_pod(line: String, rank: usize) -> Option<String> {
    let tagged = line.strip_prefix('[').and_then(|rest| rest.split_once("] "));
    let said = tagged.and_then(|(whose, said)| Some((whose.parse::<usize>().ok()?, said)));
    match said {
        Some((whose, said)) => (whose == rank).then(|| said.to_owned()),
        None => (rank == 0).then_some(line),
    }
}
