//! What somebody may see: members see other workspaces only as amounts (rules 9.2).
//!
//! A redacted snapshot or entry has everything that the rules look at, so a replica of it shows the same amounts,
//! reasons and previews; names, users, commands and networks of other workspaces are not in it. An entry keeps as many
//! events as it has, since a revision counts them.
//!
//! Roles are those of today. Names and numbers are given anew once their jobs are forgotten and their workspaces are
//! deleted, so what was said before today's holder of a name was there is about somebody else, of whom nothing is known.

use std::sync::Arc;

use crate::job::cause::Cause;
use crate::job::halt::Halt;
use crate::job::hold::Blocker;
use crate::job::hold::Hold;
use crate::job::phase::AfterStop;
use crate::job::phase::Outcome;
use crate::job::phase::Phase;
use crate::job::run::RunStep;
use crate::job::spec::JobSpec;
use crate::job::story::Episode;
use crate::market::bid::Network;
use crate::market::bill::Bill;
use crate::message::command::Command;
use crate::message::envelope::Entry;
use crate::message::envelope::Envelope;
use crate::message::envelope::Receipt;
use crate::message::event::Event;
use crate::message::snapshot::Snapshot;
use crate::state::jobs::Job;
use crate::state::world::State;
use crate::transition::Sender;
use crate::unit::id::CommandId;
use crate::unit::id::JobId;
use crate::unit::id::JobNo;
use crate::unit::id::UserId;
use crate::unit::id::WorkspaceId;
use crate::unit::time::Timestamp;
use crate::workspace::space::Workspace;

/// What one sender may see of a state and its log.
#[derive(Clone, Copy, Debug)]
pub struct Visibility<'a> {
    state: &'a State,
    sender: &'a Sender,
    /// When what is looked at was said.
    said: Timestamp,
}

impl<'a> Visibility<'a> {
    /// What `sender` may see, by the roles that they have in `state`.
    #[must_use]
    pub fn new(state: &'a State, sender: &'a Sender) -> Self {
        Self { state, sender, said: Timestamp(i64::MAX) }
    }

    /// What they may see of what was said at some time: names mean only what they mean since before then.
    #[must_use]
    pub fn of(self, said: Timestamp) -> Self {
        Self { said, ..self }
    }

