//! What people are told to change so that a job starts.

use crate::job::hold::Blocker;
use crate::message::command::Command;
use crate::message::command::SubmitJob;

/// A change that would start the job now, or comes nearest to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Help {
    /// What to change, and what that takes from others.
    pub sentence: String,
    /// The command for it; none where the job itself would have to be submitted differently.
    pub command: Option<Command>,
    /// What to submit, under a new name, once the job has been cancelled; none where a command does it.
    pub resubmit: Option<Box<SubmitJob>>,
    /// Of the nearest miss: what the job would lack still. Nothing is to be sent then.
    pub lacks: Option<Box<Blocker>>,
}

impl Help {
    /// Whether following it starts the job.
    #[must_use]
    pub fn works(&self) -> bool {
        self.lacks.is_none()
    }
}
