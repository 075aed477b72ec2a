//! The log in a Durable Object's SQLite.
//!
//! | table | key | holds |
//! |---|---|---|
//! | `log` | `seq` | one row for each accepted command: revision, time, digest of the body, entry |
//! | `answers` | `id` | digest of the body and receipt of every command that was accepted in the last days |
//! | `snapshots` | `seq` | states, at most two of them |
//! | `more` | `kind, name, part` | what of a text does not fit into its row |
//! | `meta` | `key` | the published head, the sealed publication, the cluster's name |
//! | `notes` | `name` | what is kept beside the log, with its owner, the bucket in which it is published and what it counts for there |
//! | `buckets` | `bucket` | how often a bucket has changed, and how many of these changes are published |
//! | `garbage` | `due, key` | objects of KV that may go from a time on |
//! | `agents` | `name` | what is known of an agent beside the log |
//! | `tails` | `job` | the end of what a job has printed |
//! | `nonces`, `nonce_counts` | `key, mark`; `key, minute` | nonces that have been used ([`crate::nonces`]) |
//!
//! Why atomic: [`LogStore::commit`] runs all its statements inside the runtime's `transactionSync`, which undoes them
//! when one fails. Why durable: the runtime holds an object's answers back until its writes are.

use std::cell::RefCell;
use std::rc::Rc;

use engine::unit::id::CommandId;
use engine::unit::id::UserId;
use engine::unit::sort;
use engine::unit::time::Timestamp;
use protocol::fault::Fault;
use protocol::log::Answered;
use protocol::log::Garbage;
use protocol::log::LogStore;
use protocol::log::Meta;
use protocol::log::Record;
use protocol::log::Version;
use protocol::log::Write;
use protocol::note::Bucket;
use protocol::note::Held;
use protocol::note::Note;
use protocol::note::Stale;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::JsCast;
use wasm_bindgen::JsValue;
use wasm_bindgen::closure::Closure;
use worker::SqlStorageValue;
use worker::Storage;
use worker::js_sys::Function;
use worker::js_sys::Reflect;

use crate::nonces;
use crate::storage::execute::execute;
use crate::storage::row::ENTRY;
use crate::storage::row::NAME;
use crate::storage::row::PART_BYTES;
use crate::storage::row::RECEIPT;
use crate::storage::row::SNAPSHOT;
use crate::storage::row::integer;

mod execute;
pub(crate) mod row;

const SCHEMA: [&str; 15] = [
    "CREATE TABLE IF NOT EXISTS log (seq INTEGER PRIMARY KEY, id TEXT NOT NULL, revision INTEGER NOT NULL, at INTEGER NOT NULL, body TEXT NOT NULL, entry TEXT NOT NULL)",
    "CREATE INDEX IF NOT EXISTS log_by_revision ON log (revision, seq)",
    "CREATE TABLE IF NOT EXISTS answers (id TEXT PRIMARY KEY, at INTEGER NOT NULL, body TEXT NOT NULL, receipt TEXT NOT NULL)",
    "CREATE INDEX IF NOT EXISTS answers_by_time ON answers (at)",
    "CREATE TABLE IF NOT EXISTS snapshots (seq INTEGER PRIMARY KEY, revision INTEGER NOT NULL, at INTEGER NOT NULL, text TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS more (kind TEXT NOT NULL, name TEXT NOT NULL, part INTEGER NOT NULL, text TEXT NOT NULL, PRIMARY KEY (kind, name, part))",
    "CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS notes (name TEXT PRIMARY KEY, bucket INTEGER NOT NULL, bytes INTEGER NOT NULL, text TEXT NOT NULL, owner TEXT)",
    "CREATE INDEX IF NOT EXISTS notes_by_job_type ON notes (text ->> 'JobType', bucket, name)",
    "CREATE TABLE IF NOT EXISTS buckets (bucket INTEGER PRIMARY KEY, changes INTEGER NOT NULL, published INTEGER NOT NULL)",
    "CREATE TABLE IF NOT EXISTS garbage (due INTEGER NOT NULL, key TEXT NOT NULL, PRIMARY KEY (due, key)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS agents (name TEXT PRIMARY KEY, contact TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS tails (job TEXT PRIMARY KEY, run TEXT NOT NULL, bytes INTEGER NOT NULL, text TEXT NOT NULL) WITHOUT ROWID",
    nonces::TABLE,
    nonces::COUNTS,
];

