//! Compares what happened with the expectation, and says the first difference as `expected ..., got ...`.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use engine::job::hold::Blocker;
use engine::job::never::Never;
use engine::job::phase::Charge;
use engine::job::phase::Outcome;
use engine::job::phase::Phase;
use engine::job::phase::Source;
use engine::message::event::Event;
use engine::state::jobs::Job;
use engine::state::world::State;
use engine::unit::id::JobNo;
use engine::unit::time::Timestamp;
use serde_json::Value;

use crate::case::Case;
use crate::case::Expect;
use crate::case::Reason;
use crate::course::Course;
use crate::name::job;
use crate::name::job_id;
use crate::name::quota_id;
use engine::unit::decimal::thousandths;

type Names = BTreeSet<String>;

/// Everything an expectation says but timeline and invariants.
pub(crate) fn all(case: &Case, expect: &Expect, course: &Course) -> Result<(), String> {
    victims(expect, course)?;
    starts(expect, course)?;
    waiting(case, expect, course)?;
    for (name, word) in &expect.state {
        let words = words_of(job(&course.rest, name)?);
        if !words.iter().any(|known| known.eq_ignore_ascii_case(word)) {
            return Err(differs(&format!("state of {name}"), word, &words.join(" or ")));
        }
    }
    for (name, word) in &expect.charge {
        let got = charge_of(job(&course.rest, name)?);
        if got != word {
            return Err(differs(&format!("charge of {name}"), word, got));
        }
    }
    final_usage(expect, course)
}

fn differs(what: &str, expected: &str, got: &str) -> String {
    format!("expected {what} {expected}, got {got}")
}

fn list(names: &Names) -> String {
    if names.is_empty() { "nobody".to_owned() } else { names.iter().cloned().collect::<Vec<_>>().join(", ") }
}

fn names(list: &[String]) -> Names {
    list.iter().cloned().collect()
}

fn name(state: &State, no: JobNo) -> String {
    state.jobs.get(no).map_or_else(|| format!("job {}", no.0), |job| job.spec.id.to_string())
}

fn victims(expect: &Expect, course: &Course) -> Result<(), String> {
    let evicted = course.until_rest.iter().filter_map(|event| {
        let Event::Evicted { job, .. } = event else { return None };
        Some(name(&course.rest, *job))
    });
    let got: Names = evicted.collect();
    if let Some(sets) = &expect.victims_any_of {
        if !sets.iter().any(|set| names(set) == got) {
            let sets: Vec<String> = sets.iter().map(|set| list(&names(set))).collect();
            return Err(differs("victims", &sets.join("; or "), &list(&got)));
        }
    } else if let Some(expected) = expect.victims.as_ref().or(expect.victims_preferred.as_ref())
        && names(expected) != got
    {
        return Err(differs("victims", &list(&names(expected)), &list(&got)));
    }
    let mut pods: BTreeMap<String, u32> = BTreeMap::new();
    for event in &course.until_rest {
        if let Event::Shrunk { job, pods: taken, .. } = event {
            *pods.entry(name(&course.rest, *job)).or_default() += u32::try_from(taken.len()).unwrap_or(u32::MAX);
        }
    }
    let expected = expect.victim_pods.clone().unwrap_or_default();
    if pods != expected && (expect.victims.is_some() || expect.victim_pods.is_some()) {
        return Err(differs("pods taken", &format!("{expected:?}"), &format!("{pods:?}")));
    }
    Ok(())
}

fn starts(expect: &Expect, course: &Course) -> Result<(), String> {
    let started = course.until_rest.iter().filter_map(|event| {
        let Event::Started { job, .. } = event else { return None };
        Some(name(&course.rest, *job))
    });
    let got: Names = started.collect();
    if let Some(expected) = &expect.start
        && names(expected) != got
    {
        return Err(differs("starts", &list(&names(expected)), &list(&got)));
    }
    for (id, expected) in expect.started_pods.iter().flatten() {
        let pods = running_pods(job(&course.rest, id)?);
        if pods != *expected {
            return Err(differs(&format!("pods of {id}"), &expected.to_string(), &pods.to_string()));
        }
    }
    Ok(())
}

