//! Each kind of bad policy is planted into random trees: it is found, and the change that is told ends it.

use engine::check::check;
use engine::check::finding::Finding;
use engine::check::finding::Flaw;
use engine::check::finding::Policy;
use engine::check::finding::Powerless;
use engine::check::finding::Protection;
use engine::check::finding::Right;
use engine::host::authority::step;
use engine::quota::policy::ChildLevelPreemption;
use engine::quota::policy::Scope;
use engine::quota::policy::SelfLevelPreemption;
use engine::quota::settings::QueueStrategy;
use engine::unit::id::QuotaId;
use engine::unit::priority::Module;
use engine::unit::time::Millis;

use crate::checker::oracle;
use crate::checker::trees::NOW;
use crate::checker::trees::Tree;
use crate::checker::trees::priorities;
use crate::checker::trees::self_level;
use crate::checker::trees::some_modules;
use crate::random::Random;

const SEEDS: u64 = 40;

/// Plants something into trees until it was possible often enough, and looks whether it is found.
#[track_caller]
fn check_planted<P>(plant: impl Fn(&mut Random, &mut Tree) -> Option<P>, is_it: impl Fn(&P, &Tree, &Flaw) -> bool) {
    let mut n_planted = 0;
    for seed in 0..SEEDS {
        let mut random = Random::new(seed);
        let mut tree = Tree::plain(&mut random);
        let Some(planted) = plant(&mut random, &mut tree) else { continue };
        n_planted += 1;
        let findings = check(&tree.state);
        let found = findings.iter().find(|finding| is_it(&planted, &tree, &finding.flaw));
        let Some(Finding { flaw, example, fix }) = found else {
            panic!("seed {seed}: it is not among {findings:#?} of {:#?}", tree.quotas)
        };
        assert!(oracle::shows(flaw, example), "seed {seed}: {flaw:?} is not shown by {example:#?}");
        let mut after = tree.state.clone();
        step(&mut after, fix.as_ref().unwrap(), NOW).unwrap();
        let left = check(&after);
        let is_gone = !left.iter().any(|finding| is_it(&planted, &tree, &finding.flaw));
        assert!(is_gone, "seed {seed}: {fix:?} does not end {flaw:?}");
    }
    assert!(n_planted > 15, "only {n_planted} were planted");
}

fn id(tree: &Tree, at: usize) -> QuotaId {
    tree.quotas[at].id.clone()
}

/// Two siblings with something for their own jobs.
fn pair(random: &mut Random, tree: &Tree) -> Option<(usize, usize)> {
    let partner = |at: usize| tree.siblings(at).into_iter().find(|other| tree.own(*other) > 0);
    let first = tree.any(random, |at| tree.own(at) > 0 && partner(at).is_some())?;
    Some((first, partner(first)?))
}

#[test]
fn siblings_that_take_from_each_other() {
    check_planted(
        |random, tree| {
            let (a, b) = pair(random, tree)?;
            for at in [a, b] {
                let policy = self_level(random, Scope::SameLevel);
                tree.set(at, |settings| settings.self_level = Some(policy));
            }
            Some([id(tree, a), id(tree, b)])
        },
        |planted, _, flaw| matches!(flaw, Flaw::Turns { quotas, is_chain: _ } if planted.iter().all(|quota| quotas.contains(quota))),
    );
}

#[test]
fn who_has_evicted_is_evicted_next() {
    check_planted(
        |random, tree| {
            let (a, b) = pair(random, tree)?;
            let modules = Module::ALL.into_iter().collect();
            let policy = |high, low| SelfLevelPreemption { high, low, modules, scope: Scope::SameLevel };
            tree.set(a, |settings| settings.self_level = Some(policy(priorities(8, 9), priorities(1, 7))));
            tree.set(b, |settings| settings.self_level = Some(policy(priorities(5, 9), priorities(1, 4))));
            Some([id(tree, a), id(tree, b)])
        },
        |planted, _, flaw| matches!(flaw, Flaw::Turns { quotas, is_chain: true } if planted.iter().all(|quota| quotas.contains(quota))),
    );
}

