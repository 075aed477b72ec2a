//! What a job has been, from its story: statuses with their times, restarts, and the times that answers name.

use engine::explain;
use engine::job::cause::Cause;
use engine::job::phase::AfterStop;
use engine::job::phase::Charge;
use engine::job::phase::Outcome;
use engine::job::phase::Phase;
use engine::job::story::Episode;
use engine::state::jobs::Job;
use engine::state::world::State;
use engine::unit::resource::ResourceType;
use engine::unit::time::Timestamp;
use serde::Serialize;
use serde_json::Value;
use serde_json::json;

use crate::calendar;
use crate::service::document::Document;
use crate::service::refusal::pascal;

/// A time in which a job had one status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(crate) status: &'static str,
    pub(crate) from: Timestamp,
    pub(crate) until: Option<Timestamp>,
    /// What ended the one before, if the engine has a name for it.
    pub(crate) code: String,
    pub(crate) message: String,
}

/// The status of a job.
pub(crate) fn status(job: &Job) -> &'static str {
    match &job.phase {
        Phase::Queued { .. } => waiting(job),
        Phase::Starting { .. } => "EnvPreparing",
        Phase::Running { .. } if job.is_unconfirmed() => "EnvPreparing",
        Phase::Running { .. } => "Running",
        Phase::Stopping(stopping) => match stopping.then {
            AfterStop::Requeue => "Restarting",
            AfterStop::End(_) => "Stopping",
        },
        Phase::Ended { outcome, .. } => ended(outcome),
    }
}

/// What a job is called while it waits: bids on Lingjun have a word of their own.
fn waiting(job: &Job) -> &'static str {
    let is_bid = job.spec.spot.as_ref().is_some_and(|spot| spot.resource_type == ResourceType::Lingjun);
    if is_bid { "Bidding" } else { "Queuing" }
}

fn ended(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Succeeded => "Succeeded",
        Outcome::Failed { .. } | Outcome::Preempted => "Failed",
        Outcome::Cancelled => "Stopped",
    }
}

/// The name that the engine's messages have for something, in the contract's spelling.
pub(crate) fn tag(of: &impl Serialize) -> String {
    // A name alone or the only field of an object: either way the first thing in quotes.
    let text = serde_json::to_string(of).unwrap_or_default();
    text.split('"').nth(1).map(pascal).unwrap_or_default()
}

/// The code and the sentence of an end.
pub(crate) fn end(job: &Job, outcome: &Outcome) -> (String, String) {
    match outcome {
        Outcome::Succeeded => ("JobSucceeded".to_owned(), "the job has done its work".to_owned()),
        Outcome::Failed { reason } => ("JobFailed".to_owned(), reason.clone()),
        Outcome::Cancelled => ("JobStoppedByUser".to_owned(), format!("{} stopped the job", stopped_by(job))),
        Outcome::Preempted => last_eviction(job),
    }
}

/// Who stopped a job, as far as it may be said.
fn stopped_by(job: &Job) -> &str {
    let mut told = job.story.iter().rev();
    let by =
        told.find_map(|(_, episode)| if let Episode::CancelledBy(by) = episode { Some(by.as_str()) } else { None });
    by.unwrap_or("somebody")
}

/// How often a job has been started anew after an eviction, or is going to be. The eviction that ends it is none.
pub(crate) fn restart_count(job: &Job) -> u32 {
    let ends = match &job.phase {
        Phase::Stopping(stopping) => stopping.then != AfterStop::Requeue,
        Phase::Ended { .. } => job.story.iter().rev().map_while(|(_, episode)| is_evicted(episode)).any(|is| is),
        Phase::Queued { .. } | Phase::Starting { .. } | Phase::Running { .. } => false,
    };
    job.progress.evictions - u32::from(ends && job.progress.evictions > 0)
}

