//! Policy and minimality: nobody goes whom the rule does not name, nobody goes for a job that does not start, and
//! nobody goes who is not needed.

use std::collections::BTreeSet;

use engine::job::phase::Charge;
use engine::job::phase::Phase;
use engine::job::phase::Source;
use engine::job::spec::JobSpec;
use engine::job::story::Cause;
use engine::ledger::is_within;
use engine::message::event::Event;
use engine::quota::policy::Scope;
use engine::schedule::decision::Victim;
use engine::schedule::source::find_room;
use engine::schedule::source::own;
use engine::schedule::source::reclaim::loan_excess;
use engine::schedule::trial::Trial;
use engine::state::world::State;
use engine::transition::apply;
use engine::unit::amount::Amount;
use engine::unit::id::JobId;
use engine::unit::id::JobNo;
use engine::unit::id::QuotaNo;
use engine::unit::slots::Slots;
use engine::unit::time::Timestamp;

use crate::run::Run;
use crate::run::note;

/// Victims and whom they make room for, with the state before the first of them goes.
pub(crate) struct Serve {
    pub(crate) before: State,
    pub(crate) now: Timestamp,
    pub(crate) victims: Vec<(Victim, Cause)>,
    pub(crate) by: Option<JobNo>,
    pub(crate) served: Option<Event>,
    /// Jobs that the same command has started before.
    pub(crate) started: BTreeSet<JobNo>,
}

/// The groups of victims among the events of one command.
fn serves(before: &State, events: &[Event], now: Timestamp) -> Vec<Serve> {
    let mut state = before.clone();
    let mut serves: Vec<Serve> = Vec::new();
    let mut started = BTreeSet::new();
    for event in events {
        // Whoever is released from the market makes room for nobody in a quota.
        let victim = if let Event::Evicted { job, cause, .. } = event
            && !state.jobs[*job].bids()
        {
            Some((Victim::Job(*job), cause))
        } else if let Event::Shrunk { job, pods, cause, .. } = event {
            Some((Victim::Pods(*job, pods.clone()), cause))
        } else {
            None
        };
        if let Some((victim, cause)) = victim {
            let by = beneficiary(cause).and_then(|id| state.jobs.find(id));
            let goes_on = serves.last().is_some_and(|last| last.served.is_none() && last.victims[0].1 == **cause);
            if !goes_on {
                let before = state.clone();
                let started = started.clone();
                serves.push(Serve { before, now, victims: Vec::new(), by, served: None, started });
            }
            serves.last_mut().unwrap().victims.push((victim, (**cause).clone()));
        }
        if let Event::Started { job, .. } | Event::Granted { job, .. } | Event::Grown { job, .. } = event
            && let Some(last) = serves.last_mut()
            && last.served.is_none()
            && last.by == Some(*job)
        {
            last.served = Some(event.clone());
        }
        if let Event::Started { job, .. } = event {
            started.insert(*job);
        }
        apply(&mut state, event);
    }
    serves
}

fn beneficiary(cause: &Cause) -> Option<&JobId> {
    match cause {
        Cause::Reclaimed { by, .. } | Cause::ChildLevel { by, .. } | Cause::SelfLevel { by, .. } => Some(by),
        Cause::LendingEnded
        | Cause::ScaledDown { .. }
        | Cause::BelowPrice { .. }
        | Cause::BelowAverage { .. }
        | Cause::Outbid { .. }
        | Cause::InventoryShrunk { .. } => None,
    }
}

pub(crate) fn each_serve(cases: u64, mut check: impl FnMut(&Run, &Serve, &str)) {
    for seed in 0..cases {
        let mut run = Run::new(seed);
        for _ in 0..100 {
            let before = run.state.clone();
            let (now, command, outcome) = run.step();
            let events = outcome.unwrap_or_default();
            // The round sees what the command itself has done and what time has changed.
            for serve in serves(&before, &events, now) {
                check(&run, &serve, &format!("{}\n{events:?}", note(&run, &command)));
            }
        }
    }
}

