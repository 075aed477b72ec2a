//! What happens beside the log and belongs in the audit all the same: refusals, sign-ins, wrong secrets, restores,
//! publications on demand. The log has accepted commands alone, so these are rows of a table of their own.
//!
//! Most of them can be caused by anybody, as often as they like. So what is written is bounded, whatever comes:
//!
//! - the same by the same sender within a minute is one row with a count;
//! - of one sender a minute has a few rows and a day some more, and what comes on top is one row without details;
//! - all senders together have some rows a minute, and what comes on top is one row without a name.
//!
//! Nothing is dropped without being counted. What only administrators can do is not held back by what others cause.
//! A row is written when it is new and when its count has grown tenfold; the rest is written with the minute's slot. What
//! memory has not written when it is lost, at most nine of ten of a minute, is not counted.

use std::borrow::Cow;
use std::collections::BTreeMap;

use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use serde::Deserialize;
use serde::Serialize;

/// How many rows of one sender a minute has.
const OF_SENDER_MAX: usize = 4;
/// How many rows of one sender a day has.
const OF_DAY_MAX: u64 = 200;
/// How many rows a minute has of what anybody can cause.
const OF_ALL_MAX: usize = 16;
/// How many senders are remembered for their day.
const SENDERS_MAX: usize = 1_000;
/// How long rows are kept, at most.
pub const KEPT: Millis = Millis(400 * Millis::DAY.0);
/// How many rows of a kind are kept at most.
pub const ROWS_MAX: u64 = 20_000;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Somebody who is known was refused something.
    Refused,
    /// Somebody opened a session.
    SignedIn,
    /// Somebody ended a session.
    SignedOut,
    /// A wrong secret was shown, or a request was signed with one.
    WrongSecret,
    /// A wrong key of the service was shown.
    WrongKey,
    /// A restore was asked for.
    Restore,
    /// A publication was asked for.
    Flush,
    /// The cluster's deletion was asked for.
    Delete,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 8] = [
        Self::Refused,
        Self::SignedIn,
        Self::SignedOut,
        Self::WrongSecret,
        Self::WrongKey,
        Self::Restore,
        Self::Flush,
        Self::Delete,
    ];

    /// As it is written.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::SignedIn => "signed_in",
            Self::SignedOut => "signed_out",
            Self::WrongSecret => "wrong_secret",
            Self::WrongKey => "wrong_key",
            Self::Restore => "restore",
            Self::Flush => "flush",
            Self::Delete => "delete",
        }
    }

    /// Whether administrators alone can cause it.
    fn is_of_administrators(self) -> bool {
        match self {
            Self::Restore | Self::Flush | Self::Delete => true,
            Self::Refused | Self::SignedIn | Self::SignedOut | Self::WrongSecret | Self::WrongKey => false,
        }
    }
}

/// A row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Incident {
    /// The minute in which it happened; of what one sender causes too often, the day.
    pub minute: Timestamp,
    /// What happened.
    pub kind: Kind,
    /// Who caused it: a user, or the network of somebody who is not known. Empty for all that are too many.
    pub who: String,
    /// What it was about: a command or a call with the reason of its refusal, or a key. Empty if it was too much.
    pub what: Cow<'static, str>,
    /// How often.
    pub count: u64,
}

/// What a row is known by.
type Name = (Kind, String, Cow<'static, str>);

/// A row of this minute.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    count: u64,
    written: u64,
    /// Whether it stands for a day.
    is_of_day: bool,
}

/// The incidents of this minute.
#[derive(Clone, Debug, Default)]
pub struct Incidents {
    minute: i64,
    rows: BTreeMap<Name, Counted>,
    day: i64,
    of_day: BTreeMap<String, u64>,
}

