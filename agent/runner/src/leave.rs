//! An agent leaves its machine: everything that runs here is stopped first, with its checkpoint.

use std::io;
use std::time::Duration;

use agent::act::Act;
use agent::agent::Agent;

use crate::clock;
use crate::verbs::Runner;

/// How long what runs may take to end by itself.
const GRACE_MS: u64 = 10_000;
/// How long is waited for what has been killed.
const KILLED_MS: u64 = 20_000;
/// How long we sleep at most: of the end of what nobody watches over nothing tells us.
const LOOK: Duration = Duration::from_millis(200);

/// Ends everything that runs here; the next agent tells the service. How many runs could not be ended.
pub fn leave(runner: &mut impl Runner) -> io::Result<usize> {
    let kill_at = clock::now().saturating_add(GRACE_MS);
    loop {
        let listing = runner.list()?;
        let living = listing.runs.values().filter(|seen| seen.phase.is_live()).count();
        let acts = Agent::leave(&listing, kill_at);
        let is_over = clock::now() >= kill_at.saturating_add(KILLED_MS);
        if is_over || (living == 0 && acts.is_empty()) {
            return Ok(living);
        }
        for act in acts {
            // What fails is tried again at the next look.
            if let Act::Stop(run, stop) = &act
                && let Err(error) = runner.stop(*run, stop)
            {
                eprintln!("{act:?}: {error}");
            }
        }
        runner.wait(LOOK);
    }
}
