//! How the cluster does: what the protocol finds in log and memory, with what only the object has seen.

use engine::state::world::State;
use protocol::fault::Fault;
use protocol::health;
use protocol::health::ClusterHealth;
use protocol::health::Condition;
use protocol::health::Seen;
use protocol::history;
use protocol::name::ClusterName;
use worker::ResponseBuilder;

use crate::access;
use crate::answer::Problem;
use crate::answer::Reply;
use crate::answer::unknown_cluster;
use crate::bindings;
use crate::bindings::Kv;
use crate::object::contacts;
use crate::object::core::Core;
use crate::proof::Proof;
use crate::storage::SqlLog;

/// What is answered where commands are refused. Monitoring takes everything else for an answer.
const LOST: u16 = 503;

/// Whether somebody may know how the cluster does without being known to its state, which may be gone.
pub(super) fn may_watch(proof: Option<&Proof>) -> bool {
    let administers = |proof| access::principal(&State::default(), proof, bindings::now());
    proof.is_some_and(|proof| *proof == Proof::Monitor || administers(proof).is_ok_and(|one| one.sender.administers))
}

/// How the cluster does, with one read of KV. Asking leaves nothing behind.
pub(super) async fn answer(core: &Core, cluster: &ClusterName, monitors: bool) -> Reply {
    let shown = match Kv::of(&core.env) {
        Ok(kv) => history::head(&kv, cluster).await,
        Err(problem) => Err(Fault::log(format!("{problem:?}"))),
    };
    let seen = Seen { shown: Some(shown), ..seen(core) };
    let health = match SqlLog::exists(&core.state.storage()) {
        Err(fault) => Some(health::of_fault(fault)),
        Ok(false) => health::of_nothing(&seen),
        Ok(true) => {
            core.open(cluster)?;
            if let Some(tombstone) = core.with(|cluster| cluster.tombstone())? {
                return Err(Problem::Deleted(tombstone.sentence(cluster)));
            }
            found(core, &seen)?
        }
    };
    match health {
        None if monitors => Err(Problem::Unauthorised),
        None => Err(unknown_cluster(cluster)),
        Some(health) => {
            let builder = ResponseBuilder::new().with_header("cache-control", "no-store")?;
            let builder = if health.state == Condition::Lost { builder.with_status(LOST) } else { builder };
            Ok(builder.from_json(&health)?)
        }
    }
}

/// How the cluster does, as far as it is known without asking KV.
pub(super) fn condition(core: &Core) -> Condition {
    match found(core, &seen(core)) {
        Ok(health) => health.map_or(Condition::Ok, |health| health.state),
        Err(_) => Condition::Lost,
    }
}

fn found(core: &Core, seen: &Seen) -> Result<Option<ClusterHealth>, Problem> {
    core.with(|cluster| Ok::<_, Problem>(cluster.health(seen, bindings::now())))
}

fn seen(core: &Core) -> Seen {
    Seen {
        shown: None,
        unpublished: core.unpublished.borrow().clone(),
        damage: core.damage.borrow().clone(),
        contacts: contacts::known(core),
        memory_bytes: bindings::memory_bytes(),
        stored_bytes: core.state.storage().sql().database_size() as u64,
    }
}

impl Core {
    /// Keeps in mind that something damaged was met.
    pub(super) fn note_damage(&self, problem: &Problem) {
        if let Problem::Damaged(what) | Problem::Incomplete(what) | Problem::Internal(what) = problem {
            self.damage.replace(Some((bindings::now(), what.clone())));
        }
    }
}