/// Whether an episode is an eviction; none if it says that the job has come back from one.
fn is_evicted(episode: &Episode) -> Option<bool> {
    match episode {
        Episode::Evicted { .. } => Some(true),
        Episode::Requeued | Episode::Started(..) => None,
        Episode::Granted(_)
        | Episode::Confirmed
        | Episode::Halted(_)
        | Episode::Promoted
        | Episode::Shrunk { .. }
        | Episode::Grown { .. }
        | Episode::CancelledBy(_)
        | Episode::PriorityChanged
        | Episode::Resized { .. }
        | Episode::Ended(_) => Some(false),
    }
}

/// What the last run of a job counted against, as far as its story is kept.
pub(crate) fn last_charge(job: &Job) -> Option<Charge> {
    job.story.iter().rev().find_map(|(_, episode)| match episode {
        Episode::Started(_, charge) => Some(*charge),
        Episode::Promoted => Some(Charge::InQuota),
        Episode::Granted(_)
        | Episode::Confirmed
        | Episode::Halted(_)
        | Episode::Evicted { .. }
        | Episode::Shrunk { .. }
        | Episode::Grown { .. }
        | Episode::Requeued
        | Episode::CancelledBy(_)
        | Episode::PriorityChanged
        | Episode::Resized { .. }
        | Episode::Ended(_) => None,
    })
}

/// Why a job was evicted the last time.
pub(crate) fn last_eviction(job: &Job) -> (String, String) {
    let eviction = job.story.iter().rev().find_map(|(_, episode)| match episode {
        Episode::Evicted { cause, .. } => Some((reason(cause), explain::episode(episode))),
        Episode::Granted(_)
        | Episode::Confirmed
        | Episode::Halted(_)
        | Episode::Started(..)
        | Episode::Promoted
        | Episode::Shrunk { .. }
        | Episode::Grown { .. }
        | Episode::Requeued
        | Episode::CancelledBy(_)
        | Episode::PriorityChanged
        | Episode::Resized { .. }
        | Episode::Ended(_) => None,
    });
    eviction.unwrap_or_else(|| ("JobPreempted".to_owned(), "the job was preempted".to_owned()))
}

/// `PreemptedByChildLevel`, `ReleasedBelowAverage`.
fn reason(cause: &Cause) -> String {
    let verb = match cause {
        Cause::Reclaimed { .. } | Cause::OverUse { .. } | Cause::LendingEnded | Cause::ScaledDown { .. } => "Preempted",
        Cause::ChildLevel { .. } | Cause::SelfLevel { .. } => "PreemptedBy",
        Cause::Halted(_) => "Stopped",
        Cause::BelowPrice { .. }
        | Cause::BelowAverage { .. }
        | Cause::Outbid { .. }
        | Cause::InventoryShrunk { .. } => "Released",
    };
    format!("{verb}{}", tag(cause))
}

/// What a job has been, the oldest first. Of a long story the oldest part is not kept. Where others run it, a start is one
/// when it is confirmed.
pub(crate) fn stretches(state: &State, job: &Job) -> Vec<Stretch> {
    let mut list: Vec<Stretch> = Vec::new();
    let mut enter = |at: Timestamp, status, (code, message): (String, String)| {
        if let Some(last) = list.last_mut() {
            last.until = Some(at);
        }
        list.push(Stretch { status, from: at, until: None, code, message });
    };
    let plain = || (String::new(), String::new());
    let starts_at_once = !state.is_reported(job);
    enter(job.submitted, waiting(job), plain());
    for (index, (at, episode)) in job.story.iter().enumerate() {
        match episode {
            Episode::Granted(_) => enter(*at, "EnvPreparing", (String::new(), explain::episode(episode))),
            Episode::Started(..) => {
                let status = if starts_at_once { "Running" } else { "EnvPreparing" };
                enter(*at, status, (String::new(), explain::episode(episode)));
            }
            Episode::Confirmed => enter(*at, "Running", (String::new(), explain::episode(episode))),
            Episode::Evicted { cause, .. } => {
                enter(*at, leaving(job, index), (reason(cause), explain::episode(episode)));
            }
            Episode::Requeued => enter(*at, waiting(job), plain()),
            Episode::Ended(outcome) => enter(*at, ended(outcome), end(job, outcome)),
            Episode::Halted(_) => enter(*at, leaving(job, index), (String::new(), explain::episode(episode))),
            Episode::Promoted
            | Episode::Shrunk { .. }
            | Episode::Grown { .. }
            | Episode::CancelledBy(_)
            | Episode::PriorityChanged
            | Episode::Resized { .. } => {}
        }
    }
    list
}

