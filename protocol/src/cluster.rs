//! One cluster: the lock, the sequence and the log.
//!
//! A [`Cluster`] owns its [`LogStore`]. [`Cluster::submit`] has no await in it: it looks the command's name up, lets the
//! engine decide and apply, and commits the row. If the commit fails, memory is thrown away and the next call
//! rebuilds it from the log, whatever the store has kept. A reply may leave only when the store is durable; in a
//! Durable Object the runtime's output gate sees to that.
//!
//! The outbox is the log itself: everything after the published head's number is still to be published
//! (see [`crate::publish`]), so a committed entry can never miss its place in it.

use engine::host::authority;
use engine::message::FORMAT;
use engine::message::command::Command;
use engine::message::command::Round;
use engine::message::command::UpdateCluster;
use engine::message::envelope::Entry;
use engine::message::envelope::Envelope;
use engine::message::envelope::Receipt;
use engine::message::rejection::Noun;
use engine::message::rejection::Rejection;
use engine::state::world::State;
use engine::transition::Sender;
use engine::transition::authorise;
use engine::unit::id::CommandId;
use engine::unit::id::UserId;
use engine::unit::time::Timestamp;
use serde::Deserialize;
use serde::Serialize;

use crate::digest;
use crate::document::Head;
use crate::fault::Failure;
use crate::fault::Fault;
use crate::log::Answered;
use crate::log::LogStore;
use crate::log::Meta;
use crate::log::Record;
use crate::log::Write;
use crate::log::decode;
use crate::log::digest_of;
use crate::log::encode;
use crate::memory::Memory;
use crate::memory::has_news;
use crate::memory::load;
use crate::name::ClusterName;
use crate::profile::Profile;
use crate::spelling;

/// How the names of scheduled rounds begin. Clients may not use it.
pub const SLOT_PREFIX: &str = "slot:";
/// How the names of rounds begin that run because something was due. Clients may not use it either.
pub const ALARM_PREFIX: &str = "alarm:";
/// How the names of commands begin by which orders are counted anew after a restore. Clients may not use it either.
pub const RESTORED_PREFIX: &str = "restored:";
/// How the names of commands begin that agents' reports become. Clients may not use it.
pub const REPORTS_PREFIX: &str = "agent:";
/// How the names of commands begin that no client sends, and what they are for.
const KEPT_PREFIXES: [(&str, &str); 4] = [
    (SLOT_PREFIX, "scheduled rounds"),
    (ALARM_PREFIX, "rounds in between"),
    (REPORTS_PREFIX, "reports of agents"),
    (RESTORED_PREFIX, "restores"),
];
/// The length of a slot.
pub const SLOT_MS: i64 = 60_000;

/// A cluster and its log.
#[derive(Debug)]
pub struct Cluster<S> {
    /// Its name.
    pub name: ClusterName,
    /// How it publishes.
    pub profile: Profile,
    pub(crate) store: S,
    pub(crate) memory: Option<Memory>,
}

/// What came of a command that was not refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// The answer.
    pub receipt: Receipt,
    /// The new row of the log; none for a repeated command and for a dry run.
    pub record: Option<Record>,
}

/// Where a cluster is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Position {
    /// The last entry.
    pub seq: u64,
    /// The revision after it.
    pub revision: u64,
    /// The digest of the state.
    pub hash: String,
}

/// Where a cluster is, without the digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The last entry.
    pub seq: u64,
    /// The revision after it.
    pub revision: u64,
    /// When it was decided.
    pub at: Timestamp,
}

impl<S: LogStore> Cluster<S> {
    /// The cluster in `store`. Nothing is read before the first call.
    pub fn new(name: ClusterName, profile: Profile, store: S) -> Self {
        Self { name, profile, store, memory: None }
    }

    /// Handles a command of a sender. `now` is the time of the worker; it is not allowed to go back. Who may not send it
    /// learns nothing of what it came to when somebody else sent it.
    pub fn submit(&mut self, envelope: &Envelope, sender: &Sender, now: Timestamp) -> Result<Done, Failure> {
        self.submit_with(envelope, sender, Vec::new(), now)
    }

    /// Handles a command; if it is accepted, `beside` is written with it.
    pub(crate) fn submit_with(
        &mut self,
        envelope: &Envelope,
        sender: &Sender,
        beside: Vec<Write>,
        now: Timestamp,
    ) -> Result<Done, Failure> {
        for (prefix, kept_for) in KEPT_PREFIXES {
            if envelope.id.as_str().starts_with(prefix) {
                let reason =
                    format!("command ids that begin with {prefix:?} are kept for {kept_for}; choose another one");
                return Err(Rejection::Malformed { reason }.into());
            }
        }
        if let Command::Round(Round { slot: Some(slot) }) = &envelope.command {
            // A slot decided before its time would make all slots until then decided ones.
            let max = now.0.div_euclid(SLOT_MS);
            if *slot > max {
                return Err(Rejection::OutOfRange { what: "the slot".to_owned(), value: *slot, min: 0, max }.into());
            }
        }
        let envelope = sender.sign(envelope.clone());
        authorise(&self.memory()?.state, sender, &envelope.command)?;
        self.handle(&envelope, beside, now)
    }

