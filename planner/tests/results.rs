//! What is read of results: figures that compare, lines of tables, and courses that lie beside each other.

#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

use engine::host::authority;
use engine::host::plan::base::Base;
use engine::host::plan::outcome::CourseOutcome;
use engine::host::plan::outcome::Outcome;
use engine::host::plan::outcome::SpanOutcome;
use engine::host::plan::outcome::Timeline;
use engine::host::plan::run::Horizon;
use engine::host::plan::run::Run;
use engine::message::envelope::Envelope;
use engine::message::plan::Variant;
use engine::state::world::State;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use planner::page::course;
use planner::page::table;
use planner::page::table::Better;
use planner::page::table::Change;
use planner::page::table::Figure;
use planner::page::timeline;
use planner::page::whose::Whose;

const NOW: Timestamp = Timestamp(600_000);

/// Two hours of the three-team example, of whose commands to come one is refused.
fn run() -> Run {
    let mut state = State::default();
    for line in include_str!("../../public/examples/three-teams.jsonl").lines() {
        let envelope: Envelope = serde_json::from_str(line).unwrap();
        authority::handle(&mut state, &envelope, Timestamp(60_000)).unwrap();
    }
    let ahead = ["training-a", "nobody"].map(|job| {
        let cancel = format!(r#"{{"cancel_job":{{"job":"{job}"}}}}"#);
        (NOW + Millis::HOUR, serde_json::from_str(&cancel).unwrap())
    });
    let base = Base::new(state, NOW, ahead.to_vec()).unwrap();
    let mut run = Run::new(&base, &Variant::default(), Horizon::Until(NOW + Millis(2 * Millis::HOUR.0)));
    run.finish();
    run
}

#[test]
fn a_figure_is_better_or_worse_as_it_is_meant() {
    let figure =
        |value: i64, better: Option<Better>| Figure { label: String::new(), text: String::new(), value, better };
    let against = |better: Option<Better>| [1, 2, 3].map(|value| figure(value, better).against(&figure(2, better)));
    assert_eq!(against(Some(Better::More)), [Change::Worse, Change::Same, Change::Better]);
    assert_eq!(against(Some(Better::Less)), [Change::Better, Change::Same, Change::Worse]);
    assert_eq!(against(None), [Change::Same; 3]);
}

#[test]
fn what_is_refused_of_the_beginning_is_told_once() {
    let told = table::refusals(&Outcome::of(&run()));
    assert_eq!(told, ["1 commands of the beginning are refused, the first because: there is no job nobody."]);
}

#[test]
fn a_stretch_says_how_it_ends() {
    let timeline = Timeline::of(&run(), 100);
    let then = |job: &str| {
        let span: &SpanOutcome = timeline.spans.iter().find(|span| span.job.as_str() == job).unwrap();
        timeline::row(span, NOW)
    };
    assert_eq!(then("training-a")[3..], ["the start", "60 min", "ends, or changes"]);
    assert_eq!(then("training-b")[3..], ["the start", "2 h", "goes on"]);
}

fn course(name: &str, used: &[i64]) -> CourseOutcome {
    CourseOutcome { name: name.to_owned(), is_offer: false, used: used.to_vec(), waited: Vec::new() }
}

fn outcome(minutes: i64, used: &[i64]) -> Outcome {
    Outcome { interval: Millis(minutes * 60_000), course: course("", used), ..Outcome::of(&run()) }
}

#[test]
fn a_chart_is_as_high_as_the_higher_of_both() {
    let top = |was: &[i64], is: &[i64]| course::courses(&outcome(1, was), &outcome(1, is), None).used.top;
    assert_eq!((top(&[8_000], &[64_000]), top(&[64_000], &[8_000])), (70_400, 70_400));
}

#[test]
fn intervals_of_different_lengths_lie_beside_each_other() {
    let rows = course::courses(&outcome(1, &[1_000, 3_000, 5_000]), &outcome(2, &[2_000]), None).rows;
    let used: Vec<[&str; 3]> = rows.iter().map(|row| [row[0].as_str(), &row[1], &row[2]]).collect();
    assert_eq!(used, [["the start", "2 GPUs", "2 GPUs"], ["+2 min", "5 GPUs", "–"]]);
}

#[test]
fn where_not_everybody_has_a_course_those_who_have_one_in_both_runs_are_offered() {
    let named = |names: std::ops::Range<usize>| {
        let courses = names.map(|at| course(&format!("q{at}"), &[])).collect();
        Outcome { courses, ..outcome(1, &[]) }
    };
    let offered = |was: Outcome, is: Outcome| course::parties(&was, &is).iter().map(Whose::key).collect::<Vec<_>>();
    assert_eq!(offered(named(0..2), named(1..3)), ["quota:q0", "quota:q1", "quota:q2"]);
    assert_eq!(offered(named(0..32), named(1..33)).len(), 31);
}
