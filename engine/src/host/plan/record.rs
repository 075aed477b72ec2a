//! What becomes of one job in a run.

use std::sync::Arc;

use crate::host::plan::account::Account;
use crate::job::cause::Cause;
use crate::job::phase::AfterStop;
use crate::job::phase::Charge;
use crate::job::phase::Phase;
use crate::job::phase::Stopping;
use crate::job::spec::JobSpec;
use crate::state::jobs::Job;
use crate::state::world::State;
use crate::transition::owed;
use crate::unit::amount::GPU;
use crate::unit::id::JobId;
use crate::unit::id::JobNo;
use crate::unit::id::OfferNo;
use crate::unit::id::QuotaNo;
use crate::unit::time::Millis;
use crate::unit::time::Timestamp;

/// What a job draws on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Party {
    /// A quota.
    Quota(QuotaNo),
    /// An offer of the spot market.
    Offer(OfferNo),
}

impl Party {
    fn of(spec: &JobSpec) -> Self {
        spec.spot.as_ref().map_or(Self::Quota(spec.quota), |spot| Self::Offer(spot.offer))
    }
}

/// A job's first start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstStart {
    /// It was before the run began.
    Before,
    /// It came after this wait.
    After(Millis),
    /// It has not come.
    Never,
}

/// What a job holds, since when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holding {
    /// Since when.
    pub since: Timestamp,
    /// Thousandths of GPUs.
    pub gpus: i64,
    /// What it counts against.
    pub charge: Charge,
}

/// One job.
#[derive(Clone, Debug)]
pub struct Record {
    /// Its name.
    pub id: JobId,
    /// What it draws on.
    pub party: Party,
    /// When it was submitted.
    pub submitted: Timestamp,
    /// Its first start.
    pub first_start: FirstStart,
    /// Whether it ran when the run began.
    pub ran_before: bool,
    /// When it was first started in this run, or again.
    pub started: Option<Timestamp>,
    /// Since when it waits, if it does.
    pub waits_since: Option<Timestamp>,
    /// What it holds, if it does.
    pub holding: Option<Holding>,
    /// Why it has been told to stop, while it stops.
    pub stops_for: Option<Arc<Cause>>,
    /// Whether it is queued again once it has stopped.
    pub comes_back: bool,
    /// When it ended, if it has.
    pub ended: Option<Timestamp>,
    /// How it has fared.
    pub account: Account,
    /// Thousandths of GPUs of its gang.
    pub gang_gpus: i64,
    /// Thousandths of GPUs of each pod above the gang.
    pub extra_gpus: i64,
}

impl Record {
    /// A job that has just been submitted.
    #[must_use]
    pub fn submitted(state: &State, spec: &JobSpec, at: Timestamp) -> Self {
        Self {
            id: spec.id.clone(),
            party: Party::of(spec),
            submitted: at,
            first_start: FirstStart::Never,
            ran_before: false,
            started: None,
            waits_since: Some(at),
            holding: None,
            stops_for: None,
            comes_back: false,
            ended: None,
            account: Account { submitted: 1, ..Account::default() },
            gang_gpus: state.cluster.gpus(&spec.shape.gang_amount()),
            extra_gpus: state.cluster.gpus(&spec.shape.extra_amount()),
        }
    }

    /// A job that was there before; what it has waited and used until then is not counted, but its wait for the first
    /// start is.
    #[must_use]
    pub fn found(state: &State, no: JobNo, job: &Job, from: Timestamp) -> Self {
        let has_run = job.progress.evictions > 0;
        let mut record = Self {
            submitted: job.submitted,
            first_start: if has_run { FirstStart::Before } else { FirstStart::Never },
            waits_since: None,
            account: Account::default(),
            ..Self::submitted(state, &job.spec, from)
        };
        let holds =
            |charge: Charge| Some(Holding { since: from, gpus: state.cluster.gpus(&state.held_by(no)), charge });
        match &job.phase {
            Phase::Queued { .. } | Phase::Starting { .. } => record.waits_since = Some(from),
            Phase::Running { placed, .. } => {
                record.first_start = FirstStart::Before;
                record.ran_before = true;
                record.holding = holds(placed.charge);
            }
            Phase::Stopping(stopping) => {
                let Stopping { placed, then, cause, .. } = stopping.as_ref();
                record.first_start = FirstStart::Before;
                record.holding = holds(placed.charge);
                record.stops_for = Some(Arc::new(cause.clone()));
                record.comes_back = *then == AfterStop::Requeue;
            }
            Phase::Ended { at, .. } => record.ended = Some(*at),
        }
        // What is owed already is no cost of the run.
        record.account.cost_micros = -owed(state, no, from).iter().map(|bill| bill.charges.micros).sum::<i64>();
        record
    }

    /// How long it waited for its first start, or has waited until then; nothing if that was before the run, or if it
    /// ended without a start.
    #[must_use]
    pub fn first_wait(&self, until: Timestamp) -> Option<Millis> {
        match self.first_start {
            FirstStart::Before => None,
            FirstStart::After(wait) => Some(wait),
            FirstStart::Never => self.waits_since.map(|_| (until - self.submitted).max(Millis::ZERO)),
        }
    }

    /// Work, in GPU-milliseconds.
    #[must_use]
    pub fn work(gpus: i64, time: Millis) -> i64 {
        i64::try_from(i128::from(gpus) * i128::from(time.0) / i128::from(GPU)).unwrap_or(i64::MAX)
    }
}
