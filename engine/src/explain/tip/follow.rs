//! A change followed on a copy, as its reader would follow it.

use std::sync::Arc;

use crate::explain::tip::proposal::Change;
use crate::host::authority;
use crate::host::clock;
use crate::job::hold::Hold;
use crate::job::phase::Phase;
use crate::job::phase::Source;
use crate::message::command::CancelJob;
use crate::message::command::Command;
use crate::message::rejection::Rejection;
use crate::state::world::State;
use crate::unit::id::JobId;
use crate::unit::id::JobNo;
use crate::unit::time::Timestamp;

/// What has become of the job.
pub(in crate::explain) enum Followed {
    /// It runs, or is about to, by this source.
    Starts(Source),
    /// It waits still, for these reasons as far as they were told.
    Waits(Option<Arc<Hold>>),
    /// The change is refused.
    Refused,
}

/// Makes a change on a copy, with the round at once and, if that does not start the job, the scheduled one after it.
pub(in crate::explain) fn follow(state: &State, no: JobNo, change: Option<&Change>, now: Timestamp) -> Followed {
    let mut after = state.clone();
    let Ok(job) = make(&mut after, no, change, now) else { return Followed::Refused };
    if let Some(source) = served_by(&after, &job) {
        return Followed::Starts(source);
    }
    // The copy is needed as it is for the reasons: the next round may have others.
    let told = told(&after, &job);
    if clock::scheduled(&after, now, now).take(&mut after).is_err() {
        return Followed::Waits(told);
    }
    served_by(&after, &job).map_or(Followed::Waits(told), Followed::Starts)
}

fn make(after: &mut State, no: JobNo, change: Option<&Change>, now: Timestamp) -> Result<JobId, Rejection> {
    let job = after.jobs[no].spec.id.clone();
    match change {
        None => Ok(job),
        Some(Change::Send(command)) => authority::step(after, command, now).map(|_| job),
        Some(Change::Resubmit(submission)) => {
            authority::step(after, &Command::CancelJob(CancelJob { job }), now)?;
            authority::step(after, &Command::SubmitJob((**submission).clone()), now)?;
            Ok(submission.job.clone())
        }
    }
}

/// The source by which a job runs or is about to.
fn served_by(state: &State, job: &JobId) -> Option<Source> {
    match &state.jobs.get(state.jobs.find(job)?)?.phase {
        Phase::Starting { placed, .. } | Phase::Running { placed, .. } => Some(placed.source),
        Phase::Queued { .. } | Phase::Stopping { .. } | Phase::Ended { .. } => None,
    }
}

/// Why it waits, as the round has just told.
fn told(state: &State, job: &JobId) -> Option<Arc<Hold>> {
    let class = state.jobs.get(state.jobs.find(job)?)?.class?;
    state.queue.classes.get(class.at())?.hold.clone()
}
