//! Traces with bids: what they come to on offers of known prices, and what broken ones are told.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

use tidegate::meter::Process;
use tidegate::replay::figures::Figures;
use tidegate::replay::run;
use trace::calendar::timestamp;
use trace::machines::Setting;
use trace::offers::Offers;
use trace::offers::Reading;
use trace::sheet::Source;

const JOBS: &str = "job_id,submit_s,duration_s,gpus,group,fault_tolerance,checkpoint_s,bid_discount,bid_price,offer\n";
const OFFERS: &str = "offer,at_s,price,inventory,resource_type,gpus,original_price,protection_s,window_s\n";

fn source(name: &str, text: String) -> Source {
    Source { name: name.to_owned(), bytes: text.into_bytes() }
}

fn replay(offers: &str, jobs: &str) -> Result<Figures, String> {
    replay_as(Reading::default(), &format!("{OFFERS}{offers}"), jobs)
}

fn replay_as(reading: Reading, offers: &str, jobs: &str) -> Result<Figures, String> {
    let offers = Offers::read(&source("offers.csv", offers.to_owned()), reading)?;
    let quotas = source("quotas.csv", "group,parent,gpus\na,,8\n".to_owned());
    let setting = Setting { quotas: &quotas, nodes: None, gpus_per_node: None, has_preemption: false };
    let jobs = source("jobs.csv", format!("{JOBS}{jobs}"));
    let (machines, trace) = run::prepare(&setting, Some(&offers), &jobs)?;
    run::replay(machines, trace, &Process::this(), false)
}

/// Cost and instance-hours of all offers, in thousandths.
fn paid(figures: &Figures) -> (f64, f64) {
    let total = &figures.market.as_ref().unwrap().total;
    ((total.cost * 1000.0).round(), (total.instance_hours * 1000.0).round())
}

#[track_caller]
fn check_complaint(offers: &str, jobs: &str, expected: &[&str]) {
    let problem = replay(offers, jobs).unwrap_err();
    for part in expected {
        assert!(problem.contains(part), "{part:?} is not in {problem:?}");
    }
}

#[test]
fn a_job_pays_the_price_of_each_minute() {
    // Half an hour at 3 and half an hour at 2, on two instances.
    let figures = replay("gn7,0,3,2,lingjun,8,10,,\ngn7,1800,2,,,,,,\n", "x,0,3600,16,,no,,40,,gn7\n").unwrap();
    assert_eq!(paid(&figures), (300_000.0, 2_000.0));
    let total = &figures.market.as_ref().unwrap().total;
    assert_eq!((total.bids, total.grants, total.releases, total.finished), (1, 1, 0, 1));
    assert!((total.cost_at_original_price - 1200.0).abs() < 1e-9, "{}", total.cost_at_original_price);
}

#[test]
fn a_released_job_loses_what_no_checkpoint_keeps() {
    // Released after 65 minutes, when protection is over and the minute's average has passed the bid; 60 of them are
    // saved. It comes back when the price has fallen, and does the rest.
    let offers = "gn7,0,3,1,lingjun,8,10,3600,60\ngn7,3840,8,,,,,,\ngn7,7200,2,,,,,,\n";
    let figures = replay(offers, "x,0,7200,8,,yes,1800,40,,gn7\n").unwrap();
    let total = &figures.market.as_ref().unwrap().total;
    assert_eq!((total.grants, total.releases, total.finished, figures.restarted), (2, 1, 1, 1));
    assert!((total.kept_gpu_hours - 8.0).abs() < 0.001, "{}", total.kept_gpu_hours);
    assert!((total.lost_gpu_hours - 8.0 * 5.0 / 60.0).abs() < 0.001, "{}", total.lost_gpu_hours);
    assert_eq!(figures.rules["spot: bid below the average price"].evictions, 1);
    // 64 minutes at 3, one at 8, and after a minute of the low price the other hour at 2.
    assert_eq!(paid(&figures), (192_000.0 + 8_000.0 + 120_000.0, 2_083.0));
}

#[test]
fn a_bid_waits_until_the_price_falls() {
    let offers = "gn6,0,0.02,1,general,1,0.02,,\ngn6,600,0.01,,,,,,\n";
    let figures = replay(offers, "x,0,60,1,,no,,,0.015,gn6\n").unwrap();
    let offer = &figures.market.as_ref().unwrap().offers["gn6"];
    assert_eq!((offer.wait.p50_ms, offer.finished), (600_000, 1));
    assert_eq!(paid(&figures), (10.0, 17.0));
}

#[test]
fn a_bid_that_never_does_still_waits_at_the_end() {
    let figures = replay("gn6,0,0.02,1,general,1,0.02,,\n", "x,0,60,1,,no,,,0.015,gn6\n").unwrap();
    assert_eq!((figures.waiting_at_end, figures.market.unwrap().total.waiting_at_end), (1, 1));
}

