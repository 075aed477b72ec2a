//! Bids and what they hold, booked at their offers.

use std::cmp::Reverse;

use crate::job::phase::Phase;
use crate::ledger::Sign;
use crate::market::bill::day_of;
use crate::state::world::State;
use crate::unit::id::JobNo;
use crate::unit::id::OfferNo;
use crate::unit::ordered::Set;
use crate::unit::resource::ResourceType;
use crate::unit::time::Millis;
use crate::unit::time::Timestamp;

impl State {
    /// The most that a job pays for an instance-minute, and how many instances it takes; nothing without a bid.
    #[must_use]
    pub fn bid_of(&self, no: JobNo) -> Option<(OfferNo, i64, i64)> {
        let job = self.jobs.get(no)?;
        let spot = job.spec.spot.as_ref()?;
        let original = self.market.offers[spot.offer.at()].terms.original_price;
        Some((spot.offer, spot.bid.limit(original), i64::from(job.spec.shape.gang_pods())))
    }

    /// Books what a job with a bid waits for or holds, or takes it off; nothing for a job without one.
    pub(super) fn book_bid(&mut self, no: JobNo, sign: Sign) {
        let Some((offer, limit, instances)) = self.bid_of(no) else { return };
        let job = &self.jobs[no];
        let desk = &mut self.market.desks[offer.at()];
        let change = if sign == Sign::Add { instances } else { -instances };
        match &job.phase {
            Phase::Queued { .. } => {
                list(&mut desk.waiting, (Reverse(limit), job.submitted, job.spec.id.clone(), no), sign);
                list(&mut desk.unheard, no, sign);
            }
            Phase::Running { .. } => {
                list(&mut desk.running, (limit, no), sign);
                desk.held += change;
            }
            Phase::Stopping { .. } => {
                list(&mut desk.leaving, no, sign);
                desk.held_by_leaving += change;
            }
            Phase::Starting { .. } | Phase::Ended { .. } => {}
        }
        self.market.touch(offer);
    }

    /// Books everybody of an offer again: what bids come to depends on its original price.
    pub fn rebook_offer(&mut self, no: OfferNo) {
        let desk = std::mem::take(&mut self.market.desks[no.at()]);
        let waiting: Vec<JobNo> = desk.waiting.iter().map(|(_, _, _, job)| *job).collect();
        for job in waiting.into_iter().chain(desk.holders()) {
            self.book_bid(job, Sign::Add);
        }
        self.market.touch(no);
    }

    /// A scheduled round looks at the offers that changed or are due. Notes when each has to be looked at again even
    /// if nothing changes: what changes in this very round notes itself.
    pub fn look_ahead(&mut self, now: Timestamp) {
        if self.market.offers.is_empty() {
            return;
        }
        self.market.day = self.market.day.max(day_of(now));
        let due: Vec<OfferNo> = self.market.due(now).collect();
        self.market.timers.retain(|(at, _)| *at > now);
        let changed = std::mem::take(&mut self.market.changed);
        for no in changed.into_iter().chain(due) {
            if let Some(at) = self.next_look(no, now) {
                self.market.timers.insert((at, no));
            }
        }
    }

    /// When time alone may change something for an offer: in the next round while its average moves and bids are
    /// compared with it, otherwise when the next protection ends.
    fn next_look(&self, no: OfferNo, now: Timestamp) -> Option<Timestamp> {
        let (offer, desk) = (&self.market.offers[no.at()], &self.market.desks[no.at()]);
        if desk.is_empty() {
            return None;
        }
        let is_moving = offer.resource_type == ResourceType::Lingjun && !offer.course.is_level(now, offer.terms.window);
        if is_moving {
            return Some(now + Millis(1));
        }
        let ends = desk.running.iter().filter_map(|(_, job)| self.market.accounts.get(job)?.grant);
        ends.map(|grant| grant.protected_until).filter(|until| *until > now).min()
    }
}

fn list<T: Ord>(set: &mut Set<T>, member: T, sign: Sign) {
    match sign {
        Sign::Add => set.insert(member),
        Sign::Remove => set.remove(&member),
    };
}
