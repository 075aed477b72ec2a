//! Whether idle amounts are lent to nobody at all.
//!
//! Then it does not matter whose turn comes first, and the queue need not be put in order: after a release that is most
//! of what a round costs.

use crate::job::hold::Blocker;
use crate::job::phase::Source;
use crate::schedule::order;
use crate::schedule::order::rank::Rank;
use crate::schedule::source;
use crate::schedule::trial::Trial;
use crate::unit::id::ClassNo;
use crate::unit::id::JobNo;
use crate::unit::sparse::Sparse;

/// A family of classes to which nothing is lent.
pub(super) struct Family<'s> {
    /// Its classes with somebody waiting.
    pub(super) classes: Vec<ClassNo>,
    /// Who would be asked first, with its place in the queue.
    pub(super) first: (Rank<'s>, JobNo, ClassNo),
    /// Why nothing is lent to it.
    pub(super) blocker: Blocker,
}

/// What idle amounts say to each of these classes, by family; nothing if somebody gets something.
pub(super) fn asked<'s>(trial: &Trial<'s>, classes: &[ClassNo]) -> Option<Vec<Family<'s>>> {
    let state = trial.state;
    let mut families: Vec<Family<'_>> = Vec::new();
    let mut of_family: Sparse<usize> = Sparse::default();
    for no in classes {
        let class = &state.queue.classes[no.at()];
        let Some(job) = class.waiting.iter().find(|job| !trial.is_served(*job)) else { continue };
        let here = (order::rank(state, trial.now, job), job, *no);
        let at = of_family.slot(class.family.at());
        if let Some(family) = at.and_then(|at| families.get_mut(at)) {
            family.classes.push(*no);
            family.first = here.min(family.first);
        } else {
            let blocker = source::assign(Source::Idle, trial, &state.jobs[job].spec).err()?;
            *at = Some(families.len());
            families.push(Family { classes: vec![*no], first: here, blocker });
        }
    }
    Some(families)
}
