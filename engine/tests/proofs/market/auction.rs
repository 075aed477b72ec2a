//! Auctions against brute force: every set of winners, every set of those who could give way.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use engine::job::cause::Cause;
use engine::market::auction;
use engine::market::auction::STEP_HIGHEST;
use engine::market::auction::STEP_LOWEST;
use engine::market::auction::STEPS_A_ROUND;
use engine::market::auction::price_at;
use engine::market::offer::PriceSource;
use engine::schedule::losers;
use engine::schedule::losers::Loser;
use engine::unit::id::JobId;
use engine::unit::id::JobNo;
use engine::unit::id::OfferNo;
use engine::unit::priority::Priority;
use engine::unit::resource::ResourceType;
use engine::unit::time::Timestamp;

use crate::history::are_few;
use crate::history::seeds;
use crate::market::books::BidStage;
use crate::market::books::Bidder;
use crate::market::books::Books;
use crate::market::play::Fault;
use crate::market::play::Round;
use crate::market::play::each_round;
use crate::random::Random;

/// More bids than this make too many sets.
const BIDS_MAX: usize = 9;

/// All sets of so many things.
fn sets(count: usize) -> impl Iterator<Item = Vec<bool>> {
    (0..1u32 << count).map(move |set| (0..count).map(|at| set & (1 << at) != 0).collect())
}

/// Limits and instances of bids, the first in line first: who wins, and the step of the price. Of all sets that the
/// inventory covers, the one which has the first bid, then the second, and so on.
fn cleared(original: i64, inventory: i64, bids: &[(i64, i64)]) -> (Vec<bool>, i64) {
    let low = price_at(original, STEP_LOWEST);
    let instances = |set: &[bool]| bids.iter().zip(set).map(|((_, count), wins)| count * i64::from(*wins)).sum::<i64>();
    let is_legal = |set: &Vec<bool>| {
        let is_bid = bids.iter().zip(set).all(|((limit, _), wins)| !wins || *limit >= low);
        is_bid && instances(set) <= inventory
    };
    let best = sets(bids.len()).filter(is_legal).max().unwrap();
    let lowest = bids.iter().zip(&best).filter(|(_, wins)| **wins).map(|((limit, _), _)| *limit).min();
    let is_full = instances(&best) == inventory;
    let covered = |limit: i64| (STEP_LOWEST..=STEP_HIGHEST).rev().find(|step| price_at(original, *step) <= limit);
    let step = lowest.filter(|_| is_full).and_then(covered).unwrap_or(STEP_LOWEST);
    (best, step)
}

#[test]
fn the_price_is_the_lowest_winning_bid() {
    for seed in seeds(5_000) {
        let mut random = Random::new(seed);
        let original = random.pick(&[100, 1_000, 1_234_567]);
        let inventory = random.between(0, 12);
        let is_single = random.chance(40);
        let count = random.index(BIDS_MAX + 1);
        let mut bids: Vec<(i64, i64)> = (0..count)
            .map(|_| {
                let limit = original * random.between(1, 20) * 5 / 100 + random.between(0, 2);
                (limit, if is_single { 1 } else { random.between(1, 5) })
            })
            .collect();
        bids.sort_by_key(|(limit, _)| Reverse(*limit));
        let bidders = bids.iter().enumerate().map(|(at, (limit, instances))| auction::Bidder {
            job: JobNo::from_index(at),
            limit: *limit,
            instances: *instances,
        });
        let clearing = auction::clear(original, inventory, bidders);
        let (wins, step) = cleared(original, inventory, &bids);
        let winners: BTreeSet<JobNo> =
            wins.iter().enumerate().filter(|(_, wins)| **wins).map(|(at, _)| JobNo::from_index(at)).collect();
        let cleared: BTreeSet<JobNo> = clearing.winners.into_iter().collect();
        assert_eq!((cleared, clearing.step), (winners, step), "seed {seed}: {inventory} for {bids:?}");
        if is_single && inventory > 0 {
            // The highest price at which the bids fill the inventory.
            let fills = |step: &i64| {
                let demand = bids.iter().filter(|(limit, _)| *limit >= price_at(original, *step)).count();
                i64::try_from(demand).unwrap() >= inventory
            };
            let highest = (STEP_LOWEST..=STEP_HIGHEST).rev().find(fills).unwrap_or(STEP_LOWEST);
            assert_eq!(step, highest, "seed {seed}: {inventory} for {bids:?}");
        }
    }
}

