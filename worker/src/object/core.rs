//! What an object has in memory: the cluster, and what is cached beside it.
//!
//! Work with the cluster runs without an await ([`Core::with`]), and a command is one such piece of work.

use std::cell::Cell;
use std::cell::RefCell;
use std::collections::BTreeMap;

use engine::unit::time::Timestamp;
use engine::workspace::key::KeyId;
use protocol::agents::contact::Contacts;
use protocol::agents::output::Relay;
use protocol::cluster::Cluster;
use protocol::health::Failed;
use protocol::incident::Incidents;
use protocol::name::ClusterName;
use protocol::rate::Buckets;
use protocol::rate::FAILURES;
use protocol::rate::REQUESTS;
use protocol::rate::SIGN_INS;
use worker::Env;
use worker::State;
use worker::WebSocket;

use crate::answer::Problem;
use crate::bindings;
use crate::object::heard::Heard;
use crate::registry;
use crate::storage::SqlLog;

/// When a session was used.
#[derive(Clone, Copy, Debug)]
pub(super) struct Used {
    pub(super) last: Timestamp,
    /// As the storage knows it.
    pub(super) written: Timestamp,
}

/// What an object has in memory.
pub(super) struct Core {
    pub(super) state: State,
    pub(super) env: Env,
    pub(super) cluster: RefCell<Option<Cluster<SqlLog>>>,
    /// How fast each key goes, and each person who comes without one.
    pub(super) rates: RefCell<Buckets<String>>,
    /// How many sessions each key opens.
    pub(super) sign_ins: RefCell<Buckets<KeyId>>,
    /// How many wrong secrets each network shows, and how many wrong signatures with each key.
    pub(super) failures: RefCell<Buckets<String>>,
    /// When the use of a key was last noted.
    pub(super) noted: RefCell<BTreeMap<KeyId, Timestamp>>,
    /// Whether the registry is known to have the name.
    pub(super) is_entered: Cell<bool>,
    /// Since when a publication has been under way.
    pub(super) publishing_since: Cell<Option<Timestamp>>,
    /// Publications that have failed since the last one that did not.
    pub(super) unpublished: RefCell<Option<Failed>>,
    /// The last damage that was met, and when.
    pub(super) damage: RefCell<Option<(Timestamp, String)>>,
    /// Rounds since this memory began.
    pub(super) n_rounds: Cell<u64>,
    /// Commands that were refused since then.
    pub(super) n_refused: Cell<u64>,
    /// Sessions that were opened since then.
    pub(super) n_signed_in: Cell<u64>,
    /// Wrong secrets and signatures since then.
    pub(super) n_kept_out: Cell<u64>,
    /// The alarm that is set, as far as this memory knows.
    pub(super) alarm_at: Cell<Option<Timestamp>>,
    /// Jobs that were forgotten since the notes on them were looked through.
    pub(super) forgotten: Cell<usize>,
    /// What is kept of agents, once it has been read.
    pub(super) contacts: RefCell<Option<Contacts>>,
    pub(super) heard: Heard,
    /// What runs print that somebody watches.
    pub(super) relay: RefCell<Relay>,
    pub(super) incidents: RefCell<Incidents>,
    /// When sessions were last used, as far as this memory knows; none if they were ended.
    pub(super) sessions: RefCell<BTreeMap<String, Option<Used>>>,
}

impl Core {
    /// Nothing is open yet.
    pub(super) fn new(state: State, env: Env) -> Self {
        let (state, heard) = Heard::new(state);
        Self {
            state,
            env,
            cluster: RefCell::new(None),
            rates: RefCell::new(Buckets::new(REQUESTS)),
            sign_ins: RefCell::new(Buckets::new(SIGN_INS)),
            failures: RefCell::new(Buckets::new(FAILURES)),
            noted: RefCell::new(BTreeMap::new()),
            is_entered: Cell::new(false),
            publishing_since: Cell::new(None),
            unpublished: RefCell::new(None),
            damage: RefCell::new(None),
            n_rounds: Cell::new(0),
            n_refused: Cell::new(0),
            n_signed_in: Cell::new(0),
            n_kept_out: Cell::new(0),
            alarm_at: Cell::new(None),
            forgotten: Cell::new(0),
            contacts: RefCell::new(None),
            heard,
            relay: RefCell::default(),
            incidents: RefCell::new(Incidents::new()),
            sessions: RefCell::new(BTreeMap::new()),
        }
    }

    /// Opens the cluster of this object, if that has not been done.
    pub(super) fn open(&self, name: &ClusterName) -> Result<(), Problem> {
        let mut cluster = self.cluster.borrow_mut();
        if cluster.is_none() {
            let log = SqlLog::open(self.state.storage())?;
            if log.name()?.is_none() {
                log.set_name(name.as_str())?;
            }
            *cluster = Some(Cluster::new(name.clone(), bindings::profile(&self.env), log));
        }
        Ok(())
    }

    /// Works with the cluster. The work cannot await, so nothing else happens in between.
    pub(super) fn with<T, E>(&self, work: impl FnOnce(&mut Cluster<SqlLog>) -> Result<T, E>) -> Result<T, Problem>
    where
        Problem: From<E>,
    {
        let mut cluster = self.cluster.borrow_mut();
        let cluster = cluster.as_mut().ok_or_else(|| Problem::Internal("no cluster is open".to_owned()))?;
        Ok(work(cluster)?)
    }

    /// Makes sure that the clock knows this cluster.
    pub(super) async fn enter(&self, name: &ClusterName) -> Result<(), Problem> {
        if !self.is_entered.get() {
            registry::enter(&self.env, name).await?;
            self.is_entered.set(true);
        }
        Ok(())
    }

    /// Who proved to be whom when a socket was opened.
    pub(super) fn tag(&self, socket: &WebSocket) -> String {
        self.state.get_tags(socket).into_iter().next().unwrap_or_default()
    }

    /// Sets the alarm for when something is due that could serve somebody who waits.
    pub(super) async fn look_in_time(&self) -> Result<(), Problem> {
        match self.with(Cluster::next_alarm)? {
            Some(at) => self.set_alarm(at).await,
            None => Ok(()),
        }
    }

    /// Sets the alarm, unless an earlier one is set.
    pub(super) async fn set_alarm(&self, at: Timestamp) -> Result<(), Problem> {
        if self.alarm_at.get().is_some_and(|set| set <= at) {
            return Ok(());
        }
        self.alarm_at.set(Some(at));
        let in_ms = (at - bindings::now()).0.max(0);
        Ok(self.state.storage().set_alarm(in_ms).await?)
    }
}