    /// Runs the round of a scheduled slot. A second call for a slot gets the first answer and decides nothing; an
    /// earlier slot that nobody decided in time is refused.
    pub fn run_slot(&mut self, slot: i64, now: Timestamp) -> Result<Done, Failure> {
        let command = Command::Round(Round { slot: Some(slot) });
        self.handle_own(&format!("{SLOT_PREFIX}{slot}"), None, command, now)
    }

    /// When something is due that could serve somebody who waits; nothing while nobody does. Rounds in between keep the
    /// distance of the profile, and what was due by the last entry has been looked at.
    pub fn next_alarm(&mut self) -> Result<Option<Timestamp>, Fault> {
        let gap = self.profile.alarm_gap;
        let memory = self.memory()?;
        let chance = memory.state.next_chance(memory.at);
        Ok(chance.filter(|at| *at > memory.at).map(|at| at.max(memory.alarmed_at + gap)))
    }

    /// Runs a round because something is due that could serve somebody who waits; decides nothing if nothing is.
    pub fn run_alarm(&mut self, now: Timestamp) -> Result<Option<Done>, Failure> {
        let Some(due) = self.next_alarm()?.filter(|due| *due <= now) else { return Ok(None) };
        let command = Command::Round(Round::default());
        let done = self.handle_own(&format!("{ALARM_PREFIX}{}", due.0), None, command, now)?;
        self.memory()?.alarmed_at = now;
        Ok(Some(done))
    }

    /// Counts orders anew once the cluster has been restored: what was granted after the copy was made is known to agents
    /// and not to the log. Nothing where jobs do not really run.
    pub fn begin_epoch(&mut self, now: Timestamp) -> Result<Option<Done>, Failure> {
        let memory = self.memory()?;
        if !memory.state.cluster.is_reported() {
            return Ok(None);
        }
        let name = format!("{RESTORED_PREFIX}{}", memory.seq);
        let update = UpdateCluster { execution: None, start_within_ms: None, is_restored: true };
        self.handle_own(&name, None, Command::UpdateCluster(update), now).map(Some)
    }

    /// Handles a command of the service's own, which has a name that no client may use.
    pub(crate) fn handle_own(
        &mut self,
        name: &str,
        by: Option<UserId>,
        command: Command,
        now: Timestamp,
    ) -> Result<Done, Failure> {
        let id = CommandId::new(name).map_err(|error| Fault::damaged("the name of a command", error))?;
        let envelope = Envelope { format: FORMAT, id, by, base: None, dry_run: false, command };
        self.handle(&envelope, Vec::new(), now)
    }

    pub(crate) fn handle(&mut self, envelope: &Envelope, beside: Vec<Write>, now: Timestamp) -> Result<Done, Failure> {
        if !envelope.dry_run
            && let Some(receipt) = self.first_answer(envelope)?
        {
            return Ok(Done { receipt, record: None });
        }
        if !envelope.dry_run && self.is_unfounded()? {
            return Err(Fault::Unfounded.into());
        }
        let limits = self.profile.limits;
        let memory = self.memory()?;
        spelling::check(&memory.state, envelope)?;
        memory.counted.admit(&memory.state, &limits, &envelope.command)?;
        let at = now.max(memory.at);
        let handled = authority::handle(&mut memory.state, envelope, at);
        let receipt = handled.map_err(|rejection| rejection.of_cluster(self.name.as_str()))?;
        if envelope.dry_run {
            return Ok(Done { receipt, record: None });
        }
        let seq = self.memory()?.seq + 1;
        // The state is ahead of the log until the row is there. If that fails, nobody knows which of them is right.
        let has_notes = !beside.is_empty();
        let record = self.append(seq, envelope, &receipt, beside).inspect_err(|_| self.forget())?;
        let memory = self.memory()?;
        memory.has_stale_notes |= has_notes;
        memory.seq = seq;
        memory.at = at;
        memory.entry_bytes += record.entry.len() as u64;
        memory.counted.follow(&receipt.events);
        memory.shed()?;
        if has_notes || has_news(&receipt.events) {
            memory.last_news = seq;
            memory.news_since = memory.news_since.or(Some(at));
        }
        Ok(Done { receipt, record: Some(record) })
    }