/// Unsaved work, how many, and who.
type ClassCost<'l> = (i64, usize, Vec<(Reverse<Timestamp>, &'l JobId)>);

/// What a set of losers costs, limit by limit from the highest, and for equal limits from the highest priority.
fn cost<'l>(set: &[Loser<'l>]) -> [ClassCost<'l>; 6] {
    [(30, 2), (30, 1), (20, 2), (20, 1), (10, 2), (10, 1)].map(|(limit, priority)| {
        let equal = set.iter().filter(|loser| loser.limit == limit && loser.priority.get() == priority);
        let mut who: Vec<_> = equal.clone().map(|loser| (loser.started, loser.id)).collect();
        who.sort();
        (equal.map(|loser| loser.lost).sum(), who.len(), who)
    })
}

#[test]
fn whoever_goes_is_the_cheapest_of_all_sets() {
    for seed in seeds(5_000) {
        let mut random = Random::new(seed);
        let count = random.index(BIDS_MAX + 1);
        let ids: Vec<JobId> = (0..count).map(|at| JobId::new(&format!("job-{at}")).unwrap()).collect();
        let mut line: Vec<Loser<'_>> = ids
            .iter()
            .enumerate()
            .map(|(at, id)| Loser {
                job: JobNo::from_index(at),
                limit: random.between(1, 3) * 10,
                priority: Priority::new(random.between(1, 2)).unwrap(),
                instances: random.between(1, 4),
                lost: random.between(0, 5),
                started: Reverse(Timestamp(random.between(0, 3))),
                id,
            })
            .collect();
        losers::sort_losers(&mut line);
        let needed = random.between(0, 12);
        let all = sets(count)
            .map(|set| line.iter().zip(set).filter(|(_, is_in)| *is_in).map(|(loser, _)| *loser).collect::<Vec<_>>());
        let is_enough = |set: &Vec<Loser<'_>>| set.iter().map(|loser| loser.instances).sum::<i64>() >= needed;
        let best = all.filter(is_enough).min_by(|a, b| cost(a).cmp(&cost(b))).unwrap_or_else(|| line.clone());
        let taken = losers::cheapest(&line, needed);
        assert_eq!(taken, best, "seed {seed}: {needed} of {line:?}");
    }
}

/// Everybody who bids in an auction, first in line first; nothing if they are too many. Whom the average releases, or
/// keeps waiting after a release, has no bid.
fn line(books: &Books, no: OfferNo, now: Timestamp) -> Option<Vec<(JobNo, &Bidder)>> {
    let offer = &books.offers[no.at()];
    let is_auction = offer.terms.price_source == PriceSource::Auction;
    let is_exposed = |bidder: &Bidder| match &bidder.place {
        BidStage::Running(grant) => now >= grant.protected_until,
        BidStage::Waiting => bidder.releases > 0,
        BidStage::Leaving(_) | BidStage::Gone => false,
    };
    let is_out = |bidder: &Bidder| {
        offer.resource_type == ResourceType::Lingjun
            && is_exposed(bidder)
            && offer.is_above_average(books.limit(bidder), now)
    };
    let mut line: Vec<_> = books.on(no, |bidder| bidder.is_running() || bidder.is_waiting()).collect();
    line.retain(|(_, bidder)| !is_out(bidder));
    line.sort_by_key(|(_, bidder)| {
        (Reverse(books.limit(bidder)), !bidder.is_running(), bidder.submitted, bidder.id.clone())
    });
    (is_auction && line.len() <= BIDS_MAX).then_some(line)
}