/// What a job is called from an episode of its story on that stops its run: whether another one follows.
fn leaving(job: &Job, index: usize) -> &'static str {
    let is_queued_again = job.story[index..].iter().any(|(_, later)| *later == Episode::Requeued);
    if is_queued_again || status(job) == "Restarting" { "Restarting" } else { "Stopping" }
}

/// The statuses as the contract writes them.
pub(crate) fn written(stretches: &[Stretch]) -> Value {
    let one = |stretch: &Stretch| {
        json!({
            "Status": stretch.status,
            "StartTime": calendar::written(stretch.from),
            "EndTime": stretch.until.map(calendar::written),
            "ReasonCode": stretch.code,
            "ReasonMessage": stretch.message,
        })
    };
    stretches.iter().map(one).collect()
}

/// Restarts after evictions and failures, with what became of them.
pub(crate) fn restarts(stretches: &[Stretch], now: Timestamp) -> Value {
    let mut count = 0;
    let mut records = Vec::new();
    for (index, stretch) in stretches.iter().enumerate().filter(|(_, stretch)| stretch.status == "Restarting") {
        let before = index.checked_sub(1).map_or("Running", |before| stretches[before].status);
        count += 1;
        let back = stretches[index..].iter().find(|later| later.status == "Running").map(|later| later.from);
        let seconds = (back.unwrap_or(now) - stretch.from).0 / 1000;
        records.push(json!({
            "JobRestartCount": count,
            "OccurTime": calendar::written(stretch.from),
            "OccurPhase": before,
            "Reason": stretch.message,
            "RestartStatus": if back.is_some() { "Succeeded" } else { "Restarting" },
            "RestartDurationInSec": seconds,
        }));
    }
    Value::from(records)
}

/// When a job left the queue the last time.
pub(crate) fn started(job: &Job) -> Option<Timestamp> {
    job.story.iter().rev().find(|(_, episode)| matches!(episode, Episode::Started(..))).map(|(at, _)| *at)
}

/// The times of a job, and how long it has run.
pub(crate) fn times(state: &State, job: &Job, now: Timestamp) -> Document {
    let stretches = stretches(state, job);
    let mut fields = Document::new();
    let mut note = |name: &str, at: Timestamp| drop(fields.insert(name.to_owned(), calendar::written(at).into()));
    note("GmtCreateTime", job.submitted);
    note("GmtSubmittedTime", job.submitted);
    let modified = stretches.last().map_or(job.submitted, |last| last.from);
    note("GmtModifiedTime", modified);
    if let Some(run) = stretches.iter().rev().find(|stretch| stretch.status == "Running") {
        note("GmtRunningTime", run.from);
    }
    if let Phase::Ended { at, outcome } = &job.phase {
        note("GmtFinishTime", *at);
        note(
            match outcome {
                Outcome::Succeeded => "GmtSuccessedTime",
                Outcome::Failed { .. } | Outcome::Preempted => "GmtFailedTime",
                Outcome::Cancelled => "GmtStoppedTime",
            },
            *at,
        );
    }
    let runs = stretches.iter().filter(|stretch| stretch.status == "Running");
    let ms: i64 = runs.map(|run| (run.until.unwrap_or(now) - run.from).0).sum();
    fields.insert("Duration".to_owned(), Value::from(ms / 1000));
    fields
}
