//! Reads of the cluster's object.

use engine::host::veil::Veil;
use engine::message::envelope::Entry;
use engine::transition::Sender;
use protocol::cluster::Cluster;
use protocol::cluster::Mark;
use protocol::fault::Lost;
use protocol::history;
use protocol::log::encode;
use protocol::log::text_of;
use protocol::meter::Meter;
use protocol::name::ClusterName;
use protocol::past::Search;
use protocol::route::Call;
use protocol::route::MarketCall;

use crate::answer;
use crate::answer::Origin;
use crate::answer::Problem;
use crate::answer::Reply;
use crate::answer::unknown_cluster;
use crate::bindings;
use crate::bindings::Kv;
use crate::front;
use crate::market;
use crate::metrics;
use crate::metrics::Publishing;
use crate::object::agents;
use crate::object::core::Core;
use crate::object::health;
use crate::object::overdue;
use crate::object::past;
use crate::object::why;
use crate::query::Query;
use crate::routes::Asked;

/// In which a list says before which revision it goes on, also where nothing was found in what one answer may read.
const NEXT_HEADER: &str = "x-tidegate-next-before";

/// For how many requests a read of the past counts until it is known what it has cost.
const TAKEN: i64 = 20;

/// For how many requests a read counts until it is known what it has cost: as long as KV is asked, others come.
pub(super) fn taken(call: Call) -> i64 {
    let may_ask =
        matches!(call, Call::Past | Call::Entries | Call::Audit | Call::Rounds | Call::RoundAt | Call::Market(_));
    if may_ask { TAKEN } else { 0 }
}

/// Answers a read of the state as it is, with what the sender may see of it; `meter` is told what that costs.
pub(super) async fn answer(
    core: &Core,
    cluster: &ClusterName,
    asked: &Asked,
    query: &Query,
    sender: &Sender,
    meter: &Meter,
) -> Reply {
    let mark = core.with(Cluster::mark)?;
    if mark.seq == 0 {
        return Err(match shown(core, cluster).await? {
            Some(lost) => Problem::StorageLost(lost),
            None => unknown_cluster(cluster),
        });
    }
    if let Some(wanted) = query.value("min_revision")?.filter(|wanted| *wanted > mark.revision) {
        return Err(Problem::NotYet { wanted, here: mark.revision });
    }
    let origin = Origin::object(mark.revision);
    let text = match asked.route.call {
        Call::Snapshot => {
            core.with(|cluster| cluster.with_state(|state| text_of(&Veil::new(state, sender).snapshot())))??
        }
        Call::Head => encode(&core.with(Cluster::published)?.ok_or_else(|| unknown_cluster(cluster))?)?,
        Call::Entries => {
            let after: u64 = query.value("after")?.unwrap_or_default();
            let portion = front::portion(query)?;
            let count = portion.map_or(u64::MAX, |count| count as u64);
            match core.with(|cluster| cluster.records_after(after, count))? {
                Some(records) if sender.administers => {
                    let entries: Vec<String> = records.into_iter().map(|record| record.entry).collect();
                    format!("[{}]", entries.join(","))
                }
                Some(records) => as_seen(
                    core,
                    sender,
                    &records.iter().map(|record| past::decoded(meter, record)).collect::<Result<Vec<_>, _>>()?,
                )?,
                // What is read that far back is the beginning of a plan, which needs the commands of everybody.
                None if !sender.administers => return Err(Problem::Gone),
                None => encode(&past::entries(core, meter, after, portion.ok_or(Problem::Gone)?).await?)?,
            }
        }
        Call::Past => past::snapshot(core, meter, front::moment(query)?).await?,
        Call::Rounds => {
            let rounds = Search::new(front::count(query)?, u64::MAX, history::is_round);
            as_seen(core, sender, &past::find(core, meter, rounds).await?.0)?
        }
        Call::Audit => {
            let (text, next) = audit(core, meter, sender, query).await?;
            meter.note(&text);
            let response = answer::json_text(text, origin)?;
            if let Some(next) = next {
                response.headers().set(NEXT_HEADER, &next.to_string())?;
            }
            return Ok(response);
        }
        Call::RoundAt => {
            let entry = past::entry_at(core, meter, asked.number()?).await?;
            core.with(|cluster| cluster.with_state(|state| encode(&Veil::new(state, sender).entry(&entry))))??
        }
        Call::Why => why::answer(core, asked.name(), sender)?,
        Call::Overdue => overdue::answer(core, sender)?,
        Call::Agents => agents::list(core, cluster)?,
        Call::Hash => encode(&core.with(Cluster::position)?)?,
        Call::Metrics => return answer::typed(figures(core, mark)?, metrics::CONTENT_TYPE, origin),
        Call::Market(call) => {
            let answer = of_market(core, meter, call, asked, query, sender).await?;
            meter.note(&answer.text);
            return answer::typed(answer.text, answer.content_type, origin);
        }
        Call::Health
        | Call::Condition
        | Call::Clusters
        | Call::Command
        | Call::Session
        | Call::Me
        | Call::Keys
        | Call::Events
        | Call::Restore
        | Call::Object
        | Call::Import
        | Call::Flush
        | Call::Agent(_)
        | Call::Log
        | Call::Incidents
        | Call::ServiceIncidents
        | Call::Deletion
        | Call::Delete
        | Call::SignOut
        | Call::Slot => return Err(Problem::NoRoute),
    };
    meter.note(&text);
    answer::json_text(text, origin)
}

