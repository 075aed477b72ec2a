//! The machines: how each is, what is free, and their agents.

use engine::state::world::State;
use engine::unit::id::NodeNo;
use engine::unit::time::Timestamp;
use leptos::prelude::*;

use crate::pages::address::title;
use crate::pages::node::node_view;
use crate::session::Session;
use crate::session::agents::Agents;
use crate::session::url;
use crate::widgets::choice::Choice;
use crate::widgets::field::TextField;
use crate::widgets::plain_table::Cell;
use crate::widgets::plain_table::PlainTable;
use console_model::agents;
use console_model::agents::Agent;
use console_model::duration::rough;
use console_model::explained::sentence;
use console_model::gpus::gpus;
use console_model::nodes;
use console_model::nodes::NodeFilter;
use console_model::nodes::NodeRow;
use console_model::nodes::NodeSort;
use console_model::nodes::NodeState;
use console_model::path;

const COLUMNS: [&str; 6] = ["Node", "State", "GPUs used", "Jobs", "Group", "Heard"];

/// The page.
#[component]
pub(crate) fn NodesPage() -> impl IntoView {
    let session = Session::here();
    title(|| "Nodes".to_owned());
    let (search, set_search) = url::typed("q");
    let (group, set_group) = url::chosen("group");
    let (state, set_state) = url::chosen("state");
    let (sort, set_sort) = url::chosen("sort");
    let (open, _) = url::chosen("node");
    let filter = Memo::new(move |_| NodeFilter {
        search: search.get(),
        group: group.get(),
        state: NodeState::parse(&state.get()),
        sort: NodeSort::parse(&sort.get()),
    });
    let is_hovered = RwSignal::new(false);
    let shown = held(session, filter, is_hovered);
    let agents = session.agents();
    let cells = Signal::derive(move || {
        let now = session.now.get();
        agents.with(|agents| {
            let known = agents.as_ref().and_then(|agents| agents.as_ref().ok()).map_or(&[][..], Vec::as_slice);
            let line = |row: &NodeRow| cells(row, known, &filter.get(), &session.name(), now);
            shown.with(|shown| shown.iter().map(line).collect::<Vec<_>>())
        })
    });
    let count = move || {
        let (all, free) = session.ask(in_all).unwrap_or_default();
        let n_shown = shown.with(Vec::len);
        if n_shown == all { format!("{all} nodes, {} free", gpus(free)) } else { format!("{n_shown} of {all} nodes") }
    };
    let sort_value = Signal::derive(move || NodeSort::parse(&sort.get()).as_str().to_owned());
    view! {
        <div class="page-head"><h1>"Nodes"</h1></div>
        <div class="toolbar">
            <TextField id="node-filter" label="Name or type" value=search change=set_search />
            <Choice id="group-filter" label="Group" options=group_options(session) value=group change=set_group />
            <Choice id="state-filter" label="State" options=Signal::stored(state_options()) value=state change=set_state />
            <Choice id="sort" label="Order" options=Signal::stored(sort_options()) value=sort_value change=set_sort />
            <p class="hint" role="status">{count}</p>
        </div>
        <div class="columns">
            <div>
                <div class="card node-list" on:pointerenter=move |_| is_hovered.set(true) on:pointerleave=move |_| is_hovered.set(false)>
                    <PlainTable caption="Nodes" columns=COLUMNS.to_vec() rows=cells empty="No node matches. Pools have no nodes: any split of them fits." />
                </div>
                {agent_list(session, agents)}
            </div>
            {node_view(session, open, agents)}
        </div>
    }
}

/// The nodes in order; while the pointer is on them, only a new filter changes it, so that no row jumps away.
fn held(session: Session, filter: Memo<NodeFilter>, is_hovered: RwSignal<bool>) -> Signal<Vec<NodeRow>> {
    let shown: RwSignal<Vec<NodeRow>> = RwSignal::new(Vec::new());
    Effect::new(move |before: Option<NodeFilter>| {
        let filter = filter.get();
        let is_held = is_hovered.get() && before.as_ref() == Some(&filter);
        let mut rows = session.ask(|state| nodes::rows(state, &filter)).unwrap_or_default();
        if is_held {
            let place = |no: NodeNo| shown.with_untracked(|shown| shown.iter().position(|row| row.no == no));
            rows.sort_by_cached_key(|row| place(row.no).unwrap_or(usize::MAX));
        }
        if shown.with_untracked(|shown| *shown != rows) {
            shown.set(rows);
        }
        filter
    });
    shown.into()
}

