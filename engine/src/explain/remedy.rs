//! The smallest single change that would start a job now. Each proposal is tried on a copy by the same rules, so
//! what is proposed does start it.

use std::sync::Arc;

use crate::explain::raise;
use crate::host::planner;
use crate::job::hold::Blocker;
use crate::job::hold::Hold;
use crate::job::phase::Phase;
use crate::job::shape::Shape;
use crate::job::spec::IdlePolicy;
use crate::job::spec::JobSpec;
use crate::message::command::AmountByName;
use crate::message::command::Command;
use crate::message::command::ScaleMode;
use crate::message::command::ScaleQuotas;
use crate::message::command::ScaleTarget;
use crate::message::command::SetPriority;
use crate::message::command::UpdateQuota;
use crate::quota::policy::ChildLevelPreemption;
use crate::quota::settings::QuotaSettings;
use crate::schedule::judge::try_sources;
use crate::schedule::trial::Trial;
use crate::state::world::State;
use crate::unit::amount::DIMENSIONS_MAX;
use crate::unit::id::JobNo;
use crate::unit::ordered::Map;
use crate::unit::priority::Module;
use crate::unit::priority::Priority;
use crate::unit::priority::PrioritySet;
use crate::unit::quantity::quantity;
use crate::unit::time::Timestamp;

/// A change that would start the job now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Help {
    /// What to change.
    pub sentence: String,
    /// The command for it; none where the job itself would have to be submitted differently.
    pub command: Option<Command>,
}

/// The first proposal that works: a priority, a policy switch, idle resources, more GPUs for the quota, a smaller
/// job; of a bid, a higher one or fewer instances.
#[must_use]
pub fn remedy(state: &State, no: JobNo, hold: &Hold, now: Timestamp) -> Option<Help> {
    if state.jobs[no].bids() {
        return raise::remedy(state, no, now);
    }
    let blockers: Vec<&Blocker> = hold.attempts.iter().map(|attempt| &attempt.blocker).collect();
    let commands = [priority(state, no, &blockers), child_level(state, no, &blockers, now), more(state, &blockers)];
    let works = |help: &Help| help.command.as_ref().is_some_and(|command| starts(state, no, command, now));
    let [by_priority, by_switch, by_amount] = commands;
    by_priority
        .filter(works)
        .or(by_switch)
        .or_else(|| idle(state, no, now))
        .or_else(|| by_amount.filter(works))
        .or_else(|| smaller(state, no, now))
}

/// Whether the job runs, or is about to, after a command.
fn starts(state: &State, no: JobNo, command: &Command, now: Timestamp) -> bool {
    let after = planner::preview(state, command, now).ok();
    let phase = after.as_ref().and_then(|preview| preview.after.jobs.get(no)).map(|job| &job.phase);
    matches!(phase, Some(Phase::Running { .. } | Phase::Starting { .. }))
}

fn priority(state: &State, no: JobNo, blockers: &[&Blocker]) -> Option<Help> {
    let high = blockers
        .iter()
        .find_map(|blocker| if let Blocker::PriorityNotHigh { high, .. } = blocker { high.lowest() } else { None })?;
    let job = state.jobs[no].spec.id.clone();
    let sentence = format!("Give it priority {high}: then self-level preemption may start it.");
    Some(Help { sentence, command: Some(Command::SetPriority(SetPriority { job, priority: high })) })
}

/// Child-level preemption switched on, with the smallest range of priorities that suffices.
fn child_level(state: &State, no: JobNo, blockers: &[&Blocker], now: Timestamp) -> Option<Help> {
    blockers.iter().find(|blocker| matches!(blocker, Blocker::ChildLevelOff { .. }))?;
    let quota = &state.quotas[state.jobs[no].spec.quota.at()];
    PrioritySet::range(Priority::LOWEST, Priority::HIGHEST).iter().find_map(|highest| {
        let policy = ChildLevelPreemption {
            preemptible: PrioritySet::range(Priority::LOWEST, highest),
            modules: Module::ALL.into_iter().collect(),
        };
        let settings = QuotaSettings { child_level: Some(policy.clone()), ..quota.settings.clone() };
        let command = Command::UpdateQuota(UpdateQuota { quota: quota.id.clone(), settings });
        let sentence =
            format!("Switch on child-level preemption of {} for jobs of priority {}.", quota.id, policy.preemptible);
        starts(state, no, &command, now).then_some(Help { sentence, command: Some(command) })
    })
}