    /// The state behind it.
    #[must_use]
    pub fn state(&self) -> &'a State {
        self.state
    }

    /// Whether they see what belongs to a workspace; what belongs to none is seen by administrators of the cluster.
    #[must_use]
    pub fn sees(&self, workspace: Option<&WorkspaceId>) -> bool {
        let is_theirs = |id| self.state.workspaces.get(id).is_some_and(|known| self.is_member(known));
        self.sender.administers || workspace.is_some_and(is_theirs)
    }

    fn is_member(&self, workspace: &Workspace) -> bool {
        workspace.created <= self.said && workspace.members.contains_key(&self.sender.user)
    }

    /// Whether they may know that somebody has sent something: themselves, and members of their workspaces.
    fn knows(&self, user: &UserId) -> bool {
        let is_shared = |one: &Workspace| self.is_member(one) && one.members.contains_key(user);
        *user == self.sender.user || self.state.workspaces.values().any(is_shared)
    }

    /// Whether they see a job: they are members of the workspace that it was submitted to.
    fn sees_job(&self, job: &Job) -> bool {
        self.of(job.submitted).sees(job.spec.workspace.as_ref())
    }

    /// The job that had a number, unless it has been forgotten, and with it whose it was.
    fn holder(&self, no: JobNo) -> Option<&'a Job> {
        self.state.jobs.get(no).filter(|job| job.submitted <= self.said)
    }

    /// The job that was named so, in the same way.
    fn named(&self, id: &JobId) -> Option<(JobNo, &'a Job)> {
        let no = self.state.jobs.find(id)?;
        Some((no, self.holder(no)?))
    }

    /// A job's name as they may know it.
    #[must_use]
    pub fn job(&self, id: &JobId) -> JobId {
        match self.named(id) {
            Some((_, job)) if self.sees_job(job) => id.clone(),
            Some((no, _)) => JobId::elsewhere(no),
            None => JobId::elsewhere(JobNo::NONE),
        }
    }

    /// A job with its story, as they may know it.
    #[must_use]
    pub fn told(&self, no: JobNo) -> Option<Job> {
        let mut job = self.state.jobs.get(no)?.clone();
        if !self.sender.administers {
            self.cover_job(no, &mut job);
        }
        Some(job)
    }

    /// Reasons to wait, with the names that they may know.
    #[must_use]
    pub fn hold(&self, mut hold: Hold) -> Hold {
        if !self.sender.administers {
            self.cover_hold(&mut hold);
        }
        hold
    }

    /// The state.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let mut snapshot = Snapshot::of(self.state);
        if self.sender.administers {
            return snapshot;
        }
        for (no, job) in snapshot.jobs.iter_mut() {
            self.cover_job(no, job);
        }
        for (_, hold) in &mut snapshot.holds {
            self.cover_hold(Arc::make_mut(hold));
        }
        snapshot.workspaces.retain(|id, _| self.sees(Some(id)));
        snapshot.keys.retain(|_, key| key.owner == self.sender.user);
        snapshot
    }

    /// An entry of the log; without its command, where that says more than the events may.
    #[must_use]
    pub fn entry(&self, entry: &Entry) -> Entry<Option<Command>> {
        let Entry { format, revision, at, envelope, events } = entry;
        let Envelope { format: version, id, by, base, dry_run, command } = envelope;
        let visibility = self.of(*at);
        let by = by.clone().filter(|user| visibility.sender.administers || visibility.knows(user));
        let command = self.shows_command(entry).then(|| command.clone());
        let id = if command.is_some() { id.clone() } else { CommandId::elsewhere(*revision) };
        let envelope = Envelope { format: *version, id, by, base: *base, dry_run: *dry_run, command };
        let events = events.iter().map(|event| visibility.event(event.clone())).collect();
        Entry { format: *format, revision: *revision, at: *at, envelope, events }
    }

    /// Whether an entry of the log is shown with its command.
    #[must_use]
    pub fn shows_command(&self, entry: &Entry) -> bool {
        let Envelope { by, command, .. } = &entry.envelope;
        self.sender.administers || by.as_ref() == Some(&self.sender.user) || self.of(entry.at).shows(command)
    }

    /// An answer to a command of theirs.
    #[must_use]
    pub fn receipt(&self, receipt: Receipt) -> Receipt {
        let visibility = self.of(receipt.at);
        let events = receipt.events.into_iter().map(|event| visibility.event(event)).collect();
        Receipt { events, ..receipt }
    }

    /// Whether a command of somebody else is about what they see.
    fn shows(&self, command: &Command) -> bool {
        let sees_job = |id: &JobId| self.named(id).is_some_and(|(_, job)| self.sees_job(job));
        match command {
            Command::CreateCluster(_)
            | Command::PutGroup(_)
            | Command::PutNode(_)
            | Command::DeleteNode(_)
            | Command::UpdateCluster(_)
            | Command::NodeSilent(_)
            | Command::NodeHeard(_)
            | Command::CreateQuota(_)
            | Command::UpdateQuota(_)
            | Command::ScaleQuotas(_)
            | Command::DeleteQuota(_)
            | Command::CreateOffer(_)
            | Command::UpdateOffer(_)
            | Command::DeleteOffer(_)
            | Command::PublishPrice(_)
            | Command::SetInventory(_)
            | Command::Round(_) => true,
            Command::SubmitJob(command) => self.sees(command.workspace.as_ref()),
            Command::CancelJob(command) => sees_job(&command.job),
            Command::SetPriority(command) => sees_job(&command.job),
            Command::ResizeJob(command) => sees_job(&command.job),
            Command::Report(command) => sees_job(&command.job),
            Command::PutWorkspace(command) => self.sees(Some(&command.workspace)),
            Command::DeleteWorkspace(command) => self.sees(Some(&command.workspace)),
            Command::AttachQuota(command) => self.sees(Some(&command.workspace)),
            Command::DetachQuota(command) => self.sees(Some(&command.workspace)),
            Command::PutMember(command) => self.sees(Some(&command.workspace)),
            Command::RemoveMember(command) => self.sees(Some(&command.workspace)),
            Command::ApplyPlan(command) => command.commands.iter().all(|command| self.shows(command)),
            Command::CreateKey(_) | Command::RotateKey(_) | Command::RevokeKey(_) => false,
        }
    }

    fn event(&self, mut event: Event) -> Event {
        if self.sender.administers {
            return event;
        }
        let is_own = |user: &UserId| *user == self.sender.user;
        let is_seen = match &mut event {
            Event::WorkspacePut { workspace, .. }
            | Event::WorkspaceDeleted { workspace }
            | Event::QuotaAttached { workspace, .. }
            | Event::QuotaDetached { workspace, .. } => self.sees(Some(workspace)),
            Event::MemberPut { workspace, user, .. } | Event::MemberRemoved { workspace, user } => {
                self.sees(Some(workspace)) || is_own(user)
            }
            Event::CancelledBy { by, .. } => self.knows(by),
            Event::KeyPut { is_now, .. } => is_own(&is_now.owner),
            Event::KeyForgotten { .. } => false,
            Event::JobSubmitted { no, spec, .. } => {
                self.cover_spec(*no, spec);
                true
            }
            Event::Evicted { cause, .. } | Event::Shrunk { cause, .. } => {
                self.cover_cause(cause);
                true
            }
            Event::Ended { job, outcome, .. } => {
                self.cover_outcome(*job, outcome);
                true
            }
            Event::Run { job, step, .. } => {
                if let RunStep::Halted { halt, then, .. } = &mut **step {
                    self.cover_halt(*job, halt);
                    self.cover_then(*job, then);
                }
                true
            }
            Event::Held { hold, .. } => {
                self.cover_hold(Arc::make_mut(hold));
                true
            }
            Event::Billed { job, bill, .. } => {
                self.cover_bill(*job, bill);
                true
            }
            Event::ClusterCreated { .. }
            | Event::GroupPut { .. }
            | Event::NodePut { .. }
            | Event::Node { .. }
            | Event::ClusterUpdated { .. }
            | Event::QuotaCreated { .. }
            | Event::QuotaUpdated { .. }
            | Event::QuotasScaled { .. }
            | Event::QuotaDeleted { .. }
            | Event::OfferCreated { .. }
            | Event::OfferUpdated { .. }
            | Event::OfferDeleted { .. }
            | Event::InventorySet { .. }
            | Event::Priced { .. }
            | Event::PriorityChanged { .. }
            | Event::Resized { .. }
            | Event::Promoted { .. }
            | Event::Granted { .. }
            | Event::Started { .. }
            | Event::Grown { .. }
            | Event::Stopped { .. }
            | Event::Returned { .. }
            | Event::Checkpointed { .. }
            | Event::Forgotten { .. }
            | Event::Redacted
            | Event::Rounded { .. } => true,
        };
        if is_seen { event } else { Event::Redacted }
    }

    fn cover_job(&self, no: JobNo, job: &mut Job) {
        self.of(job.submitted).cover_spec(no, &mut job.spec);
        let is_eviction = |(_, episode): &&(Timestamp, Episode)| matches!(episode, Episode::Evicted { .. });
        let evicted = job.story.iter().rev().find(is_eviction).map_or(Timestamp(i64::MIN), |(at, _)| *at);
        match &mut job.phase {
            Phase::Stopping(stopping) => {
                self.of(evicted).cover_cause(&mut stopping.cause);
                if let Cause::Halted(halt) = &mut stopping.cause {
                    self.cover_halt(no, halt);
                }
                self.cover_then(no, &mut stopping.then);
            }
            Phase::Ended { outcome, .. } => self.cover_outcome(no, outcome),
            Phase::Queued { .. } | Phase::Starting { .. } | Phase::Running { .. } => {}
        }
        job.story.retain(|(_, episode)| if let Episode::CancelledBy(by) = episode { self.knows(by) } else { true });
        for (at, episode) in job.story.iter_mut() {
            match episode {
                Episode::Evicted { cause, .. } | Episode::Shrunk { cause, .. } => self.of(*at).cover_cause(cause),
                Episode::Ended(outcome) => self.cover_outcome(no, outcome),
                Episode::Halted(halt) => self.cover_halt(no, halt),
                Episode::Granted(_)
                | Episode::Started(..)
                | Episode::Confirmed
                | Episode::Promoted
                | Episode::Grown { .. }
                | Episode::Requeued
                | Episode::CancelledBy(_)
                | Episode::PriorityChanged
                | Episode::Resized { .. } => {}
            }
        }
    }

    fn cover_spec(&self, no: JobNo, spec: &mut JobSpec) {
        if self.sees(spec.workspace.as_ref()) {
            return;
        }
        spec.id = JobId::elsewhere(no);
        (spec.workspace, spec.user, spec.name) = (None, None, None);
        if let Some(spot) = &mut spec.spot {
            spot.network = Network::default();
        }
    }

    /// What a run has failed of may be told in words that are for its workspace.
    fn cover_halt(&self, no: JobNo, halt: &mut Halt) {
        if let Halt::Failed(failure) = halt {
            self.cover_reason(no, &mut failure.reason);
        }
    }

    fn cover_then(&self, no: JobNo, then: &mut AfterStop) {
        if let AfterStop::End(outcome) = then {
            self.cover_outcome(no, outcome);
        }
    }

    fn cover_outcome(&self, no: JobNo, outcome: &mut Outcome) {
        if let Outcome::Failed { reason } = outcome {
            self.cover_reason(no, reason);
        }
    }

    /// What a report says of a failure are its sender's words.
    fn cover_reason(&self, no: JobNo, reason: &mut String) {
        if !self.holder(no).is_some_and(|job| self.sees_job(job)) {
            reason.clear();
        }
    }

    fn cover_cause(&self, cause: &mut Cause) {
        match cause {
            Cause::Reclaimed { by, .. }
            | Cause::OverUse { by, .. }
            | Cause::ChildLevel { by, .. }
            | Cause::SelfLevel { by, .. }
            | Cause::Outbid { by, .. } => *by = self.job(by),
            Cause::LendingEnded
            | Cause::ScaledDown { .. }
            | Cause::Halted(_)
            | Cause::BelowPrice { .. }
            | Cause::BelowAverage { .. }
            | Cause::InventoryShrunk { .. } => {}
        }
    }

    fn cover_hold(&self, hold: &mut Hold) {
        for attempt in &mut hold.attempts {
            if let Blocker::WaitingForRelease { job, .. }
            | Blocker::BehindHead { job }
            | Blocker::Reserved { job, .. } = &mut attempt.blocker
            {
                *job = self.job(job);
            }
        }
    }

    fn cover_bill(&self, no: JobNo, bill: &mut Bill) {
        if !self.sees(bill.workspace.as_ref()) {
            bill.job = JobId::elsewhere(no);
            bill.workspace = None;
        }
    }
}