fn running_pods(job: &Job) -> u32 {
    match &job.phase {
        Phase::Running { extra, .. } => job.spec.shape.gang_pods() + u32::try_from(extra.len()).unwrap_or(u32::MAX),
        Phase::Queued { .. } | Phase::Starting { .. } | Phase::Stopping { .. } | Phase::Ended { .. } => 0,
    }
}

fn waiting(case: &Case, expect: &Expect, course: &Course) -> Result<(), String> {
    let waits = expect.stay_queued.clone().unwrap_or_default();
    for name in &waits {
        let job = job(&course.rest, name)?;
        if !job.is_queued() {
            return Err(differs(name, "queued", words_of(job)[0]));
        }
    }
    let codes: BTreeMap<String, String> = match &expect.reason {
        None => BTreeMap::new(),
        Some(Reason::Each(each)) => each.clone(),
        Some(Reason::All(code)) => {
            let submitted: Vec<String> = crate::stage::submitted(case).map(|job| job.id.clone()).collect();
            waits.iter().filter(|name| submitted.contains(name)).map(|name| (name.clone(), code.clone())).collect()
        }
    };
    for (name, code) in codes {
        let (got, told) = reason(&course.rest, &name, course.rested)?;
        if got != code {
            return Err(differs(&format!("reason of {name}"), &code, &format!("{got} ({told})")));
        }
    }
    Ok(())
}

/// The code of the binding reason for which a job waits, and the reason as data.
fn reason(state: &State, name: &str, now: Timestamp) -> Result<(&'static str, String), String> {
    let job = job(state, name)?;
    if job.bids() {
        return bid_reason(state, name, now);
    }
    let hold = job.class.and_then(|class| state.queue.classes[class.at()].hold.as_ref());
    let Some(binding) = hold.and_then(|hold| hold.binding()) else {
        return Ok(("no reason", format!("{:?}", job.phase)));
    };
    Ok((code(&binding.blocker, binding.source), format!("{:?}", binding.blocker)))
}

/// A bid is told once why it waits; what holds now comes from asking the market again.
fn bid_reason(state: &State, name: &str, now: Timestamp) -> Result<(&'static str, String), String> {
    let no = state.jobs.find(&job_id(name)?).ok_or_else(|| format!("there is no job {name}"))?;
    let why = engine::explain::why(state, no, now);
    Ok(match why.as_ref().and_then(|why| why.hold.binding()) {
        Some(binding) => (code(&binding.blocker, binding.source), format!("{:?}", binding.blocker)),
        None => ("no reason", format!("{:?}", state.jobs[no].phase)),
    })
}

fn code(blocker: &Blocker, source: Source) -> &'static str {
    match blocker {
        Blocker::LargerThanQuota { .. }
        | Blocker::Never(Never::Own { .. } | Never::Level { .. } | Never::Lent { .. }) => "exceeds_quota_amount",
        Blocker::LargerThanNodes { .. } | Blocker::Never(_) => "exceeds_cluster_capacity",
        Blocker::QuotaFull { .. } | Blocker::IdleShort { .. } => "quota_limit",
        Blocker::ChildLevelOff { .. } => "child_preemption_disabled",
        Blocker::PriorityNotHigh { .. } => "priority_not_in_high_set",
        Blocker::NoRoom { .. } if source >= Source::Reclaim => "insufficient_victims",
        // Without a rule that takes from others, nobody could make room.
        Blocker::NoVictim { .. } | Blocker::NoRoom { .. } => "no_eligible_victim",
        Blocker::VictimsTooFew { .. } => "insufficient_victims",
        Blocker::VictimProtected { .. } => "victim_in_min_runtime",
        Blocker::WaitingForRelease { .. } => "waiting_for_release",
        Blocker::NothingLent => "nothing_lent",
        Blocker::IdleOff | Blocker::IdleOnly => "own_choice",
        Blocker::NoChildren { .. } | Blocker::SelfLevelOff { .. } => "policy_off",
        Blocker::BehindHead { .. } => "behind_head",
        Blocker::Reserved { .. } => "reserved",
        Blocker::NotSolved { .. } => "not_solved_in_time",
        Blocker::Backoff { .. } => "backoff",
        Blocker::NoBid => "no_bid",
        Blocker::BelowMarket { .. } | Blocker::BelowAverage { .. } => "price_below_market",
        Blocker::InventoryShort { .. } => "inventory_short",
        Blocker::NextRound { .. } | Blocker::LeftOver => "next_round",
    }
}

