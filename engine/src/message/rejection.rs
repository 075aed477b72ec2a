//! Why a command is refused: what the client can mend. Nothing is stored when a command is refused.

use std::fmt;

use serde::Deserialize;
use serde::Serialize;

use crate::market::bid::BidFault;
use crate::market::offer::OfferFault;
use crate::quota::policy::PolicyFault;
use crate::unit::amount::Dimension;
use crate::unit::quantity::bare;
use crate::unit::quantity::quantity;
use crate::workspace::may::Denied;

/// Which kind of thing a name should name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Noun {
    /// The cluster.
    Cluster,
    /// A resource group.
    Group,
    /// A node.
    Node,
    /// A quota.
    Quota,
    /// A job.
    Job,
    /// A dimension.
    Dimension,
    /// A command.
    Command,
    /// An offer of the spot market.
    Offer,
    /// A workspace.
    Workspace,
    /// A member of a workspace.
    Member,
    /// An access key.
    Key,
}

impl Noun {
    fn as_str(self) -> &'static str {
        match self {
            Self::Cluster => "cluster",
            Self::Group => "resource group",
            Self::Node => "node",
            Self::Quota => "quota",
            Self::Job => "job",
            Self::Dimension => "dimension",
            Self::Command => "command",
            Self::Offer => "offer",
            Self::Workspace => "workspace",
            Self::Member => "member",
            Self::Key => "key",
        }
    }
}

/// A refused command. `Display` is the sentence that people read: what, where, the numbers, what to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Rejection {
    /// The message cannot be read.
    Malformed {
        /// What the reader says, with line and column.
        reason: String,
    },
    /// The message has a format that this engine does not know.
    UnknownFormat {
        /// The format.
        format: u32,
    },
    /// The message is too large.
    TooLarge {
        /// Its size.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// Nothing has this name.
    Unknown {
        /// What was looked for.
        noun: Noun,
        /// The name.
        name: String,
    },
    /// The name is taken by something else.
    Taken {
        /// What has the name.
        noun: Noun,
        /// The name.
        name: String,
    },
    /// The cluster has moved on.
    MovedOn {
        /// The revision that the command was made for.
        base: u64,
        /// The revision now.
        revision: u64,
    },
    /// A collection would exceed its limit.
    Limit {
        /// What there would be too many of.
        what: String,
        /// How many there would be.
        count: u64,
        /// The limit.
        limit: u64,
    },
    /// A value is out of its range.
    OutOfRange {
        /// Which value.
        what: String,
        /// The value.
        value: i64,
        /// The smallest allowed.
        min: i64,
        /// The largest allowed.
        max: i64,
    },
    /// The children of a quota, or the roots of a domain, would need more than there is (rules 2.1).
    DoesNotAddUp {
        /// Whose amount would not be covered.
        quota: String,
        /// The dimension.
        dimension: Dimension,
        /// What it would need.
        needed: i64,
        /// Where it would come from.
        from: String,
        /// What is left there.
        left: i64,
    },
    /// A quota states a dimension that its parent must state as well, or groups and parents are mixed up.
    Structure {
        /// What is wrong and what to do.
        reason: String,
    },
    /// A policy contradicts itself (rules 5.2).
    Policy {
        /// Whose policy.
        quota: String,
        /// Which of the two.
        policy: String,
        /// What is wrong.
        fault: PolicyFault,
    },
    /// An offer does not take a job's bid (rules 6.2).
    Bid {
        /// The job.
        job: String,
        /// The offer.
        offer: String,
        /// What is wrong.
        fault: BidFault,
    },
    /// Something is wrong with an offer, or with what is said of it (rules 6.1).
    Offer {
        /// The offer.
        offer: String,
        /// What is wrong.
        fault: OfferFault,
    },
    /// The job names neither a quota nor an offer.
    NoSource {
        /// The job.
        job: String,
    },
    /// The job asks for nothing.
    EmptyJob {
        /// The job.
        job: String,
    },
    /// The thing is not in a state that allows the command.
    NotNow {
        /// What.
        noun: Noun,
        /// Its name.
        name: String,
        /// Why not, and what to do.
        reason: String,
    },
    /// Who sent the command may not (rules 9.1).
    Denied {
        /// Who.
        user: String,
        /// Why not.
        why: Denied,
    },
    /// A command of a plan is refused, and so is the plan.
    InPlan {
        /// Its position, counted from 0.
        at: u32,
        /// Why.
        rejection: Box<Rejection>,
    },
    /// A round for a slot that has been decided.
    SlotDone {
        /// The slot.
        slot: i64,
        /// The last decided slot.
        last: i64,
    },
}

