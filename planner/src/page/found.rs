//! What came of a search, in words: also of one that finds nothing, with how near it came.

use crate::words::Language;
use engine::host::plan::goal::Goal;
use engine::host::plan::goal::Reach;
use engine::host::plan::run::Horizon;
use engine::host::plan::search::Found;
use engine::message::command::Command;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;

use fields::change;
use fields::facts::Facts;

/// How far a search looks: as far as the plan, and at least until its goal is decided.
#[must_use]
pub fn horizon(plan: Horizon, goal: &Goal, from: Timestamp) -> Horizon {
    let decided = match goal {
        Goal::StartsBy { by, .. } => *by,
        Goal::WaitsAtMost { at_most, .. } => from + *at_most,
    };
    match plan {
        // A minute more: whoever starts by then has started when the minute is over.
        Horizon::Until(until) => Horizon::Until(until.max(decided + Millis::MINUTE)),
        Horizon::Quiet => Horizon::Quiet,
    }
}

/// The change that was found.
#[must_use]
pub fn command(found: Found) -> Option<Command> {
    match found {
        Found::Change { command, .. } => Some(command),
        Found::Already | Found::Nothing { .. } => None,
    }
}

/// The same for people.
#[must_use]
pub fn words(found: &Found, facts: &Facts) -> String {
    match found {
        Found::Already => "That is so already; nothing has to change.".to_owned(),
        Found::Change { command, tried } => {
            format!("The smallest change that does it: {}. {tried} were tried.", change::line(command, facts))
        }
        Found::Nothing { tried, refused, largest, reach } => {
            let (came, count) = (came(reach), if refused.is_some() { tried - 1 } else { *tried });
            let refused = refused.as_ref().map(ToString::to_string).unwrap_or_default();
            let Some(largest) = largest else {
                return format!("Not even the smallest change is possible: {refused}. As it is, {came}.");
            };
            let none = match count {
                1 => "The one change that could be tried does not do it.".to_owned(),
                count => format!("None of the {count} changes that could be tried does it."),
            };
            let beyond = if refused.is_empty() { String::new() } else { format!(" More is not possible: {refused}.") };
            format!("{none} With the largest, {}, {came}.{beyond}", change::line(largest, facts))
        }
    }
}

/// How near that is.
fn came(reach: &Reach) -> String {
    let period = |length: &Millis| Language::En.period(*length);
    match reach {
        Reach::Starts { job, after, late } => {
            format!("{job} starts after {}, {} too late", period(after), period(late))
        }
        Reach::NeverStarts { job } => format!("{job} does not start as far as the plan looks"),
        Reach::Waits { quota, longest, late } => {
            format!("the longest wait in {quota} is {}, {} too long", period(longest), period(late))
        }
    }
}
