//! The guaranteed come first: nothing is lent in a round that somebody who waits has a right to (rules 3.4).
//!
//! Asked twice. By books of the rules' own: with all that the round lent left out, nobody who still waits has room in
//! what is free for it by right. By the engine itself: in the same round without those who were lent to, nobody else
//! starts in quota, victims and taking back included.

use std::collections::BTreeSet;

use engine::host::authority;
use engine::job::phase::Charge;
use engine::job::phase::Outcome;
use engine::job::phase::Phase;
use engine::job::phase::Source;
use engine::job::spec::IdlePolicy;
use engine::message::command::Command;
use engine::message::event::Event;
use engine::quota::settings::QueueStrategy;
use engine::state::jobs::Job;
use engine::state::world::State;
use engine::transition::apply;
use engine::unit::id::JobNo;
use engine::unit::time::Timestamp;

use crate::ground::Ground;
use crate::ground::Part;
use crate::history::seeds;
use crate::run::Run;
use crate::run::note;

const RUNS: u64 = 800;
const COMMANDS: usize = 100;

/// What was looked at, and the exceptions.
#[derive(Debug, Default)]
struct Counts {
    lent: u32,
    pods_lent: u32,
    waiting: u32,
    behind_heads: u32,
    reserved: u32,
    again: u32,
    kept_out: u32,
}

#[test]
fn nothing_is_lent_that_somebody_who_waits_has_a_right_to() {
    let mut counts = Counts::default();
    for seed in seeds(RUNS) {
        let mut run = Run::new(seed);
        let setup = run.layout.setup.len();
        for _ in 0..setup + COMMANDS {
            let before = run.state.clone();
            let (now, command, outcome) = run.step();
            let events = outcome.unwrap_or_default();
            let lent = lent(&before, &run.state);
            if lent.is_empty() {
                continue;
            }
            let note = format!("{events:?}\n{}", note(&run, &command));
            counts.lent += u32::from(lent.iter().any(|(_, pod)| pod.is_none()));
            counts.pods_lent += u32::from(lent.iter().any(|(_, pod)| pod.is_some()));
            look_at_who_waits(&run.state, &lent, now, &mut counts, &note);
            without_borrowers(&before, &events, &command, now, &mut counts, &note);
        }
    }
    println!("{counts:?}");
    assert!(counts.lent > 0 && counts.waiting > 0, "nothing was lent");
}

/// What is on loan now and was not before.
fn lent(before: &State, after: &State) -> BTreeSet<Part> {
    let (before, after) = (Ground::of(before), Ground::of(after));
    let is_new = |part: &Part| before.held.get(part).is_none_or(|held| held.charge != Some(Charge::Idle));
    let idle = after.held.iter().filter(|(_, held)| held.charge == Some(Charge::Idle));
    idle.map(|(part, _)| *part).filter(is_new).collect()
}

/// Nobody who waits has room in what is free for it by right, were it not for what has been lent.
fn look_at_who_waits(state: &State, lent: &BTreeSet<Part>, now: Timestamp, counts: &mut Counts, note: &str) {
    let ground = Ground::of(state).without(lent);
    for job in judged(state) {
        let is_pool = state.domains.list[state.domains.of_quota(job.spec.quota).at()].is_pool;
        // How pods of several roles are packed is not judged here.
        if job.spec.idle == IdlePolicy::Only || (!is_pool && job.spec.shape.gang().count() > 1) {
            continue;
        }
        counts.waiting += 1;
        let kept = ground.kept_from(job.spec.quota.at());
        let has_child_level = state.quotas[job.spec.quota.at()].settings.child_level.is_some();
        let fits = |source| ground.lets_in(&job.spec, source, &kept, |_| true);
        if !(fits(Source::Own) || has_child_level && fits(Source::ChildLevel)) {
            continue;
        }
        // Those to whom was lent may have kept it out before.
        let others = || judged(state).chain(lent.iter().map(|(no, _)| &state.jobs[*no]));
        if others().any(|other| is_ahead(state, other, job)) {
            counts.behind_heads += 1;
        } else if others().any(|other| binds(state, other, job, now)) {
            counts.reserved += 1;
        } else {
            panic!("{:?} has a right to what was lent to {lent:?}\n{note}", job.spec);
        }
    }
}

