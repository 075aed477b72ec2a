//! Why a source cannot serve a job now, with the numbers (rules 10.1). The check is the explanation.

use serde::Deserialize;
use serde::Serialize;

use crate::job::considered::Considered;
use crate::job::never::Never;
use crate::job::phase::Source;
use crate::unit::id::JobId;
use crate::unit::id::OfferId;
use crate::unit::id::QuotaId;
use crate::unit::priority::Priority;
use crate::unit::priority::PrioritySet;
use crate::unit::sort;
use crate::unit::time::Millis;
use crate::unit::time::Timestamp;

/// A reason why one source does not serve. Amounts are in the unit of the dimension that is named by its position
/// in the cluster's list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Blocker {
    /// The job is larger than its quota will ever allow.
    LargerThanQuota {
        /// The quota that is too small.
        quota: QuotaId,
        /// The dimension.
        dimension: u8,
        /// What the job asks for.
        asked: i64,
        /// What the quota is guaranteed.
        min: i64,
    },
    /// The job is larger than the machines are, even when they are empty.
    LargerThanNodes {
        /// Pods of the gang.
        pods: u32,
        /// Pods that would fit on empty machines.
        fit: u32,
        /// The dimension of the pod's GPUs (or of the pool that is too small).
        dimension: u8,
        /// What one pod asks for (of a pool: what the gang asks for).
        asked: i64,
        /// The most that one machine has (of a pool: what it has).
        largest: i64,
    },
    /// The job can never start, for another reason.
    Never(Never),
    /// The quota's own amount, or an ancestor's, is used up.
    QuotaFull {
        /// The quota whose amount is short.
        quota: QuotaId,
        /// The dimension.
        dimension: u8,
        /// What the job asks for.
        asked: i64,
        /// What is free there for it.
        free: i64,
        /// What the quota has for its own jobs.
        own: i64,
    },
    /// The amount is free, but not where the pods fit.
    NoRoom {
        /// Pods of the gang.
        pods: u32,
        /// Pods that find room now.
        fit: u32,
        /// The dimension of the pod's GPUs (or the first that is short in a pool).
        dimension: u8,
        /// What one pod asks for (of a pool: what the gang asks for).
        asked: i64,
        /// The most that one machine has free (of a pool: what is free).
        free: i64,
        /// The steps after which the search for a placement was given up; none if there is no placement.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unsolved: Option<u32>,
    },
    /// The job does not use idle amounts, by its own choice.
    IdleOff,
    /// The job uses nothing but idle amounts, by its own choice.
    IdleOnly,
    /// Too little is idle in quotas that lend.
    IdleShort {
        /// The dimension.
        dimension: u8,
        /// What the job asks for.
        asked: i64,
        /// What is idle and not lent yet.
        idle: i64,
    },
    /// Nothing that idle jobs hold stands in the way.
    NothingLent,
    /// Child-level preemption is switched off.
    ChildLevelOff {
        /// The quota with the switch.
        quota: QuotaId,
    },
    /// The quota has no children.
    NoChildren {
        /// The quota.
        quota: QuotaId,
    },
    /// Self-level preemption is switched off.
    SelfLevelOff {
        /// The quota with the switch.
        quota: QuotaId,
    },
    /// The job's priority is not in the High set.
    PriorityNotHigh {
        /// The quota with the policy.
        quota: QuotaId,
        /// The job's priority.
        priority: Priority,
        /// The High set.
        high: PrioritySet,
    },
    /// No running job may be taken under the rule.
    NoVictim {
        /// The quota with the policy.
        quota: QuotaId,
        /// Who was looked at.
        considered: Considered,
    },
    /// Taking every job that may be taken is not enough.
    VictimsTooFew {
        /// The quota with the policy (of source 3: the job's own).
        quota: QuotaId,
        /// The dimension.
        dimension: u8,
        /// What is missing after free amounts are counted.
        missing: i64,
        /// What the victims would free.
        could_free: i64,
        /// Who was looked at.
        considered: Considered,
    },
    /// Victims exist, but have just started.
    VictimProtected {
        /// The quota whose minimum run time protects them.
        quota: QuotaId,
        /// When the first protection that matters ends.
        until: Timestamp,
        /// Who was looked at.
        considered: Considered,
    },
    /// The amounts are being released already.
    WaitingForRelease {
        /// A job that is stopping.
        job: JobId,
        /// When it has stopped at the latest.
        until: Timestamp,
    },
    /// It waits behind the head of a strict queue.
    BehindHead {
        /// The head.
        job: JobId,
    },
    /// A job that has waited too long holds a reservation.
    Reserved {
        /// The job that holds it.
        job: JobId,
        /// When that job can start at the earliest, if the running jobs' durations are known.
        until: Option<Timestamp>,
    },
    /// The search for victims was ended by its step budget.
    NotSolved {
        /// The quota with the policy.
        quota: QuotaId,
        /// Steps that were taken.
        steps: u32,
    },
    /// It was evicted and waits before it is judged again.
    Backoff {
        /// Until when.
        until: Timestamp,
    },
    /// It draws on a quota and has no bid.
    NoBid,
    /// Its bid is below the market price. Prices and bids are in micro-units for an instance-minute.
    BelowMarket {
        /// The offer.
        offer: OfferId,
        /// The most that it pays.
        bid: i64,
        /// What the market asks.
        price: i64,
        /// What the market asks at most.
        original: i64,
        /// In how many of the known hours the price was at most the bid.
        hours: u32,
        /// Of how many hours of the last week the price is known.
        known_hours: u32,
    },
    /// It was released, and its bid is still below the average price.
    BelowAverage {
        /// The offer.
        offer: OfferId,
        /// The most that it pays.
        bid: i64,
        /// What the market asked on average, rounded up.
        average: i64,
        /// Over how long.
        window: Millis,
        /// What the market asks at most.
        original: i64,
        /// In how many of the known hours the price was at most the bid.
        hours: u32,
        /// Of how many hours of the last week the price is known.
        known_hours: u32,
    },
    /// The offer has too few free instances.
    InventoryShort {
        /// The offer.
        offer: OfferId,
        /// Instances that the job asks for.
        asked: i64,
        /// Instances that are free.
        free: i64,
        /// Instances that there are.
        inventory: i64,
    },
    /// Nothing is in its way any more; the next scheduled round says who gets the instances.
    NextRound {
        /// The offer.
        offer: OfferId,
    },
    /// There is room for the job by now; the next scheduled round says who gets it. Never recorded: it is what is
    /// answered in between.
    LeftOver,
}

