//! Keeps the replica up to date: a snapshot first, then what is pushed; after a lost connection, again.
//!
//! What reads and takes in pushed entries is loaded later: the first screen needs the snapshot alone.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;
use std::time::Duration;

use engine::host::replica::Replica;
use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api::browser;
use crate::api::client;
use crate::api::failure::Failure;
use crate::session::Known;
use crate::session::Session;
use console_model::freshness::Link;

/// The pauses between attempts to connect.
const PAUSES_MS: [u32; 5] = [500, 1_000, 2_000, 5_000, 10_000];

/// The part of a pause after which it may be cut short.
const SLICE_MS: u32 = 100;

/// What follows the events until the connection is lost. Says whether there was one.
pub(crate) type Follow = fn(Session, Open) -> Pin<Box<dyn Future<Output = bool>>>;

/// Fetches what follows; nothing if it cannot be loaded.
pub(crate) type LoadFollow = fn() -> Pin<Box<dyn Future<Output = Option<Follow>>>>;

/// Whether the session is still the one on the screen.
#[derive(Clone)]
pub(crate) struct Open(Arc<AtomicBool>);

impl Open {
    pub(crate) fn is_open(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// How an attempt to follow the cluster ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ended {
    /// There was a connection, and it was lost.
    Lost,
    /// There was none.
    Unconnected,
    /// The part of the console that follows cannot be loaded.
    Incomplete,
}

impl Ended {
    fn link(self) -> Link {
        match self {
            _ if !browser::is_online() => Link::Offline,
            Self::Lost | Self::Unconnected => Link::Reconnecting,
            Self::Incomplete => Link::Incomplete,
        }
    }
}

/// Opens a cluster and keeps it up to date until the current owner is disposed of.
pub(crate) fn open(cluster: &str, load_follow: LoadFollow) -> Session {
    let session = Session::new(cluster);
    keep(session, load_follow);
    session.keep_moments();
    session
}

fn keep(session: Session, load_follow: LoadFollow) {
    let open = Open(Arc::new(AtomicBool::new(true)));
    let closing = open.clone();
    on_cleanup(move || closing.0.store(false, Ordering::Relaxed));
    if let Ok(clock) = set_interval_with_handle(move || session.now.set(browser::now()), Duration::from_secs(1)) {
        on_cleanup(move || clock.clear());
    }
    watch_network(session);
    spawn_local(async move {
        let mut n_failed = 0;
        let mut ended = Ended::Unconnected;
        while open.is_open() {
            ended = attempt(session, &open, load_follow, ended).await;
            if !open.is_open() {
                break;
            }
            if ended == Ended::Lost {
                n_failed = 0;
            }
            lose(session, ended.link());
            n_failed =
                if pause(session, PAUSES_MS[n_failed.min(PAUSES_MS.len() - 1)]).await { 0 } else { n_failed + 1 };
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

/// Shows the state, then follows the events until the connection is lost. Who cannot follow reads the state each time.
async fn attempt(session: Session, open: &Open, load_follow: LoadFollow, before: Ended) -> Ended {
    if (before == Ended::Incomplete || confirmed(session).is_none())
        && let Err(failure) = load(session, open, 0).await
    {
        if open.is_open() {
            fail(session, failure);
        }
        return Ended::Unconnected;
    }
    match load_follow().await {
        Some(follow) if follow(session, open.clone()).await => Ended::Lost,
        Some(_) => Ended::Unconnected,
        None => Ended::Incomplete,
    }
}

/// The confirmed revision; nothing once the cluster has been left.
pub(crate) fn confirmed(session: Session) -> Option<u64> {
    session.known.try_with_untracked(Known::revision).flatten()
}

/// Fetches the whole state, at least as new as `min_revision`.
pub(crate) async fn load(session: Session, open: &Open, min_revision: u64) -> Result<(), Failure> {
    let snapshot = client::snapshot(&session.name(), min_revision).await?;
    if !open.is_open() {
        return Ok(());
    }
    let replica = Replica::new(snapshot)
        .map_err(|_| Failure::Unreadable("the state is of another format or does not fit together".to_owned()))?;
    session.known.set(Known::Here(Box::new(replica)));
    session.heard.set(browser::now());
    Ok(())
}

/// Shows a failure, unless there is a state to show that is merely old.
pub(crate) fn fail(session: Session, failure: Failure) {
    let is_here = session.known.with_untracked(|known| matches!(known, Known::Here(_)));
    if !is_here || failure == Failure::NoKey {
        session.known.set(Known::Failed(failure));
    }
}