/// What the table of notes of an earlier version lacks.
const ADD_OWNERS: &str = "ALTER TABLE notes ADD COLUMN owner TEXT";
/// One index for what a bucket has and for what somebody has in it: each further one would be a row more for each note.
const SHARES: [&str; 2] = [
    "DROP INDEX IF EXISTS notes_by_bucket",
    "CREATE INDEX IF NOT EXISTS notes_by_share ON notes (bucket, owner, bytes)",
];

/// The storage of one object.
#[derive(Debug)]
pub(crate) struct SqlLog {
    storage: Storage,
}

#[derive(Deserialize)]
struct LogRow {
    seq: u64,
    id: String,
    revision: u64,
    at: i64,
    body: String,
    entry: String,
}

#[derive(Deserialize)]
struct AnswerRow {
    at: i64,
    body: String,
    receipt: String,
}

#[derive(Deserialize)]
struct SnapshotRow {
    seq: u64,
    revision: u64,
    at: i64,
}

#[derive(Deserialize)]
struct SeqRow {
    seq: u64,
}

#[derive(Deserialize)]
struct TextRow {
    text: String,
}

#[derive(Deserialize)]
struct FieldRow {
    name: String,
    text: String,
}

#[derive(Deserialize)]
struct NoteRow {
    name: String,
    text: String,
    owner: Option<UserId>,
}

#[derive(Deserialize)]
struct HeldRow {
    bytes: u64,
    owner: Option<UserId>,
}

#[derive(Deserialize)]
struct CountRow {
    count: u64,
}

#[derive(Deserialize)]
struct GarbageRow {
    due: i64,
    key: String,
}

#[derive(Deserialize)]
struct BucketRow {
    bucket: Bucket,
    changes: u64,
}

impl SqlLog {
    /// The storage with its tables.
    pub(crate) fn open(storage: Storage) -> Result<Self, Fault> {
        let log = Self { storage };
        for statement in SCHEMA.iter().chain(log.without_owners()?.then_some(&ADD_OWNERS)).chain(&SHARES) {
            log.rows::<TextRow>(statement, Vec::new())?;
        }
        Ok(log)
    }

    /// Whether an earlier version has made the table of notes, which says of none whose it is.
    fn without_owners(&self) -> Result<bool, Fault> {
        let query = "SELECT sql AS text FROM sqlite_master WHERE type = 'table' AND name = 'notes'";
        let rows: Vec<TextRow> = self.rows(query, Vec::new())?;
        Ok(rows.first().is_some_and(|row| !row.text.contains("owner")))
    }

    /// Whether a cluster has ever been opened here. Asking leaves nothing behind.
    pub(crate) fn exists(storage: &Storage) -> Result<bool, Fault> {
        let query = "SELECT name AS text FROM sqlite_master WHERE type = 'table' AND name = 'meta'";
        let rows: Vec<TextRow> =
            storage.sql().exec(query, None).and_then(|cursor| cursor.to_array()).map_err(Fault::log)?;
        Ok(!rows.is_empty())
    }

    /// The name that the cluster was opened with.
    pub(crate) fn name(&self) -> Result<Option<String>, Fault> {
        self.value(NAME)
    }

    /// Notes the cluster's name, for events that do not carry it.
    pub(crate) fn set_name(&self, name: &str) -> Result<(), Fault> {
        self.rows::<TextRow>("INSERT OR REPLACE INTO meta VALUES (?, ?)", vec![NAME.into(), name.into()]).map(drop)
    }

    fn value(&self, key: &str) -> Result<Option<String>, Fault> {
        let rows: Vec<TextRow> = self.rows("SELECT value AS text FROM meta WHERE key = ?", vec![key.into()])?;
        rows.into_iter().next().map(|row| self.whole("meta", key, row.text)).transpose()
    }

    fn rows<T: DeserializeOwned>(&self, query: &str, values: Vec<SqlStorageValue>) -> Result<Vec<T>, Fault> {
        self.storage.sql().exec(query, values).and_then(|cursor| cursor.to_array()).map_err(Fault::log)
    }

    /// A text with the parts that did not fit into its row.
    fn whole(&self, kind: &str, name: &str, first: String) -> Result<String, Fault> {
        // What came in pieces is all beside its row.
        if !first.is_empty() && first.len() < PART_BYTES - 4 {
            return Ok(first);
        }
        let query = "SELECT text FROM more WHERE kind = ? AND name = ? ORDER BY part";
        let parts: Vec<TextRow> = self.rows(query, vec![kind.into(), name.into()])?;
        let mut whole = first;
        whole.reserve_exact(parts.iter().map(|part| part.text.len()).sum());
        for part in parts {
            whole.push_str(&part.text);
        }
        Ok(whole)
    }
}