#[test]
fn nobody_goes_whom_the_rule_does_not_name() {
    let mut n_victims = 0;
    each_serve(1_000, |_, serve, note| {
        for (victim, cause) in &serve.victims {
            n_victims += 1;
            assert!(may_go(&serve.before, serve.now, victim, cause), "{victim:?} by {cause:?}\n{note}");
        }
    });
    assert!(n_victims > 1_000, "only {n_victims} victims were looked at");
}

#[test]
fn nobody_goes_for_a_job_that_does_not_start() {
    each_serve(1_000, |_, serve, note| {
        let Some(by) = serve.by else { return };
        match &serve.served {
            Some(Event::Granted { job, waits_for, .. }) => {
                assert_eq!(*job, by, "{note}");
                let is_victim = |no| serve.victims.iter().any(|(victim, _)| *victim == Victim::Job(no));
                assert!(!waits_for.is_empty() && waits_for.iter().all(|no| is_victim(*no)), "{note}");
            }
            Some(Event::Started { .. } | Event::Grown { .. }) => {}
            other => panic!("{other:?} for {by:?}\n{note}"),
        }
    });
}

pub(crate) fn may_go(state: &State, now: Timestamp, victim: &Victim, cause: &Cause) -> bool {
    let (no, pods) = match victim {
        Victim::Job(no) => (*no, None),
        Victim::Pods(no, pods) => (*no, Some(pods)),
    };
    let job = &state.jobs[no];
    let Phase::Running { placed, extra, started, .. } = &job.phase else { return false };
    let is_idle = match pods {
        None => placed.charge == Charge::Idle,
        Some(pods) => pods.iter().all(|at| extra[*at as usize].charge == Charge::Idle),
    };
    if is_idle {
        return !matches!(cause, Cause::ScaledDown { .. });
    }
    let quota = job.spec.quota;
    let (priority, module) = (job.spec.priority, job.spec.module);
    let settings = |no: QuotaNo| &state.quotas[no.at()].settings;
    let is_protected = *started + settings(quota).min_runtime > now;
    match cause {
        Cause::LendingEnded
        | Cause::BelowPrice { .. }
        | Cause::BelowAverage { .. }
        | Cause::Outbid { .. }
        | Cause::InventoryShrunk { .. } => false,
        Cause::ScaledDown { quota: scaled } => is_within(&state.quotas, quota, state.quota_no(scaled).unwrap()),
        Cause::Reclaimed { .. } => {
            let min = &state.quotas[quota.at()].min;
            !is_protected && !min.masked(&state.ledger.quotas[quota.at()].used).fits_in(&min.amount)
        }
        Cause::ChildLevel { quota: above, .. } => {
            let above = state.quota_no(above).unwrap();
            let policy = settings(above).child_level.as_ref().unwrap();
            let is_named = policy.preemptible.contains(priority) && policy.modules.contains(module);
            !is_protected && is_named && quota != above && is_within(&state.quotas, quota, above)
        }
        Cause::SelfLevel { quota: own, by } => {
            let own = state.quota_no(own).unwrap();
            let policy = settings(own).self_level.as_ref().unwrap();
            let is_named = policy.low.contains(priority) && policy.modules.contains(module);
            let parent = |no: QuotaNo| state.quotas[no.at()].parent;
            let is_on_level = match policy.scope {
                Scope::Own => quota == own,
                Scope::SameLevel => quota == own || (parent(own).is_some() && parent(quota) == parent(own)),
                Scope::SiblingsIdle => false,
            };
            let preemptor = &state.jobs[state.jobs.find(by).unwrap()].spec;
            let is_high = policy.high.contains(preemptor.priority) && preemptor.priority > priority;
            !is_protected && is_named && is_on_level && is_high
        }
    }
}

