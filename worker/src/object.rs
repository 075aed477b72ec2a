//! The Durable Object of one cluster: it owns the log.
//!
//! Keys: named by the cluster in the URL. Storage: [`crate::storage`].
//! Calls: those of [`crate::routes`] that the front hands on, the slots that the clock sends, and its own alarm.
//! Why atomic: [`Core::with`] runs its work without an await, and a command is one such piece of work.
//! Memory is a cache: after a panic, a fault or an eviction it is rebuilt from SQLite by the next call.
//! Sockets hibernate: they outlive this memory, and what is committed is pushed to all of them. Whether they still stand
//! the runtime answers without waking the object.
//!
//! Alarms: a commit sets one to publish, unless the profile says otherwise (a slot publishes before it answers), and one
//! for when something is due that could serve somebody who waits. While nobody waits no alarm is needed: the next
//! command or slot finds what was due. Whatever fails is done again by the next alarm or slot.

use std::cell::Cell;
use std::cell::RefCell;
use std::collections::BTreeMap;

use ::pai::service::document;
use engine::host::veil::Veil;
use engine::message::envelope::Entry;
use engine::message::event::Event;
use engine::state::world::State as EngineState;
use engine::transition::Sender;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use engine::workspace::key::KeyId;
use protocol::agents::contact::Contacts;
use protocol::agents::output::Relay;
use protocol::cluster::Cluster;
use protocol::cluster::Done;
use protocol::cluster::SLOT_MS;
use protocol::fault::Fault;
use protocol::health::Failed;
use protocol::incident::Incidents;
use protocol::log::decode;
use protocol::log::encode;
use protocol::name::ClusterName;
use protocol::publish::Occasion;
use protocol::rate::Buckets;
use protocol::rate::FAILURES;
use protocol::rate::REQUESTS;
use protocol::rate::SIGN_INS;
use protocol::route;
use protocol::route::Call;
use worker::DurableObject;
use worker::Env;
use worker::Request;
use worker::Response;
use worker::State;
use worker::WebSocket;
use worker::WebSocketIncomingMessage;
use worker::durable_object;
use worker::worker_sys::WebSocketRequestResponsePair;

use crate::access;
use crate::answer;
use crate::answer::Problem;
use crate::answer::Reply;
use crate::bindings;
use crate::clock;
use crate::object::heard::Heard;
use crate::pai::PATH;
use crate::proof::Proof;
use crate::registry;
use crate::storage::SqlLog;

mod agents;
mod calls;
mod deletion;
mod health;
mod heard;
mod incidents;
mod keys;
mod output;
mod overdue;
mod pai;
mod past;
mod publication;
mod reads;
mod restore;
mod sessions;
mod why;

/// How many jobs are forgotten before the notes on them are dropped: until then they only take room.
const SWEEP_AFTER: usize = 1_000;
/// The close code for who is not let in any more.
const POLICY_VIOLATION: u16 = 1008;
const SIGNED_OUT: &str = "signed out";
/// What is asked on a socket, and the answer.
const QUESTION: &str = "ping";
const ANSWER: &str = "pong";
/// How many slots a day has.
const SLOTS_OF_DAY: i64 = Millis::DAY.0 / SLOT_MS;

/// A cluster's object. The class's name is part of the deployment.
#[durable_object]
struct ClusterObject {
    core: Core,
}

/// What an object has in memory.
struct Core {
    state: State,
    env: Env,
    cluster: RefCell<Option<Cluster<SqlLog>>>,
    /// How fast each key goes.
    rates: RefCell<Buckets<KeyId>>,
    /// How many sessions each key opens.
    sign_ins: RefCell<Buckets<KeyId>>,
    /// How many wrong secrets each network shows, and how many wrong signatures with each key.
    failures: RefCell<Buckets<String>>,
    /// When the use of a key was last noted.
    noted: RefCell<BTreeMap<KeyId, Timestamp>>,
    /// Whether the registry is known to have the name.
    is_entered: Cell<bool>,
    /// Since when a publication has been under way.
    publishing_since: Cell<Option<Timestamp>>,
    /// Publications that have failed since the last one that did not.
    unpublished: RefCell<Option<Failed>>,
    /// The last damage that was met, and when.
    damage: RefCell<Option<(Timestamp, String)>>,
    /// Rounds since this memory began.
    n_rounds: Cell<u64>,
    /// Commands that were refused since then.
    n_refused: Cell<u64>,
    /// Sessions that were opened since then.
    n_signed_in: Cell<u64>,
    /// Wrong secrets and signatures since then.
    n_kept_out: Cell<u64>,
    /// The alarm that is set, as far as this memory knows.
    alarm_at: Cell<Option<Timestamp>>,
    /// Jobs that were forgotten since the notes on them were looked through.
    forgotten: Cell<usize>,
    /// What is kept of agents, once it has been read.
    contacts: RefCell<Option<Contacts>>,
    heard: Heard,
    /// What runs print that somebody watches.
    relay: RefCell<Relay>,
    incidents: RefCell<Incidents>,
    /// When sessions were last used, as far as this memory knows; none if they were ended.
    sessions: RefCell<BTreeMap<String, Option<sessions::Used>>>,
}

