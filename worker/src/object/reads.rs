//! Reads of the cluster's object.

use engine::host::visibility::Visibility;
use engine::message::envelope::Entry;
use engine::state::world::State;
use engine::transition::Sender;
use protocol::cluster::Cluster;
use protocol::cluster::Mark;
use protocol::fault::Fault;
use protocol::fault::Lost;
use protocol::history;
use protocol::log::Record;
use protocol::log::decode;
use protocol::log::encode;
use protocol::log::text_of;
use protocol::market;
use protocol::meter::Meter;
use protocol::name::ClusterName;
use protocol::route::Call;
use protocol::route::MarketCall;
use worker::Response;

use crate::access::Principal;
use crate::answer;
use crate::answer::Origin;
use crate::answer::Problem;
use crate::answer::Reply;
use crate::answer::unknown_cluster;
use crate::bindings;
use crate::bindings::Kv;
use crate::metrics;
use crate::metrics::Publishing;
use crate::object::agents;
use crate::object::core::Core;
use crate::object::health;
use crate::object::keys;
use crate::object::overdue;
use crate::object::why;
use crate::past_reads::NEWEST_HEADER;
use crate::past_reads::TAKEN;
use crate::portion;
use crate::query::Query;
use crate::routes::Asked;

/// Answers a read of the state as it is, with what the sender may see of it; `meter` is told what that costs.
pub(super) async fn answer(
    core: &Core,
    cluster: &ClusterName,
    asked: &Asked,
    query: &Query,
    principal: &Principal,
    meter: &Meter,
) -> Reply {
    let sender = &principal.sender;
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
            core.with(|cluster| cluster.with_state(|state| text_of(&Visibility::new(state, sender).snapshot())))??
        }
        Call::Head => encode(&core.with(Cluster::published)?.ok_or_else(|| unknown_cluster(cluster))?)?,
        Call::Entries => {
            let after: u64 = query.value("after")?.unwrap_or_default();
            let portion = portion::portion(query)?;
            let count = portion.map_or(u64::MAX, |count| count as u64);
            match core.with(|cluster| cluster.records_after(after, count))? {
                Some(records) if sender.administers => {
                    let entries: Vec<String> = records.into_iter().map(|record| record.entry).collect();
                    format!("[{}]", entries.join(","))
                }
                Some(records) => as_seen(
                    core,
                    sender,
                    &records.iter().map(|record| decoded(meter, record)).collect::<Result<Vec<_>, _>>()?,
                )?,
                // What is read that far back is the beginning of a plan, which needs the commands of everybody.
                None if !sender.administers => return Err(Problem::Gone),
                None => return elsewhere(core, principal),
            }
        }
        Call::Past
        | Call::Rounds
        | Call::Audit
        | Call::RoundAt
        | Call::Market(MarketCall::History | MarketCall::Bills) => return elsewhere(core, principal),
        Call::Why => why::answer(core, asked.name(), sender)?,
        Call::Overdue => overdue::answer(core, sender)?,
        Call::Agents => agents::list(core, cluster)?,
        Call::Hash => encode(&core.with(Cluster::position)?)?,
        Call::Metrics => return answer::typed(figures(core, mark)?, metrics::CONTENT_TYPE, origin),
        Call::Market(MarketCall::Offers) => {
            let offers = |state: &State| encode(&market::offers(Visibility::new(state, sender), bindings::now()));
            core.with(|cluster| cluster.with_state(offers))??
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

/// A read of the past is answered by the front, which is told what is newest.
fn elsewhere(core: &Core, principal: &Principal) -> Reply {
    let rated = keys::rated(principal);
    let newest = core.with(|cluster| cluster.newest(&principal.sender, rated.as_deref()))?;
    let newest = newest.ok_or_else(|| {
        let reason =
            "too much of the cluster is not published yet for reads of its past; see its health, and try again";
        Problem::Unavailable(reason.to_owned())
    })?;
    keys::charge(core, principal, TAKEN);
    let mut response = Response::ok(newest)?;
    response.headers_mut().set(NEWEST_HEADER, "1")?;
    Ok(response)
}

fn decoded(meter: &Meter, record: &Record) -> Result<Entry, Fault> {
    meter.note(&record.entry);
    decode("an entry of the log", &record.entry)
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
            let visibility = Visibility::new(state, sender);
            encode(&entries.iter().map(|entry| visibility.entry(entry)).collect::<Vec<_>>())
        })
    })?;
    Ok(encoded?)
}

/// What KV shows of a cluster whose storage has nothing.
pub(super) async fn shown(core: &Core, cluster: &ClusterName) -> Result<Option<Lost>, Problem> {
    Ok(history::head(&Kv::of(&core.env)?, cluster).await?.as_ref().map(Lost::of))
}