/// A source that was tried, and what blocked it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Attempt {
    /// The source.
    pub source: Source,
    /// What blocked it.
    pub blocker: Blocker,
}

impl Attempt {
    /// Whether both name the same reason; the numbers may differ.
    #[must_use]
    pub fn is_same_kind(&self, other: &Self) -> bool {
        self.source == other.source && std::mem::discriminant(&self.blocker) == std::mem::discriminant(&other.blocker)
    }

    /// Whether a look at the books of the job's own quota, or at what is idle, tells that nothing has changed.
    fn is_plain(&self) -> bool {
        match self.blocker {
            Blocker::QuotaFull { .. } => matches!(self.source, Source::Own | Source::Reclaim),
            Blocker::IdleShort { .. } => self.source == Source::Idle,
            Blocker::IdleOff
            | Blocker::IdleOnly
            | Blocker::ChildLevelOff { .. }
            | Blocker::NoChildren { .. }
            | Blocker::SelfLevelOff { .. }
            | Blocker::PriorityNotHigh { .. } => true,
            Blocker::LargerThanQuota { .. }
            | Blocker::LargerThanNodes { .. }
            | Blocker::Never(_)
            | Blocker::NoRoom { .. }
            | Blocker::NothingLent
            | Blocker::NoVictim { .. }
            | Blocker::VictimsTooFew { .. }
            | Blocker::VictimProtected { .. }
            | Blocker::WaitingForRelease { .. }
            | Blocker::BehindHead { .. }
            | Blocker::Reserved { .. }
            | Blocker::NotSolved { .. }
            | Blocker::Backoff { .. }
            | Blocker::NoBid
            | Blocker::BelowMarket { .. }
            | Blocker::BelowAverage { .. }
            | Blocker::InventoryShort { .. }
            | Blocker::NextRound { .. }
            | Blocker::LeftOver => false,
        }
    }
}

