//! Changes of priorities and of what quotas allow.

use crate::explain::help::Help;
use crate::explain::tip::Proposal;
use crate::explain::tip::Search;
use crate::job::phase::Source;
use crate::ledger;
use crate::message::command::Command;
use crate::message::command::SetPriority;
use crate::message::command::UpdateQuota;
use crate::quota::policy::ChildLevelPreemption;
use crate::quota::policy::Scope;
use crate::quota::policy::SelfLevelPreemption;
use crate::quota::settings::QuotaSettings;
use crate::state::world::State;
use crate::unit::id::QuotaNo;
use crate::unit::priority::Module;
use crate::unit::priority::ModuleSet;
use crate::unit::priority::Priority;
use crate::unit::priority::PrioritySet;
use crate::unit::sort;

/// Another priority: the lowest above its own that works, or else the highest below it.
pub(super) fn priority(search: &mut Search<'_>) -> Option<Help> {
    let spec = search.spec();
    // A part of a service has the priority of its service.
    let service = &search.state.jobs[search.state.service_of(search.no)].spec.id;
    let whom = if *service == spec.id { "it".to_owned() } else { service.to_string() };
    let all = PrioritySet::range(Priority::LOWEST, Priority::HIGHEST);
    let above = all.iter().filter(|priority| *priority > spec.priority);
    let below = all.iter().rev().filter(|priority| *priority < spec.priority);
    above.chain(below).find_map(|priority| {
        let command = Command::SetPriority(SetPriority { job: service.clone(), priority });
        search.try_out(Proposal::send(format!("Give {whom} priority {priority}"), command), by_policy)
    })
}

/// What follows a change that lets a policy, or its place in the queue, start the job.
fn by_policy(source: Source) -> &'static str {
    match source {
        Source::SelfLevel => ": then self-level preemption would start it.",
        Source::ChildLevel => ": then child-level preemption would start it.",
        Source::Own | Source::Idle | Source::Reclaim | Source::Spot => ": that would start it now.",
    }
}

fn nothing_else(_: Source) -> &'static str {
    "."
}

/// Child-level preemption of its quota, with the smallest range of priorities that suffices: first of the modules that
/// it names already, then of all.
pub(super) fn child_level(search: &mut Search<'_>) -> Option<Help> {
    let (state, spec) = (search.state, search.spec());
    if !state.has_children(spec.quota) {
        return None;
    }
    let (quota, all) = (&state.quotas[spec.quota.at()], Module::ALL.into_iter().collect());
    let known = &quota.settings.child_level;
    let preemptible = known.as_ref().map_or(PrioritySet::default(), |policy| policy.preemptible);
    let below = state.subtree(spec.quota).into_iter().skip(1);
    let ranges = ranges(priorities_of(state, below), preemptible);
    let wider = |modules: ModuleSet| {
        let policy = move |preemptible: &PrioritySet| ChildLevelPreemption { preemptible: *preemptible, modules };
        ranges.iter().map(policy).collect::<Vec<_>>()
    };
    let mut policies = known.as_ref().map_or_else(Vec::new, |policy| wider(policy.modules));
    policies.extend(wider(all));
    policies.retain(|policy| known.as_ref() != Some(policy));
    policies.dedup();
    search.within_share(policies).into_iter().find_map(|policy| {
        let words = match known {
            None => {
                format!("Switch on child-level preemption of {} for jobs of priority {}", quota.id, policy.preemptible)
            }
            Some(_) => format!(
                "Let child-level preemption of {} take {} jobs of priority {}",
                quota.id, policy.modules, policy.preemptible
            ),
        };
        let settings = QuotaSettings { child_level: Some(policy), ..quota.settings.clone() };
        let command = Command::UpdateQuota(UpdateQuota { quota: quota.id.clone(), settings });
        search.try_out(Proposal::send(words, command), nothing_else)
    })
}

