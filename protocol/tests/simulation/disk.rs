//! A log in memory that outlives its cluster, and fails on order: before it has stored, or after.

use std::cell::Cell;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::rc::Rc;

use engine::unit::id::CommandId;
use engine::unit::id::UserId;
use engine::unit::time::Timestamp;
use heap::uncounted;
use protocol::fault::Fault;
use protocol::log::Answered;
use protocol::log::Garbage;
use protocol::log::LogStore;
use protocol::log::Meta;
use protocol::log::Record;
use protocol::log::Stored;
use protocol::log::Version;
use protocol::log::Write;
use protocol::note::Bucket;
use protocol::note::Held;
use protocol::note::Note;
use protocol::note::NoteChange;
use protocol::note::Stale;
use protocol::note::bucket;
use protocol::note::weight;

#[path = "disk/dump.rs"]
mod dump;

/// Snapshots are read in pieces of so many bytes: less than rows of an object's storage have, so that most have some.
const PIECE_BYTES: usize = 100_000;

/// What the next commit does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Plan {
    #[default]
    Work,
    FailBefore,
    FailAfter,
    /// Until the next commit no note can be read.
    FailNotes,
}

#[derive(Clone, Debug, Default)]
struct Tables {
    log: BTreeMap<u64, Record>,
    commands: BTreeMap<CommandId, Answered>,
    snapshots: BTreeMap<u64, Stored>,
    meta: BTreeMap<Meta, String>,
    /// Notes by their names, each with its bucket and what it counts for there.
    notes: BTreeMap<String, (Bucket, u64, Note)>,
    /// The names of the notes of each bucket: an index, as the object's storage has one.
    in_bucket: BTreeMap<Bucket, BTreeSet<String>>,
    garbage: BTreeSet<(Timestamp, String)>,
    /// Changes by bucket, and how many of them are published.
    changes: BTreeMap<Bucket, (u64, u64)>,
}

#[derive(Debug, Default)]
struct Inner {
    tables: Tables,
    plan: Plan,
    /// Every row that was ever added, dropped ones included.
    history: Vec<Record>,
    /// Whether that is left out: a long time has many.
    is_lean: bool,
    /// Rows written in the SQLite of an object, those of indices and dropped ones included, as its plan counts them.
    n_written: u64,
    /// Rows of the log and of notes that were read, those that are added up included.
    n_read: Cell<u64>,
    /// How often a note was asked for by its name.
    n_asked: Cell<u64>,
}

/// A handle; clones are the same disk.
#[derive(Clone, Debug, Default)]
pub(crate) struct Disk(Rc<RefCell<Inner>>);

impl Disk {
    /// A disk that does not keep what was dropped.
    pub(crate) fn lean() -> Self {
        Self(Rc::new(RefCell::new(Inner { is_lean: true, ..Inner::default() })))
    }

    pub(crate) fn plan(&self, plan: Plan) {
        self.0.borrow_mut().plan = plan;
    }

    /// The rows added since there were `seen` of them.
    pub(crate) fn history_since(&self, seen: usize) -> Vec<Record> {
        self.0.borrow().history[seen..].to_vec()
    }

    /// How many rows were ever added.
    pub(crate) fn n_added(&self) -> usize {
        self.0.borrow().history.len()
    }

    /// How many answers are remembered.
    pub(crate) fn n_answers(&self) -> usize {
        self.0.borrow().tables.commands.len()
    }

    /// A value beside the log is lost.
    pub(crate) fn lose(&self, key: Meta) {
        self.0.borrow_mut().tables.meta.remove(&key);
    }

    /// How many rows were written, as a plan counts them.
    pub(crate) fn n_written(&self) -> u64 {
        self.0.borrow().n_written
    }

    /// How many rows of the log and of notes were read.
    pub(crate) fn n_read(&self) -> u64 {
        self.0.borrow().n_read.get()
    }

    /// How often a note was asked for by its name.
    pub(crate) fn n_asked(&self) -> u64 {
        self.0.borrow().n_asked.get()
    }

