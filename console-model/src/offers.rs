//! The spot market's offers as the screens show them.

use std::collections::BTreeSet;

use engine::explain;
use engine::market::history::History;
use engine::market::offer::SpotOffer;
use engine::state::world::State;
use engine::unit::id::JobNo;
use engine::unit::id::OfferId;
use engine::unit::id::OfferNo;
use engine::unit::ordered::Set;
use engine::unit::quantity::price;
use engine::unit::resource::ResourceType;
use engine::unit::sort;
use engine::unit::time::Timestamp;

use crate::chart::Chart;
use crate::chart::Curve;
use crate::chart::Ink;

/// How many bids are listed and drawn.
const BIDS_SHOWN: usize = 50;
/// How many lines of bids a chart has: more cannot be told apart.
const BIDS_DRAWN: usize = 8;
/// Above the highest line, in percent of it.
const HEADROOM: i64 = 110;

/// An offer's line in the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferRow {
    /// Its name.
    pub name: String,
    /// Its number.
    pub no: OfferNo,
    /// Its machines, in words.
    pub machines: String,
    /// The price now.
    pub price: String,
    /// The average.
    pub average: String,
    /// Instances that nobody holds.
    pub free: i64,
    /// Instances that there are.
    pub inventory: i64,
    /// Bids that wait.
    pub n_waiting: usize,
    /// Jobs that run there.
    pub n_running: usize,
}

/// A bid's line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BidRow {
    /// The job.
    pub job: String,
    /// What it bids, as a share of the original price and as money.
    pub bid: String,
    /// How many instances it takes.
    pub instances: i64,
    /// Its state, and until when it is safe.
    pub state: &'static str,
    /// Until when a running one is safe from release.
    pub protected_until: Option<Timestamp>,
}

/// All offers by name.
#[must_use]
pub fn rows(state: &State, now: Timestamp) -> Vec<OfferRow> {
    let mut rows: Vec<OfferRow> = state.market.live_offers().map(|(no, offer)| row(state, no, offer, now)).collect();
    sort::by(&mut rows, |one, other| one.name.cmp(&other.name));
    rows
}

fn row(state: &State, no: OfferNo, offer: &SpotOffer, now: Timestamp) -> OfferRow {
    let desk = &state.market.desks[no.at()];
    let average = offer.course.average(now, offer.terms.window).rounded_up();
    let machines = match offer.resource_type {
        ResourceType::Lingjun => "Lingjun",
        ResourceType::General => "General computing",
    };
    OfferRow {
        name: offer.id.as_str().to_owned(),
        no,
        machines: format!("{machines}, {}", explain::amount(state, &offer.instance)),
        price: money_and_share(offer, offer.course.price()),
        average: format!("{} over {}", money_and_share(offer, average), explain::period(offer.terms.window)),
        free: state.market.free(no),
        inventory: offer.inventory,
        n_waiting: desk.waiting.len(),
        n_running: desk.running.len(),
    }
}

/// A price as money and as a share of the original one.
#[must_use]
pub fn money_and_share(offer: &SpotOffer, micros: i64) -> String {
    format!("{} ({})", price(micros), explain::percent(micros, offer.terms.original_price))
}

/// The bids on an offer: who runs, then who waits, the highest first.
#[must_use]
pub fn bids(state: &State, no: OfferNo) -> Vec<BidRow> {
    let desk = &state.market.desks[no.at()];
    let running = desk.running.iter().rev().map(|(_, job)| *job);
    let waiting = desk.waiting.iter().map(|(_, _, _, job)| *job);
    running.chain(waiting).take(BIDS_SHOWN).filter_map(|job| bid(state, no, job)).collect()
}

fn bid(state: &State, no: OfferNo, job: JobNo) -> Option<BidRow> {
    let (_, limit, instances) = state.bid_of(job)?;
    let grant = state.market.accounts.get(&job).and_then(|account| account.grant);
    Some(BidRow {
        job: state.jobs[job].spec.id.as_str().to_owned(),
        bid: money_and_share(&state.market.offers[no.at()], limit),
        instances,
        state: explain::status(&state.jobs[job]).as_str(),
        protected_until: grant.map(|grant| grant.protected_until),
    })
}

/// The limits of the bids on an offer, the highest first.
fn limits(state: &State, no: OfferNo) -> Vec<i64> {
    let desk = &state.market.desks[no.at()];
    let waiting = desk.waiting.iter().take(BIDS_SHOWN).map(|(limit, ..)| limit.0);
    let all: BTreeSet<i64> =
        desk.running.iter().rev().take(BIDS_SHOWN).map(|(limit, _)| *limit).chain(waiting).collect();
    all.into_iter().rev().take(BIDS_DRAWN).collect()
}

/// An offer's number by its name.
#[must_use]
pub fn find(state: &State, name: &str) -> Option<OfferNo> {
    OfferId::new(name).ok().and_then(|id| state.market.offer_no(&id))
}

