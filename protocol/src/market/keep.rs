//! A cluster that keeps what was read of its market's past.

use engine::message::envelope::Entry;
use engine::state::world::State;

use crate::cluster::Cluster;
use crate::fault::Fault;
use crate::log::LogStore;
use crate::log::decode;
use crate::market::kept::Kept;

impl<S: LogStore> Cluster<S> {
    /// Reads with the state as it is, and what is kept of the market's past once that has been read.
    pub fn with_market<T>(&mut self, read: impl FnOnce(&State, Option<&Kept>) -> T) -> Result<T, Fault> {
        let memory = self.memory()?;
        Ok(read(&memory.state, memory.market.as_ref()))
    }

    /// Keeps what was read of the market's past up to an entry: all that is after it is in the log still.
    pub fn keep_market(&mut self, entries: Vec<Entry>, is_whole: bool, last: u64) -> Result<(), Fault> {
        let mut kept = Kept::of(entries, is_whole);
        for record in self.store.records(last, u64::MAX)? {
            kept.follow(&decode("an entry of the log", &record.entry)?);
        }
        self.memory()?.market = Some(kept);
        Ok(())
    }
}
