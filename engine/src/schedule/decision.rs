//! What a round concludes.

use std::sync::Arc;

use crate::job::cause::Cause;
use crate::job::hold::Hold;
use crate::job::phase::Charge;
use crate::job::phase::Placed;
use crate::job::phase::PodAt;
use crate::unit::id::ClassNo;
use crate::unit::id::JobNo;
use crate::unit::id::OfferNo;

/// Somebody who gives way: a whole job, or pods above an elastic job's minimum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Victim {
    /// The whole job.
    Job(JobNo),
    /// Positions in its list of extra pods, ascending.
    Pods(JobNo, Vec<u32>),
}

impl Victim {
    /// Whose.
    #[must_use]
    pub fn job(&self) -> JobNo {
        match self {
            Self::Job(no) | Self::Pods(no, _) => *no,
        }
    }
}

/// What a source assigns: where the job runs, and who has to change or to go for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// What the job would hold.
    pub placed: Placed,
    /// Idle jobs whose own quota has room, which go in quota instead of being evicted.
    pub promoted: Vec<JobNo>,
    /// Who gives way, in the order of their job numbers.
    pub victims: Vec<Victim>,
    /// Under which rule; nothing without victims.
    pub cause: Option<Box<Cause>>,
}

/// One conclusion, in the order in which they take effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// A waiting job gets what a source assigns to it.
    Serve {
        /// The job.
        job: JobNo,
        /// What it gets.
        assignment: Assignment,
    },
    /// An elastic job gets pods above its minimum.
    Grow {
        /// The job.
        job: JobNo,
        /// What the pods count against.
        charge: Charge,
        /// Where they run.
        pods: Vec<Option<PodAt>>,
        /// Idle jobs whose own quota has room, which go in quota instead of being evicted.
        promoted: Vec<JobNo>,
        /// Pods of other elastic jobs and idle jobs that give way.
        victims: Vec<Victim>,
        /// Under which rule.
        cause: Option<Box<Cause>>,
    },
    /// Running jobs give way, and nobody starts for it: loans ended.
    Release {
        /// Idle jobs whose own quota has room, which go in quota instead of being evicted.
        promoted: Vec<JobNo>,
        /// Who.
        victims: Vec<Victim>,
        /// Why.
        cause: Cause,
    },
    /// An auction moves its price.
    Price {
        /// The offer.
        offer: OfferNo,
        /// The price now, in micro-units.
        price: i64,
    },
    /// A job with a bid waits.
    Wait {
        /// The job.
        job: JobNo,
        /// Why.
        hold: Arc<Hold>,
    },
    /// Waiting jobs of a class have a new reason.
    Hold {
        /// The class.
        class: ClassNo,
        /// Why.
        hold: Arc<Hold>,
    },
}

impl Decision {
    /// Whether somebody gets anything by it.
    #[must_use]
    pub fn gives(&self) -> bool {
        matches!(self, Self::Serve { .. } | Self::Grow { .. })
    }
}
