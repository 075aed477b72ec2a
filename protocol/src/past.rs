//! Reading from anywhere in the past: the newest snapshot before a moment, the entries that lead on from there, and
//! those that led there.
//!
//! Pages name the page before them, which would be a long way for a moment months ago. So heads and pages name
//! milestones too: ends of earlier pages, the more of them the nearer, so that a way of any length takes a few reads.

use engine::message::envelope::Entry;
use engine::unit::time::Timestamp;
use futures_util::future::join_all;

use crate::document::Head;
use crate::document::Milestone;
use crate::document::Page;
use crate::document::SegmentRef;
use crate::document::SnapshotRef;
use crate::fault::Fault;
use crate::gap::Gap;
use crate::history;
use crate::kv::KvStore;
use crate::kv::object;
use crate::log::decode;

mod search;

pub use search::Search;

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
    /// Nothing that leads there: what is kept begins with this revision, since these entries are missing.
    Since(u64, Gap),
}

impl<T> Kept<T> {
    fn map<U>(self, change: impl FnOnce(T) -> U) -> Kept<U> {
        match self {
            Self::Yes(kept) => Kept::Yes(change(kept)),
            Self::Since(revision, gap) => Kept::Since(revision, gap),
        }
    }
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
    /// What was read of one of its segments, or from where on the rest is kept.
    fn read<T>(&self, read: Result<T, Fault>, segment: &SegmentRef) -> Result<Kept<T>, Fault> {
        match read {
            Err(fault) if !self.is_newest => Ok(Kept::Since(segment.revision, Gap::of_segment(fault, segment)?)),
            read => read.map(Kept::Yes),
        }
    }

    /// Without the snapshot before them, nothing can be begun with its entries.
    fn unreadable(&self, fault: Fault, start: &SnapshotRef) -> Result<Gap, Fault> {
        let key = start.parts.first().map_or("", String::as_str);
        let last = self.segments.last().map_or(start.seq, |segment| segment.last);
        Gap::of(fault, key, start.seq + 1, last)
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
        Kept::Since(revision, gap) => return Ok(Kept::Since(revision, gap)),
    };
    match &part.snapshot {
        Some(reference) => match history::snapshot_text(kv, reference).await {
            Err(fault) if !part.is_newest => Ok(Kept::Since(part.end(), part.unreadable(fault, reference)?)),
            text => Ok(Kept::Yes(Some(text?))),
        },
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
        Kept::Since(revision, gap) => return Ok(Kept::Since(revision, gap)),
    };
    let mut entries = Vec::new();
    for reference in part.segments.iter().filter(|segment| segment.revision > after) {
        match part.read(history::segment(kv, reference).await, reference)? {
            Kept::Yes(more) => entries.extend(more.into_iter().filter(|(_, entry)| entry.revision > after)),
            Kept::Since(revision, gap) => return Ok(Kept::Since(revision, gap)),
        }
        if entries.len() >= count {
            break;
        }
    }
    entries.truncate(count);
    Ok(Kept::Yes(entries))
}

/// Entries in order, with their numbers, and whether there are none before them.
pub type Numbered = (Vec<(u64, Entry)>, bool);

/// The newest entries up to a revision: those since the snapshot before it, and of at most `pages_max` pages before.
pub async fn newest(kv: &impl KvStore, head: &Head, before: u64, pages_max: usize) -> Result<Kept<Numbered>, Fault> {
    let Back { segments, n_newest, gap } = match back(kv, head, before, pages_max).await? {
        Kept::Yes(back) => back,
        Kept::Since(revision, gap) => return Ok(Kept::Since(revision, gap)),
    };
    let read = join_all(segments.iter().map(|segment| history::segment(kv, segment))).await;
    let mut whole: Vec<Vec<(u64, Entry)>> = Vec::new();
    for (at, (segment, read)) in segments.iter().zip(read).enumerate() {
        match read {
            Ok(entries) => whole.push(entries),
            Err(fault) if at < n_newest => return Err(fault),
            Err(fault) => {
                let gap = Gap::of_segment(fault, segment)?;
                if whole.is_empty() {
                    return Ok(Kept::Since(segment.revision, gap));
                }
                break;
            }
        }
    }
    let is_whole = gap.is_none() && whole.last().is_none_or(|oldest| oldest.first().is_none_or(|(seq, _)| *seq == 1));
    let mut entries: Vec<(u64, Entry)> = whole.into_iter().rev().flatten().collect();
    entries.retain(|(_, entry)| entry.revision <= before);
    match gap.filter(|_| entries.is_empty()) {
        Some((since, gap)) => Ok(Kept::Since(since, gap)),
        None => Ok(Kept::Yes((entries, is_whole))),
    }
}

/// The newest entries up to a revision of who has the log: its `own` entries, and of those that it has dropped the
/// newest ones.
pub async fn newest_with(
    kv: &impl KvStore,
    head: Option<&Head>,
    mut own: Vec<(u64, Entry)>,
    before: u64,
    pages_max: usize,
) -> Result<Kept<Numbered>, Fault> {
    let (first, revision) = own.first().map_or((u64::MAX, u64::MAX), |(seq, entry)| (*seq, entry.revision));
    own.retain(|(_, entry)| entry.revision <= before);
    let Some(head) = head.filter(|_| first > 1) else { return Ok(Kept::Yes((own, true))) };
    let dropped = newest(kv, head, before.min(revision).min(head.revision), pages_max).await?;
    let Kept::Yes((mut entries, is_whole)) = dropped else { return Ok(dropped) };
    entries.retain(|(seq, _)| *seq < first);
    entries.append(&mut own);
    Ok(Kept::Yes((entries, is_whole)))
}

