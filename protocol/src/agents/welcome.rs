//! How agents introduce themselves.

use agent::message::BadMessage;
use agent::message::FORMAT;
use agent::message::Hello;
use agent::message::NAME_BYTES_MAX;
use agent::message::Welcome;
use engine::state::world::State;
use engine::unit::time::Timestamp;

use crate::agents::books;
use crate::agents::contact::Contacts;
use crate::agents::contact::Identity;
use crate::agents::contact::Refused;
use crate::agents::contact::is_known;

/// Welcomes an agent: it has a number from now on, and every process before it has not.
pub(super) fn welcome(
    state: &State,
    contacts: &mut Contacts,
    who: &Identity,
    hello: &Hello,
    now: Timestamp,
) -> Result<Welcome, Refused> {
    let Hello { format, store } = hello;
    if !state.cluster.is_reported() {
        return Err(Refused::Simulated);
    }
    if *format != FORMAT {
        return Err(Refused::Message(BadMessage::Format(*format)));
    }
    if store.is_empty() || store.len() > NAME_BYTES_MAX || store.chars().any(char::is_control) {
        return Err(Refused::Message(BadMessage::Name("store")));
    }
    let contact = contacts.entry(who.name.clone()).or_default();
    if !contact.store.is_empty() && contact.store != *store {
        let runs = books::jobs_on(state, Some(contact)).count() + contact.strangers.len();
        // While it is not known what the first one has, it has something.
        if runs > 0 || !is_known(state, contact) {
            return Err(Refused::OtherStore { agent: who.name.clone(), runs });
        }
    }
    contact.store.clone_from(store);
    // The time is above every number that was given before, also when these are lost.
    let at = u64::try_from(now.0).unwrap_or_default();
    contact.incarnation = at.max(contact.incarnation.saturating_add(1));
    Ok(Welcome { format: FORMAT, incarnation: contact.incarnation })
}
