//! Words for sources, causes, amounts and periods.

use crate::explain::spot;
use crate::job::phase::Source;
use crate::job::run::Fault;
use crate::job::run::Halt;
use crate::job::story::Cause;
use crate::state::world::State;
use crate::unit::amount::Amount;
use crate::unit::id::JobNo;
use crate::unit::quantity::price;
use crate::unit::quantity::quantity;
use crate::unit::time::Millis;

/// A source, as people call it.
#[must_use]
pub fn source(source: Source) -> &'static str {
    match source {
        Source::Own => "own quota",
        Source::Idle => "idle resources",
        Source::Reclaim => "taking back what was lent",
        Source::ChildLevel => "child-level preemption",
        Source::SelfLevel => "self-level preemption",
        Source::Spot => "the spot market",
    }
}

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

/// GPU-milliseconds as hours: `2.5 GPU-hours`, `no GPU-hours`.
#[must_use]
pub fn gpu_hours(gpu_ms: i64) -> String {
    let hundredths = gpu_ms.saturating_add(18_000) / 36_000;
    match (gpu_ms, hundredths) {
        (..=0, _) => "no GPU-hours".to_owned(),
        (_, 0) => "less than 0.01 GPU-hours".to_owned(),
        (_, _) => {
            let (whole, rest) = (hundredths / 100, hundredths % 100);
            let fraction = format!(".{rest:02}");
            let number = format!("{whole}{}", fraction.trim_end_matches('0').trim_end_matches('.'));
            format!("{number} {}", if number == "1" { "GPU-hour" } else { "GPU-hours" })
        }
    }
}

/// A period in its two largest units: `2 h 5 min`, `30 s`.
#[must_use]
pub fn period(period: Millis) -> String {
    let seconds = period.0.max(0) / 1000;
    let (days, hours, minutes, rest) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    let parts: Vec<String> = [(days, "d"), (hours, "h"), (minutes, "min"), (rest, "s")]
        .iter()
        .skip_while(|(value, _)| *value == 0)
        .take(2)
        .filter(|(value, _)| *value > 0)
        .map(|(value, unit)| format!("{value} {unit}"))
        .collect();
    if parts.is_empty() { format!("{} ms", period.0.max(0)) } else { parts.join(" ") }
}

/// An amount: its GPUs, or whatever else it has.
#[must_use]
pub fn amount(state: &State, amount: &Amount) -> String {
    let parts: Vec<String> = state
        .cluster
        .dimensions
        .iter()
        .zip(amount.values())
        .filter(|(_, value)| *value != 0)
        .map(|(dimension, value)| quantity(dimension, value))
        .collect();
    if parts.is_empty() { "nothing".to_owned() } else { parts.join(", ") }
}

/// A value of the dimension at a position.
pub(super) fn in_dimension(state: &State, dimension: u8, value: i64) -> String {
    state
        .cluster
        .dimensions
        .get(usize::from(dimension))
        .map_or_else(|| value.to_string(), |dimension| quantity(dimension, value))
}

/// A job's name, or a word for one that has been forgotten.
pub(super) fn name(state: &State, no: JobNo) -> String {
    state.jobs.get(no).map_or_else(|| "a forgotten job".to_owned(), |job| job.spec.id.to_string())
}

/// `1 job`, `2 jobs`.
pub(super) fn count(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// Words that begin in the middle of a sentence.
pub(super) fn uncapitalised(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}