fn cells(row: &NodeRow, known: &[Agent], filter: &NodeFilter, cluster: &str, now: Timestamp) -> Vec<Cell> {
    let state = filter.state.map_or("", NodeState::as_str);
    let sort = if filter.sort == NodeSort::default() { "" } else { filter.sort.as_str() };
    let choices =
        [("q", &*filter.search), ("group", &filter.group), ("state", state), ("sort", sort), ("node", &row.node)];
    let words = match row.silent_since {
        Some(since) if row.state == NodeState::Silent => format!("Silent for {}", rough(now - since)),
        _ => row.state.words().to_owned(),
    };
    let heard = agents::of_node(known, &row.node).map_or_else(|| "–".to_owned(), |agent| agent.last_heard(now));
    vec![
        Cell::Link(row.node.clone(), path::nodes_where(cluster, &choices)),
        Cell::State(row.state.as_str(), row.state.mark(), words),
        Cell::Used(row.gpus - row.free, row.gpus),
        Cell::Number(row.n_jobs.to_string()),
        Cell::Text(row.group.clone()),
        Cell::Number(heard),
    ]
}

/// All nodes, and the GPUs that are free on those that take pods.
fn in_all(state: &State) -> (usize, i64) {
    let open = state.live_nodes().filter(|(_, node)| node.is_open());
    (state.live_nodes().count(), open.map(|(no, _)| state.floor.nodes[no.at()].free_gpus()).sum())
}

/// The agents, where jobs really run.
fn agent_list(session: Session, agents: Agents) -> impl IntoView {
    let is_reported = session.is_reported();
    let rows = Signal::derive(move || {
        let now = session.now.get();
        let line = |agent: &Agent| {
            let nodes: Vec<&str> = agent.nodes.iter().map(|node| node.node.as_str()).collect();
            vec![
                Cell::Text(agent.agent.clone()),
                Cell::Number(agent.last_heard(now)),
                Cell::Text(agent.serves()),
                Cell::Text(nodes.join(", ")),
            ]
        };
        agents.with(|agents| agents.iter().flatten().flatten().map(line).collect::<Vec<_>>())
    });
    let failed = move || agents.with(|agents| Some(sentence(&agents.as_ref()?.as_ref().err()?.to_string())));
    move || {
        is_reported.get().then(|| view! {
            <div class="card">
                {move || failed().map(|reason| view! { <p class="warning" role="alert">{reason}</p> })}
                <PlainTable caption="Agents" columns=vec!["Agent", "Heard", "Groups", "Nodes"] rows=rows empty="No agent yet. On a machine with GPUs: tidegate agent join." />
            </div>
        })
    }
}

fn group_options(session: Session) -> Signal<Vec<(String, String)>> {
    let names = Memo::new(move |_| {
        let of_nodes = |state: &State| {
            let groups = state.groups.iter().filter(|group| group.pool.is_none());
            groups.map(|group| group.id.to_string()).collect::<Vec<_>>()
        };
        session.ask(of_nodes).unwrap_or_default()
    });
    Signal::derive(move || {
        let first = std::iter::once((String::new(), "All groups".to_owned()));
        first.chain(names.get().into_iter().map(|name| (name.clone(), name))).collect()
    })
}

fn state_options() -> Vec<(String, String)> {
    let all = NodeState::ALL.map(|state| (state.as_str().to_owned(), state.words().to_owned()));
    std::iter::once((String::new(), "Any state".to_owned())).chain(all).collect()
}

fn sort_options() -> Vec<(String, String)> {
    NodeSort::ALL.map(|sort| (sort.as_str().to_owned(), sort.words().to_owned())).into()
}