#[test]
fn child_level_preemption_without_children() {
    check_planted(
        |random, tree| {
            let leaf = tree.any(random, |at| tree.children(at).is_empty())?;
            let modules = some_modules(random);
            let policy = ChildLevelPreemption { preemptible: priorities(1, random.between(1, 9)), modules };
            tree.set(leaf, |settings| settings.child_level = Some(policy));
            Some(id(tree, leaf))
        },
        |planted, _, flaw| is_powerless(flaw, planted, Policy::ChildLevel),
    );
}

#[test]
fn self_level_preemption_without_anybody_in_reach() {
    check_planted(
        |random, tree| {
            // Its own jobs only, of which there can be none; or what siblings leave idle, and there are no siblings.
            let (scope, at) = if random.chance(50) {
                let parent = tree.any(random, |_| true)?;
                (Scope::Own, tree.add(Some(parent), 0))
            } else {
                (Scope::SiblingsIdle, tree.any(random, |at| tree.quotas[at].parent.is_none())?)
            };
            let policy = self_level(random, scope);
            tree.set(at, |settings| settings.self_level = Some(policy));
            Some(id(tree, at))
        },
        |planted, _, flaw| is_powerless(flaw, planted, Policy::SelfLevel),
    );
}

#[test]
fn self_level_preemption_over_siblings_that_lend_nothing() {
    check_planted(
        |random, tree| {
            let (at, _) = pair(random, tree)?;
            let subtree = |root: usize| std::iter::once(root).chain(tree.below(root));
            let others: Vec<usize> = tree.siblings(at).into_iter().flat_map(subtree).collect();
            for other in others {
                tree.set(other, |settings| settings.lends = false);
            }
            let policy = self_level(random, Scope::SiblingsIdle);
            tree.set(at, |settings| settings.self_level = Some(policy));
            Some(id(tree, at))
        },
        |planted, _, flaw| matches!(flaw, Flaw::Powerless { quota, why: Powerless::NothingLent, .. } if quota == planted),
    );
}

fn is_powerless(flaw: &Flaw, planted: &QuotaId, of: Policy) -> bool {
    matches!(flaw, Flaw::Powerless { quota, policy, why: _ } if quota == planted && *policy == of)
}

#[test]
fn a_quota_with_nothing() {
    check_planted(
        |random, tree| {
            let parent = tree.any(random, |_| true)?;
            let empty = tree.add(Some(parent), 0);
            Some(id(tree, empty))
        },
        |planted, _, flaw| matches!(flaw, Flaw::Unusable { quota, priorities: none } if quota == planted && *none == priorities(1, 9)),
    );
}

#[test]
fn priorities_below_high_in_a_quota_with_nothing() {
    check_planted(
        |random, tree| {
            let parent = tree.any(random, |at| tree.children(at).iter().any(|child| tree.own(*child) > 0))?;
            let empty = tree.add(Some(parent), 0);
            let high = random.between(2, 9);
            let modules = some_modules(random);
            let scope = random.pick(&[Scope::SameLevel, Scope::SiblingsIdle]);
            let policy =
                SelfLevelPreemption { high: priorities(high, 9), low: priorities(1, high - 1), modules, scope };
            tree.set(empty, |settings| settings.self_level = Some(policy));
            Some((id(tree, empty), high))
        },
        |(planted, high), _, flaw| matches!(flaw, Flaw::Unusable { quota, priorities: none } if quota == planted && *none == priorities(1, high - 1)),
    );
}

