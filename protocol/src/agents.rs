//! The service's side of agents: what their reports mean for the log, and what they are told.
//!
//! An agent tells everything it has ([`agent::message`]). What of that the log does not know yet becomes one command; then
//! the answer is made from the state alone: everything that should live on the agent's nodes, what should stop, and what
//! may be forgotten. What the log does not hold of an agent is its [`contact::Contact`].

pub mod contact;
pub mod script;

mod adopt;
mod books;
mod fitness;
mod judged;
mod said;

pub mod hear;
pub mod output;
pub mod shown;
pub mod silence;
pub mod tell;
mod welcome;

use std::cell::RefCell;

use agent::adopt::Offered;
use agent::exit::Exit;
use agent::message::Hello;
use agent::message::RunReport;
use agent::message::RunState;
use agent::message::SyncAnswer;
use agent::message::SyncRequest;
use agent::message::Tail;
use agent::message::Welcome;
use agent::output::Output;
use agent::run::RunId;
use engine::message::command::ApplyPlan;
use engine::message::command::Command;
use engine::state::world::State;
use engine::unit::id::JobId;
use engine::unit::limit::REPORTS_MAX;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;

use crate::agents::books::Runs;
use crate::agents::contact::Contacts;
use crate::agents::contact::Identity;
use crate::agents::contact::Refused;
use crate::agents::said::Said;
use crate::agents::tell::Ground;
use crate::cluster::Cluster;
use crate::cluster::Done;
use crate::cluster::REPORTS_PREFIX;
use crate::digest::sha256;
use crate::fault::Failure;
use crate::fault::Fault;
use crate::log::LogStore;

/// Why an agent gets no answer.
#[derive(Debug)]
pub enum Unheard {
    /// The service does not take what it says.
    Refused(Refused),
    /// What it reports could not be written.
    Failed(Failure),
}

impl From<Refused> for Unheard {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

impl From<Failure> for Unheard {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<Fault> for Unheard {
    fn from(fault: Fault) -> Self {
        Self::Failed(fault.into())
    }
}

/// What an agent hears, and what its reports came to if the log did not know it all.
#[derive(Debug)]
pub struct Heard {
    /// What it is told.
    pub answer: SyncAnswer,
    /// The new rows of the log.
    pub done: Vec<Done>,
}

impl<S: LogStore> Cluster<S> {
    /// Welcomes an agent.
    pub fn welcome(
        &mut self,
        contacts: &mut Contacts,
        who: &Identity,
        hello: &Hello,
        now: Timestamp,
    ) -> Result<Welcome, Unheard> {
        Ok(self.with_state(|state| welcome::welcome(state, contacts, who, hello, now))??)
    }

    /// Hears everything that an agent has, and says everything that it should have. Its reports are one row of the log;
    /// if they say nothing new, nothing is written.
    pub fn sync(
        &mut self,
        contacts: &mut Contacts,
        who: &Identity,
        request: &SyncRequest,
        now: Timestamp,
    ) -> Result<Heard, Unheard> {
        request.check().map_err(Refused::Message)?;
        contact::current(contacts, who, request.incarnation)?;
        let name = self.name.clone();
        // Who cancels a running job there ends it by a signal. That is a cancellation, and no failure of the job.
        let (cancelled, rest): (Vec<Offered>, Vec<Offered>) =
            request.offered.iter().cloned().partition(|offer| offer.is_gone && was_killed(request, &offer.job));
        let (mut offered, mut done) = self.take_offered(who, &cancelled, now)?;
        let (commands, runs, said) = self.with_scripts(|state, scripts| {
            hear::hear(state, contacts, who, request, &|job| scripts(job).is_some(), now)
        })??;
        let n_before = done.len();
        done.extend(self.take_reports(Some(who), commands, now)?);
        // What else has ended is heard first: its job is over, and not cancelled.
        let (others, adopted) = self.take_offered(who, &rest, now)?;
        offered.extend(others);
        done.extend(adopted);
        let known = (done.len() == n_before).then_some((runs, said));
        let answer = self.with_scripts(|state, scripts| {
            let Some(contact) = contacts.get(&who.name) else { return Err(Refused::Unknown(who.name.clone())) };
            let (runs, said) = known.unwrap_or_else(|| {
                let runs = Runs::of(state, contact);
                let said = Said::of(request, &runs, contacts);
                (runs, said)
            });
            if let Some(contact) = contacts.get_mut(&who.name) {
                silence::note(state, contact, runs.here(), request);
            }
            let is_held = contact::is_held(state, contacts, &contact::serving(state, &name, now));
            let ground = Ground { state, contacts, runs: &runs, said: &said, is_held };
            Ok(tell::tell(&ground, who, request, scripts, now))
        })??;
        Ok(Heard { answer: SyncAnswer { offered, ..answer }, done })
    }

