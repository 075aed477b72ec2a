//! The newest entries of the log as far as they tell of the market, kept in memory.

use std::collections::BTreeSet;

use engine::message::envelope::Entry;
use engine::message::event::Event;
use engine::unit::id::JobNo;

/// How many events are kept. Those that are dropped are read as what lies further back is.
const EVENTS_MAX: usize = 20_000;

/// Entries in order up to the newest one, with those of their events that tell of the market.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    entries: Vec<Entry>,
    n_events: usize,
    is_whole: bool,
    /// Numbers of jobs without bids: what happens to those is not kept.
    plain: BTreeSet<JobNo>,
}

impl Kept {
    /// What so many entries tell, which are all that there are if they are `is_whole`.
    #[must_use]
    pub fn of(entries: Vec<Entry>, is_whole: bool) -> Self {
        let mut kept = Self { is_whole, ..Self::default() };
        for entry in entries {
            kept.follow(&entry);
        }
        kept
    }

    /// The entries. One that is cut still says where it ends, and begins at the earliest where it did.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Whether nothing was before them.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Takes the next entry in.
    pub fn follow(&mut self, entry: &Entry) {
        let events: Vec<Event> = entry.events.iter().filter(|event| self.tells(event)).cloned().collect();
        // The first one says from when on is known what is known.
        if events.is_empty() && !self.entries.is_empty() {
            return;
        }
        self.n_events += events.len();
        let Entry { format, revision, at, envelope, events: _ } = entry;
        self.entries.push(Entry { format: *format, revision: *revision, at: *at, envelope: envelope.clone(), events });
        if self.n_events > EVENTS_MAX {
            self.drop_oldest();
        }
    }

    fn drop_oldest(&mut self) {
        let mut dropped = 0;
        let is_old = |entry: &&Entry| {
            let goes_on = dropped < EVENTS_MAX / 2;
            dropped += entry.events.len();
            goes_on
        };
        let count = self.entries.iter().take_while(is_old).count();
        self.n_events -= self.entries.drain(..count).map(|entry| entry.events.len()).sum::<usize>();
        self.is_whole = false;
    }

    /// Whether an event tells of the market. Numbers of jobs are given again.
    fn tells(&mut self, event: &Event) -> bool {
        if let Event::JobSubmitted { no, spec, .. } = event {
            if spec.spot.is_some() {
                self.plain.remove(no);
            } else {
                self.plain.insert(*no);
            }
            return spec.spot.is_some();
        }
        if let Event::Started { job, .. } | Event::Stopped { job, .. } | Event::Ended { job, .. } = event {
            return !self.plain.contains(job);
        }
        matches!(
            event,
            Event::OfferCreated { .. } | Event::Priced { .. } | Event::InventorySet { .. } | Event::Billed { .. }
        )
    }
}