#[test]
fn jobs_of_quotas_and_bids_run_side_by_side() {
    let jobs = "q,0,100,8,a,no,,,,\ns,0,100,8,a,no,,50,,gn7\nr,0,100,8,a,no,,,,\n";
    let figures = replay("gn7,0,3,1,lingjun,8,10,,\n", jobs).unwrap();
    assert_eq!((figures.finished, figures.wait_by_quota["a"].started), (3, 2));
    assert_eq!(figures.wait_by_quota["a"].p95_ms, 100_000);
    assert_eq!(figures.market.unwrap().offers["gn7"].wait.p95_ms, 0);
}

#[test]
fn quotas_do_the_same_with_a_market_beside_them() {
    let jobs = "q,0,100,8,a,no,,,,\nr,30,100,4,a,no,,,,\nt,40,100,4,a,no,,,,\n";
    let offers = "gn7,0,3,1,lingjun,8,10,,\ngn7,65,4,,,,,,\n";
    let with = replay(offers, &format!("{jobs}s,0,3600,8,,no,,90,,\n")).unwrap();
    let without = replay(offers, jobs).unwrap();
    assert_eq!(with.wait_by_quota["a"].p95_ms, without.wait_by_quota["a"].p95_ms);
    assert_eq!((with.finished, without.finished), (4, 3));
}

#[test]
fn an_auction_makes_its_own_price() {
    // Two want the one instance; the price climbs to the lowest winning bid, five points a minute.
    let offers = "offer,at_s,inventory,gpus,original_price,protection_s,price_source\ngn7,0,1,8,10,0,auction\n";
    let jobs = "low,0,7200,8,,yes,,20,,gn7\nhigh,600,1200,8,,no,,60,,gn7\n";
    let figures = replay_as(Reading::default(), offers, jobs).unwrap();
    let offer = &figures.market.as_ref().unwrap().offers["gn7"];
    assert_eq!((offer.grants, offer.releases, offer.finished), (3, 1, 2));
    assert_eq!(figures.rules["spot: outbid"].evictions, 1);
}

#[test]
fn a_price_history_by_date_and_hour_is_read_as_it_is_published() {
    // The newest first, prices for an hour, an inventory that nobody publishes.
    let offers = "timestamp,offer,price,original_price,gpus,region\n\
        2026-11-21T09:00:00Z,g5,4.5,6,1,eu\n2026-11-21T08:00:00Z,g5,1.2,6,1,eu\n2026-11-21T07:00:00Z,g5,3,6,1,eu\n";
    let zero = timestamp("2026-11-21T08:00:00Z");
    let reading = Reading { is_per_hour: true, zero };
    let figures = replay_as(reading, offers, "x,0,1800,1,,no,,30,,g5\ny,0,1800,4,,no,,20,,g5\n").unwrap();
    assert_eq!(paid(&figures), (1_200.0 / 2.0 * 5.0, 500.0 * 5.0));
    let remarks = figures.remarks.join("\n");
    assert!(remarks.contains("region") && remarks.contains("g5 has no inventory"), "{remarks}");
    // Without a zero the trace begins with the history, and nobody's bid does before 08:00.
    let reading = Reading { is_per_hour: true, zero: None };
    let figures = replay_as(reading, offers, "x,0,1800,1,,no,,30,,g5\n").unwrap();
    assert_eq!(figures.wait.p50_ms, 3_600_000);
}

#[test]
fn without_offers_bids_are_left_out() {
    let quotas = source("quotas.csv", "group,parent,gpus\na,,8\n".to_owned());
    let setting = Setting { quotas: &quotas, nodes: None, gpus_per_node: None, has_preemption: false };
    let jobs = source("jobs.csv", format!("{JOBS}x,0,60,1,a,no,,40,,gn7\ny,0,60,1,a,no,,,,\n"));
    let (machines, trace) = run::prepare(&setting, None, &jobs).unwrap();
    let figures = run::replay(machines, trace, &Process::this(), false).unwrap();
    assert_eq!((figures.submitted, figures.market.is_none()), (1, true));
    assert!(
        figures.remarks[0].contains("1 jobs with a bid are left out: there is no table of the offers"),
        "{:?}",
        figures.remarks
    );
}

#[test]
fn discounts_are_written_in_either_way() {
    for text in ["40", "0.4", "40%", "40 %"] {
        let figures = replay("gn7,0,4,1,lingjun,8,10,,\n", &format!("x,0,60,8,,no,,{text},,gn7\n")).unwrap();
        assert_eq!(figures.finished, 1, "{text}");
    }
}

const GN7: &str = "gn7,0,3,1,lingjun,8,10,,\n";

