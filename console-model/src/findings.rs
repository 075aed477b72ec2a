//! What the policy checker finds of a quota, ready to be shown.

use engine::check;
use engine::explain;
use engine::message::command::Command;
use engine::message::command::UpdateQuota;
use engine::quota::settings::QuotaSettings;
use engine::state::world::State;
use engine::unit::id::QuotaNo;

use crate::explained::sentence;

/// A finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindingText {
    /// How bad it is.
    pub severity: &'static str,
    /// What is wrong, and the change that ends it.
    pub says: String,
}

/// What would be found of a quota with these settings, the worst first; nothing while they would be refused.
#[must_use]
pub fn of_settings(state: &State, no: QuotaNo, settings: QuotaSettings) -> Vec<FindingText> {
    let quota = state.quotas[no.at()].id.clone();
    let update = Command::UpdateQuota(UpdateQuota { quota: quota.clone(), settings });
    let Some((after, findings)) = check::of_quota_after(state, &quota, &update) else { return Vec::new() };
    findings.iter().map(|finding| text(&after, finding)).collect()
}

fn text(state: &State, finding: &check::finding::Finding) -> FindingText {
    let words = explain::finding(state, finding);
    let change = words.change.map(|change| format!(" {}", sentence(&change))).unwrap_or_default();
    FindingText { severity: words.severity, says: format!("{}{change}", sentence(&words.what)) }
}

#[cfg(test)]
mod tests {
    use engine::quota::policy::Scope;
    use engine::quota::policy::SelfLevelPreemption;
    use engine::unit::priority::Module;
    use engine::unit::priority::Priority;

    use super::*;
    use crate::example;

    #[test]
    fn a_policy_is_looked_at_before_it_is_saved() {
        let state = example::three_teams();
        let no = example::quota(&state, "Quota1.1");
        let settings = &state.quotas[no.at()].settings;
        let at = |number: i64| Priority::new(number).unwrap();
        let policy = SelfLevelPreemption {
            high: [at(9)].into_iter().collect(),
            low: [at(4)].into_iter().collect(),
            modules: [Module::Dlc].into_iter().collect(),
            scope: Scope::Own,
        };
        let with_policy = QuotaSettings { self_level: Some(policy), ..settings.clone() };
        let before = of_settings(&state, no, settings.clone());
        let after = of_settings(&state, no, with_policy);
        let news: Vec<_> = after.iter().filter(|finding| !before.contains(finding)).collect();
        assert_eq!(news.len(), 1, "{news:?}");
        assert!(news[0].says.contains("1 to 3"), "{news:?}");
    }
}
