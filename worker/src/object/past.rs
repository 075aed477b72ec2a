//! The past of a cluster: what the log still has, and from KV what it has dropped.

use engine::message::envelope::Entry;
use protocol::cluster::Cluster;
use protocol::fault::Fault;
use protocol::history;
use protocol::log::Record;
use protocol::log::decode;
use protocol::past;
use protocol::past::Moment;

use crate::answer::Problem;
use crate::bindings::Kv;
use crate::front;
use crate::market::PAGES_MAX;
use crate::object::Core;

/// How many rows of the log are looked at at once.
const ROWS_AT_ONCE: u64 = 50;

/// The newest entries up to a revision, and whether there are none before them.
pub(super) async fn newest(core: &Core, before: u64) -> Result<(Vec<Entry>, bool), Problem> {
    let own = core.with(|cluster| cluster.records(0, u64::MAX))?;
    let own = own.iter().map(|record| Ok((record.seq, decoded(record)?))).collect::<Result<_, Fault>>()?;
    let head = core.with(Cluster::published)?;
    let (entries, is_whole) = history::newest_with(&Kv::of(&core.env)?, head.as_ref(), own, before, PAGES_MAX).await?;
    Ok((entries.into_iter().map(|(_, entry)| entry).collect(), is_whole))
}

/// The newest `count` entries that are wanted, the newest first.
pub(super) async fn find(core: &Core, count: usize, is_wanted: impl Fn(&Entry) -> bool) -> Result<Vec<Entry>, Problem> {
    let mut found: Vec<Entry> = Vec::new();
    let mut first = core.with(Cluster::mark)?.seq + 1;
    while found.len() < count {
        let records = core.with(|cluster| cluster.records(first.saturating_sub(ROWS_AT_ONCE + 1), first - 1))?;
        // Rows have no gaps: before these there are no others.
        let Some(oldest) = records.first() else { break };
        first = oldest.seq;
        let entries = records.iter().rev().map(decoded).collect::<Result<Vec<_>, _>>()?;
        found.extend(entries.into_iter().filter(&is_wanted));
    }
    if found.len() < count
        && first > 1
        && let Some(head) = core.with(Cluster::published)?
    {
        let is_older = |seq, entry: &Entry| seq < first && is_wanted(entry);
        found.extend(history::find(&Kv::of(&core.env)?, &head, count - found.len(), PAGES_MAX, is_older).await?);
    }
    found.truncate(count);
    Ok(found)
}

/// The entry that led to a revision.
pub(super) async fn entry_at(core: &Core, revision: u64) -> Result<Entry, Problem> {
    if let Some(record) = core.with(|cluster| cluster.record_of(revision))? {
        return Ok(decoded(&record)?);
    }
    let head = core.with(Cluster::published)?.ok_or(Problem::Gone)?;
    history::entry_at(&Kv::of(&core.env)?, &head, revision, PAGES_MAX).await?.ok_or(Problem::Gone)
}

/// At most `count` entries after a revision that the log has dropped.
pub(super) async fn entries(core: &Core, after: u64, count: usize) -> Result<Vec<Entry>, Problem> {
    let head = core.with(Cluster::published)?.ok_or(Problem::Gone)?;
    let entries = front::at_hand(past::entries(&Kv::of(&core.env)?, &head, after, count).await?)?;
    Ok(entries.into_iter().map(|(_, entry)| entry).collect())
}

/// The newest published snapshot before a moment.
pub(super) async fn snapshot(core: &Core, moment: Moment) -> Result<String, Problem> {
    let found = match core.with(Cluster::published)? {
        Some(head) => front::at_hand(past::snapshot(&Kv::of(&core.env)?, &head, moment).await?)?,
        None => None,
    };
    Ok(found.map_or_else(front::beginning, Ok)?)
}

pub(super) fn decoded(record: &Record) -> Result<Entry, Fault> {
    decode("an entry of the log", &record.entry)
}