/// More of what its quota is short of.
fn more(state: &State, blockers: &[&Blocker]) -> Option<Help> {
    let (id, dimension, missing) = blockers.iter().find_map(|blocker| {
        if let Blocker::QuotaFull { quota, dimension, asked, free, .. } = blocker {
            return Some((quota.clone(), *dimension, asked - free));
        }
        let Blocker::LargerThanQuota { quota, dimension, asked, min } = blocker else { return None };
        Some((quota.clone(), *dimension, asked - min))
    })?;
    let quota = &state.quotas[state.quota_no(&id)?.at()];
    let mut min: AmountByName = Map::new();
    for at in (0..DIMENSIONS_MAX).filter(|&at| quota.min.states(at)) {
        let extra = if at == usize::from(dimension) { missing } else { 0 };
        min.insert(state.cluster.dimensions[at].name.clone(), quota.min.amount[at] + extra);
    }
    let unit = &state.cluster.dimensions[usize::from(dimension)];
    let sentence = format!("Give {id} {} more.", quantity(unit, missing));
    let targets = vec![ScaleTarget { quota: id, min }];
    Some(Help { sentence, command: Some(Command::ScaleQuotas(ScaleQuotas { targets, mode: ScaleMode::Drain })) })
}

/// The job as it is, but allowed to use idle resources.
fn idle(state: &State, no: JobNo, now: Timestamp) -> Option<Help> {
    let spec = &state.jobs[no].spec;
    let changed = JobSpec { idle: IdlePolicy::Acceptable, ..spec.clone() };
    let helps = spec.idle == IdlePolicy::Off && try_sources(&Trial::new(state, now), &changed).is_ok();
    helps.then(|| Help {
        sentence: "Submit it with idle resources \"Acceptable\": enough is idle.".to_owned(),
        command: None,
    })
}

/// The largest number of pods of a single kind that would start now.
fn smaller(state: &State, no: JobNo, now: Timestamp) -> Option<Help> {
    let spec = &state.jobs[no].spec;
    let [role] = spec.shape.roles() else { return None };
    let with = |count: u32, gpus_kept: i64| {
        let mut role = role.clone();
        role.count = count;
        if gpus_kept > 0 {
            let at = state.cluster.gpu_dimension(&role.amount)?;
            role.amount[at] = gpus_kept;
        }
        let changed = JobSpec { shape: Arc::new(Shape::new(vec![role], None)), ..spec.clone() };
        try_sources(&Trial::new(state, now), &changed).ok().map(|_| changed.shape.gang_amount())
    };
    let fewer_pods = largest(role.count, |count| with(count, 0));
    let fewer_gpus = || {
        let at = state.cluster.gpu_dimension(&role.amount)?;
        let gpus = u32::try_from(role.amount[at] / 1000).ok()?;
        largest(gpus, |gpus| with(role.count, i64::from(gpus) * 1000))
    };
    let amount = fewer_pods.or_else(fewer_gpus)?;
    Some(Help {
        sentence: format!("Ask for {} in all: that would start now.", super::words::amount(state, &amount)),
        command: None,
    })
}

/// The answer for the largest number below `limit` that has one; more is never easier.
fn largest<T>(limit: u32, answer: impl Fn(u32) -> Option<T>) -> Option<T> {
    let (mut low, mut high) = (0, limit);
    let mut best = None;
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        match answer(middle) {
            Some(found) => (best, low) = (Some(found), middle),
            None => high = middle,
        }
    }
    best
}
