//! Source 6: the spot market, for jobs with a bid and only these (rules 6.3).
//!
//! A job starts when its bid covers the market price and the inventory covers all its pods. On Lingjun a job that has
//! been released comes back when its bid covers the average as well (seed: preemptible-jobs), which is what it was
//! released for.

use crate::job::hold::Blocker;
use crate::job::phase::Placed;
use crate::job::spec::JobSpec;
use crate::market::offer::SpotOffer;
use crate::schedule::decision::Assignment;
use crate::schedule::trial::Trial;
use crate::state::world::State;
use crate::unit::id::JobNo;
use crate::unit::id::OfferNo;
use crate::unit::resource::ResourceType;
use crate::unit::time::Timestamp;

/// What a job asks of an offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask {
    /// The most that it pays for an instance-minute, in micro-units.
    pub limit: i64,
    /// How many instances.
    pub instances: i64,
    /// Whether it has been released before.
    pub is_back: bool,
}

impl Ask {
    /// What a job with a bid asks, with its offer.
    #[must_use]
    pub fn of(state: &State, no: JobNo) -> Option<(OfferNo, Self)> {
        let (offer, limit, instances) = state.bid_of(no)?;
        Some((offer, Self { limit, instances, is_back: state.jobs[no].progress.evictions > 0 }))
    }
}

/// An offer as it stands at a moment of a round.
#[derive(Clone, Copy, Debug)]
pub struct Quote<'s> {
    /// The offer.
    pub offer: &'s SpotOffer,
    /// The time.
    pub now: Timestamp,
    /// The market price.
    pub price: i64,
    /// Instances that nobody holds and that are kept for nobody.
    pub free: i64,
    /// Instances of jobs that have been told to stop, as far as nobody waits for them yet.
    pub coming: i64,
}

impl<'s> Quote<'s> {
    /// An offer before a round.
    #[must_use]
    pub fn of(state: &'s State, no: OfferNo, now: Timestamp) -> Self {
        let offer = &state.market.offers[no.at()];
        let coming = state.market.desks[no.at()].held_by_leaving;
        Self { offer, now, price: offer.course.price(), free: state.market.free(no), coming }
    }

    /// An offer as it is left for a waiting job by those whose turn comes before.
    #[must_use]
    pub fn left_for(state: &'s State, no: OfferNo, job: JobNo, now: Timestamp) -> Self {
        let mut quote = Self::of(state, no, now);
        for (_, _, _, first) in state.market.desks[no.at()].waiting.iter().take_while(|(_, _, _, other)| *other != job)
        {
            let Some((_, ask)) = Ask::of(state, *first) else { continue };
            if quote.is_sold_out() || ask.limit < quote.price {
                break;
            }
            if is_covered(&quote, &ask).is_ok() {
                quote.keep(&ask);
            }
        }
        quote
    }

    /// Whether there is nothing left, and nothing comes.
    #[must_use]
    pub fn is_sold_out(&self) -> bool {
        self.free <= 0 && self.coming <= 0
    }

    /// Keeps the instances of somebody who fits: those that are free, and those that come.
    pub fn keep(&mut self, ask: &Ask) {
        if ask.instances <= self.free {
            self.free -= ask.instances;
        } else if ask.instances <= self.free + self.coming {
            self.coming -= ask.instances - self.free;
            self.free = 0;
        }
    }
}

/// What the market offers to a job before a round.
pub(super) fn assign_now(trial: &Trial<'_>, job: &JobSpec) -> Result<Assignment, Blocker> {
    let asked = trial.state.jobs.find(&job.id).and_then(|no| Some((Ask::of(trial.state, no)?, no)));
    let ((no, ask), job) = asked.ok_or(Blocker::NoBid)?;
    assign(&Quote::left_for(trial.state, no, job, trial.now), &ask)
}

/// The instances that a job gets, or why it waits: its bid first, then the inventory.
pub fn assign(quote: &Quote<'_>, ask: &Ask) -> Result<Assignment, Blocker> {
    is_covered(quote, ask)?;
    if ask.instances > quote.free {
        let (offer, free) = (quote.offer.id.clone(), quote.free.max(0));
        return Err(Blocker::InventoryShort { offer, asked: ask.instances, free, inventory: quote.offer.inventory });
    }
    Ok(Assignment { placed: Placed::on_market(), promoted: Vec::new(), victims: Vec::new(), cause: None })
}

/// Whether the price allows the job to start.
pub fn is_covered(quote: &Quote<'_>, ask: &Ask) -> Result<(), Blocker> {
    let Quote { offer, now, price, free: _, coming: _ } = *quote;
    let known = || offer.course.hours_at_most(ask.limit, now);
    if ask.limit < price {
        let (hours, known_hours) = known();
        let original = offer.terms.original_price;
        return Err(Blocker::BelowMarket {
            offer: offer.id.clone(),
            bid: ask.limit,
            price,
            original,
            hours,
            known_hours,
        });
    }
    let average = offer.course.average(now, offer.terms.window);
    if ask.is_back && offer.resource_type == ResourceType::Lingjun && average.exceeds(ask.limit) {
        let (hours, known_hours) = known();
        return Err(Blocker::BelowAverage {
            offer: offer.id.clone(),
            bid: ask.limit,
            average: average.rounded_up(),
            window: offer.terms.window,
            original: offer.terms.original_price,
            hours,
            known_hours,
        });
    }
    Ok(())
}
