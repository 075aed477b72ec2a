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
use crate::object::core::Core;
use crate::object::health;
use crate::object::overdue;
use crate::object::past;
use crate::object::why;
use crate::query::Query;
use crate::routes::Asked;

/// In which a list says before which revision it goes on, also where nothing was found in what one answer may read.
const NEXT_HEADER: &str = "x-tidegate-next-before";

/// Answers a read of the state as it is, with what the sender may see of it.
pub(super) async fn answer(core: &Core, cluster: &ClusterName, asked: &Asked, query: &Query, sender: &Sender) -> Reply {
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
                Some(records) => {
                    as_seen(core, sender, &records.iter().map(past::decoded).collect::<Result<Vec<_>, _>>()?)?
                }
                // What is read that far back is the beginning of a plan, which needs the commands of everybody.
                None if !sender.administers => return Err(Problem::Gone),
                None => encode(&past::entries(core, after, portion.ok_or(Problem::Gone)?).await?)?,
            }
        }
        Call::Past => past::snapshot(core, front::moment(query)?).await?,
        Call::Rounds => {
            let rounds = Search::new(front::count(query)?, u64::MAX, history::is_round);
            as_seen(core, sender, &past::find(core, rounds).await?.0)?
        }
        Call::Audit => {
            let (text, next) = audit(core, sender, query).await?;
            let response = answer::json_text(text, origin)?;
            if let Some(next) = next {
                response.headers().set(NEXT_HEADER, &next.to_string())?;
            }
            return Ok(response);
        }
        Call::RoundAt => {
            let entry = past::entry_at(core, asked.number()?).await?;
            core.with(|cluster| cluster.with_state(|state| encode(&Veil::new(state, sender).entry(&entry))))??
        }
        Call::Why => why::answer(core, asked.name(), sender)?,
        Call::Overdue => overdue::answer(core, sender)?,
        Call::Hash => encode(&core.with(Cluster::position)?)?,
        Call::Metrics => return answer::typed(figures(core, mark)?, metrics::CONTENT_TYPE, origin),
        Call::Market(call) => {
            let (entries, is_whole) = match call {
                MarketCall::Offers => Default::default(),
                MarketCall::History | MarketCall::Bills => {
                    past::newest(core, query.value("before")?.unwrap_or(u64::MAX)).await?
                }
            };
            let answer = core.with(|cluster| {
                cluster.with_state(|state| {
                    let (veil, now) = (Veil::new(state, sender), bindings::now());
                    market::answer(veil, &entries, is_whole, call, asked.name(), query, now)
                })
            })??;
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
    answer::json_text(text, origin)
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
async fn audit(core: &Core, sender: &Sender, query: &Query) -> Result<(String, Option<u64>), Problem> {
    let before: u64 = query.value("before")?.unwrap_or(u64::MAX);
    let is_shown =
        |entry: &Entry| core.with(|cluster| cluster.with_state(|state| Veil::new(state, sender).shows_command(entry)));
    let is_wanted = |entry: &Entry| entry.envelope.by.is_some() && is_shown(entry).is_ok_and(|is_shown| is_shown);
    let deeds = Search::new(front::count(query)?, before, is_wanted);
    let (found, next) = past::find(core, deeds).await?;
    Ok((as_seen(core, sender, &found)?, next))
}

/// What KV shows of a cluster whose storage has nothing.
pub(super) async fn shown(core: &Core, cluster: &ClusterName) -> Result<Option<Lost>, Problem> {
    Ok(history::head(&Kv::of(&core.env)?, cluster).await?.as_ref().map(Lost::of))
}
