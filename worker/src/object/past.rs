//! The past of a cluster: what the log still has, and from KV what it has dropped.

use engine::message::envelope::Entry;
use protocol::cluster::Cluster;
use protocol::fault::Fault;
use protocol::log::Record;
use protocol::log::decode;
use protocol::past;
use protocol::past::Moment;
use protocol::past::Search;

use crate::answer::Problem;
use crate::bindings::Kv;
use crate::front;
use crate::market::PAGES_MAX;
use crate::object::core::Core;

/// How many rows of the log are looked at at once.
const ROWS_AT_ONCE: u64 = 50;

/// The newest entries up to a revision, and whether there are none before them.
pub(super) async fn newest(core: &Core, before: u64) -> Result<(Vec<Entry>, bool), Problem> {
    let own = core.with(|cluster| cluster.records(0, u64::MAX))?;
    let own = own.iter().map(|record| Ok((record.seq, decoded(record)?))).collect::<Result<_, Fault>>()?;
    let head = core.with(Cluster::published)?;
    let newest = past::newest_with(&Kv::of(&core.env)?, head.as_ref(), own, before, PAGES_MAX).await?;
    let (entries, is_whole) = front::at_hand(newest)?;
    Ok((entries.into_iter().map(|(_, entry)| entry).collect(), is_whole))
}

/// What a search finds, the newest first: in the log, and in KV what the log has dropped. And before which revision to go
/// on, if there is more to look at.
pub(super) async fn find(
    core: &Core,
    mut search: Search<impl Fn(&Entry) -> bool>,
) -> Result<(Vec<Entry>, Option<u64>), Problem> {
    let newest = core.with(|cluster| cluster.last_within(search.newest()))?;
    let mut last = newest.unwrap_or(0);
    while !search.is_over() {
        let records = core.with(|cluster| cluster.records(last.saturating_sub(ROWS_AT_ONCE), last))?;
        // Rows have no gaps: before these there are no others.
        let Some(oldest) = records.first() else { break };
        last = oldest.seq - 1;
        for record in records.iter().rev() {
            search.look_at(record.seq, decoded(record)?);
        }
    }
    // Where the log has none of them any more, all are older than what it has.
    let last = newest.map_or(u64::MAX, |_| last);
    if last > 0
        && !search.is_over()
        && let Some(head) = core.with(Cluster::published)?
    {
        front::at_hand(past::find(&Kv::of(&core.env)?, &head, last, PAGES_MAX, &mut search).await?)?;
    }
    let next = search.next();
    Ok((search.found(), next))
}

/// The entry that led to a revision.
pub(super) async fn entry_at(core: &Core, revision: u64) -> Result<Entry, Problem> {
    if let Some(record) = core.with(|cluster| cluster.record_of(revision))? {
        return Ok(decoded(&record)?);
    }
    let head = core.with(Cluster::published)?.ok_or(Problem::Gone)?;
    front::at_hand(past::entry_at(&Kv::of(&core.env)?, &head, revision).await?)?.ok_or(Problem::Gone)
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
