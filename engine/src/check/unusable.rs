//! Priorities that nobody can ever use: no regular job of the quota with one of them can start, even in an empty cluster.

use crate::check::finding::Example;
use crate::check::finding::Finding;
use crate::check::finding::Flaw;
use crate::check::ground::Ground;
use crate::check::scene::Asked;
use crate::check::scene::Scene;
use crate::message::command::Command;
use crate::message::command::DeleteQuota;
use crate::message::command::ScaleMode;
use crate::message::command::ScaleQuotas;
use crate::quota::policy::ChildLevelPreemption;
use crate::quota::policy::Scope;
use crate::unit::amount::GPU;
use crate::unit::id::QuotaNo;
use crate::unit::priority::Module;
use crate::unit::priority::Priority;
use crate::unit::priority::PrioritySet;

pub(super) fn find(ground: &Ground) -> Vec<Finding> {
    ground.quotas().filter_map(|no| finding(ground, no)).collect()
}

fn finding(ground: &Ground, no: QuotaNo) -> Option<Finding> {
    let (priorities, example) = seen(ground, no)?;
    let fix = ground
        .first_that(fixes(ground, no), |after| after.state.quotas[no.at()].is_deleted || seen(after, no).is_none());
    Some(Finding { flaw: Flaw::Unusable { quota: ground.id(no), priorities }, example, fix })
}

fn seen(ground: &Ground, no: QuotaNo) -> Option<(PrioritySet, Example)> {
    if ground.is_guaranteed_anything(no) || is_only_a_parent(ground, no) {
        return None;
    }
    let usable = usable(ground, no);
    let all = PrioritySet::range(Priority::LOWEST, Priority::HIGHEST);
    let unusable: PrioritySet = all.iter().filter(|priority| !usable.contains(*priority)).collect();
    let cast: Vec<QuotaNo> = std::iter::once(no).chain(ground.siblings(no).into_iter().take(2)).collect();
    let example = |at: usize| {
        let scene = Scene::of(ground, at, &cast)?;
        let waits = |priority: Priority| {
            let alone = scene.clone().submit(Asked::new("nobody", no, priority, GPU));
            alone.holds(|played| played.waits("nobody"))
        };
        if !unusable.iter().all(waits) {
            return None;
        }
        let shown = scene.submit(Asked::new("nobody", no, unusable.highest()?, GPU));
        match usable.lowest() {
            Some(priority) => shown
                .submit(Asked::new("somebody", no, priority, GPU))
                .showing(|played| played.waits("nobody") && played.runs("somebody")),
            None => shown.showing(|played| played.waits("nobody")),
        }
    };
    let example = ground.dimensions().into_iter().find_map(example)?;
    Some((unusable, example))
}

/// Whether a quota is there for its children alone, as many are: another finding speaks of these.
pub(super) fn is_only_a_parent(ground: &Ground, no: QuotaNo) -> bool {
    let min = &ground.state.quotas[no.at()].min;
    ground.state.has_children(no)
        && ground.settings(no).child_level.is_none()
        && !ground.is_guaranteed_anything(no)
        && ground.dimensions().into_iter().any(|at| min.amount[at] > 0)
        && usable(ground, no).lowest().is_none()
}

/// With which priorities jobs of a quota without an amount of its own may use what is around it.
fn usable(ground: &Ground, no: QuotaNo) -> PrioritySet {
    let Some(policy) = &ground.settings(no).self_level else { return PrioritySet::default() };
    let reaches = ground.siblings(no).into_iter().any(|sibling| match policy.scope {
        Scope::Own => false,
        Scope::SiblingsIdle => ground.lends(sibling),
        Scope::SameLevel => ground.lends(sibling) || ground.is_guaranteed_anything(sibling),
    });
    if reaches { policy.high } else { PrioritySet::default() }
}

/// What would give such a quota something, from the least that others lose.
pub(super) fn fixes(ground: &Ground, no: QuotaNo) -> Vec<Command> {
    let scale = |targets| Command::ScaleQuotas(ScaleQuotas { targets, mode: ScaleMode::Drain });
    let mut fixes = Vec::new();
    if ground.state.has_children(no) {
        fixes.push(ground.update(no, |settings| {
            let preemptible = PrioritySet::range(Priority::LOWEST, Priority::LOWEST);
            let modules = [Module::default()].into_iter().collect();
            settings.child_level = Some(ChildLevelPreemption { preemptible, modules });
        }));
    }
    for (at, part) in ground.dimensions().into_iter().flat_map(|at| [(at, GPU), (at, GPU / 2)]) {
        // From the first ancestor that has something left; the others pass it on.
        let path: Vec<QuotaNo> = std::iter::successors(Some(no), |no| ground.state.quotas[no.at()].parent).collect();
        for passing in 1..=path.len() {
            fixes.push(scale(path[..passing].iter().map(|no| ground.target(*no, at, part)).collect()));
        }
        let siblings = ground.siblings(no).into_iter().map(|sibling| (sibling, vec![ground.target(no, at, part)]));
        let children = ground.state.children(no).map(|(child, _)| (child, Vec::new()));
        let donors = siblings.chain(children).filter(|(donor, _)| ground.own(*donor, at) > part);
        if let Some((donor, mut targets)) = donors.max_by_key(|(donor, _)| ground.own(*donor, at)) {
            targets.push(ground.target(donor, at, -part));
            fixes.push(scale(targets));
        }
    }
    fixes.push(Command::DeleteQuota(DeleteQuota { quota: ground.id(no) }));
    fixes
}
