//! What reads of the past cost whom: bills and courses of offers are read from KV once, pages are small, and whoever reads
//! much waits.

use engine::host::visibility::Visibility;
use engine::market::statement::By;
use engine::message::envelope::Entry;
use engine::unit::id::OfferId;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use protocol::cluster::Cluster;
use protocol::log::decode;
use protocol::log::encode;
use protocol::market::Reach;
use protocol::market::history::history;
use protocol::market::kept::Kept;
use protocol::market::statement;
use protocol::market::told::Told;
use protocol::market::told::told;
use protocol::meter::Meter;
use protocol::meter::Metered;
use protocol::past;
use protocol::past::Search;
use protocol::profile::Profile;
use protocol::rate::Buckets;
use protocol::rate::REQUESTS;
use serde_json::Value;
use serde_json::json;

use crate::air;
use crate::air::Air;
use crate::disk::Disk;
use crate::memory::START;
use crate::memory::founded;
use crate::memory::publish;
use crate::newest::newest;
use crate::past::at_hand;
use crate::random::Random;
use crate::world::envelope;
use crate::world::sender;

/// How far back a read of the market goes, in pages.
const PAGES: usize = 10;

/// A cluster with an offer, bids and jobs, and a page of its past for each sixty entries.
struct Shop {
    cluster: Cluster<Disk>,
    air: Air,
    random: Random,
    now: Timestamp,
    n_sent: u32,
    /// What the front has kept.
    told: Option<Told>,
}

impl Shop {
    fn new(seed: u64) -> Self {
        let profile = Profile { snapshot_every: 60, entries_kept: 10, object_bytes_max: 4_000, ..Profile::default() };
        let mut shop = Self {
            cluster: founded(profile),
            air: Air::new(1),
            random: Random::new(seed),
            now: START,
            n_sent: 0,
            told: None,
        };
        let terms =
            json!({ "original_price": 1_000_000, "protection_ms": 0, "window_ms": 600_000, "grace_period_ms": 0 });
        shop.send(&json!({ "create_offer": { "offer": "gn8", "resource_type": "lingjun", "instance": { "gpu": 8000 },
            "inventory": 5, "price": 300_000, "terms": terms } }));
        shop
    }

    fn send(&mut self, command: &Value) {
        self.n_sent += 1;
        let envelope = envelope(&format!("command-{}", self.n_sent), command);
        // Some are refused: what was asked for has ended.
        let _ = self.cluster.submit(&envelope, &sender(), self.now);
    }

    fn live(&mut self) {
        self.now = self.now + Millis(i64::try_from(self.random.below(90_000)).expect("small"));
        let (number, other) = (self.n_sent, self.random.below(u64::from(self.n_sent) + 1));
        let network = json!({ "vpc": "vpc-1", "vswitch": "vsw-1", "security_group": "sg-1" });
        let minutes = 1 + self.random.below(30);
        match self.random.below(10) {
            0..=2 => self.send(&json!({ "submit_job": { "job": format!("job-{number}"), "quota": "a",
                "duration_ms": minutes * 60_000, "pods": [{ "amount": { "gpu": 1000 } }] } })),
            3..=5 => self.send(&json!({ "submit_job": { "job": format!("job-{number}"),
                "duration_ms": minutes * 60_000, "pods": [{ "amount": {} }],
                "spot": { "offer": "gn8", "discount_percent": 90, "network": network } } })),
            6 => self.send(&json!({ "cancel_job": { "job": format!("job-{other}") } })),
            7 => {
                let price = 100_000 * (1 + self.random.below(9));
                self.send(&json!({ "publish_price": { "offer": "gn8", "price": price } }));
            }
            8 => {
                let inventory = 1 + self.random.below(6);
                self.send(&json!({ "set_inventory": { "offer": "gn8", "inventory": inventory } }));
            }
            _ => self.send(&json!({ "round": {} })),
        }
        if number.is_multiple_of(7) {
            self.now = self.now + Millis(1_000);
            publish(&mut self.cluster, &self.air, self.now);
        }
    }

    /// The newest entries as they are read from log and KV.
    fn read(&mut self, meter: &Meter) -> (Vec<Entry>, bool) {
        let records = self.cluster.records(0, u64::MAX).expect("reading works");
        let entry = |text: &str| {
            meter.note(text);
            decode("an entry", text).expect("it is good")
        };
        let own = records.iter().map(|record| (record.seq, entry(&record.entry))).collect();
        let head = self.cluster.published().expect("reading works");
        let kv = Metered::new(self.air.clone(), meter);
        let (entries, is_whole) =
            at_hand(air::run(past::newest_with(&kv, head.as_ref(), own, u64::MAX, PAGES)).expect("reading works"));
        (entries.into_iter().map(|(_, entry)| entry).collect(), is_whole)
    }

