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

/// How near a run has come to a goal that it misses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// The job starts, but too late.
    Starts {
        /// The job.
        job: JobId,
        /// How long after the beginning.
        after: Millis,
        /// How much too late.
        late: Millis,
    },
    /// The job does not start in this run.
    NeverStarts {
        /// The job.
        job: JobId,
    },
    /// Somebody in the quota waits too long.
    Waits {
        /// The quota.
        quota: QuotaId,
        /// The longest wait.
        longest: Millis,
        /// How much too long it is.
        late: Millis,
    },
}

impl Goal {
    /// How near a run that began then has come.
    #[must_use]
    pub fn reach(&self, run: &Run, from: Timestamp) -> Reach {
        match self {
            Self::StartsBy { job, by } => {
                let record = run.state().jobs.find(job).and_then(|no| run.tally.record(no));
                let started = record.and_then(|record| record.started);
                let starts = |at| Reach::Starts { job: job.clone(), after: at - from, late: at - *by };
                started.map_or(Reach::NeverStarts { job: job.clone() }, starts)
            }
            Self::WaitsAtMost { quota, at_most } => {
                let longest = longest_wait(run, quota).unwrap_or_default();
                Reach::Waits { quota: quota.clone(), longest, late: Millis(longest.0 - at_most.0) }
            }
        }
    }

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
                if run.state().quota_no(quota).is_none() {
                    return Verdict::Missed;
                }
                match longest_wait(run, quota) {
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

/// The longest wait for a first start of the jobs of a quota and its descendants.
fn longest_wait(run: &Run, quota: &QuotaId) -> Option<Millis> {
    let subtree: Set<_> = run.state().subtree(run.state().quota_no(quota)?).into_iter().collect();
    let is_of = |record: &&Record| matches!(record.party, Party::Quota(no) if subtree.contains(&no));
    run.tally.records.iter().filter(is_of).filter_map(|record| record.first_wait(run.now())).max()
}
