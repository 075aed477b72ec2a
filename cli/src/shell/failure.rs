//! Why a command came to nothing, and the exit status that says so to scripts.

use std::process::ExitCode;

/// An exit status, each with one meaning. That arguments cannot be read, clap says with 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The reader of what is printed has read enough: that is no failure.
    ReadEnough,
    /// It was refused, or failed.
    Refused,
    /// What was asked for makes no sense; nothing was sent.
    Usage,
    /// The service does not answer.
    Unreachable,
    /// Nobody has logged in, or the key is not taken any more.
    NotLoggedIn,
    /// It would have cost something, and nobody agreed to that.
    Declined,
    /// Of `wait`: a job failed.
    JobFailed,
    /// Of `wait`: a job was preempted and does not come back.
    JobPreempted,
    /// Of `wait`: a job was cancelled.
    JobCancelled,
    /// Of `wait`: the time was over first.
    TimeOver,
}

impl Status {
    /// All that say what went wrong.
    pub const ALL: [Self; 9] = [
        Self::Refused,
        Self::Usage,
        Self::Unreachable,
        Self::NotLoggedIn,
        Self::Declined,
        Self::JobFailed,
        Self::JobPreempted,
        Self::JobCancelled,
        Self::TimeOver,
    ];

    /// What the process ends with.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::ReadEnough => 0,
            Self::Refused => 1,
            Self::Usage => 2,
            Self::Unreachable => 3,
            Self::NotLoggedIn => 4,
            Self::Declined => 5,
            Self::JobFailed => 10,
            Self::JobPreempted => 11,
            Self::JobCancelled => 12,
            Self::TimeOver => 13,
        }
    }
}

/// Why a command came to nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What scripts are told.
    pub status: Status,
    /// What people are told; nothing where all has been said.
    pub text: String,
}

impl Failure {
    /// What makes no sense.
    #[must_use]
    pub fn usage(text: impl Into<String>) -> Self {
        Self { status: Status::Usage, text: text.into() }
    }

    /// What is refused, or failed.
    #[must_use]
    pub fn refused(text: impl Into<String>) -> Self {
        Self { status: Status::Refused, text: text.into() }
    }

    /// What the process ends with.
    #[must_use]
    pub fn code(&self) -> ExitCode {
        ExitCode::from(self.status.code())
    }
}

impl From<String> for Failure {
    fn from(text: String) -> Self {
        Self::refused(text)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::Status;

    #[test]
    fn each_status_has_one_meaning() {
        let codes: BTreeSet<u8> = Status::ALL.iter().map(|status| status.code()).collect();
        assert_eq!(codes.len(), Status::ALL.len());
        assert!(!codes.contains(&0), "that is for what is done");
    }
}