/// Self-level preemption of its quota: switched on, at first without any victims; with its priority in the High set;
/// or with a wider Low set.
pub(super) fn self_level(search: &mut Search<'_>) -> Option<Help> {
    let (state, spec) = (search.state, search.spec());
    let quota = &state.quotas[spec.quota.at()];
    let level = match quota.parent {
        Some(parent) => state.children(parent).map(|(no, _)| no).collect(),
        None => vec![spec.quota],
    };
    let policies = self_level_policies(quota.settings.self_level.as_ref(), spec.priority, priorities_of(state, level));
    let is_on = quota.settings.self_level.as_ref().is_some();
    search.within_share(policies).into_iter().find_map(|policy| {
        let SelfLevelPreemption { high, low, modules, scope } = &policy;
        let whom = match scope {
            Scope::SiblingsIdle => "only what siblings leave idle".to_owned(),
            Scope::Own => format!("{modules} jobs of priority {low} in {}", quota.id),
            Scope::SameLevel => format!("{modules} jobs of priority {low} on its level"),
        };
        let words = match (is_on, quota.settings.self_level.as_ref()) {
            (true, Some(known)) if known.high != *high => {
                format!("Add priority {} to the High set of {}", spec.priority, quota.id)
            }
            (true, _) => format!("Let self-level preemption of {} take {whom}", quota.id),
            (false, _) => {
                format!("Switch on self-level preemption of {} for priority {high}, taking {whom}", quota.id)
            }
        };
        let settings = QuotaSettings { self_level: Some(policy.clone()), ..quota.settings.clone() };
        let command = Command::UpdateQuota(UpdateQuota { quota: quota.id.clone(), settings });
        search.try_out(Proposal::send(words, command), nothing_else)
    })
}

/// The policies that may help a job of this priority, the smallest change first, where jobs have such priorities.
fn self_level_policies(
    known: Option<&SelfLevelPreemption>,
    priority: Priority,
    present: PrioritySet,
) -> Vec<SelfLevelPreemption> {
    let all: ModuleSet = Module::ALL.into_iter().collect();
    let own = PrioritySet::range(priority, priority);
    let Some(known) = known else {
        let lows = ranges(present, PrioritySet::default()).into_iter();
        let idle =
            SelfLevelPreemption { high: own, low: PrioritySet::default(), modules: all, scope: Scope::SiblingsIdle };
        let taking = lows.map(|low| SelfLevelPreemption { high: own, low, modules: all, scope: Scope::SameLevel });
        return std::iter::once(idle).chain(taking).filter(|policy| policy.check().is_ok()).collect();
    };
    let high: PrioritySet = known.high.iter().chain([priority]).collect();
    let widened = |scope: Scope, modules: ModuleSet| {
        let lows = ranges(present, known.low).into_iter();
        lows.map(move |low| SelfLevelPreemption { high, low, modules, scope })
    };
    let mut policies = vec![SelfLevelPreemption { high, ..known.clone() }];
    if known.high.contains(priority) {
        policies.extend(widened(known.scope, known.modules));
        policies.extend(widened(known.scope, all));
        policies.extend(widened(Scope::SameLevel, all));
    }
    policies.retain(|policy| policy != known && policy.check().is_ok());
    policies.dedup();
    policies
}

/// Lending, switched on in the quota that would lend the most, and so on.
pub(super) fn lending(search: &mut Search<'_>) -> Option<Help> {
    let state = search.state;
    let mut keeping: Vec<QuotaNo> =
        state.live_quotas().filter(|(_, quota)| !quota.settings.lends).map(|(no, _)| no).collect();
    sort::by_key(&mut keeping, |no| {
        let idle = ledger::own_idle(&state.quotas[no.at()], &state.ledger.quotas[no.at()]);
        (std::cmp::Reverse(idle), *no)
    });
    search.within_share(keeping).into_iter().find_map(|no| {
        let quota = &state.quotas[no.at()];
        let settings = QuotaSettings { lends: true, ..quota.settings.clone() };
        let command = Command::UpdateQuota(UpdateQuota { quota: quota.id.clone(), settings });
        search.try_out(Proposal::send(format!("Let {} lend what it leaves idle", quota.id), command), nothing_else)
    })
}

/// The priorities of the jobs of some quotas, waiting ones too: they may have started by the time of the next round.
fn priorities_of(state: &State, quotas: impl IntoIterator<Item = QuotaNo>) -> PrioritySet {
    let queue = &state.queue;
    let in_quota = |no: QuotaNo| {
        let running = state.running[no.at()].iter().map(|(priority, _)| *priority);
        running.chain(queue.classes_of(no).map(|class| queue.classes[class.at()].key.priority))
    };
    quotas.into_iter().flat_map(in_quota).collect()
}

/// What is preemptible already and everything up to a priority: such as make a difference where jobs have these.
fn ranges(present: PrioritySet, known: PrioritySet) -> Vec<PrioritySet> {
    let ends = PrioritySet::range(Priority::LOWEST, Priority::HIGHEST)
        .iter()
        .filter(|end| *end == Priority::LOWEST || present.contains(*end));
    let range = |end| PrioritySet::range(Priority::LOWEST, end).iter().chain(known.iter()).collect();
    ends.map(range).collect()
}
