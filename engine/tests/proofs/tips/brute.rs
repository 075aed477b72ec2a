//! Every single change of the listed kinds, whether it helps or not.

use std::collections::BTreeMap;

use engine::job::phase::Charge;
use engine::job::phase::Phase;
use engine::job::spec::IdlePolicy;
use engine::market::bid::Bid;
use engine::market::bid::SpotStrategy;
use engine::message::command::*;
use engine::quota::policy::ChildLevelPreemption;
use engine::quota::policy::Scope;
use engine::quota::policy::SelfLevelPreemption;
use engine::quota::settings::QuotaSettings;
use engine::state::jobs::Job;
use engine::state::world::State;
use engine::unit::amount::DimensionKind;
use engine::unit::id::JobId;
use engine::unit::id::JobNo;
use engine::unit::id::QuotaNo;
use engine::unit::priority::Module;
use engine::unit::priority::ModuleSet;
use engine::unit::priority::Priority;
use engine::unit::priority::PrioritySet;
use engine::unit::time::Period;

use crate::run::by_name;
use crate::tips::Act;
use crate::tips::kind::TipKind;

/// All of them by kind.
pub(crate) fn acts(state: &State, no: JobNo) -> BTreeMap<TipKind, Vec<Act>> {
    let mut acts = BTreeMap::new();
    if state.jobs[no].spec.spot.is_some() {
        acts.insert(TipKind::HigherBid, higher_bids(state, no));
        acts.insert(TipKind::FewerPods, fewer_pods(state, no));
        return acts;
    }
    acts.insert(TipKind::Priority, (1..=9).map(|priority| set_priority(state, no, priority)).collect());
    acts.insert(TipKind::ChildLevel, child_level(state, no));
    acts.insert(TipKind::SelfLevel, self_level(state, no));
    acts.insert(TipKind::Lending, lending(state));
    acts.insert(TipKind::Amounts, amounts(state, no, ScaleMode::Drain));
    acts.insert(TipKind::AmountsInUse, amounts(state, no, ScaleMode::Evict));
    if let Some(resizings) = resizings(state, no) {
        acts.insert(TipKind::FewerPods, resizings);
        return acts;
    }
    let idle = SubmitJob { idle: IdlePolicy::Acceptable, ..anew(state, no) };
    if state.jobs[no].spec.idle != IdlePolicy::Acceptable {
        acts.insert(TipKind::Idle, vec![Act::Anew(Box::new(idle))]);
    }
    acts.insert(TipKind::FewerPods, fewer_pods(state, no));
    acts.insert(TipKind::FewerGpus, fewer_gpus(state, no));
    acts
}

/// A part of a service, or a service that has parts, is not submitted anew: the service gets every smaller size.
fn resizings(state: &State, no: JobNo) -> Option<Vec<Act>> {
    let is_part = |service: JobNo| move |job: &&Job| job.spec.part_of == service;
    let others = |service: JobNo| state.jobs.iter().map(|(_, job)| job).filter(is_part(service)).count();
    if state.jobs[no].spec.part_of.is_none() && others(no) == 0 {
        return None;
    }
    let service = service(state, no);
    let spec = &state.jobs[service].spec;
    let pods = |job: &Job| job.spec.shape.min_pods().unwrap_or(job.spec.shape.roles()[0].count);
    let parts = state.jobs.iter().map(|(_, job)| job).filter(is_part(service));
    let owed = parts.map(pods).sum::<u32>() + pods(&state.jobs[service]);
    let above = spec.shape.roles()[0].count - pods(&state.jobs[service]);
    let least = owed - pods(&state.jobs[no]) + 1;
    let to =
        |fewer: u32| ResizeJob { job: spec.id.clone(), pods: fewer + above, min_pods: (above > 0).then_some(fewer) };
    Some((least..owed).map(|fewer| Act::Send(Box::new(Command::ResizeJob(to(fewer))))).collect())
}

