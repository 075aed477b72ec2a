//! The past of a cluster: what the log still has, and from KV what it has dropped.

use engine::message::envelope::Entry;
use protocol::cluster::Cluster;
use protocol::fault::Fault;
use protocol::log::Record;
use protocol::log::decode;
use protocol::meter::Meter;
use protocol::meter::Metered;
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
/// How many pages of the past one answer reads that says where to go on.
const PAGES_AT_ONCE: usize = 2;

/// Reads what the newest entries tell of the market, unless it is kept already.
pub(super) async fn keep_market(core: &Core, meter: &Meter) -> Result<(), Problem> {
    if core.with(|cluster| cluster.with_market(|_, kept| kept.is_some()))? {
        return Ok(());
    }
    let last = core.with(Cluster::mark)?.seq;
    let (entries, is_whole) = newest(core, meter, u64::MAX, PAGES_MAX).await?;
    core.with(|cluster| cluster.keep_market(entries, is_whole, last))
}

/// Entries up to a revision, the newest of them, and whether there are none before them.
pub(super) async fn earlier(core: &Core, meter: &Meter, before: u64) -> Result<(Vec<Entry>, bool), Problem> {
    newest(core, meter, before, PAGES_AT_ONCE).await
}

async fn newest(core: &Core, meter: &Meter, before: u64, pages_max: usize) -> Result<(Vec<Entry>, bool), Problem> {
    let own = core.with(|cluster| cluster.records(0, u64::MAX))?;
    let own = own.iter().map(|record| Ok((record.seq, decoded(meter, record)?))).collect::<Result<_, Fault>>()?;
    let head = core.with(Cluster::published)?;
    let newest = past::newest_with(&kv(core, meter)?, head.as_ref(), own, before, pages_max).await?;
    let (entries, is_whole) = front::at_hand(newest)?;
    Ok((entries.into_iter().map(|(_, entry)| entry).collect(), is_whole))
}

/// KV, of which it is counted what it is asked for.
fn kv<'a>(core: &Core, meter: &'a Meter) -> Result<Metered<'a, Kv>, Problem> {
    Ok(Metered::new(Kv::of(&core.env)?, meter))
}

/// What a search finds, the newest first: in the log, and in KV what the log has dropped. And before which revision to go
/// on, if there is more to look at.
pub(super) async fn find(
    core: &Core,
    meter: &Meter,
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
            search.look_at(record.seq, decoded(meter, record)?);
        }
    }
    // Where the log has none of them any more, all are older than what it has.
    let last = newest.map_or(u64::MAX, |_| last);
    if last > 0
        && !search.is_over()
        && let Some(head) = core.with(Cluster::published)?
    {
        front::at_hand(past::find(&kv(core, meter)?, &head, last, PAGES_AT_ONCE, &mut search).await?)?;
    }
    let next = search.next();
    Ok((search.found(), next))
}

/// The entry that led to a revision.
pub(super) async fn entry_at(core: &Core, meter: &Meter, revision: u64) -> Result<Entry, Problem> {
    if let Some(record) = core.with(|cluster| cluster.record_of(revision))? {
        return Ok(decoded(meter, &record)?);
    }
    let head = core.with(Cluster::published)?.ok_or(Problem::Gone)?;
    front::at_hand(past::entry_at(&kv(core, meter)?, &head, revision).await?)?.ok_or(Problem::Gone)
}

/// At most `count` entries after a revision that the log has dropped.
pub(super) async fn entries(core: &Core, meter: &Meter, after: u64, count: usize) -> Result<Vec<Entry>, Problem> {
    let head = core.with(Cluster::published)?.ok_or(Problem::Gone)?;
    let entries = front::at_hand(past::entries(&kv(core, meter)?, &head, after, count).await?)?;
    Ok(entries.into_iter().map(|(_, entry)| entry).collect())
}

/// The newest published snapshot before a moment.
pub(super) async fn snapshot(core: &Core, meter: &Meter, moment: Moment) -> Result<String, Problem> {
    let found = match core.with(Cluster::published)? {
        Some(head) => front::at_hand(past::snapshot(&kv(core, meter)?, &head, moment).await?)?,
        None => None,
    };
    Ok(found.map_or_else(front::beginning, Ok)?)
}

pub(super) fn decoded(meter: &Meter, record: &Record) -> Result<Entry, Fault> {
    meter.note(&record.entry);
    decode("an entry of the log", &record.entry)
}
