//! The timeline: what is seen of a part of a run's time, and that it stays small however much there is.

#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

use engine::host::plan::outcome::SpanOutcome;
use engine::host::plan::outcome::Timeline;
use engine::job::cause::Cause;
use engine::job::phase::Charge;
use engine::unit::id::JobId;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use planner::page::lanes::Lanes;
use planner::page::timeline::Frame;
use planner::page::timeline::View;
use planner::page::timeline::after;
use planner::page::timeline::view;
use planner::page::whose::Whose;

const MINUTE: i64 = 60_000;
const BEGIN: Timestamp = Timestamp(1_000 * MINUTE);

/// A stretch from one minute of the run to another.
fn span(party: &str, job: &str, from: i64, until: i64) -> SpanOutcome {
    SpanOutcome {
        job: JobId::new(job).unwrap(),
        party: party.to_owned(),
        is_offer: false,
        gpus: 8_000,
        charge: Charge::InQuota,
        from: BEGIN + Millis(from * MINUTE),
        until: BEGIN + Millis(until * MINUTE),
        is_open: false,
        evicted: None,
    }
}

fn lanes(mut spans: Vec<SpanOutcome>, left_out: u64) -> Lanes {
    spans.sort_by_key(|span| span.from);
    Lanes::laid_out(Timeline { spans, left_out }, BEGIN)
}

fn quota(name: &str) -> Whose {
    Whose { name: name.to_owned(), is_offer: false }
}

/// What is seen from one minute of the run to another.
fn seen(lanes: &Lanes, whose: Option<Whose>, from: i64, until: i64) -> View {
    let frame =
        Frame { whose, from: BEGIN + Millis(from * MINUTE), until: BEGIN + Millis(until * MINUTE), width: 1000 };
    view(lanes, &frame)
}

fn bars(picture: &str) -> usize {
    picture.matches("<rect").count()
}

