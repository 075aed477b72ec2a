//! Whether known reasons hold still, without trying the sources again.
//!
//! Most waiting jobs wait for the same plain reasons round after round: their quota is full, too little is idle. These
//! are looked up in the books at once, for a whole family. Whatever is not plain is tried in full; so this never
//! changes what is decided, only what it costs.

use crate::job::hold::Lasting;
use crate::job::spec::IdlePolicy;
use crate::ledger;
use crate::schedule::trial::Trial;
use crate::state::queue::Family;
use crate::unit::id::ClassNo;
use crate::unit::slots::Slots;

/// The classes of a family whose reasons may not hold any more.
pub fn unsettled<'a>(trial: &'a Trial<'_>, family: &'a Family) -> impl Iterator<Item = ClassNo> + 'a {
    let is_settled = family.is_hopeless() || (family.is_plain() && plain_reasons_hold(trial, family));
    let classes = (!is_settled).then_some(&family.classes);
    classes.into_iter().flatten().copied().filter(|class| !holds_still(trial, *class))
}

/// Whether the reasons that a class was given plainly hold still.
#[must_use]
pub fn holds_still(trial: &Trial<'_>, no: ClassNo) -> bool {
    let queue = &trial.state.queue;
    let lasting = queue.classes[no.at()].hold.as_ref().map_or(Lasting::Open, |hold| hold.lasting());
    match lasting {
        Lasting::ForEver => true,
        Lasting::Plain => plain_reasons_hold(trial, queue.family(no)),
        Lasting::Open => false,
    }
}

/// Whether each way that is plainly closed is closed still, as far as jobs of this family may go it.
fn plain_reasons_hold(trial: &Trial<'_>, family: &Family) -> bool {
    (family.key.idle == IdlePolicy::Only || is_own_amount_short(trial, family))
        && (family.key.idle == IdlePolicy::Off || is_idle_short(trial, family))
}

/// Whether the quota's own amount is used up; an ancestor's would not do, since what stands in the way there may be
/// owed.
fn is_own_amount_short(trial: &Trial<'_>, family: &Family) -> bool {
    let quota = family.key.quota.at();
    let book = trial.quotas.get(quota);
    let min = &trial.state.quotas[quota].min;
    min.first_exceeded(&book.own_jobs.plus(&book.claimed), &family.shape.gang_amount()).is_some()
}

/// Whether too little is idle in the job's own domain, which is the one that is named when it is the only one.
fn is_idle_short(trial: &Trial<'_>, family: &Family) -> bool {
    let domains = &trial.state.domains;
    let own = domains.of_quota(family.key.quota);
    let is_only =
        domains.list.iter().filter(|domain| domain.resource_type == domains.list[own.at()].resource_type).count() == 1;
    is_only && ledger::fits_in_idle(trial.domains.get(own.at()), &family.shape.gang_amount()).is_err()
}
