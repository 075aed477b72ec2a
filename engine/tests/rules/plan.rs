//! Plans of the example of the seeds, by hand: 128 GPUs, of which Quota1.1 has 48 and Quota1.2 has 80.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

use engine::host::authority;
use engine::host::plan::base::Base;
use engine::host::plan::difference::Difference;
use engine::host::plan::difference::Verdict;
use engine::host::plan::goal::Goal;
use engine::host::plan::goal::Reach;
use engine::host::plan::outcome::Outcome;
use engine::host::plan::outcome::Timeline;
use engine::host::plan::run::Horizon;
use engine::host::plan::run::Run;
use engine::host::plan::search::Family;
use engine::host::plan::search::Found;
use engine::host::plan::search::Search;
use engine::message;
use engine::message::command::Command;
use engine::message::plan::Change;
use engine::message::plan::Variant;
use engine::state::world::State;
use engine::unit::id::JobId;
use engine::unit::id::QuotaId;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;

const HOUR: i64 = 3_600_000;
const GPU_HOUR: i64 = HOUR;

fn command(text: &str) -> Command {
    message::read(text.as_bytes()).unwrap()
}

fn change(at: i64, text: &str) -> Change {
    Change { at: Timestamp(at), command: command(text), is_off: false }
}

fn submit(job: &str, quota: &str, gpus: i64, hours: i64) -> String {
    let (amount, duration) = (gpus * 1000, hours * HOUR);
    format!(
        r#"{{"submit_job":{{"job":"{job}","quota":"{quota}","pods":[{{"amount":{{"gpu":{amount}}}}}],"duration_ms":{duration}}}}}"#
    )
}

/// Team B has 48 GPUs, of which one job uses all for four hours; another one of 56 waits behind it for ever. Team C
/// has 80, uses 64 of them for two hours, and asks for the 16 that are left, and for 16 more, right at the beginning.
fn base() -> Base {
    let mut state = State::default();
    for text in [
        r#"{"create_cluster":{"dimensions":[{"name":"gpu","kind":"gpu"}]}}"#,
        r#"{"put_group":{"group":"pool","resource_type":"lingjun","pool":{"gpu":128000}}}"#,
        r#"{"create_quota":{"quota":"Quota1","groups":["pool"],"min":{"gpu":128000}}}"#,
        r#"{"create_quota":{"quota":"Quota1.1","parent":"Quota1","min":{"gpu":48000},"settings":{"lends":false}}}"#,
        r#"{"create_quota":{"quota":"Quota1.2","parent":"Quota1","min":{"gpu":80000},"settings":{"lends":false}}}"#,
        &submit("b-runs", "Quota1.1", 48, 4),
        &submit("b-waits", "Quota1.1", 56, 1),
        &submit("c-runs", "Quota1.2", 64, 2),
    ] {
        authority::step(&mut state, &command(text), Timestamp(0)).unwrap();
    }
    let ahead = ["c-first", "c-second"].map(|job| (Timestamp(60_000), command(&submit(job, "Quota1.2", 16, 1))));
    Base::new(state, Timestamp(60_000), ahead.to_vec()).unwrap()
}

fn run(base: &Base, changes: Vec<Change>) -> Run {
    let variant = Variant { name: "a variant".to_owned(), changes };
    let mut run = Run::new(base, &variant, Horizon::Until(Timestamp(60_000 + 8 * HOUR)));
    run.finish();
    run
}

const MOVE: &str = r#"{"scale_quotas":{"targets":[{"quota":"Quota1.1","min":{"gpu":56000}},{"quota":"Quota1.2","min":{"gpu":72000}}]}}"#;

