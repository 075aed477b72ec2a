//! What is billed: each started minute of each grant, at the market price at its beginning, and nothing else.

use std::collections::BTreeMap;

use engine::market::bill::Bill;
use engine::market::bill::Charges;
use engine::message::event::Event;
use engine::transition;
use engine::unit::id::JobNo;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;

use crate::history::are_few;
use crate::market::books::Bidder;
use crate::market::books::Books;
use crate::market::play::play;

/// Charges by job and day.
type Account = BTreeMap<(JobNo, i64), Charges>;

fn add(account: &mut Account, job: JobNo, bill: &Bill) {
    let charges = account.entry((job, bill.day)).or_default();
    *charges = charges.plus(bill.charges);
}

/// Adds a grant minute by minute.
fn add_minutes(account: &mut Account, books: &Books, job: JobNo, bidder: &Bidder, since: Timestamp, until: Timestamp) {
    let until = bidder.done_at(since).map_or(until, |done| done.min(until));
    let offer = &books.offers[bidder.offer.at()];
    let mut minute = since;
    while minute < until {
        let charges = account.entry((job, minute.0.div_euclid(Millis::DAY.0))).or_default();
        *charges = charges.plus(Charges { minutes: 1, micros: offer.price_at(minute) * bidder.instances });
        minute = minute + Millis::MINUTE;
    }
}

/// The grants that an event ends.
fn ended<'b>(books: &'b Books, event: &Event) -> Option<(JobNo, &'b Bidder, Timestamp, Timestamp)> {
    let (Event::Stopped { job, at, .. } | Event::Ended { job, at, .. }) = event else { return None };
    let bidder = books.bidders.get(job)?;
    Some((*job, bidder, bidder.grant()?.since, *at))
}

#[test]
fn bills_add_up_to_the_grants_minute_by_minute() {
    let (mut n_bills, mut n_open, mut seed) = (0, 0, u64::MAX);
    let (mut billed, mut granted) = (Account::new(), Account::new());
    play(|run, books, _, events| {
        if seed != run.seed {
            (seed, billed, granted) = (run.seed, Account::new(), Account::new());
        }
        let mut books = books.clone();
        for event in events {
            if let Event::Billed { job, bill, .. } = event {
                n_bills += 1;
                add(&mut billed, *job, bill);
            }
            if let Some((job, bidder, since, until)) = ended(&books, event) {
                add_minutes(&mut granted, &books, job, bidder, since, until);
            }
            if let Event::Forgotten { .. } = event {
                return Some("a run is too short for a number to be used twice".to_owned());
            }
            books.take(&run.state, event);
        }
        // What has been billed and what is owed is what was used, at every moment.
        let (mut owing, mut used) = (billed.clone(), granted.clone());
        for (job, bidder) in books.bidders.iter().filter(|(_, bidder)| bidder.grant().is_some()) {
            n_open += 1;
            for bill in &transition::owed(&run.state, *job, run.now) {
                add(&mut owing, *job, bill);
            }
            // Nothing is owed for the time after it was due to have stopped, whether or not anybody has looked.
            let (since, stops) = (bidder.grant()?.since, bidder.grant()?.stops);
            add_minutes(&mut used, &books, *job, bidder, since, stops.map_or(run.now, |stops| stops.min(run.now)));
        }
        let wrong = owing.iter().find(|(key, charges)| used.get(key) != Some(charges));
        let missing = used.iter().find(|(key, _)| !owing.contains_key(key));
        wrong
            .or(missing)
            .map(|(key, _)| format!("{key:?}: billed and owed {:?}, used {:?}", owing.get(key), used.get(key)))
    });
    assert!(are_few() || n_bills > 5_000 && n_open > 5_000, "only {n_bills} bills, {n_open} open grants");
}

/// Of a day that is over nothing is owed any more once a round has noticed.
#[test]
fn a_day_is_billed_when_it_is_over() {
    let mut n_days = 0;
    play(|run, _, _, events| {
        let is_round = events.iter().any(|event| matches!(event, Event::Rounded { .. }));
        let today = run.now.0.div_euclid(Millis::DAY.0);
        let owed = run.state.market.accounts.keys().flat_map(|job| transition::owed(&run.state, *job, run.now));
        let old: Vec<Bill> = owed.filter(|bill| is_round && bill.day < today).collect();
        n_days += events.iter().filter(|event| matches!(event, Event::Billed { bill, .. } if bill.day < today)).count();
        old.first().map(|bill| format!("{bill:?} on day {today}"))
    });
    assert!(are_few() || n_days > 500, "only {n_days}");
}