fn service(state: &State, no: JobNo) -> JobNo {
    let service = state.jobs[no].spec.part_of;
    if service.is_none() { no } else { service }
}

fn set_priority(state: &State, no: JobNo, priority: i64) -> Act {
    let (job, priority) = (state.jobs[service(state, no)].spec.id.clone(), Priority::new(priority).unwrap());
    Act::Send(Box::new(Command::SetPriority(SetPriority { job, priority })))
}

fn up_to(highest: i64) -> impl Iterator<Item = Priority> {
    (1..=highest).map(|priority| Priority::new(priority).unwrap())
}

fn update(state: &State, no: QuotaNo, change: impl FnOnce(&mut QuotaSettings)) -> Act {
    let quota = &state.quotas[no.at()];
    let mut settings = quota.settings.clone();
    change(&mut settings);
    Act::Send(Box::new(Command::UpdateQuota(UpdateQuota { quota: quota.id.clone(), settings })))
}

fn child_level(state: &State, no: JobNo) -> Vec<Act> {
    let quota = state.jobs[no].spec.quota;
    let known = state.quotas[quota.at()].settings.child_level.clone();
    let all: ModuleSet = Module::ALL.into_iter().collect();
    let modules = known.iter().map(|policy| policy.modules).chain([all]);
    let policies = modules.flat_map(|modules| {
        let already: Vec<Priority> = known.iter().flat_map(|policy| policy.preemptible.iter()).collect();
        (1..=9).map(move |highest| ChildLevelPreemption {
            preemptible: up_to(highest).chain(already.iter().copied()).collect(),
            modules,
        })
    });
    let policies: Vec<_> = policies.filter(|policy| known.as_ref() != Some(policy)).collect();
    policies.into_iter().map(|policy| update(state, quota, |settings| settings.child_level = Some(policy))).collect()
}

fn self_level(state: &State, no: JobNo) -> Vec<Act> {
    let spec = &state.jobs[no].spec;
    let all: ModuleSet = Module::ALL.into_iter().collect();
    let own: PrioritySet = [spec.priority].into_iter().collect();
    let lows = |known: PrioritySet| (1..=8).map(move |top| up_to(top).chain(known.iter()).collect::<PrioritySet>());
    let mut policies = Vec::new();
    let known = state.quotas[spec.quota.at()].settings.self_level.clone();
    match &known {
        None => {
            let none = PrioritySet::default();
            policies.push(SelfLevelPreemption { high: own, low: none, modules: all, scope: Scope::SiblingsIdle });
            policies.extend(lows(none).map(|low| SelfLevelPreemption {
                high: own,
                low,
                modules: all,
                scope: Scope::SameLevel,
            }));
        }
        Some(known) if known.high.contains(spec.priority) => {
            for (scope, modules) in [(known.scope, known.modules), (known.scope, all), (Scope::SameLevel, all)] {
                policies.extend(lows(known.low).map(|low| SelfLevelPreemption {
                    high: known.high,
                    low,
                    modules,
                    scope,
                }));
            }
        }
        Some(known) => {
            let high = known.high.iter().chain([spec.priority]).collect();
            policies.push(SelfLevelPreemption { high, ..known.clone() });
        }
    }
    policies.retain(|policy| policy.check().is_ok() && known.as_ref() != Some(policy));
    policies
        .into_iter()
        .map(|policy| update(state, spec.quota, |settings| settings.self_level = Some(policy)))
        .collect()
}

fn lending(state: &State) -> Vec<Act> {
    let keeping = state.live_quotas().filter(|(_, quota)| !quota.settings.lends);
    keeping.map(|(no, _)| update(state, no, |settings| settings.lends = true)).collect()
}

