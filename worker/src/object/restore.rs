//! Restores: an administrator begins one, and it goes on by itself, in as many invocations as it takes.
//!
//! The first steps are made while the administrator waits, and most restores need no others. Then the alarm goes on, and
//! the clock should the alarm be lost. Whoever asks again hears how far it is.

use engine::unit::time::Millis;
use protocol::answer::RestoreAnswer;
use protocol::answer::RestoreOutcome;
use protocol::answer::RestoreUnderWay;
use protocol::answer::Restored;
use protocol::cluster::Cluster;
use protocol::fault::Fault;
use protocol::fault::Progress;
use protocol::history;
use protocol::name::ClusterName;
use protocol::restore;
use protocol::restore::Begun;
use protocol::restore::steps;
use protocol::restore::steps::Holder;
use worker::Response;
use worker::console_error;

use crate::access::Principal;
use crate::answer;
use crate::answer::Problem;
use crate::answer::Reply;
use crate::answer::unknown_cluster;
use crate::bindings;
use crate::bindings::Kv;
use crate::object::core::Core;
use crate::object::publication::RETRY_MS;
use crate::query::Query;
use crate::storage::SqlLog;

/// The close code for "the service restarts": clients connect again and start from the snapshot.
const SERVICE_RESTART: u16 = 1012;

impl Holder for Core {
    type Store = SqlLog;

    fn work<T>(&self, work: impl FnOnce(&mut Cluster<SqlLog>) -> Result<T, Fault>) -> Result<T, Fault> {
        let mut cluster = self.cluster.borrow_mut();
        work(cluster.as_mut().ok_or_else(|| Fault::log("no cluster is open"))?)
    }
}

/// Whether the cluster is being restored.
pub(super) fn is_under_way(core: &Core) -> Result<bool, Problem> {
    match core.with(Cluster::mark) {
        Err(Problem::Restoring(_)) => Ok(true),
        mark => mark.map(|_| false),
    }
}

/// Begins a restore, and goes on with one.
pub(super) async fn answer(core: &Core, cluster: &ClusterName, query: &Query, principal: &Principal) -> Reply {
    let is_forced = query.value("force")?.unwrap_or(false);
    let from = from(cluster, query)?;
    // A key opens its own cluster, and no copy of another one.
    if principal.key.is_some() && from != *cluster {
        return Err(unknown_cluster(&from));
    }
    let kv = Kv::of(&core.env)?;
    let head = match query.text("head") {
        Some(key) => history::given_up(&kv, &from, &key).await?,
        None => history::head(&kv, &from).await?,
    };
    let head = head.ok_or_else(|| unknown_cluster(&from))?;
    let last = restore::last_entry(&kv, &head).await.map_err(answer::of_restore)?;
    core.enter(cluster).await?;
    let shown = history::head(&kv, cluster).await?;
    if let Some(shown) = shown.as_ref().filter(|shown| query.text("head").is_some() && !is_forced && **shown != head) {
        // Its storage may be lost: then it is what KV shows that must not be replaced by accident.
        return Err(Problem::HasLog(format!("revision {} in KV", shown.revision)));
    }
    let shown = shown.map_or(0, |head| head.revision);
    match core.with(|cluster| cluster.begin_restore(head, last.as_ref(), is_forced, shown))? {
        Begun::Yes => go_on(core, &from).await,
        Begun::Same => over(core, &from, RestoreOutcome::Same),
        Begun::Different(here) => Err(Problem::HasLog(format!("revision {}, hash {}", here.revision, here.hash))),
        Begun::Behind { shown, restored } => Err(Problem::WouldGoBack { shown, restored }),
    }
}

/// What an administrator hears while the cluster is being restored, who may go on with it or begin another one; or whose
/// log cannot be read, which is replaced.
pub(super) async fn answer_blindly(
    core: &Core,
    cluster: &ClusterName,
    query: &Query,
    principal: &Principal,
    problem: &Problem,
) -> Reply {
    if matches!(problem, Problem::Restoring(_)) && !query.value("force")?.unwrap_or(false) {
        return go_on(core, &from(cluster, query)?).await;
    }
    answer(core, cluster, query, principal).await
}

fn from(cluster: &ClusterName, query: &Query) -> Result<ClusterName, Problem> {
    match query.text("from") {
        Some(name) => ClusterName::new(&name).ok_or(Problem::BadCluster),
        None => Ok(cluster.clone()),
    }
}

/// One step, and what has been reached with it.
async fn go_on(core: &Core, from: &ClusterName) -> Reply {
    if step(core).await? {
        return over(core, from, RestoreOutcome::Restored);
    }
    let Some(restoring) = core.with(|cluster| cluster.restoring())? else {
        // The alarm has brought it to its end meanwhile.
        return over(core, from, RestoreOutcome::Restored);
    };
    let Progress { revision, read, state } = restoring.progress();
    let answer = RestoreUnderWay { outcome: RestoreOutcome::Restoring, revision, read, state };
    Ok(Response::from_json(&RestoreAnswer::UnderWay(answer))?)
}

fn over(core: &Core, from: &ClusterName, outcome: RestoreOutcome) -> Reply {
    let (object, missing) = (core.with(Cluster::position)?, core.with(|cluster| cluster.missing())?);
    let restored = Restored { outcome, from: from.to_string(), kv: object.clone(), object, missing };
    Ok(Response::from_json(&RestoreAnswer::Over(Box::new(restored)))?)
}

/// Goes on as far as this invocation may; whether that was the end.
async fn step(core: &Core) -> Result<bool, Problem> {
    let budget = bindings::restore_budget(&core.env);
    if steps::go_on(&Kv::of(&core.env)?, core, budget).await.map_err(answer::of_restore)?.is_none() {
        core.set_alarm(bindings::now()).await?;
        return Ok(false);
    }
    // Without an await in between, both are durable or neither is.
    core.with(|cluster| cluster.begin_epoch(bindings::now()))?;
    for socket in core.state.get_websockets() {
        // Who cannot be told has lost the connection.
        let _ = socket.close(Some(SERVICE_RESTART), Some("restored"));
    }
    core.follow_up().await?;
    Ok(true)
}

/// A step that nobody waits for; one that fails is tried again soon.
pub(super) async fn step_or_retry(core: &Core) -> Result<(), Problem> {
    let Err(problem) = step(core).await else { return Ok(()) };
    console_error!("the restore does not go on, and is tried again: {problem:?}");
    core.set_alarm(bindings::now() + Millis(RETRY_MS)).await
}
