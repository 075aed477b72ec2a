//! `tidegate nodes`: the machines, what is free on them, and what is overdue.

use console_model::duration;
use console_model::gpus;
use engine::explain;
use engine::state::cluster::Node;
use engine::state::cluster::NodeStatus;
use engine::state::world::State;
use engine::unit::time::Timestamp;

use crate::service::time;
use crate::shell::at::At;
use crate::shell::failure::Failure;
use crate::shell::person::Person;
use crate::shell::print;
use crate::shell::table::Cell;
use crate::shell::table::Column;
use crate::shell::table::Output;
use crate::shell::table::Table;
use crate::shell::table::Tone;
use crate::shell::table::thousandths;

const COLUMNS: [Column; 8] = [
    Column::words("node", "NODE"),
    Column::words("group", "GROUP"),
    Column::words("status", "STATUS"),
    Column::number("gpus", "GPUS"),
    Column::number("free", "FREE"),
    Column::words("free_amounts", "FREE IN ALL").wide(),
    Column::words("node_type", "TYPE").wide(),
    Column::words("gpu_type", "GPU TYPE").wide(),
];

/// Prints them, and beside tables what is overdue.
pub fn nodes(at: &At) -> Result<(), Failure> {
    let mut person = Person::of(at.context.as_deref())?;
    let (state, now) = (person.state()?, time::now());
    print::table(&table(&state, now), at.output)?;
    if matches!(at.output, Output::Json | Output::Name) {
        return Ok(());
    }
    let overdue = explain::overdue(&state, now);
    overdue.iter().try_for_each(|overdue| print::line(&explain::overdue_words(&state, overdue, now)))
}

fn table(state: &State, now: Timestamp) -> Table {
    let rows = state.nodes.iter().zip(&state.floor.nodes).map(|(node, place)| {
        let (all, free) = (state.cluster.gpus(&node.amount), place.free_gpus());
        let (status, name, tone) = status(node, now);
        vec![
            Cell::of(node.id.as_str()),
            Cell::of(state.groups[node.group.at()].id.as_str()),
            Cell::with(status, name).in_tone(tone),
            Cell::with(gpus::bare(all), thousandths(all)),
            Cell::with(gpus::bare(free), thousandths(free)),
            Cell::of(&explain::amount(state, &place.free)),
            Cell::maybe(node.node_type.as_deref()),
            Cell::maybe(node.gpu_type.as_deref()),
        ]
    });
    Table {
        columns: &COLUMNS,
        rows: rows.collect(),
        empty: "No nodes: what there is are pools, of which any split fits.",
    }
}

/// In words, for scripts, and how it looks.
fn status(node: &Node, now: Timestamp) -> (String, &'static str, Tone) {
    match (node.status, node.silence) {
        (NodeStatus::Dead, _) => ("Dead".to_owned(), "dead", Tone::Bad),
        (NodeStatus::Ready | NodeStatus::Cordoned, Some(silence)) => {
            (format!("Silent for {}", duration::rough(now - silence.since)), "silent", Tone::Bad)
        }
        (NodeStatus::Cordoned, None) => ("Cordoned".to_owned(), "cordoned", Tone::Waits),
        (NodeStatus::Ready, None) => ("Ready".to_owned(), "ready", Tone::Good),
    }
}
