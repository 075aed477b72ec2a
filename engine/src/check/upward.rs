//! Child-level preemption by which a job takes another one of a higher priority: the preemptor's own does not matter.

use crate::check::finding::Example;
use crate::check::finding::Finding;
use crate::check::finding::Flaw;
use crate::check::ground::Ground;
use crate::check::scene::Asked;
use crate::check::scene::Scene;
use crate::unit::id::QuotaNo;
use crate::unit::priority::Priority;
use crate::unit::priority::PrioritySet;

pub(super) fn find(ground: &Ground) -> Vec<Finding> {
    ground.quotas().filter_map(|no| finding(ground, no)).collect()
}

fn finding(ground: &Ground, no: QuotaNo) -> Option<Finding> {
    let (highest, example) = seen(ground, no)?;
    let fix = ground.update(no, |settings| {
        let lowest = PrioritySet::range(Priority::LOWEST, Priority::LOWEST);
        settings.child_level.iter_mut().for_each(|policy| policy.preemptible = lowest);
    });
    let fix = ground.first_that([fix], |after| seen(after, no).is_none());
    Some(Finding { flaw: Flaw::Upward { quota: ground.id(no), highest }, example, fix })
}

fn seen(ground: &Ground, no: QuotaNo) -> Option<(Priority, Example)> {
    let policy = ground.settings(no).child_level.as_ref()?;
    let highest = policy.preemptible.highest().filter(|highest| *highest > Priority::LOWEST)?;
    let module = policy.modules.iter().next()?;
    let example = |(home, at): (QuotaNo, usize)| {
        let (own, taken) = (ground.own(no, at), ground.own(home, at));
        let scene = Scene::of(ground, at, &[no, home])?
            .submit(Asked { module, ..Asked::new("important", home, highest, taken) })
            .wait(ground.settings(home).min_runtime)
            .submit(Asked::new("small", no, Priority::LOWEST, own + taken));
        scene.showing(|played| played.evicted("important", "small").is_some())
    };
    let homes = ground.below(no).into_iter().take(16);
    let mut places = homes.flat_map(|home| ground.dimensions().into_iter().map(move |at| (home, at)));
    places.find_map(example).map(|example| (highest, example))
}
