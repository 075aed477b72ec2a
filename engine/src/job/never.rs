//! Why a job can never start on the machines and the quotas as they are: each is a proof, with its numbers.
//!
//! What only was not found is no proof; that is said by [`crate::job::hold::Blocker::NoRoom`].

use serde::Deserialize;
use serde::Serialize;

use crate::unit::amount::Amount;
use crate::unit::id::QuotaId;

/// A proof that a job can never start. Only other machines, quotas or settings can make it untrue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Never {
    /// It asks for more than a parent keeps for its own jobs, while its children's amounts are out of reach.
    Own {
        /// The parent.
        quota: QuotaId,
        /// The dimension.
        dimension: u8,
        /// What the job asks for.
        asked: i64,
        /// What the parent is guaranteed without its children's amounts.
        own: i64,
        /// What the parent is guaranteed in all.
        min: i64,
    },
    /// It may use what its quota's siblings have, and asks for more than all of them have together.
    Level {
        /// The parent of these quotas.
        parent: QuotaId,
        /// The dimension.
        dimension: u8,
        /// What the job asks for.
        asked: i64,
        /// What the quotas of the level are guaranteed together.
        level: i64,
    },
    /// It asks for more than could be lent in one domain if nobody used anything of his own.
    Lent {
        /// The dimension.
        dimension: u8,
        /// What the job asks for.
        asked: i64,
        /// The most that one domain could ever lend.
        lent: i64,
    },
    /// No machine has all that one of its pods needs.
    Pod {
        /// What the pod needs.
        pod: Amount,
    },
    /// The machines have room for fewer pods of this size.
    Count {
        /// Pods that need at least this much.
        pods: u32,
        /// Pods of the gang.
        of: u32,
        /// What each of these needs at least.
        pod: Amount,
        /// How many of them find room on empty machines.
        fit: u32,
    },
    /// All pods together need more than all machines have.
    Sum {
        /// Pods of the gang.
        pods: u32,
        /// The dimension.
        dimension: u8,
        /// What the gang asks for.
        asked: i64,
        /// What the machines have.
        total: i64,
    },
    /// Every way to place the pods on empty machines was tried.
    Tried {
        /// Pods of the gang.
        pods: u32,
        /// How many fills of a machine were looked at.
        steps: u32,
    },
}