    fn append(
        &mut self,
        seq: u64,
        envelope: &Envelope,
        receipt: &Receipt,
        beside: Vec<Write>,
    ) -> Result<Record, Fault> {
        let Receipt { id: _, revision, at, events } = receipt.clone();
        let entry = Entry { format: FORMAT, revision, at, envelope: envelope.clone(), events };
        let record = Record::of(seq, &entry)?;
        let answered = Answered { at, body: record.body.clone(), receipt: encode(receipt)? };
        let mut writes = vec![Write::Append(record.clone()), Write::Remember(record.id.clone(), answered)];
        if seq == 1 {
            // The name may be that of a cluster that was deleted.
            writes.push(Write::SetMeta(Meta::Deleted, None));
        }
        writes.extend(beside);
        self.store.commit(writes)?;
        Ok(record)
    }

    /// The answer that a command got when it came first.
    fn first_answer(&self, envelope: &Envelope) -> Result<Option<Receipt>, Failure> {
        let Some(answered) = self.store.answered(&envelope.id)? else { return Ok(None) };
        if digest_of(envelope)? != answered.body {
            return Err(Rejection::Taken { noun: Noun::Command, name: envelope.id.to_string() }.into());
        }
        Ok(Some(decode("a stored receipt", &answered.receipt)?))
    }

    /// The state as it is, once it has been read; none after a fault, until the next call that works with it.
    #[must_use]
    pub fn state(&self) -> Option<&State> {
        self.memory.as_ref().map(|memory| &memory.state)
    }

    /// Reads with the state as it is.
    pub fn with_state<T>(&mut self, read: impl FnOnce(&State) -> T) -> Result<T, Fault> {
        Ok(read(&self.memory()?.state))
    }

    /// Where the cluster is, with the digest of its state.
    pub fn position(&mut self) -> Result<Position, Fault> {
        let memory = self.memory()?;
        Ok(Position { seq: memory.seq, revision: memory.state.revision, hash: digest::of_state(&memory.state) })
    }

    /// Where the cluster is, without the digest.
    pub fn mark(&mut self) -> Result<Mark, Fault> {
        let memory = self.memory()?;
        Ok(Mark { seq: memory.seq, revision: memory.state.revision, at: memory.at })
    }

    /// How many bytes the newest snapshot in the log has.
    pub fn snapshot_bytes(&mut self) -> Result<u64, Fault> {
        Ok(self.memory()?.snapshot_bytes)
    }

    /// Since when something is not published that is more than rounds in which nothing happened.
    pub fn unpublished_since(&mut self) -> Result<Option<Timestamp>, Fault> {
        Ok(self.memory()?.unpublished_since())
    }

    /// The head that is known to be published.
    pub fn published(&mut self) -> Result<Option<Head>, Fault> {
        Ok(self.memory()?.published.clone())
    }

    /// The rows after a number and up to another one that the log still has.
    pub fn records(&self, after: u64, through: u64) -> Result<Vec<Record>, Fault> {
        self.store.records(after, through)
    }

    /// The last row up to a revision, if the log still has one.
    pub fn last_within(&self, revision: u64) -> Result<Option<u64>, Fault> {
        self.store.last_within(revision)
    }

    /// The row that led to a revision, if the log still has it. A row without events leaves the revision as it was;
    /// the one that reached it comes first.
    pub fn record_of(&mut self, revision: u64) -> Result<Option<Record>, Fault> {
        let Some(records) = self.records_after(revision.saturating_sub(1), 1)? else { return Ok(None) };
        Ok(records.into_iter().next().filter(|record| record.revision == revision))
    }

    /// At most `count` rows after a revision; none if the log does not have all of them any more.
    pub fn records_after(&mut self, revision: u64, count: u64) -> Result<Option<Vec<Record>>, Fault> {
        if self.memory()?.state.revision <= revision {
            return Ok(Some(Vec::new()));
        }
        let after = match self.store.last_within(revision)? {
            Some(seq) => seq,
            None if self.store.records(0, 1)?.is_empty() => return Ok(None),
            None => 0,
        };
        self.store.records(after, after.saturating_add(count)).map(Some)
    }

    /// Throws memory away; the next call rebuilds it.
    pub fn forget(&mut self) {
        self.memory = None;
    }

    /// The memory, rebuilt from the log if there is none.
    pub(crate) fn memory(&mut self) -> Result<&mut Memory, Fault> {
        if self.memory.is_none() {
            self.memory = Some(load(&self.store)?);
        }
        self.memory.as_mut().ok_or_else(|| Fault::damaged("memory", "it is gone"))
    }
}
