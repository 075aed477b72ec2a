//! Parents whose children have everything while child-level preemption is off: their own jobs never start.

use crate::check::finding::Example;
use crate::check::finding::Finding;
use crate::check::finding::Flaw;
use crate::check::ground::Ground;
use crate::check::scene::Asked;
use crate::check::scene::Scene;
use crate::check::unusable;
use crate::unit::amount::GPU;
use crate::unit::id::QuotaNo;
use crate::unit::priority::Priority;

/// How many children an example shows at most.
const CHILDREN_MAX: usize = 16;

pub(super) fn find(ground: &Ground) -> Vec<Finding> {
    ground.quotas().filter_map(|no| finding(ground, no)).collect()
}

fn finding(ground: &Ground, no: QuotaNo) -> Option<Finding> {
    let example = seen(ground, no)?;
    let fix = ground.first_that(unusable::fixes(ground, no), |after| seen(after, no).is_none());
    let children = u32::try_from(ground.state.children(no).count()).unwrap_or(u32::MAX);
    let amount = ground.state.quotas[no.at()].min.amount;
    Some(Finding { flaw: Flaw::NothingLeft { quota: ground.id(no), children, amount }, example, fix })
}

fn seen(ground: &Ground, no: QuotaNo) -> Option<Example> {
    if !unusable::is_only_a_parent(ground, no) {
        return None;
    }
    let children = ground.state.children(no).map(|(child, _)| child).take(CHILDREN_MAX);
    let cast: Vec<QuotaNo> = std::iter::once(no).chain(children).collect();
    let example = |at: usize| {
        let scene = Scene::of(ground, at, &cast)?.submit(Asked::new("waiting", no, Priority::HIGHEST, GPU));
        scene.showing(|played| played.waits("waiting"))
    };
    ground.dimensions().into_iter().filter(|at| ground.state.quotas[no.at()].min.amount[*at] > 0).find_map(example)
}
