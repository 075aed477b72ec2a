//! Who sends a request, and whether they may. Deny by default: a call that is not named here reaches nobody.

use engine::message::rejection::Noun;
use engine::message::rejection::Rejection;
use engine::state::world::State;
use engine::transition::Sender;
use engine::transition::may_on_cluster;
use engine::transition::may_see;
use engine::unit::id::JobId;
use engine::unit::id::UserId;
use engine::unit::time::Timestamp;
use engine::workspace::key::KeyId;
use protocol::agents::contact::Identity;
use protocol::route::Who;

use crate::answer::Problem;
use crate::bindings;
use crate::proof::Proof;

/// The name of whoever knows `ADMIN_KEY`, in the log.
const ROOT: &str = "administrator";

/// Somebody who has been let in.
#[derive(Clone, Debug)]
pub(crate) struct Principal {
    pub(crate) sender: Sender,
    /// The access key that they came with, if they did.
    pub(crate) key: Option<KeyId>,
    /// The agent that they are, if it is an agent's key.
    pub(crate) agent: Option<Identity>,
}

/// Whoever knows `ADMIN_KEY`.
pub(crate) fn root() -> Result<Sender, Problem> {
    let user = UserId::new(ROOT).map_err(|error| Problem::Internal(error.to_string()))?;
    Ok(Sender { user, administers: true })
}

/// Whoever knows `MONITOR_KEY`, who is a member of nothing.
pub(crate) fn monitor() -> Result<Sender, Problem> {
    let user = UserId::new("monitor").map_err(|error| Problem::Internal(error.to_string()))?;
    Ok(Sender { user, administers: false })
}

/// Who administers every cluster, whatever its log says.
pub(crate) fn administrator(proof: Option<&Proof>) -> Option<Principal> {
    let principal = principal(&State::default(), proof?, bindings::now()).ok()?;
    principal.sender.administers.then_some(principal)
}

/// Who has proved that, as the state has it now: a session ends with its key.
pub(crate) fn principal(state: &State, proof: &Proof, now: Timestamp) -> Result<Principal, Problem> {
    let is_over = |expires: Timestamp| expires <= now;
    match proof {
        Proof::Root => Ok(Principal { sender: root()?, key: None, agent: None }),
        // It sends nothing, and what it may read is read without a principal.
        Proof::Monitor => Err(Problem::Unauthorised),
        Proof::Session { expires, .. } | Proof::Access { expires, .. } if is_over(*expires) => {
            Err(Problem::Unauthorised)
        }
        Proof::Session { key, generation, expires: _ } => {
            let known = state.keys.get(key).ok_or(Problem::Unauthorised)?;
            if !known.generations(now).any(|serving| serving == *generation) {
                return Err(Problem::Unauthorised);
            }
            of_key(state, key)
        }
        Proof::Access { user, administers, expires: _ } => {
            let sender = Sender { user: user.clone(), administers: *administers };
            Ok(Principal { sender, key: None, agent: None })
        }
    }
}

/// The holder of a key that has been proved to serve.
pub(crate) fn of_key(state: &State, id: &KeyId) -> Result<Principal, Problem> {
    let key = state.keys.get(id).ok_or(Problem::Unauthorised)?;
    let sender = Sender { user: key.owner.clone(), administers: key.administers };
    let name = id.as_str().split_once('.').map_or("", |(_, name)| name);
    let (user, serves, adopts) = (&key.owner, key.serves.clone(), key.adopts.clone());
    let identity = || Identity { name: name.to_owned(), user: user.clone(), serves, adopts };
    Ok(Principal { sender, key: Some(id.clone()), agent: key.is_agent().then(identity) })
}

/// Whether they may ask for something; of a job or an agent, by its name.
pub(crate) fn admit(state: &State, principal: &Principal, who: Who, name: &str) -> Result<(), Problem> {
    let Principal { sender, key: _, agent } = principal;
    match (who, agent) {
        (Who::Agent, Some(agent)) if agent.name == name => return Ok(()),
        (Who::Agent, Some(agent)) => return Err(Problem::OtherAgent(agent.name.clone())),
        (Who::Agent, None) => return Err(Problem::NoAgent),
        // What it runs may have got hold of its key.
        (_, Some(agent)) => return Err(Problem::OnlyAgent(agent.name.clone())),
        (_, None) => {}
    }
    match who {
        // Everybody may know who they are and which keys they have, and hear why a command of theirs is refused.
        Who::Known => Ok(()),
        Who::SeesJob => {
            let unknown = || Rejection::Unknown { noun: Noun::Job, name: name.to_owned() };
            let id = JobId::new(name).map_err(|_| unknown())?;
            Ok(may_see(state, sender, &id)?)
        }
        Who::May(operation) => Ok(may_on_cluster(state, sender, operation)?),
        // The clock does not come this way, and a session is opened before anybody is known.
        Who::Anybody | Who::Clock | Who::Agent => Err(Problem::NoRoute),
    }
}
