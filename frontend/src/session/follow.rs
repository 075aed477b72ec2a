//! Follows a cluster: what happened since the snapshot, then what is pushed. Part of the console that is loaded later.

use std::collections::VecDeque;

use engine::host::replica::Taken;
use engine::message::envelope::CommandKind;
use engine::message::envelope::Entry;
use engine::message::event::Event;
use engine::unit::id::UserId;
use engine::unit::sort;
use leptos::prelude::*;

use crate::api::browser;
use crate::api::client;
use crate::api::events::Events;
use crate::api::failure::Failure;
use crate::session::Known;
use crate::session::Session;
use crate::session::link;
use crate::session::link::Open;
use console_model::freshness::Link;

/// How far back the list of rounds reaches when a cluster is opened.
const PAST_REVISIONS: u64 = 300;

/// Follows the events until the connection is lost. Says whether there was one.
pub(crate) async fn follow(session: Session, open: Open) -> bool {
    match connect(session, &open).await {
        Ok(Some(mut events)) => {
            session.link.set(Link::Live);
            session.is_following.set_value(true);
            while let Some(entry) = events.next().await {
                if !open.is_open() {
                    break;
                }
                let revision = entry.revision;
                if receive(session, entry) && reload(session, &open, revision).await.is_err() {
                    break;
                }
            }
            session.is_following.try_update_value(|is_following| *is_following = false);
            true
        }
        Ok(None) => false,
        Err(failure) => {
            if open.is_open() {
                link::fail(session, failure);
            }
            false
        }
    }
}

/// The events, and what happened between the state and them.
async fn connect(session: Session, open: &Open) -> Result<Option<Events>, Failure> {
    if !open.is_open() {
        return Ok(None);
    }
    let name = session.name();
    let Some(mut events) = Events::open(&name) else { return Ok(None) };
    let is_connected = events.is_connected().await;
    if !open.is_open() {
        return Ok(None);
    }
    // Why there is no connection a browser does not say; the answer to a request does.
    let is_somebody_new = session.me.with_untracked(Option::is_none);
    if !is_connected || is_somebody_new {
        let me = client::me(&name).await?;
        session.me.set(Some(me));
    }
    if is_somebody_new {
        // What is remembered is what the one before could see.
        session.entries.update(VecDeque::clear);
    }
    if !is_connected || !open.is_open() {
        return Ok(None);
    }
    if session.entries.with_untracked(VecDeque::is_empty) {
        remember_past(session, open).await;
    }
    catch_up(session, open).await?;
    Ok(open.is_open().then_some(events))
}

/// Takes in what happened since the state was fetched. KV may end before the log does, and is asked first; the object is
/// once the state is as new as KV, so the last answer has nothing in it.
async fn catch_up(session: Session, open: &Open) -> Result<(), Failure> {
    while open.is_open()
        && let Some(revision) = link::confirmed(session)
    {
        let answer = client::entries(&session.name(), revision).await;
        if !open.is_open() {
            break;
        }
        let entries = match answer {
            Err(Failure::Gone) => return reload(session, open, revision + 1).await,
            answer => answer?,
        };
        session.heard.set(browser::now());
        let Some(newest) = entries.last().map(|entry| entry.revision) else { break };
        if entries.into_iter().any(|entry| receive(session, entry)) {
            return reload(session, open, newest).await;
        }
    }
    Ok(())
}

/// Fetches the whole state, at least as new as `min_revision`, and the last rounds.
async fn reload(session: Session, open: &Open, min_revision: u64) -> Result<(), Failure> {
    link::load(session, open, min_revision).await?;
    remember_past(session, open).await;
    Ok(())
}

/// Fills the list of rounds. It is not needed to work; without it the page says that there is none.
async fn remember_past(session: Session, open: &Open) {
    let Some(revision) = link::confirmed(session) else { return };
    let name = session.name();
    let past = match client::entries(&name, revision.saturating_sub(PAST_REVISIONS)).await {
        Ok(entries) => Ok(entries),
        Err(_) => client::rounds(&name).await,
    };
    let mut past = past.unwrap_or_default();
    past.retain(|entry| entry.revision <= revision);
    sort::by_key(&mut past, |entry| entry.revision);
    for entry in past.into_iter().filter(|_| open.is_open()) {
        session.remember(entry);
    }
}

/// Whether an entry changes what whoever looks may see.
fn moves(session: Session, entry: &Entry<CommandKind>) -> bool {
    let is_me = |user: &UserId| {
        session.me.with_untracked(|me| me.as_ref().is_some_and(|me| me.user == *user && !me.administers))
    };
    entry
        .events
        .iter()
        .any(|event| matches!(event, Event::MemberPut { user, .. } | Event::MemberRemoved { user, .. } if is_me(user)))
}

/// Takes an entry in. Says whether the whole state is needed instead: something before the entry is missing, or whoever
/// looks gets into a workspace or out of it, and sees another state.
fn receive(session: Session, entry: Entry<CommandKind>) -> bool {
    session.heard.set(browser::now());
    if moves(session, &entry) {
        // What is remembered is as it was to be seen before.
        session.entries.update(VecDeque::clear);
        return true;
    }
    let mut has_gap = false;
    session.known.update(|known| {
        if let Known::Here(replica) = known {
            has_gap = replica.receive(&entry) == Taken::Gap;
        }
    });
    if !has_gap {
        session.remember(entry);
    }
    has_gap
}