impl LogStore for SqlLog {
    fn commit(&mut self, writes: Vec<Write>) -> Result<(), Fault> {
        let sql = self.storage.sql();
        transaction(&self.storage, move || writes.iter().try_for_each(|write| execute(&sql, write)))
    }

    fn records(&self, after: u64, through: u64) -> Result<Vec<Record>, Fault> {
        let query = "SELECT seq, id, revision, at, body, entry FROM log WHERE seq > ? AND seq <= ? ORDER BY seq";
        let rows: Vec<LogRow> = self.rows(query, vec![integer(after), integer(through)])?;
        rows.into_iter().map(|row| self.record(row)).collect()
    }

    fn last_within(&self, revision: u64) -> Result<Option<u64>, Fault> {
        let query = "SELECT seq FROM log WHERE revision <= ? ORDER BY revision DESC, seq DESC LIMIT 1";
        let rows: Vec<SeqRow> = self.rows(query, vec![integer(revision)])?;
        Ok(rows.into_iter().next().map(|row| row.seq))
    }

    fn answered(&self, id: &CommandId) -> Result<Option<Answered>, Fault> {
        let query = "SELECT at, body, receipt FROM answers WHERE id = ?";
        let rows: Vec<AnswerRow> = self.rows(query, vec![id.as_str().into()])?;
        let Some(AnswerRow { at, body, receipt }) = rows.into_iter().next() else { return Ok(None) };
        Ok(Some(Answered { at: Timestamp(at), body, receipt: self.whole(RECEIPT, id.as_str(), receipt)? }))
    }

    fn snapshot(&self) -> Result<Option<Version>, Fault> {
        let query = "SELECT seq, revision, at FROM snapshots ORDER BY seq DESC LIMIT 1";
        let rows: Vec<SnapshotRow> = self.rows(query, Vec::new())?;
        Ok(rows.first().map(|SnapshotRow { seq, revision, at }| Version {
            seq: *seq,
            revision: *revision,
            at: Timestamp(*at),
        }))
    }

    fn snapshot_piece(&self, seq: u64, piece: usize) -> Result<Option<String>, Fault> {
        let rows: Vec<TextRow> = if piece == 0 {
            self.rows("SELECT text FROM snapshots WHERE seq = ?", vec![integer(seq)])?
        } else {
            // A text that fits into its row has nothing beside it, although one before it may have left something there.
            let query = "SELECT text FROM more WHERE kind = ? AND name = ? AND part = ? AND EXISTS (SELECT 1 FROM snapshots WHERE seq = ? AND (text = '' OR length(CAST(text AS BLOB)) >= ?))";
            let full = integer(PART_BYTES as u64 - 4);
            let (name, piece) = (seq.to_string(), integer(piece as u64));
            self.rows(query, vec![SNAPSHOT.into(), name.as_str().into(), piece, integer(seq), full])?
        };
        Ok(rows.into_iter().next().map(|row| row.text))
    }

    fn meta(&self, key: Meta) -> Result<Option<String>, Fault> {
        self.value(key.as_str())
    }

    fn note(&self, name: &str) -> Result<Option<String>, Fault> {
        let rows: Vec<TextRow> = self.rows("SELECT text FROM notes WHERE name = ?", vec![name.into()])?;
        Ok(rows.into_iter().next().map(|row| row.text))
    }

    fn note_names(&self, start: &str) -> Result<Vec<String>, Fault> {
        // No name has this character, so everything that begins so lies between the two.
        let query = "SELECT name AS text FROM notes WHERE name >= ? AND name < ? ORDER BY name";
        let rows: Vec<TextRow> = self.rows(query, vec![start.into(), format!("{start}\u{10ffff}").into()])?;
        Ok(rows.into_iter().map(|row| row.text).collect())
    }

    fn note_fields(&self, start: &str, field: &'static str) -> Result<Vec<(String, String)>, Fault> {
        let value = format!("text ->> '{field}'");
        // An index has the field, so that no text is read. A row costs more to hand over than to find: names share one.
        let query = format!(
            "SELECT group_concat(name, char(10)) AS name, {value} AS text FROM notes WHERE {value} IS NOT NULL AND +name >= ? AND +name < ? GROUP BY {value}, bucket"
        );
        let rows: Vec<FieldRow> = self.rows(&query, vec![start.into(), format!("{start}\u{10ffff}").into()])?;
        let each =
            |row: &FieldRow| row.name.lines().map(|name| (name.to_owned(), row.text.clone())).collect::<Vec<_>>();
        let mut fields: Vec<(String, String)> = rows.iter().flat_map(each).collect();
        sort::by(&mut fields, Ord::cmp);
        Ok(fields)
    }