    /// What the front keeps of the market, with what is not published yet.
    fn keep(&mut self, meter: &Meter) -> Kept {
        let newest = newest(&mut self.cluster, &sender());
        let head = newest.head.as_ref().expect("there is a head");
        let kv = Metered::new(self.air.clone(), meter);
        let told = air::run(told(&kv, head, self.told.take(), PAGES)).expect("reading works");
        let mut kept = at_hand(told);
        self.told = Some(kept.clone());
        newest.tail.iter().for_each(|entry| kept.kept.follow(entry));
        kept.kept
    }

    /// What is told of the market by entries.
    fn told(&mut self, entries: &[Entry], is_whole: bool) -> (String, String) {
        let now = self.now;
        let told = self.cluster.with_state(|state| {
            let everybody = sender();
            let visibility = Visibility::new(state, &everybody);
            let bills = statement(visibility, entries, is_whole, By::JobAndDay, Reach::Newest, now);
            let offer = OfferId::new("gn8").expect("a good name");
            let course = history(state, entries, &offer, now).expect("there is the offer");
            (encode(&bills).expect("it is JSON"), encode(&course).expect("it is JSON"))
        });
        told.expect("reading works")
    }
}

#[test]
fn what_is_kept_of_the_market_tells_what_the_log_tells() {
    let mut n_bills = 0;
    for seed in 1..=6 {
        let mut shop = Shop::new(seed);
        let first = shop.random.below(200);
        for step in 0..500 {
            shop.live();
            // All of it fits into what a read reads, so both tell of the same stretch.
            if step >= first && step % 20 == 0 && shop.cluster.published() != Ok(None) {
                let kept = shop.keep(&Meter::default());
                let (entries, is_whole) = shop.read(&Meter::default());
                if is_whole {
                    let kept = shop.told(kept.entries(), kept.is_whole());
                    let read = shop.told(&entries, is_whole);
                    assert_eq!(kept, read, "seed {seed}, step {step}");
                    n_bills += kept.0.matches("\"micros\"").count();
                }
            }
        }
    }
    assert!(n_bills > 0, "{n_bills} bills were compared");
}

#[test]
fn bills_are_read_from_kv_once() {
    let mut shop = Shop::new(1);
    for _ in 0..1_500 {
        shop.live();
    }
    let first = Meter::default();
    shop.keep(&first);
    let reads = shop.air.n_reads();
    println!("the first read of bills costs {} requests, {} of them reads of KV", first.cost(), reads);
    assert!(first.cost() > 60, "{}", first.cost());
    for _ in 0..50 {
        shop.send(&json!({ "round": {} }));
        shop.keep(&Meter::default());
    }
    assert_eq!(shop.air.n_reads(), reads, "a further one costs nothing");
    // And once there is a new head, what is new.
    for _ in 0..30 {
        shop.live();
    }
    let further = Meter::default();
    shop.keep(&further);
    println!("and after some commands {} requests", further.cost());
    assert!(further.cost() < 12, "{}", further.cost());
}

#[test]
fn a_page_of_the_audit_reads_little_and_says_where_to_go_on() {
    let mut shop = Shop::new(2);
    for _ in 0..1_500 {
        shop.live();
    }
    let head = shop.cluster.published().expect("reading works").expect("there is a head");
    let asked = |pages: usize, before: u64| {
        let meter = Meter::default();
        let mut search = Search::new(20, before, |_: &Entry| false);
        at_hand(
            air::run(past::find(&Metered::new(shop.air.clone(), &meter), &head, u64::MAX, pages, &mut search))
                .expect("reading works"),
        );
        (meter.cost(), search.next())
    };
    let (all, _) = asked(PAGES, u64::MAX);
    let (mut n_pages, mut before) = (0, u64::MAX);
    loop {
        let (cost, next) = asked(2, before);
        assert!(cost * 2 < all, "a page costs {cost}, ten cost {all}");
        n_pages += 1;
        let Some(next) = next else { break };
        assert!(next < before);
        before = next;
    }
    println!(
        "a search that finds nothing costs {all} in one answer of ten pages, and comes in {n_pages} answers of two"
    );
    assert!(n_pages > 5, "{n_pages}");
}

#[test]
fn who_reads_the_past_all_the_time_is_told_to_wait() {
    // Of two who ask as fast as they may, one reads what costs a hundred and the other what costs nothing.
    let mut buckets = Buckets::new(REQUESTS);
    let mut answered = |who: &'static str, cost: i64| {
        let tries = (0..60_000).filter(|ms| {
            let now = START + Millis(*ms);
            let is_let_in = buckets.take(who, now).is_ok();
            if is_let_in {
                buckets.charge(who, cost, now);
            }
            is_let_in
        });
        i64::try_from(tries.count()).expect("small")
    };
    let (readers, others) = (answered("reader", 100), answered("other", 0));
    let paid = REQUESTS.burst + 60 * REQUESTS.per_second;
    assert!((others - paid).abs() < 5, "{others} of {paid}");
    assert!((readers - paid / 101).abs() <= 2, "{readers} of {}", paid / 101);
}