/// Whole GPUs for the job's quota: what no child of the parent has been given, or what a sibling has for itself and
/// nobody below it uses; or what a sibling has for itself and does use, whose jobs go.
fn amounts(state: &State, no: JobNo, mode: ScaleMode) -> Vec<Act> {
    let spec = &state.jobs[no].spec;
    let (quota, asked) = (spec.quota, spec.shape.gang_amount());
    let gpu = (0..state.cluster.dimensions.len())
        .find(|at| state.cluster.dimensions[*at].kind == DimensionKind::Gpu && asked[*at] > 0);
    let Some(at) = gpu.filter(|at| state.quotas[quota.at()].min.states(*at)) else { return Vec::new() };
    let mut acts = Vec::new();
    // Of what is used exactly what is missing is asked for, in thousandths; of quotas with children that is not plain.
    let missing = upwards(state, quota)
        .filter(|no| state.quotas[no.at()].min.states(at))
        .map(|no| used(state, no, at) + asked[at] - state.quotas[no.at()].min.amount[at])
        .max();
    let amounts: Vec<i64> = match (mode, missing) {
        (ScaleMode::Drain, _) => (1..=16).map(|gpus| gpus * 1000).collect(),
        (ScaleMode::Evict, Some(missing)) if missing > 0 && !state.has_children(quota) => vec![missing],
        (ScaleMode::Evict, _) => Vec::new(),
    };
    for gpus in amounts {
        let target = |no: QuotaNo, more: i64| {
            let quota = &state.quotas[no.at()];
            let mut min = by_name(state, &quota.min.amount, Some(quota.min.stated));
            *min.or_default(state.cluster.dimensions[at].name.clone()) += more;
            ScaleTarget { quota: quota.id.clone(), min }
        };
        let scale = |targets| Act::Send(Box::new(Command::ScaleQuotas(ScaleQuotas { targets, mode })));
        if mode == ScaleMode::Drain {
            acts.push(scale(vec![target(quota, gpus)]));
        }
        for (sibling, _) in state.live_quotas().filter(|(other, it)| {
            *other != quota && it.parent.is_some() && it.parent == state.quotas[quota.at()].parent
        }) {
            let (own, spare) = spare(state, sibling, at);
            let gives = match mode {
                ScaleMode::Drain => spare >= gpus,
                ScaleMode::Evict => own >= gpus && spare < gpus,
            };
            if state.quotas[sibling.at()].min.states(at) && gives {
                acts.push(scale(vec![target(quota, gpus), target(sibling, -gpus)]));
            }
        }
    }
    acts
}

/// What a quota has for itself, and how much of it nobody in it or below it uses.
fn spare(state: &State, quota: QuotaNo, at: usize) -> (i64, i64) {
    let min = state.quotas[quota.at()].min.amount[at];
    let children: i64 = state
        .live_quotas()
        .filter(|(_, child)| child.parent == Some(quota))
        .map(|(_, child)| child.min.amount[at])
        .sum();
    (min - children, (min - children).min(min - used(state, quota, at)))
}

/// A quota and everybody above it.
fn upwards(state: &State, quota: QuotaNo) -> impl Iterator<Item = QuotaNo> {
    std::iter::successors(Some(quota), |no| state.quotas[no.at()].parent)
}

/// What jobs of a quota and of those below it hold in quota.
fn used(state: &State, quota: QuotaNo, at: usize) -> i64 {
    let below = |no: QuotaNo| upwards(state, no).any(|above| above == quota);
    state
        .jobs
        .iter()
        .filter(|(_, job)| job.spec.spot.is_none() && below(job.spec.quota))
        .map(|(_, job)| match &job.phase {
            Phase::Running { placed, extra, .. } => {
                let gang = if placed.charge == Charge::InQuota { job.spec.shape.gang_amount()[at] } else { 0 };
                let pods = extra.iter().filter(|pod| pod.charge == Charge::InQuota).count();
                gang + job.spec.shape.extra_amount()[at] * i64::try_from(pods).unwrap()
            }
            Phase::Starting { placed, .. } if placed.charge == Charge::InQuota => job.spec.shape.gang_amount()[at],
            Phase::Queued { .. } | Phase::Starting { .. } | Phase::Stopping(_) | Phase::Ended { .. } => 0,
        })
        .sum()
}

