//! In which quotas somebody may start once something has been released.
//!
//! Most quotas let nobody in: they are full, and less is idle than the least that is asked for there. With many quotas,
//! asking each of them is most of what a release costs. So it is kept what would let somebody in: by right, something of
//! the quota's own; of idle amounts, as much as is asked for. What has changed is looked at when everything has been
//! judged, once however often it has changed.

use crate::unit::amount::Amount;
use crate::unit::id::DomainNo;
use crate::unit::id::QuotaNo;
use crate::unit::ordered::Map;
use crate::unit::ordered::Set;

/// What may let somebody in who waits in a quota.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Openings {
    /// Whether its own books may, as they are.
    pub by_right: bool,
    /// How much that is idle, and where; nothing asked lets anybody in. Nothing if nobody there uses idle amounts.
    pub idle: Option<(DomainNo, Amount)>,
}

/// Quotas by what may let somebody in, as it was when everything had been judged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watch {
    /// Those of which what follows may not be true any more.
    changed: Vec<QuotaNo>,
    /// Those whose own books may.
    by_right: Set<QuotaNo>,
    /// Those where as much has to be idle.
    idle: Map<(DomainNo, Amount), Set<QuotaNo>>,
    /// By quota number, as far as anything has ever changed.
    known: Vec<Known>,
}

/// What is known of a quota.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Known {
    is_changed: bool,
    openings: Openings,
}

impl Watch {
    /// Notes that something has changed in a quota: who waits there, or what its own jobs use while somebody does.
    pub fn note(&mut self, quota: QuotaNo) {
        if self.known.len() <= quota.at() {
            self.known.resize_with(quota.at() + 1, Known::default);
        }
        if !std::mem::replace(&mut self.known[quota.at()].is_changed, true) {
            self.changed.push(quota);
        }
    }

    /// Whether nothing has changed since everything was judged.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.changed.is_empty()
    }

    /// Takes in what has changed.
    pub fn settle(&mut self, openings: impl Fn(QuotaNo) -> Openings) {
        let Self { changed, by_right, idle, known } = self;
        for quota in changed.drain(..) {
            let (before, after) = (&mut known[quota.at()], openings(quota));
            before.is_changed = false;
            if before.openings == after {
                continue;
            }
            let before = std::mem::replace(&mut before.openings, after.clone());
            if after.by_right {
                by_right.insert(quota);
            } else {
                by_right.remove(&quota);
            }
            if before.idle == after.idle {
                continue;
            }
            if let Some(key) = before.idle
                && let Some(members) = idle.get_mut(&key)
            {
                members.remove(&quota);
                if members.is_empty() {
                    idle.remove(&key);
                }
            }
            if let Some(key) = after.idle {
                idle.or_default(key).insert(quota);
            }
        }
    }

    /// Adds the quotas whose own books may let somebody in, and those that have changed, in no order.
    pub fn add_by_right(&self, quotas: &mut Vec<QuotaNo>) {
        quotas.extend_from_slice(&self.changed);
        quotas.extend(&self.by_right);
    }

    /// Adds the quotas that as much may let in as is idle, and those that have changed, in no order.
    pub fn add_idle(&self, is_short: impl Fn(DomainNo, &Amount) -> bool, quotas: &mut Vec<QuotaNo>) {
        quotas.extend_from_slice(&self.changed);
        for ((domain, asked), members) in &self.idle {
            if !is_short(*domain, asked) {
                quotas.extend(members);
            }
        }
    }

    /// Whether both say the same of all quotas, now that everything has been judged.
    #[must_use]
    pub fn agrees(&self, other: &Self) -> bool {
        (&self.changed, &self.by_right, &self.idle) == (&other.changed, &other.by_right, &other.idle)
    }
}
