//! Whether known reasons hold still, without trying the sources again.
//!
//! Most waiting jobs wait for the same plain reasons round after round: their quota is full, too little is idle. These
//! are looked up in the books at once, for a whole family. Whatever is not plain is tried in full; so this never
//! changes what is decided, only what it costs.

use crate::job::hold::Lasting;
use crate::ledger;
use crate::ledger::DomainUse;
use crate::ledger::QuotaUse;
use crate::schedule::trial::Trial;
use crate::state::waiting::Half;
use crate::unit::amount::Amount;
use crate::unit::amount::Guarantee;
use crate::unit::id::ClassNo;
use crate::unit::id::DomainNo;
use crate::unit::id::QuotaNo;
use crate::unit::slots::Slots;
use crate::unit::sort;

/// The quotas in which somebody's reasons may not hold any more in one half of the judgement, by number; the others need
/// not be asked.
#[must_use]
pub fn unsettled_quotas(trial: &Trial<'_>, half: Half) -> Vec<QuotaNo> {
    let watch = &trial.state.queue.watch;
    let mut quotas = Vec::new();
    match half {
        Half::ByRight => {
            watch.add_by_right(&mut quotas);
            quotas.extend(trial.quotas.changes().map(|(at, _)| QuotaNo::from_index(at)));
        }
        Half::Idle => watch.add_idle(|domain, asked| Books::idle(trial, domain).are_short(asked), &mut quotas),
    }
    sort::by_key(&mut quotas, |quota| *quota);
    quotas.dedup();
    quotas
}

/// Adds the classes of a quota whose reasons may not hold any more in one half of the judgement.
pub fn add_unsettled(trial: &Trial<'_>, quota: QuotaNo, half: Half, unsettled: &mut Vec<ClassNo>) {
    let queue = &trial.state.queue;
    let Some(waiting) = queue.waiting_in(quota) else { return };
    let mut books = None;
    let mut are_short = |asked: &Amount| books.get_or_insert_with(|| Books::of(trial, quota, half)).are_short(asked);
    if waiting.is_settled(half, &mut are_short) {
        return;
    }
    for no in &waiting.families {
        let family = &queue.families[no.at()];
        if !half.concerns(family.key.idle) {
            continue;
        }
        let mut is_short = || are_short(&family.shape.gang_amount());
        match family.lasting() {
            Some(lasting) if lasts(lasting, &mut is_short) => {}
            Some(_) => unsettled.extend(queue.members(family)),
            None => {
                let mut lasts = |class: &ClassNo| lasts(queue.classes[class.at()].lasting(), &mut is_short);
                unsettled.extend(queue.members(family).filter(|class| !lasts(class)));
            }
        }
    }
}

/// Whether the reasons that a class was given plainly hold still in one half of the judgement.
#[must_use]
pub fn holds_still(trial: &Trial<'_>, no: ClassNo, half: Half) -> bool {
    let (class, family) = (&trial.state.queue.classes[no.at()], trial.state.queue.family(no));
    let lasting = family.lasting().unwrap_or_else(|| class.lasting());
    lasts(lasting, || Books::of(trial, class.key.quota, half).are_short(&family.shape.gang_amount()))
}

/// The books are looked at only where they matter.
fn lasts(lasting: Lasting, is_short: impl FnOnce() -> bool) -> bool {
    match lasting {
        Lasting::ForEver => true,
        Lasting::Plain => is_short(),
        Lasting::Open => false,
    }
}

/// The books that plain reasons are held against.
enum Books<'t> {
    /// The quota's own.
    ByRight(&'t Guarantee, &'t QuotaUse),
    /// The job's own domain, if it is the one that is named because it is the only one.
    Idle(Option<&'t DomainUse>),
}

impl<'t> Books<'t> {
    fn of(trial: &'t Trial<'_>, quota: QuotaNo, half: Half) -> Self {
        match half {
            Half::ByRight => Self::ByRight(&trial.state.quotas[quota.at()].min, trial.quotas.get(quota.at())),
            Half::Idle => Self::idle(trial, trial.state.domains.of_quota(quota)),
        }
    }

    fn idle(trial: &'t Trial<'_>, own: DomainNo) -> Self {
        let is_only = trial.state.domains.list[own.at()].is_only;
        Self::Idle(is_only.then(|| trial.domains.get(own.at())))
    }

    /// Whether the way is plainly closed still for who asks for this.
    fn are_short(&self, asked: &Amount) -> bool {
        match self {
            Self::ByRight(min, book) => ledger::is_short_of_own(min, book, asked),
            Self::Idle(book) => book.is_some_and(|book| ledger::fits_in_idle(book, asked).is_err()),
        }
    }
}
