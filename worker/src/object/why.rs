//! Why a job waits, as data and as sentences.

use engine::explain;
use engine::host::authority;
use engine::host::visibility::Visibility;
use engine::message::rejection::Noun;
use engine::message::rejection::Rejection;
use engine::transition::Sender;
use engine::unit::id::JobId;
use engine::unit::time::Timestamp;
use protocol::answer::JobExplained;
use protocol::answer::JobHelp;
use protocol::answer::JobStatus;
use protocol::answer::JobWaits;
use protocol::answer::OtherReason;
use protocol::fault::Fault;
use protocol::log::encode;

use crate::answer::Problem;
use crate::bindings;
use crate::object::core::Core;

/// Why a job waits; a job that does not has a status only. Sentences name other jobs, so they are made of what the
/// sender may know.
pub(super) fn answer(core: &Core, job: &str, sender: &Sender) -> Result<String, Problem> {
    let unknown = || Rejection::Unknown { noun: Noun::Job, name: job.to_owned() };
    let id = JobId::new(job).map_err(|_| unknown())?;
    let now = bindings::now();
    let text = core.with(|cluster| {
        cluster.with_state(|state| told(&Visibility::new(&authority::as_of(state, now), sender), &id, now))
    })?;
    Ok(text.ok_or_else(unknown)??)
}

fn told(visibility: &Visibility, job: &JobId, now: Timestamp) -> Option<Result<String, Fault>> {
    let state = visibility.state();
    let no = state.jobs.find(job)?;
    let status = explain::status(state.jobs.get(no)?).as_str();
    let Some(why) = explain::why_seen(visibility, no, now) else {
        let status = JobStatus { job: job.clone(), status: status.into() };
        return Some(encode(&JobExplained::DoesNot(status)));
    };
    // It is written straight away: taken to a tree of values first, the engine's types would be in the bundle twice.
    let waits = JobWaits {
        job: job.clone(),
        status: status.into(),
        reason: why.binding,
        others: why.others.into_iter().map(|(source, reason)| OtherReason { source, reason }).collect(),
        position: why.position,
        help: why.help.map(help),
        estimate: why.estimate,
        hold: why.hold,
    };
    Some(encode(&JobExplained::Waits(Box::new(waits))))
}

fn help(help: explain::Help) -> JobHelp {
    let explain::Help { sentence, command, resubmit, lacks } = help;
    JobHelp { sentence, command, resubmit, lacks }
}
