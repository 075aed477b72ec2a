//! The spot market's part of the state: offers and accounts, and beside them who bids and who holds what.

use std::cmp::Reverse;

use crate::market::bill::Account;
use crate::market::offer::SpotOffer;
use crate::unit::id::JobId;
use crate::unit::id::JobNo;
use crate::unit::id::OfferId;
use crate::unit::id::OfferNo;
use crate::unit::ordered::Map;
use crate::unit::ordered::Set;
use crate::unit::time::Timestamp;

/// A waiting bid's place: the highest limit first, then the earlier submission, then the name.
pub type BidPlace = (Reverse<i64>, Timestamp, JobId, JobNo);

/// Who bids on an offer, and who holds its instances.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Desk {
    /// Bids that wait.
    pub waiting: Set<BidPlace>,
    /// Jobs that run, the lowest limit first.
    pub running: Set<(i64, JobNo)>,
    /// Jobs that have been told to stop.
    pub leaving: Set<JobNo>,
    /// Bids that wait and have not been told why.
    pub unheard: Set<JobNo>,
    /// Instances that running jobs hold.
    pub held: i64,
    /// Instances that jobs hold which have been told to stop.
    pub held_by_leaving: i64,
}

impl Desk {
    /// Whether nobody bids or holds anything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.running.is_empty() && self.leaving.is_empty()
    }

    /// Everybody who holds instances.
    pub fn holders(&self) -> impl Iterator<Item = JobNo> + '_ {
        self.running.iter().map(|(_, no)| *no).chain(self.leaving.iter().copied())
    }
}

/// Offers, bids and accounts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Market {
    /// Offers by number, removed ones included.
    pub offers: Vec<SpotOffer>,
    /// What jobs with a bid hold and have paid; of jobs that have held something.
    pub accounts: Map<JobNo, Account>,
    /// The day of the last scheduled round: bills of earlier days have been written.
    pub day: i64,

    /// Kept: who bids and who holds, by offer.
    pub desks: Vec<Desk>,
    /// Kept: offers of which something has changed since the last round.
    pub fresh: Set<OfferNo>,
    /// Kept: offers of which something has changed since the last scheduled round.
    pub changed: Set<OfferNo>,
    /// Kept: when time alone may change something for an offer.
    pub timers: Set<(Timestamp, OfferNo)>,
    names: Map<OfferId, OfferNo>,
    /// Kept: the day before which bills were written when a day ended.
    billed_day: i64,
}

impl Market {
    /// The offer named so, if it has not been removed.
    #[must_use]
    pub fn offer_no(&self, id: &OfferId) -> Option<OfferNo> {
        self.names.get(id).copied()
    }

    /// Offers that have not been removed, by number.
    pub fn live_offers(&self) -> impl Iterator<Item = (OfferNo, &SpotOffer)> {
        self.offers
            .iter()
            .enumerate()
            .filter(|(_, offer)| !offer.is_removed)
            .map(|(at, offer)| (OfferNo::from_index(at), offer))
    }

    /// Instances of an offer that nobody holds; negative while more are held than there are.
    #[must_use]
    pub fn free(&self, no: OfferNo) -> i64 {
        let desk = &self.desks[no.at()];
        self.offers[no.at()].inventory - desk.held - desk.held_by_leaving
    }

    /// The day before which everything has been billed, as far as that is known without looking.
    #[must_use]
    pub fn billed_day(&self) -> i64 {
        self.day.max(self.billed_day)
    }

    /// Notes that somebody has been billed for what was before a day. Bills of one day are written together.
    pub fn note_billed_day(&mut self, day: i64) {
        self.billed_day = self.billed_day.max(day);
    }

    /// Notes that something of an offer has changed.
    pub fn touch(&mut self, no: OfferNo) {
        self.fresh.insert(no);
        self.changed.insert(no);
    }

    /// Forgets what the last scheduled round has looked at: the next one looks at every offer, as after a restore.
    pub fn look_at_all(&mut self) {
        self.timers.clear();
        self.changed.extend((0..self.offers.len()).map(OfferNo::from_index));
    }

    /// Notes that a round has looked at everything.
    pub fn settle(&mut self) {
        for no in &self.fresh {
            self.desks[no.at()].unheard.clear();
        }
        self.fresh.clear();
    }

    /// Takes the names and an empty desk of a new offer, or of one that was removed, into account.
    pub fn name(&mut self, no: OfferNo) {
        let offer = &self.offers[no.at()];
        if offer.is_removed {
            self.names.remove(&offer.id);
        } else {
            self.names.insert(offer.id.clone(), no);
        }
        self.desks.resize_with(self.offers.len(), Desk::default);
        self.touch(no);
    }

    /// Recomputes everything that is kept, but for what jobs add to it.
    pub(super) fn rebuild(&mut self) {
        self.desks.clear();
        self.timers.clear();
        self.names.clear();
        for no in (0..self.offers.len()).map(OfferNo::from_index) {
            self.name(no);
        }
    }

    /// Offers whose time has come, besides those that changed.
    pub fn due(&self, now: Timestamp) -> impl Iterator<Item = OfferNo> + '_ {
        self.timers.iter().take_while(move |(at, _)| *at <= now).map(|(_, no)| *no)
    }
}
