//! A change that may help, before it is known whether it does, and what is found when it does.

use crate::explain::help::Help;
use crate::job::hold::Blocker;
use crate::job::phase::Source;
use crate::message::command::Command;
use crate::message::command::ScaleMode;
use crate::message::command::SubmitJob;
use crate::message::event::Event;

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::explain) enum Change {
    /// A command is sent.
    Send(Box<Command>),
    /// The job is cancelled and submitted anew.
    Resubmit(Box<SubmitJob>),
}

impl Change {
    /// Whether it evicts by itself. Nobody waits for these jobs to stop until they have: not so for the victims of a job.
    pub(super) fn evicts(&self) -> bool {
        let Self::Send(command) = self else { return false };
        matches!(&**command, Command::ScaleQuotas(scale) if scale.mode == ScaleMode::Evict)
    }
}

/// How a change starts the job.
pub(in crate::explain) struct Start {
    pub(super) source: Source,
    /// What the change does, and what is taken from others for the job after that.
    pub(super) events: Vec<Event>,
    /// Whether jobs that the change evicts have to stop before it starts.
    pub(super) others_stop_first: bool,
}

/// A change that may help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::explain) struct Proposal {
    /// The change in words, without an end: `Give it priority 6`.
    pub(in crate::explain) words: String,
    pub(in crate::explain) change: Change,
}

impl Proposal {
    pub(in crate::explain) fn send(words: String, command: Command) -> Self {
        Self { words, change: Change::Send(Box::new(command)) }
    }

    pub(in crate::explain) fn resubmit(words: String, submission: SubmitJob) -> Self {
        Self { words, change: Change::Resubmit(Box::new(submission)) }
    }

    pub(super) fn help(self, sentence: String, lacks: Option<Box<Blocker>>) -> Help {
        let (command, resubmit) = match self.change {
            Change::Send(command) => (Some(*command), None),
            Change::Resubmit(submission) => (None, Some(submission)),
        };
        Help { sentence, command, resubmit, lacks }
    }
}
