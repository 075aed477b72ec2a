//! Time as an argument: the engine has no clock.

use std::num::NonZeroI64;
use std::ops::Add;
use std::ops::Sub;

use serde::Deserialize;
use serde::Serialize;

/// A period, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Millis(pub i64);

impl Millis {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// A minute.
    pub const MINUTE: Self = Self(60_000);
    /// An hour.
    pub const HOUR: Self = Self(3_600_000);
    /// A day.
    pub const DAY: Self = Self(86_400_000);

    /// `seconds` as a period, saturating.
    #[must_use]
    pub fn from_seconds(seconds: i64) -> Self {
        Self(seconds.saturating_mul(1000))
    }
}

/// A period of at least a millisecond. Not to have one takes no more room than to have one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(with = "i64", extend("minimum" = 1)))]
#[serde(transparent)]
pub struct Period(NonZeroI64);

impl Period {
    /// The period, if it is one.
    #[must_use]
    pub fn new(period: Millis) -> Option<Self> {
        NonZeroI64::new(period.0).filter(|period| period.is_positive()).map(Self)
    }

    /// In milliseconds.
    #[must_use]
    pub fn get(self) -> Millis {
        Millis(self.0.get())
    }
}

/// A point in time, in milliseconds since the sender's epoch (Unix time in the worker).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Timestamp(pub i64);

impl Add<Millis> for Timestamp {
    type Output = Self;
    fn add(self, period: Millis) -> Self {
        Self(self.0.saturating_add(period.0))
    }
}

impl Sub<Millis> for Timestamp {
    type Output = Self;
    fn sub(self, period: Millis) -> Self {
        Self(self.0.saturating_sub(period.0))
    }
}

impl Sub for Timestamp {
    type Output = Millis;
    fn sub(self, earlier: Self) -> Millis {
        Millis(self.0.saturating_sub(earlier.0))
    }
}
