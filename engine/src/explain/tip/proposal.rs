//! A change that may help, before it is known whether it does.

use crate::explain::help::Help;
use crate::job::hold::Blocker;
use crate::message::command::Command;
use crate::message::command::SubmitJob;

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::explain) enum Change {
    /// A command is sent.
    Send(Box<Command>),
    /// The job is cancelled and submitted anew.
    Resubmit(Box<SubmitJob>),
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
