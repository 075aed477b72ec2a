//! The store that the world reads.

use std::future::Future;

use crate::fault::Fault;
use crate::name;

/// A key-value store. A read may be old, or miss what has just been written; a write that fails may have happened.
pub trait KvStore {
    /// The value of a key, or none as far as this reader can see.
    fn get(&self, key: &str) -> impl Future<Output = Result<Option<String>, Fault>>;
    /// Sets the value of a key.
    fn put(&self, key: &str, value: &str) -> impl Future<Output = Result<(), Fault>>;
    /// Removes a key, if it is there.
    fn delete(&self, key: &str) -> impl Future<Output = Result<(), Fault>>;
    /// Keys that begin so, at most so many, from a cursor on. A list may be old: it may miss what has just been put, and
    /// have what has just been deleted.
    fn list(&self, start: &str, cursor: Option<&str>, count: usize) -> impl Future<Output = Result<Listed, Fault>>;
}

/// Some of the keys that there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// The keys.
    pub keys: Vec<String>,
    /// From where on there are more.
    pub cursor: Option<String>,
}

/// An object that is named by its content.
pub async fn object(kv: &impl KvStore, key: &str) -> Result<String, Fault> {
    whole(key, kv.get(key).await?)
}

/// What KV holds under a key that promises its content.
pub(crate) fn whole(key: &str, text: Option<String>) -> Result<String, Fault> {
    let text = text.ok_or_else(|| Fault::Missing { key: key.to_owned() })?;
    name::verify(key, &text)?;
    Ok(text)
}
