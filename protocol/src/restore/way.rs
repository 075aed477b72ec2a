//! The way back into the past of a restored cluster: page by page, and beyond those that are gone by the milestones.

use engine::message::envelope::Entry;
use engine::unit::time::Timestamp;
use serde::Deserialize;
use serde::Serialize;

use crate::document::Head;
use crate::document::Milestone;
use crate::document::Page;
use crate::document::SegmentRef;
use crate::fault::Fault;
use crate::gap::Gap;
use crate::history;
use crate::kv::whole;
use crate::log::decode;

/// Where somebody is who goes back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Way {
    /// Segments of the page that was read last, the oldest first; the last one is next.
    segments: Vec<SegmentRef>,
    /// The page that comes after them.
    page: Option<String>,
    /// Everything from this entry on has been seen, or is missing.
    before: u64,
    /// Ways further back, the oldest first.
    milestones: Vec<Milestone>,
}

/// What an object of the past has.
pub(super) struct Found {
    /// Entries that have not been seen, in order.
    pub(super) entries: Vec<(u64, Entry)>,
    /// What is missing instead.
    pub(super) gap: Option<Gap>,
    /// The first entry of the segment that had them, if it was one.
    pub(super) segment: Option<u64>,
}

impl Way {
    /// Begins before a head's snapshot.
    pub(super) fn of(head: &Head) -> Self {
        let before = head.snapshot_seq() + 1;
        Self { segments: Vec::new(), page: head.history.clone(), before, milestones: head.milestones.clone() }
    }

    /// What is to be read next, if it may have something that was decided since a time.
    pub(super) fn wants(&self, since: Timestamp) -> Option<&str> {
        if let Some(segment) = self.segments.last() {
            return Some(&segment.key);
        }
        let page = self.page.as_ref()?;
        let is_old = self.milestones.iter().any(|milestone| milestone.page == *page && milestone.at < since);
        (!is_old).then_some(page)
    }

    /// Takes what KV holds under the key that was wanted.
    pub(super) fn take(&mut self, text: Option<String>) -> Result<Found, Fault> {
        match self.segments.last().cloned() {
            Some(segment) => self.take_segment(&segment, text),
            None => self.take_page(text),
        }
    }

    fn take_segment(&mut self, segment: &SegmentRef, text: Option<String>) -> Result<Found, Fault> {
        let entries = whole(&segment.key, text).and_then(|text| history::content(segment, &text));
        let (entries, gap) = match entries {
            Ok(entries) => (entries.into_iter().filter(|(seq, _)| *seq < self.before).collect(), None),
            Err(fault) => (Vec::new(), Some(Gap::of_segment(fault, segment)?)),
        };
        Ok(Found { entries, gap, segment: Some(segment.first) })
    }

    fn take_page(&mut self, text: Option<String>) -> Result<Found, Fault> {
        let mut found = Found { entries: Vec::new(), gap: None, segment: None };
        let Some(key) = self.page.take() else { return Ok(found) };
        let page = whole(&key, text).and_then(|text| decode::<Page>(&key, &text));
        match page {
            Ok(Page { format: _, previous, snapshot: _, segments, milestones }) => {
                (self.segments, self.page, self.milestones) = (segments, previous, milestones);
            }
            Err(fault) => {
                let beyond = self.milestones.iter().rev().find(|milestone| milestone.seq + 1 < self.before);
                let last = beyond.map_or(0, |beyond| beyond.seq);
                found.gap = Some(Gap::of(fault, &key, last + 1, self.before - 1)?);
                (self.page, self.before) = (beyond.map(|beyond| beyond.page.clone()), last + 1);
            }
        }
        Ok(found)
    }

    /// An entry has been seen.
    pub(super) fn reached(&mut self, seq: u64) {
        self.before = seq;
    }

    /// A segment has been seen whose first entry is this one.
    pub(super) fn pass(&mut self, first: u64) {
        self.segments.pop();
        self.before = first;
    }

    /// Nothing further back is needed.
    pub(super) fn end(&mut self) {
        self.segments.clear();
        self.page = None;
    }
}
