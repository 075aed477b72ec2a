//! The machines as rows: how each is, what is free on it, and who holds something there.

use std::cmp::Reverse;

use engine::explain;
use engine::job::phase::Phase;
use engine::state::cluster::Node;
use engine::state::cluster::NodeStatus;
use engine::state::jobs::Job;
use engine::state::world::State;
use engine::unit::id::JobId;
use engine::unit::id::NodeId;
use engine::unit::id::NodeNo;
use engine::unit::sort;
use engine::unit::time::Timestamp;

use crate::job_state::JobState;
use crate::tree_rows::natural;

/// How a node is, as people are shown it; what needs them first comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NodeState {
    /// Nobody hears of it.
    Silent,
    /// Somebody has said that nothing runs there any more.
    Dead,
    /// It takes no new pods, and has some yet.
    Draining,
    /// It takes no new pods, and has none.
    Cordoned,
    /// It takes pods.
    Ready,
}

impl NodeState {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Silent, Self::Dead, Self::Draining, Self::Cordoned, Self::Ready];

    /// The state of a node that has so many jobs.
    #[must_use]
    pub fn of(node: &Node, n_jobs: usize) -> Self {
        match (node.status, node.silence) {
            (NodeStatus::Dead, _) => Self::Dead,
            (NodeStatus::Ready | NodeStatus::Cordoned, Some(_)) => Self::Silent,
            (NodeStatus::Cordoned, None) if n_jobs > 0 => Self::Draining,
            (NodeStatus::Cordoned, None) => Self::Cordoned,
            (NodeStatus::Ready, None) => Self::Ready,
        }
    }

    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Silent => "Silent",
            Self::Dead => "Dead",
            Self::Draining => "Draining",
            Self::Cordoned => "Cordoned",
            Self::Ready => "Ready",
        }
    }

    /// What it means, in a sentence.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Self::Silent => "Its agent is not heard: no new pods, and what runs there keeps its GPUs.",
            Self::Dead => "Somebody has said that nothing runs there any more.",
            Self::Draining => "No new pods; what runs there goes on.",
            Self::Cordoned => "No new pods; nothing runs there.",
            Self::Ready => "New pods may start there.",
        }
    }

    /// In the URL and for the stylesheet.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Silent => "silent",
            Self::Dead => "dead",
            Self::Draining => "draining",
            Self::Cordoned => "cordoned",
            Self::Ready => "ready",
        }
    }

    /// A mark beside the words, so that states differ without colour.
    #[must_use]
    pub fn mark(self) -> &'static str {
        match self {
            Self::Silent => "?",
            Self::Dead => "✕",
            Self::Draining => "◌",
            Self::Cordoned => "–",
            Self::Ready => "●",
        }
    }

    /// From the URL.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }
}

/// By what nodes are ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NodeSort {
    /// By name.
    #[default]
    Name,
    /// What needs somebody first.
    State,
    /// The most free first.
    Free,
    /// The most used first.
    Used,
    /// By group.
    Group,
}

impl NodeSort {
    /// All orders.
    pub const ALL: [Self; 5] = [Self::Name, Self::State, Self::Free, Self::Used, Self::Group];

    /// In the URL.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::State => "state",
            Self::Free => "free",
            Self::Used => "used",
            Self::Group => "group",
        }
    }

    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Name => "Name",
            Self::State => "State",
            Self::Free => "Most free first",
            Self::Used => "Most used first",
            Self::Group => "Group",
        }
    }

    /// From the URL.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        Self::ALL.into_iter().find(|sort| sort.as_str() == text).unwrap_or_default()
    }
}

/// What the person has chosen to see.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeFilter {
    /// Part of the node's name, its type or that of its GPUs.
    pub search: String,
    /// Nodes of this group.
    pub group: String,
    /// Nodes in this state.
    pub state: Option<NodeState>,
    /// The order.
    pub sort: NodeSort,
}

