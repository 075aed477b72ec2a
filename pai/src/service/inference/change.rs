//! Services that change while they run. Another number of instances or another priority changes nothing of what runs;
//! whatever else concerns scheduling takes another run, which happens only if it starts at once.

use engine::message::command::ApplyPlan;
use engine::message::command::CancelJob;
use engine::message::command::Command;
use engine::message::command::ResizeJob;
use engine::message::command::SetPriority;
use engine::message::event::Event;
use engine::state::jobs::Job;
use serde_json::Value;

use crate::calendar;
use crate::operation::service::Service;
use crate::problem::Problem;
use crate::service::context::Context;
use crate::service::document::Change;
use crate::service::document::Document;
use crate::service::document::Kind;
use crate::service::inference::kept::CONFIG;
use crate::service::inference::kept::UPDATED;
use crate::service::inference::kept::command;
use crate::service::inference::kept::described;
use crate::service::inference::kept::find;
use crate::service::run;

pub(super) fn update(context: &mut Context, name: &str, config: Document, is_whole: bool) -> Result<(), Problem> {
    let mut document = find(context, name)?;
    let before = described(&document)?;
    let mut after = if is_whole { Document::new() } else { before.config.clone() };
    merge(&mut after, config);
    document.insert(CONFIG.to_owned(), Value::Object(after));
    document.insert(UPDATED.to_owned(), Value::from(calendar::written(context.now)));
    let now = described(&document)?;
    if now.name != name {
        let message = format!("the name is {:?}; a service keeps its name, {name}", now.name);
        return Err(Problem::new(400, "InvalidParameter", message));
    }
    let (no, job) = context.job(&run::job(&document))?;
    if !job.is_ended() && !is_same_run(&before, &now) {
        return replace(context, name, document);
    }
    let change = [Change::put(Kind::Service, name, &document)];
    let commands = in_place(job, context.state()?.owed(no), &before, &now);
    if commands.is_empty() {
        // Who may stop a service may describe it anew.
        let job = job.spec.id.clone();
        context.try_out(Command::CancelJob(CancelJob { job }))?;
        return context.keep(&change);
    }
    context.send_all(commands, &change)
}

/// Whether what runs can go on under another description.
fn is_same_run(before: &Service, now: &Service) -> bool {
    let as_now = Service { count: now.count, priority: now.priority, config: Document::new(), ..before.clone() };
    as_now == Service { config: Document::new(), ..now.clone() }
}

/// What changes a service that has not ended and that has so many instances; nothing of it that runs stops, but for
/// instances that are no longer asked for.
fn in_place(job: &Job, instances: u32, before: &Service, now: &Service) -> Vec<Command> {
    if job.is_ended() {
        return Vec::new();
    }
    let id = || job.spec.id.clone();
    let priority = (before.priority != now.priority && job.spec.priority != now.priority)
        .then(|| Command::SetPriority(SetPriority { job: id(), priority: now.priority }));
    let size = (before.count != now.count && instances != now.count)
        .then(|| Command::ResizeJob(ResizeJob { job: id(), pods: now.count, min_pods: None }));
    priority.into_iter().chain(size).collect()
}

/// Replaces the run that there is. It is given up only for one that starts at once.
pub(super) fn replace(context: &mut Context, name: &str, mut document: Document) -> Result<(), Problem> {
    let (_, before) = context.job(&run::job(&document))?;
    let (is_running, id) = (before.is_running(), before.spec.id.clone());
    let stop = (!before.is_ended()).then_some(Command::CancelJob(CancelJob { job: id }));
    let next = command(context, &mut document)?;
    let commands: Vec<Command> = stop.into_iter().chain([next]).collect();
    if is_running && !starts_at_once(context, commands.clone(), &run::job(&document))? {
        let message = format!(
            "service {name} would not run again at once, so nothing is changed; stop the service first if it may wait"
        );
        return Err(Problem::new(409, "ServiceStatusNotSupported", message));
    }
    context.send_all(commands, &[Change::put(Kind::Service, name, &document)])
}

fn starts_at_once(context: &mut Context, commands: Vec<Command>, job: &str) -> Result<bool, Problem> {
    let receipt = context.foresee(Command::ApplyPlan(ApplyPlan { commands }))?;
    let submitted = receipt.events.iter().find_map(|event| {
        let Event::JobSubmitted { no, spec, .. } = event else { return None };
        (spec.id.as_str() == job).then_some(*no)
    });
    Ok(receipt.events.iter().any(|event| matches!(event, Event::Started { job, .. } if Some(*job) == submitted)))
}

/// Objects are merged field by field; everything else is replaced.
fn merge(into: &mut Document, from: Document) {
    for (field, value) in from {
        match (into.get_mut(&field), value) {
            (Some(Value::Object(kept)), Value::Object(sent)) => merge(kept, sent),
            (_, value) => drop(into.insert(field, value)),
        }
    }
}
