//! What a policy allows, in a sentence, while it is being typed.

use crate::quota::policy::ChildLevelPreemption;
use crate::quota::policy::Scope;
use crate::quota::policy::SelfLevelPreemption;
use crate::state::world::State;
use crate::unit::id::QuotaNo;
use crate::unit::priority::Priority;
use crate::unit::priority::PrioritySet;

/// A policy in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyWords {
    /// What it allows.
    pub allows: String,
    /// Who stays protected although one might think otherwise.
    pub protects: Option<String>,
}

/// Self-level preemption of a quota.
#[must_use]
pub fn self_level(state: &State, quota: QuotaNo, policy: &SelfLevelPreemption) -> PolicyWords {
    if let Err(fault) = policy.check() {
        return PolicyWords { allows: format!("It is not valid: {fault}."), protects: None };
    }
    let own = &state.quotas[quota.at()];
    let siblings: Vec<&str> = own
        .parent
        .map(|parent| {
            state.children(parent).filter(|(no, _)| *no != quota).map(|(_, sibling)| sibling.id.as_str()).collect()
        })
        .unwrap_or_default();
    let high = policy.high;
    let allows = match policy.scope {
        Scope::SiblingsIdle => format!(
            "Jobs of priority {high} in {} may use what {} leave idle; nobody is evicted.",
            own.id,
            list(&siblings, "siblings")
        ),
        Scope::Own | Scope::SameLevel => {
            let mut whose = vec![own.id.as_str()];
            if policy.scope == Scope::SameLevel {
                whose.extend(&siblings);
            }
            format!(
                "Jobs of priority {high} in {} may take {} jobs of priority {} in {}.",
                own.id,
                policy.modules,
                policy.low,
                list(&whose, "it")
            )
        }
    };
    PolicyWords { allows, protects: protected(policy.low) }
}

/// Child-level preemption of a quota.
#[must_use]
pub fn child_level(state: &State, quota: QuotaNo, policy: &ChildLevelPreemption) -> PolicyWords {
    if let Err(fault) = policy.check() {
        return PolicyWords { allows: format!("It is not valid: {fault}."), protects: None };
    }
    let own = &state.quotas[quota.at()];
    let below: Vec<&str> =
        state.subtree(quota).into_iter().skip(1).map(|no| state.quotas[no.at()].id.as_str()).collect();
    let allows = format!(
        "Jobs of any priority in {} may use what {} leave unused, and take {} jobs of priority {} there.",
        own.id,
        list(&below, "its children"),
        policy.modules,
        policy.preemptible
    );
    PolicyWords { allows, protects: protected(policy.preemptible) }
}

/// Low {4} means exactly 4: who is below stays protected, which surprises people.
fn protected(low: PrioritySet) -> Option<String> {
    let (Some(first), Some(highest)) = (low.lowest(), low.highest()) else { return None };
    let below: PrioritySet = PrioritySet::range(Priority::LOWEST, highest)
        .iter()
        .filter(|priority| *priority < first || !low.contains(*priority))
        .collect();
    below.lowest().map(|_| format!("Priority {below} stays protected."))
}

fn list(names: &[&str], nothing: &str) -> String {
    const SHOWN: usize = 4;
    match names {
        [] => nothing.to_owned(),
        [one] => (*one).to_owned(),
        [first @ .., last] if names.len() <= SHOWN => format!("{} and {last}", first.join(", ")),
        [..] => format!("{} and {} more", names[..SHOWN - 1].join(", "), names.len() - (SHOWN - 1)),
    }
}
