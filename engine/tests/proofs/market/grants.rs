//! Who holds instances, and until when.

use engine::job::cause::Cause;
use engine::message::event::Event;
use engine::unit::id::JobNo;
use engine::unit::resource::ResourceType;

use crate::history::are_few;
use crate::market::books::Bidder;
use crate::market::books::Books;
use crate::market::play::each_event;
use crate::market::play::each_round;

/// A start on the market.
fn start<'b>(books: &'b Books, event: &Event) -> Option<(&'b Bidder, engine::unit::time::Timestamp)> {
    let Event::Started { job, at, .. } = event else { return None };
    Some((books.bidders.get(job)?, *at))
}

#[test]
fn the_market_price_is_never_more_than_the_original() {
    let n_prices = each_event(|books, event| {
        let (terms, price) = if let Event::OfferCreated { offer, .. } = event {
            (&offer.terms, offer.course.price())
        } else if let Event::OfferUpdated { no, terms } = event {
            (terms, books.offers[no.at()].price())
        } else if let Event::Priced { no, price, .. } = event {
            (&books.offers[no.at()].terms, *price)
        } else {
            return None;
        };
        let is_inside = price * 10 >= terms.original_price / 10 * 10 && price <= terms.original_price;
        Some((!is_inside).then(|| format!("a price of {price} where {} is the original", terms.original_price)))
    });
    assert!(are_few() || n_prices > 5_000, "only {n_prices}");
}

#[test]
fn nobody_starts_who_bids_less_than_is_asked() {
    let n_starts = each_event(|books, event| {
        let (bidder, at) = start(books, event)?;
        let (offer, limit) = (&books.offers[bidder.offer.at()], books.limit(bidder));
        // Who comes back to Lingjun waits for the average as well.
        let is_back = bidder.releases > 0 && offer.resource_type == ResourceType::Lingjun;
        let is_covered = limit >= offer.price() && !(is_back && offer.is_above_average(limit, at));
        let is_placed = bidder.is_waiting() && is_covered;
        Some((!is_placed).then(|| format!("{bidder:?} starts at {limit} with {:?}", offer.prices)))
    });
    assert!(are_few() || n_starts > 5_000, "only {n_starts}");
}

#[test]
fn the_inventory_is_never_exceeded() {
    let n_starts = each_event(|books, event| {
        let (bidder, _) = start(books, event)?;
        let (held, inventory) = (books.held(bidder.offer), books.offers[bidder.offer.at()].inventory);
        let is_too_much = held + bidder.instances > inventory;
        Some(is_too_much.then(|| format!("{held} of {inventory} are held, and {bidder:?} starts")))
    });
    assert!(are_few() || n_starts > 5_000, "only {n_starts}");
    let mut n_shrunk = 0;
    each_round(|round| {
        round.after.numbers().find_map(|no| {
            let (books, inventory) = (round.after, round.after.offers[no.at()].inventory);
            let running = books.sum(no, Bidder::is_running);
            let may_go = books.on(no, Bidder::is_running).any(|(_, bidder)| !bidder.is_protected(round.now));
            n_shrunk += u32::from(round.before.sum(no, Bidder::is_running) > inventory);
            (running > inventory && may_go).then(|| format!("{running} of {inventory} instances of {no:?} run"))
        })
    });
    assert!(are_few() || n_shrunk > 200, "only {n_shrunk}");
}

#[test]
fn nobody_is_released_inside_its_protection() {
    let n_releases = each_event(|books, event| {
        let Event::Evicted { job, at, .. } = event else { return None };
        let bidder = books.bidders.get(job)?;
        Some(bidder.is_protected(*at).then(|| format!("{bidder:?}")))
    });
    assert!(are_few() || n_releases > 1_000, "only {n_releases}");
}

#[test]
fn nobody_runs_below_the_price_once_its_protection_is_over() {
    let mut n_open = 0;
    each_round(|round| {
        round.after.bidders.values().find_map(|bidder| {
            // A first start asks for the price only; what the average says of it is for the next round.
            let is_open = bidder.is_running() && !bidder.is_protected(round.now) && bidder.grant()?.since < round.now;
            if !is_open {
                return None;
            }
            n_open += 1;
            let (offer, limit) = (&round.after.offers[bidder.offer.at()], round.after.limit(bidder));
            offer.releases(limit, round.now).then(|| format!("{bidder:?} runs at {limit} with {:?}", offer.prices))
        })
    });
    assert!(are_few() || n_open > 2_000, "only {n_open}");
}

#[test]
fn nobody_waits_who_could_run() {
    let mut n_waiting = 0;
    each_round(|round| {
        let (books, now) = (round.after, round.now);
        books.bidders.values().filter(|bidder| bidder.is_waiting()).find_map(|bidder| {
            let (offer, limit) = (&books.offers[bidder.offer.at()], books.limit(bidder));
            let is_back = bidder.releases > 0 && offer.resource_type == ResourceType::Lingjun;
            let is_covered = limit >= offer.price() && !(is_back && offer.is_above_average(limit, now));
            // What is free while others leave may be kept until they have left.
            let is_kept = books.on(bidder.offer, |bidder| !bidder.is_running() && bidder.grant().is_some()).count() > 0;
            let free = offer.inventory - books.held(bidder.offer);
            n_waiting += u32::from(is_covered);
            let could_run = is_covered && !is_kept && bidder.instances <= free;
            could_run.then(|| format!("{bidder:?} waits at {limit}, {free} are free, {:?}", offer.prices))
        })
    });
    assert!(n_waiting > 1_000, "only {n_waiting}");
}

/// Among equal bids for as many instances: who runs stays while the other waits, and who was there first is first.
#[test]
fn equal_bids_never_swap() {
    let mut n_equal = 0;
    let is_equal = |books: &Books, one: JobNo, other: JobNo| {
        let (a, b) = (&books.bidders[&one], &books.bidders[&other]);
        books.limit(a) == books.limit(b) && a.instances == b.instances
    };
    each_round(|round| {
        round.before.numbers().find_map(|no| {
            let started = round.started(no);
            // Who is below the average goes whatever others bid: that is no swap.
            let gone = round.released(no).into_iter().filter(|(_, cause)| !matches!(cause, Cause::BelowAverage { .. }));
            for (gone, _) in gone {
                if let Some(came) = started.iter().find(|came| is_equal(round.before, gone, **came)) {
                    return Some(format!("{came:?} takes the place of {gone:?}"));
                }
            }
            for came in &started {
                let bidder = &round.before.bidders[came];
                for (waits, other) in round.after.on(no, Bidder::is_waiting) {
                    let was_waiting = round.before.bidders[&waits].is_waiting();
                    if !was_waiting || !is_equal(round.before, *came, waits) {
                        continue;
                    }
                    n_equal += 1;
                    let is_same_kind = (bidder.releases == 0) == (other.releases == 0);
                    if is_same_kind && (other.submitted, &other.id) < (bidder.submitted, &bidder.id) {
                        return Some(format!("{bidder:?} starts before {other:?}"));
                    }
                }
            }
            None
        })
    });
    assert!(are_few() || n_equal > 50, "only {n_equal}");
}
