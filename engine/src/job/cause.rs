//! Why jobs are evicted.

use serde::Deserialize;
use serde::Serialize;

use crate::job::halt::Halt;
use crate::unit::id::JobId;
use crate::unit::id::OfferId;
use crate::unit::id::QuotaId;
use crate::unit::time::Millis;

/// Why a job was evicted: the rule, and whose it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// A lender's job took back what was lent (rules 4.3).
    Reclaimed {
        /// The quota that took it back.
        quota: QuotaId,
        /// The job that needed it.
        by: JobId,
    },
    /// Its quota held more than its amount since it was scaled down, and somebody with a right to it asked (rules
    /// 8.2).
    OverUse {
        /// The job's quota.
        quota: QuotaId,
        /// The job that needed it.
        by: JobId,
    },
    /// Child-level preemption (rules 5.1).
    ChildLevel {
        /// The quota whose policy allowed it.
        quota: QuotaId,
        /// The job that needed it.
        by: JobId,
    },
    /// Self-level preemption (rules 5.2).
    SelfLevel {
        /// The quota whose policy allowed it.
        quota: QuotaId,
        /// The job that needed it.
        by: JobId,
    },
    /// What it ran on is no longer lent: a quota was scaled down or stopped lending (rules 4.2).
    LendingEnded,
    /// The quota was scaled below its use with `evict` (rules 8.2).
    ScaledDown {
        /// The quota.
        quota: QuotaId,
    },
    /// Its bid is below the market price of general computing (rules 6.4). Prices and bids are in
    /// micro-units for an instance-minute.
    BelowPrice {
        /// The offer.
        offer: OfferId,
        /// The most that it pays.
        bid: i64,
        /// What the market asks.
        price: i64,
        /// What the market asks at most.
        original: i64,
    },
    /// Its bid is below the average price of Lingjun (rules 6.4).
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
    },
    /// A higher bid needed its instances (rules 6.5).
    Outbid {
        /// The offer.
        offer: OfferId,
        /// The most that it pays.
        bid: i64,
        /// Who bids more.
        by: JobId,
        /// The most that they pay.
        higher: i64,
        /// What the market asks at most.
        original: i64,
    },
    /// Its run ends for no other job's sake (rules 7.5).
    Halted(Halt),
    /// The offer has fewer instances than ran (rules 6.4).
    InventoryShrunk {
        /// The offer.
        offer: OfferId,
        /// Instances that there are.
        inventory: i64,
        /// Instances that ran.
        held: i64,
    },
}