/// Who watches through the socket with this tag, if they still may.
fn watcher(state: &EngineState, tag: &str) -> Option<Sender> {
    let principal = access::principal(state, &Proof::read(tag)?, bindings::now()).ok()?;
    access::admit(state, &principal, route::who_may(Call::Events), "").ok()?;
    Some(principal.sender)
}

impl DurableObject for ClusterObject {
    fn new(state: State, env: Env) -> Self {
        // A runtime that does not take these words leaves a socket without answers: its client connects again.
        if let Ok(pair) = WebSocketRequestResponsePair::new(QUESTION, ANSWER) {
            state.set_websocket_auto_response(&pair);
        }
        let (state, heard) = Heard::new(state);
        let core = Core {
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
        };
        Self { core }
    }

    async fn fetch(&self, request: Request) -> worker::Result<Response> {
        let path = request.path();
        if path.starts_with("/registry") {
            return answer::finish(registry::serve(&self.core.state.storage().sql(), request).await);
        }
        if path.starts_with(clock::PATH) {
            return answer::finish(clock::serve(&self.core.env, request).await);
        }
        if path == PATH {
            return pai::serve(&self.core, request).await;
        }
        answer::finish(calls::serve(&self.core, request).await)
    }

    async fn alarm(&self) -> worker::Result<Response> {
        answer::finish(self.core.ring().await)
    }

    async fn websocket_message(&self, _socket: WebSocket, _message: WebSocketIncomingMessage) -> worker::Result<()> {
        Ok(())
    }

    async fn websocket_close(
        &self,
        socket: WebSocket,
        code: usize,
        reason: String,
        _was_clean: bool,
    ) -> worker::Result<()> {
        // The other side may be gone already; then there is nobody to close.
        let _ = socket.close(u16::try_from(code).ok().filter(|code| *code == 1000), Some(reason));
        Ok(())
    }

    async fn websocket_error(&self, _socket: WebSocket, _error: worker::Error) -> worker::Result<()> {
        Ok(())
    }
}

