//! Policies that can never act: nobody whom they name can exist where they reach.

use crate::check::finding::Example;
use crate::check::finding::Finding;
use crate::check::finding::Flaw;
use crate::check::finding::Policy;
use crate::check::finding::Powerless;
use crate::check::ground::Ground;
use crate::check::scene::Asked;
use crate::check::scene::Scene;
use crate::message::command::Command;
use crate::quota::policy::Scope;
use crate::unit::amount::GPU;
use crate::unit::id::QuotaNo;
use crate::unit::priority::Priority;

/// How many other quotas an example shows.
const OTHERS_MAX: usize = 4;

pub(super) fn find(ground: &Ground) -> Vec<Finding> {
    let both = |no: QuotaNo| [(no, Policy::SelfLevel), (no, Policy::ChildLevel)];
    ground.quotas().flat_map(both).filter_map(|(no, policy)| finding(ground, no, policy)).collect()
}

fn finding(ground: &Ground, no: QuotaNo, policy: Policy) -> Option<Finding> {
    let (why, example) = seen(ground, no, policy)?;
    let fix = ground.first_that([off(ground, no, policy)], |after| seen(after, no, policy).is_none());
    Some(Finding { flaw: Flaw::Powerless { quota: ground.id(no), policy, why }, example, fix })
}

fn seen(ground: &Ground, no: QuotaNo, policy: Policy) -> Option<(Powerless, Example)> {
    let why = why(ground, no, policy)?;
    let settings = ground.settings(no);
    // Child-level preemption does not ask for the preemptor's priority, and a 1 is high nowhere.
    let (running, urgent) = match policy {
        Policy::ChildLevel => (settings.child_level.as_ref()?.preemptible.highest()?, Priority::LOWEST),
        Policy::SelfLevel => (Priority::HIGHEST, settings.self_level.as_ref()?.high.highest()?),
    };
    let has_own = |other: &QuotaNo| ground.dimensions().into_iter().any(|at| ground.own(*other, at) > 0);
    let others: Vec<QuotaNo> = match policy {
        Policy::ChildLevel => ground.below(no),
        // What siblings keep from lending is there, and out of reach.
        Policy::SelfLevel => {
            let level = ground.siblings(no).into_iter().flat_map(|sibling| ground.state.subtree(sibling));
            level.filter(has_own).collect()
        }
    };
    let cast: Vec<QuotaNo> = std::iter::once(no).chain(others.into_iter().take(OTHERS_MAX)).collect();
    let example = |at: usize| {
        let scene = Scene::of(ground, at, &cast)?
            .submit(Asked::new("running", no, running, ground.own(no, at)))
            .submit(Asked::new("urgent", no, urgent, GPU));
        scene.showing(|played| played.waits("urgent") && !played.has_evictions())
    };
    Some((why, ground.dimensions().into_iter().find_map(example)?))
}

fn why(ground: &Ground, no: QuotaNo, policy: Policy) -> Option<Powerless> {
    let settings = ground.settings(no);
    let has_anything = |no: &QuotaNo| ground.is_guaranteed_anything(*no);
    if policy == Policy::ChildLevel {
        settings.child_level.as_ref()?;
        let below = ground.below(no);
        return match below.iter().any(has_anything) {
            true => None,
            false if below.is_empty() => Some(Powerless::NoChildren),
            false => Some(Powerless::NothingBelow),
        };
    }
    let siblings = ground.siblings(no);
    let is_lent = siblings.iter().any(|sibling| ground.lends(*sibling));
    match settings.self_level.as_ref()?.scope {
        Scope::SiblingsIdle if siblings.is_empty() => Some(Powerless::NoSiblings),
        Scope::SiblingsIdle => (!is_lent).then_some(Powerless::NothingLent),
        Scope::Own => (!has_anything(&no)).then_some(Powerless::NothingAtLevel),
        Scope::SameLevel => {
            let acts = is_lent || has_anything(&no) || siblings.iter().any(has_anything);
            (!acts).then_some(Powerless::NothingAtLevel)
        }
    }
}

fn off(ground: &Ground, no: QuotaNo, policy: Policy) -> Command {
    ground.update(no, |settings| match policy {
        Policy::SelfLevel => settings.self_level = None,
        Policy::ChildLevel => settings.child_level = None,
    })
}
