//! Source 2: idle amount of any quota that lends (rules 4.1).

use crate::job::hold::Blocker;
use crate::job::phase::Charge;
use crate::job::phase::Placed;
use crate::job::phase::Source;
use crate::job::spec::IdlePolicy;
use crate::job::spec::JobSpec;
use crate::ledger;
use crate::schedule::decision::Assignment;
use crate::schedule::source::room::dimension;
use crate::schedule::source::room::find_room;
use crate::schedule::trial::Trial;
use crate::unit::id::DomainNo;
use crate::unit::slots::Slots;

pub(super) fn assign(trial: &Trial<'_>, job: &JobSpec) -> Result<Assignment, Blocker> {
    if job.idle == IdlePolicy::Off {
        return Err(Blocker::IdleOff);
    }
    let mut first = None;
    for domain in domains(trial, job) {
        match assign_in(trial, job, domain) {
            Ok(assignment) => return Ok(assignment),
            Err(blocker) => first = first.or(Some(blocker)),
        }
    }
    Err(first.unwrap_or(Blocker::NothingLent))
}

/// The job's own domain, then the others of its resource type. A gang never spans two.
fn domains(trial: &Trial<'_>, job: &JobSpec) -> impl Iterator<Item = DomainNo> {
    let list = &trial.state.domains.list;
    let own = trial.state.domains.of_quota(job.quota);
    let others = (0..list.len())
        .map(DomainNo::from_index)
        .filter(move |no| *no != own && list[no.at()].resource_type == list[own.at()].resource_type);
    std::iter::once(own).chain(others)
}

/// Idle amount of one domain.
pub fn assign_in(trial: &Trial<'_>, job: &JobSpec, domain: DomainNo) -> Result<Assignment, Blocker> {
    let asked = job.shape.gang_amount();
    ledger::fits_in_idle(trial.domains.get(domain.at()), &asked).map_err(|(at, idle)| Blocker::IdleShort {
        dimension: dimension(at),
        asked: asked[at],
        idle,
    })?;
    let pods = find_room(trial, domain, &job.shape)?;
    let home = trial.state.domains.list[domain.at()].home;
    let placed = Placed { source: Source::Idle, charge: Charge::Idle, home, pods };
    Ok(Assignment { placed, promoted: Vec::new(), victims: Vec::new(), cause: None })
}
