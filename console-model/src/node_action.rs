//! What an administrator can do to a node: the command, and what is said before it is sent.

use engine::message::command::ApplyPlan;
use engine::message::command::CancelJob;
use engine::message::command::Command;
use engine::message::command::DeleteNode;
use engine::message::command::PutNode;
use engine::state::cluster::NodeStatus;
use engine::state::jobs::Job;
use engine::state::world::State;
use engine::unit::id::JobId;
use engine::unit::id::NodeNo;
use engine::unit::limit::PLAN_COMMANDS_MAX;

use crate::gpus::bare;
use crate::gpus::gpus;
use crate::nodes::holders;

/// Something that is done to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeAction {
    /// No new pods start there; what runs goes on.
    Cordon,
    /// New pods may start there again.
    Uncordon,
    /// No new pods start there, and what runs is cancelled.
    Drain,
    /// Nothing runs there any more.
    DeclareDead,
    /// The cluster counts on it no more.
    Delete,
}

impl NodeAction {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Cordon, Self::Uncordon, Self::Drain, Self::DeclareDead, Self::Delete];

    /// Those that change something about a node, in the order in which they are offered.
    #[must_use]
    pub fn offered(state: &State, no: NodeNo) -> Vec<Self> {
        let mut offered = match state.nodes[no.at()].status {
            NodeStatus::Ready => vec![Self::Cordon],
            NodeStatus::Cordoned | NodeStatus::Dead => vec![Self::Uncordon],
        };
        let (is_dead, is_held) = (state.nodes[no.at()].status == NodeStatus::Dead, !jobs(state, no).is_empty());
        if !is_dead && is_held {
            offered.push(Self::Drain);
        }
        if !is_dead && state.cluster.is_reported() {
            offered.push(Self::DeclareDead);
        }
        if !is_held {
            offered.push(Self::Delete);
        }
        offered
    }

    /// The words of its button.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Cordon => "Cordon",
            Self::Uncordon => "Uncordon",
            Self::Drain => "Drain",
            Self::DeclareDead => "Declare dead",
            Self::Delete => "Delete",
        }
    }

    /// The title of its question.
    #[must_use]
    pub fn question(self, node: &str) -> String {
        match self {
            Self::Cordon | Self::Uncordon | Self::Drain | Self::Delete => format!("{} {node}?", self.words()),
            Self::DeclareDead => format!("Declare {node} dead?"),
        }
    }

    /// For ids in the document.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cordon => "cordon",
            Self::Uncordon => "uncordon",
            Self::Drain => "drain",
            Self::DeclareDead => "declare-dead",
            Self::Delete => "delete",
        }
    }

    /// Whether jobs or the machine itself end by it.
    #[must_use]
    pub fn ends(self) -> bool {
        matches!(self, Self::Drain | Self::DeclareDead | Self::Delete)
    }

    /// What is said once it is done.
    #[must_use]
    pub fn done(self, node: &str) -> String {
        match self {
            Self::Cordon => format!("{node} is cordoned."),
            Self::Uncordon => format!("New pods may start on {node} again."),
            Self::Drain => format!("{node} is cordoned, and its jobs are cancelled."),
            Self::DeclareDead => format!("{node} was declared dead."),
            Self::Delete => format!("{node} was deleted."),
        }
    }

    /// The command. Of a node with more jobs than one plan may cancel, the rest is for the next time.
    #[must_use]
    pub fn command(self, state: &State, no: NodeNo) -> Command {
        let put = |status| Command::PutNode(PutNode { status, ..PutNode::of(state, &state.nodes[no.at()]) });
        match self {
            Self::Cordon => put(NodeStatus::Cordoned),
            Self::Uncordon => put(NodeStatus::Ready),
            Self::DeclareDead => put(NodeStatus::Dead),
            Self::Delete => Command::DeleteNode(DeleteNode { node: state.nodes[no.at()].id.clone() }),
            Self::Drain => {
                let cancels = jobs(state, no).into_iter().map(|job| Command::CancelJob(CancelJob { job }));
                let commands = std::iter::once(put(NodeStatus::Cordoned)).chain(cancels);
                Command::ApplyPlan(ApplyPlan { commands: commands.take(PLAN_COMMANDS_MAX).collect() })
            }
        }
    }

    /// What it means, in sentences, beside what the engine foresees. `unfit` is why its agent says that nothing can begin
    /// there, if it says so.
    #[must_use]
    pub fn says(self, state: &State, no: NodeNo, unfit: Option<&str>) -> Vec<String> {
        let node = &state.nodes[no.at()];
        let (all, free) = (state.cluster.gpus(&node.amount), state.floor.nodes[no.at()].free_gpus());
        let (id, jobs) = (&node.id, jobs(state, no));
        match self {
            Self::Cordon => {
                let idle =
                    (free > 0).then(|| format!("Free there, and idle from now on: {} of {}.", bare(free), gpus(all)));
                let goes_on = match &jobs[..] {
                    [] => "Nothing runs there.".to_owned(),
                    [job] => format!("{job} goes on there."),
                    jobs => format!("{} jobs go on there.", jobs.len()),
                };
                [Some(format!("No new pods start on {id}.")), idle, Some(goes_on)].into_iter().flatten().collect()
            }
            Self::Uncordon if node.status == NodeStatus::Dead => vec![
                format!("New pods may start on {id}: {}.", gpus(all)),
                "Do this when the machine is back and nothing of earlier runs lives on it.".to_owned(),
            ],
            Self::Uncordon => {
                let opens = format!("New pods may start on {id}: {} of {} free.", bare(free), gpus(all));
                let again = unfit.map(|reason| format!("{reason} Until then it is cordoned again at once."));
                std::iter::once(opens).chain(again).collect()
            }
            Self::Drain => {
                let jobs =
                    if jobs.len() == 1 { "Its job is".to_owned() } else { format!("Its {} jobs are", jobs.len()) };
                vec![
                    format!("No new pods start on {id}. {jobs} cancelled: a running job is not moved to another node."),
                    "To let them finish, cordon the node instead.".to_owned(),
                ]
            }
            Self::DeclareDead => {
                let lost = match &jobs[..] {
                    [] => "Nothing runs there.".to_owned(),
                    [job] => format!("{job} loses its run there."),
                    jobs => format!("{} jobs lose their runs there.", jobs.len()),
                };
                vec![
                    "Only for a machine that is switched off or gone: if something lives there yet, it may run twice."
                        .to_owned(),
                    lost,
                ]
            }
            Self::Delete => without(state, no),
        }
    }
}

