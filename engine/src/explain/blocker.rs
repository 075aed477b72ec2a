//! Why a source does not serve, as a sentence.

use crate::explain::never::machine;
use crate::explain::never::never;
use crate::explain::spot;
use crate::explain::spot::Comparison;
use crate::explain::words::count;
use crate::explain::words::in_dimension;
use crate::explain::words::period;
use crate::job::hold::Blocker;
use crate::job::hold::Considered;
use crate::state::world::State;
use crate::unit::time::Timestamp;

/// The sentence of a blocker at a time.
#[must_use]
pub fn blocker(state: &State, blocker: &Blocker, now: Timestamp) -> String {
    let amount = |dimension: &u8, value: &i64| in_dimension(state, *dimension, *value);
    match blocker {
        Blocker::LargerThanQuota { quota, dimension, asked, min } => {
            format!(
                "The job asks for {}, {quota} has {} in all. It can never start there.",
                amount(dimension, asked),
                amount(dimension, min)
            )
        }
        Blocker::LargerThanNodes { pods, fit, dimension, asked, largest } if *fit == 0 => format!(
            "{} of {} each: the largest {} has {}. The job can never start on these machines.",
            count(u64::from(*pods), "pod", "pods"),
            amount(dimension, asked),
            machine(state, "machine", "ready machine"),
            amount(dimension, largest)
        ),
        Blocker::LargerThanNodes { pods, fit, dimension, asked, .. } => format!(
            "{} of {} each: the {} have room for {fit} even when they are empty. The job can never start on them.",
            count(u64::from(*pods), "pod", "pods"),
            amount(dimension, asked),
            machine(state, "machines", "ready machines")
        ),
        Blocker::Never(proof) => never(state, proof),
        Blocker::QuotaFull { quota, dimension, asked, free, own } => format!(
            "{quota} has {} of its own, {} of it free; the job asks for {}.",
            amount(dimension, own),
            amount(dimension, &(*free).max(0)),
            amount(dimension, asked)
        ),
        Blocker::NoRoom { pods, fit, dimension, asked, free: _, unsolved: Some(steps) } => format!(
            "No placement was found in {}: {fit} of {} find room, and then one that needs {} does not. It is tried again when something changes.",
            count(u64::from(*steps), "step", "steps"),
            count(u64::from(*pods), "pod", "pods"),
            amount(dimension, asked)
        ),
        Blocker::NoRoom { pods, fit, dimension, asked, free, unsolved: None } => format!(
            "The amount is there, but not the machines: {fit} of {} find room; one needs {}, the most free in one place is {}.",
            count(u64::from(*pods), "pod", "pods"),
            amount(dimension, asked),
            amount(dimension, &(*free).max(0))
        ),
        Blocker::IdleOff => "The job does not use idle resources.".to_owned(),
        Blocker::IdleOnly => "The job uses idle resources only.".to_owned(),
        Blocker::IdleShort { dimension, asked, idle } => {
            format!(
                "Idle and not lent yet: {}; the job asks for {}.",
                amount(dimension, &(*idle).max(0)),
                amount(dimension, asked)
            )
        }
        Blocker::NothingLent => "No idle job stands in the way, so there is nothing to take back.".to_owned(),
        Blocker::ChildLevelOff { quota } => {
            format!("Child-level preemption of {quota} is switched off, so its children's amounts are out of reach.")
        }
        Blocker::NoChildren { quota } => format!("{quota} has no children to take from."),
        Blocker::SelfLevelOff { quota } => format!("Self-level preemption of {quota} is switched off."),
        Blocker::PriorityNotHigh { quota, priority, high } => {
            format!("Priority {priority} is not in the High set of {quota} ({high}), so the job may not preempt.")
        }
        Blocker::NoVictim { quota, considered } => {
            format!("No running job may be taken under the policy of {quota}{}.", safe(considered))
        }
        Blocker::VictimsTooFew { quota, dimension, missing, could_free, considered } => format!(
            "{} is missing, and everything that may be taken under the policy of {quota} would free {}{}.",
            amount(dimension, missing),
            amount(dimension, could_free),
            safe(considered)
        ),
        Blocker::VictimProtected { quota, until, considered } => format!(
            "Jobs that may be taken have just started; {quota} protects them for another {}{}.",
            period(*until - now),
            safe(considered)
        ),
        Blocker::WaitingForRelease { job, until } => {
            format!("{job} is stopping already, and that makes room; it has at most another {}.", period(*until - now))
        }
        Blocker::BehindHead { job } => format!("{job} is at the head of this strict queue and has to start first."),
        Blocker::Reserved { job, until: Some(until) } => format!(
            "{job} has waited too long and holds a reservation; it can start in {} at the earliest, and this job would not have ended by then.",
            period(*until - now)
        ),
        Blocker::Reserved { job, until: None } => {
            format!(
                "{job} has waited too long and holds a reservation; when it can start is not known, since running jobs declare no duration."
            )
        }
        Blocker::NotSolved { quota, steps } => {
            format!(
                "Which jobs to take under the policy of {quota} was not solved in time ({}); it is tried again.",
                count(u64::from(*steps), "step", "steps")
            )
        }
        Blocker::NoBid => "The job draws on a quota and has no bid.".to_owned(),
        Blocker::BelowMarket { offer, bid, price, original, hours, known_hours } => {
            let (bid, asked, original, hours, known_hours) = (*bid, *price, *original, *hours, *known_hours);
            spot::below(state, &Comparison { offer, bid, asked, original, window: None, hours, known_hours })
        }
        Blocker::BelowAverage { offer, bid, average, window, original, hours, known_hours } => {
            let (bid, asked, original, hours, known_hours) = (*bid, *average, *original, *hours, *known_hours);
            spot::below(state, &Comparison { offer, bid, asked, original, window: Some(*window), hours, known_hours })
        }
        Blocker::NextRound { offer } => {
            format!("The price and the inventory of {offer} allow it by now; the next scheduled round decides.")
        }
        Blocker::InventoryShort { offer, asked, free, inventory } => spot::sold_out(offer, *asked, *free, *inventory),
        Blocker::Backoff { until } => format!("It was evicted and is looked at again in {}.", period(*until - now)),
    }
}

/// Who was looked at and why the others are safe.
fn safe(considered: &Considered) -> String {
    let Considered { eligible: _, by_priority, by_module, by_min_runtime, stopping } = considered;
    let parts: Vec<String> = [
        (*by_priority, "safe by priority"),
        (*by_module, "by module"),
        (*by_min_runtime, "by minimum run time"),
        (*stopping, "stopping already"),
    ]
    .iter()
    .filter(|(number, _)| *number > 0)
    .map(|(number, why)| format!("{} {why}", count(u64::from(*number), "job", "jobs")))
    .collect();
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
}
