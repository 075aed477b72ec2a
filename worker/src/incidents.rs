//! The table of incidents: what happened beside the log of a cluster, or beside all of them. What is written and what is
//! only counted is decided in [`protocol::incident`].

use engine::unit::time::Timestamp;
use protocol::incident;
use protocol::incident::Incident;
use protocol::incident::Kind;
use serde::Deserialize;
use worker::SqlStorage;
use worker::SqlStorageValue;

use crate::answer::Problem;
use crate::query::Query;

/// How many incidents are listed, if nothing is asked for, and at most.
const SHOWN: [usize; 2] = [100, 500];

const TABLE: &str = "CREATE TABLE IF NOT EXISTS incidents (minute INTEGER NOT NULL, kind TEXT NOT NULL, who TEXT NOT NULL, what TEXT NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (minute, kind, who, what)) WITHOUT ROWID";
/// Whoever asks for their own reads no more rows than they get.
const INDEX: &str = "CREATE INDEX IF NOT EXISTS incidents_by_who ON incidents (who, minute)";

#[derive(Deserialize)]
struct IncidentRow {
    minute: i64,
    kind: String,
    who: String,
    what: String,
    count: u64,
}

fn open(sql: &SqlStorage) -> worker::Result<()> {
    sql.exec(TABLE, None)?;
    sql.exec(INDEX, None).map(drop)
}

/// Adds to the counts of rows.
pub(crate) fn write(sql: &SqlStorage, incidents: Vec<Incident>) -> worker::Result<()> {
    if incidents.is_empty() {
        return Ok(());
    }
    open(sql)?;
    for Incident { minute, kind, who, what, count } in incidents {
        let count = SqlStorageValue::Integer(i64::try_from(count).unwrap_or(i64::MAX));
        let values =
            vec![SqlStorageValue::Integer(minute.0), kind.as_str().into(), who.into(), what.into_owned().into(), count];
        let query = "INSERT INTO incidents VALUES (?, ?, ?, ?, ?) ON CONFLICT (minute, kind, who, what) DO UPDATE SET count = count + excluded.count";
        sql.exec(query, values)?;
    }
    Ok(())
}

/// The newest rows that a query asks for; of one sender, or of all.
pub(crate) fn read(sql: &SqlStorage, who: Option<&str>, query: &Query) -> Result<Vec<Incident>, Problem> {
    let [usual, most] = SHOWN;
    let count = query.value("count")?.unwrap_or(usual).clamp(1, most);
    let before: i64 = query.value("before")?.unwrap_or(i64::MAX >> 10);
    open(sql)?;
    let of_whom = if who.is_some() { "who = ? AND" } else { "" };
    let text = format!(
        "SELECT minute, kind, who, what, count FROM incidents WHERE {of_whom} minute < ? ORDER BY minute DESC LIMIT ?"
    );
    let mut values: Vec<SqlStorageValue> = who.into_iter().map(Into::into).collect();
    values.push(SqlStorageValue::Integer(before));
    values.push(SqlStorageValue::Integer(i64::try_from(count).unwrap_or(i64::MAX)));
    let rows: Vec<IncidentRow> = sql.exec(&text, values)?.to_array()?;
    let rows = rows.into_iter().filter_map(|IncidentRow { minute, kind, who, what, count }| {
        let kind = Kind::ALL.into_iter().find(|known| known.as_str() == kind)?;
        Some(Incident { minute: Timestamp(minute), kind, who, what: what.into(), count })
    });
    Ok(incident::page(rows.collect(), count))
}

/// Drops what is too old, and of each kind what is too much: nobody drives out what others have caused.
pub(crate) fn prune(sql: &SqlStorage, now: Timestamp) -> worker::Result<()> {
    open(sql)?;
    sql.exec("DELETE FROM incidents WHERE minute < ?", vec![SqlStorageValue::Integer(now.0 - incident::KEPT.0)])?;
    for kind in Kind::ALL {
        let query = "DELETE FROM incidents WHERE kind = ? AND minute < (SELECT minute FROM incidents WHERE kind = ? ORDER BY minute DESC LIMIT 1 OFFSET ?)";
        let most = SqlStorageValue::Integer(i64::try_from(incident::ROWS_MAX).unwrap_or(i64::MAX));
        sql.exec(query, vec![kind.as_str().into(), kind.as_str().into(), most])?;
    }
    Ok(())
}
