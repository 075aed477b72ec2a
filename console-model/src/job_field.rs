//! The fields of the submit form, as faults name them.

/// A field of the form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// The job's name.
    Job,
    /// The quota.
    Quota,
    /// The workspace.
    Workspace,
    /// The number of pods.
    Pods,
    /// The amount of a pod in a dimension.
    Amount(usize),
    /// The priority.
    Priority,
    /// The number of restarts.
    Restarts,
    /// The checkpoint interval.
    Checkpoint,
    /// The duration.
    Duration,
    /// The price that is bid.
    Price,
    /// What it executes.
    Command,
    /// The variables of that.
    Environment,
}
