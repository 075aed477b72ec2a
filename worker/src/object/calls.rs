//! The calls of a cluster's object.

use std::time::Duration;

use protocol::answer::Flushed;
use protocol::cluster::Cluster;
use protocol::incident::Kind;
use protocol::meter::Meter;
use protocol::name::ClusterName;
use protocol::publish::Due;
use protocol::publish::Occasion;
use protocol::route::Call;
use worker::Delay;
use worker::Request;
use worker::Response;

use crate::access;
use crate::access::Principal;
use crate::answer::Problem;
use crate::answer::Reply;
use crate::bindings;
use crate::object::agents;
use crate::object::command;
use crate::object::core::Core;
use crate::object::deletion;
use crate::object::health;
use crate::object::incidents;
use crate::object::keys;
use crate::object::output;
use crate::object::reads;
use crate::object::restore;
use crate::object::sessions;
use crate::object::slot;
use crate::object::socket::socket;
use crate::proof::PROOF_HEADER;
use crate::proof::Proof;
use crate::query::Query;
use crate::routes::Asked;
use crate::storage::SqlLog;

/// How often a demand to publish tries.
const FLUSH_TRIES: u32 = 10;
/// How long it waits for a publication that is under way.
const FLUSH_WAIT_MS: i64 = 200;
/// Answers a call that the front or the clock hands on.
pub(super) async fn serve(core: &Core, request: Request) -> Reply {
    let reply = dispatch(core, request).await;
    reply.inspect_err(|problem| core.note_damage(problem))
}

async fn dispatch(core: &Core, request: Request) -> Reply {
    let asked = Asked::read(&request.method(), &request.path())?;
    let (call, Some(cluster)) = (asked.route.call, &asked.cluster) else { return Err(Problem::NoRoute) };
    // Nobody is known yet: whoever tries names leaves nothing behind.
    let proof = request.headers().get(PROOF_HEADER)?.and_then(|text| Proof::read(&text));
    let monitors = proof == Some(Proof::Monitor);
    if call == Call::Condition && health::may_watch(proof.as_ref()) {
        return health::answer(core, cluster, monitors).await;
    }
    if (call == Call::Session || monitors) && !SqlLog::exists(&core.state.storage())? {
        return Err(Problem::Unauthorised);
    }
    core.open(cluster)?;
    if let Some(tombstone) = core.with(|cluster| cluster.tombstone())? {
        return deletion::answer(core, cluster, &asked, request, proof.as_ref(), tombstone).await;
    }
    if call == Call::Slot {
        return slot::run(core, cluster, asked.number()?).await;
    }
    if call == Call::Session {
        return keys::open_session(core, cluster, request).await;
    }
    if monitors && call == Call::Metrics {
        let query = Query::of(&request, asked.route)?;
        let monitor = Principal { sender: access::monitor()?, key: None, agent: None };
        return reads::answer(core, cluster, &asked, &query, &monitor, &Meter::default()).await;
    }
    let principal = match keys::principal(core, proof.as_ref()) {
        // Who is who is known again once the cluster is there; the administrator goes on, and hears how far it is.
        Err(Problem::Restoring(progress)) => {
            let query = Query::of(&request, asked.route)?;
            return blindly(core, cluster, call, &query, proof.as_ref(), Problem::Restoring(progress)).await;
        }
        // A log that cannot be read says of nobody who they are, and somebody has to be able to replace or to delete it.
        Err(problem @ Problem::Internal(_)) => {
            let query = Query::of(&request, asked.route)?;
            return blindly(core, cluster, call, &query, proof.as_ref(), problem).await;
        }
        principal => principal?,
    };
    let sender = principal.sender.clone();
    let admitted = core
        .with(|cluster| cluster.with_state(|state| access::admit(state, &principal, asked.route.who, asked.name())))?;
    let reply = match admitted {
        Ok(()) => admit(core, cluster, &asked, request, proof.as_ref(), principal).await,
        Err(problem) => Err(problem),
    };
    reply.inspect_err(|problem| {
        // What a command was refused for is noted with its name.
        if problem.is_denial() && call != Call::Command {
            core.note_refusal(&sender, asked.route.path.rsplit("}/").next().unwrap_or_default(), problem);
        }
    })
}

