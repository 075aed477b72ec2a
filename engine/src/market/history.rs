//! How an offer went: what a reader of its history is told.

use serde::Deserialize;
use serde::Serialize;

use crate::market::price::PriceCourse;
use crate::market::price::PriceHour;
use crate::unit::id::OfferId;
use crate::unit::time::Millis;
use crate::unit::time::Timestamp;

/// What an instance-minute cost from a time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PricePoint {
    /// The time.
    pub at: Timestamp,
    /// The price, in micro-units.
    pub price: i64,
    /// The average over the window that ends then, as far as the price is known, rounded up.
    pub average: i64,
}

impl PricePoint {
    /// A course at a time.
    #[must_use]
    pub fn of(course: &PriceCourse, at: Timestamp, window: Millis) -> Self {
        Self { at, price: course.price(), average: course.average(at, window).rounded_up() }
    }
}

/// How an offer's price and inventory went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct History {
    /// The offer.
    pub offer: OfferId,
    /// Hours of the last week, the one that is going on included.
    pub hours: Vec<PriceHour>,
    /// Changes of the price that can still be read one by one; the last point is now.
    pub prices: Vec<PricePoint>,
    /// The average at each moment at which its course bends, in micro-units, rounded up: when the price changes, and
    /// when a change leaves the window. Between them it is straight.
    pub averages: Vec<(Timestamp, i64)>,
    /// Changes of the inventory that can still be read one by one: from when, and how many; the last one is now.
    pub inventory: Vec<(Timestamp, i64)>,
    /// The same for the instances that jobs hold.
    pub held: Vec<(Timestamp, i64)>,
}
