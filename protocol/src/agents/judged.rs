//! What an agent says of its nodes, and what is to be made of that.
//!
//! Nothing can begin on a node with fewer GPUs than the cluster counts on: the driver numbers those that are left anew, so
//! that nobody knows which ones a job would be given.

use std::borrow::Cow;

use agent::message::NodeReport;
use agent::message::NodeStatus as Fitness;
use engine::state::world::State;
use engine::unit::amount::GPU;
use engine::unit::id::NodeId;
use engine::unit::id::NodeNo;

/// What is to be made of what an agent says of a node.
pub(super) struct Judged<'a> {
    /// What it is called.
    pub(super) name: &'a str,
    /// The node of this name that the cluster has, or had.
    pub(super) no: Option<NodeNo>,
    pub(super) status: Fitness,
    /// Why nothing can begin there.
    pub(super) reason: Option<Cow<'a, str>>,
}

/// What is to be made of what an agent says of its nodes.
pub(super) fn judged<'a>(state: &State, reports: &'a [NodeReport]) -> Vec<Judged<'a>> {
    let judge = |report: &'a NodeReport| {
        let no = NodeId::new(&report.node).ok().and_then(|node| state.node_no_ever(&node));
        let node = no.map(|no| &state.nodes[no.at()]).filter(|node| !node.is_deleted);
        let counted = node.map_or(0, |node| state.cluster.gpus(&node.amount) / GPU);
        let (mut status, mut reason) = (report.status, report.reason.as_deref().map(Cow::Borrowed));
        if status == Fitness::Ready && i64::from(report.gpus) < counted {
            status = Fitness::Unfit;
            reason = Some(format!("it has {} GPUs, and the cluster counts on {counted}", report.gpus).into());
        }
        Judged { name: &report.node, no, status, reason }
    };
    reports.iter().map(judge).collect()
}