/// A row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeRow {
    /// Its number.
    pub no: NodeNo,
    /// Its name.
    pub node: String,
    /// Its group.
    pub group: String,
    /// Its machine's type and that of its GPUs, as far as they are known.
    pub machine: String,
    /// How it is.
    pub state: NodeState,
    /// Since when nobody hears of it.
    pub silent_since: Option<Timestamp>,
    /// Its GPUs, in thousandths.
    pub gpus: i64,
    /// Those of them that are free.
    pub free: i64,
    /// How many jobs hold something there.
    pub n_jobs: usize,
}

/// The nodes to show, in order.
#[must_use]
pub fn rows(state: &State, filter: &NodeFilter) -> Vec<NodeRow> {
    let search = filter.search.trim().to_lowercase();
    let n_jobs = n_jobs(state);
    let is_shown = |row: &NodeRow| {
        (filter.group.is_empty() || row.group == filter.group)
            && filter.state.is_none_or(|wanted| row.state == wanted)
            && [&row.node, &row.machine].into_iter().any(|name| name.to_lowercase().contains(&search))
    };
    let all = state.live_nodes().map(|(no, _)| row(state, no, n_jobs[no.at()]));
    let mut rows: Vec<NodeRow> = all.filter(is_shown).collect();
    sort::by_cached_key(&mut rows, |row| natural(&row.node));
    match filter.sort {
        NodeSort::Name => {}
        NodeSort::State => sort::by_key(&mut rows, |row| row.state),
        NodeSort::Free => sort::by_key(&mut rows, |row| Reverse(row.free)),
        NodeSort::Used => sort::by_key(&mut rows, |row| Reverse(row.gpus - row.free)),
        NodeSort::Group => sort::by_cached_key(&mut rows, |row| natural(&row.group)),
    }
    rows
}

/// The row of the node of this name.
#[must_use]
pub fn named(state: &State, name: &str) -> Option<NodeRow> {
    let no = state.node_no(&NodeId::new(name).ok()?)?;
    Some(row(state, no, holders(state, no).len()))
}

fn row(state: &State, no: NodeNo, n_jobs: usize) -> NodeRow {
    let node = &state.nodes[no.at()];
    let machine: Vec<&str> = [&node.node_type, &node.gpu_type].into_iter().flatten().map(|name| &**name).collect();
    NodeRow {
        no,
        node: node.id.to_string(),
        group: state.groups[node.group.at()].id.to_string(),
        machine: machine.join(", "),
        state: NodeState::of(node, n_jobs),
        silent_since: node.silence.map(|silence| silence.since),
        gpus: state.cluster.gpus(&node.amount),
        free: state.floor.nodes[no.at()].free_gpus(),
        n_jobs,
    }
}

/// How many jobs hold something on each node.
fn n_jobs(state: &State) -> Vec<usize> {
    let mut n_jobs = vec![0; state.nodes.len()];
    for (_, job) in state.jobs.iter() {
        let mut nodes: Vec<NodeNo> = job.nodes().collect();
        sort::by_key(&mut nodes, |no| *no);
        nodes.dedup();
        for no in nodes {
            n_jobs[no.at()] += 1;
        }
    }
    n_jobs
}

/// A job that holds something on a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The job; one of a workspace that one does not see has no page.
    pub job: JobId,
    /// Its state.
    pub state: JobState,
    /// What it holds there, in words.
    pub holds: String,
}

/// The jobs that hold something on a node, by name.
#[must_use]
pub fn holders(state: &State, no: NodeNo) -> Vec<Holder> {
    let holds = |job: &Job| {
        let is_granted = matches!(job.phase, Phase::Starting { .. });
        let held = || explain::amount(state, &explain::held_on(job, no));
        if is_granted { "waits there for its victims to stop".to_owned() } else { held() }
    };
    let holder = |job: &Job| Holder { job: job.spec.id.clone(), state: JobState::of(job), holds: holds(job) };
    let here = state.jobs.iter().filter(|(_, job)| job.nodes().any(|node| node == no));
    let mut holders: Vec<Holder> = here.map(|(_, job)| holder(job)).collect();
    sort::by(&mut holders, |a, b| a.job.cmp(&b.job));
    holders
}