#[test]
fn sparing_any_victim_makes_the_job_not_fit() {
    let mut n_spared = 0;
    each_serve(4_000, |run, serve, note| {
        // A reservation keeps nodes that a trial of its own does not know.
        if run.layout.is_impatient || is_anybody_starving(&serve.before, serve.now) {
            return;
        }
        let (Some(Event::Started { placed, .. } | Event::Granted { placed, .. }), Some(by)) = (&serve.served, serve.by)
        else {
            return;
        };
        let spec = &serve.before.jobs[by].spec;
        let all: Vec<Victim> = serve.victims.iter().flat_map(|(victim, _)| single(victim)).collect();
        let fits = |spared: Option<usize>| {
            let mut trial = Trial::new(&serve.before, serve.now);
            for (_, victim) in all.iter().enumerate().filter(|(at, _)| Some(*at) != spared) {
                trial.evict(victim);
            }
            is_legal(&trial, spec, placed.source)
        };
        assert!(fits(None), "the victims are not enough\n{note}");
        for spared in 0..all.len() {
            n_spared += 1;
            assert!(!fits(Some(spared)), "{:?} of {all:?} was not needed\n{note}", all[spared]);
        }
    });
    assert!(n_spared > 1_000, "only {n_spared} victims were spared");
}

/// Whether somebody may hold a reservation.
fn is_anybody_starving(state: &State, now: Timestamp) -> bool {
    state.jobs.iter().any(|(_, job)| {
        let patience = || state.quotas[job.spec.quota.at()].settings.starvation_after;
        job.is_queued() && !job.bids() && now - job.waiting_since > patience()
    })
}

/// Pods one by one.
fn single(victim: &Victim) -> Vec<Victim> {
    match victim {
        Victim::Job(no) => vec![Victim::Job(*no)],
        Victim::Pods(no, pods) => pods.iter().map(|pod| Victim::Pods(*no, vec![*pod])).collect(),
    }
}

/// Whether a job fits under the rule of a source: quota, machines and loans together (semantics section 5).
pub(crate) fn is_legal(trial: &Trial<'_>, job: &JobSpec, source: Source) -> bool {
    let state = trial.state;
    let asked = job.shape.gang_amount();
    let used = |no: QuotaNo| trial.quotas.get(no.at()).used;
    let holds =
        |no: QuotaNo, use_before: &Amount| state.quotas[no.at()].min.first_exceeded(use_before, &asked).is_none();
    let mut above = Vec::new();
    let mut next = state.quotas[job.quota.at()].parent;
    while let Some(no) = next {
        above.push(no);
        next = state.quotas[no.at()].parent;
    }
    let holds_above = above.iter().all(|no| holds(*no, &used(*no)));
    let policy = state.quotas[job.quota.at()].settings.self_level.as_ref();
    let level_of = policy.filter(|policy| policy.scope != Scope::Own).and(above.first());
    let book = trial.quotas.get(job.quota.at());
    let holds_own = holds(job.quota, &book.own_jobs.plus(&book.claimed)) && holds_above;
    let holds_level = |parent: QuotaNo| {
        let quotas = state.children(parent);
        let level = quotas.fold(Amount::ZERO, |sum, (no, quota)| sum.plus(&used(no)).minus(&quota.min.amount));
        let over = state.quotas[parent.at()].min.masked(&level.plus(&asked));
        over.positive().is_zero() && holds_above
    };
    let fits_in_quota = match source {
        Source::Own | Source::Idle | Source::Spot => false,
        Source::Reclaim => own::fits(trial, job).is_ok() || holds_own,
        Source::ChildLevel => holds(job.quota, &used(job.quota)) && holds_above,
        Source::SelfLevel => level_of.map_or(holds_own, |parent| holds_level(*parent)),
    };
    let domain = state.domains.of_quota(job.quota);
    fits_in_quota
        && find_room(trial, domain, &job.shape).is_ok()
        && loan_excess(trial, job.quota, domain, &asked).is_zero()
}
