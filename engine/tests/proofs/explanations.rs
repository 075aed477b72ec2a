//! Explanations are true: what would help does help, and what is said to be missing is all that is missing there.

use engine::explain;
use engine::job::hold::Blocker;
use engine::job::phase::Source;
use engine::job::spec::IdlePolicy;
use engine::ledger::check;
use engine::schedule::source;
use engine::schedule::trial::Trial;
use engine::state::world::State;
use engine::unit::id::JobNo;
use engine::unit::id::QuotaId;

use crate::history::are_few;
use crate::history::seeds;
use crate::run::Run;
use crate::tips::Act;
use crate::tips::starts;

/// Each waiting job at some points of a random run.
fn each_waiting(cases: u64, mut check: impl FnMut(&Run, JobNo)) {
    for seed in seeds(cases) {
        let mut run = Run::after(seed, Run::new(seed).layout.setup.len() + 25);
        for _ in 0..3 {
            let waiting: Vec<JobNo> =
                run.state.jobs.iter().filter(|(_, job)| job.is_queued()).map(|(no, _)| no).collect();
            for no in waiting.into_iter().take(4) {
                check(&run, no);
            }
            for _ in 0..12 {
                let _ = run.step();
            }
        }
    }
}

#[test]
fn what_would_help_does_start_the_job() {
    let (mut n_explained, mut n_helped) = (0, 0);
    each_waiting(1_000, |run, no| {
        let why = explain::why(&run.state, no, run.now).unwrap_or_else(|| panic!("seed {}: no reason", run.seed));
        assert!(!why.binding.is_empty(), "seed {}: {why:?}", run.seed);
        n_explained += 1;
        let Some(command) = why.help.as_ref().and_then(|help| help.command.as_ref()) else { return };
        n_helped += 1;
        // By the next round: what the round at once leaves over is for the scheduled one.
        let is_started = starts(&run.state, no, &Act::Send(Box::new(command.clone())), run.now);
        assert_eq!(is_started, Ok(true), "seed {}: after {command:?}", run.seed);
    });
    assert!(are_few() || n_explained > 1_000 && n_helped > 100, "only {n_helped} of {n_explained}");
}

#[test]
fn what_a_full_quota_lacks_is_all_that_it_lacks() {
    let mut n_raised = 0;
    each_waiting(1_000, |run, no| {
        let spec = &run.state.jobs[no].spec;
        if spec.idle == IdlePolicy::Only || spec.spot.is_some() {
            return;
        }
        let mut state = run.state.clone();
        let mut last: Option<(QuotaId, u8)> = None;
        // One quota after the other, and one dimension after the other: none is named twice.
        for _ in 0..40 {
            let offer = source::assign(Source::Own, &Trial::new(&state, run.now), spec);
            let Err(Blocker::QuotaFull { quota, dimension, asked, free, .. }) = offer else {
                assert!(matches!(offer, Ok(_) | Err(Blocker::NoRoom { .. })), "seed {}: {offer:?}", run.seed);
                return;
            };
            assert!(asked > free, "seed {}: {asked} of {free}", run.seed);
            assert_ne!(last, Some((quota.clone(), dimension)), "seed {}: job {}", run.seed, spec.id);
            n_raised += 1;
            raise(&mut state, &quota, usize::from(dimension), asked - free);
            last = Some((quota, dimension));
        }
        panic!("seed {}: job {} never fits", run.seed, spec.id);
    });
    assert!(are_few() || n_raised > 1_000, "only {n_raised} quotas were raised");
}

/// Gives a quota more, and everybody above it as much.
fn raise(state: &mut State, quota: &QuotaId, dimension: usize, missing: i64) {
    let mut next = state.quota_no(quota);
    while let Some(no) = next {
        state.quotas[no.at()].min.amount[dimension] += missing;
        next = state.quotas[no.at()].parent;
    }
    state.rebuild();
    assert_eq!(check::difference(state), None);
}
