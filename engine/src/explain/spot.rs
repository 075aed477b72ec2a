//! The spot market in words: bids and prices as shares of the original price on Lingjun, as money on general computing.

use crate::explain::words::count;
use crate::explain::words::period;
use crate::market::bill::Bill;
use crate::market::bill::Charges;
use crate::state::world::State;
use crate::transition;
use crate::unit::id::JobId;
use crate::unit::id::JobNo;
use crate::unit::id::OfferId;
use crate::unit::limit::PRICE_HOURS;
use crate::unit::quantity::price;
use crate::unit::resource::ResourceType;
use crate::unit::time::Millis;
use crate::unit::time::Timestamp;

/// A price as a share of the original one: `34 %`, `34.2 %`.
#[must_use]
pub fn percent(micros: i64, original: i64) -> String {
    format!("{} %", tenths(per_mille(micros, original)))
}

fn per_mille(micros: i64, original: i64) -> i64 {
    let original = i128::from(original.max(1));
    i64::try_from((i128::from(micros) * 1000 + original / 2).div_euclid(original)).unwrap_or(i64::MAX)
}

fn tenths(value: i64) -> String {
    if value % 10 == 0 { (value / 10).to_string() } else { format!("{}.{}", value / 10, value % 10) }
}

/// An offer's prices in words.
#[derive(Clone, Copy)]
struct Prices {
    is_share: bool,
    original: i64,
}

impl Prices {
    fn of(state: &State, offer: &OfferId, original: i64) -> Self {
        let offer = state.market.offer_no(offer).map(|no| state.market.offers[no.at()].resource_type);
        Self { is_share: offer == Some(ResourceType::Lingjun), original }
    }

    fn words(self, micros: i64) -> String {
        if self.is_share { percent(micros, self.original) } else { price(micros) }
    }

    /// How far a bid is below a price.
    fn short(self, bid: i64, micros: i64) -> String {
        if !self.is_share {
            return format!("{} short", price(micros - bid));
        }
        let points = per_mille(micros, self.original) - per_mille(bid, self.original);
        match points {
            ..=0 => "a little short".to_owned(),
            10 => "1 point short".to_owned(),
            _ => format!("{} points short", tenths(points)),
        }
    }
}

/// A bid, what is asked, and in how many of the known hours the bid would have done.
pub(super) struct Comparison<'a> {
    pub(super) offer: &'a OfferId,
    pub(super) bid: i64,
    pub(super) asked: i64,
    pub(super) original: i64,
    /// Of an average: over how long.
    pub(super) window: Option<Millis>,
    pub(super) hours: u32,
    pub(super) known_hours: u32,
}

/// A bid that is too low.
pub(super) fn below(state: &State, comparison: &Comparison<'_>) -> String {
    let Comparison { offer, bid, asked, original, window, hours, known_hours } = *comparison;
    let prices = Prices::of(state, offer, original);
    let what = window.map_or_else(
        || format!("the price of {offer}"),
        |window| format!("the average price of {offer} over {}", period(window)),
    );
    let past = past(prices, bid, hours, known_hours).map_or_else(String::new, |past| format!(" {past}"));
    format!("The bid is {}, {what} is {}: {}.{past}", prices.words(bid), prices.words(asked), prices.short(bid, asked))
}

fn past(prices: Prices, bid: i64, hours: u32, known_hours: u32) -> Option<String> {
    let known = count(u64::from(known_hours), "hour", "hours");
    let of =
        if i64::from(known_hours) < PRICE_HOURS { format!("the {known} known") } else { format!("the last {known}") };
    (known_hours > 0).then(|| format!("The price was at most {} in {hours} of {of}.", prices.words(bid)))
}

/// In how many hours of the last week the price was not above a job's bid; nothing for a job without one.
#[must_use]
pub fn past_of_bid(state: &State, no: JobNo, now: Timestamp) -> Option<String> {
    let (offer, limit, _) = state.bid_of(no)?;
    let offer = &state.market.offers[offer.at()];
    let (hours, known_hours) = offer.course.hours_at_most(limit, now);
    past(Prices::of(state, &offer.id, offer.terms.original_price), limit, hours, known_hours)
}

/// What a job bids: `40 % of the original price of gn8, 0.4 an instance-minute`; nothing for a job without a bid.
#[must_use]
pub fn bid(state: &State, no: JobNo) -> Option<String> {
    let (offer, limit, _) = state.bid_of(no)?;
    let offer = &state.market.offers[offer.at()];
    let share = percent(limit, offer.terms.original_price);
    Some(format!("{share} of the original price of {}, {} an instance-minute", offer.id, price(limit)))
}

/// What a job with a bid has cost by now: `12.4 for 31 minutes, 0.8 of it not billed yet`.
#[must_use]
pub fn cost(state: &State, no: JobNo, now: Timestamp) -> Option<String> {
    state.jobs.get(no).filter(|job| job.bids())?;
    let billed = state.market.accounts.get(&no).map(|account| account.billed).unwrap_or_default();
    let open =
        transition::owed(state, no, now).into_iter().fold(Charges::default(), |sum, bill| sum.plus(bill.charges));
    let Charges { minutes, micros } = billed.plus(open);
    let minutes = count(minutes.unsigned_abs(), "minute", "minutes");
    let rest = if open.micros > 0 { format!(", {} of it not billed yet", price(open.micros)) } else { String::new() };
    Some(format!("{} for {minutes}{rest}", price(micros)))
}

/// Too few free instances.
pub(super) fn sold_out(offer: &OfferId, asked: i64, free: i64, inventory: i64) -> String {
    let instances = count(inventory.unsigned_abs(), "instance", "instances");
    format!("{offer} has {instances}, {free} of them free for this job; it asks for {asked}.")
}

/// Why a job was released from the market: its bid is below the average, in shares of the original price.
pub(super) fn below_average(offer: &OfferId, bid: i64, average: i64, window: Millis, original: i64) -> String {
    format!(
        "because its bid of {} is below the average price of {offer} over {}, which is {}",
        percent(bid, original),
        period(window),
        percent(average, original)
    )
}

/// The same, for who was outbid.
pub(super) fn outbid(offer: &OfferId, bid: i64, by: &JobId, higher: i64, original: i64) -> String {
    format!(
        "because {by} bids {} of the original price for {offer} and it bids {}",
        percent(higher, original),
        percent(bid, original)
    )
}

/// What a job owes: `3 minutes on 2 instances of gn7, 0.6 in all`.
pub(super) fn bill(bill: &Bill) -> String {
    let Bill { instances, offer, charges: Charges { minutes, micros }, .. } = bill;
    let unsigned = |value: i64| value.unsigned_abs();
    format!(
        "{} on {} of {offer}: {}",
        count(unsigned(*minutes), "minute", "minutes"),
        count(unsigned(*instances), "instance", "instances"),
        price(*micros)
    )
}
