//! Executions of a target, by their numbers.

use std::panic::AssertUnwindSafe;
use std::panic::catch_unwind;
use std::time::Duration;
use std::time::Instant;

use crate::corpus;
use crate::mutate::Stock;
use crate::targets::TARGETS;
use crate::told::Told;

/// Longer is a fault: readers of the service have other things to do.
const TIME_MAX: Duration = Duration::from_secs(20);

/// How often it is said how far a run is, so that one that is cut short has its count.
const TOLD_EVERY: Duration = Duration::from_secs(10);

/// What executions came to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Executions.
    pub executed: u64,
    /// Inputs that were read.
    pub read: u64,
    /// Inputs that were read and then accepted by what they are for.
    pub accepted: u64,
    /// The most memory that one took, in bytes.
    pub memory: usize,
    /// The longest of them, and its number.
    pub slowest: (Duration, u64),
}

/// Executes a target so many times from a number on.
///
/// # Errors
/// What was found, with the line that repeats it.
pub fn run(name: &str, from: u64, count: u64) -> Result<Counts, String> {
    let target =
        TARGETS.iter().find(|target| target.name == name).ok_or_else(|| format!("there is no target {name}"))?;
    let stock = Stock::of(corpus::of(name)?);
    let mut check = target.work.check()?;
    let (mut counts, mut told) = (Counts::default(), Instant::now());
    for number in from..from.saturating_add(count) {
        let input = stock.input(number);
        let begun = Instant::now();
        let (done, bytes) = heap::peak(|| catch_unwind(AssertUnwindSafe(|| check(&input))));
        let took = begun.elapsed();
        let found = |what: &str| {
            let shown = String::from_utf8_lossy(&input);
            Err(format!(
                "{name}, execution {number}: {what}\nTIDEGATE_FROM={number} TIDEGATE_COUNT=1 repeats it\n{shown}"
            ))
        };
        match done {
            Err(_) => return found("it panics"),
            Ok(Err(what)) => return found(&what),
            Ok(Ok(_)) if bytes > target.memory_max => {
                return found(&format!("it takes {bytes} bytes, more than {}", target.memory_max));
            }
            Ok(Ok(_)) if took > TIME_MAX => return found(&format!("it takes {} s", took.as_secs())),
            Ok(Ok(told)) => {
                counts.read += u64::from(told != Told::Refused);
                counts.accepted += u64::from(told == Told::Accepted);
            }
        }
        counts.executed += 1;
        counts.memory = counts.memory.max(bytes);
        counts.slowest = counts.slowest.max((took, number));
        if told.elapsed() > TOLD_EVERY {
            println!("fuzz {name}: {from} to {number} hold");
            told = Instant::now();
        }
    }
    Ok(counts)
}
