//! The policy forms as values. What is allowed is the engine's to say: `check` and the sentences come from there.

use std::collections::BTreeSet;

use engine::quota::policy::ChildLevelPreemption;
use engine::quota::policy::Scope;
use engine::quota::policy::SelfLevelPreemption;
use engine::quota::settings::QuotaSettings;
use engine::unit::priority::Module;
use engine::unit::priority::Priority;
use engine::unit::priority::PrioritySet;

/// Both forms, and whether each policy is switched on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyDraft {
    /// Child-level preemption is on.
    pub is_child_on: bool,
    /// Priorities that may be preempted.
    pub preemptible: BTreeSet<u8>,
    /// Modules whose jobs may be.
    pub child_modules: BTreeSet<Module>,
    /// Self-level preemption is on.
    pub is_self_on: bool,
    /// Priorities that may preempt.
    pub high: BTreeSet<u8>,
    /// Priorities that may be preempted.
    pub low: BTreeSet<u8>,
    /// Modules whose jobs may be.
    pub self_modules: BTreeSet<Module>,
    /// Whose jobs.
    pub scope: Scope,
}

impl PolicyDraft {
    /// The forms of what is set; a policy that is off starts with a usual choice.
    pub fn of(settings: &QuotaSettings) -> Self {
        let usual_modules = BTreeSet::from([Module::Dlc, Module::Dsw]);
        let child = settings.child_level.as_ref();
        let own = settings.self_level.as_ref();
        Self {
            is_child_on: child.is_some(),
            preemptible: child.map_or_else(|| (1..=3).collect(), |policy| numbers(policy.preemptible)),
            child_modules: child.map_or_else(|| usual_modules.clone(), |policy| policy.modules.iter().collect()),
            is_self_on: own.is_some(),
            high: own.map_or_else(|| (6..=9).collect(), |policy| numbers(policy.high)),
            low: own.map_or_else(|| (1..=3).collect(), |policy| numbers(policy.low)),
            self_modules: own.map_or(usual_modules, |policy| policy.modules.iter().collect()),
            scope: own.map_or_else(Scope::default, |policy| policy.scope),
        }
    }

    /// The child-level policy, if it is on.
    #[must_use]
    pub fn child_level(&self) -> Option<ChildLevelPreemption> {
        let policy = || ChildLevelPreemption {
            preemptible: set(&self.preemptible),
            modules: self.child_modules.iter().copied().collect(),
        };
        self.is_child_on.then(policy)
    }

    /// The self-level policy, if it is on.
    #[must_use]
    pub fn self_level(&self) -> Option<SelfLevelPreemption> {
        let policy = || SelfLevelPreemption {
            high: set(&self.high),
            low: set(&self.low),
            modules: self.self_modules.iter().copied().collect(),
            scope: self.scope,
        };
        self.is_self_on.then(policy)
    }

    /// The settings with these policies.
    #[must_use]
    pub fn apply(&self, settings: &QuotaSettings) -> QuotaSettings {
        QuotaSettings { child_level: self.child_level(), self_level: self.self_level(), ..settings.clone() }
    }

    /// What is wrong, in the engine's words.
    #[must_use]
    pub fn faults(&self) -> (Option<String>, Option<String>) {
        let child = self.child_level().and_then(|policy| policy.check().err()).map(|fault| fault.to_string());
        let own = self.self_level().and_then(|policy| policy.check().err()).map(|fault| fault.to_string());
        (child, own)
    }
}

fn numbers(set: PrioritySet) -> BTreeSet<u8> {
    set.iter().map(Priority::get).collect()
}

fn set(numbers: &BTreeSet<u8>) -> PrioritySet {
    numbers.iter().filter_map(|number| Priority::new(i64::from(*number)).ok()).collect()
}

/// The name of a scope.
#[must_use]
pub fn scope_as_str(scope: Scope) -> &'static str {
    match scope {
        Scope::SameLevel => "same-level",
        Scope::Own => "own",
        Scope::SiblingsIdle => "siblings-idle",
    }
}

/// A scope by its name.
#[must_use]
pub fn scope(text: &str) -> Scope {
    [Scope::SameLevel, Scope::Own, Scope::SiblingsIdle]
        .into_iter()
        .find(|scope| scope_as_str(*scope) == text)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_off_stays_off() {
        let settings = QuotaSettings::default();
        assert_eq!(PolicyDraft::of(&settings).apply(&settings), settings);
    }

    #[test]
    fn what_is_set_comes_back_unchanged() {
        let draft = PolicyDraft {
            is_child_on: true,
            is_self_on: true,
            scope: Scope::Own,
            ..PolicyDraft::of(&QuotaSettings::default())
        };
        let settings = draft.apply(&QuotaSettings::default());
        assert_eq!(PolicyDraft::of(&settings), draft);
    }

    #[test]
    fn overlapping_sets_are_told_in_the_engines_words() {
        let draft =
            PolicyDraft { is_self_on: true, low: BTreeSet::from([6]), ..PolicyDraft::of(&QuotaSettings::default()) };
        assert_eq!(
            draft.faults().1.as_deref(),
            Some("Low priority 6 is not below High priority 6; every Low must be lower than every High")
        );
    }
}
