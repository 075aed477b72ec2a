//! What the policy checker finds, and the change that ends it, in words.

use crate::check::finding::Finding;
use crate::check::finding::Flaw;
use crate::check::finding::Policy;
use crate::check::finding::Powerless;
use crate::check::finding::Protection;
use crate::check::finding::Right;
use crate::check::finding::Severity;
use crate::explain::words::amount;
use crate::explain::words::count;
use crate::explain::words::period;
use crate::message::command::Command;
use crate::message::command::ScaleTarget;
use crate::quota::policy::ChildLevelPreemption;
use crate::quota::policy::Scope;
use crate::quota::policy::SelfLevelPreemption;
use crate::quota::settings::QueueStrategy;
use crate::quota::settings::QuotaSettings;
use crate::state::world::State;
use crate::unit::id::QuotaId;
use crate::unit::quantity::quantity;

/// A finding in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindingWords {
    /// How bad it is: `Fault` or `Warning`.
    pub severity: &'static str,
    /// What is wrong.
    pub what: String,
    /// The change that ends it, if one is known.
    pub change: Option<String>,
}

/// A finding of a state in words.
#[must_use]
pub fn finding(state: &State, finding: &Finding) -> FindingWords {
    let Finding { flaw, example: _, fix } = finding;
    let severity = match flaw.severity() {
        Severity::Fault => "Fault",
        Severity::Warning => "Warning",
    };
    FindingWords { severity, what: what(state, flaw), change: fix.as_ref().and_then(|fix| change(state, fix)) }
}

fn what(state: &State, flaw: &Flaw) -> String {
    match flaw {
        Flaw::Turns { quotas, is_chain } => {
            let again = if *is_chain { ", and who has evicted is evicted next" } else { "" };
            format!("{} can evict each other's jobs in turns{again}.", all(quotas))
        }
        Flaw::Powerless { quota, policy, why } => {
            format!("{} of {quota} can never act: {}.", named(*policy), powerless(quota, *why))
        }
        Flaw::Unusable { quota, priorities } => format!(
            "No job of priority {priorities} can ever start in {quota} in quota: nothing is guaranteed to its own jobs."
        ),
        Flaw::HeldOff { quota, right, protected, protection, period: lasts, limit } => format!(
            "{} of {} in {protected} makes {} by {quota} void: its jobs may wait longer than {}.",
            match protection {
                Protection::MinRuntime => "The minimum run time",
                Protection::Grace => "The grace period",
            },
            period(*lasts),
            match right {
                Right::Reclaim => "reclaim",
                Right::Policy(Policy::SelfLevel) => "self-level preemption",
                Right::Policy(Policy::ChildLevel) => "child-level preemption",
            },
            period(*limit)
        ),
        Flaw::NothingLeft { quota, children, amount: of } => format!(
            "Nothing is left for jobs of {quota} itself: its {} {} all of its {}, and child-level preemption is off.",
            count(u64::from(*children), "child", "children"),
            if *children == 1 { "has" } else { "have" },
            amount(state, of)
        ),
        Flaw::Blocked { quota } => {
            format!("One job can block the strict queue of {quota}: the jobs behind it wait although there is room.")
        }
        Flaw::Spared { quota, policy, named: set, spared } => format!(
            "{} of {quota} may take priority {set} and spares priority {spared}, which is lower.",
            named(*policy)
        ),
        Flaw::Kept { quotas } => format!(
            "Jobs of {} may hold what a sibling is guaranteed until they end: self-level preemption reaches siblings, and they cannot take it back.",
            all(quotas)
        ),
        Flaw::Upward { quota, highest } => format!(
            "Child-level preemption lets a job of priority 1 in {quota} take one of priority {highest}: the preemptor's own priority does not matter."
        ),
    }
}

fn named(policy: Policy) -> &'static str {
    match policy {
        Policy::SelfLevel => "Self-level preemption",
        Policy::ChildLevel => "Child-level preemption",
    }
}

fn powerless(quota: &QuotaId, why: Powerless) -> String {
    match why {
        Powerless::NoChildren => format!("{quota} has no children"),
        Powerless::NothingBelow => "nothing is guaranteed to its children, so no job runs there in quota".to_owned(),
        Powerless::NothingAtLevel => {
            "nothing is guaranteed to jobs of its level, so none runs there in quota".to_owned()
        }
        Powerless::NoSiblings => format!("{quota} has no siblings whose idle resources it could use"),
        Powerless::NothingLent => "none of its siblings lends anything".to_owned(),
    }
}

