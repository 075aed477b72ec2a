//! Who has lent what to whom (rules 4.2).
//!
//! Lent amounts are fungible: what an idle job holds can be moved from one lender to another at any time. So loans
//! are not stored. They are attributed when somebody asks: lenders with the largest idle amount first, jobs in the
//! order in which they started. Moving a loan to another idle lender is this attribution made anew.

use crate::job::phase::Charge;
use crate::job::phase::Phase;
use crate::ledger::own_idle;
use crate::state::world::State;
use crate::unit::amount::Amount;
use crate::unit::id::DomainNo;
use crate::unit::id::JobNo;
use crate::unit::id::QuotaNo;
use crate::unit::sort;
use crate::unit::time::Timestamp;

/// What a job holds of a lender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loan {
    /// Whose idle amount it is.
    pub lender: QuotaNo,
    /// Who holds it.
    pub job: JobNo,
    /// How much.
    pub amount: Amount,
}

/// The loans of a domain.
#[must_use]
pub fn loans(state: &State, domain: DomainNo) -> Vec<Loan> {
    let mut lenders = lenders(state, domain);
    let mut loans = Vec::new();
    for (_, job, mut needed) in borrowers(state, domain) {
        for (lender, left) in &mut lenders {
            let amount = needed.lesser(left);
            if !amount.is_zero() {
                needed -= amount;
                *left -= amount;
                loans.push(Loan { lender: *lender, job, amount });
            }
        }
    }
    loans
}

/// Quotas that lend, with what each leaves idle, the largest first.
fn lenders(state: &State, domain: DomainNo) -> Vec<(QuotaNo, Amount)> {
    let mut lenders: Vec<(QuotaNo, Amount)> = state
        .live_quotas()
        .filter(|(no, quota)| quota.settings.lends && state.domains.of_quota(*no) == domain)
        .map(|(no, quota)| (no, own_idle(quota, &state.ledger.quotas[no.at()])))
        .filter(|(_, idle)| !idle.is_zero())
        .collect();
    sort::by(&mut lenders, |a, b| {
        let gpus = |idle: &Amount| state.cluster.gpus(idle);
        gpus(&b.1).cmp(&gpus(&a.1)).then_with(|| state.quotas[a.0.at()].id.cmp(&state.quotas[b.0.at()].id))
    });
    lenders
}

/// Idle jobs with what they hold, the earliest start first.
fn borrowers(state: &State, domain: DomainNo) -> Vec<(Timestamp, JobNo, Amount)> {
    let mut borrowers: Vec<(Timestamp, JobNo, Amount)> = state
        .idle_jobs(domain)
        .filter_map(|no| {
            let job = &state.jobs[no];
            let Phase::Running { placed, started, extra, .. } = &job.phase else { return None };
            let gang = if placed.charge == Charge::Idle { job.spec.shape.gang_amount() } else { Amount::ZERO };
            let idle = extra
                .iter()
                .filter(|pod| pod.charge == Charge::Idle)
                .fold(gang, |sum, _| sum.plus(&job.spec.shape.extra_amount()));
            Some((*started, no, idle))
        })
        .collect();
    sort::by(&mut borrowers, |a, b| a.0.cmp(&b.0).then_with(|| state.jobs[a.1].spec.id.cmp(&state.jobs[b.1].spec.id)));
    borrowers
}
