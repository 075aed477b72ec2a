//! The smallest changes by which a waiting bid would start now: a higher bid, or fewer instances. Each is submitted anew
//! on a copy, with the round at once and the scheduled one after it, before it is told.

use crate::explain::help::Help;
use crate::explain::tip::Proposal;
use crate::explain::tip::Search;
use crate::explain::tip::fewer_pods;
use crate::explain::tip::submission;
use crate::job::phase::Source;
use crate::market::bid::Bid;
use crate::message::command::SpotRequest;
use crate::message::command::SubmitJob;
use crate::unit::ordered::Set;
use crate::unit::quantity::price;

/// A higher bid, and fewer instances: as far as they help, and no more than so many.
pub(super) fn tips(search: &mut Search<'_>, at_most: usize) -> Vec<Help> {
    let kinds: [fn(&mut Search<'_>) -> Option<Help>; 2] = [higher, fewer_pods];
    kinds.into_iter().filter_map(|kind| kind(search)).take(at_most).collect()
}

/// The lowest bid above its own that starts it.
fn higher(search: &mut Search<'_>) -> Option<Help> {
    let bids = search.within_share(higher_bids(search));
    bids.into_iter().find_map(|bid| {
        let submission = submission(search.state, search.no)?;
        let spot = submission.spot.clone().map(|spot| match bid {
            Bid::Discount(percent) => SpotRequest { discount_percent: Some(i64::from(percent)), ..spot },
            Bid::Price(limit) => SpotRequest { price_limit: Some(limit), ..spot },
            Bid::AsPriceGoes => spot,
        });
        let proposal = Proposal::resubmit(format!("Raise the bid to {}", words(bid)), SubmitJob { spot, ..submission });
        search.try_out(proposal, |_: Source| ".")
    })
}

fn words(bid: Bid) -> String {
    match bid {
        Bid::Discount(percent) => format!("{percent} %"),
        Bid::Price(limit) => price(limit),
        Bid::AsPriceGoes => "whatever the market asks".to_owned(),
    }
}

/// Bids above the job's own that may make a difference, the lowest first: the discounts that there are; or what is
/// asked now, and as much as others bid, or just more.
fn higher_bids(search: &Search<'_>) -> Vec<Bid> {
    let (state, spec) = (search.state, search.spec());
    let Some((offer, bid)) = spec.spot.as_ref().map(|spot| (spot.offer, spot.bid)) else {
        return Vec::new();
    };
    match bid {
        Bid::AsPriceGoes => Vec::new(),
        Bid::Discount(percent) => {
            (1..=9).map(|tenth| tenth * 10).filter(|more| *more > percent).map(Bid::Discount).collect()
        }
        Bid::Price(own) => {
            let (desk, offered) = (&state.market.desks[offer.at()], &state.market.offers[offer.at()]);
            let waiting = desk.waiting.iter().filter_map(|(_, _, _, no)| state.bid_of(*no).map(|(_, limit, _)| limit));
            let others = desk.running.iter().map(|(limit, _)| *limit).chain(waiting);
            let tried = std::iter::once(offered.course.price()).chain(others.flat_map(|limit| [limit, limit + 1]));
            let highest = offered.terms.range().high;
            let limits: Set<i64> = tried.chain([highest]).filter(|limit| *limit > own && *limit <= highest).collect();
            limits.into_iter().map(Bid::Price).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::explain;
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
    fn a_bid_that_could_start_if_nobody_came_first_is_told_how_to_come_first() {
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
        let tips = explain::tips(&state, small, Timestamp(61_000), 5);
        let told: Vec<&str> = tips.iter().map(|help| help.sentence.as_str()).collect();
        assert_eq!(told, ["Raise the bid to 0.0005."]);
    }
}
