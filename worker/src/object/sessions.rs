//! Sessions that were ended, and those that nobody uses any more.
//!
//! A session's token is not stored; it says itself when it ends. What is kept beside the log is that somebody has signed in
//! or out, and now and then that a session was used, until the token ends by itself. That is lost with the object: then a
//! session that was ended opens again what its key may, until it expires.
//!
//! An agent's session does not fall idle: it asks all the time, and who has nothing to say writes nothing. One with an open
//! socket is in use.

use engine::transition::Sender;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use pai::session::Session;
use protocol::answer::SignedOut;
use protocol::incident::Kind;
use serde::Deserialize;
use worker::Response;
use worker::SqlStorage;
use worker::SqlStorageValue;

use crate::access::Principal;
use crate::answer::Problem;
use crate::answer::Reply;
use crate::bindings;
use crate::object::core::Core;
use crate::object::core::Used;
use crate::proof::Proof;

/// How exactly the last use is known after the memory is lost.
const NOTED_EVERY: Millis = Millis(10 * Millis::MINUTE.0);
/// The close code for who is not let in any more.
const POLICY_VIOLATION: u16 = 1008;
/// How many sessions are remembered without asking the storage.
const REMEMBERED_MAX: usize = 10_000;
/// After how many slots sessions are dropped that have ended.
const SWEPT_EVERY: i64 = 60;
/// What stands in the table for a session that was ended.
const ENDED: i64 = -1;

#[derive(Deserialize)]
struct SessionRow {
    used: i64,
}

/// A session begins.
pub(super) fn begin(core: &Core, session: &Session) -> Result<(), Problem> {
    let Session { key, generation, expires } = session.clone();
    let name = Proof::Session { key, generation, expires }.text();
    write(core, &name, bindings::now().0, expires)
}

/// Refuses a session that was ended, or that nobody has used for long.
pub(super) fn check(core: &Core, principal: &Principal, proof: &Proof) -> Result<(), Problem> {
    let Proof::Session { expires, .. } = proof else { return Ok(()) };
    let name = proof.text();
    let used = used(core, &name)?.ok_or(Problem::Unauthorised)?;
    if principal.agent.is_some() {
        return Ok(());
    }
    let is_idle = bindings::now() - used.last > bindings::session_idle(&core.env);
    if is_idle && core.state.get_websockets_with_tag(&name).is_empty() {
        return Err(Problem::Unauthorised);
    }
    touch(core, name, used, *expires)
}

/// The session of an open socket is in use.
pub(super) fn keep(core: &Core, tag: &str) -> Result<(), Problem> {
    let Some(Proof::Session { expires, .. }) = Proof::read(tag) else { return Ok(()) };
    match used(core, tag)? {
        Some(used) => touch(core, tag.to_owned(), used, expires),
        None => Ok(()),
    }
}

/// When a session was used last; none if it was ended. One that nothing is known of any more is used now.
fn used(core: &Core, name: &str) -> Result<Option<Used>, Problem> {
    let remembered = core.sessions.borrow().get(name).copied();
    if let Some(used) = remembered {
        return Ok(used);
    }
    let rows: Vec<SessionRow> =
        table(core)?.exec("SELECT used FROM sessions WHERE session = ?", vec![name.into()])?.to_array()?;
    let at = rows.first().map_or(bindings::now().0, |row| row.used);
    Ok((at != ENDED).then_some(Used { last: Timestamp(at), written: Timestamp(at) }))
}

/// A session is in use. That is written now and then, more often where sessions end soon.
fn touch(core: &Core, name: String, mut used: Used, expires: Timestamp) -> Result<(), Problem> {
    used.last = bindings::now();
    if used.last - used.written >= NOTED_EVERY.min(Millis(bindings::session_idle(&core.env).0 / 2)) {
        write(core, &name, used.last.0, expires)?;
        used.written = used.last;
    }
    remember(core, name, Some(used));
    Ok(())
}

fn remember(core: &Core, name: String, used: Option<Used>) {
    let mut sessions = core.sessions.borrow_mut();
    if sessions.len() >= REMEMBERED_MAX {
        sessions.clear();
    }
    sessions.insert(name, used);
}

/// Ends the session with which this is asked. Who came in another way has none.
pub(super) fn end(core: &Core, sender: &Sender, proof: Option<&Proof>) -> Reply {
    let session = proof.filter(|proof| matches!(proof, Proof::Session { .. }));
    if let Some(proof @ Proof::Session { expires, .. }) = session {
        let name = proof.text();
        write(core, &name, ENDED, *expires)?;
        remember(core, name.clone(), None);
        core.note(Kind::SignedOut, sender.user.as_str(), "session");
        for socket in core.state.get_websockets_with_tag(&name) {
            // Who cannot be told has gone by themselves.
            let _ = socket.close(Some(POLICY_VIOLATION), Some("signed out"));
        }
    }
    Ok(Response::from_json(&SignedOut { ended: session.is_some() })?)
}

/// Drops sessions that have ended by themselves: once an hour, since all of them are looked at.
pub(super) fn sweep(core: &Core, slot: i64) -> Result<(), Problem> {
    if slot % SWEPT_EVERY == 0 {
        let now = SqlStorageValue::Integer(bindings::now().0);
        table(core)?.exec("DELETE FROM sessions WHERE expires < ?", vec![now])?;
    }
    Ok(())
}

fn write(core: &Core, name: &str, used: i64, expires: Timestamp) -> Result<(), Problem> {
    let sql = table(core)?;
    let number = SqlStorageValue::Integer;
    let values = vec![name.into(), number(used), number(expires.0)];
    sql.exec("INSERT OR REPLACE INTO sessions VALUES (?, ?, ?)", values)?;
    Ok(())
}

fn table(core: &Core) -> Result<SqlStorage, Problem> {
    let sql = core.state.storage().sql();
    sql.exec(
        "CREATE TABLE IF NOT EXISTS sessions (session TEXT PRIMARY KEY, used INTEGER NOT NULL, expires INTEGER NOT NULL) WITHOUT ROWID",
        None,
    )?;
    Ok(sql)
}
