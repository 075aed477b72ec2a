//! Reasons: what a round stored and what is told when somebody asks name the same reason, and every number in them can
//! be found in the ground facts.

use std::collections::BTreeMap;

use engine::explain;
use engine::host::authority;
use engine::job::hold::Blocker;
use engine::job::phase::Charge;
use engine::job::phase::Phase;
use engine::job::run::Run;
use engine::message::command::CancelJob;
use engine::message::command::Command;
use engine::quota::settings::QueueStrategy;
use engine::state::world::State;
use engine::unit::id::JobNo;
use engine::unit::id::QuotaId;
use engine::unit::id::QuotaNo;
use engine::unit::time::Timestamp;

use crate::history::each_waiting;
use crate::history::seeds;
use crate::tips::Act;
use crate::tips::starts;

const HISTORIES: u64 = 1_000;

#[test]
fn a_round_and_an_answer_name_the_same_reason() {
    let (mut n_compared, mut kinds) = (0u64, BTreeMap::new());
    let seeds = seeds(HISTORIES);
    for seed in seeds.clone() {
        each_waiting(seed, false, 60, |state, no, now| {
            let job = &state.jobs[no];
            let stored = job.class.and_then(|class| state.queue.classes[class.at()].hold.clone());
            // Who has started since it was stored is for the next round to take into account.
            let Some(stored) = stored.filter(|_| !state.is_stale(now) && state.is_settled(now)) else { return Ok(()) };
            if matches!(job.phase, Phase::Queued { not_before: Some(_) }) {
                return Ok(());
            }
            let (stored, asked) = (stored.binding().cloned(), explain::hold(state, no, now));
            let asked = asked.and_then(|hold| hold.binding().cloned());
            n_compared += 1;
            let (Some(stored), Some(asked)) = (stored, asked) else { return Err("no reason".to_owned()) };
            *kinds.entry(format!("{:?}", std::mem::discriminant(&stored.blocker))).or_insert(0u64) += 1;
            if stored.is_same_kind(&asked) { Ok(()) } else { Err(format!("stored {stored:?}, asked {asked:?}")) }
        });
    }
    println!("histories {seeds:?}: {n_compared} reasons compared, of {} kinds", kinds.len());
    assert!(n_compared > seeds.end - seeds.start && kinds.len() > 4, "{n_compared} of {kinds:?}");
}

/// What the jobs of quotas hold in quota, in one dimension.
fn used(state: &State, at: usize, is_counted: impl Fn(QuotaNo) -> bool) -> i64 {
    let of_job = |no: JobNo| {
        let job = &state.jobs[no];
        let gang = |charge: Charge| if charge == Charge::InQuota { job.spec.shape.gang_amount()[at] } else { 0 };
        match &job.phase {
            Phase::Running { placed, extra, .. } => {
                let pods = extra.iter().filter(|pod| pod.charge == Charge::InQuota).count();
                gang(placed.charge) + job.spec.shape.extra_amount()[at] * i64::try_from(pods).unwrap()
            }
            Phase::Starting { placed, .. } => gang(placed.charge),
            Phase::Queued { .. } | Phase::Stopping(_) | Phase::Ended { .. } => 0,
        }
    };
    let counted = state.jobs.iter().filter(|(_, job)| !job.bids() && is_counted(job.spec.quota));
    counted.map(|(no, _)| of_job(no)).sum()
}

fn is_within(state: &State, mut no: QuotaNo, ancestor: QuotaNo) -> bool {
    while no != ancestor {
        let Some(parent) = state.quotas[no.at()].parent else { return false };
        no = parent;
    }
    true
}

/// What a quota's children claim: each its amount or its use, whichever is more.
fn claimed(state: &State, quota: QuotaNo, at: usize) -> i64 {
    let children = state.live_quotas().filter(|(_, child)| child.parent == Some(quota));
    children
        .map(|(no, child)| {
            let stated = if child.min.states(at) { child.min.amount[at] } else { 0 };
            stated.max(used(state, at, |other| is_within(state, other, no)))
        })
        .sum()
}

fn is_idle(state: &State, no: JobNo) -> bool {
    match &state.jobs[no].phase {
        Phase::Running { placed, extra, .. } => {
            placed.charge == Charge::Idle || extra.iter().any(|pod| pod.charge == Charge::Idle)
        }
        Phase::Starting { placed, .. } => placed.charge == Charge::Idle,
        Phase::Queued { .. } | Phase::Stopping(_) | Phase::Ended { .. } => false,
    }
}