/// Answers while the log tells of nobody who they are: somebody who administers the cluster whatever it says may restore it,
/// and delete it.
async fn blindly(
    core: &Core,
    cluster: &ClusterName,
    call: Call,
    query: &Query,
    proof: Option<&Proof>,
    problem: Problem,
) -> Reply {
    let Some(principal) = access::administrator(proof) else { return Err(problem) };
    if call == Call::Restore {
        return restore::answer_blindly(core, cluster, query, &principal, &problem).await;
    }
    if call == Call::Delete {
        return deletion::delete(core, cluster, query, &principal.sender).await;
    }
    if call == Call::Deletion { deletion::cost(core, cluster).await } else { Err(problem) }
}

/// Answers somebody who may ask.
async fn admit(
    core: &Core,
    cluster: &ClusterName,
    asked: &Asked,
    request: Request,
    proof: Option<&Proof>,
    principal: Principal,
) -> Reply {
    let query = Query::of(&request, asked.route)?;
    let sender = &principal.sender;
    match asked.route.call {
        Call::Command => command::command(core, cluster, request, &query, &principal).await,
        Call::Condition => health::answer(core, cluster, false).await,
        Call::Incidents => Ok(Response::from_json(&incidents::list(core, sender, &query)?)?),
        Call::Deletion => deletion::cost(core, cluster).await,
        Call::Delete => deletion::delete(core, cluster, &query, sender).await,
        Call::SignOut => sessions::end(core, sender, proof),
        Call::Restore => {
            let from = query.text("from").unwrap_or_else(|| cluster.to_string());
            let reply = restore::answer(core, cluster, &query, &principal).await;
            let what = reply.as_ref().map_or_else(|problem| format!("{from}: {}", problem.code()), |_| from.clone());
            core.note(Kind::Restore, sender.user.as_str(), what);
            reply
        }
        Call::Flush => {
            core.note(Kind::Flush, sender.user.as_str(), "publish");
            flush(core).await
        }
        Call::Events => events(core, &request, proof),
        Call::Me => Ok(Response::from_json(&keys::me(principal))?),
        Call::Log => output::answer(core, asked.name(), &query),
        Call::Agent(call) => agents::serve(core, call, request, &query, &principal, proof).await,
        Call::Keys => Ok(Response::from_json(&keys::list(core, &principal)?)?),
        Call::Snapshot
        | Call::Head
        | Call::Entries
        | Call::Past
        | Call::Audit
        | Call::Rounds
        | Call::RoundAt
        | Call::Why
        | Call::Overdue
        | Call::Agents
        | Call::Market(_)
        | Call::Metrics
        | Call::Hash => {
            let meter = Meter::default();
            let reply = reads::answer(core, cluster, asked, &query, &principal, &meter).await;
            keys::charge(core, &principal, meter.cost());
            reply
        }
        Call::Health
        | Call::Clusters
        | Call::ServiceIncidents
        | Call::Slot
        | Call::Session
        | Call::Object
        | Call::Import => Err(Problem::NoRoute),
    }
}

/// Publishes all that is committed. Heads keep their distance in time, so this may wait for a second.
async fn flush(core: &Core) -> Reply {
    for _ in 0..FLUSH_TRIES {
        core.publish(Occasion::Demand).await?;
        let now = bindings::now();
        let wait_ms = match core.with(|cluster| cluster.due(Occasion::Demand, now))? {
            Due::No => {
                let head = core.with(Cluster::published)?;
                return Ok(Response::from_json(&Flushed { published: head.map(|head| head.revision) })?);
            }
            Due::At(time) => (time - now).0,
            // Another publication is under way.
            Due::Now => FLUSH_WAIT_MS,
        };
        Delay::from(Duration::from_millis(wait_ms.unsigned_abs())).await;
    }
    Err(Problem::Unavailable("new commands kept coming while all was to be published".to_owned()))
}

fn events(core: &Core, request: &Request, proof: Option<&Proof>) -> Reply {
    socket(core, request, &[&proof.map(Proof::text).unwrap_or_default()])
}
