//! Strict queues that one job can block: what is free stays free while the head waits for more.

use crate::check::finding::Example;
use crate::check::finding::Finding;
use crate::check::finding::Flaw;
use crate::check::ground::Ground;
use crate::check::scene::Asked;
use crate::check::scene::Scene;
use crate::quota::settings::QueueStrategy;
use crate::unit::amount::GPU;
use crate::unit::id::QuotaNo;
use crate::unit::priority::Priority;

pub(super) fn find(ground: &Ground) -> Vec<Finding> {
    ground.quotas().filter_map(|no| finding(ground, no)).collect()
}

fn finding(ground: &Ground, no: QuotaNo) -> Option<Finding> {
    let example = seen(ground, no)?;
    // The order of submission stays; only who cannot start is passed over.
    let fix = ground.update(no, |settings| settings.strategy = QueueStrategy::RoundRobin);
    let fix = ground.first_that([fix], |after| seen(after, no).is_none());
    Some(Finding { flaw: Flaw::Blocked { quota: ground.id(no) }, example, fix })
}

fn seen(ground: &Ground, no: QuotaNo) -> Option<Example> {
    let is_strict = ground.settings(no).strategy == QueueStrategy::StrictFifo;
    is_strict.then(|| ground.dimensions().into_iter().find_map(|at| example(ground, at, no)))?
}

/// A small job would fit beside the one that runs, but for the large one between them.
fn example(ground: &Ground, dimension: usize, no: QuotaNo) -> Option<Example> {
    let total = ground.own(no, dimension);
    let part = half(total);
    let running = Asked::new("running", no, Priority::LOWEST, part);
    let small = Asked::new("small", no, Priority::HIGHEST, total - part);
    let scene = Scene::of(ground, dimension, &[no])?.submit(running);
    if part <= 0 || !scene.clone().submit(small).holds(|played| played.runs("small")) {
        return None;
    }
    let scene = scene.submit(Asked::new("large", no, Priority::LOWEST, total)).submit(small);
    scene.showing(|played| played.runs("running") && played.waits("large") && played.waits("small"))
}

/// Half of an amount, in whole GPUs where there are several.
pub(super) fn half(total: i64) -> i64 {
    if total >= 2 * GPU { total / 2 / GPU * GPU } else { total / 2 }
}
