//! The spot market as its events tell it. Nothing here is the engine's own reckoning: averages and winners are
//! computed the long way.

use std::collections::BTreeMap;

use engine::job::phase::AfterStop;
use engine::job::spec::JobSpec;
use engine::market::bid::Bid;
use engine::market::bid::SpotSpec;
use engine::market::offer::OfferTerms;
use engine::message::event::Event;
use engine::state::cluster::Execution;
use engine::state::world::State;
use engine::unit::id::JobNo;
use engine::unit::id::OfferNo;
use engine::unit::resource::ResourceType;
use engine::unit::time::Millis;
use engine::unit::time::Period;
use engine::unit::time::Timestamp;

/// Everything that the events have told of the market.
#[derive(Clone, Debug, Default)]
pub(crate) struct Books {
    pub(crate) offers: Vec<Offer>,
    pub(crate) bidders: BTreeMap<JobNo, Bidder>,
}

/// An offer and its prices.
#[derive(Clone, Debug)]
pub(crate) struct Offer {
    pub(crate) resource_type: ResourceType,
    pub(crate) terms: OfferTerms,
    pub(crate) inventory: i64,
    /// All prices, each with its beginning.
    pub(crate) prices: Vec<(Timestamp, i64)>,
    /// How many of them lie before every window that there has been since.
    forgotten: usize,
}

/// A job with a bid.
#[derive(Clone, Debug)]
pub(crate) struct Bidder {
    pub(crate) offer: OfferNo,
    pub(crate) bid: Bid,
    pub(crate) instances: i64,
    /// Thousandths of GPUs on all of them.
    pub(crate) gpus: i64,
    pub(crate) submitted: Timestamp,
    pub(crate) id: String,
    /// What it has to do; nothing if its end is reported.
    work: Option<Millis>,
    /// How often it saves its work by itself.
    checkpoint: Option<Millis>,
    /// What of it earlier runs have saved.
    saved: Millis,
    is_last_run: bool,
    pub(crate) releases: u32,
    pub(crate) place: BidStage,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BidStage {
    Waiting,
    Running(Grant),
    Leaving(Grant),
    Gone,
}

/// Instances in the hands of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grant {
    pub(crate) since: Timestamp,
    pub(crate) protected_until: Timestamp,
    checkpointed: Option<Timestamp>,
    /// When it has stopped, once it has been told to.
    pub(crate) stops: Option<Timestamp>,
}

impl Offer {
    pub(crate) fn price(&self) -> i64 {
        self.prices.last().unwrap().1
    }

    pub(crate) fn price_at(&self, at: Timestamp) -> i64 {
        self.prices.iter().rev().find(|(begin, _)| *begin <= at).unwrap().1
    }

    /// The price over the window that ends now, as far as it is known: price times milliseconds, and milliseconds.
    pub(crate) fn average(&self, now: Timestamp) -> (i128, i128) {
        let known = &self.prices[self.forgotten..];
        let from = (now - self.terms.window).max(known[0].0);
        if from >= now {
            return (self.price().into(), 1);
        }
        let ends = known.iter().skip(1).map(|(begin, _)| *begin).chain([now]);
        let parts = known.iter().zip(ends).map(|((begin, price), end)| {
            let seen = (end.min(now) - (*begin).max(from)).0.max(0);
            i128::from(*price) * i128::from(seen)
        });
        (parts.sum(), (now - from).0.into())
    }

    /// Whether a bid is below what releases it: the average on Lingjun, the price on general computing.
    pub(crate) fn releases(&self, limit: i64, now: Timestamp) -> bool {
        match self.resource_type {
            ResourceType::General => limit < self.price(),
            ResourceType::Lingjun => self.is_above_average(limit, now),
        }
    }

    pub(crate) fn is_above_average(&self, limit: i64, now: Timestamp) -> bool {
        let (sum, ms) = self.average(now);
        sum > i128::from(limit) * ms
    }

    fn set_price(&mut self, at: Timestamp, price: i64) {
        self.prices.push((at, price));
        // What ends before the window at a change is not known any more, even if the window becomes longer later.
        while self.prices.get(self.forgotten + 1).is_some_and(|(end, _)| *end <= at - self.terms.window) {
            self.forgotten += 1;
        }
    }
}

impl Bidder {
    pub(crate) fn grant(&self) -> Option<Grant> {
        match self.place {
            BidStage::Running(grant) | BidStage::Leaving(grant) => Some(grant),
            BidStage::Waiting | BidStage::Gone => None,
        }
    }

    pub(crate) fn is_running(&self) -> bool {
        matches!(self.place, BidStage::Running(_))
    }

    pub(crate) fn is_waiting(&self) -> bool {
        self.place == BidStage::Waiting
    }

    pub(crate) fn is_protected(&self, now: Timestamp) -> bool {
        self.grant().is_some_and(|grant| now < grant.protected_until)
    }

    /// When a grant that began then is over by itself.
    pub(crate) fn done_at(&self, since: Timestamp) -> Option<Timestamp> {
        self.work.filter(|_| self.is_running()).map(|work| since + Millis(work.0 - self.saved.0))
    }

