//! Policy and minimality: nobody goes whom the rule does not name, nobody goes for a job that does not start, and
//! nobody goes who is not needed.

use std::collections::BTreeSet;

use engine::job::cause::Cause;
use engine::job::phase::Charge;
use engine::job::phase::Phase;
use engine::job::phase::Source;
use engine::message::event::Event;
use engine::schedule::decision::Victim;
use engine::state::world::State;
use engine::transition::apply;
use engine::unit::id::JobId;
use engine::unit::id::JobNo;
use engine::unit::time::Timestamp;

use crate::ground::Ground;
use crate::ground::Part;
use crate::history::are_few;
use crate::history::seeds;
use crate::parts;
use crate::parts::Unit;
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

impl Serve {
    /// The source by which the job was served.
    pub(crate) fn source(&self) -> Option<Source> {
        match &self.served {
            Some(Event::Started { placed, .. } | Event::Granted { placed, .. }) => Some(placed.source),
            Some(Event::Grown { .. }) => Some(Source::Reclaim),
            _ => None,
        }
    }

    /// Everybody who may go for the job.
    pub(crate) fn units(&self, ground: &Ground<'_>) -> Option<Vec<Unit>> {
        parts::eligible(ground, self.now, self.by?, self.source()?, |no| self.started.contains(&no))
    }

    /// What a victim takes along: with a gang go all its pods.
    pub(crate) fn parts(&self, victim: &Victim) -> BTreeSet<Part> {
        match victim {
            Victim::Pods(no, pods) => pods.iter().map(|pod| (*no, Some(*pod))).collect(),
            Victim::Job(no) => {
                let Phase::Running { extra, .. } = &self.before.jobs[*no].phase else { return BTreeSet::new() };
                let pods = (0u32..).zip(&**extra).map(|(at, _)| (*no, Some(at)));
                std::iter::once((*no, None)).chain(pods).collect()
            }
        }
    }
}

/// The groups of victims among the events of one command.
pub(crate) fn serves(before: &State, events: &[Event], now: Timestamp) -> Vec<Serve> {
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
            let goes_on = serves.last().is_some_and(|last| {
                last.served.is_none() && if by.is_some() { last.by == by } else { last.victims[0].1 == **cause }
            });
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
        // Who was granted earlier and starts now runs before the round looks.
        if let Event::Started { job, .. } = event
            && state.jobs[*job].is_queued()
        {
            started.insert(*job);
        }
        apply(&mut state, event);
    }
    serves
}

/// For whom somebody was evicted.
pub(crate) fn beneficiary(cause: &Cause) -> Option<&JobId> {
    match cause {
        Cause::Reclaimed { by, .. }
        | Cause::OverUse { by, .. }
        | Cause::ChildLevel { by, .. }
        | Cause::SelfLevel { by, .. } => Some(by),
        Cause::LendingEnded
        | Cause::ScaledDown { .. }
        | Cause::Halted(_)
        | Cause::BelowPrice { .. }
        | Cause::BelowAverage { .. }
        | Cause::Outbid { .. }
        | Cause::InventoryShrunk { .. } => None,
    }
}