#[test]
fn a_protection_that_outlasts_patience() {
    check_planted(
        |random, tree| {
            let right =
                random.pick(&[Right::Policy(Policy::SelfLevel), Right::Policy(Policy::ChildLevel), Right::Reclaim]);
            let by =
                if right == Right::Reclaim || random.chance(50) { Protection::Grace } else { Protection::MinRuntime };
            let protected = match right {
                Right::Policy(Policy::SelfLevel) => {
                    let at = tree.any(random, |at| tree.own(at) > 0)?;
                    let policy = self_level(random, Scope::Own);
                    tree.set(at, |settings| settings.self_level = Some(policy));
                    at
                }
                Right::Policy(Policy::ChildLevel) => {
                    let at = tree.any(random, |at| tree.own(at) > 0 && tree.quotas[at].parent.is_some())?;
                    let modules = some_modules(random);
                    let policy = ChildLevelPreemption { preemptible: priorities(1, 3), modules };
                    tree.set(tree.quotas[at].parent.unwrap(), |settings| settings.child_level = Some(policy));
                    at
                }
                Right::Reclaim => {
                    let has_other = |at: usize| (0..tree.quotas.len()).any(|other| other != at && tree.own(other) > 0);
                    tree.any(random, |at| tree.own(at) > 0 && has_other(at))?
                }
            };
            tree.set(protected, |settings| match by {
                Protection::Grace => settings.grace_period = Millis(7 * Millis::DAY.0),
                Protection::MinRuntime => settings.min_runtime = Millis(7 * Millis::DAY.0),
            });
            Some((id(tree, protected), by, right))
        },
        |(planted, planted_by, planted_right), _, flaw| {
            matches!(flaw, Flaw::HeldOff { protected, protection, right, .. }
                if protected == planted && protection == planted_by && right == planted_right)
        },
    );
}

#[test]
fn children_that_leave_nothing() {
    check_planted(
        |random, tree| {
            let leaf = tree.any(random, |at| tree.children(at).is_empty() && tree.own(at) > 0)?;
            let min = tree.quotas[leaf].min;
            let part = random.between(0, min / 1000) * 1000;
            for child in [part, min - part] {
                tree.add(Some(leaf), child);
            }
            Some(id(tree, leaf))
        },
        |planted, _, flaw| matches!(flaw, Flaw::NothingLeft { quota, .. } if quota == planted),
    );
}

#[test]
fn a_strict_queue() {
    check_planted(
        |random, tree| {
            let at = tree.any(random, |at| tree.own(at) > 0)?;
            tree.set(at, |settings| settings.strategy = QueueStrategy::StrictFifo);
            Some(id(tree, at))
        },
        |planted, _, flaw| matches!(flaw, Flaw::Blocked { quota } if quota == planted),
    );
}

#[test]
fn a_low_set_with_a_gap_below() {
    check_planted(
        |random, tree| {
            let at = tree.any(random, |at| tree.own(at) > 0)?;
            let low = random.between(2, 8);
            let modules = some_modules(random);
            let scope = random.pick(&[Scope::SameLevel, Scope::Own]);
            let (high, low) = (priorities(low + 1, 9), priorities(low, low));
            tree.set(at, |settings| settings.self_level = Some(SelfLevelPreemption { high, low, modules, scope }));
            Some((id(tree, at), low))
        },
        |(planted, low), _, flaw| {
            matches!(flaw, Flaw::Spared { quota, policy: Policy::SelfLevel, named, spared }
                if quota == planted && named == low
                    && *spared == priorities(1, i64::from(low.lowest().unwrap().get()) - 1))
        },
    );
}

#[test]
fn what_a_sibling_is_guaranteed_may_be_held() {
    check_planted(
        |random, tree| {
            let (a, _) = pair(random, tree)?;
            let scope = random.pick(&[Scope::SameLevel, Scope::SiblingsIdle]);
            let policy = self_level(random, scope);
            tree.set(a, |settings| settings.self_level = Some(policy));
            Some(id(tree, a))
        },
        |planted, _, flaw| matches!(flaw, Flaw::Kept { quotas } if quotas.contains(planted)),
    );
}

#[test]
fn a_low_priority_takes_a_higher_one() {
    check_planted(
        |random, tree| {
            let parent = tree.any(random, |at| tree.below(at).iter().any(|child| tree.own(*child) > 0))?;
            let modules = some_modules(random);
            let preemptible = priorities(1, random.between(2, 9));
            tree.set(parent, |settings| settings.child_level = Some(ChildLevelPreemption { preemptible, modules }));
            Some(id(tree, parent))
        },
        |planted, _, flaw| matches!(flaw, Flaw::Upward { quota, highest: _ } if quota == planted),
    );
}
