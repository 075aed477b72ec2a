//! What a cluster has in memory, and how it is rebuilt from the log.

use engine::message::envelope::Entry;
use engine::message::event::Event;
use engine::message::snapshot::Snapshot;
use engine::state::world::State;
use engine::unit::time::Timestamp;

use crate::document::Head;
use crate::fault::Fault;
use crate::limits::Counted;
use crate::log::LogStore;
use crate::log::Meta;
use crate::log::Version;
use crate::log::decode;
use crate::log::snapshot_pieces;
use crate::replay::replay;
use crate::replay::restore_state;
use crate::restore::restoring::Restoring;
use crate::sealed::Sealed;
use crate::share::Shares;

/// What can be rebuilt from the log.
#[derive(Clone, Debug)]
pub(crate) struct Memory {
    /// The fold of the log.
    pub(crate) state: State,
    /// The last entry.
    pub(crate) seq: u64,
    /// When it was decided.
    pub(crate) at: Timestamp,
    /// When a round ran last because something was due.
    pub(crate) alarmed_at: Timestamp,
    /// The last entry that the newest snapshot in the log contains.
    pub(crate) snapshot_seq: u64,
    /// Bytes of that snapshot.
    pub(crate) snapshot_bytes: u64,
    /// Bytes of the entries since then.
    pub(crate) entry_bytes: u64,
    /// The head that is known to be published.
    pub(crate) published: Option<Head>,
    /// The publication under way.
    pub(crate) sealed: Option<Sealed>,
    /// Whether notes have changed since they were published.
    pub(crate) has_stale_notes: bool,
    /// When the last head was put, as far as this memory knows.
    pub(crate) head_at: Option<Timestamp>,
    /// The last entry that is more than a round in which nothing happened.
    pub(crate) last_news: u64,
    /// When the first entry was decided that is more than that and is not published.
    pub(crate) news_since: Option<Timestamp>,
    /// Whether this is known to be a new cluster, and no lost one; asked as long as there is no entry.
    pub(crate) is_new: bool,
    /// How many jobs there are of whom.
    pub(crate) counted: Counted,
    /// How much of the notes is whose.
    pub(crate) shares: Shares,
}

/// The memory of a log, unless the cluster is being restored or was deleted.
pub(crate) fn load(store: &impl LogStore) -> Result<Memory, Fault> {
    if store.meta(Meta::Deleted)?.is_some() {
        return Err(Fault::Deleted);
    }
    match store.meta(Meta::Restoring)? {
        Some(text) => Err(Fault::Restoring(decode::<Restoring>("the restore", &text)?.progress())),
        None => fold(store),
    }
}

/// How many rows are read at once: an entry with a plan may have megabytes.
const FOLDED_AT_ONCE: u64 = 16;

/// The fold of a log: its newest snapshot and all rows since.
pub(crate) fn fold(store: &impl LogStore) -> Result<Memory, Fault> {
    let (mut state, mut seq, mut at, mut snapshot_bytes) = (State::default(), 0, Timestamp(0), 0);
    if let Some(Version { seq: last, revision, at: decided }) = store.snapshot()? {
        let counted = |piece: &Result<String, Fault>| {
            snapshot_bytes += piece.as_ref().map_or(0, String::len) as u64;
        };
        state = restore_state("the log's snapshot", snapshot_pieces(store, last).inspect(counted))?;
        if state.revision != revision {
            return Err(Fault::damaged(
                "the log's snapshot",
                format!("revision {revision} was expected, {} is there", state.revision),
            ));
        }
        (seq, at) = (last, decided);
    }
    let published: Option<Head> =
        store.meta(Meta::Published)?.map(|text| decode("the published head", &text)).transpose()?;
    let shown = published.as_ref().map_or(0, |head| head.seq);
    let (snapshot_seq, mut last_news, mut entry_bytes, mut news_since) = (seq, seq, 0, None);
    loop {
        let records = store.records(seq, seq + FOLDED_AT_ONCE)?;
        if records.is_empty() {
            if let Some(last) = store.last_within(u64::MAX)?.filter(|last| *last > seq) {
                return Err(Fault::damaged("the log", format!("entry {last} is there, and {} is not", seq + 1)));
            }
            break;
        }
        for record in records {
            if record.seq != seq + 1 {
                return Err(Fault::damaged("the log", format!("entry {} follows {seq}", record.seq)));
            }
            let entry: Entry = decode("an entry of the log", &record.entry)?;
            replay(&mut state, &entry)?;
            entry_bytes += record.entry.len() as u64;
            (seq, at) = (record.seq, record.at);
            if has_news(&entry.events) {
                last_news = seq;
                news_since = news_since.or((seq > shown).then_some(at));
            }
        }
    }
    let sealed = store.meta(Meta::Sealed)?.map(|text| decode("the sealed publication", &text)).transpose()?;
    let has_stale_notes = !store.stale_buckets()?.is_empty();
    Ok(Memory {
        state,
        seq,
        at,
        alarmed_at: Timestamp(0),
        snapshot_seq,
        snapshot_bytes,
        entry_bytes,
        published,
        sealed,
        has_stale_notes,
        head_at: None,
        last_news,
        news_since,
        is_new: false,
        counted: Counted::default(),
        shares: Shares::default(),
    })
}

/// How many classes of jobs of which none waits may stay in memory, beside as many again as there are unfinished jobs.
const CLASSES_SPARE: usize = 2_000;

impl Memory {
    /// Since when something is not published that is more than rounds in which nothing happened.
    pub(crate) fn unpublished_since(&self) -> Option<Timestamp> {
        // What is sealed may be in a snapshot already, of which the log's rows tell nothing.
        let sealed = self.sealed.as_ref().map(|sealed| sealed.head.published_at);
        self.news_since.into_iter().chain(sealed).min()
    }

    /// Forgets classes of jobs of which none waits any more, once there are many: each other way to ask for pods makes
    /// one, so whoever submits and cancels would fill the memory with them.
    pub(crate) fn shed(&mut self) -> Result<(), Fault> {
        let n_unfinished = self.state.jobs.len() - self.state.ended.len();
        if self.state.queue.classes.len() <= 2 * n_unfinished + CLASSES_SPARE {
            return Ok(());
        }
        let again = Snapshot::of(&self.state).restore();
        self.state = again.map_err(|rejection| Fault::damaged("the state", rejection))?;
        Ok(())
    }
}

/// Whether more has happened than that a round was held.
pub(crate) fn has_news(events: &[Event]) -> bool {
    events.iter().any(|event| !matches!(event, Event::Rounded { .. }))
}
