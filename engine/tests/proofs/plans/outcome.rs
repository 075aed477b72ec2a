//! What is told of a plan adds up, however it was run.

use engine::host::plan::difference::Difference;
use engine::host::plan::difference::Verdict;
use engine::host::plan::outcome::Outcome;
use engine::host::plan::record::Record;
use engine::host::plan::run::Horizon;
use engine::host::plan::run::Run as Plan;
use engine::message::event::Event;
use engine::message::plan::Variant;
use engine::unit::time::Millis;

use crate::history::seeds;

use super::CASES;
use super::Case;
use super::case;

#[test]
fn what_is_told_of_a_plan_adds_up() {
    for seed in seeds(CASES) {
        let Case { base, variant, until } = case(seed);
        let mut plan = Plan::new(&base, &variant, Horizon::Until(until));
        let (mut evictions, mut lost, mut saved, mut n_events, mut n_steps) = (0, 0, 0, 0, 0);
        while let Some(step) = plan.step() {
            n_steps += 1;
            for event in step.answer.into_iter().flatten() {
                n_events += 1;
                if let Event::Evicted { lost_gpu_ms, saved_gpu_ms, .. } = event {
                    evictions += 1;
                    lost += lost_gpu_ms;
                    saved += saved_gpu_ms;
                }
            }
        }
        let outcome = Outcome::of(&plan);
        let all = outcome.all;
        assert_eq!((all.evictions, all.lost_gpu_ms, all.saved_gpu_ms), (evictions, lost, saved), "seed {seed}");
        assert_eq!(outcome.events, n_events, "seed {seed}");
        // What there is is added up step by step, and each takes less than one by rounding.
        assert!(all.used_gpu_ms <= outcome.offered_gpu_ms + n_steps, "seed {seed}: {outcome:?}");
        let queued = plan.state().jobs.iter().filter(|(_, job)| job.is_queued()).count() as u64;
        let starting = plan.tally.records.iter().filter(|record| record.waits_since.is_some()).count() as u64 - queued;
        assert_eq!(all.waiting, queued + starting, "seed {seed}");
        // The timeline and the courses hold the same work as the accounts, but for what rounding takes.
        let spans =
            plan.tally.spans.iter().map(|span| Record::work(span.holding.gpus, span.until - span.holding.since));
        assert_eq!(spans.sum::<i64>(), all.used_gpu_ms, "seed {seed}");
        let work = |courses: &[i64]| {
            let end = (outcome.until - outcome.from).0;
            let length = |at: i64| outcome.interval.0.min(end - at * outcome.interval.0);
            (0..).zip(courses).map(|(at, gpus)| Record::work(*gpus, Millis(length(at)))).sum::<i64>()
        };
        let (used, waited) = outcome
            .courses
            .iter()
            .fold((0, 0), |(used, waited), course| (used + work(&course.used), waited + work(&course.waited)));
        let rounding =
            i64::try_from(outcome.courses.len() * 256 + plan.tally.records.len()).unwrap() * outcome.interval.0 / 1000;
        assert!((used - all.used_gpu_ms).abs() <= rounding, "seed {seed}: {used} {}", all.used_gpu_ms);
        assert!((waited - all.waited_gpu_ms).abs() <= rounding, "seed {seed}: {waited} {}", all.waited_gpu_ms);
    }
}

#[test]
fn nothing_changes_by_not_changing_anything() {
    for seed in seeds(100) {
        let Case { base, mut variant, until } = case(seed);
        variant.changes.iter_mut().for_each(|change| change.is_off = true);
        let run = |variant: &Variant| {
            let mut plan = Plan::new(&base, variant, Horizon::Until(until));
            plan.finish();
            plan
        };
        let difference = Difference::of(&run(&Variant::default()), &run(&variant), 10);
        assert_eq!((difference.changed, difference.winners, difference.losers), (0, 0, 0), "seed {seed}");
        assert!(difference.parties.iter().all(|party| party.verdict == Verdict::Same), "seed {seed}");
    }
}

#[test]
fn steps_can_be_taken_in_any_portions() {
    for seed in seeds(100) {
        let Case { base, variant, until } = case(seed);
        let mut whole = Plan::new(&base, &variant, Horizon::Until(until));
        whole.finish();
        let mut portions = Plan::new(&base, &variant, Horizon::Until(until));
        let mut done = 0;
        while !portions.is_over() {
            portions.advance(7);
            assert!(portions.done() >= done, "seed {seed}");
            done = portions.done();
        }
        assert_eq!((portions.done(), Outcome::of(&portions)), (1000, Outcome::of(&whole)), "seed {seed}");
    }
}
