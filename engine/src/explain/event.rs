//! What has happened, as sentences.

use crate::explain::cause::cause;
use crate::explain::cause::halt;
use crate::explain::cause::loses;
use crate::explain::people;
use crate::explain::spot;
use crate::explain::words::amount;
use crate::explain::words::count;
use crate::explain::words::gpu_hours;
use crate::explain::words::name;
use crate::explain::words::period;
use crate::explain::words::source;
use crate::job::phase::Charge;
use crate::job::phase::Outcome;
use crate::job::phase::Placed;
use crate::job::phase::Source;
use crate::job::resize::Resize;
use crate::job::run::RunStep;
use crate::job::story::Episode;
use crate::market::offer::SpotOffer;
use crate::message::event::Event;
use crate::state::cluster::NodeStatus;
use crate::state::cluster::NodeStep;
use crate::state::jobs::Job;
use crate::state::world::State;
use crate::unit::id::JobNo;
use crate::unit::id::NodeId;
use crate::unit::id::OfferNo;
use crate::unit::quantity::price;
use crate::unit::time::Timestamp;

/// The sentence of an event, read from the state after it; nothing for events that nobody reads.
#[must_use]
pub fn event(state: &State, event: &Event) -> Option<String> {
    let quota = |no: &crate::unit::id::QuotaNo| state.quotas.get(no.at()).map_or("a quota", |quota| quota.id.as_str());
    let offer = |no: &OfferNo| state.market.offers.get(no.at()).map_or("an offer", |offer| offer.id.as_str());
    let sentence = match event {
        Event::ClusterCreated { dimensions, .. } => {
            format!("the cluster was created with {}", count(dimensions.len() as u64, "dimension", "dimensions"))
        }
        Event::ClusterUpdated { cluster } => {
            let jobs = if cluster.is_reported() { "really run" } else { "are simulated" };
            format!("jobs {jobs} now, and {} are waited for each to start", period(cluster.start_within))
        }
        Event::GroupPut { group, .. } => format!("resource group {} was added or changed", group.id),
        Event::NodePut { node, .. } if node.status == NodeStatus::Dead => format!("node {} was declared dead", node.id),
        Event::NodePut { node, .. } => format!("node {} was added or changed", node.id),
        Event::Node { no, at, step } => node_step(&state.nodes[no.at()].id, step, *at),
        Event::QuotaCreated { quota, .. } => {
            format!("{} was created with {}", quota.id, amount(state, &quota.min.amount))
        }
        Event::QuotaUpdated { no, .. } => format!("settings of {} were changed", quota(no)),
        Event::QuotasScaled { targets } => {
            let parts: Vec<String> =
                targets.iter().map(|(no, min)| format!("{} to {}", quota(no), amount(state, &min.amount))).collect();
            format!("scaled {}", parts.join(" and "))
        }
        Event::QuotaDeleted { no } => format!("{} was deleted", quota(no)),
        Event::JobSubmitted { no, spec, .. } => match &spec.spot {
            Some(spot) => format!("{} bids on {}", name(state, *no), offer(&spot.offer)),
            None => format!("{} was submitted to {}", name(state, *no), quota(&spec.quota)),
        },
        Event::OfferCreated { offer, .. } => offered(state, offer),
        Event::OfferUpdated { no, .. } => format!("terms of {} were changed", offer(no)),
        Event::OfferDeleted { no } => format!("{} was removed", offer(no)),
        Event::InventorySet { no, inventory, .. } => {
            format!("{} has {} now", offer(no), count(inventory.unsigned_abs(), "instance", "instances"))
        }
        Event::Priced { no, price: now, .. } => priced(state, *no, *now),
        Event::Billed { job, bill, .. } => format!("{} owes for {}", name(state, *job), spot::bill(bill)),
        Event::Promoted { job, .. } => format!("{} is in quota now, without a restart", name(state, *job)),
        Event::Evicted { job, at, until, cause: why, lost_gpu_ms, .. } => {
            let stops = if until > at { format!("; it has {} to stop", period(*until - *at)) } else { String::new() };
            let verb = loses(why);
            format!("{} {verb} {}; {} lost{stops}", name(state, *job), cause(why), gpu_hours(*lost_gpu_ms))
        }
        Event::Shrunk { job, at, pods, cause: why, until, .. } => {
            let pods = count(pods.len() as u64, "pod", "pods");
            let leaves =
                until.map_or_else(String::new, |until| format!("; they have {} to leave", period(until - *at)));
            format!("{} gave up {pods} {}{leaves}", name(state, *job), cause(why))
        }
        Event::Granted { job, placed, waits_for, .. } => format!(
            "{} gets {} by {} once {} stopped",
            name(state, *job),
            held(state, *job),
            source(placed.source),
            if waits_for.len() == 1 {
                format!("{} has", name(state, waits_for[0]))
            } else {
                format!("{} have", count(waits_for.len() as u64, "job", "jobs"))
            }
        ),
        Event::Started { job, placed, is_run, .. } => started(state, *job, placed, *is_run),
        Event::Run { job, at, step } => format!("{} {}", name(state, *job), run_step(step, *at)),
        Event::Grown { job, pods, charge, .. } => {
            let charge = if *charge == Charge::Idle { "not in quota" } else { "in quota" };
            format!("{} grew by {}, {charge}", name(state, *job), count(pods.len() as u64, "pod", "pods"))
        }
        Event::Stopped { job, .. } if state.jobs.get(*job).is_some_and(|job| job.bids() && job.is_queued()) => {
            format!("{} stopped and bids again", name(state, *job))
        }
        Event::Stopped { job, not_before: Some(_), .. } => format!("{} stopped and is queued again", name(state, *job)),
        Event::Stopped { job, .. } => format!("{} stopped", name(state, *job)),
        Event::Returned { job, .. } => format!("{} is looked at again", name(state, *job)),
        Event::Checkpointed { job, .. } => format!("{} wrote a checkpoint", name(state, *job)),
        Event::Ended { job, outcome: how, .. } => format!("{} {}", name(state, *job), outcome(how)),
        Event::CancelledBy { job, by, .. } => format!("{by} cancels {}", name(state, *job)),
        Event::PriorityChanged { job, priority, .. } => format!("{} has priority {priority} now", name(state, *job)),
        Event::Resized { job, resize, .. } => format!("{} {}", name(state, *job), resized(resize)),
        Event::Held { job, at, jobs, hold } => {
            let others = jobs.saturating_sub(1);
            let who = if others == 0 {
                name(state, *job)
            } else {
                format!("{} and {} like it", name(state, *job), count(u64::from(others), "job", "jobs"))
            };
            let verb = if others == 0 { "waits" } else { "wait" };
            format!("{who} {verb}: {}", super::binding(state, hold, *at))
        }
        Event::WorkspacePut { workspace, .. } => format!("workspace {workspace} was added or changed"),
        Event::WorkspaceDeleted { workspace } => format!("workspace {workspace} was deleted"),
        Event::QuotaAttached { workspace, quota: no } => people::attached(quota(no), workspace),
        Event::QuotaDetached { workspace, quota: no } => people::detached(quota(no), workspace),
        Event::MemberPut { workspace, user, roles, .. } => people::member(user, *roles, workspace),
        Event::MemberRemoved { workspace, user } => format!("{user} left workspace {workspace}"),
        Event::KeyPut { key, at, is_now } => people::key(key, *at, is_now),
        Event::KeyForgotten { key } => format!("key {key}, which served no more, was forgotten"),
        Event::Redacted | Event::Forgotten { .. } | Event::Rounded { .. } => return None,
    };
    Some(sentence)
}

