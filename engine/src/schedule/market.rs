//! The spot market in a round (rules 6), offer by offer.
//!
//! 1. An auction moves its price;
//! 2. who bids less than the price or the average loses its instances, once its protection has ended;
//! 3. in an auction waiting winners displace who bids less and does not win;
//! 4. who runs on instances that are not there any more loses them;
//! 5. waiting bids are served, the winners first, then the highest;
//! 6. every new bid that waits has a reason.
//!
//! Prices and time change things in scheduled rounds only. A round at once after a command does no more than 5 and 6,
//! with what is free. An offer is looked at when something of it has changed, or when time alone may change something.

use std::cmp::Reverse;
use std::sync::Arc;

use crate::job::cause::Cause;
use crate::job::hold::Attempt;
use crate::job::hold::Blocker;
use crate::job::hold::Hold;
use crate::job::phase::Source;
use crate::market::auction;
use crate::market::auction::Bidder;
use crate::market::auction::Clearing;
use crate::market::offer::PriceSource;
use crate::market::price::Average;
use crate::schedule::decision::Decision;
use crate::schedule::decision::Victim;
use crate::schedule::losers;
use crate::schedule::losers::Loser;
use crate::schedule::source::spot;
use crate::schedule::source::spot::Ask;
use crate::schedule::source::spot::Quote;
use crate::schedule::work;
use crate::state::market::Desk;
use crate::state::world::State;
use crate::unit::id::JobNo;
use crate::unit::id::OfferNo;
use crate::unit::ordered::Set;
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
    if state.market.offers.is_empty() {
        return Vec::new();
    }
    let offers: Set<OfferNo> = match occasion {
        Occasion::AtOnce => state.market.fresh.clone(),
        Occasion::Scheduled => state.market.changed.iter().copied().chain(state.market.due(now)).collect(),
    };
    offers.into_iter().flat_map(|no| settle_offer(state, no, now, occasion)).collect()
}

/// What a round concludes for one offer, whether or not anything of it has changed. Most rounds look at none, and do
/// not come through this code.
#[inline(never)]
#[must_use]
pub fn settle_offer(state: &State, no: OfferNo, now: Timestamp, occasion: Occasion) -> Vec<Decision> {
    let mut sale = Sale::open(state, no, now);
    let is_auction = sale.quote.offer.terms.price_source == PriceSource::Auction;
    let clearing = (is_auction && occasion == Occasion::Scheduled).then(|| sale.clear());
    if let Some(clearing) = &clearing {
        sale.move_price(clearing.step);
    }
    if occasion == Occasion::Scheduled {
        sale.end_below_reference();
    }
    // Winners that make room for themselves make up for vanished instances as well.
    let winners = clearing.map(|clearing| sale.displace(&clearing)).unwrap_or_default();
    if occasion == Occasion::Scheduled {
        sale.end_without_instances();
    }
    sale.serve(winners);
    sale.explain();
    sale.decisions
}

/// An offer in a round.
struct Sale<'s> {
    state: &'s State,
    no: OfferNo,
    desk: &'s Desk,
    quote: Quote<'s>,
    /// Who has been told to stop in this round.
    gone: Set<JobNo>,
    /// Who has got instances in this round.
    served: Set<JobNo>,
    decisions: Vec<Decision>,
}

impl<'s> Sale<'s> {
    fn open(state: &'s State, no: OfferNo, now: Timestamp) -> Self {
        let desk = &state.market.desks[no.at()];
        let quote = Quote::of(state, no, now);
        Self { state, no, desk, quote, gone: Set::new(), served: Set::new(), decisions: Vec::new() }
    }

    fn instances(&self, job: JobNo) -> i64 {
        i64::from(self.state.jobs[job].spec.shape.gang_pods())
    }

