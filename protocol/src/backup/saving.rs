//! What a backup consists of, and its file, object by object.

use std::collections::BTreeSet;

use engine::unit::time::Timestamp;

use crate::backup::End;
use crate::backup::FORMAT;
use crate::backup::Line;
use crate::backup::Missing;
use crate::backup::Object;
use crate::backup::Title;
use crate::document::Head;
use crate::document::Milestone;
use crate::document::Page;
use crate::fault::Fault;
use crate::kv::whole;
use crate::log::decode;
use crate::log::encode;
use crate::name::ClusterName;

/// A backup that is being made. Its maker asks what it [wants](Saving::wants), gives what was there to
/// [`Saving::take`], and writes what that answers.
#[derive(Debug)]
pub struct Saving {
    head: Head,
    name: ClusterName,
    /// Pages of the past that ended before are left out, with what they name.
    since: Option<Timestamp>,
    /// The page that comes next; none once all have been read.
    next: Option<String>,
    /// Ways further back from there, the oldest first.
    ways: Vec<Milestone>,
    /// The pages, the newest first.
    pages: Vec<(String, Page, String)>,
    /// Objects that have not been read, the last one first; known once there is no next page.
    left: Option<Vec<String>>,
    objects: u64,
    missing: Vec<Missing>,
}

impl Saving {
    /// The backup of what a head stands for.
    ///
    /// # Errors
    /// The head was published by a version that gave notes no digests.
    pub fn of(head: Head, since: Option<Timestamp>) -> Result<Self, Fault> {
        let bad = |reason: &str| Fault::damaged("the head", reason);
        let name = ClusterName::new(&head.cluster).ok_or_else(|| bad("it names no cluster"))?;
        if head.notes.is_none() {
            return Err(bad("an earlier version has published it, without digests of notes; any command ends that"));
        }
        let (next, ways) = (head.history.clone(), head.milestones.clone());
        let mut saving =
            Self { head, name, since, next, ways, pages: Vec::new(), left: None, objects: 0, missing: Vec::new() };
        saving.stop_if_old();
        Ok(saving)
    }

    /// The first line.
    pub fn begin(&self) -> Result<String, Fault> {
        let Head { cluster, seq, revision, at, .. } = &self.head;
        let title = Title { format: FORMAT, cluster: cluster.clone(), seq: *seq, revision: *revision, at: *at };
        line(&Line::TidegateBackup(title))
    }

    /// The key that is to be read next; none if everything has been read.
    #[must_use]
    pub fn wants(&self) -> Option<&str> {
        let of_left = || self.left.as_ref().and_then(|left| left.last());
        self.next.as_ref().or_else(of_left).map(String::as_str)
    }

    /// Takes what KV holds under the key that was wanted, and answers what to write.
    ///
    /// # Errors
    /// What the state needs is not there, or damaged: without it there is no backup.
    pub fn take(&mut self, text: Option<String>) -> Result<String, Fault> {
        if let Some(key) = self.next.take() {
            self.take_page(key, text);
            return Ok(String::new());
        }
        let Some(key) = self.left.as_mut().and_then(Vec::pop) else { return Ok(String::new()) };
        match whole(&key, text) {
            Ok(text) => self.object(&key, &text),
            Err(fault) if self.head.keys().any(|named| named == key) => Err(fault),
            Err(fault) => {
                self.missing.push(Missing { key, reason: reason(&fault) });
                Ok(String::new())
            }
        }
    }

    fn take_page(&mut self, key: String, text: Option<String>) {
        match whole(&key, text).and_then(|text| Ok((decode::<Page>(&key, &text)?, text))) {
            Ok((page, text)) => {
                (self.next, self.ways) = (page.previous.clone(), page.milestones.clone());
                self.pages.push((key, page, text));
            }
            Err(fault) => {
                // Beyond what is gone, milestones lead on.
                self.ways.retain(|milestone| milestone.page != key);
                self.next = self.ways.last().map(|milestone| milestone.page.clone());
                self.missing.push(Missing { key, reason: reason(&fault) });
            }
        }
        self.stop_if_old();
    }

    /// Goes no further back than wanted. Once there is no page left, it is known which objects there are.
    fn stop_if_old(&mut self) {
        let ended = |page: &String| self.ways.iter().find(|way| way.page == *page).map(|way| way.at);
        let is_old = |page: &String| ended(page).zip(self.since).is_some_and(|(at, since)| at < since);
        if self.next.as_ref().is_some_and(is_old) {
            self.next = None;
        }
        if self.next.is_none() && self.left.is_none() {
            self.left = Some(self.named());
        }
    }

    /// What the pages and the head name beside pages, the oldest last.
    fn named(&self) -> Vec<String> {
        let of_page = |page: &Page| {
            let parts: Vec<String> = page.snapshot.iter().flat_map(|snapshot| snapshot.parts.clone()).collect();
            parts.into_iter().chain(page.segments.iter().map(|segment| segment.key.clone())).collect::<Vec<_>>()
        };
        let of_past = self.pages.iter().rev().flat_map(|(_, page, _)| of_page(page));
        let is_page = |key: &&str| {
            self.head.history.as_deref() == Some(key) || self.head.milestones.iter().any(|way| way.page == **key)
        };
        let of_head = self.head.keys().filter(|key| !is_page(key)).map(str::to_owned);
        let mut known = BTreeSet::new();
        let mut keys: Vec<String> = of_past.chain(of_head).filter(|key| known.insert(key.clone())).collect();
        keys.reverse();
        keys
    }

    /// How many objects have been written, and how many are known to be left.
    #[must_use]
    pub fn progress(&self) -> (u64, u64) {
        let left = self.left.as_ref().map_or(0, Vec::len) + self.pages.len();
        (self.objects, left as u64)
    }

    /// Once nothing is wanted any more: what is to be written last. Pages come the oldest first, so that each one comes
    /// after those that it names.
    pub fn end(mut self) -> Result<String, Fault> {
        let mut last = String::new();
        while let Some((key, _, text)) = self.pages.pop() {
            last.push_str(&self.object(&key, &text)?);
        }
        let text = encode(&self.head)?;
        let key = self.name.given_up(self.head.seq, &text);
        last.push_str(&self.object(&key, &text)?);
        last.push_str(&line(&Line::End(End { objects: self.objects, missing: self.missing }))?);
        Ok(last)
    }

    fn object(&mut self, key: &str, text: &str) -> Result<String, Fault> {
        self.objects += 1;
        let object = Object { key: key.to_owned(), bytes: text.len() as u64 };
        Ok(format!("{}{text}\n", line(&Line::Object(object))?))
    }
}

fn line(line: &Line) -> Result<String, Fault> {
    Ok(encode(line)? + "\n")
}

fn reason(fault: &Fault) -> String {
    if let Fault::Damaged { reason, .. } = fault { reason.clone() } else { "it is gone".to_owned() }
}
