//! What the checker finds: the flaw with its numbers, an example that shows it, and the change that ends it.

use crate::message::command::Command;
use crate::message::command::CreateQuota;
use crate::unit::amount::Amount;
use crate::unit::id::QuotaId;
use crate::unit::priority::Priority;
use crate::unit::priority::PrioritySet;
use crate::unit::time::Millis;

/// A finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What is wrong.
    pub flaw: Flaw,
    /// A history that shows it.
    pub example: Example,
    /// The smallest of the changes tried with which the flaw is gone; none if there is none among them.
    pub fix: Option<Command>,
}

/// A small cluster, and what happens in it: at most ten acts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The quotas that take part, parents first, in the one dimension `gpu`. Roots draw on a pool as large as they need.
    pub quotas: Vec<CreateQuota>,
    /// What happens.
    pub acts: Vec<Act>,
}

/// One thing that happens in an example.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "an example has ten acts at most")]
pub enum Act {
    /// A command, with the round at once that follows.
    Send(Command),
    /// Time passes, with a round whenever it changes something.
    Wait(Millis),
}

/// How bad a flaw is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// What was set up cannot do what it is for.
    Fault,
    /// It does what it says, which may be another thing than what was meant.
    Warning,
}

/// Which policy of a quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Policy {
    /// Self-level preemption.
    SelfLevel,
    /// Child-level preemption.
    ChildLevel,
}

/// Why a policy can never act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Powerless {
    /// Child-level preemption of a quota without children.
    NoChildren,
    /// Child-level preemption of a quota whose descendants are guaranteed nothing.
    NothingBelow,
    /// No quota of the level is guaranteed anything for its own jobs.
    NothingAtLevel,
    /// A policy over what siblings leave idle, of a quota without siblings.
    NoSiblings,
    /// A policy over what siblings leave idle, and none of them lends anything.
    NothingLent,
}

/// What protects a job from being evicted at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protection {
    /// A minimum run time.
    MinRuntime,
    /// A grace period.
    Grace,
}

/// The right by which a job takes amounts of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Right {
    /// Taking back what was lent.
    Reclaim,
    /// A policy.
    Policy(Policy),
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// Siblings whose policies let each evict jobs of another.
    Turns {
        /// All of them below one parent that have such a partner.
        quotas: Vec<QuotaId>,
        /// Whether a job that has evicted may be evicted in its turn, as the example shows.
        is_chain: bool,
    },
    /// A policy that can never act.
    Powerless {
        /// Its quota.
        quota: QuotaId,
        /// Which one.
        policy: Policy,
        /// Why.
        why: Powerless,
    },
    /// Priorities with which no regular job of a quota can ever start.
    Unusable {
        /// The quota.
        quota: QuotaId,
        /// The priorities.
        priorities: PrioritySet,
    },
    /// A protection that lasts longer than a job with a right to the amount waits before it counts as starving.
    HeldOff {
        /// Whose jobs have the right.
        quota: QuotaId,
        /// Which right.
        right: Right,
        /// Whose jobs are protected.
        protected: QuotaId,
        /// By what.
        protection: Protection,
        /// For how long.
        period: Millis,
        /// After how much waiting a job of the quota counts as starving.
        limit: Millis,
    },
    /// A parent whose children have everything, while child-level preemption is off.
    NothingLeft {
        /// The parent.
        quota: QuotaId,
        /// How many children it has.
        children: u32,
        /// What it is guaranteed, and they together.
        amount: Amount,
    },
    /// A strict queue in which a job that waits keeps others from what is free.
    Blocked {
        /// The quota.
        quota: QuotaId,
    },
    /// A set of priorities that may be taken and leaves out lower ones.
    Spared {
        /// The quota.
        quota: QuotaId,
        /// Whose set it is.
        policy: Policy,
        /// The set.
        named: PrioritySet,
        /// Lower priorities that stay protected.
        spared: PrioritySet,
    },
    /// Quotas whose jobs may come to hold what a sibling is guaranteed, until they end.
    Kept {
        /// All of them below one parent.
        quotas: Vec<QuotaId>,
    },
    /// Child-level preemption by which a job may take another one of a higher priority.
    Upward {
        /// The quota.
        quota: QuotaId,
        /// The highest priority that may be taken.
        highest: Priority,
    },
}

impl Flaw {
    /// How bad it is.
    #[must_use]
    pub fn severity(&self) -> Severity {
        match self {
            Self::Turns { .. } | Self::Powerless { .. } | Self::Unusable { .. } | Self::HeldOff { .. } => {
                Severity::Fault
            }
            Self::NothingLeft { .. }
            | Self::Blocked { .. }
            | Self::Spared { .. }
            | Self::Kept { .. }
            | Self::Upward { .. } => Severity::Warning,
        }
    }

    /// The quotas whose settings or amounts make it.
    #[must_use]
    pub fn quotas(&self) -> Vec<&QuotaId> {
        match self {
            Self::Turns { quotas, is_chain: _ } | Self::Kept { quotas } => quotas.iter().collect(),
            Self::HeldOff { quota, protected, .. } if quota == protected => vec![quota],
            Self::HeldOff { quota, protected, .. } => vec![quota, protected],
            Self::Powerless { quota, .. }
            | Self::Unusable { quota, .. }
            | Self::NothingLeft { quota, .. }
            | Self::Blocked { quota }
            | Self::Spared { quota, .. }
            | Self::Upward { quota, .. } => vec![quota],
        }
    }
}
