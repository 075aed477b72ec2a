//! What days cost a month at the platform's list prices of 2025, in cents: 5 dollars with what they include, and what goes
//! beyond that.

/// A month has so many days.
const DAYS: u64 = 30;
/// What all of it begins with.
const BASE_CENTS: u64 = 500;

/// What a day takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct List {
    /// Of KV.
    pub(crate) writes: u64,
    pub(crate) deletes: u64,
    /// Written in the object's storage.
    pub(crate) rows: u64,
    /// Of the object.
    pub(crate) calls: u64,
}

/// What a month costs beyond what is included: a million costs so many cents.
fn beyond(day: u64, included: u64, cents: u64) -> u64 {
    (day * DAYS).saturating_sub(included) * cents / 1_000_000
}

impl List {
    /// The cost of a month in cents, with so many bytes in KV.
    pub(crate) fn cents(self, bytes: u64) -> u64 {
        let Self { writes, deletes, rows, calls } = self;
        let stored = bytes.saturating_sub(1_000_000_000) * 50 / 1_000_000_000;
        let of_kv = beyond(writes, 1_000_000, 500) + beyond(deletes, 1_000_000, 500);
        BASE_CENTS + of_kv + beyond(rows, 50_000_000, 100) + beyond(calls, 1_000_000, 15) + stored
    }

    /// In words, with so many bytes in KV.
    pub(crate) fn told(self, bytes: u64) -> String {
        let cents = self.cents(bytes);
        format!(
            "{self:?} a day at most, {bytes} bytes in KV at most: {}.{:02} dollars a month",
            cents / 100,
            cents % 100
        )
    }
}

#[test]
fn what_is_included_costs_nothing_more() {
    let day = List { writes: 33_000, deletes: 33_000, rows: 1_600_000, calls: 33_000 };
    assert_eq!(day.cents(1_000_000_000), BASE_CENTS);
    let more = List { writes: 100_000, deletes: 100_000, rows: 10_000_000, calls: 100_000 };
    assert_eq!(more.cents(41_000_000_000), BASE_CENTS + 1_000 + 1_000 + 25_000 + 30 + 2_000);
}
