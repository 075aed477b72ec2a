//! Names and times of a case as the engine knows them.

use engine::state::jobs::Job;
use engine::state::world::State;
use engine::unit::id::JobId;
use engine::unit::id::QuotaId;
use engine::unit::time::Timestamp;

/// A point in time of a case.
#[must_use]
pub(crate) fn seconds(value: i64) -> Timestamp {
    Timestamp(value.saturating_mul(1000))
}

/// A job's name as the engine knows it.
pub(crate) fn job_id(name: &str) -> Result<JobId, String> {
    JobId::new(name).map_err(|bad| bad.to_string())
}

/// A quota's name as the engine knows it.
pub(crate) fn quota_id(name: &str) -> Result<QuotaId, String> {
    QuotaId::new(name).map_err(|bad| bad.to_string())
}

/// The job named so.
pub(crate) fn job<'a>(state: &'a State, name: &str) -> Result<&'a Job, String> {
    let no = state.jobs.find(&job_id(name)?);
    no.and_then(|no| state.jobs.get(no))
        .ok_or_else(|| format!("there is no job {name}; check the names in the expectation"))
}
