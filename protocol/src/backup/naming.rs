//! The same objects under another cluster's name.
//!
//! Keys stand in pages and heads, whose own keys have the digests of their texts: a page is written anew, and with it what
//! names it. So they come in an order in which everything named comes first.

use std::collections::BTreeMap;

use crate::document::Head;
use crate::document::Milestone;
use crate::document::Page;
use crate::document::SegmentRef;
use crate::document::SnapshotRef;
use crate::fault::Fault;
use crate::log::decode;
use crate::log::encode;
use crate::name::ClusterName;

/// Makes objects ones of a cluster.
#[derive(Debug)]
pub struct Renaming {
    to: ClusterName,
    /// The new keys of pages.
    pages: BTreeMap<String, String>,
}

impl Renaming {
    /// To this cluster.
    #[must_use]
    pub fn to(name: ClusterName) -> Self {
        Self { to: name, pages: BTreeMap::new() }
    }

    /// An object's new key and text.
    pub fn object(&mut self, key: &str, text: String) -> Result<(String, String), Fault> {
        let renamed = self.moved(key)?;
        let kind = renamed[self.to.start().len()..].split('/').next().unwrap_or_default();
        match kind {
            "page" => {
                let text = encode(&self.page(decode(key, &text)?)?)?;
                let renamed = self.to.page(number(key)?, &text);
                self.pages.insert(key.to_owned(), renamed.clone());
                Ok((renamed, text))
            }
            "given-up" => {
                let head = self.head(decode(key, &text)?)?;
                let text = encode(&head)?;
                Ok((self.to.given_up(head.seq, &text), text))
            }
            _ => Ok((renamed, text)),
        }
    }

    fn page(&self, page: Page) -> Result<Page, Fault> {
        let Page { format, previous, snapshot, segments, milestones } = page;
        Ok(Page {
            format,
            previous: previous.map(|key| self.moved(&key)).transpose()?,
            snapshot: snapshot.map(|snapshot| self.snapshot(snapshot)).transpose()?,
            segments: self.segments(segments)?,
            milestones: self.milestones(milestones)?,
        })
    }

    fn head(&self, mut head: Head) -> Result<Head, Fault> {
        head.cluster = self.to.to_string();
        head.snapshot = head.snapshot.map(|snapshot| self.snapshot(snapshot)).transpose()?;
        head.segments = self.segments(head.segments)?;
        head.history = head.history.map(|key| self.moved(&key)).transpose()?;
        head.milestones = self.milestones(head.milestones)?;
        for pack in head.notes.iter_mut().flatten() {
            pack.key = self.moved(&pack.key)?;
        }
        Ok(head)
    }

    fn snapshot(&self, mut snapshot: SnapshotRef) -> Result<SnapshotRef, Fault> {
        snapshot.parts = snapshot.parts.iter().map(|key| self.moved(key)).collect::<Result<_, _>>()?;
        Ok(snapshot)
    }

    fn segments(&self, segments: Vec<SegmentRef>) -> Result<Vec<SegmentRef>, Fault> {
        let moved = |segment: SegmentRef| Ok(SegmentRef { key: self.moved(&segment.key)?, ..segment });
        segments.into_iter().map(moved).collect()
    }

    fn milestones(&self, milestones: Vec<Milestone>) -> Result<Vec<Milestone>, Fault> {
        let moved = |milestone: Milestone| Ok(Milestone { page: self.moved(&milestone.page)?, ..milestone });
        milestones.into_iter().map(moved).collect()
    }

    /// A key of any cluster as one of this. A page that was not saved keeps its digest, and is missing here as well.
    fn moved(&self, key: &str) -> Result<String, Fault> {
        if let Some(renamed) = self.pages.get(key) {
            return Ok(renamed.clone());
        }
        let rest = key.strip_prefix("c/").and_then(|rest| rest.split_once('/'));
        let (_, rest) = rest.ok_or_else(|| Fault::damaged(key, "it is not the key of a cluster's object"))?;
        Ok(format!("{}{rest}", self.to.start()))
    }
}

/// The number in the key of a page.
fn number(key: &str) -> Result<u64, Fault> {
    let name = key.rsplit('/').next().unwrap_or_default();
    let number = name.split('-').next().and_then(|digits| digits.parse().ok());
    number.ok_or_else(|| Fault::damaged(key, "it has no number"))
}