fn winners(books: &Books, no: OfferNo, line: &[(JobNo, &Bidder)]) -> (BTreeSet<JobNo>, i64) {
    let offer = &books.offers[no.at()];
    let bids: Vec<(i64, i64)> = line.iter().map(|(_, bidder)| (books.limit(bidder), bidder.instances)).collect();
    let (wins, step) = cleared(offer.terms.original_price, offer.inventory, &bids);
    (line.iter().zip(wins).filter(|(_, wins)| *wins).map(|((no, _), _)| *no).collect(), step)
}

#[test]
fn the_price_of_an_auction_follows_its_lowest_winning_bid() {
    let mut n_moved = 0;
    each_round(|round| {
        round.before.numbers().find_map(|no| {
            let (_, step) = winners(round.before, no, &line(round.before, no, round.now)?);
            let [before, after] = [round.before, round.after].map(|books| &books.offers[no.at()]);
            let original = before.terms.original_price;
            let target = price_at(original, step);
            // As near to it as five steps go: no other step within reach is nearer.
            let at_most = price_at(original, 100 + STEPS_A_ROUND) - original + i64::from(original % 100 != 0);
            let is_legal = |price: i64| (price - before.price()).abs() <= at_most;
            let is_nearest = after.price() == target
                || is_legal(after.price())
                    && (target - after.price()).abs() + at_most - original / 100 <= (target - before.price()).abs();
            n_moved += u32::from(before.price() != after.price());
            (!is_nearest)
                .then(|| format!("{no:?} goes from {} to {} on the way to {target}", before.price(), after.price()))
        })
    });
    assert!(are_few() || n_moved > 1_000, "only {n_moved}");
}

#[test]
fn nobody_is_displaced_who_need_not_be() {
    let (mut n_outbid, mut n_shrunk) = (0, 0);
    each_round(|round| {
        round.before.numbers().find_map(|no| {
            let outbid = gone(round, no, is_outbid);
            let shrunk = gone(round, no, |cause| matches!(cause, Cause::InventoryShrunk { .. }));
            n_outbid += outbid.len();
            n_shrunk += shrunk.len();
            check_shrunk(round, no, &shrunk).or_else(|| check_outbid(round, no, &outbid))
        })
    });
    assert!(are_few() || n_outbid > 200 && n_shrunk > 200, "only {n_outbid} outbid, {n_shrunk} without instances");
}

fn is_outbid(cause: &Cause) -> bool {
    matches!(cause, Cause::Outbid { .. })
}

fn gone(round: &Round<'_>, no: OfferNo, is_meant: fn(&Cause) -> bool) -> Vec<JobNo> {
    round.released(no).into_iter().filter(|(_, cause)| is_meant(cause)).map(|(job, _)| job).collect()
}

/// Who runs once those have gone who are released for their bids alone, and may lose its instances.
fn open<'b>(round: &Round<'b>, no: OfferNo) -> Vec<(JobNo, &'b Bidder)> {
    let below = gone(round, no, |cause| matches!(cause, Cause::BelowPrice { .. } | Cause::BelowAverage { .. }));
    round
        .before
        .on(no, Bidder::is_running)
        .filter(|(job, bidder)| !bidder.is_protected(round.now) && !below.contains(job))
        .collect()
}

/// Instances of those who are not told to leave in this round and ran before it.
fn kept(round: &Round<'_>, no: OfferNo) -> i64 {
    let released: BTreeSet<JobNo> = round.released(no).into_iter().map(|(job, _)| job).collect();
    let stay = round.before.on(no, Bidder::is_running).filter(|(job, _)| !released.contains(job));
    stay.map(|(_, bidder)| bidder.instances).sum()
}