/// The change in words; nothing for a command that changes nothing of what quotas say.
fn change(state: &State, command: &Command) -> Option<String> {
    // Who is changed alike is named together.
    let mut alike: Vec<(Vec<QuotaId>, String)> = Vec::new();
    for (quota, what) in parts(state, command) {
        match alike.iter_mut().find(|(_, other)| *other == what) {
            Some((quotas, _)) => quotas.push(quota),
            None => alike.push((vec![quota], what)),
        }
    }
    let said = alike.into_iter().map(|(quotas, what)| format!("{}: {what}", all(&quotas)));
    let said = said.collect::<Vec<String>>().join("; ");
    (!said.is_empty()).then(|| format!("Change {said}."))
}

/// Each quota that is changed, and what is new.
fn parts(state: &State, command: &Command) -> Vec<(QuotaId, String)> {
    if let Command::ApplyPlan(plan) = command {
        plan.commands.iter().flat_map(|command| parts(state, command)).collect()
    } else if let Command::UpdateQuota(update) = command {
        let before = state.quota_no(&update.quota).map(|no| &state.quotas[no.at()].settings);
        let told = before.map(|before| settings(before, &update.settings)).unwrap_or_default();
        told.into_iter().map(|what| (update.quota.clone(), what)).collect()
    } else if let Command::ScaleQuotas(scale) = command {
        scale.targets.iter().map(|target| (target.quota.clone(), scaled(state, target))).collect()
    } else if let Command::DeleteQuota(delete) = command {
        vec![(delete.quota.clone(), "delete it".to_owned())]
    } else {
        Vec::new()
    }
}

fn scaled(state: &State, target: &ScaleTarget) -> String {
    let known = state.cluster.dimensions.iter();
    let values = known.filter_map(|dimension| Some(quantity(dimension, *target.min.get(&dimension.name)?)));
    format!("scale it to {}", values.collect::<Vec<String>>().join(", "))
}

/// What differs between settings.
fn settings(before: &QuotaSettings, after: &QuotaSettings) -> Vec<String> {
    let QuotaSettings { strategy, lends, self_level, child_level, grace_period, min_runtime, starvation_after } = after;
    let mut parts = Vec::new();
    let mut tell = |is_changed: bool, what: String| parts.extend(is_changed.then_some(what));
    tell(before.child_level != *child_level, child_level.as_ref().map_or_else(child_off, child_on));
    tell(before.self_level != *self_level, self_level_change(before.self_level.as_ref(), self_level.as_ref()));
    tell(before.strategy != *strategy, format!("queue strategy {}", strategy_word(*strategy)));
    tell(before.lends != *lends, format!("lending {}", if *lends { "on" } else { "off" }));
    tell(before.grace_period != *grace_period, format!("grace period {}", period(*grace_period)));
    tell(before.min_runtime != *min_runtime, format!("minimum run time {}", period(*min_runtime)));
    tell(before.starvation_after != *starvation_after, format!("reservation after {}", period(*starvation_after)));
    parts
}

fn self_level_change(before: Option<&SelfLevelPreemption>, after: Option<&SelfLevelPreemption>) -> String {
    let Some(after) = after else { return "self-level preemption off".to_owned() };
    let whose = match after.scope {
        Scope::SiblingsIdle => "only what siblings leave idle",
        Scope::Own => "only its own jobs",
        Scope::SameLevel => "its own jobs and its siblings'",
    };
    match before {
        Some(before) if *after == (SelfLevelPreemption { low: after.low, ..before.clone() }) => {
            format!("self-level preemption over priority {}", after.low)
        }
        Some(before) if *after == (SelfLevelPreemption { scope: after.scope, ..before.clone() }) => {
            format!("self-level preemption of {whose}")
        }
        Some(_) | None => {
            let SelfLevelPreemption { high, low, modules, scope: _ } = after;
            format!("self-level preemption by priority {high} over {modules} jobs of priority {low}, of {whose}")
        }
    }
}

fn child_off() -> String {
    "child-level preemption off".to_owned()
}

fn child_on(policy: &ChildLevelPreemption) -> String {
    format!("child-level preemption of {} jobs of priority {}", policy.modules, policy.preemptible)
}

fn strategy_word(strategy: QueueStrategy) -> &'static str {
    match strategy {
        QueueStrategy::Intelligent => "Intelligent",
        QueueStrategy::StrictFifo => "StrictFIFO",
        QueueStrategy::RoundRobin => "RoundRobin",
        QueueStrategy::Balance => "Balance",
    }
}

/// `A and B`, `A, B and 9 more`.
fn all(quotas: &[QuotaId]) -> String {
    const SHOWN: usize = 4;
    match quotas {
        [] => "no quota".to_owned(),
        [one] => one.to_string(),
        [.., last] if quotas.len() <= SHOWN => {
            let first: Vec<&str> = quotas[..quotas.len() - 1].iter().map(QuotaId::as_str).collect();
            format!("{} and {last}", first.join(", "))
        }
        [..] => {
            let first: Vec<&str> = quotas[..SHOWN - 1].iter().map(QuotaId::as_str).collect();
            format!("{} and {} more", first.join(", "), quotas.len() - (SHOWN - 1))
        }
    }
}
