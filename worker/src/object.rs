//! The Durable Object of one cluster: it owns the log.
//!
//! Keys: named by the cluster in the URL. Storage: [`crate::storage`].
//! Calls: those of [`crate::routes`] that the front hands on, the slots that the clock sends, and its own alarm.
//! Why atomic: [`core::Core::with`] runs its work without an await, and a command is one such piece of work.
//! Memory is a cache: after a panic, a fault or an eviction it is rebuilt from SQLite by the next call.
//! Sockets hibernate: they outlive this memory, and what is committed is pushed to all of them. Whether they still stand
//! the runtime answers without waking the object.
//!
//! Alarms: a commit sets one to publish, unless the profile says otherwise (a slot publishes before it answers), and one
//! for when something is due that could serve somebody who waits. While nobody waits no alarm is needed: the next
//! command or slot finds what was due. Whatever fails is done again by the next alarm or slot.

use std::collections::BTreeMap;

use ::pai::service::needed;
use engine::host::visibility::Visibility;
use engine::message::envelope::Entry;
use engine::message::event::Event;
use engine::state::world::State as EngineState;
use engine::transition::Sender;
use engine::unit::time::Millis;
use protocol::cluster::Done;
use protocol::cluster::SLOT_MS;
use protocol::fault::Fault;
use protocol::log::decode;
use protocol::log::encode;
use protocol::name::ClusterName;
use protocol::publish::Occasion;
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
use crate::object::core::Core;
use crate::pai::PATH;
use crate::past_reads::CHARGE_PATH;
use crate::proof::Proof;
use crate::registry;
use crate::storage::SqlLog;

mod agents;
mod calls;
mod command;
mod contacts;
mod core;
mod deletion;
mod health;
mod heard;
mod incidents;
mod keys;
mod output;
mod overdue;
mod pai;
mod publication;
mod reads;
mod restore;
mod sessions;
mod slot;
mod socket;
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
        let core = Core::new(state, env);
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
        if path == CHARGE_PATH {
            return answer::finish(keys::settle(&self.core, request).await);
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
                if is_bell { contacts::of_bell(state, &tag).is_some() } else { watcher(state, &tag).is_some() }
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
        self.with(|cluster| cluster.sweep_notes(needed::is_needed))
    }

    /// Whether a socket is one on which an agent is told to ask.
    fn is_bell(&self, socket: &WebSocket) -> bool {
        self.state.get_tags(socket).iter().any(|tag| tag == contacts::BELL)
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
                Some(encode(&Visibility::new(state, &sender).entry(entry)))
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
}
