//! What a read costs: calls of KV, and bytes that are read from texts and written into one. Who asks for much counts for
//! many at once ([`crate::rate`]).

use std::cell::Cell;

use crate::fault::Fault;
use crate::kv::KvStore;
use crate::kv::Listed;

/// Bytes that cost as much as a request: a thousand entries have some hundred thousand.
const BYTES_OF_REQUEST: u64 = 64 * 1024;

/// What one request has cost so far.
#[derive(Debug, Default)]
pub struct Meter {
    calls: Cell<u64>,
    bytes: Cell<u64>,
}

impl Meter {
    /// Counts a text that is read or written.
    pub fn note(&self, text: &str) {
        self.bytes.set(self.bytes.get().saturating_add(text.len() as u64));
    }

    /// How many requests it counts for beside the one that it is.
    #[must_use]
    pub fn cost(&self) -> i64 {
        i64::try_from(self.calls.get() + self.bytes.get() / BYTES_OF_REQUEST).unwrap_or(i64::MAX)
    }
}

/// KV, of which each call is counted.
#[derive(Debug)]
pub struct Metered<'a, K> {
    kv: K,
    meter: &'a Meter,
}

impl<'a, K> Metered<'a, K> {
    /// A store whose calls are counted.
    pub fn new(kv: K, meter: &'a Meter) -> Self {
        Self { kv, meter }
    }

    fn call(&self) {
        self.meter.calls.set(self.meter.calls.get() + 1);
    }
}

impl<K: KvStore> KvStore for Metered<'_, K> {
    async fn get(&self, key: &str) -> Result<Option<String>, Fault> {
        self.call();
        let found = self.kv.get(key).await?;
        self.meter.note(found.as_deref().unwrap_or_default());
        Ok(found)
    }

    async fn put(&self, key: &str, value: &str) -> Result<(), Fault> {
        self.call();
        self.kv.put(key, value).await
    }

    async fn delete(&self, key: &str) -> Result<(), Fault> {
        self.call();
        self.kv.delete(key).await
    }

    async fn list(&self, start: &str, cursor: Option<&str>, count: usize) -> Result<Listed, Fault> {
        self.call();
        self.kv.list(start, cursor, count).await
    }
}