/// What goes with a node: its GPUs, and the chances of those who wait for it alone.
fn without(state: &State, no: NodeNo) -> Vec<String> {
    let node = &state.nodes[no.at()];
    let others = state.live_nodes().filter(|(other, of)| *other != no && of.group == node.group);
    let left: i64 = others.map(|(_, other)| state.cluster.gpus(&other.amount)).sum();
    let (group, all) = (&state.groups[node.group.at()].id, state.cluster.gpus(&node.amount));
    let is_left = |other: &NodeNo| *other != no && !state.nodes[other.at()].is_deleted;
    let is_stranded = |job: &&Job| {
        let only = &job.spec.shape.nodes().only;
        job.is_queued() && only.contains(&no) && !only.iter().any(is_left)
    };
    let stranded: Vec<&Job> = state.jobs.iter().map(|(_, job)| job).filter(is_stranded).collect();
    let wait = match &stranded[..] {
        [] => None,
        [job] => Some(format!("{} waits for this node alone, and cannot start without it.", job.spec.id)),
        jobs => Some(format!("{} jobs wait for this node alone, and cannot start without it.", jobs.len())),
    };
    let amount = format!("Group {group} has {} less: {} are left.", gpus(all), bare(left));
    [Some(amount), wait].into_iter().flatten().collect()
}

/// The jobs that hold something there.
fn jobs(state: &State, no: NodeNo) -> Vec<JobId> {
    holders(state, no).into_iter().map(|holder| holder.job).collect()
}

#[cfg(test)]
mod tests {
    use engine::unit::time::Timestamp;

    use super::*;
    use crate::example::START;
    use crate::example::decide;
    use crate::example::two_machines;
    use crate::preview::Verdict;
    use crate::preview::of_change;

    const LATER: Timestamp = Timestamp(START.0 + 3_600_000);
    const N1: NodeNo = NodeNo(0);

    fn does(state: &mut State, action: NodeAction) {
        let command = action.command(state, N1);
        decide(state, &command);
    }

