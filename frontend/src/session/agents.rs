//! What the service tells of agents: that one was heard is no entry of the log, so it is asked for again and again.

use leptos::prelude::*;

use crate::api::client;
use crate::api::failure::Failure;
use crate::session::Session;
use crate::session::latest::latest;
use console_model::agents::Agent;

/// How often.
const AGENTS_MS: i64 = 15_000;

/// What has been told of them; nothing yet, or that they cannot be had.
pub(crate) type Agents = RwSignal<Option<Result<Vec<Agent>, Failure>>>;

impl Session {
    /// The agents, kept up to date; of jobs that are simulated there are none.
    pub(crate) fn agents(self) -> Agents {
        let turn = Memo::new(move |_| self.now.get().0 / AGENTS_MS);
        let is_reported = self.is_reported();
        latest(move || {
            turn.get();
            is_reported.get().then_some(async move { client::agents(&self.name()).await })
        })
    }

    /// Whether jobs really run.
    pub(crate) fn is_reported(self) -> Memo<bool> {
        Memo::new(move |_| self.ask(|state| state.cluster.is_reported()).unwrap_or_default())
    }
}
