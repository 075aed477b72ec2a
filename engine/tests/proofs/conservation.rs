//! Conservation: nothing is used twice, nothing is lent that is not idle, nobody uses more than its guarantee but for
//! the two marked exceptions (rules 2.3).

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use engine::job::phase::ExtraPod;
use engine::job::phase::Phase;
use engine::job::phase::Placed;
use engine::job::phase::PodAt;
use engine::job::phase::Source;
use engine::ledger::check;
use engine::message::event::Event;
use engine::schedule::trial::Trial;
use engine::state::jobs::Job;
use engine::state::world::State;
use engine::unit::amount::Amount;
use engine::unit::id::NodeNo;
use engine::unit::id::QuotaNo;

use crate::history::seeds;
use crate::run::Run;
use crate::run::note;

#[test]
fn nothing_has_two_holders_after_any_command() {
    for seed in seeds(1_500) {
        let mut run = Run::new(seed);
        let mut scaled = BTreeSet::new();
        for _ in 0..90 {
            let (_, command, outcome) = run.step();
            let events = outcome.unwrap_or_default();
            note_scaled(&mut scaled, &run.state, &events);
            if let Some(fault) = fault(&run.state, &scaled) {
                panic!("{fault}\n{}\n{events:?}", note(&run, &command));
            }
        }
    }
}

/// What piles up over days shows in no short history.
#[test]
fn nothing_has_two_holders_after_many_commands() {
    for seed in seeds(100) {
        let mut run = Run::new(seed);
        let mut scaled = BTreeSet::new();
        for at in 0..600 {
            let (_, command, outcome) = run.step();
            note_scaled(&mut scaled, &run.state, &outcome.unwrap_or_default());
            if at % 20 == 0
                && let Some(fault) = fault(&run.state, &scaled)
            {
                panic!("{fault}\n{}", note(&run, &command));
            }
        }
    }
}

/// Quotas that were scaled below their use, until it is below their amount again.
fn note_scaled(scaled: &mut BTreeSet<QuotaNo>, state: &State, events: &[Event]) {
    for event in events {
        if let Event::QuotasScaled { targets } = event {
            scaled.extend(targets.iter().map(|(no, _)| *no));
        }
    }
    scaled.retain(|no| over(state, *no, &Amount::ZERO).is_some());
}

/// The first thing that does not add up.
pub(crate) fn fault(state: &State, scaled: &BTreeSet<QuotaNo>) -> Option<String> {
    check::difference(state)
        .or_else(|| quota_fault(state, scaled))
        .or_else(|| loan_fault(state))
        .or_else(|| machine_fault(state))
}

/// The dimension in which a quota's use exceeds its amount, what is there by right excepted.
fn over(state: &State, no: QuotaNo, by_right: &Amount) -> Option<usize> {
    let quota = &state.quotas[no.at()];
    let used = state.ledger.quotas[no.at()].used.minus(by_right);
    (0..8).find(|&at| quota.min.states(at) && used[at] > quota.min.amount[at])
}

fn quota_fault(state: &State, scaled: &BTreeSet<QuotaNo>) -> Option<String> {
    let is_over = |no: QuotaNo| {
        let by_right = state.running[no.at()].iter().fold(Amount::ZERO, |sum, (_, job)| {
            let is_above = state.jobs[*job].placed().is_some_and(|placed| placed.source == Source::SelfLevel);
            if is_above { sum.plus(&state.jobs[*job].spec.shape.gang_amount()) } else { sum }
        });
        over(state, no, &by_right)
    };
    // Who was scaled is over by itself, and so may everybody above it be who was scaled with it.
    let (no, quota) = state.live_quotas().find(|(no, _)| is_over(*no).is_some() && !scaled.contains(no))?;
    Some(format!("{} uses {:?} of {:?}", quota.id, state.ledger.quotas[no.at()].used, quota.min))
}

fn loan_fault(state: &State) -> Option<String> {
    let is_short = |domain: &&engine::ledger::DomainUse| {
        (0..8).any(|at| domain.stated & (1 << at) != 0 && domain.idle[at] > domain.lend[at])
    };
    state.ledger.domains.iter().find(is_short).map(|domain| format!("more is lent than idle: {domain:?}"))
}

/// Pods of a job with what they need.
pub(crate) fn pods(job: &Job) -> Vec<(Option<PodAt>, Amount)> {
    let all = |placed: &Placed, extra: &[ExtraPod]| {
        let more = extra.iter().map(|pod| (pod.at, job.spec.shape.extra_amount()));
        Trial::gang_pods(&job.spec.shape, placed).chain(more).collect()
    };
    match &job.phase {
        Phase::Running { placed, extra, .. } => all(placed, extra),
        Phase::Stopping(stopping) => all(&stopping.placed, &stopping.extra),
        Phase::Starting { placed, .. } => all(placed, &[]),
        Phase::Queued { .. } | Phase::Ended { .. } => Vec::new(),
    }
}

/// A victim and the job that it makes room for may hold the same; nobody else may.
fn machine_fault(state: &State) -> Option<String> {
    let starting = |job: &Job| matches!(job.phase, Phase::Starting { .. });
    let stopping = |job: &Job| matches!(job.phase, Phase::Stopping { .. });
    machines(state, |job| !starting(job)).or_else(|| machines(state, |job| !stopping(job)))
}

fn machines(state: &State, counts: impl Fn(&Job) -> bool) -> Option<String> {
    let mut nodes: BTreeMap<NodeNo, Amount> = BTreeMap::new();
    let mut gpus: BTreeMap<(NodeNo, u32), i64> = BTreeMap::new();
    let mut pools: BTreeMap<usize, Amount> = BTreeMap::new();
    for (_, job) in state.jobs.iter().filter(|(_, job)| counts(job) && !job.bids()) {
        for (place, amount) in pods(job) {
            let Some(place) = place else {
                let home = state.domains.of_group(job.placed()?.home);
                *pools.entry(home.at()).or_default() += amount;
                continue;
            };
            *nodes.entry(place.node).or_default() += amount;
            let asked = state.cluster.gpus(&amount);
            let held = (0..16).filter(|at| place.gpus & (1 << at) != 0);
            if held.clone().count() != usize::try_from((asked + 999) / 1000).unwrap() {
                return Some(format!("{} holds GPUs {:b} for {asked}", job.spec.id, place.gpus));
            }
            held.for_each(|at| *gpus.entry((place.node, at)).or_default() += asked.min(1000));
        }
    }
    let full_gpu = gpus.iter().find(|(_, held)| **held > 1000).map(|(at, held)| format!("GPU {at:?} holds {held}"));
    let full_node = nodes.iter().find(|(no, used)| !used.fits_in(&state.nodes[no.at()].amount));
    let full_pool = pools.iter().find(|(at, used)| !used.fits_in(&state.domains.list[**at].amount));
    full_gpu
        .or_else(|| full_node.map(|(no, used)| format!("node {no:?} holds {used:?}")))
        .or_else(|| full_pool.map(|(no, used)| format!("pool {no} holds {used:?}")))
}