/// The words by which a job's state may be called, the most exact one first.
fn words_of(job: &Job) -> Vec<&'static str> {
    match &job.phase {
        Phase::Queued { .. } if job.progress.evictions > 0 => vec!["Queued", "Preempted"],
        Phase::Queued { .. } => vec!["Queued"],
        Phase::Starting { .. } => vec!["Starting"],
        Phase::Running { placed, .. } if placed.charge == Charge::Idle => vec!["Not in quota", "Running"],
        Phase::Running { .. } => vec!["In quota", "Running"],
        Phase::Stopping { .. } => vec!["Stopping", "Preempted"],
        Phase::Ended { outcome: Outcome::Preempted, .. } => vec!["Preempted", "Failed"],
        Phase::Ended { outcome: Outcome::Failed { .. }, .. } => vec!["Failed"],
        Phase::Ended { outcome: Outcome::Succeeded, .. } => vec!["Succeeded"],
        Phase::Ended { outcome: Outcome::Cancelled, .. } => vec!["Cancelled"],
    }
}

fn charge_of(job: &Job) -> &'static str {
    let Phase::Running { placed, extra, .. } = &job.phase else { return "none" };
    if extra.iter().any(|pod| pod.charge != placed.charge) {
        return "mixed";
    }
    match placed.charge {
        Charge::InQuota => "in_quota",
        Charge::Idle => "not_in_quota",
        Charge::Spot => "spot",
    }
}

/// What the running jobs of a quota and its descendants hold in the end, by resource.
fn final_usage(expect: &Expect, course: &Course) -> Result<(), String> {
    for (quota, amounts) in &expect.final_usage {
        let Some(amounts) = amounts.as_object() else {
            if let Value::Number(number) = amounts {
                usage(course, quota, "gpu", &number.to_string())?;
                continue;
            }
            return Err(format!("final_usage of {quota} is {amounts}; write amounts by resource name"));
        };
        for (resource, value) in amounts {
            usage(course, quota, resource, &value.to_string())?;
        }
    }
    Ok(())
}

fn usage(course: &Course, quota: &str, resource: &str, expected: &str) -> Result<(), String> {
    let state = &course.rest;
    let no =
        state.quota_no(&quota_id(quota)?).ok_or_else(|| format!("there is no quota {quota}; check final_usage"))?;
    let at = state
        .cluster
        .dimension(resource)
        .ok_or_else(|| format!("no dimension is called {resource}; check final_usage of {quota}"))?;
    let running = state
        .jobs
        .iter()
        .filter(|(_, job)| job.is_running() && engine::ledger::is_within(&state.quotas, job.spec.quota, no));
    let held: i64 = running.map(|(job, _)| state.held_by(job)[at]).sum();
    let unit = match state.cluster.dimensions[at].kind {
        engine::unit::amount::DimensionKind::Gpu | engine::unit::amount::DimensionKind::Cpu => 1,
        engine::unit::amount::DimensionKind::Memory | engine::unit::amount::DimensionKind::Other => 1000,
    };
    if thousandths(expected) == Some(held * unit) {
        return Ok(());
    }
    let got = engine::unit::quantity::bare(&state.cluster.dimensions[at], held);
    Err(differs(&format!("final use of {resource} in {quota}"), expected, &got))
}
