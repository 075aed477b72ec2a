//! The nonces that a cluster's access keys have used, in its object's SQLite.
//!
//! How many a key has is kept by the minute in which they expire, so that counting them reads a few rows.

use ::pai::nonce::Nonce;
use ::pai::nonce::Nonces;
use serde::Deserialize;
use worker::SqlStorage;
use worker::SqlStorageValue;

/// The nonces themselves.
pub(crate) const TABLE: &str = "CREATE TABLE IF NOT EXISTS nonces (key TEXT NOT NULL, mark TEXT NOT NULL, minute INTEGER NOT NULL, PRIMARY KEY (key, mark)) WITHOUT ROWID";
/// How many there are.
pub(crate) const COUNTS: &str = "CREATE TABLE IF NOT EXISTS nonce_counts (key TEXT NOT NULL, minute INTEGER NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (key, minute)) WITHOUT ROWID";

#[derive(Deserialize)]
struct Count {
    count: usize,
}

/// The nonces of one key.
pub(crate) struct OfKey<'a> {
    pub(crate) sql: SqlStorage,
    pub(crate) key: &'a str,
}

impl OfKey<'_> {
    fn run(&self, query: &str, values: Vec<SqlStorageValue>) -> worker::Result<()> {
        self.sql.exec(query, values).map(drop)
    }

    fn number(&self, query: &str, values: Vec<SqlStorageValue>) -> worker::Result<usize> {
        let rows: Vec<Count> = self.sql.exec(query, values)?.to_array()?;
        Ok(rows.first().map_or(0, |row| row.count))
    }
}

impl Nonces for OfKey<'_> {
    type Fault = worker::Error;

    fn forget(&mut self, before: i64) -> worker::Result<()> {
        let (key, minute) = (SqlStorageValue::from(self.key), SqlStorageValue::Integer(before));
        let old = "SELECT COUNT(*) AS count FROM nonce_counts WHERE key = ? AND minute < ?";
        if self.number(old, vec![key.clone(), minute.clone()])? == 0 {
            return Ok(());
        }
        self.run("DELETE FROM nonces WHERE key = ? AND minute < ?", vec![key.clone(), minute.clone()])?;
        self.run("DELETE FROM nonce_counts WHERE key = ? AND minute < ?", vec![key, minute])
    }

    fn has(&self, mark: &str) -> worker::Result<bool> {
        let query = "SELECT COUNT(*) AS count FROM nonces WHERE key = ? AND mark = ?";
        Ok(self.number(query, vec![self.key.into(), mark.into()])? > 0)
    }

    fn count(&self) -> worker::Result<usize> {
        self.number("SELECT COALESCE(SUM(count), 0) AS count FROM nonce_counts WHERE key = ?", vec![self.key.into()])
    }

    fn add(&mut self, nonce: &Nonce) -> worker::Result<()> {
        let minute = SqlStorageValue::Integer(nonce.minute);
        self.run(
            "INSERT INTO nonces VALUES (?, ?, ?)",
            vec![self.key.into(), nonce.mark.as_str().into(), minute.clone()],
        )?;
        self.run(
            "INSERT INTO nonce_counts VALUES (?, ?, 1) ON CONFLICT (key, minute) DO UPDATE SET count = count + 1",
            vec![self.key.into(), minute],
        )
    }
}
