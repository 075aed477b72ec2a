//! Rows as lines: the table, then the columns as a Durable Object has them, with tabs between them. No text that is
//! stored has a tab or a line's end, since all of them are JSON or names.

use std::str::FromStr;
use std::str::Split;

use engine::unit::id::CommandId;
use engine::unit::id::UserId;
use engine::unit::time::Timestamp;
use protocol::log::Answered;
use protocol::log::Meta;
use protocol::log::Record;
use protocol::log::Stored;
use protocol::note::Note;
use protocol::note::bucket;
use protocol::note::weight;

use crate::disk::Tables;

/// The next column of a row.
fn next<T: FromStr>(columns: &mut Split<'_, char>) -> T {
    let text = columns.next().expect("a row has all its columns");
    text.parse().unwrap_or_else(|_| panic!("{text} is not what the column holds"))
}

impl Tables {
    pub(super) fn rows(&self) -> Vec<String> {
        let Self { log, commands, snapshots, meta, notes, in_bucket: _, garbage, changes } = self;
        let log = log.values().map(|Record { seq, revision, at, id, body, entry }| {
            format!("log\t{seq}\t{id}\t{revision}\t{}\t{body}\t{entry}\n", at.0)
        });
        let answers = commands
            .iter()
            .map(|(id, Answered { at, body, receipt })| format!("answers\t{id}\t{}\t{body}\t{receipt}\n", at.0));
        let snapshots = snapshots
            .values()
            .map(|Stored { seq, revision, at, text }| format!("snapshots\t{seq}\t{revision}\t{}\t{text}\n", at.0));
        let meta = meta.iter().map(|(key, value)| format!("meta\t{}\t{value}\n", key.as_str()));
        let notes = notes.values().map(|(_, _, Note { name, text, owner })| {
            format!("notes\t{name}\t{text}\t{}\n", owner.as_ref().map_or("", UserId::as_str))
        });
        let buckets =
            changes.iter().map(|(bucket, (changes, published))| format!("buckets\t{bucket}\t{changes}\t{published}\n"));
        let garbage = garbage.iter().map(|(due, key)| format!("garbage\t{}\t{key}\n", due.0));
        log.chain(answers).chain(snapshots).chain(meta).chain(notes).chain(garbage).chain(buckets).collect()
    }

    pub(super) fn put(&mut self, row: &str) {
        let mut columns = row.split('\t');
        let at = &mut columns;
        match next::<String>(at).as_str() {
            "log" => {
                let (seq, id, revision, time) = (next(at), command(at), next(at), Timestamp(next(at)));
                self.log.insert(seq, Record { seq, revision, at: time, id, body: next(at), entry: next(at) });
            }
            "answers" => {
                let (id, time) = (command(at), Timestamp(next(at)));
                self.commands.insert(id, Answered { at: time, body: next(at), receipt: next(at) });
            }
            "snapshots" => {
                let (seq, revision, time) = (next(at), next(at), Timestamp(next(at)));
                self.snapshots.insert(seq, Stored { seq, revision, at: time, text: next(at) });
            }
            "meta" => {
                let name: String = next(at);
                let key = [Meta::Published, Meta::Sealed, Meta::Restoring, Meta::Missing, Meta::Deleted]
                    .into_iter()
                    .find(|key| key.as_str() == name);
                self.meta.insert(key.unwrap_or_else(|| panic!("an unknown value {name}")), next(at));
            }
            "notes" => {
                let name: String = next(at);
                let text: String = next(at);
                // Earlier versions did not say whose a note is.
                let owner = at.next().and_then(|owner| UserId::new(owner).ok());
                let bytes = weight(&name, &text, owner.as_ref());
                self.put_note((bucket(&name), bytes, Note { name, text, owner }));
            }
            "garbage" => drop(self.garbage.insert((Timestamp(next(at)), next(at)))),
            "buckets" => drop(self.changes.insert(next(at), (next(at), next(at)))),
            table => panic!("an unknown table {table}"),
        }
        assert_eq!(columns.next(), None, "{row} has more columns than its table");
    }
}

/// A command's name.
fn command(columns: &mut Split<'_, char>) -> CommandId {
    CommandId::new(&next::<String>(columns)).expect("a good name")
}