    /// Everybody who bids, the highest first; among equals who runs, then who was submitted earlier. Whom the average of
    /// Lingjun keeps out has no bid while it does.
    fn clear(&self) -> Clearing {
        let average = self.lingjun_average();
        let is_below = |limit: i64| average.is_some_and(|average| average.exceeds(limit));
        let is_kept_out = |limit: i64, no: JobNo| is_below(limit) && self.state.jobs[no].progress.evictions > 0;
        let is_released = |limit: i64, no: JobNo| is_below(limit) && !self.is_protected(no);
        let running = self.desk.running.iter().copied();
        let mut running: Vec<(i64, JobNo)> = running.filter(|(limit, no)| !is_released(*limit, *no)).collect();
        let order = |(limit, no): &(i64, JobNo)| {
            let job = &self.state.jobs[*no];
            (Reverse(*limit), job.submitted, &job.spec.id)
        };
        sort::by(&mut running, |a, b| order(a).cmp(&order(b)));
        let mut running = running.into_iter().peekable();
        let waiting = self.desk.waiting.iter().map(|(limit, _, _, job)| (limit.0, *job));
        let mut waiting = waiting.filter(|(limit, no)| !is_kept_out(*limit, *no)).peekable();
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
            self.quote.coming += instances;
        } else {
            self.quote.free += instances;
        }
        self.decisions.push(Decision::Release { promoted: Vec::new(), victims: vec![Victim::Job(job)], cause });
    }

    /// What the bids of released jobs, and of those that run, are compared with on Lingjun.
    fn lingjun_average(&self) -> Option<Average> {
        let offer = self.quote.offer;
        match offer.resource_type {
            ResourceType::Lingjun => Some(offer.course.average(self.quote.now, offer.terms.window)),
            ResourceType::General => None,
        }
    }

    fn end_below_reference(&mut self) {
        let offer = self.quote.offer;
        let average = self.lingjun_average();
        let reference = average.unwrap_or_else(|| Average::exactly(self.quote.price));
        let below = self.desk.running.iter().copied().take_while(|(limit, _)| reference.exceeds(*limit));
        let below: Vec<(i64, JobNo)> = below.filter(|(_, job)| !self.is_protected(*job)).collect();
        for (bid, job) in below {
            let (id, original, price) = (offer.id.clone(), offer.terms.original_price, self.quote.price);
            let window = offer.terms.window;
            let cause = match average.map(Average::rounded_up) {
                Some(average) => Cause::BelowAverage { offer: id, bid, average, window, original },
                None => Cause::BelowPrice { offer: id, bid, price, original },
            };
            self.release(job, cause);
        }
    }

    /// Running jobs whose protection has ended, in the order in which they would go.
    fn losers(&self, may_lose: impl Fn(&JobNo) -> bool) -> Vec<Loser<'s>> {
        let state = self.state;
        let open = self.desk.running.iter().filter(|(_, no)| !self.gone.contains(no) && !self.is_protected(*no));
        let mut losers: Vec<_> = open
            .filter(|(_, no)| may_lose(no))
            .map(|(limit, no)| {
                let job = &state.jobs[*no];
                let unsaved = work::unsaved_run(state, job, self.quote.now);
                let grant = state.market.accounts.get(no).and_then(|account| account.grant);
                Loser {
                    job: *no,
                    limit: *limit,
                    priority: job.spec.priority,
                    instances: self.instances(*no),
                    lost: work::gpu_ms(state, &job.spec.shape.gang_amount(), unsaved),
                    started: Reverse(grant.map_or(self.quote.now, |grant| grant.started)),
                    id: &job.spec.id,
                }
            })
            .collect();
        losers::sort_losers(&mut losers);
        losers
    }

    fn end_without_instances(&mut self) {
        let short = -(self.quote.free + self.quote.coming);
        if short <= 0 {
            return;
        }
        let held = self.quote.offer.inventory + short;
        for loser in losers::cheapest(&self.losers(|_| true), short) {
            let (offer, inventory) = (self.quote.offer.id.clone(), self.quote.offer.inventory);
            self.release(loser.job, Cause::InventoryShrunk { offer, inventory, held });
        }
    }

    /// Waiting winners displace who bids less and does not win. Gives back the winners that there is room for then.
    fn displace(&mut self, clearing: &Clearing) -> Vec<(JobNo, Ask)> {
        let wins = |job: &JobNo| clearing.winners.contains(job);
        let losers = self.losers(|job| !wins(job));
        let mut winners = Vec::new();
        let (mut room, mut n_gone) = (self.quote.free + self.quote.coming, 0);
        for (_, _, _, job) in self.desk.waiting.iter().filter(|(_, _, _, job)| wins(job)) {
            let Some((_, ask)) = Ask::of(self.state, *job) else { continue };
            if spot::is_covered(&self.quote, &ask).is_err() {
                continue;
            }
            let lower = losers[n_gone..].iter().take_while(|loser| loser.limit < ask.limit);
            let Some((more, within)) = enough(lower, ask.instances, room) else { continue };
            (n_gone, room) = (n_gone + more, within - ask.instances);
            winners.push((*job, ask));
        }
        // As many have to go; who it is, is chosen for all winners together.
        if let Some(last) = n_gone.checked_sub(1) {
            let pool = &losers[..losers.partition_point(|loser| loser.limit <= losers[last].limit)];
            self.release_for(&winners, pool);
        }
        winners
    }

    /// The cheapest of these make room for the winners: what they free goes to one after the other.
    fn release_for(&mut self, winners: &[(JobNo, Ask)], pool: &[Loser<'s>]) {
        let mut room = self.quote.free + self.quote.coming;
        let mut needed = 0;
        let mut lacking: Vec<(i64, JobNo, i64)> = Vec::new();
        for (job, ask) in winners {
            needed += (ask.instances - room).max(0);
            room = (room - ask.instances).max(0);
            lacking.push((needed, *job, ask.limit));
        }
        let (mut at, mut freed) = (0, 0);
        for loser in losers::cheapest(pool, needed) {
            while lacking.get(at).is_some_and(|(until, _, _)| *until <= freed) {
                at += 1;
            }
            // The first of them bids more than everybody here, whoever comes next.
            let mut outbids = [lacking.get(at), lacking.first()].into_iter().flatten();
            if let Some((_, by, higher)) = outbids.find(|(_, _, limit)| *limit > loser.limit) {
                self.release(loser.job, self.outbid(&loser, *by, *higher));
            }
            freed += loser.instances;
        }
    }

    /// Serves waiting bids, the winners of an auction first, then the highest.
    fn serve(&mut self, winners: Vec<(JobNo, Ask)>) {
        let desk = self.desk;
        for (job, ask) in &winners {
            self.serve_one(*job, *ask);
        }
        let winners: Set<JobNo> = winners.into_iter().map(|(job, _)| job).collect();
        for (_, _, _, job) in desk.waiting.iter().filter(|(_, _, _, job)| !winners.contains(job)) {
            let Some((_, ask)) = Ask::of(self.state, *job) else { continue };
            if self.quote.is_sold_out() || ask.limit < self.quote.price {
                break;
            }
            if spot::is_covered(&self.quote, &ask).is_ok() {
                self.serve_one(*job, ask);
            }
        }
    }

    /// Gives a job its instances. Who fits once the leaving have left keeps what is free until then.
    fn serve_one(&mut self, job: JobNo, ask: Ask) {
        if let Ok(assignment) = spot::assign(&self.quote, &ask) {
            self.served.insert(job);
            self.decisions.push(Decision::Serve { job, assignment });
        }
        self.quote.keep(&ask);
    }

    fn outbid(&self, loser: &Loser<'_>, by: JobNo, higher: i64) -> Cause {
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
            let blocker = spot::assign(&self.quote, &ask).err().unwrap_or_else(next_round);
            let hold = Hold::of(vec![Attempt { source: Source::Spot, blocker }]);
            Some(Decision::Wait { job, hold: Arc::new(hold) })
        };
        let told: Vec<Decision> =
            new.map(|no| (*no, false)).chain(back.map(|no| (*no, true))).filter_map(waits).collect();
        self.decisions.extend(told);
    }
}

/// How many of these it takes until there is room for so many instances, and how much room there is then; nothing if all
/// together do not suffice.
fn enough<'l>(losers: impl Iterator<Item = &'l Loser<'l>>, instances: i64, room: i64) -> Option<(usize, i64)> {
    let rooms = losers.scan(room, |room, loser| {
        *room += loser.instances;
        Some(*room)
    });
    std::iter::once(room).chain(rooms).enumerate().find(|(_, room)| instances <= *room)
}