    /// What would have to be done again, in GPU-milliseconds.
    pub(crate) fn unsaved(&self, now: Timestamp) -> i64 {
        let Some(grant) = self.grant() else { return 0 };
        let run = now - grant.since;
        let saved = match (grant.checkpointed, self.checkpoint) {
            (Some(at), _) => at - grant.since,
            (None, Some(interval)) => Millis(run.0 - run.0 % interval.0),
            (None, None) => Millis::ZERO,
        };
        i64::try_from(i128::from(run.0 - saved.0) * i128::from(self.gpus) / 1000).unwrap()
    }
}

impl Books {
    pub(crate) fn limit(&self, bidder: &Bidder) -> i64 {
        bidder.bid.limit(self.offers[bidder.offer.at()].terms.original_price)
    }

    /// Who is somewhere on an offer.
    pub(crate) fn on(&self, offer: OfferNo, is_there: fn(&Bidder) -> bool) -> impl Iterator<Item = (JobNo, &Bidder)> {
        let bidders = self.bidders.iter().map(|(no, bidder)| (*no, bidder));
        bidders.filter(move |(_, bidder)| bidder.offer == offer && is_there(bidder))
    }

    /// Instances of those who are somewhere on an offer.
    pub(crate) fn sum(&self, offer: OfferNo, is_there: fn(&Bidder) -> bool) -> i64 {
        self.on(offer, is_there).map(|(_, bidder)| bidder.instances).sum()
    }

    pub(crate) fn held(&self, offer: OfferNo) -> i64 {
        self.sum(offer, |bidder| bidder.grant().is_some())
    }

    pub(crate) fn numbers(&self) -> impl Iterator<Item = OfferNo> + use<> {
        (0..self.offers.len()).map(OfferNo::from_index)
    }

    /// Takes note of an event; the state is asked for nothing but what a cluster is made of.
    pub(crate) fn take(&mut self, state: &State, event: &Event) {
        if let Event::OfferCreated { offer, .. } = event {
            self.offers.push(Offer {
                resource_type: offer.resource_type,
                terms: offer.terms.clone(),
                inventory: offer.inventory,
                prices: vec![(offer.course.since(), offer.course.price())],
                forgotten: 0,
            });
        } else if let Event::OfferUpdated { no, terms } = event {
            self.offers[no.at()].terms = terms.clone();
        } else if let Event::InventorySet { no, inventory, .. } = event {
            self.offers[no.at()].inventory = *inventory;
        } else if let Event::Priced { no, at, price } = event {
            self.offers[no.at()].set_price(*at, *price);
        } else if let Event::JobSubmitted { no, at, spec } = event {
            self.bidders.remove(no);
            if let Some(spot) = &spec.spot {
                self.bidders.insert(*no, bidder(state, spec, spot, *at));
            }
        } else {
            self.take_of_job(event);
        }
    }

    fn take_of_job(&mut self, event: &Event) {
        let (Event::Started { job, .. }
        | Event::Evicted { job, .. }
        | Event::Stopped { job, .. }
        | Event::Checkpointed { job, .. }
        | Event::Ended { job, .. }) = event
        else {
            return;
        };
        let Some(bidder) = self.bidders.get_mut(job) else { return };
        let protection = self.offers[bidder.offer.at()].terms.protection;
        match (event, bidder.place.clone()) {
            (Event::Started { at, .. }, _) => {
                let grant = Grant { since: *at, protected_until: *at + protection, checkpointed: None, stops: None };
                bidder.place = BidStage::Running(grant);
            }
            (Event::Evicted { then, saved_ms, until, .. }, BidStage::Running(grant)) => {
                bidder.place = BidStage::Leaving(Grant { stops: Some(*until), ..grant });
                (bidder.releases, bidder.saved) = (bidder.releases + 1, *saved_ms);
                bidder.is_last_run = *then != AfterStop::Requeue;
            }
            (Event::Checkpointed { at, .. }, BidStage::Running(grant)) => {
                bidder.place = BidStage::Running(Grant { checkpointed: Some(*at), ..grant });
            }
            (Event::Stopped { .. }, _) if !bidder.is_last_run => bidder.place = BidStage::Waiting,
            (Event::Stopped { .. } | Event::Ended { .. }, _) => bidder.place = BidStage::Gone,
            _ => {}
        }
    }
}

fn bidder(state: &State, spec: &JobSpec, spot: &SpotSpec, submitted: Timestamp) -> Bidder {
    let is_simulated = state.cluster.execution == Execution::Simulated;
    Bidder {
        offer: spot.offer,
        bid: spot.bid,
        instances: spec.shape.gang_pods().into(),
        gpus: state.cluster.gpus(&spec.shape.gang_amount()),
        submitted,
        id: spec.id.to_string(),
        work: spec.duration.filter(|_| is_simulated).map(Period::get),
        checkpoint: spec.checkpoint.filter(|_| is_simulated).map(Period::get),
        saved: Millis::ZERO,
        is_last_run: false,
        releases: 0,
        place: BidStage::Waiting,
    }
}