#[test]
fn bids_that_the_engine_refuses_are_named_before_anything_runs() {
    let general = "gn6,0,0.01,1,general,1,0.02,,\n";
    for (offers, bid, expected) in [
        (GN7, "no,,25,,gn7", "jobs.csv, line 2: job x cannot bid on gn7: the discount is 25 %"),
        (GN7, "no,,95,,gn7", "line 2: job x cannot bid on gn7: the discount is 95 %"),
        (GN7, "no,,40,4,gn7", "it has both limits, a discount to 40 % and a price of 4; give one"),
        (GN7, "no,,,4,gn7", "it bids a price of 4, and Lingjun takes discounts only"),
        (general, "no,,40,,gn6", "discounts are for Lingjun only; bid a price"),
        (general, "no,,,0.03,gn6", "it bids a price of 0.03, and the market asks 0.002 to 0.02"),
        (general, "no,,,-1,gn6", "it bids a price of -1"),
        (
            general,
            "yes,,,0.01,gn6",
            "automatic fault tolerance, which general computing does not support; switch it off",
        ),
    ] {
        check_complaint(offers, &format!("x,0,60,1,,{bid}\n"), &[expected]);
    }
}

#[test]
fn bids_that_cannot_be_read_are_named() {
    for (bid, expected) in [
        ("no,,forty,,gn7", ["line 2, column bid_discount", "\"forty\"", "10 to 90 in steps of 10, or 0.1 to 0.9"]),
        ("no,,0.333,,gn7", ["line 2, column bid_discount", "\"0.333\"", "10 to 90 in steps of 10, or 0.1 to 0.9"]),
        ("no,,,dear,gn7", ["line 2, column bid_price", "\"dear\"", "at most six digits"]),
        ("no,,40,,gn8", ["line 2, column offer", "\"gn8\"", "the offers are gn7; name one of them"]),
    ] {
        check_complaint(GN7, &format!("x,0,60,1,,{bid}\n"), &expected);
    }
    let two = format!("{GN7}gn8,0,3,1,lingjun,8,10,,\n");
    check_complaint(&two, "x,0,60,1,,no,,40,,\n", &["line 2, column offer", "there are several offers"]);
}

#[test]
fn broken_lines_of_the_offers_are_named() {
    for (lines, expected) in [
        ("gn7,soon,3,1,lingjun,8,10,,\n", ["offers.csv, line 2, column at_s", "\"soon\"", "seconds of the trace"]),
        (
            "gn7,0,3,1,lingjun,8,10,,\ngn7,60,0.9,,,,,,\n",
            ["line 3, column price", "\"0.9\"", "the market asks 1 to 10"],
        ),
        (
            "gn7,0,11,1,lingjun,8,10,,\n",
            ["line 2, column price", "it is 11 an instance-minute", "correct this price or the original_price"],
        ),
        ("gn7,0,-3,1,lingjun,8,10,,\n", ["line 2, column price", "\"-3\"", "the market asks 1 to 10"]),
        ("gn7,0,3,-1,lingjun,8,10,,\n", ["line 2, column inventory", "\"-1\"", "from 0 to 1000000"]),
        ("gn7,0,3,1,lingjun,8,,,\n", ["line 2, column original_price", "\"\"", "without the market"]),
        ("gn7,0,3,1,lingjun,,10,,\n", ["line 2, column gpus", "\"\"", "how many GPUs an instance has"]),
        ("gn7,0,,1,lingjun,8,10,,\n", ["line 2, column price", "\"\"", "auction as price_source"]),
        ("gn7,0,3,1,cloud,8,10,,\n", ["line 2, column resource_type", "\"cloud\"", "lingjun, general"]),
        ("gn7,0,3,1,lingjun,8,10,,\ngn7,9,3,,,4,,,\n", ["line 3, column gpus", "\"4\"", "line 2 says otherwise"]),
        (
            "gn7,0,3,1,lingjun,8,10,,\ngn7,0,4,,,,,,\n",
            ["line 3, column price", "line 2 has another price", "each zone"],
        ),
        ("gn7,0,0.000009,1,lingjun,8,0.00001,,\n", ["offers.csv, line 2", "original price in micro-units", "100"]),
    ] {
        check_complaint(lines, "x,0,60,1,,no,,40,,gn7\n", &expected);
    }
}

#[test]
fn a_table_of_offers_needs_its_columns() {
    for (table, expected) in [
        ("offer,price\ngn7,3\n", "line 1: there must be one column at_s or timestamp"),
        ("at_s,price\n0,3\n", "there is no column offer"),
        ("offer,at_s\n", "offers.csv has no offer"),
        ("offer,timestamp,price\ngn7,yesterday,3\n", "line 2, column timestamp: the value \"yesterday\""),
    ] {
        let problem = replay_as(Reading::default(), table, "").unwrap_err();
        assert!(problem.contains(expected), "{problem}");
    }
}
