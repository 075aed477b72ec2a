//! What stands in the rows: names of texts and numbers.

use worker::SqlStorageValue;

/// The largest integer up to which JavaScript's numbers have no gaps.
const SAFE_MAX: u64 = (1 << 53) - 1;

/// How long a text in one row may be. A row may have 2 MB in all.
pub(super) const PART_BYTES: usize = 1_000_000;

pub(super) const ENTRY: &str = "entry";
pub(super) const RECEIPT: &str = "receipt";
pub(super) const SNAPSHOT: &str = "snapshot";
pub(super) const NAME: &str = "name";

/// A number for SQL. It crosses over as a number of JavaScript; no row has one that this could not hold.
pub(crate) fn integer(value: u64) -> SqlStorageValue {
    SqlStorageValue::Integer(i64::try_from(value.min(SAFE_MAX)).unwrap_or_default())
}
