//! How an offer went, as it is read from the log: held against what the state was at each moment.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

use engine::host::authority;
use engine::host::visibility::Visibility;
use engine::market::history::History;
use engine::market::statement::By;
use engine::market::statement::Statement;
use engine::message::envelope::Entry;
use engine::message::envelope::Envelope;
use engine::state::world::State;
use engine::transition::Sender;
use engine::unit::id::OfferId;
use engine::unit::id::OfferNo;
use engine::unit::id::UserId;
use engine::unit::time::Timestamp;
use protocol::market::Reach;
use protocol::market::history::history;
use protocol::market::statement;
use serde_json::Value;
use serde_json::json;

const MINUTE: i64 = 60_000;
const WINDOW: i64 = 10 * MINUTE;

/// A cluster with its log.
#[derive(Default)]
struct Log {
    state: State,
    entries: Vec<Entry>,
    /// What was held after each entry.
    held: Vec<(Timestamp, i64)>,
}

impl Log {
    fn send(&mut self, minute: i64, command: &Value) {
        let id = format!("command-{}", self.entries.len());
        let envelope: Envelope = serde_json::from_value(json!({ "format": 1, "id": id, "command": command })).unwrap();
        let at = Timestamp(minute * MINUTE);
        let events = authority::handle(&mut self.state, &envelope, at).unwrap().events;
        self.entries.push(Entry { format: 1, revision: self.state.revision, at, envelope, events });
        self.held.push((at, self.held_now()));
    }

    fn held_now(&self) -> i64 {
        let offer = self.state.market.offers.first();
        offer.map_or(0, |offer| offer.inventory - self.state.market.free(OfferNo(0)))
    }

    fn history(&self, entries: &[Entry], minute: i64) -> History {
        history(&self.state, entries, &OfferId::new("gn8").unwrap(), Timestamp(minute * MINUTE)).unwrap()
    }
}

/// An hour on an offer with a window of ten minutes: prices, grants, releases, ends.
fn hour() -> Log {
    let mut log = Log::default();
    log.send(0, &json!({ "create_cluster": { "dimensions": [{ "name": "gpu", "kind": "gpu" }] } }));
    let terms = json!({ "original_price": 1_000_000, "protection_ms": 0, "window_ms": WINDOW, "grace_period_ms": 0 });
    log.send(
        0,
        &json!({ "create_offer": { "offer": "gn8", "resource_type": "lingjun", "instance": { "gpu": 8000 },
        "inventory": 5, "price": 300_000, "terms": terms } }),
    );
    let bid = |job: &str, percent: i64, count: i64, minutes: i64| {
        let network = json!({ "vpc": "vpc-1", "vswitch": "vsw-1", "security_group": "sg-1" });
        json!({ "submit_job": { "job": job, "duration_ms": minutes * MINUTE, "pods": [{ "count": count, "amount": {} }],
            "spot": { "offer": "gn8", "discount_percent": percent, "network": network } } })
    };
    let publish = |price: i64| json!({ "publish_price": { "offer": "gn8", "price": price } });
    log.send(2, &bid("short", 40, 1, 7));
    log.send(3, &bid("wide", 40, 2, 600));
    log.send(5, &publish(500_000));
    log.send(6, &bid("high", 90, 1, 600));
    log.send(8, &publish(700_000));
    log.send(9, &json!({ "round": { "slot": 9 } }));
    log.send(12, &json!({ "round": { "slot": 12 } }));
    log.send(14, &publish(200_000));
    log.send(31, &bid("late", 30, 2, 600));
    log.send(40, &publish(400_000));
    log.send(44, &json!({ "cancel_job": { "job": "high" } }));
    log.send(50, &json!({ "set_inventory": { "offer": "gn8", "inventory": 1 } }));
    log.send(52, &json!({ "round": { "slot": 52 } }));
    log
}

/// The value of a course at a time, straight between its points.
fn between(points: &[(Timestamp, i64)], at: i64) -> i64 {
    let after = points.iter().position(|(time, _)| time.0 >= at).unwrap();
    let ((from, low), (to, high)) = (points[after.saturating_sub(1)], points[after]);
    if from == to { high } else { low + (high - low) * (at - from.0) / (to.0 - from.0) }
}

#[test]
fn the_average_bends_where_it_is_drawn_to_bend() {
    let log = hour();
    let history = log.history(&log.entries, 60);
    let prices = |at: i64| history.prices.iter().rev().find(|point| point.at.0 <= at).unwrap().price;
    for second in 1..=3600 {
        let now = second * 1000;
        let window: Vec<i64> = ((now - WINDOW).max(0)..now).step_by(1000).map(prices).collect();
        let average = window.iter().sum::<i64>() / i64::try_from(window.len()).unwrap();
        // Before the window is full the average is a hyperbola, which straight lines between changes come near to.
        let tolerance = if now <= WINDOW { 25_000 } else { 2_000 };
        let drawn = between(&history.averages, now);
        assert!((drawn - average).abs() <= tolerance, "{average} after {second} s is drawn as {drawn}");
    }
    let bends: Vec<i64> = history.averages.iter().map(|(at, _)| at.0 / MINUTE).collect();
    assert_eq!(bends, [0, 5, 8, 10, 14, 15, 18, 24, 40, 50, 60]);
}

