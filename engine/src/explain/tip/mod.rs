//! Changes that would start a waiting job, each tried on a copy before it is told (rules 10).
//!
//! A tip is a promise: who follows it now, by sending its command, or by cancelling the job and submitting it anew as
//! the tip says, sees the job started or granted by the next round, or, where the change itself evicts, by the next round
//! after those jobs have stopped. So each is followed here first, by the same functions and with the whole round: the
//! round at once, and the scheduled one after it. What that takes from others is the price that the tip names.
//!
//! These single changes are looked for, the smallest of each kind:
//! 1. another priority, the next higher first, the lower ones last;
//! 2. child-level preemption of its quota, switched on or widened, with the smallest range of priorities;
//! 3. self-level preemption of its quota, switched on, with its priority in the High set, or with a wider Low set;
//! 4. idle resources *Acceptable*, submitted anew;
//! 5. lending, switched on in one quota;
//! 6. more for its quota, out of what a sibling, or the parent for itself, leaves unused; likewise for an ancestor;
//! 7. fewer pods of one kind (of an elastic job: a smaller minimum), submitted anew, as many as possible; a service in
//!    parts is resized instead, and is neither given idle resources nor smaller pods;
//! 8. fewer GPUs in each pod of one kind, submitted anew, as many as possible;
//! 9. exactly what is missing in its quota or an ancestor out of what a sibling uses, whose jobs are evicted for it;
//! 10. of a bid: a higher one, or fewer instances, submitted anew.
//!
//! More is not always easier (strict heads, reservations, whoever else profits), so nothing is bisected: small ranges
//! are gone through, of large ones such values are tried as the free amounts suggest. In a large cluster a round on a
//! copy takes its time, and explanations are asked for while somebody types: there each kind has a share of trials
//! ([`search`]), spread over its range.

mod amounts;
mod follow;
mod policies;
mod price;
mod proposal;
mod search;
mod sizes;
mod submission;

pub(super) use proposal::Proposal;
pub(super) use search::Search;
pub(super) use sizes::fewer_pods;
pub(super) use submission::submission;

use crate::explain::help::Help;

/// Every kind of change, the smallest first.
pub(super) fn kinds() -> [fn(&mut Search<'_>) -> Option<Help>; 9] {
    [
        policies::priority,
        policies::child_level,
        policies::self_level,
        sizes::idle,
        policies::lending,
        amounts::unused,
        sizes::fewer_pods,
        sizes::fewer_gpus,
        amounts::used,
    ]
}
