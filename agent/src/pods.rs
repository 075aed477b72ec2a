//! Pods that join and leave a run while it goes on.
//!
//! The service says which pods a run should have now, and which should leave; the runner compares. So what it is told may come
//! again and again, like everything else that an answer says.

use serde::Deserialize;
use serde::Serialize;

use crate::run::RunId;

/// A pod of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pod {
    /// Its number within the whole run.
    pub rank: u32,
    /// Where it runs.
    pub node: String,
    /// Which GPUs of that node are its own.
    pub gpus: Vec<u16>,
}

/// What an answer says of the pods of a run that goes on, where that is not only those with which it began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// Which run.
    pub run: RunId,
    /// All pods that should be on this agent's nodes; there may be none for a while.
    pub pods: Vec<Pod>,
    /// Pods that should leave.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leave: Vec<LeaveOrder>,
}

/// An order to some pods of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeaveOrder {
    /// Its number, written as those of runs are.
    pub order: RunId,
    /// Where the pods are that should leave.
    pub places: Vec<Place>,
    /// When what is left of them is killed.
    pub kill_in_ms: u64,
}

/// Where a pod is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// Its node.
    pub node: String,
    /// Its GPUs there.
    pub gpus: Vec<u16>,
}

impl Place {
    /// Where a pod is.
    #[must_use]
    pub fn of(pod: &Pod) -> Self {
        Self { node: pod.node.clone(), gpus: pod.gpus.clone() }
    }
}

/// What a runner is told of a run's pods. Those that it has, and that stand nowhere here, should not be there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pods {
    /// All that should be there.
    pub pods: Vec<Pod>,
    /// Those that should leave.
    pub leave: Vec<Leaving>,
}

/// Pods that should leave by a time of the machine's clock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Leaving {
    /// The number of the order.
    pub order: RunId,
    /// Where they are.
    pub places: Vec<Place>,
    /// When what is left of them is killed.
    pub kill_at: u64,
}

impl Pods {
    /// Whether this says something that was not said before: other pods, or an earlier deadline.
    #[must_use]
    pub fn is_news(&self, before: Option<&Self>) -> bool {
        let Some(before) = before else { return true };
        let orders = |of: &Self| of.leave.iter().map(|leaving| leaving.order).collect::<Vec<_>>();
        let is_earlier = |(now, before): (&Leaving, &Leaving)| now.kill_at < before.kill_at;
        self.pods != before.pods
            || orders(self) != orders(before)
            || self.leave.iter().zip(&before.leave).any(is_earlier)
    }

    /// What a run holds or will hold: what it has, and those that should be there and are not yet.
    #[must_use]
    pub fn with(&self, held: &[Pod]) -> Vec<Pod> {
        let mut left: Vec<Place> = held.iter().map(Place::of).collect();
        let mut all = held.to_vec();
        for pod in &self.pods {
            let place = Place::of(pod);
            match left.iter().position(|other| *other == place) {
                Some(at) => drop(left.swap_remove(at)),
                None => all.push(pod.clone()),
            }
        }
        all
    }
}