/// What has come of a run, to follow the name of its job.
fn run_step(step: &RunStep, at: Timestamp) -> String {
    match step {
        RunStep::Confirmed => "runs".to_owned(),
        RunStep::Halted { until, halt: why, .. } if *until <= at => format!("has to stop {}", halt(why)),
        RunStep::Halted { until, halt: why, .. } => {
            format!("is told to stop {}; it has {}", halt(why), period(*until - at))
        }
        RunStep::Saved { .. } => "wrote a checkpoint before it stopped".to_owned(),
        RunStep::PassedOver { nodes } if nodes.is_empty() => "may go to all its nodes again".to_owned(),
        RunStep::PassedOver { nodes } => {
            format!("passes over {} from now on", count(nodes.len() as u64, "node", "nodes"))
        }
        RunStep::Withdrawn => "waits again: a node on which it was to start is lost".to_owned(),
        RunStep::Vacated { .. } => "has given up the pods that were told to leave".to_owned(),
    }
}

/// What has become of a node.
fn node_step(node: &NodeId, step: &NodeStep, at: Timestamp) -> String {
    match step {
        NodeStep::Silent { since, .. } if *since >= at => format!("node {node} is not heard any more"),
        NodeStep::Silent { since, .. } => format!("node {node} has not been heard for {}", period(at - *since)),
        NodeStep::Heard => format!("node {node} is heard again"),
        NodeStep::Lost => format!("node {node} has been silent for so long that what ran there has been killed"),
        NodeStep::Deleted => format!("node {node} was deleted"),
    }
}

fn resized(resize: &Resize) -> String {
    let pods = |number: u32| count(u64::from(number), "pod", "pods");
    let owed = match resize.shape.extra_pods() {
        0 => pods(resize.owed),
        above => format!("{} to {}", resize.owed, pods(resize.owed.saturating_add(above))),
    };
    match resize.leaving() {
        0 => format!("is to have {owed}"),
        gone => format!("is to have {owed} and gave up {}", pods(gone)),
    }
}

