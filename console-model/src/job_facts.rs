//! What there is to know of a job beside its state: what it asks for, where it runs, what has happened to it.

use std::collections::BTreeMap;

use engine::explain;
use engine::job::story::Episode;
use engine::state::jobs::Job;
use engine::state::world::State;
use engine::unit::id::NodeNo;
use engine::unit::time::Timestamp;

use crate::explained;

/// What it asks for, and what is known of it, each with its label.
#[must_use]
pub fn facts(state: &State, job: &Job) -> Vec<(&'static str, String)> {
    let spec = &job.spec;
    let pods =
        spec.shape.roles().iter().map(|role| format!("{} × {}", role.count, explain::amount(state, &role.amount)));
    let mut facts = vec![
        ("In all", explain::amount(state, &spec.shape.gang_amount())),
        ("Pods", pods.collect::<Vec<_>>().join(", ")),
        ("Module", spec.module.as_str().to_owned()),
        ("Priority", spec.priority.to_string()),
        ("Idle resources", explained::idle_policy(spec.idle).to_owned()),
        (
            "Fault tolerance",
            spec.fault_tolerance.map_or_else(
                || "off".to_owned(),
                |tolerance| format!("on, {} restarts at most", tolerance.max_restarts),
            ),
        ),
        (
            "Checkpoints",
            spec.checkpoint.map_or_else(
                || "none declared".to_owned(),
                |period| format!("every {}", explain::period(period.get())),
            ),
        ),
        ("Duration", spec.duration.map_or_else(|| "not declared".to_owned(), |period| explain::period(period.get()))),
        ("Evictions", job.progress.evictions.to_string()),
    ];
    let optional = [
        ("Runs on", runs_on(state, job)),
        ("Workspace", spec.workspace.as_ref().map(ToString::to_string)),
        ("User", spec.user.as_ref().map(ToString::to_string)),
        ("Name", spec.name.as_ref().map(ToString::to_string)),
    ];
    facts.extend(optional.into_iter().filter_map(|(label, value)| value.map(|value| (label, value))));
    facts
}

/// How many nodes are named; of more, their number.
const NODES_NAMED: usize = 8;

/// The nodes on which its pods are, with the GPUs that they have there.
#[must_use]
pub fn runs_on(state: &State, job: &Job) -> Option<String> {
    let mut held: BTreeMap<NodeNo, u16> = BTreeMap::new();
    for pod in &job.placed()?.pods {
        *held.entry(pod.node).or_default() |= pod.gpus;
    }
    let on = |(node, gpus): (&NodeNo, &u16)| {
        let numbers = (0..u16::BITS).filter(|gpu| gpus & (1 << gpu) != 0).map(|gpu| gpu.to_string());
        let numbers = numbers.collect::<Vec<_>>().join(", ");
        let name = &state.nodes[node.at()].id;
        if numbers.is_empty() { name.to_string() } else { format!("{name} (GPU {numbers})") }
    };
    let mut named: Vec<String> = held.iter().take(NODES_NAMED).map(on).collect();
    if held.len() > NODES_NAMED {
        named.push(format!("{} more", held.len() - NODES_NAMED));
    }
    (!named.is_empty()).then(|| named.join("; "))
}

/// What has happened to it, the oldest first: when, in a sentence, and whether it lost something.
#[must_use]
pub fn moments(job: &Job) -> Vec<(Timestamp, String, bool)> {
    let mut moments = vec![(job.submitted, "Submitted.".to_owned(), false)];
    let told =
        |(at, episode): &(Timestamp, Episode)| (*at, explained::sentence(&explain::episode(episode)), is_loss(episode));
    moments.extend(job.story.iter().map(told));
    moments
}

/// What was taken from it last, unless it runs again.
#[must_use]
pub fn taken(job: &Job) -> Option<String> {
    let last_loss = job.story.iter().rev().map(|(_, episode)| episode).find(|episode| is_loss(episode));
    last_loss.filter(|_| !job.is_running()).map(|episode| explained::sentence(&explain::episode(episode)))
}

fn is_loss(episode: &Episode) -> bool {
    matches!(episode, Episode::Evicted { .. } | Episode::Shrunk { .. })
}