    /// What a run on the agent's nodes executes; none if none of them has this digest.
    pub fn script(&mut self, contacts: &Contacts, who: &Identity, digest: &str) -> Result<Option<String>, Fault> {
        self.with_scripts(|state, scripts| {
            let jobs = books::jobs_on(state, contacts.get(&who.name));
            jobs.filter_map(|job| scripts(&job)).find(|text| sha256(text.as_bytes()) == digest)
        })
    }

    /// The job whose run has printed this, if the run is the job's own and its first pod is on the agent's nodes.
    pub fn printed(&mut self, contacts: &Contacts, who: &Identity, tail: &Tail) -> Result<Option<JobId>, Unheard> {
        tail.check().map_err(Refused::Message)?;
        self.of_first_pod(contacts, who, tail.incarnation, tail.run)
    }

    /// The same of a piece of what a run prints.
    pub fn prints(&mut self, contacts: &Contacts, who: &Identity, output: &Output) -> Result<Option<JobId>, Unheard> {
        output.check().map_err(Refused::Message)?;
        self.of_first_pod(contacts, who, output.incarnation, output.run)
    }

    fn of_first_pod(
        &mut self,
        contacts: &Contacts,
        who: &Identity,
        incarnation: u64,
        run: RunId,
    ) -> Result<Option<JobId>, Unheard> {
        let contact = contact::current(contacts, who, incarnation)?;
        Ok(self.with_state(|state| {
            let (_, no) = books::current(state).find(|(current, _)| *current == run)?;
            let job = &state.jobs[no];
            books::has_first_pod(state, job, contact).then(|| job.spec.id.clone())
        })?)
    }

    /// The run of a job that has not ended, and the agent on whose nodes its first pod is.
    pub fn printer(&mut self, contacts: &Contacts, job: &JobId) -> Result<Option<(RunId, String)>, Fault> {
        self.with_state(|state| {
            let job = &state.jobs[state.jobs.find(job)?];
            let run = job.run_no().filter(|run| run.is_numbered()).map(books::run_id)?;
            books::current(state).find(|(current, _)| *current == run)?;
            let agent = contacts.iter().find(|(_, contact)| books::has_first_pod(state, job, contact));
            agent.map(|(name, _)| (run, name.clone()))
        })
    }

    /// Says of the nodes whose agents have not been heard that they are silent; nothing if that is said of all of them.
    /// `heard` says when an agent was last heard, if that is known.
    pub fn look_for_silence(
        &mut self,
        contacts: &mut Contacts,
        heard: &dyn Fn(&str) -> Option<Timestamp>,
        missed_after: Millis,
        now: Timestamp,
    ) -> Result<Option<Done>, Failure> {
        let silent = self.with_state(|state| silence::fallen_silent(state, contacts, heard, missed_after, now))?;
        self.take_reports(None, silent.into_iter().map(Command::NodeSilent).collect(), now)
    }

    /// Takes what is said of runs and nodes into the log, as one row.
    fn take_reports(
        &mut self,
        who: Option<&Identity>,
        mut commands: Vec<Command>,
        now: Timestamp,
    ) -> Result<Option<Done>, Failure> {
        // What is left comes the next time.
        commands.truncate(REPORTS_MAX);
        let command = match commands.len() {
            0 => return Ok(None),
            1 => commands.remove(0),
            _ => Command::ApplyPlan(ApplyPlan { commands }),
        };
        // No two rows have the same number, so no two reports have the same name.
        let name = format!("{REPORTS_PREFIX}{}", self.mark()?.seq + 1);
        self.handle_own(&name, who.map(|who| who.user.clone()), command, now).map(Some)
    }

    /// Reads with the state and with what jobs execute, unless that cannot be had now.
    fn with_scripts<T>(
        &mut self,
        read: impl FnOnce(&State, &dyn Fn(&JobId) -> Option<String>) -> T,
    ) -> Result<T, Fault> {
        self.memory()?;
        let (store, memory) = (&self.store, self.memory.as_ref());
        let memory = memory.ok_or_else(|| Fault::damaged("memory", "it is gone"))?;
        let unread = RefCell::new(None);
        let text = |job: &JobId| {
            let note = store.note(&script::note_name(job));
            note.unwrap_or_else(|fault| {
                unread.replace(Some(fault));
                None
            })
        };
        let read = read(&memory.state, &text);
        unread.into_inner().map_or(Ok(read), Err)
    }
}

/// Whether a job's run has ended by a signal that nobody here has sent.
fn was_killed(request: &SyncRequest, job: &str) -> bool {
    let is_killed = |report: &RunReport| matches!(report.state, RunState::Ended(Exit::Signal(_))) && !report.told;
    request.runs.iter().any(|report| report.job == job && is_killed(report))
}