impl Core {
    /// Opens the cluster of this object, if that has not been done.
    fn open(&self, name: &ClusterName) -> Result<(), Problem> {
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
    fn with<T, E>(&self, work: impl FnOnce(&mut Cluster<SqlLog>) -> Result<T, E>) -> Result<T, Problem>
    where
        Problem: From<E>,
    {
        let mut cluster = self.cluster.borrow_mut();
        let cluster = cluster.as_mut().ok_or_else(|| Problem::Internal("no cluster is open".to_owned()))?;
        Ok(work(cluster)?)
    }

    /// Makes sure that the clock knows this cluster.
    async fn enter(&self, name: &ClusterName) -> Result<(), Problem> {
        if !self.is_entered.get() {
            registry::enter(&self.env, name).await?;
            self.is_entered.set(true);
        }
        Ok(())
    }

    /// Tells all sockets what has been committed, each as much of it as its owner may see. The runtime sends it once that
    /// is durable.
    fn push(&self, done: &Done) -> Result<(), Problem> {
        let Some(record) = &done.record else { return Ok(()) };
        for event in &done.receipt.events {
            if let Event::Forgotten { jobs } = event {
                self.forgotten.set(self.forgotten.get() + jobs.len());
            }
            if let Event::Rounded { .. } = event {
                self.n_rounds.set(self.n_rounds.get() + 1);
            }
            if let Event::KeyForgotten { key } = event {
                keys::forget(self, key)?;
            }
        }
        let mut texts: BTreeMap<String, Option<String>> = BTreeMap::new();
        let mut entry = None;
        agents::ring(self, &done.receipt)?;
        for socket in self.state.get_websockets() {
            if self.is_bell(&socket) {
                continue;
            }
            let tag = self.tag(&socket);
            let text = match texts.get(&tag) {
                Some(text) => text,
                None => texts.entry(tag.clone()).or_insert(self.as_seen(&tag, &record.entry, &mut entry)?),
            };
            // A socket that cannot be written to will close; its client then asks for what it has missed.
            let _ = match text {
                Some(text) => socket.send_with_str(text),
                None => socket.close(Some(POLICY_VIOLATION), Some(SIGNED_OUT)),
            };
        }
        Ok(())
    }

    /// Closes the sockets of those who are nobody any more: their session is over, or their key serves no more.
    fn dismiss(&self) -> Result<(), Problem> {
        for socket in self.state.get_websockets() {
            let (tag, is_bell) = (self.tag(&socket), self.is_bell(&socket));
            let serves = |state: &EngineState| {
                if is_bell { agents::of_bell(state, &tag).is_some() } else { watcher(state, &tag).is_some() }
            };
            if !self.with(|cluster| cluster.with_state(serves))? {
                // Who cannot be told has gone by themselves.
                let _ = socket.close(Some(POLICY_VIOLATION), Some(SIGNED_OUT));
            } else if !is_bell {
                sessions::keep(self, &tag)?;
            }
        }
        Ok(())
    }

    /// Drops the notes that nobody needs: once a day, or once many jobs have been forgotten.
    fn sweep(&self, slot: i64) -> Result<(), Problem> {
        if self.forgotten.get() < SWEEP_AFTER && slot % SLOTS_OF_DAY != 0 {
            return Ok(());
        }
        self.forgotten.set(0);
        output::sweep(self)?;
        self.with(|cluster| cluster.sweep_notes(document::is_needed))
    }

    /// Whether a socket is one on which an agent is told to ask.
    fn is_bell(&self, socket: &WebSocket) -> bool {
        self.state.get_tags(socket).iter().any(|tag| tag == agents::BELL)
    }

    /// Who proved to be whom when a socket was opened.
    fn tag(&self, socket: &WebSocket) -> String {
        self.state.get_tags(socket).into_iter().next().unwrap_or_default()
    }

    /// An entry for whoever a socket's tag names; none if they are nobody any more. Its text is read for the first one
    /// who does not get it as it is.
    fn as_seen(&self, tag: &str, text: &str, read: &mut Option<Entry>) -> Result<Option<String>, Problem> {
        if Proof::read(tag) == Some(Proof::Root) {
            return Ok(Some(text.to_owned()));
        }
        let entry = match read {
            Some(entry) => entry,
            None => read.insert(decode("an entry of the log", text)?),
        };
        let text = self.with(|cluster| {
            cluster.with_state(|state| {
                let sender = watcher(state, tag)?;
                Some(encode(&Veil::new(state, &sender).entry(entry)))
            })
        })?;
        Ok(text.transpose()?)
    }

    /// The alarm: rounds if something is due that somebody waits for, and publishes.
    async fn ring(&self) -> Reply {
        self.alarm_at.set(None);
        if self.cluster.borrow().is_none() {
            let name = SqlLog::open(self.state.storage())?.name()?;
            let Some(name) = name.as_deref().and_then(ClusterName::new) else { return Ok(Response::empty()?) };
            self.open(&name)?;
        }
        if self.with(|cluster| cluster.tombstone())?.is_some() {
            let name = self.with(|cluster| Ok::<_, Fault>(cluster.name.clone()))?;
            deletion::step_or_retry(self, &name).await?;
            return Ok(Response::empty()?);
        }
        if restore::is_under_way(self)? {
            restore::step_or_retry(self).await?;
            return Ok(Response::empty()?);
        }
        if let Some(done) = self.with(|cluster| cluster.run_alarm(bindings::now()))? {
            self.push(&done)?;
        }
        self.publish_or_retry(Occasion::Command).await?;
        self.look_in_time().await?;
        Ok(Response::empty()?)
    }

    /// After a commit: it will be published, and nobody waits for what is due.
    async fn follow_up(&self) -> Result<(), Problem> {
        self.publish_soon().await?;
        self.look_in_time().await
    }

    /// Sets the alarm for when something is due that could serve somebody who waits.
    async fn look_in_time(&self) -> Result<(), Problem> {
        match self.with(Cluster::next_alarm)? {
            Some(at) => self.set_alarm(at).await,
            None => Ok(()),
        }
    }

    /// Sets the alarm, unless an earlier one is set.
    async fn set_alarm(&self, at: Timestamp) -> Result<(), Problem> {
        if self.alarm_at.get().is_some_and(|set| set <= at) {
            return Ok(());
        }
        self.alarm_at.set(Some(at));
        let in_ms = (at - bindings::now()).0.max(0);
        Ok(self.state.storage().set_alarm(in_ms).await?)
    }
}
