//! Why jobs are evicted and runs are stopped, in words.

use crate::explain::spot;
use crate::explain::words::count;
use crate::explain::words::period;
use crate::job::cause::Cause;
use crate::job::halt::Fault;
use crate::job::halt::Halt;
use crate::unit::quantity::price;

/// Why a job was evicted, to follow "evicted" or "preempted".
#[must_use]
pub fn cause(cause: &Cause) -> String {
    match cause {
        Cause::Reclaimed { quota, by } => format!("for {by}: {quota} took back what it had lent"),
        Cause::OverUse { quota, by } => format!("for {by}: {quota} held more than its amount since it was scaled down"),
        Cause::ChildLevel { quota, by } => format!("for {by}: child-level preemption by {quota}"),
        Cause::SelfLevel { quota, by } => format!("for {by}: self-level preemption by {quota}"),
        Cause::LendingEnded => "because what it ran on is no longer lent".to_owned(),
        Cause::BelowPrice { offer, bid, price: asked, original: _ } => {
            format!("because its bid of {} is below the price of {offer}, which is {}", price(*bid), price(*asked))
        }
        Cause::BelowAverage { offer, bid, average, window, original } => {
            spot::below_average(offer, *bid, *average, *window, *original)
        }
        Cause::Outbid { offer, bid, by, higher, original } => spot::outbid(offer, *bid, by, *higher, *original),
        Cause::InventoryShrunk { offer, inventory, held } => {
            format!(
                "because {offer} has {} left, and {held} were in use",
                count(inventory.unsigned_abs(), "instance", "instances")
            )
        }
        Cause::ScaledDown { quota } => format!("because {quota} was scaled down"),
        Cause::Halted(why) => halt(why),
    }
}

/// Why a run was told to stop for no other job's sake, to follow "told to stop".
#[must_use]
pub(super) fn halt(halt: &Halt) -> String {
    match halt {
        Halt::Cancelled => "because the job was cancelled".to_owned(),
        Halt::DurationOver => "because it has run as long as it declared".to_owned(),
        Halt::NotConfirmed { within } => format!("because nobody confirmed within {} that it runs", period(*within)),
        Halt::Failed(failure) => {
            let of = if failure.fault == Fault::Start { "could not be started" } else { "was lost with its node" };
            format!("because it {of}: {}", failure.text())
        }
    }
}

/// What happens to a job that is evicted, in the word of its source: what runs on a quota is preempted, what runs on the
/// market is released.
#[must_use]
pub(super) fn loses(cause: &Cause) -> &'static str {
    match cause {
        Cause::BelowPrice { .. }
        | Cause::BelowAverage { .. }
        | Cause::Outbid { .. }
        | Cause::InventoryShrunk { .. } => "released",
        Cause::Reclaimed { .. }
        | Cause::OverUse { .. }
        | Cause::ChildLevel { .. }
        | Cause::SelfLevel { .. }
        | Cause::LendingEnded
        | Cause::ScaledDown { .. } => "preempted",
        Cause::Halted(_) => "stopped",
    }
}
