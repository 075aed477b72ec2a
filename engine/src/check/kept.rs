//! Quotas whose jobs may come to hold what a sibling is guaranteed: by self-level preemption, and until they end.

use crate::check::finding::Example;
use crate::check::finding::Finding;
use crate::check::finding::Flaw;
use crate::check::ground::Ground;
use crate::check::ground::together;
use crate::check::scene::Asked;
use crate::check::scene::Scene;
use crate::check::turns::own_scope;
use crate::quota::policy::Scope;
use crate::quota::policy::SelfLevelPreemption;
use crate::unit::id::QuotaNo;
use crate::unit::priority::Priority;
use crate::unit::priority::PrioritySet;

/// How many siblings are played with each quota.
const SIBLINGS_MAX: usize = 8;

pub(super) fn find(ground: &Ground) -> Vec<Finding> {
    ground.quotas().filter_map(|parent| finding(ground, parent)).collect()
}

fn finding(ground: &Ground, parent: QuotaNo) -> Option<Finding> {
    let seen: Vec<(QuotaNo, Example)> = seen(ground, parent).collect();
    let quotas = seen.iter().map(|(no, _)| ground.id(*no)).collect();
    let own = together(seen.iter().map(|(no, _)| own_scope(ground, *no)).collect());
    let off = together(seen.iter().map(|(no, _)| ground.update(*no, |settings| settings.self_level = None)).collect());
    let fixes = own.into_iter().chain(off);
    let fix = ground.first_that(fixes, |after| self::seen(after, parent).next().is_none());
    let (_, example) = seen.into_iter().next()?;
    Some(Finding { flaw: Flaw::Kept { quotas }, example, fix })
}

fn seen(ground: &Ground, parent: QuotaNo) -> impl Iterator<Item = (QuotaNo, Example)> {
    let children = ground.state.children(parent).map(|(no, _)| no);
    children.filter_map(move |no| {
        let policy = ground.settings(no).self_level.as_ref().filter(|policy| policy.scope != Scope::Own)?;
        let siblings = ground.siblings(no).into_iter().take(SIBLINGS_MAX);
        let mut places = siblings.flat_map(|sibling| ground.dimensions().into_iter().map(move |at| (sibling, at)));
        let example = places.find_map(|(sibling, at)| example(ground, at, no, sibling, policy))?;
        Some((no, example))
    })
}

/// A job of the quota is there first, and the sibling's own job waits although it fits in its guarantee.
fn example(
    ground: &Ground,
    dimension: usize,
    no: QuotaNo,
    sibling: QuotaNo,
    policy: &SelfLevelPreemption,
) -> Option<Example> {
    let (own, theirs) = (ground.own(no, dimension), ground.own(sibling, dimension));
    if theirs <= 0 {
        return None;
    }
    let high = policy.high.highest()?;
    let owner = patient(ground, sibling)?;
    let scene = Scene::of(ground, dimension, &[no, sibling])?;
    let shown = |scene: Scene| {
        let scene =
            scene.submit(Asked::new("more", no, high, theirs)).submit(Asked::new("owner", sibling, owner, theirs));
        scene.showing(|played| played.runs("more") && played.waits("owner"))
    };
    let full = scene.submit(Asked::new("own", no, high, own));
    let low = policy.low.highest().zip(policy.modules.iter().next());
    let taken = low.filter(|_| policy.scope == Scope::SameLevel).and_then(|(low, module)| {
        let job = Asked { module, ..Asked::new("low", sibling, low, theirs) };
        shown(full.clone().submit(job).wait(ground.settings(sibling).min_runtime))
    });
    shown(full).or(taken)
}

/// The highest priority with which a job of a quota takes nothing from others.
fn patient(ground: &Ground, no: QuotaNo) -> Option<Priority> {
    let high = ground.settings(no).self_level.as_ref().map(|policy| policy.high).unwrap_or_default();
    PrioritySet::range(Priority::LOWEST, Priority::HIGHEST).iter().rev().find(|priority| !high.contains(*priority))
}