impl Incidents {
    /// None yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { minute: 0, rows: BTreeMap::new(), day: 0, of_day: BTreeMap::new() }
    }

    /// Notes what has happened. Answers rows to be added to those that are written: the counts are what is new.
    pub fn note(&mut self, kind: Kind, who: &str, what: Cow<'static, str>, now: Timestamp) -> Vec<Incident> {
        let mut due = if self.minute == now.0.div_euclid(Millis::MINUTE.0) { Vec::new() } else { self.begin(now) };
        let (name, is_of_day) = self.place(kind, who, what);
        let day = self.day;
        let minute = self.minute;
        let counted = self.rows.entry(name.clone()).or_insert(Counted { count: 0, written: 0, is_of_day });
        counted.count += 1;
        if counted.written == 0 || counted.count >= 10 * counted.written {
            due.push(row(&name, counted, minute, day));
        }
        due
    }

    /// What has not been written yet.
    pub fn flush(&mut self) -> Vec<Incident> {
        let (minute, day) = (self.minute, self.day);
        let open = self.rows.iter_mut().filter(|(_, counted)| counted.count > counted.written);
        open.map(|(name, counted)| row(name, counted, minute, day)).collect()
    }

    fn begin(&mut self, now: Timestamp) -> Vec<Incident> {
        let due = self.flush();
        self.rows.clear();
        self.minute = now.0.div_euclid(Millis::MINUTE.0);
        let day = now.0.div_euclid(Millis::DAY.0);
        if self.day != day || self.of_day.len() > SENDERS_MAX {
            self.of_day.clear();
        }
        self.day = day;
        due
    }

    /// The row in which something is counted, and whether that stands for a day.
    fn place(&mut self, kind: Kind, who: &str, what: Cow<'static, str>) -> (Name, bool) {
        let name = (kind, who.to_owned(), what);
        if self.rows.contains_key(&name) {
            return (name, false);
        }
        let of_sender = self.rows.iter().filter(|((_, other, what), _)| other == who && !what.is_empty()).count();
        let of_day = self.of_day.get(who).copied().unwrap_or_default();
        let is_of_day = of_day >= OF_DAY_MAX;
        let name = if of_sender >= OF_SENDER_MAX || is_of_day { (kind, name.1, "".into()) } else { name };
        if self.rows.contains_key(&name) {
            return (name, is_of_day);
        }
        let of_all = self.rows.keys().filter(|(kind, who, _)| !kind.is_of_administrators() && !who.is_empty()).count();
        if of_all >= OF_ALL_MAX && !kind.is_of_administrators() {
            return ((kind, String::new(), "".into()), false);
        }
        *self.of_day.entry(who.to_owned()).or_default() += 1;
        (name, is_of_day)
    }
}

/// What is to be written of a row, which is written by that.
fn row((kind, who, what): &Name, counted: &mut Counted, minute: i64, day: i64) -> Incident {
    let more = counted.count - counted.written;
    counted.written = counted.count;
    let minute = if counted.is_of_day { day * Millis::DAY.0 } else { minute * Millis::MINUTE.0 };
    Incident { minute: Timestamp(minute), kind: *kind, who: who.clone(), what: what.clone(), count: more }
}

