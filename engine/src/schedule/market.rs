//! The spot market in a round (semantics section 6), offer by offer.
//!
//! 1. An auction moves its price;
//! 2. who bids less than the price or the average loses its instances, once its protection has ended;
//! 3. so does who runs on instances that are not there any more;
//! 4. waiting bids are served, the highest first; in an auction the winners displace who bids less and does not win;
//! 5. every new bid that waits has a reason.
//!
//! Prices and time change things in scheduled rounds only. A round at once after a command does no more than 4 and 5,
//! with what is free. An offer is looked at when something of it has changed, or when time alone may change something.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::collections::VecDeque;
use std::sync::Arc;

use crate::job::hold::Attempt;
use crate::job::hold::Blocker;
use crate::job::hold::Hold;
use crate::job::phase::Source;
use crate::job::story::Cause;
use crate::market::auction;
use crate::market::auction::Bidder;
use crate::market::auction::Clearing;
use crate::market::offer::PriceSource;
use crate::market::price::Average;
use crate::schedule::decision::Decision;
use crate::schedule::decision::Victim;
use crate::schedule::source::spot;
use crate::schedule::source::spot::Ask;
use crate::schedule::source::spot::Quote;
use crate::schedule::work;
use crate::state::market::Desk;
use crate::state::world::State;
use crate::unit::id::JobNo;
use crate::unit::id::OfferNo;
use crate::unit::resource::ResourceType;
use crate::unit::sort;
use crate::unit::time::Timestamp;

/// Which offers a round looks at, and what it may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occasion {
    /// A round at once after a command: waiting bids are served from what is free on the offers that it changed.
    AtOnce,
    /// A scheduled round: everything, on the offers that have changed since the last one or whose time has come.
    Scheduled,
}

/// What a round concludes for the spot market.
#[must_use]
pub fn settle(state: &State, now: Timestamp, occasion: Occasion) -> Vec<Decision> {
    let offers: BTreeSet<OfferNo> = match occasion {
        Occasion::AtOnce => state.market.fresh.clone(),
        Occasion::Scheduled => state.market.changed.iter().copied().chain(state.market.due(now)).collect(),
    };
    offers.into_iter().flat_map(|no| settle_offer(state, no, now, occasion)).collect()
}

fn settle_offer(state: &State, no: OfferNo, now: Timestamp, occasion: Occasion) -> Vec<Decision> {
    let mut sale = Sale::open(state, no, now);
    let is_auction = sale.quote.offer.terms.price_source == PriceSource::Auction;
    let clearing = (is_auction && occasion == Occasion::Scheduled).then(|| sale.clear());
    if let Some(clearing) = &clearing {
        sale.move_price(clearing.step);
    }
    if occasion == Occasion::Scheduled {
        sale.end_below_reference();
        sale.end_without_instances();
    }
    sale.serve(clearing.as_ref());
    sale.explain();
    sale.decisions
}

/// An offer in a round.
struct Sale<'s> {
    state: &'s State,
    no: OfferNo,
    desk: &'s Desk,
    quote: Quote<'s>,
    /// Instances of jobs that have been told to stop, as far as nobody waits for them yet.
    coming: i64,
    /// Who has been told to stop in this round.
    gone: BTreeSet<JobNo>,
    /// Who has got instances in this round.
    served: BTreeSet<JobNo>,
    decisions: Vec<Decision>,
}

/// Somebody who may lose its instances.
struct Loser {
    job: JobNo,
    limit: i64,
    instances: i64,
}

impl<'s> Sale<'s> {
    fn open(state: &'s State, no: OfferNo, now: Timestamp) -> Self {
        let desk = &state.market.desks[no.at()];
        let quote = Quote::of(state, no, now);
        Self {
            state,
            no,
            desk,
            quote,
            coming: desk.held_by_leaving,
            gone: BTreeSet::new(),
            served: BTreeSet::new(),
            decisions: Vec::new(),
        }
    }

    fn instances(&self, job: JobNo) -> i64 {
        i64::from(self.state.jobs[job].spec.shape.gang_pods())
    }

