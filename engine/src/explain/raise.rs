//! The smallest change by which a waiting bid would start now: a higher bid, or fewer instances. Each is tried by the
//! rules of the market before it is proposed.

use crate::explain::remedy::Help;
use crate::explain::words::count;
use crate::job::story::Cause;
use crate::market::bid::Bid;
use crate::market::offer::PriceSource;
use crate::schedule::decision::Decision;
use crate::schedule::market;
use crate::schedule::market::Occasion;
use crate::schedule::source::spot;
use crate::schedule::source::spot::Ask;
use crate::schedule::source::spot::Quote;
use crate::state::world::State;
use crate::unit::id::JobNo;
use crate::unit::ordered::Set;
use crate::unit::quantity::price;
use crate::unit::time::Timestamp;

/// How many higher bids are tried at most where prices are free.
const PRICES_TRIED: usize = 8;

pub(super) fn remedy(state: &State, no: JobNo, now: Timestamp) -> Option<Help> {
    let (offer, ask) = Ask::of(state, no)?;
    let quote = Quote::of(state, offer, now);
    if spot::offer(&quote, &ask).is_ok() {
        // Nothing is in its way but who comes first, and the next scheduled round decides that.
        return None;
    }
    let higher = higher_bids(state, no, &quote, &ask);
    let original = quote.offer.terms.original_price;
    // With another bid its turn comes earlier, and others keep less of the offer for themselves.
    let is_left =
        |bid: Bid, ask: &Ask| spot::offer(&Quote::left_for(&with_bid(state, no, bid), offer, no, now), ask).is_ok();
    let would_do = |bid: &&Bid| {
        let raised = Ask { limit: bid.limit(original), ..ask };
        spot::offer(&quote, &raised).is_ok() && is_left(**bid, &raised)
    };
    if let Some(bid) = higher.iter().find(would_do) {
        return Some(help(format!("Raise the bid to {}.", words(*bid))));
    }
    let left = Quote::left_for(state, offer, no, now);
    let fewer = Ask { instances: left.free, ..ask };
    if left.free > 0 && spot::offer(&left, &fewer).is_ok() {
        let instances = count(left.free.unsigned_abs(), "instance", "instances");
        return Some(help(format!("Ask for {instances}: that would start now.")));
    }
    if quote.offer.terms.price_source != PriceSource::Auction {
        return None;
    }
    if outbids(state, no, now) {
        return Some(help(
            "It outbids who runs there now; the next scheduled round gives it the instances.".to_owned(),
        ));
    }
    let bid = higher.into_iter().find(|bid| outbids(&with_bid(state, no, *bid), no, now))?;
    Some(help(format!("Raise the bid to {}: it would outbid who runs there now.", words(bid))))
}

fn help(sentence: String) -> Help {
    // A bid is part of what was submitted: to change it, the job is submitted again.
    Help { sentence, command: None }
}

fn words(bid: Bid) -> String {
    match bid {
        Bid::Discount(percent) => format!("{percent} %"),
        Bid::Price(limit) => price(limit),
        Bid::AsPriceGoes => "whatever the market asks".to_owned(),
    }
}

/// Bids above the job's own that may make a difference, the lowest first: the discounts that there are; or what is
/// asked now, and just above what others who run there bid.
fn higher_bids(state: &State, no: JobNo, quote: &Quote<'_>, ask: &Ask) -> Vec<Bid> {
    let Some((offer, bid)) = state.jobs[no].spec.spot.as_ref().map(|spot| (spot.offer, spot.bid)) else {
        return Vec::new();
    };
    match bid {
        Bid::AsPriceGoes => Vec::new(),
        Bid::Discount(percent) => {
            (1..=9).map(|tenth| tenth * 10).filter(|more| *more > percent).map(Bid::Discount).collect()
        }
        Bid::Price(_) => {
            let others = state.market.desks[offer.at()].running.iter().map(|(limit, _)| limit + 1);
            let tried = std::iter::once(quote.price).chain(others.take(PRICES_TRIED));
            let highest = quote.offer.terms.range().high;
            let limits: Set<i64> = tried.filter(|limit| *limit > ask.limit && *limit <= highest).collect();
            limits.into_iter().map(Bid::Price).collect()
        }
    }
}

/// The state if the waiting job had this bid.
fn with_bid(state: &State, no: JobNo, bid: Bid) -> State {
    let mut changed = state.clone();
    changed.leave_queue(no);
    if let Some(spot) = changed.jobs.get_mut(no).and_then(|job| job.spec.spot.as_mut()) {
        spot.bid = bid;
    }
    changed.enter_queue(no);
    changed
}

/// Whether a scheduled round would start the job: at once, or when who makes room has stopped.
fn outbids(state: &State, no: JobNo, now: Timestamp) -> bool {
    let Some((offer, ..)) = state.bid_of(no) else { return false };
    market::settle_offer(state, offer, now, Occasion::Scheduled).iter().any(|decision| match decision {
        Decision::Serve { job, .. } => *job == no,
        Decision::Release { cause: Cause::Outbid { by, .. }, .. } => *by == state.jobs[no].spec.id,
        Decision::Release { .. }
        | Decision::Grow { .. }
        | Decision::Price { .. }
        | Decision::Wait { .. }
        | Decision::Hold { .. } => false,
    })
}

#[cfg(test)]
mod tests {
    use super::remedy;
    use crate::host::authority;
    use crate::message;
    use crate::state::world::State;
    use crate::unit::id::JobId;
    use crate::unit::id::OfferNo;
    use crate::unit::time::Timestamp;

    const CLUSTER: &str = r#"{"create_cluster":{"dimensions":[{"name":"gpu","kind":"gpu"}]}}"#;
    const OFFER: &str = r#"{"create_offer":{"offer":"gn6","resource_type":"general","instance":{"gpu":1000},"inventory":4,"price":100,"terms":{"original_price":1000,"protection_ms":0}}}"#;

    fn bid(job: &str, limit: i64, instances: i64) -> String {
        format!(
            r#"{{"submit_job":{{"job":"{job}","spot":{{"offer":"gn6","price_limit":{limit}}},"pods":[{{"count":{instances},"amount":{{}}}}]}}}}"#
        )
    }

    #[test]
    fn nothing_is_proposed_to_a_bid_that_could_start_if_nobody_came_first() {
        let mut state = State::default();
        let steps = [
            (0, CLUSTER.to_owned()),
            (0, OFFER.to_owned()),
            (0, bid("low", 200, 3)),
            (1_000, r#"{"publish_price":{"offer":"gn6","price":300}}"#.to_owned()),
            (60_000, r#"{"round":{"slot":1}}"#.to_owned()),
            // While low stops, the instance that is free is kept for wide.
            (61_000, bid("wide", 500, 4)),
            (61_000, bid("small", 400, 1)),
        ];
        for (at, text) in steps {
            authority::step(&mut state, &message::read(text.as_bytes()).unwrap(), Timestamp(at)).unwrap();
        }
        let small = state.jobs.find(&JobId::new("small").unwrap()).unwrap();
        assert_eq!((state.market.free(OfferNo(0)), state.jobs[small].is_queued()), (1, true));
        assert!(remedy(&state, small, Timestamp(61_000)).is_none());
    }
}
