//! Work done, saved and lost (rules 5.4 and 7.3).

use crate::job::phase::Charge;
use crate::job::phase::Phase;
use crate::job::spec::JobSpec;
use crate::state::cluster::Execution;
use crate::state::jobs::Job;
use crate::state::world::State;
use crate::unit::amount::Amount;
use crate::unit::amount::GPU;
use crate::unit::priority::Module;
use crate::unit::time::Millis;
use crate::unit::time::Timestamp;

/// How much of the current run a checkpoint keeps: the last one that was reported, or that the interval implies.
#[must_use]
pub fn saved_run(state: &State, job: &Job, now: Timestamp) -> Millis {
    let Phase::Running { started, checkpointed, .. } = &job.phase else { return Millis::ZERO };
    if let Some(reported) = checkpointed {
        return *reported - *started;
    }
    match (state.cluster.execution, job.spec.checkpoint) {
        (Execution::Simulated, Some(interval)) => {
            let run = now - *started;
            Millis(run.0 - run.0.rem_euclid(interval.get().0))
        }
        (Execution::Simulated, None) | (Execution::Reported, _) => Millis::ZERO,
    }
}

/// All that checkpoints keep of a job's work, if it stops now.
#[must_use]
pub fn saved(state: &State, job: &Job, now: Timestamp) -> Millis {
    Millis(job.progress.saved_ms.0.saturating_add(saved_run(state, job, now).0))
}

/// How much of the current run would have to be repeated.
#[must_use]
pub fn unsaved_run(state: &State, job: &Job, now: Timestamp) -> Millis {
    let Phase::Running { started, .. } = &job.phase else { return Millis::ZERO };
    Millis((now - *started).0 - saved_run(state, job, now).0)
}

/// Whether automatic fault tolerance brings a job back after so many evictions.
#[must_use]
pub fn has_restart_left(spec: &JobSpec, evictions: u32) -> bool {
    spec.fault_tolerance.is_some_and(|tolerance| evictions < tolerance.max_restarts)
}

/// Whether an evicted job is queued again (rules 7.2). What was in quota is guaranteed, so it is in any case; services and
/// development instances are, too; an idle job or one of the spot market only with automatic fault tolerance, and not for
/// ever.
#[must_use]
pub fn comes_back(spec: &JobSpec, charge: Charge, evictions: u32) -> bool {
    charge == Charge::InQuota || spec.module != Module::Dlc || has_restart_left(spec, evictions)
}

/// A run time on an amount's GPUs, in GPU-milliseconds.
#[must_use]
pub fn gpu_ms(state: &State, amount: &Amount, run: Millis) -> i64 {
    let product = i128::from(state.cluster.gpus(amount)) * i128::from(run.0) / i128::from(GPU);
    i64::try_from(product).unwrap_or(i64::MAX)
}