#[test]
fn the_picture_the_table_and_the_sentence_follow_the_part_that_is_looked_at() {
    let evicted = SpanOutcome { evicted: Some(Cause::LendingEnded), ..span("a", "late", 70, 90) };
    let lanes = lanes(vec![span("a", "early", 0, 60), span("a", "long", 30, 120), evicted], 0);
    let names = |view: &View| view.rows.iter().map(|row| row[0].clone()).collect::<Vec<_>>();
    let whole = seen(&lanes, None, 0, 120);
    assert_eq!((names(&whole), bars(&whole.picture)), (vec!["early".to_owned(), "long".into(), "late".into()], 3));
    assert_eq!(whole.sentence, "From the start to +2:00: 3 stretches of running, 1 of them ended by an eviction.");
    assert!(whole.picture.contains(r#"<rect x="0" y="44" width="499""#), "{}", whole.picture);
    let late = seen(&lanes, None, 60, 80);
    assert_eq!(late.rows[1][3..], ["+1:10", "20 min", "evicted: the lending has ended"]);
    assert_eq!((names(&late), bars(&late.picture)), (vec!["long".to_owned(), "late".into()], 2));
    assert_eq!(late.sentence, "From +1:00 to +1:20: 2 stretches of running, 0 of them ended by an eviction.");
    // The eviction is after this part; what began before is drawn from the edge on.
    assert!(
        !late.picture.contains("evicted") && late.picture.contains(r#"<rect x="0" y="62" width="999""#),
        "{}",
        late.picture
    );
    let end = seen(&lanes, None, 80, 90);
    assert_eq!(end.picture.matches("class=\"evicted\"").count(), 1, "{}", end.picture);
    assert_eq!(seen(&lanes, None, 200, 300).rows, Vec::<[String; 6]>::new());
}

#[test]
fn a_lane_stays_where_it_is_whatever_is_looked_at() {
    let lanes = lanes(vec![span("a", "one", 0, 60), span("a", "two", 10, 200), span("a", "three", 60, 200)], 0);
    let lane = |view: &View, job: &str| {
        let (before, _) = view
            .picture
            .split_once(&format!("<title>{job}:"))
            .map(|(_, after)| after.split_once("height").unwrap())
            .unwrap();
        before.split_once(" y=\"").unwrap().1.split('"').next().unwrap().to_owned()
    };
    for (from, until) in [(0, 200), (50, 200), (100, 150)] {
        let view = seen(&lanes, None, from, until);
        assert_eq!((lane(&view, "two").as_str(), lane(&view, "three").as_str()), ("62", "44"), "{from} to {until}");
        assert!(view.picture.contains(r#"viewBox="0 0 1000 82""#), "{}", view.picture);
    }
}

#[test]
fn twenty_thousand_stretches_are_few_elements_and_few_lines() {
    // 417 in each of 48 lanes; every fifth is evicted.
    let stretch = |lane: i64, at: i64| {
        let (job, begins) = (format!("job-{lane}-{at}"), at * 3 + lane % 3);
        SpanOutcome { evicted: (at % 5 == 0).then_some(Cause::LendingEnded), ..span("a", &job, begins, begins + 2) }
    };
    let lanes = lanes((0..48).flat_map(|lane| (0..417).map(move |at| stretch(lane, at))).collect(), 0);
    let elements = |view: &View| view.picture.matches('<').count() - view.picture.matches("</").count();
    for (from, until) in [(0, 1_300), (0, 120), (0, 60), (500, 510)] {
        let view = seen(&lanes, None, from, until);
        assert!(elements(&view) < 1_600, "{} elements from {from} to {until}", elements(&view));
        assert!(view.picture.len() < 150_000, "{} bytes from {from} to {until}", view.picture.len());
        assert_eq!(view.rows.len(), 100);
    }
    let view = seen(&lanes, None, 0, 1_300);
    let told = "From the start to +21:40: 20016 stretches of running, 4032 of them ended by an eviction.";
    assert_eq!(view.sentence, told);
}

#[test]
fn narrow_stretches_that_touch_are_one_block_and_their_evictions_are_marked() {
    let spans = (0..1_000).map(|at| {
        let evicted = [500, 501, 503, 700].contains(&at).then_some(Cause::LendingEnded);
        SpanOutcome { evicted, ..span("a", &format!("job-{at}"), at, at + 1) }
    });
    let view = seen(&lanes(spans.collect(), 0), None, 0, 1_000);
    assert!(view.picture.contains(r#"<path class="in-quota" d="M0 44h1000v14h-1000z"/>"#), "{}", view.picture);
    assert_eq!((bars(&view.picture), view.picture.matches("class=\"evicted\"").count()), (0, 1));
    // Crosses that would lie on each other are one.
    assert!(view.picture.contains(r#"d="M497 47l8 8m0-8l-8 8M697 47l8 8m0-8l-8 8""#), "{}", view.picture);
}

#[test]
fn each_quota_is_seen_where_there_are_many_lanes_and_more_of_one_that_is_chosen() {
    let each = |count: i64| {
        let spans = ["a", "b"]
            .into_iter()
            .flat_map(move |party| (0..count).map(move |at| span(party, &format!("{party}-{at}"), at, 1_000)));
        lanes(spans.collect(), 0)
    };
    let count = |view: &View| (bars(&view.picture), view.picture.matches("class=\"party\"").count());
    assert_eq!(count(&seen(&each(3), None, 0, 1_000)), (6, 2));
    let many = each(100);
    let view = seen(&many, None, 0, 1_000);
    assert_eq!(count(&view), (12, 2));
    assert!(view.sentence.ends_with(" 188 of them run beside too many others to be drawn."), "{}", view.sentence);
    let chosen = seen(&many, Some(quota("b")), 0, 1_000);
    assert_eq!(count(&chosen), (96, 1));
    assert!(chosen.rows.iter().all(|row| row[1] == "b"), "{:?}", chosen.rows);
}

#[test]
fn a_quota_and_an_offer_of_one_name_have_lanes_of_their_own() {
    let offer = SpanOutcome { is_offer: true, charge: Charge::Spot, ..span("gn8", "bids", 60, 120) };
    let lanes = lanes(vec![span("gn8", "owns", 0, 60), offer], 0);
    let names: Vec<String> = lanes.parties.iter().map(|(whose, _)| whose.label()).collect();
    assert_eq!(names, ["gn8", "gn8 (offer)"]);
    let view = seen(&lanes, Some(quota("gn8")), 0, 120);
    assert_eq!(view.rows.iter().map(|row| row[0].as_str()).collect::<Vec<_>>(), ["owns"]);
}

#[test]
fn what_is_not_kept_is_said_where_it_is_missing() {
    let cut = lanes(vec![span("a", "one", 0, 60), span("a", "last", 90, 120)], 7);
    let told = " The picture ends at +1:30: 7 later stretches are counted in the figures only.";
    assert!(seen(&cut, None, 0, 120).sentence.ends_with(told));
    assert!(!seen(&cut, None, 0, 80).sentence.contains("later stretches"));
}

#[test]
fn ticks_have_the_times_of_the_part_and_words_that_differ() {
    let lanes = lanes(vec![span("a", "one", 0, 40_000)], 0);
    let ticks = |from: i64, until: i64| {
        let picture = seen(&lanes, None, from, until).picture;
        let words = picture
            .split("class=\"when\"")
            .skip(1)
            .map(|tick| tick.split_once('>').unwrap().1.split('<').next().unwrap().to_owned());
        words.collect::<Vec<_>>()
    };
    assert_eq!(ticks(0, 60), ["the start", "+0:10", "+0:20", "+0:30", "+0:40", "+0:50"]);
    assert_eq!(ticks(3_005, 3_035), ["+2 d 2:05", "+2 d 2:10", "+2 d 2:15", "+2 d 2:20", "+2 d 2:25", "+2 d 2:30"]);
    for (from, until) in [(0, 10), (7, 130), (0, 1_440), (2_000, 9_000), (0, 40_000)] {
        let told = ticks(from, until);
        assert!((2..=12).contains(&told.len()), "{from} to {until}: {told:?}");
        assert!(told.windows(2).all(|pair| pair[0] != pair[1]), "{from} to {until}: {told:?}");
    }
    assert_eq!(after(Millis(26 * 60 * MINUTE + 10 * MINUTE)), "+26:10");
}