    fn offered(state: &State) -> Vec<&'static str> {
        NodeAction::offered(state, N1).into_iter().map(NodeAction::words).collect()
    }

    #[test]
    fn what_is_offered_changes_something() {
        let mut state = two_machines("reported");
        assert_eq!(offered(&state), ["Cordon", "Drain", "Declare dead"]);
        does(&mut state, NodeAction::DeclareDead);
        assert_eq!(offered(&state), ["Uncordon"], "a gang that lives elsewhere too is told to stop there first");
        assert_eq!(offered(&two_machines("simulated")), ["Cordon", "Drain"]);
        let empty: Vec<_> = NodeAction::offered(&state, NodeNo(2)).into_iter().map(NodeAction::as_str).collect();
        assert_eq!(empty, ["cordon", "declare-dead", "delete"]);
    }

    #[test]
    fn cordoning_takes_nothing_and_says_what_stays_idle() {
        let mut state = two_machines("simulated");
        let says = NodeAction::Cordon.says(&state, N1, None);
        assert_eq!(
            says,
            ["No new pods start on n1.", "Free there, and idle from now on: 1 of 8 GPUs.", "2 jobs go on there."]
        );
        let command = NodeAction::Cordon.command(&state, N1);
        assert_eq!(of_change(&state, &command, LATER).verdict, Verdict::Quiet);
        let before = state.nodes[0].clone();
        decide(&mut state, &command);
        does(&mut state, NodeAction::Uncordon);
        assert_eq!(state.nodes[0], before, "its types and its amount are as they were");
    }

    #[test]
    fn a_node_that_its_agent_cordons_says_why_uncordoning_does_not_help() {
        let mut state = two_machines("reported");
        does(&mut state, NodeAction::Cordon);
        let says = |unfit| NodeAction::Uncordon.says(&state, N1, unfit);
        assert_eq!(says(None), ["New pods may start on n1: 1 of 8 GPUs free."]);
        assert_eq!(
            says(Some("No GPU.")).last().map(String::as_str),
            Some("No GPU. Until then it is cordoned again at once.")
        );
    }

    #[test]
    fn draining_ends_its_jobs_and_names_the_loss() {
        let mut state = two_machines("simulated");
        let command = NodeAction::Drain.command(&state, N1);
        let cost = of_change(&state, &command, LATER).cost;
        assert_eq!(cost.button("Drain"), "Drain and end 2 jobs, lose 12 GPU-hours");
        assert!(NodeAction::Drain.says(&state, N1, None)[0].contains("Its 2 jobs are cancelled"));
        decide(&mut state, &command);
        assert_eq!(offered(&state), ["Uncordon", "Delete"]);
    }

    #[test]
    fn deleting_says_what_is_left_and_who_waits_for_that_node_alone() {
        let mut state = two_machines("simulated");
        let of_n10 = |state: &State| NodeAction::Delete.says(state, NodeNo(2), None);
        assert_eq!(of_n10(&state), ["Group old has 4 GPUs less: 0 are left."]);
        let picky = r#"{"submit_job":{"job":"picky","quota":"team","pods":[{"amount":{"gpu":5000}}],"nodes":{"only":["n10"]}}}"#;
        decide(&mut state, &engine::message::read(picky.as_bytes()).expect("it is a command"));
        assert_eq!(of_n10(&state)[1], "picky waits for this node alone, and cannot start without it.");
        let command = NodeAction::Delete.command(&state, NodeNo(2));
        let refused = of_change(&state, &command, LATER);
        assert_eq!(refused.reason.as_deref(), Some("team would need 20 GPUs, resource group m has 16 left."));
        let scale = r#"{"scale_quotas":{"targets":[{"quota":"team","min":{"gpu":16000}}]}}"#;
        decide(&mut state, &engine::message::read(scale.as_bytes()).expect("it is a command"));
        decide(&mut state, &command);
        assert_eq!(crate::nodes::rows(&state, &crate::nodes::NodeFilter::default()).len(), 2);
        assert_eq!(crate::nodes::named(&state, "n10"), None);
    }

    #[test]
    fn declaring_a_node_dead_says_what_becomes_of_each_job() {
        let state = two_machines("reported");
        assert_eq!(NodeAction::DeclareDead.says(&state, N1, None)[1], "2 jobs lose their runs there.");
        let preview = of_change(&state, &NodeAction::DeclareDead.command(&state, N1), LATER);
        let told = |job: &str| preview.others.iter().any(|line| line.job.as_deref() == Some(job));
        assert!(told("small") && told("wide"), "{preview:?}");
    }
}
