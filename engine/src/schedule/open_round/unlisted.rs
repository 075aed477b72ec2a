//! The classes that a pass leaves out because their quota is full (rules 3.2): once somebody has given way there, their
//! turn comes as everybody's.

use crate::schedule::decision::Decision;
use crate::schedule::order::is_strict;
use crate::schedule::recheck;
use crate::schedule::trial::Trial;
use crate::state::waiting::Half;
use crate::unit::id::ClassNo;
use crate::unit::id::QuotaNo;
use crate::unit::sparse::Sparse;

/// What is not in the list of a pass.
pub(super) struct Unlisted<'c> {
    classes: &'c [ClassNo],
    /// The list by number, as soon as it matters: in most passes nobody gives way. What stands there says nothing; with
    /// numbers the code of the order's own is used, which people wait for in the planner.
    listed: Sparse<u32>,
}

impl<'c> Unlisted<'c> {
    pub(super) fn beside(classes: &'c [ClassNo]) -> Self {
        Self { classes, listed: Sparse::default() }
    }

    /// Who may start now that the victims of these decisions have given way; from now on these are in the list.
    pub(super) fn unsettled(&mut self, trial: &Trial<'_>, decisions: &[Decision]) -> Vec<ClassNo> {
        let mut unsettled = Vec::new();
        for quota in quotas_of_victims(trial, decisions) {
            recheck::add_unsettled(trial, quota, Half::ByRight, &mut unsettled);
        }
        if !unsettled.is_empty() {
            let listed = &mut self.listed;
            for no in std::mem::take(&mut self.classes) {
                *listed.slot(no.at()) = Some(0);
            }
            unsettled.retain(|no| listed.slot(no.at()).replace(0).is_none());
        }
        unsettled
    }
}

/// Where victims have held something. A queue that waits for its head is in the list as a whole, or not asked.
fn quotas_of_victims(trial: &Trial<'_>, decisions: &[Decision]) -> Vec<QuotaNo> {
    let mut quotas = Vec::new();
    for decision in decisions {
        let Decision::Serve { assignment, .. } = decision else { continue };
        for victim in &assignment.victims {
            let quota = trial.state.jobs[victim.job()].spec.quota;
            if !quotas.contains(&quota) && !is_strict(trial.state, quota) {
                quotas.push(quota);
            }
        }
    }
    quotas
}
