//! Access keys in the object: sessions, the secret that is shown once, when a key was last used, and how fast it goes.
//!
//! Which keys there are is part of the state. When one was last used is kept beside the log, in the table `uses`, and
//! written at most once a minute; it is lost with the object, and nothing else is.

use engine::message::command::Command;
use engine::message::envelope::Receipt;
use engine::message::event::Event;
use engine::message::rejection::Rejection;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use engine::workspace::key::AccessKey;
use engine::workspace::key::KeyId;
use pai::key::Secret;
use pai::session::Session;
use protocol::answer::Credentials;
use protocol::answer::KeyShown;
use protocol::answer::Me;
use protocol::answer::OpenedSession;
use protocol::incident::Kind;
use protocol::name::ClusterName;
use serde::Deserialize;
use worker::Headers;
use worker::Request;
use worker::Response;
use worker::SqlStorage;
use worker::SqlStorageValue;

use crate::access;
use crate::access::Principal;
use crate::answer::Problem;
use crate::answer::Reply;
use crate::bindings;
use crate::gate;
use crate::gate::NETWORK_HEADER;
use crate::object::core::Core;
use crate::object::sessions;
use crate::proof::Proof;

/// The header of an answer in which a new secret is shown, this one time.
const SECRET_HEADER: &str = "x-tidegate-secret";
/// The header for the security token of a temporary key.
const TOKEN_HEADER: &str = "x-tidegate-security-token";
/// How exactly the last use is known.
const NOTED_EVERY: Millis = Millis::MINUTE;

#[derive(Deserialize)]
struct UseRow {
    key: String,
    at: i64,
}

/// Opens a session for whoever shows a key's secret. Who shows wrong ones is told to wait, by the network that they come
/// from: the key's owner comes from elsewhere. Where the runtime does not tell where a request comes from, nobody is held
/// to account for somebody else.
pub(super) async fn open_session(core: &Core, cluster: &ClusterName, mut request: Request) -> Reply {
    let (network, now) = (request.headers().get(NETWORK_HEADER)?, bindings::now());
    if let Some(network) = &network {
        core.failures.borrow().check(network, now).map_err(Problem::TooMany)?;
    }
    let shown: Credentials = engine::message::read(&request.bytes().await?)?;
    let name = shown.key.clone();
    let opened = open(core, cluster, shown, now);
    if let Err(Problem::Unauthorised | Problem::Revoked(_)) = &opened {
        keep_out(core, network.as_deref(), &name)?;
        if let Some(network) = network {
            core.failures.borrow_mut().take(network, now).map_err(Problem::TooMany)?;
        }
    }
    opened
}

/// Notes a wrong secret, with the key's name if there is such a key: other names are anybody's.
pub(super) fn keep_out(core: &Core, network: Option<&str>, name: &str) -> Result<(), Problem> {
    core.n_kept_out.set(core.n_kept_out.get() + 1);
    let is_known = |id: &KeyId| core.with(|cluster| cluster.with_state(|state| state.keys.contains_key(id)));
    let is_known = KeyId::new(name).as_ref().map(is_known).transpose()?.unwrap_or(false);
    let what = if is_known { name } else { "no such key" };
    core.note(Kind::WrongSecret, network.unwrap_or_default(), what.to_owned());
    Ok(())
}

fn open(core: &Core, cluster: &ClusterName, shown: Credentials, now: Timestamp) -> Reply {
    let Credentials { key, secret } = shown;
    let master = bindings::master(&core.env)?;
    let id = KeyId::new(&key).filter(|id| gate::is_of(id, cluster)).ok_or(Problem::Unauthorised)?;
    let opened = core.with(|cluster| {
        cluster.with_state(|state| {
            let key = state.keys.get(&id)?;
            // Who has its secret is told that it was revoked: an agent ends by that, and by nothing that may be otherwise soon.
            let unrevoked = AccessKey { is_revoked: false, ..key.clone() };
            let session = Session::open(&master, &id, &unrevoked, &Secret::new(&secret), now)?;
            Some((session, key.owner.clone(), key.administers, key.is_revoked))
        })
    })?;
    let (session, user, administers, is_revoked) = opened.ok_or(Problem::Unauthorised)?;
    if is_revoked {
        return Err(Problem::Revoked(id));
    }
    // Only now: knowing a key's name alone does not use up what its owner has.
    count(core, id.to_string(), now)?;
    core.sign_ins.borrow_mut().take(id.clone(), now).map_err(Problem::TooMany)?;
    note_use(core, &id, now)?;
    sessions::begin(core, &session)?;
    core.n_signed_in.set(core.n_signed_in.get() + 1);
    core.note(Kind::SignedIn, user.as_str(), id.as_str().to_owned());
    let token = session.token(&master);
    let token = token.reveal().to_owned();
    Ok(Response::from_json(&OpenedSession { token, user, administers, expires: session.expires })?)
}

/// Who the sender is.
pub(super) fn me(principal: Principal) -> Me {
    let Principal { sender, key, agent: _ } = principal;
    Me { user: sender.user, administers: sender.administers, key }
}

/// The sender's keys, or all of them for an administrator.
pub(super) fn list(core: &Core, principal: &Principal) -> Result<Vec<KeyShown>, Problem> {
    let rows: Vec<UseRow> = table(core)?.exec("SELECT key, at FROM uses", None)?.to_array()?;
    let used = |id: &KeyId| rows.iter().find(|row| row.key == id.as_str()).map(|row| Timestamp(row.at));
    let sender = &principal.sender;
    core.with(|cluster| {
        cluster.with_state(|state| {
            let is_shown = |(_, key): &(&KeyId, &AccessKey)| sender.administers || key.owner == sender.user;
            let shown = state.keys.iter().filter(is_shown);
            shown.map(|(id, key)| KeyShown { key: id.clone(), last_used: used(id), is_now: key.clone() }).collect()
        })
    })
}

