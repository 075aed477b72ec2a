//! Changes of the log as statements.

use protocol::log::Answered;
use protocol::log::Garbage;
use protocol::log::Record;
use protocol::log::Stored;
use protocol::log::Write;
use protocol::note::Note;
use protocol::note::NoteChange;
use protocol::note::Stale;
use protocol::note::bucket;
use protocol::note::weight;
use worker::SqlStorage;
use worker::SqlStorageValue;

use crate::storage::row::ENTRY;
use crate::storage::row::NAME;
use crate::storage::row::PART_BYTES;
use crate::storage::row::RECEIPT;
use crate::storage::row::SNAPSHOT;
use crate::storage::row::integer;

/// Notes that a bucket has changed.
const CHANGED: &str = "INSERT INTO buckets VALUES (?, 1, 0) ON CONFLICT (bucket) DO UPDATE SET changes = changes + 1";

/// Makes one change.
pub(super) fn execute(sql: &SqlStorage, write: &Write) -> worker::Result<()> {
    let run = |query: &str, values: Vec<SqlStorageValue>| sql.exec(query, values).map(drop);
    let text = |kind: &str, name: &str, text: &str| split(sql, kind, name, text);
    match write {
        Write::Append(record) => {
            let Record { seq, revision, at, id, body, entry } = record;
            let entry = text(ENTRY, &seq.to_string(), entry)?;
            let values = vec![
                integer(*seq),
                id.as_str().into(),
                integer(*revision),
                SqlStorageValue::Integer(at.0),
                body.as_str().into(),
                entry,
            ];
            run("INSERT INTO log VALUES (?, ?, ?, ?, ?, ?)", values)
        }
        Write::Remember(id, Answered { at, body, receipt }) => {
            let receipt = text(RECEIPT, id.as_str(), receipt)?;
            let values = vec![id.as_str().into(), SqlStorageValue::Integer(at.0), body.as_str().into(), receipt];
            run("INSERT INTO answers VALUES (?, ?, ?, ?)", values)
        }
        Write::DropAnswers(before) => {
            let before = || vec![SqlStorageValue::Integer(before.0)];
            let parts = "DELETE FROM more WHERE kind = 'receipt' AND name IN (SELECT id FROM answers WHERE at < ?)";
            run(parts, before())?;
            run("DELETE FROM answers WHERE at < ?", before())
        }
        Write::PutSnapshot(Stored { seq, revision, at, text: whole }) => {
            let whole = text(SNAPSHOT, &seq.to_string(), whole)?;
            let values = vec![integer(*seq), integer(*revision), SqlStorageValue::Integer(at.0), whole];
            run("INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?)", values)
        }
        Write::ExtendSnapshot(Stored { seq, revision, at, text }) => {
            let values = vec![integer(*seq), integer(*revision), SqlStorageValue::Integer(at.0)];
            run("INSERT OR IGNORE INTO snapshots VALUES (?, ?, ?, '')", values)?;
            extend(sql, SNAPSHOT, &seq.to_string(), text)
        }
        Write::SetMeta(key, Some(value)) => {
            let value = text("meta", key.as_str(), value)?;
            run("INSERT OR REPLACE INTO meta VALUES (?, ?)", vec![key.as_str().into(), value])
        }
        Write::SetMeta(key, None) => run("DELETE FROM meta WHERE key = ?", vec![key.as_str().into()]),
        Write::DropEntries(through) => {
            run("DELETE FROM more WHERE kind = 'entry' AND CAST(name AS INTEGER) <= ?", vec![integer(*through)])?;
            run("DELETE FROM log WHERE seq <= ?", vec![integer(*through)])
        }
        Write::DropSnapshots(before) => {
            run("DELETE FROM more WHERE kind = 'snapshot' AND CAST(name AS INTEGER) < ?", vec![integer(*before)])?;
            run("DELETE FROM snapshots WHERE seq < ?", vec![integer(*before)])
        }
        Write::ChangeNote(NoteChange::Put(Note { name, text, owner })) => {
            let bucket = integer(bucket(name).into());
            let bytes = integer(weight(name, text, owner.as_ref()));
            let owner = owner.as_ref().map_or(SqlStorageValue::Null, |owner| owner.as_str().into());
            let values = vec![name.as_str().into(), bucket.clone(), bytes, text.as_str().into(), owner];
            run("INSERT OR REPLACE INTO notes (name, bucket, bytes, text, owner) VALUES (?, ?, ?, ?, ?)", values)?;
            run(CHANGED, vec![bucket])
        }
        Write::ChangeNote(NoteChange::Drop(name)) => {
            run("DELETE FROM notes WHERE name = ?", vec![name.as_str().into()])?;
            run(CHANGED, vec![integer(bucket(name).into())])
        }
        Write::NotesPublished(Stale { bucket, changes }) => {
            run("UPDATE buckets SET published = ? WHERE bucket = ?", vec![integer(*changes), integer((*bucket).into())])
        }
        Write::AddGarbage(Garbage { due, key }) => run(
            "INSERT OR IGNORE INTO garbage VALUES (?, ?)",
            vec![SqlStorageValue::Integer(due.0), key.as_str().into()],
        ),
        Write::DropGarbage(Garbage { due, key }) => {
            let values = vec![SqlStorageValue::Integer(due.0), key.as_str().into()];
            run("DELETE FROM garbage WHERE due = ? AND key = ?", values)
        }
        Write::Clear => {
            for table in ["log", "answers", "snapshots", "more", "notes", "garbage"] {
                run(&format!("DELETE FROM {table}"), Vec::new())?;
            }
            run("UPDATE buckets SET changes = changes + 1", Vec::new())?;
            run("DELETE FROM meta WHERE key <> ?", vec![NAME.into()])
        }
    }
}

/// The part of a text that fits into its row; the rest goes into `more`.
fn split(sql: &SqlStorage, kind: &str, name: &str, text: &str) -> worker::Result<SqlStorageValue> {
    let (first, mut rest) = text.split_at(text.floor_char_boundary(PART_BYTES));
    if rest.is_empty() && first.len() < PART_BYTES - 4 {
        return Ok(first.into());
    }
    sql.exec("DELETE FROM more WHERE kind = ? AND name = ?", vec![kind.into(), name.into()])?;
    let mut part = 1;
    while !rest.is_empty() {
        let (piece, left) = rest.split_at(rest.floor_char_boundary(PART_BYTES));
        sql.exec("INSERT INTO more VALUES (?, ?, ?, ?)", vec![kind.into(), name.into(), part.into(), piece.into()])?;
        rest = left;
        part += 1;
    }
    Ok(first.into())
}

/// Adds to the parts of a text whose row has nothing of it.
fn extend(sql: &SqlStorage, kind: &str, name: &str, text: &str) -> worker::Result<()> {
    let query = "INSERT INTO more SELECT ?, ?, COALESCE(MAX(part), 0) + 1, ? FROM more WHERE kind = ? AND name = ?";
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, left) = rest.split_at(rest.floor_char_boundary(PART_BYTES));
        sql.exec(query, vec![kind.into(), name.into(), piece.into(), kind.into(), name.into()])?;
        rest = left;
    }
    Ok(())
}
