//! Rounds without memory: what waiting jobs were told before saves work and decides nothing (rules 3.2, 3.4). Somebody
//! who forgets all of it before a command starts and evicts the same jobs in the same order; what a round at once leaves
//! over it may leave to the next scheduled round, which asks everybody.

use engine::host::authority;
use engine::message::command::Command;
use engine::message::event::Event;
use engine::message::rejection::Rejection;
use engine::quota::settings::QueueStrategy;
use engine::state::world::State;
use engine::unit::time::Timestamp;

use crate::history::History;
use crate::history::seeds;
use crate::run::Run;

const RUNS: u64 = 400;
const COMMANDS: usize = 90;

type Outcome = Result<Vec<Event>, Rejection>;

/// What a command comes to: what happens to jobs, and whether the next scheduled round asks everybody.
fn outcome(mut state: State, command: &Command, now: Timestamp) -> (Outcome, bool) {
    let mut outcome = authority::step(&mut state, command, now);
    // Why the others wait may be told in other words.
    let _ = outcome.as_mut().map(|events| events.retain(|event| !matches!(event, Event::Held { .. })));
    (outcome, state.is_stale(now))
}

/// With what waiting jobs were told before, and without.
fn both(state: &State, command: &Command, now: Timestamp) -> ((Outcome, bool), (Outcome, bool)) {
    let mut forgetful = state.clone();
    forgetful.rebuild();
    // The market has its own times.
    forgetful.market = state.market.clone();
    (outcome(state.clone(), command, now), outcome(forgetful, command, now))
}

/// Whether somebody gets what it would not get without memory, or nobody comes back to what it would get.
fn is_wrong(state: &State, command: &Command, now: Timestamp) -> bool {
    let ((kept, is_left_over), (anew, _)) = both(state, command, now);
    match (&kept, &anew) {
        (Ok(kept), Ok(anew)) => {
            let mut all = anew.iter();
            kept != anew && !(is_left_over && kept.iter().all(|event| all.any(|other| other == event)))
        }
        (Ok(_) | Err(_), _) => kept != anew,
    }
}

/// A queue by time stands where its first job stands, unless that is known to start never: this is learned by asking.
fn goes_by_time(state: &State) -> bool {
    let mut strategies = state.live_quotas().map(|(_, quota)| quota.settings.strategy);
    strategies.any(|strategy| strategy == QueueStrategy::RoundRobin)
}

#[test]
fn rounds_without_memory_decide_the_same() {
    let (mut n, mut n_excused, mut n_started) = (0, 0, 0);
    for seed in seeds(RUNS) {
        let mut run = Run::new(seed);
        let mut history = History::default();
        for _ in 0..run.layout.setup.len() + COMMANDS {
            let (now, command) = run.next();
            let fails = |state: &State| !goes_by_time(state) && is_wrong(state, &command, now);
            n += 1;
            n_excused += i32::from(goes_by_time(&run.state));
            if fails(&run.state) {
                let history = history.shrunk(fails);
                let ((kept, _), (anew, _)) = both(&history.replay(), &command, now);
                panic!(
                    "seed {seed}\n{}{} {command:?}\nwith memory {kept:#?}\nwithout {anew:#?}",
                    history.text(),
                    now.0
                );
            }
            let events = authority::step(&mut run.state, &command, now).unwrap_or_default();
            n_started += events.iter().filter(|event| matches!(event, Event::Started { .. })).count();
            history.push(now, command);
        }
    }
    println!("{n} commands, {n_excused} of them excused; {n_started} starts");
    assert!(n_started > 0);
}