/// Whether a job may be the head of a strict queue that another one waits for.
fn is_ahead(state: &State, job: &Job, behind: &Job) -> bool {
    let quota = behind.spec.quota;
    let (settings, min) = (&state.quotas[quota.at()].settings, &state.quotas[quota.at()].min);
    let (ground, asked) = (Ground::of(state), job.spec.shape.gang_amount());
    let is_subtree = settings.child_level.is_some();
    let guaranteed = |at: usize| if is_subtree { min.amount[at] } else { ground.own_part(quota.at(), at) };
    settings.strategy == QueueStrategy::StrictFifo
        && job.spec.quota == quota
        && job.spec.idle != IdlePolicy::Only
        && job.place() < behind.place()
        && (0..8).all(|at| !min.states(at) || asked[at] <= guaranteed(at))
}

/// Whether a job may hold a reservation that binds another one.
fn binds(state: &State, job: &Job, bound: &Job, now: Timestamp) -> bool {
    let domain = |quota| state.domains.of_quota(quota);
    job.spec.idle != IdlePolicy::Only
        && domain(job.spec.quota) == domain(bound.spec.quota)
        && now - job.waiting_since > state.quotas[job.spec.quota.at()].settings.starvation_after
        && job.place() < bound.place()
        && job.spec.priority >= bound.spec.priority
}

/// Who is judged in a round.
fn judged(state: &State) -> impl Iterator<Item = &Job> {
    let is_judged = |job: &Job| !job.bids() && matches!(job.phase, Phase::Queued { not_before: None });
    state.jobs.iter().filter(move |(_, job)| is_judged(job)).map(|(_, job)| job)
}

/// The same without those to whom was lent: nobody else starts in quota.
fn without_borrowers(
    before: &State,
    events: &[Event],
    command: &Command,
    now: Timestamp,
    counts: &mut Counts,
    note: &str,
) {
    let was_waiting = |no: JobNo| before.jobs.get(no).is_some_and(|job| job.is_queued() && !job.bids());
    let borrowers: Vec<JobNo> = events
        .iter()
        .filter_map(|event| match event {
            Event::Started { job, placed, .. } | Event::Granted { job, placed, .. } => {
                (placed.charge == Charge::Idle && was_waiting(*job)).then_some(*job)
            }
            _ => None,
        })
        .collect();
    if borrowers.is_empty() {
        return;
    }
    let mut state = before.clone();
    for no in &borrowers {
        let at = before.jobs[*no].waiting_since;
        apply(&mut state, &Event::Ended { job: *no, at, outcome: Outcome::Cancelled });
    }
    let Ok(others) = authority::step(&mut state, command, now) else { return };
    counts.again += 1;
    let (with, without) = (served(events), served(&others));
    for no in without.in_quota.difference(&with.all).copied() {
        let job = &state.jobs[no];
        let mut who = borrowers.iter().map(|no| &before.jobs[*no]);
        let was_kept_out = who.any(|other| is_ahead(&state, other, job) || binds(&state, other, job, now));
        counts.kept_out += u32::from(was_kept_out);
        assert!(was_kept_out, "without those to whom was lent starts {:?}\n{others:?}\n{note}", job.spec);
    }
}

#[derive(Default)]
struct Served {
    all: BTreeSet<JobNo>,
    in_quota: BTreeSet<JobNo>,
}

fn served(events: &[Event]) -> Served {
    let mut served = Served::default();
    for event in events {
        if let Event::Started { job, placed, .. } | Event::Granted { job, placed, .. } = event {
            served.all.insert(*job);
            if placed.charge == Charge::InQuota {
                served.in_quota.insert(*job);
            }
        }
    }
    served
}