fn started(state: &State, no: JobNo, placed: &Placed, is_run: bool) -> String {
    let held = held(state, no);
    let on = match placed.source {
        Source::Own => held,
        Source::Reclaim if held.contains(" GPU") => held.replacen(" GPU", " reclaimed GPU", 1),
        Source::Idle | Source::Reclaim | Source::ChildLevel | Source::SelfLevel | Source::Spot => {
            format!("{held} by {}", source(placed.source))
        }
    };
    let charge = match placed.charge {
        Charge::InQuota => "in quota",
        Charge::Idle => "not in quota",
        Charge::Spot => "at the market price",
    };
    let verb = if is_run { "is told to start" } else { "started" };
    format!("{} {verb} on {on}, {charge}", name(state, no))
}

fn offered(state: &State, offer: &SpotOffer) -> String {
    let instances = count(offer.inventory.unsigned_abs(), "instance", "instances");
    let (instance, price) = (amount(state, &offer.instance), price(offer.course.price()));
    format!("offer {} was created: {instances} of {instance}, {price} an instance-minute", offer.id)
}

/// A price that has changed, also as a share of the original one.
fn priced(state: &State, no: OfferNo, now: i64) -> String {
    let Some(offer) = state.market.offers.get(no.at()) else { return format!("an offer costs {} now", price(now)) };
    let share = spot::percent(now, offer.terms.original_price);
    format!("{} costs {} an instance-minute now, {share} of the original price", offer.id, price(now))
}

fn capitalised(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn held(state: &State, no: JobNo) -> String {
    state.jobs.get(no).map_or_else(String::new, |job| amount(state, &job.spec.shape.gang_amount()))
}

fn outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Succeeded => "finished".to_owned(),
        Outcome::Failed { reason } => format!("failed: {reason}"),
        Outcome::Preempted => "failed: preempted".to_owned(),
        Outcome::Cancelled => "was cancelled".to_owned(),
    }
}

/// The sentence of an entry in a job's timeline.
#[must_use]
pub fn episode(episode: &Episode) -> String {
    match episode {
        Episode::Granted(by) => format!("Gets its GPUs by {} once its victims have stopped", source(*by)),
        Episode::Started(by, Charge::InQuota) => format!("Started by {}, in quota", source(*by)),
        Episode::Started(by, Charge::Spot) => format!("Started by {}, at the market price", source(*by)),
        Episode::Started(by, Charge::Idle) => format!("Started by {}, not in quota", source(*by)),
        Episode::Confirmed => "Runs".to_owned(),
        Episode::Halted(why) => format!("Told to stop {}", halt(why)),
        Episode::Promoted => "In quota now, without a restart".to_owned(),
        Episode::Evicted { cause: why, lost_gpu_ms, saved_gpu_ms } => {
            let saved = if *saved_gpu_ms > 0 {
                format!(", {} kept by a checkpoint", gpu_hours(*saved_gpu_ms))
            } else {
                String::new()
            };
            let verb = capitalised(loses(why));
            format!("{verb} {}; {} lost{saved}", cause(why), gpu_hours(*lost_gpu_ms))
        }
        Episode::Shrunk { cause: why, pods } => {
            format!("Gave up {} {}", count(u64::from(*pods), "pod", "pods"), cause(why))
        }
        // Nothing grows on the market; the charge of a quota's pod is one of the two.
        Episode::Grown { pods, charge: Charge::InQuota | Charge::Spot } => {
            format!("Grew by {}, in quota", count(u64::from(*pods), "pod", "pods"))
        }
        Episode::Grown { pods, charge: Charge::Idle } => {
            format!("Grew by {}, not in quota", count(u64::from(*pods), "pod", "pods"))
        }
        Episode::Requeued => "Queued again".to_owned(),
        Episode::CancelledBy(by) => format!("Cancelled by {by}"),
        Episode::PriorityChanged => "Priority changed".to_owned(),
        Episode::Resized { pods } => format!("Resized to {}", count(u64::from(*pods), "pod", "pods")),
        Episode::Ended(how) => capitalised(&outcome(how)),
    }
}

/// What evictions and releases have cost a job, as far as its story is kept.
#[must_use]
pub fn losses(job: &Job) -> String {
    let (mut times, mut lost, mut saved) = (0u64, 0i64, 0i64);
    for (_, episode) in &job.story {
        if let Episode::Evicted { lost_gpu_ms, saved_gpu_ms, .. } = episode {
            times += 1;
            lost = lost.saturating_add(*lost_gpu_ms);
            saved = saved.saturating_add(*saved_gpu_ms);
        }
    }
    format!(
        "Stopped {}: {} lost, {} kept by checkpoints.",
        count(times, "time", "times"),
        gpu_hours(lost),
        gpu_hours(saved)
    )
}