/// What there is to say of the market. Its newest past is kept; what lies before it is read each time.
async fn of_market(
    core: &Core,
    meter: &Meter,
    call: MarketCall,
    asked: &Asked,
    query: &Query,
    sender: &Sender,
) -> Result<market::Answer, Problem> {
    let before: Option<u64> = query.value("before")?;
    let earlier = match (call, before) {
        (MarketCall::History | MarketCall::Bills, Some(before)) => Some(past::earlier(core, meter, before).await?),
        (MarketCall::History | MarketCall::Bills, None) => {
            past::keep_market(core, meter).await?;
            None
        }
        (MarketCall::Offers, _) => None,
    };
    core.with(|cluster| {
        cluster.with_market(|state, kept| {
            let (veil, now) = (Veil::new(state, sender), bindings::now());
            let kept = kept.map(|kept| (kept.entries(), kept.is_whole()));
            let earlier = earlier.as_ref().map(|(entries, is_whole)| (entries.as_slice(), *is_whole));
            let (entries, is_whole) = earlier.or(kept).unwrap_or_default();
            market::answer(veil, entries, is_whole, call, asked.name(), query, now)
        })
    })?
}

/// Figures of the cluster and of its object.
fn figures(core: &Core, mark: Mark) -> Result<String, Problem> {
    let head = core.with(Cluster::published)?;
    let publishing = Publishing {
        seq: mark.seq,
        published: head.map(|head| (head.seq, head.published_at)),
        unpublished_since: core.with(Cluster::unpublished_since)?,
        failures: core.unpublished.borrow().as_ref().map_or(0, |failed| failed.times),
        sockets: core.state.get_websockets().len(),
        rounds: core.n_rounds.get(),
        refusals: core.n_refused.get(),
        sign_ins: core.n_signed_in.get(),
        sign_ins_refused: core.n_kept_out.get(),
        condition: health::condition(core),
        snapshot_bytes: core.with(Cluster::snapshot_bytes)?,
        memory_bytes: bindings::memory_bytes(),
        stored_bytes: core.state.storage().sql().database_size() as u64,
    };
    let now = bindings::now();
    core.with(|cluster| cluster.with_state(|state| metrics::text(state, publishing, now)))
}

fn as_seen(core: &Core, sender: &Sender, entries: &[Entry]) -> Result<String, Problem> {
    let encoded = core.with(|cluster| {
        cluster.with_state(|state| {
            let veil = Veil::new(state, sender);
            encode(&entries.iter().map(|entry| veil.entry(entry)).collect::<Vec<_>>())
        })
    })?;
    Ok(encoded?)
}

/// Who sent which command when, the newest first, as far as the sender may know.
async fn audit(core: &Core, meter: &Meter, sender: &Sender, query: &Query) -> Result<(String, Option<u64>), Problem> {
    let before: u64 = query.value("before")?.unwrap_or(u64::MAX);
    let is_shown =
        |entry: &Entry| core.with(|cluster| cluster.with_state(|state| Veil::new(state, sender).shows_command(entry)));
    let is_wanted = |entry: &Entry| entry.envelope.by.is_some() && is_shown(entry).is_ok_and(|is_shown| is_shown);
    let deeds = Search::new(front::count(query)?, before, is_wanted);
    let (found, next) = past::find(core, meter, deeds).await?;
    Ok((as_seen(core, sender, &found)?, next))
}

/// What KV shows of a cluster whose storage has nothing.
pub(super) async fn shown(core: &Core, cluster: &ClusterName) -> Result<Option<Lost>, Problem> {
    Ok(history::head(&Kv::of(&core.env)?, cluster).await?.as_ref().map(Lost::of))
}
