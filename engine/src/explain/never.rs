//! Why a job can never start, as a sentence.

use crate::explain::words;
use crate::explain::words::count;
use crate::explain::words::in_dimension;
use crate::job::never::Never;
use crate::state::world::State;

/// The sentence of a proof.
#[must_use]
pub(super) fn never(state: &State, proof: &Never) -> String {
    let amount = |dimension: &u8, value: &i64| in_dimension(state, *dimension, *value);
    let pods = |number: &u32| count(u64::from(*number), "pod", "pods");
    let machines = machine(state, "machines", "ready machines");
    match proof {
        Never::Own { quota, dimension, asked, own, min } => format!(
            "The job asks for {}; of its {} {quota} keeps {} for its own jobs, and child-level preemption is switched off. It can never start there.",
            amount(dimension, asked),
            amount(dimension, min),
            amount(dimension, own)
        ),
        Never::Level { parent, dimension, asked, level } => format!(
            "The job asks for {}, the children of {parent} have {} together. It can never start there.",
            amount(dimension, asked),
            amount(dimension, level)
        ),
        Never::Lent { dimension, asked, lent } => format!(
            "The job asks for {}; at most {} could ever be lent to it. It can never start on idle resources.",
            amount(dimension, asked),
            amount(dimension, lent)
        ),
        Never::Pod { pod } => format!(
            "One pod needs {}: no {} has all of that. The job can never start on these machines.",
            words::amount(state, pod),
            machine(state, "machine", "ready machine")
        ),
        Never::Count { pods: asked, of, pod, fit } => format!(
            "{asked} of {} need at least {} each: the {machines} have room for {fit} of these even when they are empty. The job can never start on them.",
            pods(of),
            words::amount(state, pod)
        ),
        Never::Sum { pods: number, dimension, asked, total } => format!(
            "{} need {} together: the {machines} have {}. The job can never start on them.",
            pods(number),
            amount(dimension, asked),
            amount(dimension, total)
        ),
        Never::Tried { pods: number, steps: _ } => format!(
            "{} do not fit on the {machines} together even when they are empty; every way was tried. The job can never start on them.",
            pods(number)
        ),
    }
}

/// A word for the machines that count: on cordoned ones nothing starts.
pub(super) fn machine(state: &State, all: &'static str, ready: &'static str) -> &'static str {
    if state.live_nodes().all(|(_, node)| node.is_open()) { all } else { ready }
}
