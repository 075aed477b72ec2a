//! How far figures go by chance, and what is said of two runs then.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

use std::fmt::Write;
use std::fs;
use std::path::Path;

use engine::host::plan::base::Base;
use engine::message::command::Command;
use planner::acts;
use planner::noise;
use planner::page::import;
use planner::page::message::Ask;
use planner::page::message::LookAhead;
use planner::page::message::Source;
use planner::page::message::Tell;
use planner::page::range::Range;
use planner::page::range::Verdict;
use planner::page::session::Session;

const QUOTAS: &str = "group,parent,gpus\nroot,,16\na,root,8\nb,root,8\n";

/// Jobs that wait for each other, each for seconds longer or shorter as those before it end.
fn jobs() -> String {
    let mut text = "job_id,submit_s,duration_s,gpus,group\n".to_owned();
    for job in 0..40 {
        let _ = writeln!(text, "j{job},{},97.919,8,a", job * 60);
    }
    text
}

fn files() -> Vec<(String, Vec<u8>)> {
    vec![("jobs.csv".to_owned(), jobs().into_bytes()), ("quotas.csv".to_owned(), QUOTAS.as_bytes().to_vec())]
}

fn base() -> Base {
    import::tables(&files()).unwrap().base
}

fn measured() -> Session {
    let mut session = Session::default();
    for (name, bytes) in files() {
        session.attach(name, bytes);
    }
    session.ask(Ask::Open { plan: 1, source: Source::Files, look: LookAhead::Usual });
    session
}

/// What is told until nothing is left.
fn told(session: &mut Session) -> Vec<Tell> {
    let mut told = Vec::new();
    while session.is_busy() {
        told.extend(session.work(1_000));
    }
    told
}

/// The range of how long 95 of 100 wait.
fn waits(told: &[Tell], wanted: Option<u32>) -> Range {
    let of = |tell: &Tell| {
        let Tell::Ranges { variant, ranges, .. } = tell else { return None };
        (*variant == wanted).then(|| ranges[1].clone())
    };
    told.iter().find_map(of).unwrap()
}

#[test]
fn the_first_result_stands_at_once_and_ranges_follow() {
    let mut session = measured();
    for (variant, lines) in [(0, "scale a=16 b=0"), (1, "scale a=8 b=8")] {
        let changes = acts::changes(lines, &base()).unwrap();
        session.ask(Ask::Run { plan: 1, variant, ticket: 7, changes });
    }
    let told = told(&mut session);
    let kinds: Vec<&str> = told
        .iter()
        .map(|tell| {
            let is_of_these = matches!(tell, Tell::Ranges { ticket: 0 | 7, .. });
            assert!(is_of_these || matches!(tell, Tell::Ran { .. }), "{tell:?}");
            if is_of_these { "ranges" } else { "ran" }
        })
        .collect();
    assert_eq!(kinds, ["ran", "ran", "ran", "ranges", "ranges", "ranges"]);
    assert_eq!(waits(&told, Some(0)).verdict, Verdict::Better);
    assert_eq!(waits(&told, None).verdict, Verdict::Same, "the base is what others are compared with");
    // It changes nothing, so nobody can tell.
    assert_eq!(waits(&told, Some(1)).verdict, Verdict::Unclear);
    // A second more a job is a minute for the last of them.
    assert_eq!(waits(&told, None).text(), "23 min (23 min to 24 min)");
}

#[test]
fn ranges_are_the_same_wherever_they_are_looked_at() {
    let run = || {
        let mut session = measured();
        session.ask(Ask::Run {
            plan: 1,
            variant: 0,
            ticket: 0,
            changes: acts::changes("scale a=12 b=4", &base()).unwrap(),
        });
        told(&mut session)
    };
    assert_eq!(run(), run());
}

#[test]
fn a_jittered_base_differs_in_durations_alone() {
    let base = base();
    let durations = |base: &Base| -> Vec<i64> {
        let duration = |command: &Command| {
            let Command::SubmitJob(job) = command else { panic!("{command:?}") };
            job.duration_ms.unwrap().0
        };
        base.ahead.iter().map(|(_, command)| duration(command)).collect()
    };
    let (first, again, other) = (noise::jittered(&base, 1), noise::jittered(&base, 1), noise::jittered(&base, 2));
    assert_eq!(durations(&first), durations(&again));
    assert_ne!(durations(&first), durations(&other));
    for (was, is) in durations(&base).iter().zip(durations(&first)) {
        assert!((0..=noise::JITTER.0).contains(&(is - was)), "{was} {is}");
    }
    let rest = |base: &Base| -> Vec<_> {
        let mut ahead = base.ahead.to_vec();
        for (_, command) in &mut ahead {
            let Command::SubmitJob(job) = command else { panic!("{command:?}") };
            job.duration_ms = None;
        }
        ahead
    };
    assert_eq!(rest(&base), rest(&first));
}

#[test]
fn jobs_that_run_already_take_longer_too() {
    let mut session = measured();
    session.ask(Ask::Run { plan: 1, variant: 0, ticket: 0, changes: Vec::new() });
    let mut run = engine::host::plan::run::Run::new(
        &base(),
        &engine::message::plan::Variant::default(),
        engine::host::plan::run::Horizon::Until(base().from + engine::unit::time::Millis(150_000)),
    );
    run.finish();
    let now = Base::new(run.state().clone(), run.now(), Vec::new()).unwrap();
    let ends =
        |base: &Base| base.state.jobs.iter().map(|(_, job)| job.spec.duration.map(|it| it.get().0)).collect::<Vec<_>>();
    assert_ne!(ends(&now), ends(&noise::jittered(&now, 3)));
}

#[test]
fn what_was_written_has_no_chance() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../public/workbench/plans");
    for name in ["move-gpus", "child-level", "idle"] {
        let mut session = Session::default();
        session.attach(name.to_owned(), fs::read(folder.join(format!("{name}.json"))).unwrap());
        let opened = session.ask(Ask::Open { plan: 1, source: Source::Example, look: LookAhead::Usual });
        let [Tell::Opened { variants, .. }] = opened.as_slice() else { panic!("{opened:?}") };
        // It begins with the change that it is named after, and that changes something.
        let [variant] = variants.as_slice() else { panic!("{name} has {} variants", variants.len()) };
        let began = session.ask(Ask::Run { plan: 1, variant: 0, ticket: 0, changes: variant.changes.clone() });
        let [Tell::Began { lines, refused, .. }] = began.as_slice() else { panic!("{began:?}") };
        assert!(!lines.is_empty() && refused.is_empty(), "{name}: {lines:?} {refused:?}");
        for tell in told(&mut session) {
            let Tell::Ran { ended, .. } = tell else { panic!("{name}: {tell:?}") };
            if let Some(fortunes) = ended.fortunes {
                assert_ne!(fortunes, (0, 0), "{name}");
            }
        }
    }
}

#[test]
fn a_link_says_that_a_plan_was_measured() {
    let mut session = measured();
    let linked = session.ask(Ask::Link { plan: 1, variants: Vec::new() });
    let [Tell::Linked { link: Some(link), .. }] = linked.as_slice() else { panic!("{linked:?}") };
    let mut other = Session::default();
    other.ask(Ask::Open { plan: 1, source: Source::Link(link.clone()), look: LookAhead::Usual });
    other.ask(Ask::Run { plan: 1, variant: 0, ticket: 0, changes: Vec::new() });
    assert!(told(&mut other).iter().any(|tell| matches!(tell, Tell::Ranges { .. })));
}