/// How long a hold lasts, as far as its reasons tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lasting {
    /// Until the machines or the quotas change.
    ForEver,
    /// Until the job's own quota has the amount free, or it is idle: each as far as the job may use it.
    Plain,
    /// Nobody knows before the sources are asked again.
    Open,
}

/// Why a job waits: the binding reason first, all others after it in the order of the sources.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Hold {
    /// The attempts; never empty.
    pub attempts: Vec<Attempt>,
}

impl Hold {
    /// The same reasons, with that one as binding which was told before, if it is among them, and unless the source that came
    /// furthest refuses for another reason than it did then.
    #[must_use]
    pub fn bound_like(mut self, told: &Self) -> Self {
        let is_new =
            |mine: &Attempt| told.attempts.iter().any(|theirs| theirs.source == mine.source) && !told.names(mine);
        if self.binding().is_some_and(is_new) {
            return self;
        }
        let is_told = |mine: &Attempt| told.binding().is_some_and(|theirs| mine.is_same_kind(theirs));
        sort::by_key(&mut self.attempts, |attempt| attempt.source);
        if let Some(at) = self.attempts.iter().position(is_told) {
            self.attempts[..=at].rotate_right(1);
        }
        self
    }

    /// Whether this reason is among them; the numbers may differ.
    #[must_use]
    pub fn names(&self, attempt: &Attempt) -> bool {
        self.attempts.iter().any(|mine| mine.is_same_kind(attempt))
    }

    /// The reason that matters most.
    #[must_use]
    pub fn binding(&self) -> Option<&Attempt> {
        self.attempts.first()
    }

    /// Whether nothing but a change of the machines or the quotas can help.
    #[must_use]
    pub fn is_for_ever(&self) -> bool {
        self.attempts.iter().any(|attempt| attempt.blocker.is_for_ever())
    }

    /// What it takes to find out whether it holds still.
    #[must_use]
    pub fn lasting(&self) -> Lasting {
        if self.is_for_ever() {
            Lasting::ForEver
        } else if self.attempts.iter().all(Attempt::is_plain) {
            Lasting::Plain
        } else {
            Lasting::Open
        }
    }

    /// When it ends, as far as time alone ends it.
    #[must_use]
    pub fn ends(&self) -> Option<Timestamp> {
        self.attempts.iter().filter_map(|attempt| attempt.blocker.passes_with_time()).min()
    }

    /// The jobs that it waits for and that wait themselves: the head of its queue, or who holds a reservation.
    pub fn named(&self) -> impl Iterator<Item = &JobId> {
        self.attempts.iter().filter_map(|attempt| attempt.blocker.waits_for())
    }

    /// Whether both name the same reasons, wait for the same jobs and pass at the same times; the numbers may differ.
    #[must_use]
    pub fn is_same_kind(&self, other: &Self) -> bool {
        self.attempts.len() == other.attempts.len()
            && self.attempts.iter().zip(&other.attempts).all(|(mine, theirs)| {
                mine.is_same_kind(theirs)
                    && mine.blocker.waits_for() == theirs.blocker.waits_for()
                    && mine.blocker.passes_with_time() == theirs.blocker.passes_with_time()
            })
    }
}

impl Blocker {
    /// Whether nothing but a change of the machines or the quotas can help.
    #[must_use]
    pub fn is_for_ever(&self) -> bool {
        matches!(self, Self::LargerThanNodes { .. } | Self::LargerThanQuota { .. } | Self::Never(_))
    }

    /// Whether it says only that a policy is not for the job, as it is set: nothing of what the job is short of.
    #[must_use]
    pub fn is_a_switch(&self) -> bool {
        matches!(self, Self::ChildLevelOff { .. } | Self::PriorityNotHigh { .. })
    }

    /// Whether time alone may change it.
    #[must_use]
    pub fn passes_with_time(&self) -> Option<Timestamp> {
        if let Self::VictimProtected { until, .. } = self { Some(*until) } else { None }
    }

    /// The waiting job that has to start first.
    fn waits_for(&self) -> Option<&JobId> {
        if let Self::BehindHead { job } | Self::Reserved { job, .. } = self { Some(job) } else { None }
    }
}
