//! Why a source does not serve, as a sentence.

use crate::explain::never::machine;
use crate::explain::never::never;
use crate::explain::spot;
use crate::explain::spot::Comparison;
use crate::explain::words::count;
use crate::explain::words::in_dimension;
use crate::explain::words::period;
use crate::job::considered::Considered;
use crate::job::hold::Attempt;
use crate::job::hold::Blocker;
use crate::job::hold::Hold;
use crate::job::phase::Source;
use crate::ledger::own_min;
use crate::state::world::State;
use crate::unit::id::JobId;
use crate::unit::id::QuotaId;
use crate::unit::time::Timestamp;

/// The binding reason as it is told alone.
#[must_use]
pub fn binding(state: &State, hold: &Hold, now: Timestamp) -> String {
    told_first(hold).map(|attempt| blocker(state, &attempt.blocker, now)).collect::<Vec<_>>().join(" ")
}

/// What is told of a hold where one thing is told. That a policy is not for the job says nothing of why it would need one:
/// what its quota is short of is told before.
pub(super) fn told_first(hold: &Hold) -> impl Iterator<Item = &Attempt> {
    short_of(hold).into_iter().chain(hold.binding())
}

/// What the job's own quota is short of now, where the binding reason does not tell.
pub(super) fn short_of(hold: &Hold) -> Option<&Attempt> {
    hold.binding().filter(|binding| binding.blocker.is_a_switch())?;
    hold.attempts.iter().find(|attempt| attempt.source == Source::Own && !attempt.blocker.is_for_ever())
}

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
        Blocker::LargerThanNodes { pods, fit, dimension, asked, largest } => {
            larger_than_nodes(state, (*pods, *fit), &amount(dimension, asked), &amount(dimension, largest))
        }
        Blocker::QuotaFull { quota, dimension, asked, free, own } => {
            let left = amount(dimension, &(*free).max(0));
            let has = match part(state, quota, *dimension, *own, *free) {
                Part::Own => format!("{} of its own, {left} of it free", amount(dimension, own)),
                Part::All => format!("{} in all, {left} of it free", amount(dimension, own)),
                Part::Unknown => format!("{left} free"),
            };
            format!("{quota} has {has}; the job asks for {}.", amount(dimension, asked))
        }
        Blocker::Never(proof) => never(state, proof),
        Blocker::NoRoom { pods, fit, dimension, asked, free, unsolved } => {
            let (asked_for, left) = (amount(dimension, asked), amount(dimension, &(*free).max(0)));
            match unsolved {
                Some(steps) => not_placed(*steps, (*pods, *fit), &asked_for),
                None if asked <= free && !has_no_nodes(state) => {
                    format!("{}; no node has all at once that one needs.", fragmented(*pods, *fit))
                }
                None => no_room(state, (*pods, *fit), &asked_for, &left),
            }
        }
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
            "The job is short of {}, and everything that may be taken under the policy of {quota} would free {}{}.",
            amount(dimension, missing),
            amount(dimension, could_free),
            safe(considered)
        ),
        Blocker::VictimProtected { quota, until, considered } => protected(quota, *until, considered, now),
        Blocker::WaitingForRelease { job, until } => releasing(state, job, *until, now),
        Blocker::BehindHead { job } => format!("{job} is at the head of this strict queue and has to start first."),
        Blocker::Reserved { job, until } => reserved(job, *until, now),
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
            format!("The price and the inventory of {offer} allow it; the next scheduled round decides.")
        }
        Blocker::LeftOver => "There is room for it by now; the next scheduled round decides who gets it.".to_owned(),
        Blocker::InventoryShort { offer, asked, free, inventory } => spot::sold_out(offer, *asked, *free, *inventory),
        Blocker::Backoff { until } => {
            let when = left(*until, now).map_or_else(|| "in the next round".to_owned(), |left| format!("in {left}"));
            format!("It was evicted and is looked at again {when}.")
        }
    }
}

fn protected(quota: &QuotaId, until: Timestamp, considered: &Considered, now: Timestamp) -> String {
    let protects = match left(until, now) {
        Some(left) => format!("{quota} protects them for another {left}"),
        None => format!("{quota} has protected them until now"),
    };
    format!("Jobs that may be taken have just started; {protects}{}.", safe(considered))
}

