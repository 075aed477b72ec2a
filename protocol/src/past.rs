//! Reading from anywhere in the past: the newest snapshot before a moment, the entries that lead on from there, and
//! those that led there.
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

impl<T> Kept<T> {
    fn map<U>(self, change: impl FnOnce(T) -> U) -> Kept<U> {
        match self {
            Self::Yes(kept) => Kept::Yes(change(kept)),
            Self::Since(revision) => Kept::Since(revision),
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

/// Entries in order, with their numbers, and whether there are none before them.
pub type Numbered = (Vec<(u64, Entry)>, bool);

/// The newest entries up to a revision: those since the snapshot before it, and of at most `pages_max` pages before.
pub async fn newest(kv: &impl KvStore, head: &Head, before: u64, pages_max: usize) -> Result<Kept<Numbered>, Fault> {
    let mut wanted = match back(kv, head, before, pages_max).await? {
        Kept::Yes(wanted) => wanted,
        Kept::Since(revision) => return Ok(Kept::Since(revision)),
    };
    wanted.reverse();
    let is_whole = wanted.first().is_none_or(|segment| segment.first == 1);
    let mut entries = history::segments(kv, &wanted).await?;
    entries.retain(|(_, entry)| entry.revision <= before);
    Ok(Kept::Yes((entries, is_whole)))
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

/// A search for the newest entries of a kind before a revision. It is shown entries, the newest first, until it is over.
pub struct Search<F> {
    before: u64,
    is_wanted: F,
    count: usize,
    found: Vec<Entry>,
    is_over: bool,
}

impl<F: Fn(&Entry) -> bool> Search<F> {
    /// For so many entries, or a few more: who goes on from what was found names a revision, so all that is wanted of
    /// the last one is found. Entries without events have the revision of the one before them.
    pub fn new(count: usize, before: u64, is_wanted: F) -> Self {
        Self { before, is_wanted, count, found: Vec::new(), is_over: count == 0 }
    }

    /// The last revision whose entries it may find.
    #[must_use]
    pub fn newest(&self) -> u64 {
        self.before.saturating_sub(1)
    }

    /// Looks at the next entry.
    pub fn look_at(&mut self, entry: Entry) {
        if self.is_over {
            return;
        }
        let is_first_of_revision = !entry.events.is_empty();
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

    /// What was found, the newest first.
    #[must_use]
    pub fn found(self) -> Vec<Entry> {
        self.found
    }
}

/// Shows a search the entries up to a number, at most those of `pages_max` pages before the ones that it begins with.
pub async fn find(
    kv: &impl KvStore,
    head: &Head,
    last: u64,
    pages_max: usize,
    search: &mut Search<impl Fn(&Entry) -> bool>,
) -> Result<Kept<()>, Fault> {
    let wanted = match back(kv, head, search.newest(), pages_max).await? {
        Kept::Yes(wanted) => wanted,
        Kept::Since(revision) => return Ok(Kept::Since(revision)),
    };
    for reference in wanted.iter().filter(|segment| segment.first <= last) {
        if search.is_over() {
            break;
        }
        let entries = history::segment(kv, reference).await?.into_iter().rev();
        entries.filter(|(seq, _)| *seq <= last).for_each(|(_, entry)| search.look_at(entry));
    }
    Ok(Kept::Yes(()))
}

/// The entry that led to a revision; none where no entry ends with it.
pub async fn entry_at(kv: &impl KvStore, head: &Head, revision: u64) -> Result<Kept<Option<Entry>>, Fault> {
    let part = match part(kv, head, Moment::Revision(revision.saturating_sub(1))).await? {
        Kept::Yes(part) => part,
        Kept::Since(since) => return Ok(Kept::Since(since)),
    };
    let Some(reference) = part.segments.iter().find(|segment| segment.revision >= revision) else {
        return Ok(Kept::Yes(None));
    };
    let entries = part.read(history::segment(kv, reference).await, reference.revision)?;
    // An entry without events leaves the revision as it was; the one that reached it comes first.
    Ok(entries.map(|entries| entries.into_iter().map(|(_, entry)| entry).find(|entry| entry.revision == revision)))
}

/// Segments up to a revision, the newest first: of the part in which it lies, and of at most `pages_max` pages before.
async fn back(kv: &impl KvStore, head: &Head, revision: u64, pages_max: usize) -> Result<Kept<Vec<SegmentRef>>, Fault> {
    let Part { mut segments, previous: mut next, .. } = match part(kv, head, Moment::Revision(revision)).await? {
        Kept::Yes(part) => part,
        Kept::Since(since) => return Ok(Kept::Since(since)),
    };
    // What a segment begins with is known by the one before it.
    segments.truncate(1 + segments.iter().take_while(|segment| segment.revision <= revision).count());
    segments.reverse();
    for _ in 0..pages_max {
        let Some(key) = next else { break };
        let page: Page = decode(&key, &object(kv, &key).await?)?;
        segments.extend(page.segments.into_iter().rev());
        next = page.previous;
    }
    Ok(Kept::Yes(segments))
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
