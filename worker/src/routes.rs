//! Every route, in one place. The front and the objects read the same table.
//!
//! | method | path | answer |
//! |---|---|---|
//! | GET | `/health` | that the Worker runs; open to all |
//! | GET | `/v1/clusters` | the names of all clusters |
//! | POST | `/v1/clusters/{cluster}/commands` | the receipt of an envelope |
//! | GET | `.../snapshot?min_revision=` | the state as an engine snapshot |
//! | GET | `.../head` | what has been published |
//! | GET | `.../entries?after=&count=` | the entries after a revision, as a list; with a count from anywhere in the past |
//! | GET | `.../past?time=&revision=` | the newest published snapshot before a moment; entries lead on from it |
//! | GET | `.../rounds?count=` | the newest entries that contain a round, the newest first |
//! | GET | `.../rounds/{revision}` | the entry that led to a revision |
//! | GET | `.../jobs/{job}/why` | why a job waits, or what became of it |
//! | GET | `.../offers` | the offers of the spot market with prices, averages, inventories and bids |
//! | GET | `.../offers/{offer}/history` | how an offer's price and inventory went |
//! | GET | `.../bills?by=&format=` | bills by `day`, `job`, `workspace` or `job_and_day`, as `json` or `csv` |
//! | POST | `.../sessions` | a session's token for `{"key", "secret"}`; open to all |
//! | GET | `.../me` | who the sender is |
//! | GET | `.../keys` | the sender's access keys, or all of them for administrators, with their last use |
//! | GET | `.../audit?count=&before=` | who sent which command when, the newest first |
//! | GET | `.../metrics` | figures in Prometheus' text format |
//! | GET | `.../hash` | sequence, revision and digest of the object's state |
//! | GET | `.../events` | a WebSocket on which every new entry is pushed, and `ping` is answered `pong` |
//! | POST | `.../restore?from=&force=` | rebuilds the cluster from KV alone |
//! | POST | `.../flush` | publishes what is committed |
//! | POST | `.../slots/{slot}` | the round of a slot; only the clock may |

use protocol::name::ClusterName;
use worker::Method;
use worker::js_sys;

use crate::answer::Problem;

/// What a request asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// Whether the Worker runs.
    Health,
    /// The names of all clusters.
    Clusters,
    /// Something of one cluster.
    Cluster(ClusterName, Call),
}

/// What a request asks of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    Command,
    Snapshot,
    Head,
    Entries,
    Past,
    Rounds,
    RoundAt(u64),
    Why(String),
    Market(MarketCall),
    Session,
    Me,
    Keys,
    Audit,
    Metrics,
    Hash,
    Events,
    Restore,
    Flush,
    Slot(i64),
}

/// What a request asks of the spot market.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MarketCall {
    Offers,
    History(String),
    Bills,
}

/// The route of a request.
pub(crate) fn route(method: &Method, path: &str) -> Result<Route, Problem> {
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    let (allowed, route) = match parts.as_slice() {
        ["health"] => (Method::Get, Route::Health),
        ["v1", "clusters"] => (Method::Get, Route::Clusters),
        ["v1", "clusters", cluster, rest @ ..] => {
            let name = ClusterName::new(cluster).ok_or(Problem::BadCluster)?;
            let (allowed, call) = call(rest)?;
            (allowed, Route::Cluster(name, call))
        }
        _ => return Err(Problem::NoRoute),
    };
    if *method == allowed { Ok(route) } else { Err(Problem::WrongMethod(allowed)) }
}

fn call(rest: &[&str]) -> Result<(Method, Call), Problem> {
    Ok(match rest {
        ["commands"] => (Method::Post, Call::Command),
        ["snapshot"] => (Method::Get, Call::Snapshot),
        ["head"] => (Method::Get, Call::Head),
        ["entries"] => (Method::Get, Call::Entries),
        ["past"] => (Method::Get, Call::Past),
        ["rounds"] => (Method::Get, Call::Rounds),
        ["rounds", revision] => (Method::Get, Call::RoundAt(revision.parse().map_err(|_| Problem::NoRoute)?)),
        ["jobs", job, "why"] => (Method::Get, Call::Why(decoded(job)?)),
        ["offers"] => (Method::Get, Call::Market(MarketCall::Offers)),
        ["offers", offer, "history"] => (Method::Get, Call::Market(MarketCall::History(decoded(offer)?))),
        ["bills"] => (Method::Get, Call::Market(MarketCall::Bills)),
        ["sessions"] => (Method::Post, Call::Session),
        ["me"] => (Method::Get, Call::Me),
        ["keys"] => (Method::Get, Call::Keys),
        ["audit"] => (Method::Get, Call::Audit),
        ["metrics"] => (Method::Get, Call::Metrics),
        ["hash"] => (Method::Get, Call::Hash),
        ["events"] => (Method::Get, Call::Events),
        ["restore"] => (Method::Post, Call::Restore),
        ["flush"] => (Method::Post, Call::Flush),
        ["slots", slot] => (Method::Post, Call::Slot(slot.parse().map_err(|_| Problem::NoRoute)?)),
        _ => return Err(Problem::NoRoute),
    })
}

/// A name in a path, which may have any characters.
fn decoded(part: &str) -> Result<String, Problem> {
    js_sys::decode_uri_component(part).map(String::from).map_err(|_| Problem::NoRoute)
}
