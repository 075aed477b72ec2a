//! Kept answers: what waiting jobs were told before hides nothing (rules 3.8). Whenever nothing is left for the next
//! scheduled round, a round that judges everybody anew decides nothing.

use std::cell::Cell;
use std::fmt::Write;

use engine::host::authority;
use engine::message::command::Command;
use engine::message::command::Round;
use engine::schedule::decision::Decision;
use engine::schedule::round;
use engine::schedule::round::Reach;
use engine::state::jobs::Job;
use engine::state::world::State;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;

use crate::history::seeds;
use crate::random::Random;
use crate::run::Run;
use crate::run::note;

const RUNS: u64 = 400;
const COMMANDS: usize = 90;

/// What a round of everybody would do to anybody, without knowing what they were told before; why the others wait may
/// be told in other words.
fn hidden(state: &State, now: Timestamp) -> Vec<Decision> {
    let mut state = state.clone();
    state.rebuild();
    state.settle();
    let mut decisions = round::round(&state, now, Reach::Everybody);
    decisions.retain(|decision| match decision {
        Decision::Serve { .. } | Decision::Grow { .. } | Decision::Release { .. } => true,
        Decision::Price { .. } | Decision::Wait { .. } | Decision::Hold { .. } => false,
    });
    decisions
}

/// Whether a reservation has passed on since the last scheduled round: somebody of a higher priority than its holder has
/// waited too long as well. That comes with time, and the next scheduled round sees it.
fn has_passed_on(state: &State, now: Timestamp) -> bool {
    let seen = Timestamp(state.last_slot.unwrap_or(0) * 60_000);
    let queued = || state.jobs.iter().map(|(_, job)| job).filter(|job| job.is_queued() && !job.bids());
    let until = |job: &Job| job.waiting_since + state.quotas[job.spec.quota.at()].settings.starvation_after;
    queued().any(|job| {
        let precedes = |other: &Job| other.spec.quota == job.spec.quota && other.spec.priority < job.spec.priority;
        until(job) >= seen && until(job) < now && queued().any(|other| precedes(other) && until(other) < until(job))
    })
}

/// What was hidden, and why those who could start were told that they wait.
fn told(state: &State, hidden: &[Decision]) -> String {
    let mut text = String::new();
    for decision in hidden {
        let _ = writeln!(text, "{decision:?}");
        if let Decision::Serve { job, .. } = decision {
            let job = &state.jobs[*job];
            let hold = job.class.and_then(|class| state.queue.classes[class.at()].hold.as_ref());
            let _ = writeln!(text, "{:?} since {}: {hold:?}", job.spec, job.waiting_since.0);
        }
    }
    text
}

#[test]
fn kept_answers_hide_nobody_who_could_start() {
    let (mut n_looks, mut n_waits, n_passed_on) = (0, 0, Cell::new(0));
    for seed in seeds(RUNS) {
        let mut random = Random::new(seed ^ 0x6e97);
        let mut run = if seed % 5 == 0 { Run::on_market(seed) } else { Run::new(seed) };
        let setup = run.layout.setup.len();
        for at in 0..setup + COMMANDS {
            let (now, command, outcome) = run.step();
            let look = |state: &State, now: Timestamp, is_between: bool| {
                let is_anybody_waiting = !state.queue.quotas.is_empty() || !state.growing.is_empty();
                if state.queue.is_stale || !is_anybody_waiting {
                    return false;
                }
                let hidden = hidden(state, now);
                if is_between && !hidden.is_empty() && has_passed_on(state, now) {
                    n_passed_on.set(n_passed_on.get() + 1);
                    return true;
                }
                let what = if is_between { "between two scheduled rounds" } else { "after a scheduled round" };
                assert!(hidden.is_empty(), "{what} at {}: {}\n{}", now.0, told(state, &hidden), note(&run, &command));
                true
            };
            // After a refused command the state is as it was at the time before.
            n_looks += i32::from(outcome.is_ok() && look(&run.state, now, true));
            if at < setup || at % 4 != 0 {
                continue;
            }
            // Rounds that follow keep answers over time.
            let (mut state, mut now) = (run.state.clone(), now);
            for wait in [0, 60_000, 60_000, 3_600_000, 60_000] {
                now = now + Millis(wait + random.pick(&[0, 0, 1, 15_000]));
                let minute = now.0 / 60_000;
                let slot = state.last_slot.is_none_or(|last| last < minute).then_some(minute);
                authority::step(&mut state, &Command::Round(Round { slot }), now).unwrap();
                n_waits += i32::from(look(&state, now, slot.is_none()));
            }
        }
    }
    println!(
        "{n_looks} looks after commands, {n_waits} after rounds; {} reservations have passed on",
        n_passed_on.get()
    );
    assert!(n_looks + n_waits > 0);
}