#[test]
fn what_was_held_is_what_the_state_held() {
    let log = hour();
    assert!(log.held.iter().map(|(_, held)| *held).max() == Some(4), "{:?}", log.held);
    // The log may be cut anywhere: what is read of it stays the same.
    for first in 0..log.entries.len() {
        let history = log.history(&log.entries[first..], 60);
        for (at, held) in &log.held[first..] {
            let read = history.held.iter().rev().find(|(time, _)| time <= at).unwrap().1;
            let last = log.held.iter().rev().find(|(time, _)| time <= at).unwrap().1;
            assert_eq!(read, last, "at minute {} without the first {first} entries ({held})", at.0 / MINUTE);
        }
        assert_eq!(history.held.last(), Some(&(Timestamp(60 * MINUTE), log.held_now())));
    }
}

#[test]
fn a_job_that_had_a_number_before_held_nothing_of_the_offer() {
    let log = hour();
    let placed = json!({ "source": "own", "charge": "in_quota", "home": 0, "pods": [] });
    let events = json!([
        { "started": { "job": 1, "at": MINUTE, "placed": placed } },
        { "ended": { "job": 1, "at": 2 * MINUTE, "outcome": "succeeded" } },
    ]);
    let forgotten = Entry { events: serde_json::from_value(events).unwrap(), ..log.entries[1].clone() };
    let mut entries = log.entries.clone();
    entries.insert(2, forgotten);
    assert_eq!(log.history(&entries, 60).held, log.history(&log.entries, 60).held);
}

#[test]
fn a_statement_in_parts_is_the_whole_statement() {
    let log = hour();
    let sender = Sender { user: UserId::new("ops").unwrap(), administers: true };
    let now = Timestamp(60 * MINUTE);
    let whole = statement(Visibility::new(&log.state, &sender), &log.entries, true, By::JobAndDay, Reach::Newest, now);
    assert!(whole.lines.len() >= 3 && whole.earlier.is_none(), "{whole:?}");
    for cut in 1..log.entries.len() {
        let newest = statement(
            Visibility::new(&log.state, &sender),
            &log.entries[cut..],
            false,
            By::JobAndDay,
            Reach::Newest,
            now,
        );
        let before = newest.earlier.unwrap().before;
        let (old, _): (Vec<Entry>, Vec<Entry>) =
            log.entries.iter().cloned().partition(|entry| entry.revision <= before);
        let oldest: Statement =
            statement(Visibility::new(&log.state, &sender), &old, true, By::JobAndDay, Reach::Earlier, now);
        assert_eq!(newest.with(oldest), whole, "cut at {cut}");
    }
}

#[test]
fn bills_are_none_of_a_workspace_that_got_the_name_later() {
    let mut log = Log::default();
    log.send(0, &json!({ "create_cluster": { "dimensions": [{ "name": "gpu", "kind": "gpu" }] } }));
    log.send(
        0,
        &json!({ "create_offer": { "offer": "gn8", "resource_type": "lingjun", "instance": { "gpu": 8000 },
        "inventory": 1, "price": 300_000, "terms": { "original_price": 1_000_000 } } }),
    );
    let found = [
        json!({ "put_workspace": { "workspace": "again" } }),
        json!({ "put_member": { "workspace": "again", "user": "ann", "roles": ["guest"] } }),
    ];
    for command in &found {
        log.send(1, command);
    }
    let network = json!({ "vpc": "vpc-1", "vswitch": "vsw-1", "security_group": "sg-1" });
    log.send(
        2,
        &json!({ "submit_job": { "job": "one", "workspace": "again", "pods": [{ "amount": {} }],
        "spot": { "offer": "gn8", "discount_percent": 40, "network": network } } }),
    );
    log.send(4, &json!({ "cancel_job": { "job": "one" } }));
    let seen = |log: &Log| {
        let ann = Sender { user: UserId::new("ann").unwrap(), administers: false };
        let now = Timestamp(60 * MINUTE);
        statement(Visibility::new(&log.state, &ann), &log.entries, true, By::Job, Reach::Newest, now).lines.len()
    };
    assert_eq!(seen(&log), 1);
    log.send(5, &json!({ "delete_workspace": { "workspace": "again" } }));
    for command in &found {
        log.send(6, command);
    }
    assert_eq!(seen(&log), 0);
}
