//! Who waits in each quota, and the least that anybody there asks for.
//!
//! After a release, jobs that wait for a plain reason are looked at again. Where not even the least that is asked for is
//! free, one comparison answers for a whole quota.

use std::sync::Arc;

use crate::job::hold::Hold;
use crate::job::hold::Lasting;
use crate::job::shape::Shape;
use crate::job::spec::IdlePolicy;
use crate::state::class::ClassKey;
use crate::unit::amount::Amount;
use crate::unit::id::ClassNo;
use crate::unit::id::FamilyNo;
use crate::unit::ordered::Set;

/// The two halves of a judgement, which a round makes one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// The sources that a job has a right to.
    ByRight,
    /// What others leave idle.
    Idle,
}

impl Half {
    /// Whether jobs of this kind are judged in it at all.
    #[must_use]
    pub fn concerns(self, idle: IdlePolicy) -> bool {
        match self {
            Self::ByRight => idle != IdlePolicy::Only,
            Self::Idle => idle != IdlePolicy::Off,
        }
    }
}

/// Classes that get the same answer from the same books.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Family {
    /// What the sources see of its classes; the rest of the key is blank.
    pub key: ClassKey,
    /// The pods of its jobs.
    pub shape: Arc<Shape>,
    /// Its classes by number, those without waiting jobs included. They differ in priority and module alone, so there
    /// are few.
    pub(super) classes: Vec<ClassNo>,
    /// How many of these have waiting jobs.
    pub(super) waiting: u32,
    /// How many of these wait for plain reasons.
    pub(super) plain: u32,
    /// How many of these wait in vain.
    pub(super) hopeless: u32,
}

impl Family {
    /// How long the reasons of its classes last, if all are alike and have been told.
    #[must_use]
    pub fn lasting(&self) -> Option<Lasting> {
        let count = self.waiting;
        if self.plain == count {
            Some(Lasting::Plain)
        } else if self.hopeless == count {
            Some(Lasting::ForEver)
        } else {
            None
        }
    }

    /// Nothing if nobody waits; otherwise whether the reasons of a class do not last plainly, or have not been told.
    pub(super) fn standing(&self) -> Standing {
        (self.waiting > 0).then(|| self.lasting().is_none())
    }

    /// The count to which a class with this hold belongs.
    pub(super) fn count(&mut self, hold: &Hold) -> Option<&mut u32> {
        match hold.lasting() {
            Lasting::ForEver => Some(&mut self.hopeless),
            Lasting::Plain => Some(&mut self.plain),
            Lasting::Open => None,
        }
    }
}

/// What of a family matters for the list of its quota.
pub(super) type Standing = Option<bool>;

/// The families of a quota with waiting jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// By number.
    pub families: Set<FamilyNo>,
    /// What those of them ask for who are judged in each half.
    asked: [Asked; 2],
}

/// What families ask for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Asked {
    /// The least of it in each dimension; nothing where nobody asks.
    least: Option<Amount>,
    /// How many of them wait for reasons that are not plain, or have not been told any.
    open: u32,
}

impl Waiting {
    /// Whether all who are judged in one half wait in vain, or for plain reasons that hold still where even the least is
    /// short.
    #[must_use]
    pub fn is_settled(&self, half: Half, is_short: impl FnOnce(&Amount) -> bool) -> bool {
        let asked = &self.asked[half as usize];
        asked.open == 0 && asked.least.as_ref().is_none_or(is_short)
    }

    /// How much has to be free in one half before anybody may start: nothing where somebody waits for a reason that is
    /// not plain. Nothing at all if nobody is judged in it.
    #[must_use]
    pub fn least_free(&self, half: Half) -> Option<Amount> {
        let asked = &self.asked[half as usize];
        if asked.open == 0 { asked.least } else { Some(Amount::ZERO) }
    }

    /// Takes a change of a family into account.
    pub(super) fn list(&mut self, no: FamilyNo, families: &[Family], before: Standing) {
        let family = &families[no.at()];
        let after = family.standing();
        let comes_or_goes = before.is_some() != after.is_some();
        if comes_or_goes && after.is_some() {
            self.families.insert(no);
        } else if comes_or_goes {
            self.families.remove(&no);
        }
        for half in [Half::ByRight, Half::Idle] {
            if !half.concerns(family.key.idle) {
                continue;
            }
            let asked = &mut self.asked[half as usize];
            asked.open = asked.open + u32::from(after == Some(true)) - u32::from(before == Some(true));
            if comes_or_goes {
                asked.least = None;
                for other in self.families.iter().map(|no| &families[no.at()]) {
                    let amount = other.shape.gang_amount();
                    if half.concerns(other.key.idle) {
                        asked.least = Some(asked.least.map_or(amount, |least| least.lesser(&amount)));
                    }
                }
            }
        }
    }
}
