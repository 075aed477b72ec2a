//! Siblings that can evict each other's jobs in turns: each of them has self-level preemption that reaches the other.

use crate::check::finding::Example;
use crate::check::finding::Finding;
use crate::check::finding::Flaw;
use crate::check::ground::Ground;
use crate::check::ground::together;
use crate::check::scene::Asked;
use crate::check::scene::Scene;
use crate::message::command::Command;
use crate::quota::policy::Scope;
use crate::quota::policy::SelfLevelPreemption;
use crate::unit::id::QuotaNo;
use crate::unit::priority::PrioritySet;
use crate::unit::time::Millis;

/// How many pairs of one level are played at most; further ones differ in nothing but their names.
const PAIRS_MAX: usize = 64;

pub(super) fn find(ground: &Ground) -> Vec<Finding> {
    ground.quotas().filter_map(|parent| finding(ground, parent)).collect()
}

fn finding(ground: &Ground, parent: QuotaNo) -> Option<Finding> {
    let Seen { level, is_chain, example } = seen(ground, parent)?;
    let fix = ground.first_that(fixes(ground, &level), |after| seen(after, parent).is_none());
    let quotas = level.into_iter().map(|no| ground.id(no)).collect();
    Some(Finding { flaw: Flaw::Turns { quotas, is_chain }, example, fix })
}

struct Seen {
    level: Vec<QuotaNo>,
    is_chain: bool,
    example: Example,
}

fn seen(ground: &Ground, parent: QuotaNo) -> Option<Seen> {
    let mut level: Vec<QuotaNo> = Vec::new();
    let mut pairs: Vec<(usize, QuotaNo, QuotaNo)> = Vec::new();
    for at in ground.dimensions() {
        let children = ground.state.children(parent).map(|(no, _)| no);
        let members: Vec<QuotaNo> =
            children.filter(|no| policy(ground, *no).is_some() && ground.own(*no, at) > 0).collect();
        if members.len() < 2 {
            continue;
        }
        level.extend(members.iter().copied().filter(|no| !level.contains(no)).collect::<Vec<_>>());
        let both = |a: &QuotaNo| members.iter().filter(|b| *b != a).map(|b| (at, *a, *b)).collect::<Vec<_>>();
        pairs.extend(members.iter().flat_map(both).take(PAIRS_MAX));
    }
    let chained = pairs.iter().find_map(|(at, a, b)| chain(ground, *at, *a, *b));
    let is_chain = chained.is_some();
    let example = chained.or_else(|| pairs.iter().find_map(|(at, a, b)| one_after_the_other(ground, *at, *a, *b)))?;
    Some(Seen { level, is_chain, example })
}

/// The policy of a quota that may take jobs of its siblings.
fn policy(ground: &Ground, no: QuotaNo) -> Option<&SelfLevelPreemption> {
    ground.settings(no).self_level.as_ref().filter(|policy| policy.scope == Scope::SameLevel)
}

/// A job of `b` evicts one of `a`, and is evicted itself for the next one of `a`: it is high in `b`, and low in `a`.
fn chain(ground: &Ground, dimension: usize, a: QuotaNo, b: QuotaNo) -> Option<Example> {
    let (of_a, of_b) = (policy(ground, a)?, policy(ground, b)?);
    let between: PrioritySet = of_b.high.iter().filter(|priority| of_a.low.contains(*priority)).collect();
    let (low, between, high) = (of_b.low.highest()?, between.highest()?, of_a.high.highest()?);
    let (size_a, size_b) = (ground.own(a, dimension), ground.own(b, dimension));
    let module = of_a.modules.iter().next()?;
    let (for_a, for_b) = (ground.settings(a), ground.settings(b));
    let scene = Scene::of(ground, dimension, &[a, b])?
        .submit(Asked { module: of_b.modules.iter().next()?, ..Asked::new("first", a, low, size_a) })
        .submit(Asked { module, ..Asked::new("neighbour", b, between, size_b) })
        .wait(Millis::HOUR.max(for_a.min_runtime))
        .submit(Asked { module, ..Asked::new("taker", b, between, size_a.min(size_b)) })
        .wait(Millis(for_a.grace_period.0.saturating_add(for_b.min_runtime.0)))
        .submit(Asked::new("next", a, high, size_a));
    scene.showing(|played| is_in_order(played.evicted("first", "taker"), played.evicted("taker", "next")))
}

/// A job of `b` is evicted for one of `a`, and later one of `a` for one of `b`.
fn one_after_the_other(ground: &Ground, dimension: usize, a: QuotaNo, b: QuotaNo) -> Option<Example> {
    let (of_a, of_b) = (policy(ground, a)?, policy(ground, b)?);
    let (size_a, size_b) = (ground.own(a, dimension), ground.own(b, dimension));
    let (for_a, for_b) = (ground.settings(a), ground.settings(b));
    let (low_a, low_b) = (of_b.low.lowest()?, of_a.low.lowest()?);
    let all = size_a.saturating_add(size_b);
    let scene = Scene::of(ground, dimension, &[a, b])?
        .submit(Asked { module: of_a.modules.iter().next()?, ..Asked::new("b-low", b, low_b, size_b) })
        .wait(for_b.min_runtime)
        .submit(Asked::new("a-urgent", a, of_a.high.highest()?, all))
        .wait(for_b.grace_period)
        .cancel("b-low")
        .cancel("a-urgent")
        .submit(Asked { module: of_b.modules.iter().next()?, ..Asked::new("a-low", a, low_a, size_a) })
        .wait(for_a.min_runtime)
        .submit(Asked::new("b-urgent", b, of_b.high.highest()?, all));
    scene.showing(|played| is_in_order(played.evicted("b-low", "a-urgent"), played.evicted("a-low", "b-urgent")))
}

fn is_in_order(there: Option<usize>, back: Option<usize>) -> bool {
    matches!((there, back), (Some(there), Some(back)) if there < back)
}

/// All of them but one take from their own jobs only: two that reach each other are one too many.
fn fixes(ground: &Ground, level: &[QuotaNo]) -> Vec<Command> {
    let but = |keeper: &QuotaNo| {
        let others = level.iter().filter(|no| *no != keeper);
        together(others.map(|no| own_scope(ground, *no)).collect())
    };
    // The one that was there last gives way first.
    level.iter().filter_map(but).take(2).collect()
}

/// The command after which a quota takes only from itself.
pub(super) fn own_scope(ground: &Ground, no: QuotaNo) -> Command {
    ground.update(no, |settings| {
        if let Some(policy) = &mut settings.self_level {
            policy.scope = Scope::Own;
        }
    })
}
