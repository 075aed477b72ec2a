//! `tidegate nodes`: the machines, what is free on them and who holds it, their agents, and what is wrong or overdue.

use console_model::agents;
use console_model::agents::Agent;
use console_model::duration;
use console_model::gpus;
use console_model::nodes as model;
use console_model::nodes::Holder;
use console_model::nodes::NodeFilter;
use console_model::nodes::NodeRow;
use console_model::nodes::NodeState;
use engine::explain;
use engine::state::world::State;
use engine::unit::time::Timestamp;
use serde_json::Value;
use serde_json::json;

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
use crate::shell::table::shown;
use crate::shell::table::thousandths;

const COLUMNS: [Column; 14] = [
    Column::words("node", "NODE"),
    Column::words("group", "GROUP"),
    Column::words("status", "STATUS"),
    Column::number("gpus", "GPUS"),
    Column::number("free", "FREE"),
    Column::number("n_jobs", "JOBS"),
    Column::words("agent", "AGENT"),
    Column::words("heard", "HEARD"),
    Column::words("holds", "HOLDS").wide(),
    Column::words("free_amounts", "FREE IN ALL").wide(),
    Column::words("node_type", "TYPE").wide(),
    Column::words("gpu_type", "GPU TYPE").wide(),
    Column::script("unfit"),
    Column::script("overdue"),
];

const AGENTS: [Column; 4] = [
    Column::words("agent", "AGENT"),
    Column::words("heard", "HEARD"),
    Column::words("groups", "GROUPS"),
    Column::words("nodes", "NODES"),
];

/// Prints them, and beside tables their agents, why nothing can begin there, and what is overdue.
pub fn nodes(at: &At) -> Result<(), Failure> {
    let mut person = Person::of(at.context.as_deref())?;
    let state = person.state()?;
    // Of jobs that are simulated there are no agents.
    let agents: Vec<Agent> = if state.cluster.is_reported() { person.read("agents")? } else { Vec::new() };
    let now = time::now();
    let rows = model::rows(&state, &NodeFilter::default());
    print::table(&table(&state, &rows, &agents, now), at.output)?;
    if matches!(at.output, Output::Json | Output::Name) {
        return Ok(());
    }
    if state.cluster.is_reported() {
        print::line("")?;
        print::again(&of_agents(&agents, now), at.output)?;
    }
    let unfit = rows.iter().filter_map(|row| Some(format!("{}: {}", row.node, agents::unfit(&agents, &row.node)?)));
    let overdue = explain::overdue(&state, now);
    let overdue = overdue.iter().map(|overdue| explain::overdue_words(&state, overdue, now));
    unfit.chain(overdue).try_for_each(|sentence| print::line(&shown(&sentence)))
}

fn table(state: &State, rows: &[NodeRow], agents: &[Agent], now: Timestamp) -> Table {
    Table {
        columns: &COLUMNS,
        rows: rows.iter().map(|row| cells(state, row, agents, now)).collect(),
        empty: "No nodes: what there is are pools, of which any split fits.",
    }
}

fn cells(state: &State, row: &NodeRow, agents: &[Agent], now: Timestamp) -> Vec<Cell> {
    let (node, place) = (&state.nodes[row.no.at()], &state.floor.nodes[row.no.at()]);
    let agent = agents::of_node(agents, &row.node);
    let heard = agent.map(|agent| Cell::with(agent.last_heard(now), json!(agent.heard.map(|at| at.0))));
    let n_jobs = u64::try_from(row.n_jobs).unwrap_or(u64::MAX);
    let (status, tone) = status(row, now);
    vec![
        Cell::of(&row.node),
        Cell::of(&row.group),
        Cell::with(status, row.state.as_str()).in_tone(tone),
        Cell::with(gpus::bare(row.gpus), thousandths(row.gpus)),
        Cell::with(gpus::bare(row.free), thousandths(row.free)),
        Cell::with(row.n_jobs.to_string(), n_jobs),
        Cell::maybe(agent.map(|agent| agent.agent.as_str())),
        heard.unwrap_or_else(|| Cell::maybe(None)),
        holds(&model::holders(state, row.no)),
        Cell::of(&explain::amount(state, &place.free)),
        Cell::maybe(node.node_type.as_deref()),
        Cell::maybe(node.gpu_type.as_deref()),
        Cell::maybe(agents::unfit(agents, &row.node).as_deref()),
        Cell::with("", json!(model::overdue(state, &row.node, now))),
    ]
}

/// Who holds what there. A job of a workspace that one does not see has no name.
fn holds(holders: &[Holder]) -> Cell {
    let name = |holder: &Holder| (!holder.job.is_elsewhere()).then(|| holder.job.to_string());
    let words = |holder: &Holder| {
        let job = name(holder).unwrap_or_else(|| "a job of another workspace".to_owned());
        format!("{job}: {}", holder.holds)
    };
    let value = |holder: &Holder| json!({ "job": name(holder), "state": holder.state.as_str(), "holds": holder.holds });
    let told: Vec<String> = holders.iter().map(words).collect();
    Cell::with(told.join("; "), holders.iter().map(value).collect::<Value>())
}

