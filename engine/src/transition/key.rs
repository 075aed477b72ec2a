//! Access keys. Who may is judged before, by [`crate::transition::authorise`].

use crate::message::command::people::CreateKey;
use crate::message::command::people::RevokeKey;
use crate::message::command::people::RotateKey;
use crate::message::event::Event;
use crate::message::rejection::Noun;
use crate::message::rejection::Rejection;
use crate::state::world::State;
use crate::transition::names;
use crate::unit::limit;
use crate::unit::time::Timestamp;
use crate::workspace::key::AccessKey;
use crate::workspace::key::KeyId;

pub(super) fn create(state: &State, command: &CreateKey, now: Timestamp) -> Result<Vec<Event>, Rejection> {
    let CreateKey { key: id, user, administers, expires } = command;
    if let Some(known) = state.keys.get(id) {
        let asked = AccessKey::new(user.clone(), *administers, known.created, *expires);
        return if asked == *known {
            Ok(Vec::new())
        } else {
            Err(Rejection::Taken { noun: Noun::Key, name: id.to_string() })
        };
    }
    if let Some(end) = expires {
        let earliest = now.0.saturating_add(1);
        names::in_range("the end of the key in milliseconds since 1970", end.0, earliest, i64::MAX)?;
    }
    names::within_limit("access keys", state.keys.len() + 1, limit::KEYS_MAX)?;
    let theirs = state.keys.values().filter(|key| key.owner == *user && key.generations(now).next().is_some());
    names::within_limit(format_args!("keys of {user}"), theirs.count() + 1, limit::KEYS_OF_USER_MAX)?;
    Ok(put(id, now, AccessKey::new(user.clone(), *administers, now, *expires)))
}

pub(super) fn rotate(state: &State, command: &RotateKey, now: Timestamp) -> Result<Vec<Event>, Rejection> {
    let RotateKey { key: id, overlap_ms } = command;
    let key = live(state, id, now)?;
    names::in_range("the overlap in milliseconds", overlap_ms.0, 0, limit::KEY_OVERLAP_MS_MAX)?;
    Ok(put(id, now, key.rotated(now, *overlap_ms)))
}

pub(super) fn revoke(state: &State, command: &RevokeKey, now: Timestamp) -> Result<Vec<Event>, Rejection> {
    let RevokeKey { key: id } = command;
    let key = names::key(state, id)?;
    if key.is_revoked {
        return Ok(Vec::new());
    }
    Ok(put(id, now, AccessKey { is_revoked: true, ..key.clone() }))
}

fn put(id: &KeyId, at: Timestamp, is_now: AccessKey) -> Vec<Event> {
    vec![Event::KeyPut { key: id.clone(), at, is_now }]
}

fn live<'a>(state: &'a State, id: &KeyId, now: Timestamp) -> Result<&'a AccessKey, Rejection> {
    let key = names::key(state, id)?;
    if key.generations(now).next().is_some() {
        return Ok(key);
    }
    let reason = "has been revoked or has expired; create another one".to_owned();
    Err(Rejection::NotNow { noun: Noun::Key, name: id.to_string(), reason })
}