/// A page of rows, the newest first, of which `limit` were asked for: no minute is cut, so that the next page can begin
/// before the last one. None is left out where all of a full page are of one minute.
#[must_use]
pub fn page(mut rows: Vec<Incident>, limit: usize) -> Vec<Incident> {
    let last = rows.last().map(|row| row.minute);
    if rows.len() >= limit && rows.iter().any(|row| Some(row.minute) != last) {
        rows.retain(|row| Some(row.minute) != last);
    }
    rows
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::collections::BTreeSet;

    use engine::unit::time::Millis;
    use engine::unit::time::Timestamp;

    use super::Incident;
    use super::Incidents;
    use super::Kind;
    use super::OF_ALL_MAX;
    use super::OF_DAY_MAX;
    use super::OF_SENDER_MAX;
    use super::page;

    /// A table, and how often it was written to.
    #[derive(Default)]
    struct Table {
        rows: BTreeMap<(Timestamp, Kind, String, String), u64>,
        writes: usize,
    }

    impl Table {
        fn write(&mut self, incidents: Vec<Incident>) {
            for Incident { minute, kind, who, what, count } in incidents {
                *self.rows.entry((minute, kind, who, what.into_owned())).or_default() += count;
                self.writes += 1;
            }
        }

        fn count(&self) -> u64 {
            self.rows.values().sum()
        }
    }

    const NOON: Timestamp = Timestamp(12 * 3_600_000);

    #[test]
    fn the_same_within_a_minute_is_one_row_that_is_written_a_few_times() {
        let (mut incidents, mut table) = (Incidents::new(), Table::default());
        for second in 0..3_000 {
            table.write(incidents.note(Kind::Refused, "eve", "submit_job: limit".into(), NOON + Millis(second)));
        }
        assert_eq!(table.rows.len(), 1);
        assert!(table.writes <= 4, "{} writes", table.writes);
        assert_eq!(table.count(), 1_000, "the rest is written with the slot");
        table.write(incidents.flush());
        assert_eq!(table.count(), 3_000);
        table.write(incidents.flush());
        assert_eq!(table.count(), 3_000, "nothing is counted twice");
        table.write(incidents.note(Kind::Refused, "eve", "submit_job: limit".into(), NOON + Millis::MINUTE));
        assert_eq!((table.rows.len(), table.count()), (2, 3_001));
    }

    #[test]
    fn what_a_minute_has_not_written_is_written_with_the_next() {
        let (mut incidents, mut table) = (Incidents::new(), Table::default());
        for _ in 0..5 {
            table.write(incidents.note(Kind::Refused, "eve", "x".into(), NOON));
        }
        table.write(incidents.note(Kind::Refused, "bob", "y".into(), NOON + Millis::MINUTE));
        assert_eq!(table.rows[&(NOON, Kind::Refused, "eve".to_owned(), "x".to_owned())], 5);
    }

    #[test]
    fn one_sender_fills_no_more_than_their_rows_and_everything_is_counted() {
        let (mut incidents, mut table) = (Incidents::new(), Table::default());
        let mut sent = 0;
        for minute in 0..600 {
            for number in 0..50 {
                let at = NOON + Millis(minute * Millis::MINUTE.0);
                table.write(incidents.note(Kind::Refused, "eve", format!("call {number}").into(), at));
                sent += 1;
            }
        }
        table.write(incidents.flush());
        assert_eq!(table.count(), sent);
        let rows_max = usize::try_from(OF_DAY_MAX).unwrap() + OF_SENDER_MAX + 2;
        assert!(table.rows.len() <= rows_max, "{} rows", table.rows.len());
        let minute = |row: &(Timestamp, Kind, String, String)| row.0 == NOON;
        assert_eq!(table.rows.keys().filter(|row| minute(row)).count(), OF_SENDER_MAX + 1);
        // The next day they have rows again.
        table.write(incidents.note(Kind::Refused, "eve", "call 1".into(), NOON + Millis::DAY));
        assert!(table.rows.contains_key(&(NOON + Millis::DAY, Kind::Refused, "eve".to_owned(), "call 1".to_owned())));
    }

    #[test]
    fn many_senders_fill_no_more_than_a_minute_has_and_hide_no_administrator() {
        let (mut incidents, mut table) = (Incidents::new(), Table::default());
        for sender in 0..10_000 {
            table.write(incidents.note(Kind::WrongSecret, &format!("192.0.2.{sender}"), "".into(), NOON));
        }
        table.write(incidents.note(Kind::Restore, "root", "from=prod".into(), NOON));
        table.write(incidents.flush());
        assert_eq!(table.count(), 10_001);
        assert_eq!(table.rows.len(), OF_ALL_MAX + 2);
        assert!(table.rows.contains_key(&(NOON, Kind::Restore, "root".to_owned(), "from=prod".to_owned())));
        assert!(table.rows.contains_key(&(NOON, Kind::WrongSecret, String::new(), String::new())));
        assert!(table.writes < 100, "{} writes", table.writes);
    }

    #[test]
    fn the_memory_of_a_day_is_bounded() {
        let mut incidents = Incidents::new();
        for sender in 0..100_000_i64 {
            let at = NOON + Millis(sender / 10 * Millis::MINUTE.0 / 100);
            incidents.note(Kind::WrongSecret, &sender.to_string(), "".into(), at);
            assert!(incidents.of_day.len() <= super::SENDERS_MAX + OF_ALL_MAX + 1 && incidents.rows.len() <= 40);
        }
    }

    #[test]
    fn kinds_are_written_as_messages_have_them() {
        for kind in Kind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        }
        assert_eq!(Kind::ALL.iter().collect::<BTreeSet<_>>().len(), Kind::ALL.len());
    }

    #[test]
    fn a_page_cuts_no_minute() {
        let row = |minute| Incident {
            minute: Timestamp(minute),
            kind: Kind::Flush,
            who: String::new(),
            what: "".into(),
            count: 1,
        };
        let minutes = |rows: Vec<Incident>| rows.iter().map(|row| row.minute.0).collect::<Vec<_>>();
        assert_eq!(minutes(page(vec![row(3), row(2), row(2)], 3)), [3]);
        assert_eq!(minutes(page(vec![row(3), row(2), row(2)], 4)), [3, 2, 2]);
        assert_eq!(minutes(page(vec![row(2), row(2)], 2)), [2, 2], "all of a full page are of one minute");
    }
}
