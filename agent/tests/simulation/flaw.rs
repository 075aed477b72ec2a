//! What can be done wrong on purpose.

/// Faults of the service and of the runner, put back to see that the onlooker is not blind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// The end of a grace period frees what the victim still holds.
    FreesAtGraceEnd,
    /// Cancelling frees at once.
    FreesOnCancel,
    /// The pods that a shrinking service gives up change hands at once.
    FreesOnShrink,
    /// A late report of an earlier run ends the current one.
    AnyRunEnds,
    /// What finishes while it is told to stop is queued again.
    QueuesAfterFinish,
    /// Who is silent is taken for dead.
    LostInSilence,
    /// After a restore, grants go on before every agent has been heard.
    GrantsAfterRestore,
    /// A supervisor does not claim.
    NoClaim,
    /// A run is told to be lost while its processes live.
    LostBeforeGone,
    /// A run ends while processes that forked away live.
    LeavesChildren,
    /// Pods are told to have gone while they live.
    GoneBeforeGone,
    /// Pods that a restore does not know go on.
    UnwantedStay,
}
