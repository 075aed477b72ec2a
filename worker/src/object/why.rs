//! Why a job waits, as data and as sentences.

use engine::explain;
use engine::host::authority;
use engine::host::veil::Veil;
use engine::job::hold::Blocker;
use engine::job::hold::Hold;
use engine::job::phase::Source;
use engine::message::command::Command;
use engine::message::command::SubmitJob;
use engine::message::rejection::Noun;
use engine::message::rejection::Rejection;
use engine::transition::Sender;
use engine::unit::id::JobId;
use engine::unit::time::Timestamp;
use protocol::log::encode;
use serde::Serialize;

use crate::answer::Problem;
use crate::bindings;
use crate::object::Core;

/// The answer on one job. It is written straight away: taken to a tree of values first, the engine's types would be in
/// the bundle twice.
#[derive(Serialize)]
#[serde(untagged)]
enum Answer<'a> {
    /// What is none of that is null.
    Waits {
        job: &'a JobId,
        status: &'a str,
        reason: &'a str,
        others: Vec<Other<'a>>,
        position: Option<usize>,
        help: Option<Help<'a>>,
        estimate: Option<Timestamp>,
        hold: &'a Hold,
    },
    DoesNot {
        job: &'a JobId,
        status: &'a str,
    },
}

#[derive(Serialize)]
struct Other<'a> {
    source: Source,
    reason: &'a str,
}

#[derive(Serialize)]
struct Help<'a> {
    sentence: &'a str,
    command: Option<&'a Command>,
    /// What to submit under a new name, once the job has been cancelled.
    resubmit: Option<&'a SubmitJob>,
    /// Of the nearest miss: what the job would lack still.
    lacks: Option<&'a Blocker>,
}

impl<'a> Help<'a> {
    fn of(help: &'a explain::Help) -> Self {
        let explain::Help { sentence, command, resubmit, lacks } = help;
        Self { sentence, command: command.as_ref(), resubmit: resubmit.as_deref(), lacks: lacks.as_deref() }
    }
}

/// Why a job waits; a job that does not has a status only. Sentences name other jobs, so they are made of what the
/// sender may know.
pub(super) fn answer(core: &Core, job: &str, sender: &Sender) -> Result<String, Problem> {
    let unknown = || Rejection::Unknown { noun: Noun::Job, name: job.to_owned() };
    let id = JobId::new(job).map_err(|_| unknown())?;
    let now = bindings::now();
    let text = core.with(|cluster| {
        cluster.with_state(|state| told(&Veil::new(&authority::as_of(state, now), sender), &id, now))
    })?;
    Ok(text.ok_or_else(unknown)??)
}

fn told(veil: &Veil, job: &JobId, now: Timestamp) -> Option<Result<String, protocol::fault::Fault>> {
    let state = veil.state();
    let no = state.jobs.find(job)?;
    let status = explain::status(state.jobs.get(no)?).as_str();
    let Some(why) = explain::why_seen(veil, no, now) else { return Some(encode(&Answer::DoesNot { job, status })) };
    Some(encode(&Answer::Waits {
        job,
        status,
        reason: &why.binding,
        others: why.others.iter().map(|(source, reason)| Other { source: *source, reason }).collect(),
        position: why.position,
        help: why.help.as_ref().map(Help::of),
        estimate: why.estimate,
        hold: &why.hold,
    }))
}