pub(crate) fn each_serve(cases: u64, mut check: impl FnMut(&Run, &Serve, &str)) {
    for seed in seeds(cases) {
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
    let (mut n_victims, mut n_above) = (0, 0);
    each_serve(1_500, |_, serve, note| {
        let ground = Ground::of(&serve.before);
        let units = serve.units(&ground);
        for (victim, cause) in &serve.victims {
            n_victims += 1;
            let is_idle = |part: &Part| ground.held[part].charge == Some(Charge::Idle);
            let no = *match victim {
                Victim::Job(no) | Victim::Pods(no, _) => no,
            };
            let named: BTreeSet<Part> = match victim {
                Victim::Job(no) => BTreeSet::from([(*no, None)]),
                Victim::Pods(..) => serve.parts(victim),
            };
            let quota = serve.before.jobs[no].spec.quota.at();
            match cause {
                Cause::LendingEnded => assert!(named.iter().all(is_idle), "{victim:?}\n{note}"),
                Cause::ScaledDown { quota: scaled } => {
                    let scaled = serve.before.quota_no(scaled).unwrap().at();
                    assert!(ground.line(quota).contains(&scaled), "{victim:?}\n{note}");
                }
                Cause::Reclaimed { .. }
                | Cause::OverUse { .. }
                | Cause::ChildLevel { .. }
                | Cause::SelfLevel { .. }
                | Cause::Halted(_)
                | Cause::BelowPrice { .. }
                | Cause::BelowAverage { .. }
                | Cause::Outbid { .. }
                | Cause::InventoryShrunk { .. } => {
                    let Some(units) = &units else { continue };
                    let of = |part: &Part| units.iter().find(|unit| unit.part == *part);
                    assert!(named.iter().all(|part| of(part).is_some()), "{victim:?} by {cause:?}\n{note}");
                    let is_above = named.iter().any(|part| of(part).is_some_and(|unit| unit.class.0 == parts::ABOVE));
                    let says_so = matches!(cause, Cause::OverUse { .. });
                    n_above += i32::from(says_so);
                    assert!(is_above || !says_so, "{victim:?} by {cause:?}\n{note}");
                    let took_lent = named.iter().all(is_idle);
                    assert!(took_lent || !matches!(cause, Cause::Reclaimed { .. }), "{victim:?} by {cause:?}\n{note}");
                }
            }
        }
    });
    assert!(
        are_few() || n_victims > 1_000 && n_above > 30,
        "only {n_victims} victims were looked at, {n_above} above an amount"
    );
}

#[test]
fn nobody_goes_for_a_job_that_does_not_start() {
    each_serve(1_000, |_, serve, note| {
        let Some(by) = serve.by else { return };
        match &serve.served {
            Some(Event::Granted { job, waits_for, .. }) => {
                assert_eq!(*job, by, "{note}");
                // Pods of a job that really runs take time to leave, too.
                let is_victim = |no| serve.victims.iter().any(|(victim, _)| victim.job() == no);
                assert!(!waits_for.is_empty() && waits_for.iter().all(|no| is_victim(*no)), "{note}");
            }
            Some(Event::Started { .. } | Event::Grown { .. }) => {}
            other => panic!("{other:?} for {by:?}\n{note}"),
        }
    });
}

#[test]
fn sparing_any_victim_makes_the_job_not_fit() {
    let mut n_spared = [0, 0];
    each_serve(1_800, |_, serve, note| {
        let (Some(Event::Started { placed, .. } | Event::Granted { placed, .. }), Some(by)) = (&serve.served, serve.by)
        else {
            return;
        };
        let ground = Ground::of(&serve.before);
        let spec = &serve.before.jobs[by].spec;
        let kept = ground.kept_from(spec.quota.at());
        let all: Vec<BTreeSet<Part>> =
            serve.victims.iter().flat_map(|(victim, _)| single(victim)).map(|victim| serve.parts(&victim)).collect();
        // A reservation may keep nodes; those where the job runs are kept from nobody.
        let is_kept = is_anybody_starving(&serve.before, serve.now);
        let open = |no: usize| !is_kept || placed.pods.iter().any(|pod| pod.node.at() == no);
        let fits = |spared: Option<usize>| {
            let gone = all.iter().enumerate().filter(|(at, _)| Some(*at) != spared).flat_map(|(_, parts)| parts);
            ground.without(&gone.copied().collect()).lets_in(spec, placed.source, &kept, open)
        };
        assert!(fits(None), "the victims are not enough\n{note}");
        // How pods of several roles are packed is not judged here.
        if !placed.pods.is_empty() && spec.shape.roles().len() > 1 {
            return;
        }
        for spared in 0..all.len() {
            n_spared[usize::from(is_kept)] += 1;
            assert!(!fits(Some(spared)), "{:?} of {all:?} was not needed\n{note}", all[spared]);
        }
    });
    assert!(are_few() || n_spared[0] > 300 && n_spared[1] > 600, "only {n_spared:?} victims were spared");
}

/// Whether somebody may hold a reservation.
pub(crate) fn is_anybody_starving(state: &State, now: Timestamp) -> bool {
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
