//! Access keys. Who may is judged before, by [`crate::transition::authorise`]. Nothing of it is inlined: a module without
//! people leaves it out by its names.

use crate::message::command::people::CreateKey;
use crate::message::command::people::RevokeKey;
use crate::message::command::people::RotateKey;
use crate::message::event::Event;
use crate::message::rejection::Noun;
use crate::message::rejection::Rejection;
use crate::state::world::State;
use crate::transition::names;
use crate::unit::id::GroupId;
use crate::unit::id::WorkspaceId;
use crate::unit::limit;
use crate::unit::time::Timestamp;
use crate::workspace::key::AccessKey;
use crate::workspace::key::KeyId;

#[inline(never)]
pub(super) fn create(state: &State, command: &CreateKey, now: Timestamp) -> Result<Vec<Event>, Rejection> {
    let CreateKey { key: id, user, administers, expires, serves, adopts } = command;
    let serves = served(state, command, serves)?;
    let adopts = adopted(state, command, adopts)?;
    if let Some(known) = state.keys.get(id) {
        let asked = AccessKey { serves, adopts, ..AccessKey::new(user.clone(), *administers, known.created, *expires) };
        return if (AccessKey { generation: known.generation, ..asked }) == *known {
            Ok(Vec::new())
        } else {
            Err(Rejection::Taken { noun: Noun::Key, name: id.to_string() })
        };
    }
    if let Some(end) = expires {
        let earliest = now.0.saturating_add(1);
        names::in_range("the end of the key in milliseconds since 1970", end.0, earliest, i64::MAX)?;
    }
    let theirs = state.keys.values().filter(|key| key.owner == *user && key.generations(now).next().is_some());
    let what = format_args!("keys of {user} (revoke one that is not needed)");
    names::within_limit(what, theirs.count() + 1, limit::KEYS_OF_USER_MAX)?;
    let mut events = make_room(state, now)?;
    let generation = state.forgotten_generation.map_or(1, |last| last.saturating_add(1));
    let key = AccessKey { generation, serves, adopts, ..AccessKey::new(user.clone(), *administers, now, *expires) };
    events.extend(put(id, now, key));
    Ok(events)
}

/// The groups that the key of an agent serves.
fn served(state: &State, command: &CreateKey, serves: &[GroupId]) -> Result<Vec<GroupId>, Rejection> {
    if !serves.is_empty() && command.administers {
        let reason = "the key of an agent does not administer; make two keys".to_owned();
        return Err(Rejection::Structure { reason });
    }
    let mut groups = serves.to_vec();
    groups.sort();
    groups.dedup();
    for group in &groups {
        let no = names::group(state, group)?;
        if state.groups[no.at()].pool.is_some() {
            let reason = format!("group {group} is a pool, which has no nodes for an agent; name a group of nodes");
            return Err(Rejection::Structure { reason });
        }
    }
    Ok(groups)
}

/// The workspaces for which the key of an agent adopts jobs.
fn adopted(state: &State, command: &CreateKey, adopts: &[WorkspaceId]) -> Result<Vec<WorkspaceId>, Rejection> {
    if !adopts.is_empty() && command.serves.is_empty() {
        let reason = "only the key of an agent adopts jobs; name the groups that it serves".to_owned();
        return Err(Rejection::Structure { reason });
    }
    let mut workspaces = adopts.to_vec();
    workspaces.sort();
    workspaces.dedup();
    workspaces.iter().try_for_each(|workspace| names::workspace(state, workspace).map(drop))?;
    Ok(workspaces)
}

/// Forgets the oldest key that serves no more, if there is no room for another one.
fn make_room(state: &State, now: Timestamp) -> Result<Vec<Event>, Rejection> {
    if state.keys.len() < limit::KEYS_MAX {
        return Ok(Vec::new());
    }
    let over = state.keys.iter().filter(|(_, key)| key.generations(now).next().is_none());
    if let Some((id, _)) = over.min_by_key(|(id, key)| (key.created, *id)) {
        return Ok(vec![Event::KeyForgotten { key: id.clone() }]);
    }
    let what = "access keys that serve (revoke those that are not needed)";
    names::within_limit(what, state.keys.len() + 1, limit::KEYS_MAX).map(|()| Vec::new())
}

#[inline(never)]
pub(super) fn rotate(state: &State, command: &RotateKey, now: Timestamp) -> Result<Vec<Event>, Rejection> {
    let RotateKey { key: id, overlap_ms } = command;
    let key = live(state, id, now)?;
    names::in_range("the overlap in milliseconds", overlap_ms.0, 0, limit::KEY_OVERLAP_MS_MAX)?;
    Ok(put(id, now, key.rotated(now, *overlap_ms)))
}