/// What is overdue on a node, in sentences.
#[must_use]
pub fn overdue(state: &State, node: &str, now: Timestamp) -> Vec<String> {
    let here = explain::overdue(state, now).into_iter().filter(|overdue| overdue.node.as_str() == node);
    here.map(|overdue| explain::overdue_words(state, &overdue, now)).collect()
}

#[cfg(test)]
mod tests {
    use engine::message;

    use super::*;
    use crate::example::START;
    use crate::example::decide;
    use crate::example::two_machines;

    fn names(state: &State, filter: &NodeFilter) -> Vec<String> {
        rows(state, filter).into_iter().map(|row| row.node).collect()
    }

    fn send(state: &mut State, text: &str) {
        decide(state, &message::read(text.as_bytes()).expect("it is a command"));
    }

    #[test]
    fn a_row_says_what_is_free_and_how_many_hold_something() {
        let state = two_machines("reported");
        let rows = rows(&state, &NodeFilter::default());
        let shown: Vec<_> = rows.iter().map(|row| (row.node.as_str(), row.gpus, row.free, row.n_jobs)).collect();
        assert_eq!(shown, [("n1", 8_000, 1_000, 2), ("n2", 8_000, 3_000, 1), ("n10", 4_000, 4_000, 0)]);
        assert_eq!(named(&state, "n1").as_ref(), rows.first());
        assert_eq!(named(&state, "n3"), None);
    }

    #[test]
    fn jobs_are_listed_with_what_they_hold_on_this_node() {
        let state = two_machines("reported");
        let list = |at| -> Vec<String> {
            let holders = holders(&state, NodeNo(at)).into_iter();
            holders.map(|holder| format!("{}: {}", holder.job, holder.holds)).collect()
        };
        assert_eq!(list(0), ["small: 2 GPUs", "wide: 5 GPUs"]);
        assert_eq!(list(1), ["wide: 5 GPUs"]);
    }

    #[test]
    fn filters_add_up_and_what_needs_somebody_comes_first() {
        let mut state = two_machines("reported");
        send(&mut state, r#"{"put_node":{"node":"n1","group":"m","amount":{"gpu":8000},"status":"cordoned"}}"#);
        send(&mut state, r#"{"node_silent":{"node":"n10","since":1700000000000}}"#);
        let filter = |text: &str, group: &str, state, sort| NodeFilter {
            search: text.to_owned(),
            group: group.to_owned(),
            state,
            sort,
        };
        let name = NodeSort::Name;
        assert_eq!(names(&state, &filter("", "", None, name)), ["n1", "n2", "n10"]);
        assert_eq!(names(&state, &filter("", "", None, NodeSort::State)), ["n10", "n1", "n2"]);
        assert_eq!(names(&state, &filter("", "", None, NodeSort::Used)), ["n1", "n2", "n10"]);
        assert_eq!(names(&state, &filter("", "", None, NodeSort::Free)), ["n10", "n2", "n1"]);
        assert_eq!(names(&state, &filter("H100", "", None, name)), ["n2"]);
        assert_eq!(names(&state, &filter("", "old", None, name)), ["n10"]);
        assert_eq!(names(&state, &filter("", "m", Some(NodeState::Draining), name)), ["n1"]);
        assert_eq!(names(&state, &filter("", "", Some(NodeState::Silent), name)), ["n10"]);
    }

    #[test]
    fn what_is_overdue_on_a_node_is_told_there_alone() {
        let mut state = two_machines("reported");
        send(&mut state, r#"{"node_silent":{"node":"n2","since":1700000000000}}"#);
        let at = |node| overdue(&state, node, Timestamp(START.0 + 120_000));
        assert_eq!(at("n2"), ["n2 has not been heard for 2 min; 5 GPUs of job wide are kept."]);
        assert_eq!(at("n1"), [""; 0]);
    }
}