/// Nobody but the cheapest goes when instances vanish, and nobody if winners have made room for them as well.
fn check_shrunk(round: &Round<'_>, no: OfferNo, shrunk: &[JobNo]) -> Fault {
    if !gone(round, no, is_outbid).is_empty() {
        return (!shrunk.is_empty()).then(|| format!("{shrunk:?} lack instances although others were outbid"));
    }
    let open = open(round, no);
    let instances = |jobs: &[JobNo]| jobs.iter().map(|job| round.before.bidders[job].instances).sum::<i64>();
    let all: i64 = open.iter().map(|(_, bidder)| bidder.instances).sum();
    let too_many = kept(round, no) + instances(shrunk) - round.before.offers[no.at()].inventory;
    // Who has been told to leave before gives instances back as well.
    let is_quiet = round.before.on(no, |bidder| !bidder.is_running()).all(|(_, bidder)| bidder.grant().is_none());
    if is_quiet { cheapest(round, &open, too_many.min(all), shrunk) } else { None }
}

/// Whoever was outbid makes room for higher bids that win, and no cheaper set would.
fn check_outbid(round: &Round<'_>, no: OfferNo, outbid: &[JobNo]) -> Fault {
    let (books, offer) = (round.before, &round.before.offers[no.at()]);
    let is_at_once = offer.terms.grace_period.0 == 0
        && books.on(no, |bidder| !bidder.is_running()).all(|(_, bidder)| bidder.grant().is_none());
    if outbid.is_empty() || !is_at_once {
        return None;
    }
    let line = line(books, no, round.now)?;
    let (winners, _) = winners(books, no, &line);
    let limit = |job: &JobNo| books.limit(&books.bidders[job]);
    if let Some(loser) = outbid.iter().find(|job| winners.contains(job)) {
        return Some(format!("{loser:?} wins and is outbid"));
    }
    let lowest = outbid.iter().map(limit).max()?;
    let came: Vec<JobNo> = round.started(no).into_iter().filter(|job| winners.contains(job)).collect();
    let needed: i64 = came.iter().map(|job| books.bidders[job].instances).sum();
    let free = offer.inventory - kept(round, no) - outbid.iter().map(|job| books.bidders[job].instances).sum::<i64>();
    let losers: Vec<_> = open(round, no)
        .into_iter()
        .filter(|(job, bidder)| !winners.contains(job) && books.limit(bidder) <= lowest)
        .collect();
    if came.iter().all(|job| limit(job) <= lowest) {
        return Some(format!("{outbid:?} make room for nobody who bids more, {came:?}"));
    }
    cheapest(round, &losers, needed - free, outbid)
}

/// Whether these are the cheapest of all sets with so many instances: the lowest bids first; among equal ones the
/// least unsaved work, then the fewest jobs.
fn cheapest(round: &Round<'_>, open: &[(JobNo, &Bidder)], needed: i64, taken: &[JobNo]) -> Fault {
    if open.len() > BIDS_MAX {
        return None;
    }
    let limits: BTreeSet<Reverse<i64>> = open.iter().map(|(_, bidder)| Reverse(round.before.limit(bidder))).collect();
    let members =
        |set: &[bool]| open.iter().zip(set).filter(|(_, is_in)| **is_in).map(|(who, _)| *who).collect::<Vec<_>>();
    let cost = |members: &[(JobNo, &Bidder)]| -> Vec<(i64, usize)> {
        let of_limit = |limit: &Reverse<i64>| {
            let equal = members.iter().filter(|(_, bidder)| round.before.limit(bidder) == limit.0);
            (equal.clone().map(|(_, bidder)| bidder.unsaved(round.now)).sum(), equal.count())
        };
        limits.iter().map(of_limit).collect()
    };
    let is_enough =
        |members: &Vec<(JobNo, &Bidder)>| members.iter().map(|(_, bidder)| bidder.instances).sum::<i64>() >= needed;
    let best = sets(open.len()).map(|set| members(&set)).filter(is_enough).map(|members| cost(&members)).min()?;
    let chosen: Vec<_> = open.iter().filter(|(job, _)| taken.contains(job)).copied().collect();
    let is_known = chosen.len() == taken.len();
    (!is_known || cost(&chosen) != best).then(|| {
        format!(
            "needed are {needed}, and taken are {taken:?} of {open:?}, which costs {:?}, not {best:?}",
            cost(&chosen)
        )
    })
}