/// In words, and how it looks.
fn status(row: &NodeRow, now: Timestamp) -> (String, Tone) {
    let words = match row.silent_since {
        Some(since) if row.state == NodeState::Silent => format!("Silent for {}", duration::rough(now - since)),
        _ => row.state.words().to_owned(),
    };
    let tone = match row.state {
        NodeState::Silent | NodeState::Dead => Tone::Bad,
        NodeState::Draining | NodeState::Cordoned => Tone::Waits,
        NodeState::Ready => Tone::Good,
    };
    (words, tone)
}

fn of_agents(agents: &[Agent], now: Timestamp) -> Table {
    let row = |agent: &Agent| {
        let nodes: Vec<&str> = agent.nodes.iter().map(|node| node.node.as_str()).collect();
        let heard = Cell::of(&agent.last_heard(now));
        let tone = if agent.missed.is_some() { Tone::Bad } else { Tone::Plain };
        vec![Cell::of(&agent.agent), heard.in_tone(tone), Cell::of(&agent.serves()), Cell::of(&nodes.join(", "))]
    };
    Table {
        columns: &AGENTS,
        rows: agents.iter().map(row).collect(),
        empty: "No agent yet. On a machine with GPUs: tidegate agent join.",
    }
}

#[cfg(test)]
mod tests {
    use engine::host::authority;
    use engine::message;

    use super::*;

    const NOW: Timestamp = Timestamp(1_700_000_000_000);

    fn machines() -> State {
        let mut state = State::default();
        for text in [
            r#"{"create_cluster":{"dimensions":[{"name":"gpu","kind":"gpu"}],"execution":"reported"}}"#,
            r#"{"put_group":{"group":"m","resource_type":"lingjun"}}"#,
            r#"{"put_node":{"node":"n10","group":"m","amount":{"gpu":8000}}}"#,
            r#"{"put_node":{"node":"n2","group":"m","amount":{"gpu":8000}}}"#,
            r#"{"create_quota":{"quota":"team","groups":["m"],"min":{"gpu":16000}}}"#,
            r#"{"submit_job":{"job":"train","quota":"team","pods":[{"amount":{"gpu":4000}}],"nodes":{"only":["n2"]}}}"#,
            r#"{"put_node":{"node":"n2","group":"m","amount":{"gpu":8000},"status":"cordoned"}}"#,
        ] {
            authority::step(&mut state, &message::read(text.as_bytes()).expect("it is a command"), NOW)
                .expect("it is accepted");
        }
        state
    }

    fn agents() -> Vec<Agent> {
        let told = json!([
            { "agent": "east", "serves": ["m"], "heard": NOW.0 + 588_000, "missed": null,
              "nodes": [{ "node": "n2", "unfit": "the driver shows no GPU" }] },
            { "agent": "west", "serves": [], "heard": null, "missed": NOW.0 + 360_000, "nodes": [] },
        ]);
        serde_json::from_value(told).expect("as the service tells it")
    }

    #[test]
    fn a_node_is_shown_with_its_agent_and_what_is_held_there() {
        let (state, later) = (machines(), Timestamp(NOW.0 + 600_000));
        let table = table(&state, &model::rows(&state, &NodeFilter::default()), &agents(), later);
        assert_eq!(
            table.text(Output::Table, false),
            "NODE  GROUP  STATUS    GPUS  FREE  JOBS  AGENT  HEARD\n\
             n2    m      Draining     8     4     1  east   12 s ago\n\
             n10   m      Ready        8     8     0\n"
        );
        assert!(table.text(Output::Wide, false).contains("train: 4 GPUs"));
        let told = table.json();
        assert_eq!(told[0]["holds"], json!([{ "job": "train", "state": "starting", "holds": "4 GPUs" }]));
        assert!(told[0]["unfit"].as_str().is_some_and(|why| why.contains("the driver shows no GPU")), "{told}");
        assert_eq!((&told[0]["heard"], &told[1]["agent"]), (&json!(NOW.0 + 588_000), &Value::Null));
    }

    #[test]
    fn scripts_are_told_what_is_overdue_on_which_node() {
        // Nobody confirms that it has started, so it is told to stop, and nobody confirms that either.
        let later = Timestamp(NOW.0 + 900_000);
        let state = authority::as_of(&machines(), later).into_owned();
        let told = table(&state, &model::rows(&state, &NodeFilter::default()), &[], later).json();
        let overdue = |at: usize| told[at]["overdue"].as_array().map(Vec::len);
        assert_eq!((overdue(0), overdue(1)), (Some(1), Some(0)), "{told}");
    }

    #[test]
    fn agents_are_listed_with_who_is_missed() {
        let text = of_agents(&agents(), Timestamp(NOW.0 + 600_000)).text(Output::Table, false);
        assert_eq!(
            text,
            "AGENT  HEARD                GROUPS                    NODES\n\
             east   12 s ago             m                         n2\n\
             west   not heard for 4 min  its key no longer serves\n"
        );
    }
}
