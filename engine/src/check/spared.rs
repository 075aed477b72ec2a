//! Sets of priorities that may be taken and leave out lower ones: 4 means exactly 4, and 1 to 3 stay protected.

use crate::check::blocked::half;
use crate::check::finding::Example;
use crate::check::finding::Finding;
use crate::check::finding::Flaw;
use crate::check::finding::Policy;
use crate::check::ground::Ground;
use crate::check::scene::Asked;
use crate::check::scene::Scene;
use crate::message::command::Command;
use crate::quota::policy::Scope;
use crate::unit::id::QuotaNo;
use crate::unit::priority::ModuleSet;
use crate::unit::priority::Priority;
use crate::unit::priority::PrioritySet;

/// In how many other quotas victims are looked for.
const HOMES_MAX: usize = 16;

pub(super) fn find(ground: &Ground) -> Vec<Finding> {
    let both = |no: QuotaNo| [(no, Policy::SelfLevel), (no, Policy::ChildLevel)];
    ground.quotas().flat_map(both).filter_map(|(no, policy)| finding(ground, no, policy)).collect()
}

fn finding(ground: &Ground, no: QuotaNo, policy: Policy) -> Option<Finding> {
    let (rule, example) = seen(ground, no, policy)?;
    let fix = ground.first_that([widened(ground, no, policy)], |after| seen(after, no, policy).is_none());
    let flaw = Flaw::Spared { quota: ground.id(no), policy, named: rule.named, spared: rule.spared() };
    Some(Finding { flaw, example, fix })
}

/// Who may take whom.
struct Rule {
    by: Priority,
    named: PrioritySet,
    modules: ModuleSet,
    /// Whose jobs, those of the quota itself first.
    homes: Vec<QuotaNo>,
}

impl Rule {
    fn of(ground: &Ground, no: QuotaNo, policy: Policy) -> Option<Self> {
        let settings = ground.settings(no);
        match policy {
            Policy::SelfLevel => {
                let policy = settings.self_level.as_ref().filter(|policy| policy.scope != Scope::SiblingsIdle)?;
                let siblings = if policy.scope == Scope::Own { Vec::new() } else { ground.siblings(no) };
                let homes = std::iter::once(no).chain(siblings).collect();
                Some(Self { by: policy.high.highest()?, named: policy.low, modules: policy.modules, homes })
            }
            Policy::ChildLevel => {
                let policy = settings.child_level.as_ref()?;
                let (named, modules) = (policy.preemptible, policy.modules);
                Some(Self { by: Priority::HIGHEST, named, modules, homes: ground.below(no) })
            }
        }
    }

    /// Priorities below the highest that is named, and not named themselves.
    fn spared(&self) -> PrioritySet {
        let up_to = |highest| PrioritySet::range(Priority::LOWEST, highest);
        let below = self.named.highest().map(up_to).unwrap_or_default();
        below.iter().filter(|priority| !self.named.contains(*priority)).collect()
    }
}

fn seen(ground: &Ground, no: QuotaNo, policy: Policy) -> Option<(Rule, Example)> {
    let rule = Rule::of(ground, no, policy)?;
    rule.spared().highest()?;
    let homes =
        rule.homes.iter().take(HOMES_MAX).flat_map(|home| ground.dimensions().into_iter().map(|at| (*home, at)));
    let example = homes.into_iter().find_map(|(home, at)| example(ground, no, &rule, home, at))?;
    Some((rule, example))
}

/// Of two jobs the one of the higher priority goes.
fn example(ground: &Ground, no: QuotaNo, rule: &Rule, home: QuotaNo, dimension: usize) -> Option<Example> {
    let total = ground.own(home, dimension);
    let part = half(total);
    if part <= 0 {
        return None;
    }
    let module = rule.modules.iter().next()?;
    let own = if home == no { 0 } else { ground.own(no, dimension) };
    let cast = if home == no { vec![no] } else { vec![no, home] };
    let scene = Scene::of(ground, dimension, &cast)?
        .submit(Asked { module, ..Asked::new("named", home, rule.named.highest()?, part) })
        .submit(Asked { module, ..Asked::new("spared", home, rule.spared().highest()?, total - part) })
        .wait(ground.settings(home).min_runtime)
        .submit(Asked::new("urgent", no, rule.by, own + part));
    scene.showing(|played| played.evicted("named", "urgent").is_some() && played.runs("spared"))
}

fn widened(ground: &Ground, no: QuotaNo, policy: Policy) -> Command {
    let fill = |set: &mut PrioritySet| {
        if let Some(highest) = set.highest() {
            *set = PrioritySet::range(Priority::LOWEST, highest);
        }
    };
    ground.update(no, |settings| match policy {
        Policy::SelfLevel => settings.self_level.iter_mut().for_each(|policy| fill(&mut policy.low)),
        Policy::ChildLevel => settings.child_level.iter_mut().for_each(|policy| fill(&mut policy.preemptible)),
    })
}