/// Whether a job would start in quota if whoever is idle in its domain were gone.
fn stands_in_the_way(state: &State, no: JobNo, now: Timestamp) -> bool {
    let mut without = state.clone();
    let own = state.domains.of_quota(state.jobs[no].spec.quota);
    for (other, job) in state.jobs.iter().filter(|(_, job)| !job.bids()) {
        let home = job.placed().map(|placed| state.domains.of_group(placed.home));
        if home == Some(own) && is_idle(state, other) {
            let cancel = Command::CancelJob(CancelJob { job: job.spec.id.clone() });
            authority::step(&mut without, &cancel, now).unwrap();
        }
    }
    let runs = without.jobs[no].placed().is_some_and(|placed| placed.charge == Charge::InQuota);
    runs && without.revision > state.revision
}

fn differs(name: &str, told: i64, is: i64) -> Option<String> {
    (told != is).then(|| format!("{name} is {is}, not {told}"))
}

/// What is wrong with a reason, if anything.
fn fault(state: &State, no: JobNo, blocker: &Blocker, now: Timestamp) -> Option<String> {
    let spec = &state.jobs[no].spec;
    let gang = spec.shape.gang_amount();
    let quota_no = |id: &QuotaId| state.quota_no(id).unwrap();
    match blocker {
        Blocker::LargerThanQuota { quota, dimension, asked, min } => {
            let at = usize::from(*dimension);
            let is = state.quotas[quota_no(quota).at()].min.amount[at];
            differs("min", *min, is)
                .or(differs("asked", *asked, gang[at]))
                .or((asked <= min).then(|| "it fits".to_owned()))
        }
        Blocker::QuotaFull { quota, dimension, asked, free, own } => {
            let (at, named) = (usize::from(*dimension), quota_no(quota));
            let min = state.quotas[named.at()].min.amount[at];
            let of_own = min - used(state, at, |other| other == named) - claimed(state, named, at);
            let of_all = min - used(state, at, |other| is_within(state, other, named));
            let children: i64 = state
                .live_quotas()
                .filter(|(_, child)| child.parent == Some(named) && child.min.states(at))
                .map(|(_, child)| child.min.amount[at])
                .sum();
            let own_part = (min - children).max(0);
            let is_own = *free == of_own && *own == own_part;
            let is_all = named != spec.quota && *free == of_all && *own == min;
            differs("asked", *asked, gang[at])
                .or((!is_own && !is_all).then(|| {
                    format!("{free} of {own}; {of_own} of {own_part} of its own, {of_all} of {min} in all are free")
                }))
                .or((asked <= free).then(|| "it fits".to_owned()))
        }
        Blocker::IdleShort { dimension, asked, .. } => differs("asked", *asked, gang[usize::from(*dimension)]),
        Blocker::NothingLent => {
            let stands = stands_in_the_way(state, no, now);
            stands.then(|| "without idle jobs it starts in quota".to_owned())
        }
        Blocker::PriorityNotHigh { quota, priority, high } => {
            let policy = state.quotas[quota_no(quota).at()].settings.self_level.as_ref();
            let is_true = policy.is_some_and(|policy| policy.high == *high && !high.contains(*priority));
            (!is_true || *priority != spec.priority).then(|| "the High set is another".to_owned())
        }
        Blocker::ChildLevelOff { quota } => {
            let is_on = state.quotas[quota_no(quota).at()].settings.child_level.is_some();
            is_on.then(|| "it is on".to_owned())
        }
        Blocker::SelfLevelOff { quota } => {
            let is_on = state.quotas[quota_no(quota).at()].settings.self_level.is_some();
            is_on.then(|| "it is on".to_owned())
        }
        Blocker::NoChildren { quota } => {
            let has = state.live_quotas().any(|(_, child)| child.parent == Some(quota_no(quota)));
            has.then(|| "it has children".to_owned())
        }
        Blocker::VictimsTooFew { missing, could_free, .. } => {
            (*missing <= *could_free || *could_free < 0).then(|| "they would do".to_owned())
        }
        Blocker::NoRoom { pods, fit, .. } => {
            let has_fit = *pods != spec.shape.gang_pods() || *fit >= *pods && *pods > 0;
            has_fit.then(|| format!("{} pods", spec.shape.gang_pods()))
        }
        Blocker::BehindHead { .. }
        | Blocker::Reserved { .. }
        | Blocker::WaitingForRelease { .. }
        | Blocker::VictimProtected { .. }
        | Blocker::Backoff { .. } => fault_of_time(state, no, blocker, now),
        Blocker::InventoryShort { .. } | Blocker::BelowMarket { .. } => fault_of_market(state, no, blocker),
        // Proofs have proofs of their own.
        Blocker::LargerThanNodes { .. }
        | Blocker::Never(_)
        | Blocker::IdleOff
        | Blocker::IdleOnly
        | Blocker::NoVictim { .. }
        | Blocker::NotSolved { .. }
        | Blocker::NoBid
        | Blocker::BelowAverage { .. }
        | Blocker::NextRound { .. }
        | Blocker::LeftOver => None,
    }
}

