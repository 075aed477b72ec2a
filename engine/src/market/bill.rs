//! What a grant costs: the market price of each started minute, by job and day (rules 6.6).
//!
//! Minutes count from the start of the grant, and each costs what the market asks when it begins. A grant keeps what
//! it owes since its last bill; each change of the price adds to that, so no old price has to be remembered.

use serde::Deserialize;
use serde::Serialize;

use crate::unit::id::JobId;
use crate::unit::id::OfferId;
use crate::unit::id::WorkspaceId;
use crate::unit::time::Millis;
use crate::unit::time::Timestamp;

/// The tag of every bill of the spot market: key and value.
pub const PAY_TYPE: (&str, &str) = ("acs:pai:dlc:payType", "spot");

/// The day of a time, in days since the epoch.
#[must_use]
pub fn day_of(at: Timestamp) -> i64 {
    at.0.div_euclid(Millis::DAY.0)
}

/// The date of a day, such as `2026-11-21`.
#[must_use]
pub fn date(day: i64) -> String {
    // Years begin in March here, so that the day that only some of them have is their last one; 400 of them have
    // 146,097 days, the 1st of January 1970 being day 719,468 of those that began with the year 0.
    let shifted = day.saturating_add(719_468);
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day_of_month = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day_of_month:02}")
}

/// When a day begins.
#[must_use]
pub fn begin_of(day: i64) -> Timestamp {
    Timestamp(day.saturating_mul(Millis::DAY.0))
}

/// Minutes and what they cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Charges {
    /// Started minutes.
    pub minutes: i64,
    /// What they cost on all instances together, in micro-units of currency.
    pub micros: i64,
}

impl Charges {
    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self { minutes: self.minutes.saturating_add(other.minutes), micros: self.micros.saturating_add(other.micros) }
    }
}

/// What a job owes for a day, or for a part of it: bills of one job and day add up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Bill {
    /// The job.
    pub job: JobId,
    /// The workspace that pays.
    pub workspace: Option<WorkspaceId>,
    /// What it ran on.
    pub offer: OfferId,
    /// How many instances.
    pub instances: i64,
    /// The day, in days since the epoch.
    pub day: i64,
    /// The minutes that began on it, and what they cost.
    pub charges: Charges,
}

/// Instances in the hands of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Grant {
    /// Since when.
    pub started: Timestamp,
    /// Until when it is safe from release.
    pub protected_until: Timestamp,
    /// Minutes that have been counted, billed or not.
    pub counted: i64,
    /// Counted and not billed yet; all of one day.
    pub open: Charges,
}

impl Grant {
    /// A grant that begins.
    #[must_use]
    pub fn new(started: Timestamp, protection: Millis) -> Self {
        Self { started, protected_until: started + protection, counted: 0, open: Charges::default() }
    }

    /// How many minutes have begun before a time.
    fn begun(&self, until: Timestamp) -> i64 {
        let run = (until - self.started).0.max(0);
        run.div_euclid(Millis::MINUTE.0) + i64::from(run.rem_euclid(Millis::MINUTE.0) > 0)
    }

    /// When a minute begins, counted from 0.
    fn begin_of_minute(&self, minute: i64) -> Timestamp {
        self.started + Millis(minute.saturating_mul(Millis::MINUTE.0))
    }

    /// Counts the minutes that have begun before a time, at what they cost on all instances. They must be of the day
    /// of what is open: what belongs to earlier days is billed first.
    pub fn count(&mut self, until: Timestamp, minute_micros: i64) {
        let minutes = self.begun(until) - self.counted;
        if minutes > 0 {
            self.counted += minutes;
            self.open = self.open.plus(Charges { minutes, micros: minutes.saturating_mul(minute_micros) });
        }
    }

    /// What is to be billed until a time, by day.
    #[must_use]
    pub fn bills(&self, until: Timestamp, minute_micros: i64) -> Vec<(i64, Charges)> {
        let mut bills = Vec::new();
        let mut rest = *self;
        while rest.open.minutes > 0 || rest.begun(until) > rest.counted {
            let day = rest.open_day();
            rest.count(until.min(begin_of(day + 1)), minute_micros);
            bills.push((day, rest.open));
            rest.open = Charges::default();
        }
        bills
    }

    /// The day to which the first minute belongs that has not been billed.
    #[must_use]
    pub fn open_day(&self) -> i64 {
        let first = if self.open.minutes > 0 { self.counted - 1 } else { self.counted };
        day_of(self.begin_of_minute(first))
    }

    /// Takes note of a bill: what it holds has been counted, and is not open any more.
    pub fn billed(&mut self, charges: Charges) {
        self.counted += charges.minutes - self.open.minutes;
        self.open = Charges::default();
    }
}

/// What a job with a bid holds and has paid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Account {
    /// What it holds.
    pub grant: Option<Grant>,
    /// All that has been billed.
    pub billed: Charges,
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn dates_follow_the_calendar() {
        let days = [-719_468, -1, 0, 59, 789, 11_016, 11_017, 20_778];
        let dates = [
            "0000-03-01",
            "1969-12-31",
            "1970-01-01",
            "1970-03-01",
            "1972-02-29",
            "2000-02-29",
            "2000-03-01",
            "2026-11-21",
        ];
        assert_eq!(days.map(date), dates);
    }
}