    /// How many rows the log still has.
    pub(crate) fn n_rows(&self) -> usize {
        self.0.borrow().tables.log.len()
    }

    /// What is wanted of rows of notes; each is one that is read.
    fn rows_of_notes<T>(
        &self,
        wanted: Option<Bucket>,
        is_wanted: impl Fn(&Note) -> bool,
        of: impl Fn(&(Bucket, u64, Note)) -> T,
    ) -> Vec<T> {
        let inner = self.0.borrow();
        let Tables { notes, in_bucket, .. } = &inner.tables;
        let buckets = wanted.map_or(Bucket::MIN..=Bucket::MAX, |wanted| wanted..=wanted);
        let rows = in_bucket.range(buckets).flat_map(|(_, names)| names).map(|name| &notes[name]);
        let rows: Vec<T> = rows.filter(|(_, _, note)| is_wanted(note)).map(of).collect();
        inner.n_read.update(|count| count + rows.len() as u64);
        rows
    }

    fn sum_of_notes(&self, wanted: Option<Bucket>, is_wanted: impl Fn(&Note) -> bool) -> u64 {
        self.rows_of_notes(wanted, is_wanted, |(_, bytes, _)| *bytes).into_iter().sum()
    }

    /// All rows of all tables.
    pub(crate) fn dump(&self) -> String {
        self.0.borrow().tables.rows().concat()
    }

    /// The disk with these rows.
    pub(crate) fn of_dump(text: &str) -> Self {
        let disk = Self::default();
        for line in text.lines() {
            disk.0.borrow_mut().tables.put(line);
        }
        disk
    }
}

impl Inner {
    fn commit(&mut self, writes: &[Write]) -> Result<(), Fault> {
        let plan = std::mem::take(&mut self.plan);
        if plan == Plan::FailBefore {
            return Err(Fault::log("planned, before"));
        }
        self.tables.check(writes)?;
        for write in writes {
            self.n_written += self.tables.rows_of(write);
            self.tables.execute(write);
        }
        let added = writes
            .iter()
            .filter_map(|write| if let Write::Append(record) = write { Some(record.clone()) } else { None });
        if !self.is_lean {
            self.history.extend(added);
        }
        if plan == Plan::FailAfter { Err(Fault::log("planned, after")) } else { Ok(()) }
    }
}

impl Tables {
    /// Whether all of the writes can be made.
    fn check(&self, writes: &[Write]) -> Result<(), Fault> {
        let mut remembered = BTreeSet::new();
        for write in writes {
            if let Write::Remember(id, _) = write
                && !remembered.insert(id)
            {
                return Err(Fault::log(format!("command {id} is remembered twice")));
            }
        }
        if writes.contains(&Write::Clear) {
            return Ok(());
        }
        for write in writes {
            match write {
                Write::Append(record) if self.log.contains_key(&record.seq) => {
                    return Err(Fault::log(format!("row {} exists", record.seq)));
                }
                Write::Append(Record { id, .. }) | Write::Remember(id, _) if self.commands.contains_key(id) => {
                    return Err(Fault::log(format!("command {id} exists")));
                }
                Write::Append(_)
                | Write::Remember(..)
                | Write::PutSnapshot(_)
                | Write::ExtendSnapshot(_)
                | Write::SetMeta(..)
                | Write::DropEntries(_)
                | Write::DropAnswers(_)
                | Write::DropSnapshots(_)
                | Write::ChangeNote(_)
                | Write::NotesPublished(_)
                | Write::AddGarbage(_)
                | Write::DropGarbage(_)
                | Write::Clear => {}
            }
        }
        Ok(())
    }

