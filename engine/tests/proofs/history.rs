//! Histories that were recorded, so that one which fails can be made shorter and printed.

use std::fmt::Write;

use engine::host::authority;
use engine::message::command::Command;
use engine::state::world::State;
use engine::unit::id::JobId;
use engine::unit::id::JobNo;
use engine::unit::time::Timestamp;

use crate::run::Run;

/// Which histories a proof goes through: `TIDEGATE_COUNT` of them from `TIDEGATE_FROM` on, or so many from the first.
pub(crate) fn seeds(count: u64) -> std::ops::Range<u64> {
    let from = number("TIDEGATE_FROM").unwrap_or(0);
    from..from + number("TIDEGATE_COUNT").unwrap_or(count)
}

/// Whether somebody has chosen how many histories there are: perhaps too few for everything to come up in them.
pub(crate) fn are_few() -> bool {
    number("TIDEGATE_COUNT").is_some()
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap())
}

/// Commands with the times at which they were sent.
#[derive(Clone, Debug, Default)]
pub(crate) struct History(Vec<(Timestamp, Command)>);

impl History {
    pub(crate) fn push(&mut self, at: Timestamp, command: Command) {
        self.0.push((at, command));
    }

    pub(crate) fn replay(&self) -> State {
        let mut state = State::default();
        for (at, command) in &self.0 {
            let _ = authority::step(&mut state, command, *at);
        }
        state
    }

    /// The history without whatever it fails without.
    pub(crate) fn shrunk(mut self, fails: impl Fn(&State) -> bool) -> Self {
        let mut length = self.0.len().div_ceil(2);
        while length > 0 {
            let mut at = 0;
            while at < self.0.len() {
                let mut shorter = self.clone();
                shorter.0.drain(at..(at + length).min(self.0.len()));
                if fails(&shorter.replay()) {
                    self = shorter;
                } else {
                    at += length;
                }
            }
            length = if length == 1 { 0 } else { length.div_ceil(2) };
        }
        self
    }

    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for (at, command) in &self.0 {
            let _ = writeln!(text, "{:>9} {}", at.0, serde_json::to_string(command).unwrap());
        }
        text
    }
}

/// Looks at waiting jobs at some points of a random run; what a look complains about is shrunk and printed.
pub(crate) fn each_waiting(
    seed: u64,
    is_trading: bool,
    commands: usize,
    mut look: impl FnMut(&State, JobNo, Timestamp) -> Result<(), String>,
) {
    let mut run = if is_trading { Run::on_market(seed) } else { Run::new(seed) };
    let mut history = History::default();
    let setup = run.layout.setup.len();
    for at in 0..setup + commands {
        let (now, command) = run.next();
        history.push(now, command.clone());
        let _ = authority::step(&mut run.state, &command, now);
        if at < setup + 15 || at % 7 != 0 {
            continue;
        }
        let waiting: Vec<JobNo> = run.state.jobs.iter().filter(|(_, job)| job.is_queued()).map(|(no, _)| no).collect();
        for no in waiting.into_iter().rev().take(3) {
            if let Err(complaint) = look(&run.state, no, run.now) {
                let id = run.state.jobs[no].spec.id.clone();
                fail(history, seed, &id, now, &complaint, look);
            }
        }
    }
}

fn fail(
    history: History,
    seed: u64,
    id: &JobId,
    now: Timestamp,
    complaint: &str,
    look: impl FnMut(&State, JobNo, Timestamp) -> Result<(), String>,
) -> ! {
    let look = std::cell::RefCell::new(look);
    let complaint_of = |state: &State| {
        let no = state.jobs.find(id).filter(|no| state.jobs[*no].is_queued())?;
        (look.borrow_mut())(state, no, now).err()
    };
    let shrunk = history.shrunk(|state| complaint_of(state).is_some());
    let last = complaint_of(&shrunk.replay()).unwrap_or_default();
    panic!("seed {seed}, {id} at {}: {complaint}\nshrunk: {last}\n{}", now.0, shrunk.text());
}
