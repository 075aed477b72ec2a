//! Offers, prices and inventories (rules 6.1).

use crate::market::auction;
use crate::market::offer::OfferFault;
use crate::market::offer::OfferTerms;
use crate::market::offer::PriceSource;
use crate::market::offer::SpotOffer;
use crate::market::price::PriceCourse;
use crate::message::command::market::CreateOffer;
use crate::message::command::market::DeleteOffer;
use crate::message::command::market::PublishPrice;
use crate::message::command::market::SetInventory;
use crate::message::command::market::UpdateOffer;
use crate::message::event::Event;
use crate::message::rejection::Noun;
use crate::message::rejection::Rejection;
use crate::state::world::State;
use crate::transition::names;
use crate::unit::id::OfferId;
use crate::unit::id::OfferNo;
use crate::unit::limit;
use crate::unit::time::Millis;
use crate::unit::time::Timestamp;

/// How far a published price's own time may be from now: the clocks of publishers differ, and messages take time.
const PUBLISHED_WITHIN: Millis = Millis::MINUTE;

/// The lowest original price: a percent of it is a whole micro-unit.
const ORIGINAL_MIN: i64 = 100;

fn refuse(offer: &OfferId, fault: OfferFault) -> Rejection {
    Rejection::Offer { offer: offer.to_string(), fault }
}

pub(super) fn create(state: &State, command: &CreateOffer, now: Timestamp) -> Result<Vec<Event>, Rejection> {
    let CreateOffer { offer: id, resource_type, instance, inventory, price, terms } = command;
    check_terms(id, terms)?;
    check_inventory(id, *inventory)?;
    let instance = names::amount(state, format_args!("an instance of {id}"), instance)?;
    if instance.is_zero() {
        return Err(refuse(id, OfferFault::EmptyInstance));
    }
    let step = match terms.price_source {
        PriceSource::Published => auction::STEP_HIGHEST,
        PriceSource::Auction => auction::STEP_LOWEST,
    };
    let price = price.unwrap_or_else(|| auction::price_at(terms.original_price, step));
    check_price(id, terms, price)?;
    let offer = SpotOffer {
        id: id.clone(),
        resource_type: *resource_type,
        instance,
        inventory: *inventory,
        terms: terms.clone(),
        course: PriceCourse::new(price, now),
        is_removed: false,
    };
    if let Some(no) = state.market.offer_no(id) {
        let before = &state.market.offers[no.at()];
        // Sent again, or another offer under its name: what it is now says which.
        let is_same = SpotOffer { course: before.course.clone(), ..offer } == *before;
        return if is_same {
            Ok(Vec::new())
        } else {
            Err(Rejection::Taken { noun: Noun::Offer, name: id.to_string() })
        };
    }
    names::within_limit("offers", state.market.offers.len() + 1, limit::OFFERS_MAX)?;
    Ok(vec![Event::OfferCreated { no: OfferNo::from_index(state.market.offers.len()), offer: Box::new(offer) }])
}

fn check_terms(id: &OfferId, terms: &OfferTerms) -> Result<(), Rejection> {
    let OfferTerms { original_price, protection, window, grace_period, price_source: _ } = terms;
    let in_range = |name: &str, value: i64, min: i64, max: i64| {
        names::in_range(format_args!("the {name} of offer {id}"), value, min, max)
    };
    in_range("original price in micro-units", *original_price, ORIGINAL_MIN, limit::PRICE_MAX)?;
    in_range("protection period in milliseconds", protection.0, 0, limit::PERIOD_MS_MAX)?;
    in_range("averaging window in milliseconds", window.0, 1, limit::WINDOW_MS_MAX)?;
    in_range("grace period in milliseconds", grace_period.0, 0, limit::PERIOD_MS_MAX)
}

fn check_price(id: &OfferId, terms: &OfferTerms, price: i64) -> Result<(), Rejection> {
    let range = terms.range();
    if (range.low..=range.high).contains(&price) {
        Ok(())
    } else {
        Err(refuse(id, OfferFault::PriceOutsideMarket { price, range }))
    }
}

fn check_inventory(id: &OfferId, inventory: i64) -> Result<(), Rejection> {
    if inventory < 0 {
        return Err(refuse(id, OfferFault::InventoryBelowZero { inventory }));
    }
    names::in_range(format_args!("the inventory of offer {id}"), inventory, 0, limit::INVENTORY_MAX)
}

/// The price has to be one that the new terms allow; grants keep the protection that they were given.
#[inline(never)]
pub(super) fn update(state: &State, command: &UpdateOffer) -> Result<Vec<Event>, Rejection> {
    let no = names::offer(state, &command.offer)?;
    let (offer, terms) = (&state.market.offers[no.at()], &command.terms);
    check_terms(&command.offer, terms)?;
    check_price(&command.offer, terms, offer.course.price())?;
    if offer.terms == *terms {
        return Ok(Vec::new());
    }
    Ok(vec![Event::OfferUpdated { no, terms: terms.clone() }])
}

#[inline(never)]
pub(super) fn delete(state: &State, command: &DeleteOffer) -> Result<Vec<Event>, Rejection> {
    let no = names::offer(state, &command.offer)?;
    let desk = &state.market.desks[no.at()];
    let first = desk.holders().chain(desk.waiting.iter().map(|(_, _, _, job)| *job)).next();
    if let Some(job) = first {
        let reason =
            format!("has the bid of job {}, which has not ended; cancel it or wait for it", state.jobs[job].spec.id);
        return Err(Rejection::NotNow { noun: Noun::Offer, name: command.offer.to_string(), reason });
    }
    Ok(vec![Event::OfferDeleted { no }])
}

pub(super) fn set_inventory(state: &State, command: &SetInventory, now: Timestamp) -> Result<Vec<Event>, Rejection> {
    let no = names::offer(state, &command.offer)?;
    check_inventory(&command.offer, command.inventory)?;
    if state.market.offers[no.at()].inventory == command.inventory {
        return Ok(Vec::new());
    }
    Ok(vec![Event::InventorySet { no, at: now, inventory: command.inventory }])
}

pub(super) fn publish(state: &State, command: &PublishPrice, now: Timestamp) -> Result<Vec<Event>, Rejection> {
    let PublishPrice { offer: id, price, at } = command;
    let no = names::offer(state, id)?;
    let offer = &state.market.offers[no.at()];
    if offer.terms.price_source == PriceSource::Auction {
        return Err(refuse(id, OfferFault::PriceByAuction));
    }
    match at {
        Some(at) if *at < now - PUBLISHED_WITHIN => Err(refuse(id, OfferFault::PriceInThePast { at: *at, now }))?,
        Some(at) if *at > now + PUBLISHED_WITHIN => Err(refuse(id, OfferFault::PriceInTheFuture { at: *at, now }))?,
        Some(_) | None => {}
    }
    check_price(id, &offer.terms, *price)?;
    if offer.course.price() == *price {
        return Ok(Vec::new());
    }
    let changes = offer.course.changes(now, offer.terms.window);
    names::within_limit(
        format_args!("price changes of {id} within its averaging window"),
        changes + 1,
        limit::PRICE_CHANGES_MAX,
    )?;
    Ok(vec![Event::Priced { no, at: now, price: *price }])
}
