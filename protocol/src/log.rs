//! The store that holds the truth.

use engine::message::envelope::Entry;
use engine::message::envelope::Envelope;
use engine::message::envelope::Receipt;
use engine::message::snapshot::Snapshot;
use engine::unit::id::CommandId;
use engine::unit::id::UserId;
use engine::unit::time::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::digest::sha256;
use crate::fault::Fault;
use crate::note::Bucket;
use crate::note::Held;
use crate::note::Note;
use crate::note::NoteChange;
use crate::note::Stale;

/// What may go, and from when on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Garbage {
    /// Not before this time.
    pub due: Timestamp,
    /// The object.
    pub key: String,
}

/// A row of the log: one accepted command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its number: the first is 1, and there are no gaps.
    pub seq: u64,
    /// The revision after it.
    pub revision: u64,
    /// When it was decided.
    pub at: Timestamp,
    /// The command's name.
    pub id: CommandId,
    /// The digest of the command's envelope.
    pub body: String,
    /// The entry, as JSON.
    pub entry: String,
}

impl Record {
    /// The row for an entry.
    pub fn of(seq: u64, entry: &Entry) -> Result<Self, Fault> {
        Ok(Self {
            seq,
            revision: entry.revision,
            at: entry.at,
            id: entry.envelope.id.clone(),
            body: digest_of(&entry.envelope)?,
            entry: encode(entry)?,
        })
    }
}

/// The digest by which a repeated command is recognised.
pub fn digest_of(envelope: &Envelope) -> Result<String, Fault> {
    Ok(sha256(encode(envelope)?.as_bytes()))
}

/// What the log remembers of an accepted command, for as long as the profile says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    /// When it was decided.
    pub at: Timestamp,
    /// The digest of its envelope.
    pub body: String,
    /// Its receipt, as JSON.
    pub receipt: String,
}

impl Answered {
    /// What to remember of an entry.
    pub fn of(entry: &Entry) -> Result<Self, Fault> {
        let Entry { format: _, revision, at, envelope, events } = entry;
        let receipt = Receipt { id: envelope.id.clone(), revision: *revision, at: *at, events: events.clone() };
        Ok(Self { at: *at, body: digest_of(envelope)?, receipt: encode(&receipt)? })
    }
}

/// A snapshot in the log's storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The last entry that it contains.
    pub seq: u64,
    /// The revision of the state.
    pub revision: u64,
    /// When that entry was decided.
    pub at: Timestamp,
    /// Its bytes.
    pub text: String,
}

/// Which snapshot the log's storage has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    /// The last entry that it contains.
    pub seq: u64,
    /// The revision of the state.
    pub revision: u64,
    /// When that entry was decided.
    pub at: Timestamp,
}

/// A value that is kept beside the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Meta {
    /// The head that was last known to be published.
    Published,
    /// The publication that is under way.
    Sealed,
    /// The restore that is under way.
    Restoring,
    /// What was missing of the past when the cluster was restored.
    Missing,
    /// What stays of the cluster once it is deleted.
    Deleted,
}

impl Meta {
    /// The value's name in the storage.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::Sealed => "sealed",
            Self::Restoring => "restoring",
            Self::Missing => "missing",
            Self::Deleted => "deleted",
        }
    }
}

/// A change of the storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write {
    /// Adds a row to the log. Refused when the number exists. A name that has been forgotten may come a second time.
    Append(Record),
    /// Remembers an accepted command. Refused when its name exists.
    Remember(CommandId, Answered),
    /// Adds a snapshot.
    PutSnapshot(Stored),
    /// Adds a text to the end of a snapshot, which begins with its first one.
    ExtendSnapshot(Stored),
    /// Sets a value, or removes it.
    SetMeta(Meta, Option<String>),
    /// Drops rows of the log up to and including this number; their commands stay remembered.
    DropEntries(u64),
    /// Forgets commands that were accepted before this time.
    DropAnswers(Timestamp),
    /// Drops snapshots of states before this number.
    DropSnapshots(u64),
    /// Changes a note; its bucket is stale then.
    ChangeNote(NoteChange),
    /// Notes that a bucket was published when it had so many changes: unless there are more, it is not stale.
    NotesPublished(Stale),
    /// Notes that an object of KV may go.
    AddGarbage(Garbage),
    /// Forgets one that has gone.
    DropGarbage(Garbage),
    /// Drops everything; buckets that had notes are stale then.
    Clear,
}