/// The same, of reasons that others in the queue, or time, take away.
#[expect(clippy::wildcard_enum_match_arm, reason = "the rest is looked at elsewhere")]
fn fault_of_time(state: &State, no: JobNo, blocker: &Blocker, now: Timestamp) -> Option<String> {
    let spec = &state.jobs[no].spec;
    match blocker {
        Blocker::BehindHead { job } | Blocker::Reserved { job, .. } => {
            let other = state.jobs.find(job).map(|no| &state.jobs[no]);
            let waits = other.is_some_and(engine::state::jobs::Job::is_queued);
            let strict = matches!(blocker, Blocker::Reserved { .. })
                || state.quotas[spec.quota.at()].settings.strategy == QueueStrategy::StrictFifo;
            (!waits || !strict || *job == spec.id).then(|| format!("{job} does not stand in the way"))
        }
        Blocker::WaitingForRelease { job, until } => {
            let is_stopping = state.jobs.find(job).map(|no| &state.jobs[no]).is_some_and(|job| {
                let leaves = |run: &Run| run.leaving.iter().any(|leaving| leaving.until == *until);
                let stops = matches!(&job.phase, Phase::Stopping(stopping) if stopping.until == *until);
                stops || job.run.as_deref().is_some_and(leaves)
            });
            (!is_stopping).then(|| format!("{job} does not stop"))
        }
        Blocker::Backoff { until } => {
            let is = matches!(state.jobs[no].phase, Phase::Queued { not_before: Some(before) } if before == *until);
            (!is).then(|| "it has no backoff".to_owned())
        }
        Blocker::VictimProtected { until, .. } => {
            let starts_of = |job: &engine::state::jobs::Job| match &job.phase {
                Phase::Running { started, .. } => {
                    Some(*started + state.quotas[job.spec.quota.at()].settings.min_runtime)
                }
                Phase::Queued { .. } | Phase::Starting { .. } | Phase::Stopping(_) | Phase::Ended { .. } => None,
            };
            let is_known =
                state.jobs.iter().any(|(_, job)| !job.bids() && starts_of(job).is_some_and(|end| end == *until));
            (!is_known || *until < now).then(|| "nobody is protected until then".to_owned())
        }
        _ => None,
    }
}

/// The same, of the market's.
#[expect(clippy::wildcard_enum_match_arm, reason = "the rest is looked at elsewhere")]
fn fault_of_market(state: &State, no: JobNo, blocker: &Blocker) -> Option<String> {
    let spec = &state.jobs[no].spec;
    match blocker {
        Blocker::InventoryShort { offer, asked, free, inventory } => {
            let no = state.market.offer_no(offer).unwrap();
            let is = state.market.offers[no.at()].inventory;
            differs("inventory", *inventory, is)
                .or(differs("asked", *asked, i64::from(spec.shape.gang_pods())))
                .or((asked <= free).then(|| "it is covered".to_owned()))
        }
        Blocker::BelowMarket { offer, bid, price, .. } => {
            let no = state.market.offer_no(offer).unwrap();
            differs("price", *price, state.market.offers[no.at()].course.price())
                .or((bid >= price).then(|| "the bid does".to_owned()))
        }
        _ => None,
    }
}

#[test]
fn every_number_in_a_reason_is_a_fact() {
    let mut kinds = BTreeMap::new();
    let seeds = seeds(HISTORIES);
    for seed in seeds.clone() {
        each_waiting(seed, seed % 5 == 4, 60, |state, no, now| {
            if starts(state, no, &Act::Wait, now)? {
                // What it was told was true before somebody started; the next round has not looked yet.
                return Ok(());
            }
            let hold = explain::hold(state, no, now).ok_or("no reason")?;
            for attempt in &hold.attempts {
                let blocker = &attempt.blocker;
                let name = format!("{blocker:?}").split([' ', '{']).next().unwrap_or_default().to_owned();
                *kinds.entry(name).or_insert(0u64) += 1;
                if let Some(fault) = fault(state, no, blocker, now) {
                    return Err(format!("{fault}: {attempt:?}"));
                }
                let sentence = explain::blocker(state, blocker, now);
                if sentence.contains("0 ms") || !sentence.ends_with('.') || sentence.contains("s is missing") {
                    return Err(sentence);
                }
            }
            Ok(())
        });
    }
    println!("histories {seeds:?}: {kinds:?}");
    assert!(kinds.len() > 15, "only {kinds:?}");
}
