//! KV in memory without weather, and without a memory of what it had: for long lives.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use heap::uncounted;
use protocol::fault::Fault;
use protocol::kv::KvStore;
use protocol::kv::Listed;

/// The most bytes that a value may have.
const VALUE_BYTES_MAX: usize = 25 * 1024 * 1024;

/// A handle; clones are the same store. What it keeps counts for nobody's memory.
#[derive(Clone, Default)]
pub(crate) struct Shelf(Rc<RefCell<Shelved>>);

#[derive(Default)]
struct Shelved {
    values: BTreeMap<String, String>,
    counts: Counts,
}

/// What was done, and what there is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) writes: u64,
    /// Bytes that were written.
    pub(crate) written: u64,
    pub(crate) deletes: u64,
    pub(crate) reads: u64,
    /// Bytes that were read.
    pub(crate) read: u64,
    /// The bytes of the largest value that was read.
    pub(crate) largest: usize,
    pub(crate) objects: usize,
    /// Bytes that are there.
    pub(crate) bytes: usize,
}

impl Shelf {
    pub(crate) fn counts(&self) -> Counts {
        let inner = self.0.borrow();
        Counts { objects: inner.values.len(), ..inner.counts }
    }

    /// Loses every value whose key is so.
    pub(crate) fn lose(&self, is_lost: impl Fn(&str) -> bool) {
        let mut inner = self.0.borrow_mut();
        let Shelved { values, counts } = &mut *inner;
        values.retain(|key, value| {
            let is_kept = !is_lost(key);
            counts.bytes -= if is_kept { 0 } else { value.len() };
            is_kept
        });
    }
}

impl Shelved {
    fn put(&mut self, key: &str, value: &str) {
        assert!(value.len() <= VALUE_BYTES_MAX, "{key} has {} bytes, and KV takes {VALUE_BYTES_MAX}", value.len());
        self.remove(key);
        self.counts.writes += 1;
        self.counts.written += value.len() as u64;
        self.counts.bytes += value.len();
        self.values.insert(key.to_owned(), value.to_owned());
    }

    fn remove(&mut self, key: &str) {
        self.counts.bytes -= self.values.remove(key).map_or(0, |value| value.len());
    }
}

impl KvStore for Shelf {
    async fn get(&self, key: &str) -> Result<Option<String>, Fault> {
        let mut inner = self.0.borrow_mut();
        let found = inner.values.get(key).cloned();
        let bytes = found.as_ref().map_or(0, String::len);
        inner.counts.reads += 1;
        inner.counts.read += bytes as u64;
        inner.counts.largest = inner.counts.largest.max(bytes);
        Ok(found)
    }

    async fn put(&self, key: &str, value: &str) -> Result<(), Fault> {
        uncounted(|| self.0.borrow_mut().put(key, value));
        Ok(())
    }

    async fn delete(&self, key: &str) -> Result<(), Fault> {
        let mut inner = self.0.borrow_mut();
        inner.counts.deletes += 1;
        uncounted(|| inner.remove(key));
        Ok(())
    }

    async fn list(&self, _: &str, _: Option<&str>, _: usize) -> Result<Listed, Fault> {
        Ok(Listed::default())
    }
}
