//! Searches through the past, the newest entries first.

use engine::message::envelope::Entry;

/// A search for the newest entries of a kind before a revision. It is shown entries, the newest first, until it is over.
pub struct Search<F> {
    before: u64,
    is_wanted: F,
    count: usize,
    found: Vec<Entry>,
    is_over: bool,
    /// What it was shown last.
    oldest: Option<Oldest>,
}

/// An entry before which nothing was looked at.
#[derive(Clone, Copy)]
struct Oldest {
    seq: u64,
    revision: u64,
    is_first_of_revision: bool,
}

impl<F: Fn(&Entry) -> bool> Search<F> {
    /// For so many entries, or a few more: who goes on from what was found names a revision, so all that is wanted of
    /// the last one is found. Entries without events have the revision of the one before them.
    pub fn new(count: usize, before: u64, is_wanted: F) -> Self {
        Self { before, is_wanted, count, found: Vec::new(), is_over: count == 0, oldest: None }
    }

    /// The last revision whose entries it may find.
    #[must_use]
    pub fn newest(&self) -> u64 {
        self.before.saturating_sub(1)
    }

    /// Looks at the next entry.
    pub fn look_at(&mut self, seq: u64, entry: Entry) {
        if self.is_over {
            return;
        }
        let is_first_of_revision = !entry.events.is_empty();
        self.oldest = Some(Oldest { seq, revision: entry.revision, is_first_of_revision });
        if entry.revision < self.before && (self.is_wanted)(&entry) {
            self.found.push(entry);
        }
        self.is_over = self.found.len() >= self.count && is_first_of_revision;
    }

    /// Whether it needs to see no more.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Before which revision to go on, if there is something before what it was shown: it has found enough, or has been
    /// shown as much as one answer may cost.
    #[must_use]
    pub fn next(&self) -> Option<u64> {
        let Oldest { seq: _, revision, is_first_of_revision } = self.oldest.filter(|oldest| oldest.seq > 1)?;
        // Others may have the same revision, so it comes once more; but not for ever.
        let comes_again = !is_first_of_revision && revision + 1 < self.before;
        Some(revision + u64::from(comes_again))
    }

    /// Whether nothing was found so far.
    pub(super) fn has_nothing(&self) -> bool {
        self.found.is_empty()
    }

    /// What was found, the newest first.
    #[must_use]
    pub fn found(self) -> Vec<Entry> {
        self.found
    }
}
