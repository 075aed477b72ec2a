//! Replay, determinism, restoring, planning: the state is the fold of its events, and nothing else.

use engine::host::authority;
use engine::host::planner;
use engine::message::command::Command;
use engine::message::snapshot::Snapshot;
use engine::state::world::State;
use engine::transition;

use crate::history::seeds;
use crate::random::Random;
use crate::run::Run;
use crate::run::note;

const CASES: u64 = 1_000;
const COMMANDS: usize = 90;

fn bytes(state: &State) -> String {
    String::from_utf8(Snapshot::of(state).to_bytes()).unwrap()
}

#[test]
fn events_applied_to_nothing_give_the_same_state() {
    for seed in seeds(CASES) {
        let mut run = Run::new(seed);
        let mut replayed = State::default();
        for _ in 0..COMMANDS {
            let (_, _, outcome) = run.step();
            for event in outcome.into_iter().flatten() {
                // The events themselves go through their stored form.
                let stored = serde_json::to_vec(&event).unwrap();
                transition::apply(&mut replayed, &serde_json::from_slice(&stored).unwrap());
            }
        }
        assert_eq!(bytes(&replayed), bytes(&run.state), "seed {seed}");
        // Whoever replays has to say that all of it was judged; then nothing differs any more.
        replayed.settle();
        for _ in 0..10 {
            let (now, command, outcome) = run.step();
            assert_eq!(authority::step(&mut replayed, &command, now), outcome, "{}", note(&run, &command));
        }
    }
}

#[test]
fn deciding_twice_gives_the_same_events() {
    for seed in seeds(CASES) {
        let mut run = Run::new(seed);
        for _ in 0..COMMANDS {
            let (now, command) = run.next();
            let first = transition::decide(&run.state, &command, now);
            assert_eq!(first, transition::decide(&run.state.clone(), &command, now), "{}", note(&run, &command));
            let _ = authority::step(&mut run.state, &command, now);
        }
    }
}

#[test]
fn a_restored_state_goes_on_as_the_one_that_lived() {
    for seed in seeds(CASES) {
        let mut random = Random::new(seed ^ 0xabcd);
        let setup = Run::new(seed).layout.setup.len();
        let mut run = Run::after(seed, setup + random.index(COMMANDS));
        let mut restored = Snapshot::of(&run.state).restore().unwrap();
        for _ in 0..60 {
            let (now, command, outcome) = run.step();
            assert_eq!(authority::step(&mut restored, &command, now), outcome, "{}", note(&run, &command));
        }
        assert_eq!(bytes(&restored), bytes(&run.state), "seed {seed}");
    }
}

#[test]
fn a_snapshot_survives_its_stored_form() {
    for seed in seeds(CASES) {
        let run = Run::after(seed, COMMANDS);
        let stored = bytes(&run.state);
        let read: Snapshot = serde_json::from_str(&stored).unwrap();
        assert_eq!(bytes(&read.restore().unwrap()), stored, "seed {seed}");
    }
}

#[test]
fn a_preview_is_what_the_authority_does() {
    for seed in seeds(CASES) {
        let mut run = Run::new(seed);
        for _ in 0..COMMANDS {
            let (now, command) = run.next();
            let before = run.state.clone();
            let preview = planner::preview(&run.state, &command, now);
            assert!(before == run.state, "{}", note(&run, &command));
            let outcome = authority::step(&mut run.state, &command, now);
            match (preview, outcome) {
                (Ok(preview), Ok(events)) => {
                    assert_eq!(preview.events, events, "{}", note(&run, &command));
                    assert!(preview.after == run.state, "{}", note(&run, &command));
                }
                (preview, outcome) => assert_eq!(preview.err(), outcome.err(), "{}", note(&run, &command)),
            }
        }
    }
}

#[test]
fn what_is_sent_again_at_once_changes_nothing() {
    for seed in seeds(CASES) {
        let mut run = Run::new(seed);
        for _ in 0..COMMANDS {
            let (now, command, outcome) = run.step();
            // A report that is sent again is about a job that has gone on, a round without a slot is a new one, and
            // what was deleted is not there any more.
            let is_repeatable = !matches!(
                command,
                Command::Report(_)
                    | Command::Round(_)
                    | Command::DeleteNode(_)
                    | Command::DeleteQuota(_)
                    | Command::DeleteOffer(_)
                    | Command::DeleteWorkspace(_)
                    | Command::RemoveMember(_)
                    | Command::RotateKey(_)
            );
            // A job may have lost its amounts by its new priority, and ended.
            let has_ended = if let Command::SetPriority(set) = &command {
                run.state.jobs.find(&set.job).is_some_and(|no| run.state.jobs[no].is_ended())
            } else {
                false
            };
            // What started without any work left has ended as well, which comes first.
            let is_quiet = transition::elapse(&run.state, now).is_empty();
            if outcome.is_ok() && is_repeatable && is_quiet && !has_ended {
                let again = authority::step(&mut run.state, &command, now);
                assert_eq!(again, Ok(Vec::new()), "{}", note(&run, &command));
            }
        }
    }
}