fn releasing(state: &State, job: &JobId, until: Timestamp, now: Timestamp) -> String {
    let has = left(until, now)
        .map_or_else(|| "it should have stopped".to_owned(), |left| format!("it has at most another {left}"));
    if state.jobs.find(job).is_some_and(|no| state.shedding.contains(&no) && !state.stopping.contains(&no)) {
        let have = left(until, now)
            .map_or_else(|| "they should have left".to_owned(), |left| format!("they have at most another {left}"));
        return format!("pods of {job} are leaving already, and that makes room; {have}.");
    }
    format!("{job} is stopping already, and that makes room; {has}.")
}

fn reserved(job: &JobId, until: Option<Timestamp>, now: Timestamp) -> String {
    let start = match until.map(|until| left(until, now)) {
        Some(Some(left)) => {
            format!("it can start in {left} at the earliest, and this job would not have ended by then")
        }
        Some(None) => "it may start at any time".to_owned(),
        None => "when it can start is not known, since running jobs declare no duration".to_owned(),
    };
    format!("{job} has waited too long and holds a reservation; {start}.")
}

/// How long it is until then, if that is still to come.
fn left(until: Timestamp, now: Timestamp) -> Option<String> {
    (until > now).then(|| period(until - now))
}

/// Whether what there is are pools, of which any split fits.
fn has_no_nodes(state: &State) -> bool {
    state.live_nodes().next().is_none()
}

/// Pods for which even empty machines have no room: how many, and how many of them would fit.
fn larger_than_nodes(state: &State, (pods, fit): (u32, u32), asked: &str, largest: &str) -> String {
    if has_no_nodes(state) {
        return format!("The job asks for {asked}, the machines have {largest} in all. It can never start on them.");
    }
    if fit == 0 {
        let largest_machine = machine(state, "the largest machine", "the largest ready machine");
        return format!(
            "One pod asks for {asked}: {largest_machine} has {largest}. The job can never start on these machines."
        );
    }
    let pods = count(u64::from(pods), "pod", "pods");
    let machines = machine(state, "the machines", "the ready machines");
    format!(
        "Of {pods}, {machines} have room for {fit} even when they are empty; the next one asks for {asked}. The job can never start on them."
    )
}

/// Pods for which there is no room now: how many, and how many of them fit.
fn no_room(state: &State, (pods, fit): (u32, u32), asked: &str, free: &str) -> String {
    if has_no_nodes(state) {
        return format!("The quota has room, but the machines have {free} free; the job asks for {asked}.");
    }
    format!("{}; one needs {asked}, the most free on one node is {free}.", fragmented(pods, fit))
}

fn not_placed(steps: u32, (pods, fit): (u32, u32), asked: &str) -> String {
    format!(
        "No placement was found in {}: {fit} of {} find room, and then one that needs {asked} does not. It is tried again when something changes.",
        count(u64::from(steps), "step", "steps"),
        count(u64::from(pods), "pod", "pods")
    )
}

fn fragmented(pods: u32, fit: u32) -> String {
    let verb = if pods == 1 { "fits" } else { "fit" };
    format!("Fragmented: the quota has room, but {fit} of {} {verb} on a node", count(u64::from(pods), "pod", "pods"))
}

/// Which part of a quota's amount is meant.
enum Part {
    /// What it has for its own jobs.
    Own,
    /// All of it: an ancestor's, which its descendants use as well.
    All,
    /// What was told earlier, and cannot be read off the numbers.
    Unknown,
}

fn part(state: &State, quota: &QuotaId, dimension: u8, told: i64, free: i64) -> Part {
    let at = usize::from(dimension);
    let known = state.quota_no(quota).map(|no| (&state.quotas[no.at()], &state.ledger.quotas[no.at()]));
    match known {
        Some((quota, book)) if told == quota.min.amount[at] && told != own_min(quota, book, at) => Part::All,
        Some(_) | None if free > told => Part::Unknown,
        Some(_) | None => Part::Own,
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
