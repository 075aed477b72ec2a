//! Keeps the replica up to date: a snapshot first, then what is pushed; after a gap or a lost connection, again.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;
use std::time::Duration;

use engine::host::replica::Replica;
use engine::host::replica::Taken;
use engine::message::envelope::Deed;
use engine::message::envelope::Entry;
use engine::unit::sort;
use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api::browser;
use crate::api::client;
use crate::api::events::Events;
use crate::api::failure::Failure;
use crate::session::Known;
use crate::session::Session;
use console_model::freshness::Link;

/// How far back the list of rounds reaches when a cluster is opened.
const PAST_REVISIONS: u64 = 300;

/// The pauses between attempts to connect.
const PAUSES_MS: [u32; 5] = [500, 1_000, 2_000, 5_000, 10_000];

/// The part of a pause after which it may be cut short.
const SLICE_MS: u32 = 100;

/// Whether the session is still the one on the screen.
#[derive(Clone)]
struct Open(Arc<AtomicBool>);

impl Open {
    fn is_open(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Keeps a session up to date until its owner is disposed of.
pub(crate) fn keep(session: Session) {
    let open = Open(Arc::new(AtomicBool::new(true)));
    let closing = open.clone();
    on_cleanup(move || closing.0.store(false, Ordering::Relaxed));
    if let Ok(clock) = set_interval_with_handle(move || session.now.set(browser::now()), Duration::from_secs(1)) {
        on_cleanup(move || clock.clear());
    }
    watch_network(session);
    spawn_local(async move {
        let mut attempt = 0;
        while open.is_open() {
            if follow(session, &open).await {
                attempt = 0;
            }
            if !open.is_open() {
                break;
            }
            lose(session, if browser::is_online() { Link::Reconnecting } else { Link::Offline });
            attempt = if pause(session, PAUSES_MS[attempt.min(PAUSES_MS.len() - 1)]).await { 0 } else { attempt + 1 };
        }
    });
}

/// Shows at once that there is no network, and looks again as soon as there is one.
fn watch_network(session: Session) {
    let gone = window_event_listener(leptos::ev::offline, move |_| lose(session, Link::Offline));
    let back = window_event_listener(leptos::ev::online, move |_| {
        // A connection that has survived is live again; one that has not is made anew.
        session.link.set(if session.is_following.get_value() { Link::Live } else { Link::Reconnecting });
        session.look_again();
    });
    on_cleanup(move || {
        gone.remove();
        back.remove();
    });
}

/// Notes that nothing more is heard. The age of what is shown counts from here.
fn lose(session: Session, link: Link) {
    if session.link.get_untracked() == Link::Live {
        session.heard.set(browser::now());
    }
    session.link.set(link);
}

/// Waits, unless somebody wants to look again at once. Says whether somebody did.
async fn pause(session: Session, ms: u32) -> bool {
    for _ in 0..ms / SLICE_MS {
        TimeoutFuture::new(SLICE_MS).await;
        if session.is_asked.try_update_value(std::mem::take).unwrap_or(false) {
            return true;
        }
    }
    false
}

/// Loads what is missing and follows the events until the connection is lost. Says whether there was one.
async fn follow(session: Session, open: &Open) -> bool {
    match connect(session, open).await {
        Ok(Some(mut events)) => {
            session.link.set(Link::Live);
            session.is_following.set_value(true);
            while let Some(entry) = events.next().await {
                if !open.is_open() {
                    break;
                }
                let revision = entry.revision;
                if receive(session, entry) && reload(session, open, revision).await.is_err() {
                    break;
                }
            }
            session.is_following.try_update_value(|is_following| *is_following = false);
            true
        }
        Ok(None) => false,
        Err(failure) => {
            if open.is_open() {
                fail(session, failure);
            }
            false
        }
    }
}

/// The state first, then the events, then what happened between the two.
async fn connect(session: Session, open: &Open) -> Result<Option<Events>, Failure> {
    if confirmed(session).is_none() {
        reload(session, open, 0).await?;
    }
    if !open.is_open() {
        return Ok(None);
    }
    let Some(mut events) = Events::open(&session.name()) else { return Ok(None) };
    if !events.is_connected().await {
        return Ok(None);
    }
    let Some(revision) = confirmed(session).filter(|_| open.is_open()) else { return Ok(None) };
    match client::entries(&session.name(), revision).await {
        Ok(entries) if open.is_open() => {
            session.heard.set(browser::now());
            for entry in entries {
                let revision = entry.revision;
                if receive(session, entry) {
                    reload(session, open, revision).await?;
                    break;
                }
            }
        }
        Ok(_) => return Ok(None),
        Err(Failure::Gone) => reload(session, open, revision + 1).await?,
        Err(failure) => return Err(failure),
    }
    Ok(Some(events))
}

/// The confirmed revision.
fn confirmed(session: Session) -> Option<u64> {
    session.known.with_untracked(|known| match known {
        Known::Here(replica) => Some(replica.revision()),
        Known::Loading | Known::Failed(_) => None,
    })
}

/// Fetches the whole state, at least as new as `min_revision`, and the last rounds.
async fn reload(session: Session, open: &Open, min_revision: u64) -> Result<(), Failure> {
    let name = session.name();
    let snapshot = client::snapshot(&name, min_revision).await?;
    if !open.is_open() {
        return Ok(());
    }
    let revision = snapshot.revision;
    let replica = Replica::new(snapshot).map_err(Failure::Refused)?;
    session.known.set(Known::Here(Box::new(replica)));
    session.heard.set(browser::now());
    let past = match client::entries(&name, revision.saturating_sub(PAST_REVISIONS)).await {
        Ok(entries) => Ok(entries),
        Err(_) => client::rounds(&name).await,
    };
    // The list of rounds is not needed to work; without it the page says that there is none.
    let mut past = past.unwrap_or_default();
    sort::by_key(&mut past, |entry| entry.revision);
    for entry in past.into_iter().filter(|_| open.is_open()) {
        session.remember(entry);
    }
    Ok(())
}

/// Takes an entry in. Says whether something before it is missing.
fn receive(session: Session, entry: Entry<Deed>) -> bool {
    session.heard.set(browser::now());
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

/// Shows a failure, unless there is a state to show that is merely old.
fn fail(session: Session, failure: Failure) {
    let is_here = session.known.with_untracked(|known| matches!(known, Known::Here(_)));
    if !is_here || failure == Failure::NoKey {
        session.known.set(Known::Failed(failure));
    }
}