fn fewer_pods(state: &State, no: JobNo) -> Vec<Act> {
    let base = anew(state, no);
    if let Some(min_pods) = base.min_pods {
        let fewer = (1..min_pods).map(|fewer| SubmitJob { min_pods: Some(fewer), ..base.clone() });
        return fewer.map(|submission| Act::Anew(Box::new(submission))).collect();
    }
    let mut acts = Vec::new();
    for role in 0..base.pods.len() {
        for fewer in 1..base.pods[role].count {
            let mut changed = base.clone();
            changed.pods[role].count = fewer;
            acts.push(Act::Anew(Box::new(changed)));
        }
    }
    acts
}

fn fewer_gpus(state: &State, no: JobNo) -> Vec<Act> {
    let base = anew(state, no);
    let mut acts = Vec::new();
    for role in 0..base.pods.len() {
        for dimension in state.cluster.dimensions.iter().filter(|dimension| dimension.kind == DimensionKind::Gpu) {
            let has = base.pods[role].amount.get(&dimension.name).copied().unwrap_or(0);
            for fewer in 1..has / 1000 {
                let mut changed = base.clone();
                changed.pods[role].amount.insert(dimension.name.clone(), fewer * 1000);
                acts.push(Act::Anew(Box::new(changed)));
            }
        }
    }
    acts
}

fn higher_bids(state: &State, no: JobNo) -> Vec<Act> {
    let base = anew(state, no);
    let with = |spot: SpotRequest| Act::Anew(Box::new(SubmitJob { spot: Some(spot), ..base.clone() }));
    let spot = state.jobs[no].spec.spot.as_ref().unwrap();
    let request = base.spot.clone().unwrap();
    match spot.bid {
        Bid::AsPriceGoes => Vec::new(),
        Bid::Discount(percent) => (1..=9)
            .map(|tenth| i64::from(tenth) * 10)
            .filter(|more| *more > i64::from(percent))
            .map(|more| with(SpotRequest { discount_percent: Some(more), ..request.clone() }))
            .collect(),
        Bid::Price(limit) => {
            let offer = &state.market.offers[spot.offer.at()];
            let original = offer.terms.original_price;
            (10..=100)
                .map(|percent| original * percent / 100)
                .chain([offer.course.price(), offer.course.price() + 1, original])
                .filter(|more| *more > limit)
                .map(|more| with(SpotRequest { price_limit: Some(more), ..request.clone() }))
                .collect()
        }
    }
}

/// The job as it is, under another name.
fn anew(state: &State, no: JobNo) -> SubmitJob {
    let spec = &state.jobs[no].spec;
    let pods = spec.shape.roles().iter();
    let pods = pods.map(|role| PodGroup { count: role.count, amount: by_name(state, &role.amount, None) }).collect();
    SubmitJob {
        quota: spec.spot.is_none().then(|| state.quotas[spec.quota.at()].id.clone()),
        spot: spec.spot.as_ref().map(|spot| SpotRequest {
            offer: state.market.offers[spot.offer.at()].id.clone(),
            strategy: if spot.bid == Bid::AsPriceGoes {
                SpotStrategy::AsPriceGoes
            } else {
                SpotStrategy::WithPriceLimit
            },
            discount_percent: if let Bid::Discount(percent) = spot.bid { Some(i64::from(percent)) } else { None },
            price_limit: if let Bid::Price(limit) = spot.bid { Some(limit) } else { None },
            framework: spot.framework,
            network: spot.network.clone(),
        }),
        workspace: spec.workspace.clone(),
        user: spec.user.clone(),
        name: spec.name.clone(),
        module: spec.module,
        priority: spec.priority,
        min_pods: spec.shape.min_pods(),
        idle: spec.idle,
        fault_tolerance: spec.fault_tolerance,
        duration_ms: spec.duration.map(Period::get),
        checkpoint_ms: spec.checkpoint.map(Period::get),
        ..SubmitJob::new(JobId::new(&format!("{}-anew", spec.id)).unwrap(), pods)
    }
}
