//! Pods above an elastic job's minimum: they start when there is room, one by one, and carry their own charge
//! (semantics section 1).

use std::sync::Arc;

use crate::job::phase::Charge;
use crate::job::phase::Phase;
use crate::job::phase::Source;
use crate::job::shape::Role;
use crate::job::shape::Shape;
use crate::job::spec::IdlePolicy;
use crate::job::spec::JobSpec;
use crate::schedule::decision::Decision;
use crate::schedule::decision::Offer;
use crate::schedule::source;
use crate::schedule::trial::Trial;
use crate::unit::id::GroupNo;
use crate::unit::id::JobNo;
use crate::unit::sort;

/// Pods that would start now for elastic jobs which run and for those that start in this round (`started`, with the
/// charge of their gangs and where these run).
pub fn grow(trial: &mut Trial<'_>, started: &[(JobNo, Charge, GroupNo)]) -> Vec<Decision> {
    let state = trial.state;
    let mut waiting: Vec<(JobNo, Charge, GroupNo, u32)> = Vec::new();
    for no in state.growing.iter().copied().filter(|no| !trial.is_gone(*no)) {
        let job = &state.jobs[no];
        let Phase::Running { placed, extra, .. } = &job.phase else { continue };
        let has = u32::try_from(trial.extra_of(no, extra).count()).unwrap_or(u32::MAX);
        waiting.push((no, trial.charge_of(no, placed), placed.home, job.spec.shape.extra_pods().saturating_sub(has)));
    }
    waiting.extend(
        started.iter().map(|(no, charge, home)| (*no, *charge, *home, state.jobs[*no].spec.shape.extra_pods())),
    );
    sort::by_key(&mut waiting, |(no, ..)| {
        let job = &state.jobs[*no];
        (std::cmp::Reverse(job.spec.priority), job.waiting_since, job.spec.id.clone())
    });
    waiting
        .into_iter()
        .filter(|(.., missing)| *missing > 0)
        .flat_map(|(no, charge, home, missing)| grow_job(trial, no, charge, home, missing))
        .collect()
}

fn grow_job(trial: &mut Trial<'_>, no: JobNo, gang: Charge, home: GroupNo, missing: u32) -> Vec<Decision> {
    let spec = pod_of(&trial.state.jobs[no].spec);
    let home = trial.state.domains.of_group(home);
    let mut grown = Vec::new();
    for _ in 0..missing {
        let may_use = |source: &Source| match source {
            Source::Own | Source::Reclaim => gang == Charge::InQuota,
            Source::Idle => spec.idle != IdlePolicy::Off,
            Source::ChildLevel | Source::SelfLevel | Source::Spot => false,
        };
        // A job never spans two domains, so its pods stay where its gang is.
        let offer = |source: Source| match source {
            Source::Idle => source::idle::offer_in(trial, &spec, home),
            Source::Own | Source::Reclaim | Source::ChildLevel | Source::SelfLevel | Source::Spot => {
                source::offer(source, trial, &spec)
            }
        };
        // It starts at once or not at all: nobody is told to stop for a pod that would have to wait.
        let at_once = |offer: &Offer| offer.victims.iter().all(|victim| trial.takes_time(victim).is_none());
        let mut offers = source::SOURCES.into_iter().filter(may_use).filter_map(|source| offer(source).ok());
        let Some(offer) = offers.find(at_once) else { break };
        let pod = offer.placed.pods.first().copied();
        for promoted in &offer.promoted {
            trial.promote(*promoted);
        }
        for victim in &offer.victims {
            trial.evict(victim);
        }
        trial.book(spec.quota, home, offer.placed.charge, spec.shape.gang_amount(), crate::ledger::Sign::Add);
        trial.occupy(home, pod, spec.shape.gang_amount(), crate::ledger::Sign::Add);
        grown.push(Decision::Grow {
            job: no,
            charge: offer.placed.charge,
            pods: vec![pod],
            promoted: offer.promoted,
            victims: offer.victims,
            cause: offer.cause,
        });
    }
    grown
}

/// One more pod, as a job of its own.
fn pod_of(spec: &JobSpec) -> JobSpec {
    let role = Role { count: 1, amount: spec.shape.extra_amount() };
    JobSpec { shape: Arc::new(Shape::new(vec![role], None)), ..spec.clone() }
}
