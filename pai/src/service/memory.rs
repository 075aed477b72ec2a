//! A cluster in memory, for whoever keeps nothing: tests and measurements.

use std::collections::BTreeMap;

use engine::host::authority;
use engine::message::envelope::Envelope;
use engine::message::envelope::Receipt;
use engine::state::world::State;
use engine::transition::Sender;
use engine::transition::authorise;
use engine::unit::id::JobId;
use engine::unit::time::Timestamp;
use serde_json::Value;

use crate::problem::Problem;
use crate::service::backend::Backend;
use crate::service::backend::Printed;
use crate::service::document::Change;

/// The cluster with its documents, and the time.
#[derive(Default)]
pub struct MemoryBackend {
    /// The state.
    pub state: State,
    /// The documents by their names.
    pub documents: BTreeMap<String, String>,
    /// What jobs have printed.
    pub printed: BTreeMap<JobId, Printed>,
    /// When commands are handed in.
    pub now: Timestamp,
}

impl MemoryBackend {
    fn begin_with<'a>(&'a self, start: &'a str) -> impl Iterator<Item = (&'a String, &'a String)> {
        self.documents.range(start.to_owned()..).take_while(move |(name, _)| name.starts_with(start))
    }
}

impl Backend for MemoryBackend {
    fn state(&self) -> Result<&State, Problem> {
        Ok(&self.state)
    }

    fn send(&mut self, envelope: &Envelope, sender: &Sender, changes: &[Change]) -> Result<Receipt, Problem> {
        authorise(&self.state, sender, &envelope.command)?;
        let receipt = authority::handle(&mut self.state, envelope, self.now)?;
        if envelope.dry_run { Ok(receipt) } else { self.keep(changes, sender).map(|()| receipt) }
    }

    fn keep(&mut self, changes: &[Change], _sender: &Sender) -> Result<(), Problem> {
        for Change { name, text } in changes {
            match text {
                Some(text) => drop(self.documents.insert(name.clone(), text.clone())),
                None => drop(self.documents.remove(name)),
            }
        }
        Ok(())
    }

    fn document(&self, name: &str) -> Result<Option<String>, Problem> {
        Ok(self.documents.get(name).cloned())
    }

    fn fields(&self, start: &str, field: &'static str) -> Result<Vec<(String, String)>, Problem> {
        let value = |text: &str| serde_json::from_str::<Value>(text).ok()?[field].as_str().map(str::to_owned);
        Ok(self.begin_with(start).filter_map(|(name, text)| Some((name.clone(), value(text)?))).collect())
    }

    fn names(&self, start: &str) -> Result<Vec<String>, Problem> {
        Ok(self.begin_with(start).map(|(name, _)| name.clone()).collect())
    }

    fn printed(&self, job: &JobId) -> Result<Option<Printed>, Problem> {
        Ok(self.printed.get(job).cloned())
    }
}