#[inline(never)]
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

#[cfg(test)]
mod tests {
    use super::create;
    use super::revoke;
    use crate::host::authority;
    use crate::message;
    use crate::message::command::people::CreateKey;
    use crate::message::command::people::RevokeKey;
    use crate::message::event::Event;
    use crate::message::rejection::Rejection;
    use crate::message::snapshot::Snapshot;
    use crate::state::world::State;
    use crate::transition::apply_all;
    use crate::unit::id::GroupId;
    use crate::unit::id::UserId;
    use crate::unit::limit;
    use crate::unit::time::Timestamp;
    use crate::workspace::key::AccessKey;
    use crate::workspace::key::KeyId;

    fn key(name: usize) -> KeyId {
        KeyId::new(&format!("demo.{name}")).unwrap()
    }

    /// As many keys as there may be; the later their names, the earlier they were made.
    fn full() -> State {
        let mut state = State::default();
        for name in 0..limit::KEYS_MAX {
            let user = UserId::new(&format!("user-{}", name % 1_000)).unwrap();
            let created = Timestamp(i64::try_from(limit::KEYS_MAX - name).unwrap());
            state.keys.insert(key(name), AccessKey::new(user, false, created, None));
        }
        state
    }

    fn asked(state: &State, name: usize) -> Result<Vec<Event>, Rejection> {
        let user = UserId::new("ann").unwrap();
        let command = CreateKey {
            key: key(name),
            user,
            administers: false,
            expires: None,
            serves: Vec::new(),
            adopts: Vec::new(),
        };
        create(state, &command, Timestamp(1_000_000))
    }

    #[test]
    fn keys_that_serve_are_limited() {
        let told = asked(&full(), 10_000).unwrap_err().to_string();
        assert_eq!(
            told,
            "10001 access keys that serve (revoke those that are not needed) are more than the 10000 allowed"
        );
    }

    #[test]
    fn an_agent_serves_groups_of_nodes_and_administers_nothing() {
        let mut state = State::default();
        for text in [
            r#"{"create_cluster":{"dimensions":[{"name":"gpu","kind":"gpu"}]}}"#,
            r#"{"put_group":{"group":"nodes","resource_type":"lingjun"}}"#,
            r#"{"put_group":{"group":"pool","resource_type":"lingjun","pool":{"gpu":1000}}}"#,
        ] {
            authority::step(&mut state, &message::read(text.as_bytes()).unwrap(), Timestamp(0)).unwrap();
        }
        let mut asked = |serves: &[&str], administers| {
            let serves = serves.iter().map(|group| GroupId::new(group).unwrap()).collect();
            let command = CreateKey {
                key: key(1),
                user: UserId::new("n1").unwrap(),
                administers,
                expires: None,
                serves,
                adopts: Vec::new(),
            };
            let events = create(&state, &command, Timestamp(1)).map_err(|rejection| rejection.to_string())?;
            apply_all(&mut state, &events);
            Ok::<_, String>(state.keys[&key(1)].serves.len())
        };
        let refused = |words: &str| Err(words.to_owned());
        assert_eq!(asked(&["nodes"], true), refused("the key of an agent does not administer; make two keys"));
        let pool = "group pool is a pool, which has no nodes for an agent; name a group of nodes";
        assert_eq!(asked(&["pool"], false), refused(pool));
        assert_eq!(asked(&["others"], false), refused("there is no resource group others"));
        assert_eq!(asked(&["nodes", "nodes"], false), Ok(1));
        assert_eq!(asked(&["nodes"], false), Ok(1), "asking again changes nothing");
    }

    #[test]
    fn keys_that_serve_no_more_make_room_and_their_secrets_never_come_back() {
        let mut state = full();
        for name in [7, 6_000, 500] {
            let revoked = revoke(&state, &RevokeKey { key: key(name) }, Timestamp(900_000)).unwrap();
            apply_all(&mut state, &revoked);
        }
        let mut old = state.keys[&key(6_000)].clone();
        old.generation = 4;
        state.keys.insert(key(6_000), old);
        let events = asked(&state, 10_000).unwrap();
        assert_eq!(
            events.first(),
            Some(&Event::KeyForgotten { key: key(6_000) }),
            "the oldest of those that serve no more"
        );
        apply_all(&mut state, &events);
        assert_eq!(state.keys.len(), limit::KEYS_MAX);

        // The name comes again, also after a restore.
        let mut state = Snapshot::of(&state).restore().unwrap();
        let events = asked(&state, 6_000).unwrap();
        apply_all(&mut state, &events);
        assert_eq!(state.keys[&key(6_000)].generation, 5);
        assert_eq!(asked(&state, 6_000), Ok(Vec::new()), "asking again changes nothing");
    }
}