    /// The rows that a change writes, those of its indices included: a table whose key is a text has one for the key.
    fn rows_of(&self, write: &Write) -> u64 {
        const LOG: u64 = 2;
        const ANSWERS: u64 = 3;
        const META: u64 = 2;
        const NOTES: u64 = 4;
        const BUCKETS: u64 = 1;
        let texts = |text: &str| 1 + 2 * (text.len() / 1_000_000) as u64;
        let many = |count: usize, rows: u64| count as u64 * rows;
        match write {
            Write::Append(record) => LOG + texts(&record.entry) - 1,
            Write::Remember(_, answered) => ANSWERS + texts(&answered.receipt) - 1,
            Write::PutSnapshot(stored) | Write::ExtendSnapshot(stored) => texts(&stored.text),
            Write::SetMeta(..) => META,
            Write::DropEntries(through) => many(self.log.range(..=through).count(), LOG),
            Write::DropAnswers(before) => {
                many(self.commands.values().filter(|answered| answered.at < *before).count(), ANSWERS)
            }
            Write::DropSnapshots(before) => many(self.snapshots.range(..before).count(), 1),
            Write::ChangeNote(_) => NOTES + BUCKETS,
            Write::NotesPublished(_) => BUCKETS,
            Write::AddGarbage(_) | Write::DropGarbage(_) => 1,
            Write::Clear => 0,
        }
    }

    fn put_note(&mut self, row: (Bucket, u64, Note)) {
        let name = row.2.name.clone();
        self.in_bucket.entry(row.0).or_default().insert(name.clone());
        self.notes.insert(name, row);
    }

    fn execute(&mut self, write: &Write) {
        match write {
            Write::Append(record) => drop(self.log.insert(record.seq, record.clone())),
            Write::Remember(id, answered) => drop(self.commands.insert(id.clone(), answered.clone())),
            Write::PutSnapshot(stored) => drop(self.snapshots.insert(stored.seq, stored.clone())),
            Write::ExtendSnapshot(Stored { seq, revision, at, text }) => {
                let empty = Stored { seq: *seq, revision: *revision, at: *at, text: String::new() };
                self.snapshots.entry(*seq).or_insert(empty).text.push_str(text);
            }
            Write::SetMeta(key, Some(value)) => drop(self.meta.insert(*key, value.clone())),
            Write::SetMeta(key, None) => drop(self.meta.remove(key)),
            Write::DropEntries(through) => self.log.retain(|seq, _| seq > through),
            Write::DropAnswers(before) => self.commands.retain(|_, answered| answered.at >= *before),
            Write::DropSnapshots(before) => self.snapshots.retain(|seq, _| seq >= before),
            Write::ChangeNote(NoteChange::Put(note)) => {
                let Note { name, text, owner } = note;
                let row = (bucket(name), weight(name, text, owner.as_ref()), note.clone());
                self.put_note(row);
                self.changes.entry(bucket(name)).or_default().0 += 1;
            }
            Write::ChangeNote(NoteChange::Drop(name)) => {
                self.notes.remove(name);
                self.in_bucket.entry(bucket(name)).or_default().remove(name);
                self.changes.entry(bucket(name)).or_default().0 += 1;
            }
            Write::NotesPublished(Stale { bucket, changes }) => self.changes.entry(*bucket).or_default().1 = *changes,
            Write::AddGarbage(Garbage { due, key }) => drop(self.garbage.insert((*due, key.clone()))),
            Write::DropGarbage(Garbage { due, key }) => drop(self.garbage.remove(&(*due, key.clone()))),
            Write::Clear => {
                let stale = self.changes.iter().map(|(bucket, (changes, _))| (*bucket, (changes + 1, 0)));
                *self = Self { changes: stale.collect(), ..Self::default() };
            }
        }
    }
}

impl LogStore for Disk {
    fn commit(&mut self, writes: Vec<Write>) -> Result<(), Fault> {
        // What is stored counts for nobody's memory.
        uncounted(|| self.0.borrow_mut().commit(&writes))
    }

    fn records(&self, after: u64, through: u64) -> Result<Vec<Record>, Fault> {
        let inner = self.0.borrow();
        let rows = inner.tables.log.range(after + 1..).take_while(|(seq, _)| **seq <= through);
        Ok(rows.inspect(|_| inner.n_read.update(|count| count + 1)).map(|(_, record)| record.clone()).collect())
    }