#[test]
fn without_a_change_the_gang_of_team_b_waits_for_ever() {
    let outcome = Outcome::of(&run(&base(), Vec::new()));
    let party = |name: &str| outcome.parties.iter().find(|party| party.name == name).unwrap();
    let b = party("Quota1.1");
    assert_eq!((b.account.waiting, b.account.finished), (1, 1));
    // It was submitted a minute before the plan began.
    assert_eq!(b.waits.longest.length, Millis(8 * HOUR + 60_000));
    assert_eq!(b.account.waited, Millis(8 * HOUR));
    assert_eq!(b.account.used_gpu_ms, 48 * (4 * GPU_HOUR - 60_000));
    // c-first takes the 16 GPUs that are left for an hour, then c-second does.
    let c = party("Quota1.2");
    assert_eq!(
        (c.account.submitted, c.account.finished, c.waits.p50.length, c.waits.longest.length),
        (2, 3, Millis(0), Millis(HOUR))
    );
    assert_eq!(outcome.offered_gpu_ms, 128 * 8 * GPU_HOUR);
    assert_eq!(outcome.all.waited_gpu_ms, 56 * 8 * GPU_HOUR + 16 * GPU_HOUR);
    // Served: 46.97 % of what team B wanted, and 90.88 % of what team C did.
    assert_eq!((b.account.served(), c.account.served()), (Some(299), Some(908)));
    assert_eq!(outcome.fairness, Some(1000 * (299 + 908) * (299 + 908) / (2 * (299 * 299 + 908 * 908))));
}

#[test]
fn who_is_in_one_run_only_neither_wins_nor_loses() {
    let base = base();
    let quota = r#"{"create_quota":{"quota":"Quota1.3","parent":"Quota1","min":{"gpu":0}}}"#;
    let changes = vec![change(0, quota), change(0, &submit("d-waits", "Quota1.3", 8, 1))];
    let (without, with) = (run(&base, Vec::new()), run(&base, changes));
    let verdict = |before: &Run, after: &Run| {
        let parties = Difference::of(before, after, 10).parties;
        parties.iter().find(|party| party.name == "Quota1.3").unwrap().verdict
    };
    assert_eq!((verdict(&without, &with), verdict(&with, &without)), (Verdict::New, Verdict::Gone));
}

fn verdicts(before: &Run, after: &Run) -> Vec<(String, Verdict)> {
    let jobs = Difference::of(before, after, 10).jobs.into_iter();
    jobs.map(|difference| (difference.job.to_string(), difference.verdict)).collect()
}

