//! Source 3: taking back what the job's quota has lent to idle jobs (rules 4.3).
//!
//! There is no priority clause: what is lent is owed. Loans are fungible, so an idle job gives way only when what is
//! idle no longer covers all loans, or when it stands on machines that the owner's pods need. What a quota holds
//! above its amount since it was scaled down is owed as well (rules 8.2).

use crate::job::cause::Cause;
use crate::job::hold::Blocker;
use crate::job::phase::Charge;
use crate::job::phase::Placed;
use crate::job::phase::Source;
use crate::job::spec::IdlePolicy;
use crate::job::spec::JobSpec;
use crate::ledger;
use crate::ledger::Reach;
use crate::schedule::decision::Assignment;
use crate::schedule::source::own;
use crate::schedule::trial::Trial;
use crate::schedule::victims;
use crate::schedule::victims::field::is_any_draining;
use crate::schedule::victims::preemptor::Preemptor;
use crate::schedule::victims::right::Right;
use crate::schedule::victims::rule::Rule;
use crate::unit::slots::Slots;

pub(super) fn assign(trial: &Trial<'_>, job: &JobSpec) -> Result<Assignment, Blocker> {
    own::fits(trial, job).or_else(|blocker| if is_kept_out(trial, job) { Ok(()) } else { Err(blocker) })?;
    let domain = trial.state.domains.of_quota(job.quota);
    if !trial.lends_in(domain) && trial.state.over.is_empty() {
        return Err(Blocker::NothingLent);
    }
    let quota = &trial.state.quotas[job.quota.at()];
    let placed = Placed {
        source: Source::Reclaim,
        charge: Charge::InQuota,
        home: trial.state.domains.list[domain.at()].home,
        pods: Box::default(),
    };
    let preemptor = Preemptor { job, placed, rule: Rule::Reclaim, right: Right::Own, policy_quota: job.quota };
    victims::find(trial, &preemptor, Cause::Reclaimed { quota: quota.id.clone(), by: job.id.clone() })
}

/// Whether a job that fits in what its quota guarantees to its own jobs is kept out by a relative that was scaled below
/// its use: a child, a sibling, a cousin. What that holds above its amount is owed.
fn is_kept_out(trial: &Trial<'_>, job: &JobSpec) -> bool {
    let (tree, asked) = (&trial.state.quotas, job.shape.gang_amount());
    let book = trial.quotas.get(job.quota.at());
    let guaranteed = tree[job.quota.at()].min.first_exceeded(&book.own_jobs.plus(&book.children_min), &asked);
    if job.idle == IdlePolicy::Only || guaranteed.is_some() {
        return false;
    }
    let short = ledger::fits_in_quota(tree, &trial.quotas, job.quota, &asked, Reach::Own);
    short.is_err_and(|short| is_any_draining(trial, short.quota))
}