    fn last_within(&self, revision: u64) -> Result<Option<u64>, Fault> {
        let log = &self.0.borrow().tables.log;
        Ok(log.values().take_while(|record| record.revision <= revision).last().map(|record| record.seq))
    }

    fn answered(&self, id: &CommandId) -> Result<Option<Answered>, Fault> {
        Ok(self.0.borrow().tables.commands.get(id).cloned())
    }

    fn snapshot(&self) -> Result<Option<Version>, Fault> {
        let version = |stored: &Stored| Version { seq: stored.seq, revision: stored.revision, at: stored.at };
        Ok(self.0.borrow().tables.snapshots.last_key_value().map(|(_, stored)| version(stored)))
    }

    fn snapshot_piece(&self, seq: u64, piece: usize) -> Result<Option<String>, Fault> {
        let inner = self.0.borrow();
        let Some(Stored { text, .. }) = inner.tables.snapshots.get(&seq) else { return Ok(None) };
        let [start, end] = [piece, piece + 1].map(|at| text.floor_char_boundary(at * PIECE_BYTES));
        Ok(text.get(start..end).filter(|piece| !piece.is_empty()).map(str::to_owned))
    }

    fn meta(&self, key: Meta) -> Result<Option<String>, Fault> {
        Ok(self.0.borrow().tables.meta.get(&key).cloned())
    }

    fn note(&self, name: &str) -> Result<Option<String>, Fault> {
        let inner = self.0.borrow();
        inner.n_asked.update(|count| count + 1);
        if inner.plan == Plan::FailNotes {
            return Err(Fault::log("planned, notes"));
        }
        Ok(inner.tables.notes.get(name).map(|(_, _, note)| note.text.clone()))
    }

    fn note_names(&self, start: &str) -> Result<Vec<String>, Fault> {
        let inner = self.0.borrow();
        Ok(inner.tables.notes.keys().filter(|name| name.starts_with(start)).cloned().collect())
    }

    fn note_fields(&self, start: &str, field: &'static str) -> Result<Vec<(String, String)>, Fault> {
        let inner = self.0.borrow();
        let named = inner.tables.notes.iter().filter(|(name, _)| name.starts_with(start));
        let value =
            |text: &str| serde_json::from_str::<serde_json::Value>(text).ok()?[field].as_str().map(str::to_owned);
        Ok(named.filter_map(|(name, (_, _, note))| Some((name.clone(), value(&note.text)?))).collect())
    }

    fn notes(&self, wanted: Bucket) -> Result<Vec<Note>, Fault> {
        Ok(self.rows_of_notes(Some(wanted), |_| true, |(_, _, note)| note.clone()))
    }

    fn bucket_bytes(&self, wanted: Bucket) -> Result<u64, Fault> {
        Ok(self.sum_of_notes(Some(wanted), |_| true))
    }

    fn held(&self, name: &str) -> Result<Option<Held>, Fault> {
        let inner = self.0.borrow();
        let row = inner.tables.notes.get(name).inspect(|_| inner.n_read.update(|count| count + 1));
        Ok(row.map(|(_, bytes, note)| Held { bytes: *bytes, owner: note.owner.clone() }))
    }

    fn owned_bytes(&self, owner: &UserId, wanted: Option<Bucket>) -> Result<u64, Fault> {
        Ok(self.sum_of_notes(wanted, |note| note.owner.as_ref() == Some(owner)))
    }

    fn garbage(&self, by: Timestamp, count: usize) -> Result<Vec<Garbage>, Fault> {
        let inner = self.0.borrow();
        let due = inner.tables.garbage.iter().take_while(|(due, _)| *due <= by).take(count);
        Ok(due.map(|(due, key)| Garbage { due: *due, key: key.clone() }).collect())
    }

    fn stale_buckets(&self) -> Result<Vec<Stale>, Fault> {
        let inner = self.0.borrow();
        let stale = inner.tables.changes.iter().filter(|(_, (changes, published))| changes != published);
        Ok(stale.map(|(bucket, (changes, _))| Stale { bucket: *bucket, changes: *changes }).collect())
    }
}