/// The storage of one cluster's log. Synchronous: whatever is called between two awaits is one transaction.
pub trait LogStore {
    /// Makes all of the changes, or none of them. After an error it is unknown which.
    fn commit(&mut self, writes: Vec<Write>) -> Result<(), Fault>;
    /// Rows after a number and up to another one, in order.
    fn records(&self, after: u64, through: u64) -> Result<Vec<Record>, Fault>;
    /// The number of the last row that had not led beyond a revision, if the log still has it.
    fn last_within(&self, revision: u64) -> Result<Option<u64>, Fault>;
    /// What is remembered of a command.
    fn answered(&self, id: &CommandId) -> Result<Option<Answered>, Fault>;
    /// Which snapshot is the newest.
    fn snapshot(&self) -> Result<Option<Version>, Fault>;
    /// A piece of the text of a snapshot, none after the last one: all of it together may be more than there is memory for.
    fn snapshot_piece(&self, seq: u64, piece: usize) -> Result<Option<String>, Fault>;
    /// A value beside the log.
    fn meta(&self, key: Meta) -> Result<Option<String>, Fault>;
    /// A note's text.
    fn note(&self, name: &str) -> Result<Option<String>, Fault>;
    /// The names of notes that begin so, in order.
    fn note_names(&self, start: &str) -> Result<Vec<String>, Fault>;
    /// A field of every note whose name begins so: the names in order, each with the text that the field has. Such notes
    /// are JSON objects; those without that field are left out.
    fn note_fields(&self, start: &str, field: &'static str) -> Result<Vec<(String, String)>, Fault>;
    /// The notes of a bucket.
    fn notes(&self, bucket: Bucket) -> Result<Vec<Note>, Fault>;
    /// What the notes of a bucket [count for](crate::note::weight).
    fn bucket_bytes(&self, bucket: Bucket) -> Result<u64, Fault>;
    /// What a note counts for, if there is one of that name.
    fn held(&self, name: &str) -> Result<Option<Held>, Fault>;
    /// What the notes of a user count for, in one bucket or in all of them.
    fn owned_bytes(&self, owner: &UserId, bucket: Option<Bucket>) -> Result<u64, Fault>;
    /// Objects of KV that may go by a time, those that have waited longest first, and at most so many.
    fn garbage(&self, by: Timestamp, count: usize) -> Result<Vec<Garbage>, Fault>;
    /// Buckets that have changed since they were published.
    fn stale_buckets(&self) -> Result<Vec<Stale>, Fault>;
}

/// The text of a snapshot, piece by piece.
pub fn snapshot_pieces(store: &impl LogStore, seq: u64) -> impl Iterator<Item = Result<String, Fault>> {
    (0..).map_while(move |piece| store.snapshot_piece(seq, piece).transpose())
}

/// A value as JSON.
pub fn encode<T: Serialize>(value: &T) -> Result<String, Fault> {
    serde_json::to_string(value).map_err(|error| Fault::damaged("a value to store", error))
}

/// A snapshot as text.
pub fn text_of(snapshot: &Snapshot) -> Result<String, Fault> {
    String::from_utf8(snapshot.to_bytes()).map_err(|error| Fault::damaged("a snapshot", error))
}

/// A value from JSON that we wrote.
pub fn decode<T: DeserializeOwned>(place: &str, text: &str) -> Result<T, Fault> {
    serde_json::from_str(text).map_err(|error| Fault::damaged(place, error))
}
