//! What is kept of agents: a row of the table `agents` each, written in the same step as the log when it has changed.

use engine::state::world::State;
use protocol::agents::contact::Contact;
use protocol::agents::contact::Contacts;
use protocol::agents::contact::Identity;
use protocol::cluster::Cluster;
use protocol::log::decode;
use protocol::log::encode;
use serde::Deserialize;
use worker::SqlStorage;

use crate::access;
use crate::answer::Problem;
use crate::bindings;
use crate::object::core::Core;
use crate::proof::Proof;
use crate::storage::SqlLog;

#[derive(Deserialize)]
struct ContactRow {
    name: String,
    contact: String,
}

/// The tag of sockets on which agents are told to ask.
pub(super) const BELL: &str = "bell";

pub(super) fn bell_of(agent: &str) -> String {
    format!("{BELL} {agent}")
}

/// The agent whose bell has this tag, if its key still serves.
pub(super) fn of_bell(state: &State, tag: &str) -> Option<Identity> {
    access::principal(state, &Proof::read(tag)?, bindings::now()).ok()?.agent
}

/// What is kept of agents; nothing where it cannot be read.
pub(super) fn known(core: &Core) -> Contacts {
    let kept = core.contacts.borrow().clone();
    kept.unwrap_or_else(|| read(&sql(core)).unwrap_or_default())
}

/// Reads with what is kept of agents. The work cannot await.
pub(super) fn with_contacts<T>(
    core: &Core,
    work: impl FnOnce(&mut Cluster<SqlLog>, &Contacts) -> Result<T, Problem>,
) -> Result<T, Problem> {
    let contacts = taken(core)?;
    let worked = core.with(|cluster| work(cluster, &contacts));
    core.contacts.replace(Some(contacts));
    worked
}

/// Works on what is kept of agents. The work cannot await; after a fault it is read anew.
pub(super) fn change_contacts<T>(
    core: &Core,
    work: impl FnOnce(&mut Cluster<SqlLog>, &mut Contacts) -> Result<T, Problem>,
) -> Result<T, Problem> {
    let before = taken(core)?;
    let mut contacts = before.clone();
    let worked = core.with(|cluster| work(cluster, &mut contacts))?;
    let sql = sql(core);
    for (name, contact) in contacts.iter().filter(|(name, contact)| before.get(*name) != Some(contact)) {
        let values = vec![name.as_str().into(), encode(contact)?.into()];
        sql.exec("INSERT OR REPLACE INTO agents VALUES (?, ?)", values)?;
    }
    core.contacts.replace(Some(contacts));
    Ok(worked)
}

/// What is kept of agents. Until it is put back, others read it anew.
fn taken(core: &Core) -> Result<Contacts, Problem> {
    core.contacts.take().map_or_else(|| read(&sql(core)), Ok)
}

pub(super) fn sql(core: &Core) -> SqlStorage {
    core.state.storage().sql()
}

fn read(sql: &SqlStorage) -> Result<Contacts, Problem> {
    let rows: Vec<ContactRow> = sql.exec("SELECT name, contact FROM agents", None)?.to_array()?;
    let contact = |row: ContactRow| {
        let contact: Contact = decode("what is kept of an agent", &row.contact)?;
        Ok((row.name, contact))
    };
    rows.into_iter().map(contact).collect()
}