impl Rejection {
    /// The same with the name of the cluster, which the engine does not know.
    #[must_use]
    pub fn of_cluster(mut self, cluster: &str) -> Self {
        if let Self::NotNow { noun: Noun::Cluster, name, .. } | Self::Taken { noun: Noun::Cluster, name } = &mut self {
            cluster.clone_into(name);
        }
        self
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed { reason } => write!(f, "the message cannot be read: {reason}"),
            Self::UnknownFormat { format } => {
                write!(f, "format {format} is not known here; this engine reads format {}", super::FORMAT)
            }
            Self::TooLarge { bytes, limit } => {
                write!(f, "the message has {bytes} bytes, at most {limit} are read; split it")
            }
            Self::Unknown { noun, name } => write!(f, "there is no {} {name}", noun.as_str()),
            Self::Taken { noun, name } if name.is_empty() => {
                write!(f, "the {} exists and is different; repeat exactly what was sent first", noun.as_str())
            }
            Self::Taken { noun, name } => {
                write!(
                    f,
                    "{} {name} exists and is different; choose another name, or repeat exactly what was sent first",
                    noun.as_str()
                )
            }
            Self::MovedOn { base, revision } => {
                write!(
                    f,
                    "the command was made for revision {base}, the cluster is at {revision}; look again and repeat it"
                )
            }
            Self::Limit { what, count, limit } => write!(f, "{count} {what} are more than the {limit} allowed"),
            Self::OutOfRange { what, value, min, max } => {
                write!(f, "{what} is {value}, it must be from {min} to {max}")
            }
            Self::DoesNotAddUp { quota, dimension, needed, from, left } => {
                write!(
                    f,
                    "{quota} would need {}, {from} has {} left",
                    quantity(dimension, *needed),
                    bare(dimension, *left)
                )
            }
            Self::Structure { reason } => f.write_str(reason),
            Self::Policy { quota, policy, fault } => write!(f, "{policy} preemption of {quota}: {fault}"),
            Self::Bid { job, offer, fault } => write!(f, "job {job} cannot bid on {offer}: {fault}"),
            Self::Offer { offer, fault } => write!(f, "offer {offer}: {fault}"),
            Self::NoSource { job } => {
                write!(f, "job {job} names neither a quota nor an offer of the spot market; name one of them")
            }
            Self::EmptyJob { job } => {
                write!(f, "job {job} asks for nothing; give it at least one pod with an amount above 0")
            }
            // The engine does not know how its cluster is called.
            Self::NotNow { noun, name, reason } if name.is_empty() => write!(f, "the {} {reason}", noun.as_str()),
            Self::NotNow { noun, name, reason } => write!(f, "{} {name} {reason}", noun.as_str()),
            Self::Denied { user, why } => write!(f, "{user} {why}"),
            Self::InPlan { at, rejection } => {
                write!(f, "change {} of the plan cannot be made, so none is: {rejection}", at.saturating_add(1))
            }
            Self::SlotDone { slot, last } => write!(f, "slot {slot} has been decided; the last one was {last}"),
        }
    }
}

impl std::error::Error for Rejection {}

#[cfg(test)]
mod tests {
    use super::Noun;
    use super::Rejection;

    #[test]
    fn a_cluster_that_is_missing_is_named_by_who_knows_its_name() {
        let missing = |name: &str| Rejection::NotNow {
            noun: Noun::Cluster,
            name: name.to_owned(),
            reason: "has not been created".to_owned(),
        };
        assert_eq!(missing("").to_string(), "the cluster has not been created");
        assert_eq!(missing("").of_cluster("prod").to_string(), "cluster prod has not been created");
        let other = Rejection::Unknown { noun: Noun::Quota, name: "team".to_owned() };
        assert_eq!(other.clone().of_cluster("prod"), other);
    }
}