    /// Everybody who bids, the highest first; among equals who runs, then who was submitted earlier.
    fn clear(&self) -> Clearing {
        let mut running: Vec<(i64, JobNo)> = self.desk.running.iter().copied().collect();
        let order = |(limit, no): &(i64, JobNo)| {
            let job = &self.state.jobs[*no];
            (Reverse(*limit), job.submitted, &job.spec.id)
        };
        sort::by(&mut running, |a, b| order(a).cmp(&order(b)));
        let mut running = running.into_iter().peekable();
        let mut waiting = self.desk.waiting.iter().map(|(limit, _, _, job)| (limit.0, *job)).peekable();
        let bidders = std::iter::from_fn(|| match (running.peek(), waiting.peek()) {
            (Some((runs, _)), Some((waits, _))) if runs < waits => waiting.next(),
            (Some(_), _) => running.next(),
            (None, _) => waiting.next(),
        });
        let bidders = bidders.map(|(limit, job)| Bidder { job, limit, instances: self.instances(job) });
        auction::clear(self.quote.offer.terms.original_price, self.quote.offer.inventory, bidders)
    }

    fn move_price(&mut self, step: i64) {
        let price = auction::toward(self.quote.offer.terms.original_price, self.quote.price, step);
        if price != self.quote.price {
            self.quote.price = price;
            self.decisions.push(Decision::Price { offer: self.no, price });
        }
    }

    fn is_protected(&self, job: JobNo) -> bool {
        let grant = self.state.market.accounts.get(&job).and_then(|account| account.grant);
        grant.is_some_and(|grant| self.quote.now < grant.protected_until)
    }

    /// Takes the instances from a running job.
    fn release(&mut self, job: JobNo, cause: Cause) {
        self.gone.insert(job);
        let instances = self.instances(job);
        if self.quote.offer.terms.grace_period.0 > 0 {
            self.coming += instances;
        } else {
            self.quote.free += instances;
        }
        self.decisions.push(Decision::Release { victims: vec![Victim::Job(job)], cause });
    }

    fn end_below_reference(&mut self) {
        let offer = self.quote.offer;
        let (average, window) = (offer.course.average(self.quote.now, offer.terms.window), offer.terms.window);
        let reference = match offer.resource_type {
            ResourceType::Lingjun => average,
            ResourceType::General => Average::exactly(self.quote.price),
        };
        let below = self.desk.running.iter().copied().take_while(|(limit, _)| reference.exceeds(*limit));
        let below: Vec<(i64, JobNo)> = below.filter(|(_, job)| !self.is_protected(*job)).collect();
        for (bid, job) in below {
            let (id, original, price) = (offer.id.clone(), offer.terms.original_price, self.quote.price);
            let cause = match offer.resource_type {
                ResourceType::Lingjun => {
                    Cause::BelowAverage { offer: id, bid, average: average.rounded_up(), window, original }
                }
                ResourceType::General => Cause::BelowPrice { offer: id, bid, price, original },
            };
            self.release(job, cause);
        }
    }

    /// Running jobs whose protection has ended, the cheapest to release first: by limit, then as victims in quotas.
    fn losers(&self, may_lose: impl Fn(&JobNo) -> bool) -> VecDeque<Loser> {
        let open = self.desk.running.iter().filter(|(_, no)| !self.gone.contains(no) && !self.is_protected(*no));
        let mut losers: Vec<_> = open
            .filter(|(_, no)| may_lose(no))
            .map(|(limit, no)| {
                let job = &self.state.jobs[*no];
                let unsaved = work::unsaved_run(self.state, job, self.quote.now);
                let lost = work::gpu_ms(self.state, &job.spec.shape.gang_amount(), unsaved);
                let started =
                    self.state.market.accounts.get(no).and_then(|account| account.grant).map(|grant| grant.started);
                let loser = Loser { job: *no, limit: *limit, instances: self.instances(*no) };
                ((*limit, lost, Reverse(started), &job.spec.id), loser)
            })
            .collect();
        sort::by(&mut losers, |(a, _), (b, _)| a.cmp(b));
        losers.into_iter().map(|(_, loser)| loser).collect()
    }

