//! Reading from anywhere in the past: the newest snapshot before a moment, and the entries that lead on from there.
//!
//! Pages name the page before them, which would be a long way for a moment months ago. So heads and pages name
//! milestones too: ends of earlier pages, the more of them the nearer, so that a way of any length takes a few reads.

use engine::message::envelope::Entry;
use engine::unit::time::Timestamp;

use crate::document::Head;
use crate::document::Milestone;
use crate::document::Page;
use crate::document::SegmentRef;
use crate::document::SnapshotRef;
use crate::fault::Fault;
use crate::history;
use crate::kv::KvStore;
use crate::kv::object;
use crate::log::decode;

/// How many pages may be read on the way to a moment. Only a history from before there were milestones takes so many.
const HOPS_MAX: usize = 500;

/// A moment in the life of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Before anything that was decided at this time.
    Time(Timestamp),
    /// With this revision.
    Revision(u64),
}

impl Moment {
    /// Whether something lies in its past.
    fn follows(self, revision: u64, at: Option<Timestamp>) -> bool {
        match self {
            Self::Time(time) => at.is_some_and(|at| at < time),
            Self::Revision(wanted) => revision <= wanted,
        }
    }
}

/// What KV has of the past.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept<T> {
    /// This.
    Yes(T),
    /// Nothing that leads there: what is kept begins with this revision.
    Since(u64),
}

/// The entries between two snapshots, or since the newest one.
struct Part {
    /// What the head itself names is there, or comes yet: KV may be behind.
    is_newest: bool,
    snapshot: Option<SnapshotRef>,
    segments: Vec<SegmentRef>,
    previous: Option<String>,
    milestones: Vec<Milestone>,
}

impl Part {
    /// What was read of it, or from where on the rest is kept.
    fn read<T>(&self, read: Result<T, Fault>, since: u64) -> Result<Kept<T>, Fault> {
        if self.is_newest { read.map(Kept::Yes) } else { kept(read, since) }
    }

    /// The revision of the next snapshot.
    fn end(&self) -> u64 {
        self.segments.last().map_or(0, |segment| segment.revision)
    }
}

/// The milestones of whoever comes after `newest`. One is left out where its neighbours are near to each other, seen
/// from there: at most half as far apart as the newer of them is away.
#[must_use]
pub fn onward(known: &[Milestone], newest: Milestone) -> Vec<Milestone> {
    let here = newest.seq;
    let mut newer = newest.seq;
    let mut kept = vec![newest];
    for (at, milestone) in known.iter().enumerate().rev() {
        let older = at.checked_sub(1).map(|older| known[older].seq);
        if older.is_none_or(|older| 2 * (newer - older) > here - newer) {
            newer = milestone.seq;
            kept.push(milestone.clone());
        }
    }
    kept.reverse();
    kept
}

/// The newest snapshot before a moment, as it was published; none before the first one, where the state is the empty one.
pub async fn snapshot(kv: &impl KvStore, head: &Head, moment: Moment) -> Result<Kept<Option<String>>, Fault> {
    let part = match part(kv, head, moment).await? {
        Kept::Yes(part) => part,
        Kept::Since(revision) => return Ok(Kept::Since(revision)),
    };
    match &part.snapshot {
        Some(reference) => part.read(history::snapshot_text(kv, reference).await.map(Some), part.end()),
        None => Ok(Kept::Yes(None)),
    }
}

/// At most `count` entries after a revision with their numbers, in order: from the snapshot before it to the next one.
pub async fn entries(
    kv: &impl KvStore,
    head: &Head,
    after: u64,
    count: usize,
) -> Result<Kept<Vec<(u64, Entry)>>, Fault> {
    let part = match part(kv, head, Moment::Revision(after)).await? {
        Kept::Yes(part) => part,
        Kept::Since(revision) => return Ok(Kept::Since(revision)),
    };
    let mut entries = Vec::new();
    for reference in part.segments.iter().filter(|segment| segment.revision > after) {
        match part.read(history::segment(kv, reference).await, reference.revision)? {
            Kept::Yes(more) => entries.extend(more.into_iter().filter(|(_, entry)| entry.revision > after)),
            Kept::Since(revision) => return Ok(Kept::Since(revision)),
        }
        if entries.len() >= count {
            break;
        }
    }
    entries.truncate(count);
    Ok(Kept::Yes(entries))
}

/// The part of the history in which a moment lies.
async fn part(kv: &impl KvStore, head: &Head, moment: Moment) -> Result<Kept<Part>, Fault> {
    let Head { snapshot, segments, history, milestones, .. } = head.clone();
    let mut here = Part { is_newest: true, snapshot, segments, previous: history, milestones };
    for _ in 0..HOPS_MAX {
        let Some(start) = here.snapshot.clone().filter(|start| !moment.follows(start.revision, start.at)) else {
            return Ok(Kept::Yes(here));
        };
        let far = here.milestones.iter().find(|milestone| !moment.follows(milestone.revision, Some(milestone.at)));
        let near = here.previous.iter().filter(|near| far.is_none_or(|far| far.page != **near));
        let mut found = None;
        // A page that is not kept any more may lie beyond others that are.
        for key in far.map(|far| &far.page).into_iter().chain(near) {
            if let Kept::Yes(page) = kept(object(kv, key).await, start.revision)? {
                found = Some(decode::<Page>(key, &page)?);
                break;
            }
        }
        let Some(Page { format: _, previous, snapshot, segments, milestones }) = found else {
            let is_kept = matches!(kept(history::snapshot_text(kv, &start).await, 0)?, Kept::Yes(_));
            return Ok(Kept::Since(if is_kept { start.revision } else { here.end() }));
        };
        here = Part { is_newest: false, snapshot, segments, previous, milestones };
    }
    Ok(Kept::Since(here.snapshot.map_or(0, |start| start.revision)))
}

/// What was read, or from where on the rest is kept if it is not there any more.
fn kept<T>(read: Result<T, Fault>, since: u64) -> Result<Kept<T>, Fault> {
    match read {
        Err(Fault::Missing { .. }) => Ok(Kept::Since(since)),
        read => read.map(Kept::Yes),
    }
}
