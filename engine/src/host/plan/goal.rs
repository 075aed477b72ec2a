//! What somebody wants to be true in a run.

use serde::Deserialize;
use serde::Serialize;

use crate::host::plan::record::Party;
use crate::host::plan::record::Record;
use crate::host::plan::run::Run;
use crate::message::rejection::Noun;
use crate::message::rejection::Rejection;
use crate::state::world::State;
use crate::unit::id::JobId;
use crate::unit::id::QuotaId;
use crate::unit::ordered::Set;
use crate::unit::time::Millis;
use crate::unit::time::Timestamp;

/// A goal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// The job runs by then, or has run.
    StartsBy {
        /// The job.
        job: JobId,
        /// The latest time.
        by: Timestamp,
    },
    /// No job of the quota or of its descendants waits longer for its first start.
    WaitsAtMost {
        /// The quota.
        quota: QuotaId,
        /// The longest wait.
        #[serde(rename = "at_most_ms")]
        at_most: Millis,
    },
}

/// Whether a run reaches a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It does, whatever follows.
    Met,
    /// It does not, whatever follows.
    Missed,
    /// That is not known yet.
    Open,
}

impl Goal {
    /// Whether what it names is there, or is going to be.
    ///
    /// # Errors
    /// [`Rejection::Unknown`].
    pub fn check(&self, state: &State, is_announced: impl Fn(&JobId) -> bool) -> Result<(), Rejection> {
        match self {
            Self::StartsBy { job, .. } if state.jobs.find(job).is_none() && !is_announced(job) => {
                Err(Rejection::Unknown { noun: Noun::Job, name: job.to_string() })
            }
            Self::WaitsAtMost { quota, .. } if state.quota_no(quota).is_none() => {
                Err(Rejection::Unknown { noun: Noun::Quota, name: quota.to_string() })
            }
            Self::StartsBy { .. } | Self::WaitsAtMost { .. } => Ok(()),
        }
    }

    /// What can be said of a run by now.
    #[must_use]
    pub fn verdict(&self, run: &Run) -> Verdict {
        match self {
            Self::StartsBy { job, by } => {
                let no = run.state().jobs.find(job);
                match no.and_then(|no| run.tally.record(no)) {
                    Some(record) if has_run(record, *by) => Verdict::Met,
                    Some(Record { ended: Some(_), .. }) => Verdict::Missed,
                    Some(_) | None if run.now() > *by || run.is_over() => Verdict::Missed,
                    Some(_) | None => Verdict::Open,
                }
            }
            Self::WaitsAtMost { quota, at_most } => {
                let Some(no) = run.state().quota_no(quota) else { return Verdict::Missed };
                let subtree: Set<_> = run.state().subtree(no).into_iter().collect();
                let is_of = |record: &&Record| matches!(record.party, Party::Quota(no) if subtree.contains(&no));
                let now = run.now();
                let waits = run.tally.records.iter().filter(is_of).filter_map(|record| record.first_wait(now));
                match waits.max() {
                    Some(wait) if wait > *at_most => Verdict::Missed,
                    Some(_) | None if run.is_over() => Verdict::Met,
                    Some(_) | None => Verdict::Open,
                }
            }
        }
    }
}

fn has_run(record: &Record, by: Timestamp) -> bool {
    record.ran_before || record.started.is_some_and(|started| started <= by)
}
