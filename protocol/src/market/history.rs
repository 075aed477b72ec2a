//! How an offer went: its price, the average of it, its inventory, and what of that was held.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use engine::market::history::History;
use engine::market::history::PricePoint;
use engine::market::price::PriceCourse;
use engine::message::envelope::Entry;
use engine::message::event::Event;
use engine::state::world::State;
use engine::unit::id::JobNo;
use engine::unit::id::OfferId;
use engine::unit::id::OfferNo;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;

/// How many changes of each kind are listed, the newest ones.
const POINTS_SHOWN: usize = 2_000;

/// How an offer's price and inventory went, as far as `entries` tell; nothing if there is no such offer.
#[must_use]
pub fn history(state: &State, entries: &[Entry], id: &OfferId, now: Timestamp) -> Option<History> {
    let no = state.market.offer_no(id)?;
    let offer = &state.market.offers[no.at()];
    let mut inventory = Vec::new();
    let mut prices = Prices {
        course: None,
        points: Vec::new(),
        bends: BTreeSet::new(),
        averages: Vec::new(),
        window: offer.terms.window,
    };
    for event in entries.iter().flat_map(|entry| &entry.events) {
        if let Event::OfferCreated { no: created, offer } = event
            && *created == no
        {
            inventory.push((offer.course.since(), offer.inventory));
            prices.begin(offer.course.clone(), offer.course.since());
        } else if let Event::Priced { no: priced, at, price } = event
            && *priced == no
        {
            prices.change(*at, *price);
        } else if let Event::InventorySet { no: counted, at, inventory: count } = event
            && *counted == no
        {
            inventory.push((*at, *count));
        }
    }
    if prices.course.is_none() {
        prices.begin(offer.course.clone(), offer.course.since());
    }
    inventory.push((now, offer.inventory));
    newest(&mut inventory);
    let mut held = held(state, entries, no, now);
    newest(&mut held);
    let (prices, averages) = prices.end(&offer.course, now);
    Some(History { offer: id.clone(), hours: offer.course.hours(now), prices, averages, inventory, held })
}

fn newest<T>(points: &mut Vec<T>) {
    points.drain(..points.len().saturating_sub(POINTS_SHOWN));
}

/// A price as it is followed through the log.
struct Prices {
    course: Option<PriceCourse>,
    points: Vec<PricePoint>,
    /// When changes leave the window, as far as that has not come.
    bends: BTreeSet<Timestamp>,
    averages: Vec<(Timestamp, i64)>,
    window: Millis,
}

impl Prices {
    fn begin(&mut self, course: PriceCourse, at: Timestamp) {
        self.points.push(PricePoint::of(&course, at, self.window));
        self.note(&course, at);
        self.bends.insert(at + self.window);
        self.course = Some(course);
    }

    fn change(&mut self, at: Timestamp, price: i64) {
        let Some(mut course) = self.course.take() else { return self.begin(PriceCourse::new(price, at), at) };
        self.bend(&course, at);
        course.set(at, price, self.window);
        self.begin(course, at);
    }

    /// Notes the average when changes have left the window before a time.
    fn bend(&mut self, course: &PriceCourse, before: Timestamp) {
        while let Some(at) = self.bends.first().copied().filter(|at| *at < before) {
            self.bends.pop_first();
            self.note(course, at);
        }
    }

    fn note(&mut self, course: &PriceCourse, at: Timestamp) {
        self.averages.push((at, course.average(at, self.window).rounded_up()));
    }

    /// The points up to now, the newest ones.
    fn end(mut self, course: &PriceCourse, now: Timestamp) -> (Vec<PricePoint>, Vec<(Timestamp, i64)>) {
        self.bend(course, now);
        self.note(course, now);
        self.points.push(PricePoint::of(course, now, self.window));
        newest(&mut self.points);
        let first = self.points.first().map(|point| point.at);
        self.averages.retain(|(at, _)| first.is_some_and(|first| *at >= first));
        (self.points, self.averages)
    }
}

/// How many instances of an offer jobs held. The log tells what changed; what is held now tells from where on.
fn held(state: &State, entries: &[Entry], no: OfferNo, now: Timestamp) -> Vec<(Timestamp, i64)> {
    let offer = &state.market.offers[no.at()];
    let mut jobs: BTreeMap<JobNo, i64> = BTreeMap::new();
    let mut holders: BTreeSet<JobNo> = BTreeSet::new();
    let mut changes: Vec<(Timestamp, i64)> = Vec::new();
    for event in entries.iter().flat_map(|entry| &entry.events) {
        if let Event::JobSubmitted { no: job, spec, .. } = event {
            jobs.remove(job);
            jobs.extend(
                spec.spot.iter().filter(|spot| spot.offer == no).map(|_| (*job, i64::from(spec.shape.gang_pods()))),
            );
        } else if let Event::Billed { job, bill, .. } = event
            && bill.offer == offer.id
        {
            // Who is billed holds instances, even if that began before the entries do.
            jobs.insert(*job, bill.instances);
            holders.insert(*job);
        } else if let Event::Started { job, at, .. } = event {
            // A number is given again: who has it now counts only if they had it then.
            let known = || {
                let (bid_on, _, instances) = state.bid_of(*job)?;
                (bid_on == no && state.jobs[*job].submitted <= *at).then_some(instances)
            };
            if let Some(instances) = jobs.get(job).copied().or_else(known) {
                jobs.insert(*job, instances);
                holders.insert(*job);
                changes.push((*at, instances));
            }
        } else if let Event::Stopped { job, at, .. } | Event::Ended { job, at, .. } = event
            && holders.remove(job)
        {
            changes.push((*at, -jobs.get(job).copied().unwrap_or_default()));
        }
    }
    let held_now = offer.inventory - state.market.free(no);
    let mut held = held_now - changes.iter().map(|(_, change)| change).sum::<i64>();
    let first = entries.first().map_or(now, |entry| entry.at).max(added(entries, no).unwrap_or_default());
    let mut points = vec![(first, held)];
    for (at, change) in changes {
        held += change;
        points.push((at, held));
    }
    points.push((now, held_now));
    points
}

/// When an offer was added, if the entries tell.
fn added(entries: &[Entry], no: OfferNo) -> Option<Timestamp> {
    let mut offers = entries.iter().flat_map(|entry| &entry.events).filter_map(|event| {
        if let Event::OfferCreated { no, offer } = event { Some((*no, offer.course.since())) } else { None }
    });
    offers.find(|(created, _)| *created == no).map(|(_, at)| at)
}
