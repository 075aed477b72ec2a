//! Words for sources, amounts and periods.

use crate::job::phase::Source;
use crate::state::world::State;
use crate::unit::amount::Amount;
use crate::unit::id::JobNo;
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
