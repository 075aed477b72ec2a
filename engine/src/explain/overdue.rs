//! What should have been reported by now, and what is kept until it is (rules 7.6).

use serde::Deserialize;
use serde::Serialize;

use crate::explain::words;
use crate::explain::words::period;
use crate::job::phase::Phase;
use crate::job::phase::PodAt;
use crate::job::run::RunNo;
use crate::state::jobs::Job;
use crate::state::world::State;
use crate::unit::amount::Amount;
use crate::unit::id::JobId;
use crate::unit::id::NodeId;
use crate::unit::id::NodeNo;
use crate::unit::ordered::Map;
use crate::unit::time::Timestamp;

/// What has not been reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Awaited {
    /// That a run which is killed by now has stopped.
    Stop,
    /// That pods which are killed by now have left.
    Leave,
    /// Anything at all: the node is silent.
    Word,
}

/// A job holds something on a node, and what should have been reported of it has not been.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overdue {
    /// The node.
    pub node: NodeId,
    /// The job.
    pub job: JobId,
    /// Its run.
    pub run: RunNo,
    /// What has not been reported.
    pub awaited: Awaited,
    /// Since when.
    pub since: Timestamp,
    /// What is kept there.
    pub amount: Amount,
}

/// Everything that is overdue, by node and job.
#[must_use]
pub fn overdue(state: &State, now: Timestamp) -> Vec<Overdue> {
    let mut list: Map<(NodeId, JobId, Awaited), Overdue> = Map::new();
    for (_, job) in state.jobs.iter().filter(|(_, job)| state.is_reported(job)) {
        let Some(run) = job.run_no() else { continue };
        for Held { pod, amount, until, awaited } in held(job) {
            let Some((awaited, since)) = awaited_since(state, pod.node, until, awaited, now) else { continue };
            let (node, job) = (state.nodes[pod.node.at()].id.clone(), job.spec.id.clone());
            let key = (node.clone(), job.clone(), awaited);
            let nothing = || Overdue { node, job, run, awaited, since, amount: Amount::ZERO };
            list.or_insert_with(key, nothing).amount += amount;
        }
    }
    list.into_values().collect()
}

/// What a job holds on a node, including what should have left it already.
#[must_use]
pub fn held_on(job: &Job, node: NodeNo) -> Amount {
    let mut amount = Amount::ZERO;
    held(job).into_iter().filter(|held| held.pod.node == node).for_each(|held| amount += held.amount);
    amount
}

/// A pod that holds something, and when it is to be gone.
struct Held {
    pod: PodAt,
    amount: Amount,
    until: Option<Timestamp>,
    awaited: Awaited,
}

fn held(job: &Job) -> Vec<Held> {
    let shape = &job.spec.shape;
    let (extra, until) = match &job.phase {
        Phase::Running { extra, .. } => (&**extra, None),
        Phase::Stopping(stopping) => (&*stopping.extra, Some(stopping.until)),
        Phase::Queued { .. } | Phase::Starting { .. } | Phase::Ended { .. } => return Vec::new(),
    };
    // What is told to stop holds all its places, also if less is owed to it by now.
    let others = (shape.roles().len() == 1).then(|| std::iter::repeat(shape.extra_amount())).into_iter().flatten();
    let places = job.placed().into_iter().flat_map(|placed| placed.pods.iter().copied());
    let gang = places.zip(shape.gang_pod_amounts().chain(others));
    let extra = extra.iter().filter_map(|pod| Some((pod.at?, shape.extra_amount())));
    let pods = gang.chain(extra).map(|(pod, amount)| Held { pod, amount, until, awaited: Awaited::Stop });
    let leaving = job.run.iter().flat_map(|run| &run.leaving).flat_map(|order| {
        let (amount, until) = (shape.extra_amount(), Some(order.until));
        order.pods.iter().map(move |pod| Held { pod: *pod, amount, until, awaited: Awaited::Leave })
    });
    pods.chain(leaving).collect()
}

/// What has not been reported of a pod, and since when.
fn awaited_since(
    state: &State,
    node: NodeNo,
    until: Option<Timestamp>,
    awaited: Awaited,
    now: Timestamp,
) -> Option<(Awaited, Timestamp)> {
    if let Some(until) = until.filter(|until| *until < now) {
        return Some((awaited, until));
    }
    state.nodes[node.at()].silence.map(|silence| (Awaited::Word, silence.since))
}

/// The sentence of it.
#[must_use]
pub fn overdue_words(state: &State, overdue: &Overdue, now: Timestamp) -> String {
    let Overdue { node, job, run: _, awaited, since, amount } = overdue;
    let (time, held) = (period(now - *since), words::amount(state, amount));
    match awaited {
        Awaited::Stop => format!("{node} has not confirmed for {time} that job {job} stopped; {held} of it are kept."),
        Awaited::Leave => {
            format!("{node} has not confirmed for {time} that pods of job {job} have gone; {held} of them are kept.")
        }
        Awaited::Word => format!("{node} has not been heard for {time}; {held} of job {job} are kept."),
    }
}
