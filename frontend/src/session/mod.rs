//! The open cluster: a replica of its state, the commands on their way, and the connection.
//!
//! One `Session` is in the context of every page. Pages read the state through it and send commands through it.

pub(crate) mod agents;
pub(crate) mod cancel;
pub(crate) mod draft;
pub(crate) mod follow;
pub(crate) mod latest;
pub(crate) mod link;
pub(crate) mod may;
pub(crate) mod notices;
pub(crate) mod plan;
mod plan_told;
pub(crate) mod send;
pub(crate) mod theme;
pub(crate) mod under_way;
pub(crate) mod url;

use std::collections::BTreeSet;
use std::collections::VecDeque;
use std::sync::Arc;

use engine::host::replica::Replica;
use engine::message::envelope::CommandKind;
use engine::message::envelope::Entry;
use engine::state::world::State;
use engine::transition::Sender;
use engine::unit::id::JobId;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use leptos::prelude::*;

use crate::api::browser;
use crate::api::failure::Failure;
use crate::session::notices::Notices;
use console_model::books::Books;
use console_model::freshness::Freshness;
use console_model::freshness::Link;

/// Entries that the list of rounds remembers.
const ENTRIES_KEPT: usize = 200;

/// What is known of the cluster.
pub(crate) enum Known {
    /// Its state is on its way.
    Loading,
    /// It cannot be shown, and why.
    Failed(Failure),
    /// It is here.
    Here(Box<Replica>),
}

impl Known {
    /// The confirmed revision.
    fn revision(&self) -> Option<u64> {
        match self {
            Self::Here(replica) => Some(replica.revision()),
            Self::Loading | Self::Failed(_) => None,
        }
    }
}

/// The open cluster.
#[derive(Clone, Copy)]
pub(crate) struct Session {
    /// The cluster's name.
    pub(crate) cluster: StoredValue<Arc<str>>,
    /// Its state.
    pub(crate) known: RwSignal<Known>,
    /// Who looks at it, once that is known.
    pub(crate) me: RwSignal<Option<Sender>>,
    /// The connection.
    pub(crate) link: RwSignal<Link>,
    /// When anything was last heard.
    pub(crate) heard: RwSignal<Timestamp>,
    /// The time, each second.
    pub(crate) now: RwSignal<Timestamp>,
    /// The last entries, the newest first.
    pub(crate) entries: RwSignal<VecDeque<Arc<Entry<CommandKind>>>>,
    /// Jobs that will be cancelled unless somebody undoes it.
    pub(crate) cancelling: RwSignal<BTreeSet<JobId>>,
    /// Whether a connection stands.
    pub(crate) is_following: StoredValue<bool>,
    /// Whether somebody wants to look again before the next attempt is due.
    pub(crate) is_asked: StoredValue<bool>,
    /// What people are told in passing.
    pub(crate) notices: Notices,
    /// Where every quota's GPUs are.
    pub(crate) books: Memo<Arc<Books>>,
}

impl Session {
    /// A session of which nothing is known yet; [`link::open`] keeps it up to date.
    pub(crate) fn new(cluster: &str) -> Self {
        let known = RwSignal::new(Known::Loading);
        let books = Memo::new(move |_| {
            known.with(|known| match known {
                Known::Here(replica) => Arc::new(Books::of(replica.state())),
                Known::Loading | Known::Failed(_) => Arc::default(),
            })
        });
        Self {
            cluster: StoredValue::new(cluster.into()),
            known,
            me: RwSignal::new(None),
            link: RwSignal::new(Link::Reconnecting),
            heard: RwSignal::new(browser::now()),
            now: RwSignal::new(browser::now()),
            entries: RwSignal::new(VecDeque::new()),
            cancelling: RwSignal::new(BTreeSet::new()),
            is_following: StoredValue::new(false),
            is_asked: StoredValue::new(false),
            notices: Notices::new(),
            books,
        }
    }

    /// The session of this page.
    pub(crate) fn here() -> Self {
        expect_context()
    }

    /// The cluster's name.
    pub(crate) fn name(&self) -> Arc<str> {
        self.cluster.get_value()
    }

    /// The minute, for ages and charts that need not move with each second.
    pub(crate) fn minute(&self) -> Memo<i64> {
        let now = self.now;
        Memo::new(move |_| now.get().0 / Millis::MINUTE.0)
    }

    /// Asks the state something, again whenever it changes.
    pub(crate) fn ask<T>(&self, question: impl FnOnce(&State) -> T) -> Option<T> {
        self.known.with(|known| match known {
            Known::Here(replica) => Some(question(replica.state())),
            Known::Loading | Known::Failed(_) => None,
        })
    }

    /// Asks the state something once.
    pub(crate) fn ask_once<T>(&self, question: impl FnOnce(&State) -> T) -> Option<T> {
        self.known.with_untracked(|known| match known {
            Known::Here(replica) => Some(question(replica.state())),
            Known::Loading | Known::Failed(_) => None,
        })
    }

    /// The confirmed revision, again whenever it changes. What is on its way cannot be read from the cluster yet.
    pub(crate) fn revision(&self) -> Option<u64> {
        self.known.with(Known::revision)
    }

    /// Looks for the cluster now.
    pub(crate) fn look_again(&self) {
        self.is_asked.set_value(true);
    }

    /// How old the screen is.
    pub(crate) fn freshness(&self) -> Freshness {
        let silence = self.now.get() - self.heard.get();
        Freshness::of(self.link.get(), Millis(silence.0.max(0)))
    }

    /// Remembers an entry for the list of rounds.
    pub(crate) fn remember(&self, entry: Entry<CommandKind>) {
        self.entries.update(|entries| {
            if entries.front().is_some_and(|newest| newest.revision >= entry.revision) {
                return;
            }
            entries.push_front(Arc::new(entry));
            entries.truncate(ENTRIES_KEPT);
        });
    }
}