/// Shows a search the entries up to a number, at most those of `pages_max` pages before the ones that it begins with.
pub async fn find(
    kv: &impl KvStore,
    head: &Head,
    last: u64,
    pages_max: usize,
    search: &mut Search<impl Fn(&Entry) -> bool>,
) -> Result<Kept<()>, Fault> {
    let Back { segments, n_newest, gap } = match back(kv, head, search.newest(), pages_max).await? {
        Kept::Yes(back) => back,
        Kept::Since(revision, gap) => return Ok(Kept::Since(revision, gap)),
    };
    for (at, segment) in segments.iter().enumerate().filter(|(_, segment)| segment.first <= last) {
        if search.is_over() {
            break;
        }
        let entries = match history::segment(kv, segment).await {
            Err(fault) if at >= n_newest => {
                let gap = Gap::of_segment(fault, segment)?;
                // Who goes on from what was found is told then.
                return Ok(if search.has_nothing() { Kept::Since(segment.revision, gap) } else { Kept::Yes(()) });
            }
            read => read?.into_iter().rev(),
        };
        entries.filter(|(seq, _)| *seq <= last).for_each(|(seq, entry)| search.look_at(seq, entry));
    }
    match gap.filter(|_| search.has_nothing()) {
        Some((since, gap)) => Ok(Kept::Since(since, gap)),
        None => Ok(Kept::Yes(())),
    }
}

/// The entry that led to a revision; none where no entry ends with it.
pub async fn entry_at(kv: &impl KvStore, head: &Head, revision: u64) -> Result<Kept<Option<Entry>>, Fault> {
    let part = match part(kv, head, Moment::Revision(revision.saturating_sub(1))).await? {
        Kept::Yes(part) => part,
        Kept::Since(since, gap) => return Ok(Kept::Since(since, gap)),
    };
    let Some(reference) = part.segments.iter().find(|segment| segment.revision >= revision) else {
        return Ok(Kept::Yes(None));
    };
    let entries = part.read(history::segment(kv, reference).await, reference)?;
    // An entry without events leaves the revision as it was; the one that reached it comes first.
    Ok(entries.map(|entries| entries.into_iter().map(|(_, entry)| entry).find(|entry| entry.revision == revision)))
}

/// Segments, the newest first.
struct Back {
    segments: Vec<SegmentRef>,
    /// How many of them the head itself names: what is not there yet comes.
    n_newest: usize,
    /// What is missing before them, if it was looked for, and the revision from which on the rest is kept.
    gap: Option<(u64, Gap)>,
}

/// Segments up to a revision: of the part in which it lies, and of at most `pages_max` pages before.
async fn back(kv: &impl KvStore, head: &Head, revision: u64, pages_max: usize) -> Result<Kept<Back>, Fault> {
    let part = match part(kv, head, Moment::Revision(revision)).await? {
        Kept::Yes(part) => part,
        Kept::Since(since, gap) => return Ok(Kept::Since(since, gap)),
    };
    let Part { is_newest, snapshot: mut start, mut segments, previous: mut next, milestones: _ } = part;
    // What a segment begins with is known by the one before it.
    segments.truncate(1 + segments.iter().take_while(|segment| segment.revision <= revision).count());
    segments.reverse();
    let n_newest = if is_newest { segments.len() } else { 0 };
    let mut gap = None;
    for _ in 0..pages_max {
        let Some(key) = next else { break };
        match page(kv, &key).await {
            Ok(page) => {
                segments.extend(page.segments.into_iter().rev());
                (start, next) = (page.snapshot, page.previous);
            }
            Err(fault) => {
                let (last, since) = start.map_or((0, 0), |start| (start.seq, start.revision));
                gap = Some((since, Gap::of(fault, &key, 1, last)?));
                break;
            }
        }
    }
    Ok(Kept::Yes(Back { segments, n_newest, gap }))
}

/// A page of history.
pub(crate) async fn page(kv: &impl KvStore, key: &str) -> Result<Page, Fault> {
    decode(key, &object(kv, key).await?)
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
        let is_beyond = |milestone: &&Milestone| milestone.seq < far.map_or(start.seq, |far| far.seq.min(start.seq));
        let first = here.milestones.iter().rev().find(is_beyond).map_or(0, |beyond| beyond.seq) + 1;
        let (mut found, mut gap) = (None, None);
        // A page that is not kept any more may lie beyond others that are.
        for key in far.map(|far| &far.page).into_iter().chain(near) {
            match page(kv, key).await {
                Ok(page) => {
                    found = Some(page);
                    break;
                }
                Err(fault) => gap = Some(Gap::of(fault, key, first, start.seq)?),
            }
        }
        let Some(Page { format: _, previous, snapshot, segments, milestones }) = found else {
            let since = match history::snapshot_text(kv, &start).await {
                Ok(_) => start.revision,
                Err(fault) => here.unreadable(fault, &start).map(|_| here.end())?,
            };
            let gap = gap.unwrap_or_else(|| unknown(first, start.seq));
            return Ok(Kept::Since(since, gap));
        };
        here = Part { is_newest: false, snapshot, segments, previous, milestones };
    }
    let (since, last) = here.snapshot.map_or((0, 0), |start| (start.revision, start.seq));
    Ok(Kept::Since(since, unknown(1, last)))
}

/// Entries to which nothing leads.
fn unknown(first: u64, last: u64) -> Gap {
    Gap { first, last, key: "the history".to_owned(), reason: "does not lead there".to_owned() }
}
