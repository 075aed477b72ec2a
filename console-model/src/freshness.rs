//! How old is what the screen shows.

use crate::duration::rough;
use engine::message::envelope::Entry;
use engine::message::event::Event;
use engine::unit::time::Millis;

/// Younger than this, a connected console is simply live.
const STALE_AFTER_MS: i64 = 90_000;

/// What is known of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// Changes are pushed as they happen.
    Live,
    /// The connection is being made again.
    Reconnecting,
    /// The browser has no network.
    Offline,
    /// The part of the console that takes changes in cannot be loaded.
    Incomplete,
}

/// What people are told about the age of the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// Nothing is missing.
    Live,
    /// Somewhat old.
    Aged(String),
    /// Too old to be relied upon.
    Stale(String),
    /// No network.
    Offline(String),
    /// Changes are not taken in as they happen until the page is loaded again.
    Still(String),
}

impl Freshness {
    /// By the connection and the time since anything was heard.
    #[must_use]
    pub fn of(link: Link, silence: Millis) -> Self {
        let age = rough(silence);
        match link {
            Link::Live => Self::Live,
            Link::Offline => Self::Offline(age),
            Link::Incomplete => Self::Still(age),
            Link::Reconnecting if silence.0 < STALE_AFTER_MS => Self::Aged(age),
            Link::Reconnecting => Self::Stale(age),
        }
    }

    /// In words.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Live => "live".to_owned(),
            Self::Aged(age) => format!("{age} old"),
            Self::Stale(age) => format!("stale: {age} old"),
            Self::Offline(age) => format!("offline: {age} old"),
            Self::Still(age) => format!("not live: {age} old"),
        }
    }

    /// For the stylesheet.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Aged(_) => "aged",
            Self::Stale(_) => "stale",
            Self::Offline(_) | Self::Still(_) => "offline",
        }
    }
}

/// Whether nothing but rounds in which nothing happened has led from one revision to another. The entries are the
/// newest ones that are known, the newest first.
pub fn has_only_ticked<'a, C: 'a>(entries: impl Iterator<Item = &'a Entry<C>>, base: u64, newest: u64) -> bool {
    let mut reached = newest;
    for entry in entries.filter(|entry| entry.revision <= newest) {
        if reached <= base {
            break;
        }
        let is_tick = entry.events.iter().all(|event| matches!(event, Event::Rounded { .. }));
        if entry.revision != reached || !is_tick {
            return false;
        }
        reached = reached.saturating_sub(entry.events.len() as u64);
    }
    reached == base
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::unit::time::Timestamp;

    #[test]
    fn a_connected_console_is_live_however_quiet_the_cluster() {
        assert_eq!(Freshness::of(Link::Live, Millis(3_600_000)).text(), "live");
    }

    #[test]
    fn a_lost_connection_shows_the_age_and_then_says_stale() {
        assert_eq!(Freshness::of(Link::Reconnecting, Millis(12_000)).text(), "12 s old");
        assert_eq!(Freshness::of(Link::Reconnecting, Millis(120_000)).text(), "stale: 2 min old");
    }

    #[test]
    fn a_console_that_is_not_whole_never_seems_live() {
        assert_eq!(Freshness::of(Link::Incomplete, Millis(0)).text(), "not live: 0 s old");
    }

    #[test]
    fn without_a_network_it_says_so() {
        assert_eq!(Freshness::of(Link::Offline, Millis(5_000)).text(), "offline: 5 s old");
    }

    /// Entries of one event each, the newest first.
    fn entries(events: &[(u64, Event)]) -> Vec<Entry> {
        let entry = |(revision, event): &(u64, Event)| Entry {
            format: 1,
            revision: *revision,
            at: Timestamp(0),
            envelope: serde_json::from_str(r#"{"format":1,"id":"x","command":{"round":{}}}"#).unwrap(),
            events: vec![event.clone()],
        };
        events.iter().map(entry).collect()
    }

    #[test]
    fn rounds_in_which_nothing_happened_leave_the_world_as_it_was() {
        let tick = || Event::Rounded { at: Timestamp(0), slot: None, missed: 0 };
        let moved = || Event::Redacted;
        let quiet = entries(&[(12, tick()), (11, tick()), (10, moved())]);
        assert!(has_only_ticked(quiet.iter(), 10, 12));
        assert!(!has_only_ticked(quiet.iter(), 9, 12), "revision 10 was more than a tick");
        let older = entries(&[(11, tick()), (10, tick())]);
        assert!(!has_only_ticked(older.iter(), 10, 12), "nobody knows what revision 12 was");
        assert!(!has_only_ticked(entries(&[(12, tick()), (11, moved())]).iter(), 10, 12));
        assert!(has_only_ticked(quiet.iter(), 12, 12));
    }
}
