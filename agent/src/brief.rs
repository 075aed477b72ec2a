//! Runs of which nothing is said but that they go on: most runs of most exchanges.

use crate::message::RunReport;
use crate::message::RunState;
use crate::run::RunId;

impl RunReport {
    /// What is said of a run that only goes on.
    #[must_use]
    pub fn of_living(run: RunId) -> Self {
        Self {
            run,
            job: String::new(),
            state: RunState::Running,
            told: false,
            since_ms: 0,
            log_bytes: 0,
            checkpoint_ms: None,
            pods: 1,
            places: Vec::new(),
            gone: Vec::new(),
        }
    }
}