/// Keys are named after their cluster, so that a request that names none finds its way, and because all clusters share
/// a master secret: a key of another name would have the secret of another cluster's key.
pub(super) fn check_name(command: &Command, cluster: &ClusterName) -> Result<(), Problem> {
    if let Command::ApplyPlan(plan) = command {
        return plan.commands.iter().try_for_each(|command| check_name(command, cluster));
    }
    if let Command::CreateKey(command) = command
        && !gate::is_of(&command.key, cluster)
    {
        let reason = format!("the name of a key of this cluster begins with \"{cluster}.\"; choose another one");
        return Err(Rejection::Structure { reason }.into());
    }
    Ok(())
}

/// The key of which a command has made a new secret. A key that is asked for again has the secret that it had, which
/// nobody is shown: rotate the key instead.
pub(super) fn made(command: &Command, receipt: &Receipt) -> Option<KeyId> {
    if !matches!(command, Command::CreateKey(_) | Command::RotateKey(_)) {
        return None;
    }
    receipt.events.iter().find_map(|event| if let Event::KeyPut { key, .. } = event { Some(key.clone()) } else { None })
}

/// Shows a secret that has just been made.
pub(super) fn show_secret(core: &Core, cluster: &ClusterName, id: &KeyId, headers: &Headers) -> Result<(), Problem> {
    let known = core.with(|cluster| cluster.with_state(|state| state.keys.get(id).cloned()))?;
    // A key that came with the state of another cluster is rotated there.
    let Some(key) = known.filter(|_| gate::is_of(id, cluster)) else { return Ok(()) };
    let master = bindings::master(&core.env)?;
    headers.set(SECRET_HEADER, master.secret(id, key.generation).reveal())?;
    if key.expires.is_some() {
        headers.set(TOKEN_HEADER, master.security_token(id, key.generation).reveal())?;
    }
    Ok(())
}

/// Counts a request, and notes that its key was used; refuses when there are too many.
pub(super) fn admit(core: &Core, principal: &Principal) -> Result<(), Problem> {
    let now = bindings::now();
    if let Some(name) = rated(principal) {
        count(core, name, now)?;
    }
    let Some(key) = &principal.key else { return Ok(()) };
    // An agent asks all the time, and who has nothing to say writes nothing: of its key it is known when a session began.
    if principal.agent.is_some() { Ok(()) } else { note_use(core, key, now) }
}

fn count(core: &Core, name: String, now: Timestamp) -> Result<(), Problem> {
    core.rates.borrow_mut().take(name, now).map_err(Problem::TooMany)
}

/// Counts what a read has cost beyond the request that it is.
pub(super) fn charge(core: &Core, principal: &Principal, requests: i64) {
    if let Some(name) = rated(principal) {
        core.rates.borrow_mut().charge(name, requests, bindings::now());
    }
}

/// The front tells what a read has cost that it has answered.
pub(super) async fn settle(core: &Core, mut request: Request) -> Reply {
    let text = request.text().await?;
    let told = text.split_once(' ').and_then(|(requests, rated)| Some((requests.parse().ok()?, rated.to_owned())));
    let (requests, rated) = told.ok_or(Problem::NoRoute)?;
    core.rates.borrow_mut().charge(rated, requests, bindings::now());
    Ok(Response::empty()?)
}

/// Under which name requests are counted: that of the key, or of the person whom the team vouches for. Administrators who
/// come without a key answer for themselves.
pub(super) fn rated(principal: &Principal) -> Option<String> {
    match &principal.key {
        Some(key) => Some(key.to_string()),
        // No name of a key has a space.
        None => (!principal.sender.administers).then(|| format!("user {}", principal.sender.user)),
    }
}

fn note_use(core: &Core, key: &KeyId, now: Timestamp) -> Result<(), Problem> {
    let mut noted = core.noted.borrow_mut();
    if noted.get(key).is_some_and(|at| now - *at < NOTED_EVERY) {
        return Ok(());
    }
    let values = vec![key.as_str().into(), SqlStorageValue::Integer(now.0)];
    table(core)?.exec("INSERT OR REPLACE INTO uses VALUES (?, ?)", values)?;
    noted.insert(key.clone(), now);
    Ok(())
}

/// Drops what was noted of a key: another one may get its name.
pub(super) fn forget(core: &Core, key: &KeyId) -> Result<(), Problem> {
    core.noted.borrow_mut().remove(key);
    table(core)?.exec("DELETE FROM uses WHERE key = ?", vec![key.as_str().into()])?;
    Ok(())
}

fn table(core: &Core) -> Result<SqlStorage, Problem> {
    let sql = core.state.storage().sql();
    sql.exec("CREATE TABLE IF NOT EXISTS uses (key TEXT PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID", None)?;
    Ok(sql)
}

/// Who sends a request that the front has handed on, if they still are who they were.
pub(super) fn principal(core: &Core, proof: Option<&Proof>) -> Result<Principal, Problem> {
    let proof = proof.ok_or(Problem::Unauthorised)?;
    let now = bindings::now();
    let principal = core.with(|cluster| cluster.with_state(|state| access::principal(state, proof, now)))??;
    sessions::check(core, &principal, proof)?;
    admit(core, &principal)?;
    Ok(principal)
}