    fn notes(&self, bucket: Bucket) -> Result<Vec<Note>, Fault> {
        let query = "SELECT name, text, owner FROM notes WHERE bucket = ?";
        let rows: Vec<NoteRow> = self.rows(query, vec![integer(bucket.into())])?;
        Ok(rows.into_iter().map(|NoteRow { name, text, owner }| Note { name, text, owner }).collect())
    }

    fn bucket_bytes(&self, bucket: Bucket) -> Result<u64, Fault> {
        // Notes of earlier versions count as their texts were, until they are written anew.
        let query = "SELECT COALESCE(SUM(bytes), 0) AS count FROM notes WHERE bucket = ?";
        let rows: Vec<CountRow> = self.rows(query, vec![integer(bucket.into())])?;
        Ok(rows.first().map_or(0, |row| row.count))
    }

    fn held(&self, name: &str) -> Result<Option<Held>, Fault> {
        let rows: Vec<HeldRow> = self.rows("SELECT bytes, owner FROM notes WHERE name = ?", vec![name.into()])?;
        Ok(rows.into_iter().next().map(|HeldRow { bytes, owner }| Held { bytes, owner }))
    }

    fn owned_bytes(&self, owner: &UserId, bucket: Option<Bucket>) -> Result<u64, Fault> {
        // The index begins with the bucket.
        let query = "SELECT COALESCE(SUM(bytes), 0) AS count FROM notes WHERE owner = ? AND bucket IN (SELECT bucket FROM buckets WHERE bucket BETWEEN ? AND ?)";
        let (first, last) = bucket.map_or((Bucket::MIN, Bucket::MAX), |bucket| (bucket, bucket));
        let values = vec![owner.as_str().into(), integer(first.into()), integer(last.into())];
        let rows: Vec<CountRow> = self.rows(query, values)?;
        Ok(rows.first().map_or(0, |row| row.count))
    }

    fn garbage(&self, by: Timestamp, count: usize) -> Result<Vec<Garbage>, Fault> {
        let query = "SELECT due, key FROM garbage WHERE due <= ? ORDER BY due, key LIMIT ?";
        let rows: Vec<GarbageRow> = self.rows(query, vec![SqlStorageValue::Integer(by.0), integer(count as u64)])?;
        Ok(rows.into_iter().map(|GarbageRow { due, key }| Garbage { due: Timestamp(due), key }).collect())
    }

    fn stale_buckets(&self) -> Result<Vec<Stale>, Fault> {
        let query = "SELECT bucket, changes FROM buckets WHERE changes <> published ORDER BY bucket";
        let rows: Vec<BucketRow> = self.rows(query, Vec::new())?;
        Ok(rows.into_iter().map(|BucketRow { bucket, changes }| Stale { bucket, changes }).collect())
    }
}

impl SqlLog {
    fn record(&self, row: LogRow) -> Result<Record, Fault> {
        let LogRow { seq, id, revision, at, body, entry } = row;
        let id = CommandId::new(&id).map_err(Fault::log)?;
        let entry = self.whole(ENTRY, &seq.to_string(), entry)?;
        Ok(Record { seq, revision, at: Timestamp(at), id, body, entry })
    }
}

/// Runs `work` so that either all of its statements count or none.
fn transaction(storage: &Storage, work: impl FnOnce() -> worker::Result<()> + 'static) -> Result<(), Fault> {
    let raw: &JsValue = storage.as_raw().as_ref();
    let run = Reflect::get(raw, &JsValue::from_str("transactionSync")).and_then(JsCast::dyn_into::<Function>);
    let run = run.map_err(|_| Fault::log("the runtime has no transactionSync"))?;
    let reason = Rc::new(RefCell::new(String::new()));
    let told = Rc::clone(&reason);
    let work = Closure::once(move || -> Result<(), JsValue> {
        work().map_err(|error| {
            *told.borrow_mut() = error.to_string();
            JsValue::from_str("undone")
        })
    });
    run.call1(raw, work.as_ref()).map(drop).map_err(|_| Fault::log(reason.borrow()))
}