    fn end_without_instances(&mut self) {
        let short = -(self.quote.free + self.coming);
        if short <= 0 {
            return;
        }
        let mut losers = self.losers(|_| true);
        let all: i64 = losers.iter().map(|loser| loser.instances).sum();
        let held = self.quote.offer.inventory + short;
        for loser in take_cheapest(&mut losers, short.min(all), i64::MAX) {
            let (offer, inventory) = (self.quote.offer.id.clone(), self.quote.offer.inventory);
            self.release(loser.job, Cause::InventoryShrunk { offer, inventory, held });
        }
    }

    /// Serves waiting bids, the highest first. Who fits once the leaving have left keeps what is free until then.
    fn serve(&mut self, clearing: Option<&Clearing>) {
        let desk = self.desk;
        let wins = |job: &JobNo| clearing.is_some_and(|clearing| clearing.winners.contains(job));
        let mut losers = if clearing.is_some() { self.losers(|job| !wins(job)) } else { VecDeque::new() };
        for (_, _, _, job) in &desk.waiting {
            let Some((_, ask)) = Ask::of(self.state, *job) else { continue };
            let is_sold_out = self.quote.free <= 0 && self.coming <= 0 && losers.is_empty();
            if is_sold_out || ask.limit < self.quote.price {
                break;
            }
            if spot::is_covered(&self.quote, &ask).is_err() {
                continue;
            }
            let short = ask.instances - self.quote.free - self.coming;
            if short > 0 && wins(job) {
                for loser in take_cheapest(&mut losers, short, ask.limit) {
                    self.release(loser.job, self.outbid(&loser, *job, ask.limit));
                }
            }
            if let Ok(offer) = spot::offer(&self.quote, &ask) {
                self.quote.free -= ask.instances;
                self.served.insert(*job);
                self.decisions.push(Decision::Serve { job: *job, offer });
            } else if ask.instances <= self.quote.free + self.coming {
                self.coming -= ask.instances - self.quote.free;
                self.quote.free = 0;
            }
        }
    }

    fn outbid(&self, loser: &Loser, by: JobNo, higher: i64) -> Cause {
        Cause::Outbid {
            offer: self.quote.offer.id.clone(),
            bid: loser.limit,
            by: self.state.jobs[by].spec.id.clone(),
            higher,
            original: self.quote.offer.terms.original_price,
        }
    }

    fn comes_back(&self, no: JobNo) -> bool {
        let job = &self.state.jobs[no];
        work::has_restart_left(&job.spec, job.progress.evictions)
    }

    /// Says why bids wait that came in since the last round, or come back in this one.
    fn explain(&mut self) {
        let has_grace = self.quote.offer.terms.grace_period.0 > 0;
        let back = self.gone.iter().filter(|no| !has_grace && self.comes_back(**no));
        let new = self.desk.unheard.iter().filter(|no| !self.served.contains(no));
        let waits = |(job, is_back): (JobNo, bool)| {
            let (_, ask) = Ask::of(self.state, job)?;
            let ask = Ask { is_back: ask.is_back || is_back, ..ask };
            // Its turn may have come before others went.
            let next_round = || Blocker::NextRound { offer: self.quote.offer.id.clone() };
            let blocker = spot::offer(&self.quote, &ask).err().unwrap_or_else(next_round);
            let hold = Hold::of(vec![Attempt { source: Source::Spot, blocker }]);
            Some(Decision::Wait { job, hold: Arc::new(hold) })
        };
        let told: Vec<Decision> =
            new.map(|no| (*no, false)).chain(back.map(|no| (*no, true))).filter_map(waits).collect();
        self.decisions.extend(told);
    }
}

/// The cheapest of these below a limit that together have so many instances, without anybody who is not needed. They
/// are taken out of the list; nobody is if all together do not suffice.
fn take_cheapest(losers: &mut VecDeque<Loser>, needed: i64, below: i64) -> Vec<Loser> {
    let mut sum = 0;
    let enough = losers.iter().take_while(|loser| loser.limit < below).position(|loser| {
        sum += loser.instances;
        sum >= needed
    });
    let Some(last) = enough else { return Vec::new() };
    let mut taken: Vec<Loser> = losers.drain(..=last).collect();
    let mut above = sum - needed;
    for at in (0..taken.len()).rev() {
        if taken[at].instances <= above {
            above -= taken[at].instances;
            losers.push_front(taken.remove(at));
        }
    }
    taken
}
