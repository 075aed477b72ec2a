//! Runs of which nothing is said but that they go on: most runs of most exchanges.

use std::borrow::Cow;

use crate::message::RunReport;
use crate::message::RunState;
use crate::message::SyncRequest;
use crate::run::RunId;

impl SyncRequest {
    /// The same, with a report of each run.
    #[must_use]
    pub fn in_full(&self) -> Cow<'_, Self> {
        if self.lives.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut full = self.clone();
        full.runs.extend(std::mem::take(&mut full.lives).into_iter().map(RunReport::of_living));
        Cow::Owned(full)
    }
}

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