/// The price, its average and the bids, in percent of the original price.
#[must_use]
pub fn price_chart(state: &State, no: OfferNo, history: &History, now: Timestamp) -> Chart {
    let original = state.market.offers[no.at()].terms.original_price.max(1);
    // Thousandths of a percent; prices are at most 10^10 micro-units.
    let share = |micros: i64| micros.saturating_mul(100_000) / original;
    let (prices, averages) = points(history, share);
    let from = prices.first().map_or(now.0, |(at, _)| *at).min(now.0 - 1000);
    let bids = limits(state, no);
    let top = prices.iter().chain(&averages).map(|(_, value)| *value).chain(bids.iter().map(|bid| share(*bid))).max();
    let mut curves: Vec<Curve> = bids.iter().map(|bid| Curve::level(Ink::Bid, share(*bid), from, now.0)).collect();
    curves.push(Curve { ink: Ink::Average, points: averages });
    curves.push(Curve::steps(Ink::Price, &prices, now.0));
    chart(from, now, top.unwrap_or(0), " %", curves)
}

type Points = Vec<(i64, i64)>;

/// Hours first, then the changes that can be read one by one: of the price, and of its average.
fn points(history: &History, share: impl Fn(i64) -> i64) -> (Points, Points) {
    let known = history.prices.first().map_or(i64::MAX, |point| point.at.0);
    let hours = history.hours.iter().map(|hour| (hour.hour.saturating_mul(3_600_000), share(hour.average())));
    let hours: Points = hours.take_while(|(begin, _)| begin + 3_600_000 <= known).collect();
    let prices = history.prices.iter().map(|point| (point.at.0, share(point.price)));
    let averages = history.averages.iter().map(|(at, average)| (at.0, share(*average)));
    (hours.iter().copied().chain(prices).collect(), hours.iter().copied().chain(averages).collect())
}

/// The inventory, and what was held of it.
#[must_use]
pub fn inventory_chart(history: &History, now: Timestamp) -> Chart {
    let points = |list: &[(Timestamp, i64)]| -> Points {
        list.iter().map(|(at, count)| (at.0, count.saturating_mul(1000))).collect()
    };
    let (inventory, held) = (points(&history.inventory), points(&history.held));
    let both = || inventory.iter().chain(&held);
    let from = both().map(|(at, _)| *at).min().unwrap_or(now.0).min(now.0 - 1000);
    let top = both().map(|(_, value)| *value).max().unwrap_or(0);
    let curves = vec![Curve::steps(Ink::Held, &held, now.0), Curve::steps(Ink::Inventory, &inventory, now.0)];
    chart(from, now, top, "", curves)
}

/// How many instances there were and how many of them were held, from each change on, the newest first; nothing of
/// what cannot be read any more.
#[must_use]
pub fn inventory_rows(history: &History) -> Vec<(Timestamp, Option<i64>, Option<i64>)> {
    let at = |list: &[(Timestamp, i64)], time: Timestamp| {
        list.iter().take_while(|(at, _)| *at <= time).last().map(|(_, count)| *count)
    };
    // The last of each is now, which is no change.
    let changes = |list: &[(Timestamp, i64)]| -> Vec<Timestamp> {
        list.iter().take(list.len().saturating_sub(1)).map(|(at, _)| *at).collect()
    };
    let times: Set<Timestamp> = changes(&history.inventory).into_iter().chain(changes(&history.held)).collect();
    times.into_iter().rev().map(|time| (time, at(&history.inventory, time), at(&history.held, time))).collect()
}

fn chart(from: i64, now: Timestamp, top: i64, unit: &str, curves: Vec<Curve>) -> Chart {
    let top = (top.saturating_mul(HEADROOM) / 100).max(1000);
    let origin = (now.0, "now".to_owned());
    Chart { width: 720, height: 280, from, to: now.0, origin, top, unit: unit.to_owned(), curves }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history() -> History {
        let at = |minute: i64| Timestamp(minute * 60_000);
        History {
            offer: OfferId::new("gn8").expect("a good name"),
            hours: Vec::new(),
            prices: Vec::new(),
            averages: Vec::new(),
            inventory: vec![(at(0), 4), (at(20), 6), (at(30), 6)],
            held: vec![(at(0), 0), (at(10), 3), (at(20), 5), (at(30), 5)],
        }
    }

    #[test]
    fn each_change_has_a_row_with_both() {
        let rows = inventory_rows(&history()).into_iter().map(|(at, count, held)| (at.0 / 60_000, count, held));
        let expected = [(20, Some(6), Some(5)), (10, Some(4), Some(3)), (0, Some(4), Some(0))];
        assert_eq!(rows.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn what_is_held_is_drawn_as_it_was() {
        let chart = inventory_chart(&history(), Timestamp(30 * 60_000));
        let held = chart.curves.iter().find(|curve| curve.ink == Ink::Held).map(|curve| curve.points.clone());
        let steps = held.unwrap_or_default().into_iter().map(|(at, count)| (at / 60_000, count / 1000));
        assert_eq!(steps.collect::<Vec<_>>(), [(0, 0), (10, 0), (10, 3), (20, 3), (20, 5), (30, 5), (30, 5), (30, 5)]);
    }
}