#[test]
fn who_is_cancelled_does_not_win_by_waiting_less() {
    let base = base();
    let cancelled = run(&base, vec![change(0, r#"{"cancel_job":{"job":"b-waits"}}"#)]);
    assert_eq!(verdicts(&run(&base, Vec::new()), &cancelled), [("b-waits".to_owned(), Verdict::Loses)]);
    assert_eq!(Outcome::of(&cancelled).all.cancelled, 1);
}

#[test]
fn who_never_starts_waits_as_long_in_a_run_that_comes_to_rest_earlier() {
    let base = base();
    let run = |text: &str, other: Option<&Run>| {
        let changes = if text.is_empty() { Vec::new() } else { vec![change(0, text)] };
        let mut run = Run::new(&base, &Variant { name: String::new(), changes }, Horizon::Quiet);
        if let Some(other) = other {
            run.compare_with(other);
        }
        run.finish();
        run
    };
    let without = run("", None);
    for (change, rests_earlier) in
        [(r#"{"cancel_job":{"job":"b-runs"}}"#, true), (&submit("c-third", "Quota1.2", 8, 9) as &str, false)]
    {
        let alone = run(change, None);
        assert_eq!(alone.now() < without.now(), rests_earlier);
        let beside = run(change, Some(&without));
        let told = verdicts(&without, &beside);
        assert!(!told.iter().any(|(job, _)| job == "b-waits"), "{told:?}");
        let (was, is) = (Outcome::of(&without), Outcome::of(&beside));
        assert_eq!((was.waits.longest, is.until), (is.waits.longest, was.until.max(alone.now())));
        // The course goes on to the end.
        assert_eq!(is.course.waited.last(), Some(&56_000));
    }
}

/// Two nodes with 8 GPUs each, and a job on all of them.
fn full_nodes() -> Base {
    let mut state = State::default();
    let node = |name: &str, status: &str| {
        format!(r#"{{"put_node":{{"node":"{name}","group":"rack","amount":{{"gpu":8000}},"status":"{status}"}}}}"#)
    };
    for text in [
        r#"{"create_cluster":{"dimensions":[{"name":"gpu","kind":"gpu"}]}}"#,
        r#"{"put_group":{"group":"rack","resource_type":"lingjun"}}"#,
        &node("n1", "ready"),
        &node("n2", "ready"),
        r#"{"create_quota":{"quota":"all","groups":["rack"],"min":{"gpu":16000}}}"#,
        &submit("first", "all", 8, 2),
        &submit("second", "all", 8, 6),
    ] {
        authority::step(&mut state, &command(text), Timestamp(60_000)).unwrap();
    }
    let cordoned = ["n1", "n2"].map(|name| (Timestamp(60_000 + HOUR), command(&node(name, "cordoned"))));
    Base::new(state, Timestamp(60_000), cordoned.to_vec()).unwrap()
}

#[test]
fn cordoned_nodes_count_as_long_as_they_are_used() {
    let outcome = Outcome::of(&run(&full_nodes(), Vec::new()));
    assert_eq!(outcome.all.used_gpu_ms, 8 * 2 * GPU_HOUR + 8 * 6 * GPU_HOUR);
    // One hour for both nodes, then for each until its job ends.
    assert_eq!((outcome.offered_gpu_ms, outcome.gpus), (outcome.all.used_gpu_ms, 0));
}

#[test]
fn an_offer_without_a_limit_is_no_million_idle_instances() {
    let offer = r#"{"create_offer":{"offer":"gn7","resource_type":"lingjun","instance":{"gpu":8000},"inventory":1000000,"price":1000000,"terms":{"original_price":2000000}}}"#;
    assert_eq!(Outcome::of(&run(&base(), vec![change(0, offer)])).gpus, 128_000);
}

#[test]
fn what_the_market_offers_counts_as_offered() {
    let offer = r#"{"create_offer":{"offer":"gn7","resource_type":"lingjun","instance":{"gpu":8000},"inventory":2,"price":1000000,"terms":{"original_price":2000000}}}"#;
    let fewer = r#"{"set_inventory":{"offer":"gn7","inventory":1}}"#;
    let outcome = Outcome::of(&run(&base(), vec![change(0, offer), change(4 * HOUR, fewer)]));
    assert_eq!(outcome.gpus, 136_000);
    // The changes take effect a minute after the hour, as the plan does.
    assert_eq!(outcome.offered_gpu_ms, 128 * 8 * GPU_HOUR + 16 * (4 * GPU_HOUR - 60_000) + 8 * (4 * GPU_HOUR + 60_000));
}

#[test]
fn eight_gpus_more_for_team_b_cost_team_c_a_wait() {
    let base = base();
    let (before, after) = (run(&base, Vec::new()), run(&base, vec![change(0, MOVE)]));
    let outcome = Outcome::of(&after);
    assert_eq!((outcome.refused.len(), outcome.all.waiting), (0, 0));
    let difference = Difference::of(&before, &after, 10);
    let told: Vec<(&str, Verdict)> =
        difference.jobs.iter().map(|difference| (difference.job.as_str(), difference.verdict)).collect();
    // b-waits starts when b-runs ends, after four hours; c-first no longer has 16 GPUs at once, but after two hours.
    assert_eq!(told, [("b-waits", Verdict::Wins), ("c-first", Verdict::Loses), ("c-second", Verdict::Loses)]);
    let fate = difference.jobs[1].after.unwrap();
    assert_eq!(fate.wait, Some(Millis(2 * HOUR - 60_000)));
    let verdicts: Vec<Verdict> = difference.parties.iter().map(|party| party.verdict).collect();
    assert_eq!((verdicts, difference.winners, difference.losers), (vec![Verdict::Wins, Verdict::Loses], 1, 2));
    let timeline = Timeline::of(&after, 100);
    let spans: Vec<(&str, i64, i64)> =
        timeline.spans.iter().map(|span| (span.job.as_str(), span.from.0 - 60_000, span.until.0 - 60_000)).collect();
    assert_eq!(spans[2], ("c-first", 2 * HOUR - 60_000, 3 * HOUR - 60_000));
}

#[test]
fn a_change_that_does_not_add_up_is_told_and_the_others_are_made() {
    let too_much = r#"{"scale_quotas":{"targets":[{"quota":"Quota1.1","min":{"gpu":56000}}]}}"#;
    let outcome = Outcome::of(&run(&base(), vec![change(0, too_much), change(0, MOVE)]));
    let told: Vec<(u64, &str)> =
        outcome.refused.iter().map(|refusal| (refusal.change, refusal.reason.as_str())).collect();
    assert_eq!(told, [(0, "Quota1.1 would need 56 GPUs, Quota1 has 48 left")]);
    assert_eq!(outcome.all.waiting, 0);
}

#[test]
fn changes_come_at_their_time() {
    let at = 60_000 + 5 * HOUR;
    let difference = Difference::of(&run(&base(), Vec::new()), &run(&base(), vec![change(at, MOVE)]), 10);
    let told: Vec<(&str, Option<Millis>)> =
        difference.jobs.iter().map(|job| (job.job.as_str(), job.after.unwrap().wait)).collect();
    assert_eq!(told, [("b-waits", Some(Millis(5 * HOUR + 60_000)))]);
}

#[test]
fn the_smallest_amount_that_starts_a_job_in_time() {
    let base = base();
    let search = |by: i64, from: Option<&str>, at_most: i64| {
        let name = |name: &str| QuotaId::new(name).unwrap();
        let family = Family::Amount {
            quota: name("Quota1.1"),
            from: from.map(name),
            dimension: "gpu".to_owned(),
            step: 2_000,
            at_most,
        };
        let goal = Goal::StartsBy { job: JobId::new("b-waits").unwrap(), by: Timestamp(60_000 + by) };
        let horizon = Horizon::Until(Timestamp(60_000 + 8 * HOUR));
        let mut search = Search::new(&base, &Variant::default(), horizon, goal, family).unwrap();
        while search.found().is_none() {
            search.advance(10);
        }
        search.found().unwrap().clone()
    };
    let Found::Change { command, tried } = search(5 * HOUR, Some("Quota1.2"), 60_000) else {
        panic!("nothing was found")
    };
    assert_eq!((serde_json::to_string(&command).unwrap().contains("56000"), tried), (true, 4));
    // Nobody else can give so much that it starts beside b-runs: 104 GPUs would be needed, team C uses 64.
    // With 104 GPUs it starts beside b-runs: team C then holds more than it has, and the excess is the first to go.
    let Found::Change { command, tried: 28 } = search(HOUR, Some("Quota1.2"), 60_000) else { panic!("not 28") };
    assert!(serde_json::to_string(&command).unwrap().contains("104000"));
    // The largest, 98 GPUs, is run to its end: the job starts when b-runs has ended.
    let Found::Nothing { tried: 25, refused: None, largest: Some(largest), reach } =
        search(HOUR, Some("Quota1.2"), 50_000)
    else {
        panic!("something was found")
    };
    assert!(serde_json::to_string(&largest).unwrap().contains("98000"));
    let job = JobId::new("b-waits").unwrap();
    let (after, late) = (Millis(4 * HOUR - 60_000), Millis(3 * HOUR - 60_000));
    assert_eq!(reach, Reach::Starts { job, after, late });
    // Without somebody who gives, Quota1 has nothing left.
    let Found::Nothing { tried: 1, refused: Some(refused), largest: None, reach: Reach::NeverStarts { .. } } =
        search(5 * HOUR, None, 60_000)
    else {
        panic!("something was found")
    };
    assert_eq!(refused.to_string(), "Quota1.1 would need 50 GPUs, Quota1 has 48 left");
}

#[test]
fn a_search_without_anything_to_vary_is_refused_with_what_to_do() {
    let mut state = State::default();
    for text in [
        r#"{"create_cluster":{"dimensions":[{"name":"cpu","kind":"cpu"},{"name":"gpu","kind":"gpu"}]}}"#,
        r#"{"put_group":{"group":"pool","resource_type":"lingjun","pool":{"cpu":64000,"gpu":8000}}}"#,
        r#"{"create_quota":{"quota":"plain","groups":["pool"],"min":{"cpu":64000}}}"#,
        r#"{"submit_job":{"job":"top","quota":"plain","priority":9,"pods":[{"amount":{"cpu":1000}}]}}"#,
    ] {
        authority::step(&mut state, &command(text), Timestamp(60_000)).unwrap();
    }
    let base = Base::new(state, Timestamp(60_000), Vec::new()).unwrap();
    let top = JobId::new("top").unwrap();
    let refused = |family: Family| {
        let goal = Goal::StartsBy { job: top.clone(), by: Timestamp(HOUR) };
        Search::new(&base, &Variant::default(), Horizon::Until(Timestamp(HOUR)), goal, family).unwrap_err().to_string()
    };
    let quota = QuotaId::new("plain").unwrap();
    let amount = Family::Amount { quota, from: None, dimension: "gpu".to_owned(), step: 1_000, at_most: 8_000 };
    assert_eq!(
        refused(amount),
        "plain is not counted in gpu, only in cpu; scale a quota that is, or give it an amount of gpu first"
    );
    assert_eq!(
        refused(Family::Priority { job: top.clone() }),
        "top has priority 9 already, the highest; look for another change"
    );
}

#[test]
fn whoever_runs_already_has_started_in_time_however_seldom_one_looks() {
    let base = base();
    let job = JobId::new("b-runs").unwrap();
    // The first look comes at once, after the run, or after the four hours of the job.
    for (events, hours) in [(1, 8), (1000, 2), (1000, 8)] {
        let goal = Goal::StartsBy { job: job.clone(), by: Timestamp(60_000 + HOUR) };
        let horizon = Horizon::Until(Timestamp(60_000 + hours * HOUR));
        let family = Family::Priority { job: job.clone() };
        let mut search = Search::new(&base, &Variant::default(), horizon, goal, family).unwrap();
        while search.found().is_none() {
            search.advance(events);
        }
        assert_eq!(search.found(), Some(&Found::Already), "{events} events, {hours} hours");
    }
}

#[test]
fn no_wait_over_a_time_for_a_team() {
    let base = base();
    let goal =
        |hours: i64| Goal::WaitsAtMost { quota: QuotaId::new("Quota1.2").unwrap(), at_most: Millis(hours * HOUR) };
    let found = |goal: Goal, changes: Vec<Change>| {
        let family = Family::Priority { job: JobId::new("c-runs").unwrap() };
        let variant = Variant { name: String::new(), changes };
        let horizon = Horizon::Until(Timestamp(60_000 + 8 * HOUR));
        let mut search = Search::new(&base, &variant, horizon, goal, family).unwrap();
        while search.found().is_none() {
            search.advance(1000);
        }
        search.found().unwrap().clone()
    };
    assert_eq!(found(goal(1), Vec::new()), Found::Already);
    let nothing = found(goal(1), vec![change(0, MOVE)]);
    let Found::Nothing { tried: 8, refused: None, reach: Reach::Waits { longest, late, .. }, .. } = nothing else {
        panic!("{nothing:?}")
    };
    assert!((HOUR + 1..=2 * HOUR).contains(&longest.0), "{longest:?}");
    assert_eq!(late.0, longest.0 - HOUR);
    assert_eq!(found(goal(2), vec![change(0, MOVE)]), Found::Already);
}

/// In a plan nobody reports: what others have been told to give up is free when their time is over.
#[test]
fn pods_that_were_told_to_leave_have_left_when_their_time_is_over() {
    let mut state = State::default();
    for text in [
        r#"{"create_cluster":{"dimensions":[{"name":"gpu","kind":"gpu"}],"execution":"reported"}}"#,
        r#"{"put_group":{"group":"rack","resource_type":"lingjun"}}"#,
        r#"{"put_node":{"node":"n1","group":"rack","amount":{"gpu":4000},"status":"ready"}}"#,
        r#"{"create_quota":{"quota":"all","groups":["rack"],"min":{"gpu":4000},"settings":{"grace_period_ms":90000,
            "self_level":{"high":[9],"low":[1],"modules":["EAS"]}}}}"#,
        r#"{"submit_job":{"job":"service","quota":"all","module":"EAS","min_pods":1,
            "pods":[{"count":4,"amount":{"gpu":1000}}]}}"#,
        r#"{"submit_job":{"job":"urgent","quota":"all","priority":9,"pods":[{"amount":{"gpu":2000}}]}}"#,
    ] {
        authority::step(&mut state, &command(text), Timestamp(60_000)).unwrap();
    }
    let base = Base::new(state, Timestamp(60_000), Vec::new()).unwrap();
    let outcome = Outcome::of(&run(&base, Vec::new()));
    assert_eq!((outcome.all.waiting, outcome.all.waited), (0, Millis(90_000)));
}
