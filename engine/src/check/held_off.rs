//! Protections that make a right void: a minimum run time or a grace period that outlasts the patience of whoever may
//! take the amount. A job has waited too long after the time that its quota calls starving, and not before an hour.

use crate::check::finding::Example;
use crate::check::finding::Finding;
use crate::check::finding::Flaw;
use crate::check::finding::Policy;
use crate::check::finding::Protection;
use crate::check::finding::Right;
use crate::check::ground::Ground;
use crate::check::scene::Asked;
use crate::check::scene::Scene;
use crate::job::spec::IdlePolicy;
use crate::quota::policy::Scope;
use crate::quota::settings::QuotaSettings;
use crate::unit::id::QuotaNo;
use crate::unit::priority::Priority;
use crate::unit::time::Millis;

/// How many quotas are played against one protection.
const TRIED_MAX: usize = 16;

pub(super) fn find(ground: &Ground) -> Vec<Finding> {
    const RIGHTS: [Right; 3] = [Right::Policy(Policy::SelfLevel), Right::Policy(Policy::ChildLevel), Right::Reclaim];
    let protections = [Protection::MinRuntime, Protection::Grace];
    let cases = |no: QuotaNo| protections.into_iter().flat_map(move |by| RIGHTS.map(|right| Case { no, by, right }));
    ground.quotas().flat_map(cases).filter_map(|case| finding(ground, case)).collect()
}

/// Whose jobs are protected by what against which right.
#[derive(Clone, Copy)]
struct Case {
    no: QuotaNo,
    by: Protection,
    right: Right,
}

fn finding(ground: &Ground, case: Case) -> Option<Finding> {
    let (quota, example) = seen(ground, case)?;
    let limit = limit(ground, quota);
    // Others with the same right may be less patient, but nobody's patience ends before an hour.
    let shorter = |to: Millis| ground.update(case.no, |settings| *period(settings, case.by) = to);
    let fix = ground.first_that([limit, Millis::HOUR].map(shorter), |after| seen(after, case).is_none());
    let flaw = Flaw::HeldOff {
        quota: ground.id(quota),
        right: case.right,
        protected: ground.id(case.no),
        protection: case.by,
        period: *period(&mut ground.settings(case.no).clone(), case.by),
        limit,
    };
    Some(Finding { flaw, example, fix })
}

fn seen(ground: &Ground, case: Case) -> Option<(QuotaNo, Example)> {
    let period = *period(&mut ground.settings(case.no).clone(), case.by);
    if period <= Millis::HOUR {
        return None;
    }
    let entitled = entitled(ground, case).into_iter().filter(|no| limit(ground, *no) < period).take(TRIED_MAX);
    let mut places = entitled.flat_map(|no| ground.dimensions().into_iter().map(move |at| (no, at)));
    places.find_map(|(no, at)| example(ground, case, no, at).map(|example| (no, example)))
}

/// Whose jobs may take amounts of the protected ones.
fn entitled(ground: &Ground, Case { no, by, right }: Case) -> Vec<QuotaNo> {
    let reaches = |from: &QuotaNo, scope: Option<Scope>| match scope {
        Some(Scope::SameLevel) => true,
        Some(Scope::Own) => *from == no,
        Some(Scope::SiblingsIdle) | None => false,
    };
    let scope = |from: &QuotaNo| ground.settings(*from).self_level.as_ref().map(|policy| policy.scope);
    match right {
        Right::Policy(Policy::SelfLevel) => {
            let level = std::iter::once(no).chain(ground.siblings(no));
            level.filter(|from| reaches(from, scope(from))).collect()
        }
        Right::Policy(Policy::ChildLevel) => {
            let above = std::iter::successors(Some(no), |no| ground.state.quotas[no.at()].parent).skip(1);
            above.filter(|from| ground.settings(*from).child_level.is_some()).collect()
        }
        // What is lent is owed: a minimum run time protects no borrower.
        Right::Reclaim if by == Protection::MinRuntime => Vec::new(),
        Right::Reclaim => {
            let domain = ground.state.domains.of_quota(no);
            let lends = |other: &QuotaNo| {
                *other != no && ground.state.domains.of_quota(*other) == domain && ground.settings(*other).lends
            };
            ground.state.live_quotas().map(|(other, _)| other).filter(lends).collect()
        }
    }
}

/// Whoever has the right waits for longer than is meant, and would not without the protection.
fn example(ground: &Ground, case: Case, quota: QuotaNo, dimension: usize) -> Option<Example> {
    let Case { no, by: _, right } = case;
    let (own, taken) = (ground.own(quota, dimension), ground.own(no, dimension));
    if taken <= 0 {
        return None;
    }
    let all = if quota == no { own } else { own.saturating_add(taken) };
    let players = if quota == no { vec![no] } else { vec![quota, no] };
    let scene = Scene::of(ground, dimension, &players)?;
    let settings = ground.settings(quota);
    let scene = match right {
        Right::Policy(Policy::SelfLevel) => {
            let policy = settings.self_level.as_ref()?;
            let module = policy.modules.iter().next()?;
            scene
                .submit(Asked { module, ..Asked::new("protected", no, policy.low.highest()?, taken) })
                .submit(Asked::new("entitled", quota, policy.high.highest()?, all))
        }
        Right::Policy(Policy::ChildLevel) => {
            let policy = settings.child_level.as_ref()?;
            let module = policy.modules.iter().next()?;
            scene
                .submit(Asked { module, ..Asked::new("protected", no, policy.preemptible.highest()?, taken) })
                .submit(Asked::new("entitled", quota, Priority::HIGHEST, all))
        }
        Right::Reclaim => scene
            .submit(Asked::new("own", no, Priority::HIGHEST, taken))
            .submit(Asked { idle: IdlePolicy::Only, ..Asked::new("protected", no, Priority::LOWEST, own) })
            .submit(Asked::new("entitled", quota, Priority::HIGHEST, own)),
    };
    let without = scene.clone().but(no, |settings| {
        (settings.min_runtime, settings.grace_period) = (Millis::ZERO, Millis::ZERO);
    });
    if !without.holds(|played| played.runs("entitled")) {
        return None;
    }
    scene.wait(limit(ground, quota)).showing(|played| played.waits("entitled"))
}

fn period(settings: &mut QuotaSettings, by: Protection) -> &mut Millis {
    match by {
        Protection::MinRuntime => &mut settings.min_runtime,
        Protection::Grace => &mut settings.grace_period,
    }
}

/// How long a job of a quota may wait before it is too long.
fn limit(ground: &Ground, no: QuotaNo) -> Millis {
    ground.settings(no).starvation_after.max(Millis::HOUR)
}
