//! Snapshots that are read piece by piece: of a large one the whole text is never there beside the jobs.

use crate::message::rejection::Rejection;
use crate::message::snapshot::Snapshot;
use crate::message::snapshot::sharing::Shared;
use crate::state::world::State;

/// The field whose elements are read one by one.
const JOBS: &[u8] = b"jobs";

/// A snapshot of which some pieces have been read.
///
/// It is split where its jobs begin and end, and each job is read as soon as all of it is there. Everything else is kept
/// as it came, with an empty list of jobs, and read at the end as a whole snapshot is: by that it is known whether the
/// text is one, however it is cut.
///
/// What reads is compiled where it is used: the service reads jobs in many places, and is compiled for size where the
/// engine is for speed. A copy for speed beside it is 80 KB of the Worker.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "what a reader of text is in the middle of; each has its own end")]
pub struct Pieces {
    /// Everything but jobs.
    rest: String,
    /// The job that has begun.
    job: String,
    jobs: Shared,
    n_jobs: usize,
    /// How many brackets of any kind are open.
    depth: usize,
    is_in_string: bool,
    is_escaped: bool,
    /// The beginning of the last string inside the outermost brackets and of no others.
    string: Vec<u8>,
    /// Whether the value that comes is the list of jobs.
    is_named: bool,
    is_in_jobs: bool,
    /// Whether a comma says that another job comes.
    is_another_due: bool,
}

impl Pieces {
    /// Takes what follows.
    ///
    /// # Errors
    /// A job cannot be read.
    #[inline]
    pub fn add(&mut self, piece: &str) -> Result<(), Rejection> {
        let mut taken = 0;
        for (at, byte) in piece.bytes().enumerate() {
            if self.is_in_string {
                self.go_on_in_string(byte);
                continue;
            }
            match byte {
                b'"' => {
                    self.is_in_string = true;
                    self.string.clear();
                }
                b'[' | b'{' => {
                    let begins_jobs = self.depth == 1 && self.is_named && byte == b'[';
                    self.depth += 1;
                    if begins_jobs {
                        self.take(&piece[taken..=at]);
                        taken = at + 1;
                        (self.is_in_jobs, self.is_another_due) = (true, false);
                    }
                }
                b']' | b'}' => {
                    if self.is_in_jobs && self.depth == 2 {
                        self.take(&piece[taken..at]);
                        taken = at;
                        self.end_jobs()?;
                    }
                    self.depth = self.depth.saturating_sub(1);
                }
                b',' if self.is_in_jobs && self.depth == 2 => {
                    self.take(&piece[taken..at]);
                    taken = at + 1;
                    self.end_job()?;
                    self.is_another_due = true;
                }
                b':' if self.depth == 1 => self.is_named = self.string == JOBS,
                b',' if self.depth == 1 => self.is_named = false,
                _of_no_concern => {}
            }
        }
        self.take(&piece[taken..]);
        Ok(())
    }

    fn go_on_in_string(&mut self, byte: u8) {
        match byte {
            _ if self.is_escaped => self.is_escaped = false,
            b'\\' => self.is_escaped = true,
            b'"' => self.is_in_string = false,
            _letter => {}
        }
        // One byte more than the name has tells it from longer ones.
        if self.is_in_string && self.depth == 1 && self.string.len() <= JOBS.len() {
            self.string.push(byte);
        }
    }

    fn take(&mut self, text: &str) {
        if self.is_in_jobs { self.job.push_str(text) } else { self.rest.push_str(text) }
    }

    #[inline]
    fn end_jobs(&mut self) -> Result<(), Rejection> {
        if self.is_another_due || !self.job.trim().is_empty() {
            self.end_job()?;
        }
        self.is_in_jobs = false;
        Ok(())
    }

    #[inline]
    fn end_job(&mut self) -> Result<(), Rejection> {
        self.n_jobs += 1;
        let read = serde_json::from_str(&self.job).map_err(|error| error.to_string());
        self.job.clear();
        read.and_then(|(no, job)| self.jobs.add(no, job)).map_err(|reason| {
            let reason = format!("job {} of the snapshot: {reason}", self.n_jobs);
            Rejection::Malformed { reason }
        })
    }

    /// The state, once all pieces have been read.
    ///
    /// # Errors
    /// The pieces are not a snapshot, or were damaged on their way.
    #[inline]
    pub fn restore(self) -> Result<State, Rejection> {
        let Self { rest, jobs, n_jobs, .. } = self;
        let malformed = |error: serde_json::Error| Rejection::Malformed { reason: error.to_string() };
        let mut snapshot: Snapshot = serde_json::from_str(&rest).map_err(malformed)?;
        drop(rest);
        // Where the name of the field was spelt with escapes, all jobs are in the rest.
        if n_jobs > 0 {
            snapshot.jobs = jobs.jobs;
        }
        snapshot.restore()
    }
}

#[cfg(test)]
mod tests {
    use super::Pieces;
    use crate::host::authority;
    use crate::message;
    use crate::message::command::Command;
    use crate::message::rejection::Rejection;
    use crate::message::snapshot::Snapshot;
    use crate::state::world::State;
    use crate::unit::time::Timestamp;

    /// The text of a state with jobs that run and wait, whose names have all that a reader could take for something else.
    fn text() -> String {
        let mut state = State::default();
        let founding = [
            r#"{"create_cluster":{"dimensions":[{"name":"gpu","kind":"gpu"}]}}"#,
            r#"{"put_group":{"group":"jobs","resource_type":"lingjun","pool":{"gpu":2000}}}"#,
            r#"{"create_quota":{"quota":"q","groups":["jobs"],"min":{"gpu":2000}}}"#,
        ];
        let names = ["plain", "1]}", "\\\",[", "\\\\", "é\\\"jobs\\\":["];
        let job =
            |name| format!(r#"{{"submit_job":{{"job":"{name}","quota":"q","pods":[{{"amount":{{"gpu":1000}}}}]}}}}"#);
        for text in founding.map(str::to_owned).into_iter().chain(names.map(job)) {
            let command: Command = message::read(text.as_bytes()).unwrap();
            authority::step(&mut state, &command, Timestamp(0)).unwrap();
        }
        assert!(
            state.jobs.iter().any(|(_, job)| job.is_running()) && state.jobs.iter().any(|(_, job)| job.is_queued())
        );
        String::from_utf8(Snapshot::of(&state).to_bytes()).unwrap()
    }

    fn read(pieces: &[&str]) -> Result<State, Rejection> {
        let mut reader = Pieces::default();
        pieces.iter().try_for_each(|piece| reader.add(piece))?;
        reader.restore()
    }

    fn bytes(state: &State) -> Vec<u8> {
        Snapshot::of(state).to_bytes()
    }

    #[test]
    fn a_snapshot_is_the_same_however_it_is_cut() {
        let text = text();
        for cut in (0..=text.len()).filter(|cut| text.is_char_boundary(*cut)) {
            let (start, end) = text.split_at(cut);
            assert_eq!(bytes(&read(&[start, end]).unwrap()), text.as_bytes(), "cut at {cut}");
        }
        let letters: Vec<&str> = text.split("").collect();
        assert_eq!(bytes(&read(&letters).unwrap()), text.as_bytes());
        let spaced = text.replace("\"jobs\":[", " \"jobs\" : [ ").replace("]],\"free", "] \n ] , \"free");
        assert_eq!(bytes(&read(&[&spaced]).unwrap()), text.as_bytes());
        let escaped = text.replace("\"jobs\":[[", "\"\\u006aobs\":[[");
        assert_ne!(escaped, text);
        assert_eq!(bytes(&read(&[&escaped]).unwrap()), text.as_bytes());
    }

    #[test]
    fn what_is_no_snapshot_in_one_piece_is_none_in_several() {
        let text = text();
        let (mut good, mut bad) = (0, 0);
        let others = ["", ",", "]", "}", "[", "\"", "\\", "7", "\"jobs\":[],", ",[]"];
        let places = (0..text.len()).filter(|at| text.is_char_boundary(*at) && text.is_char_boundary(at + 1));
        for (at, other) in places.zip(others.into_iter().cycle()) {
            let damaged = [&text[..at], other, &text[at + 1..]];
            let whole = message::read::<Snapshot>(damaged.concat().as_bytes()).and_then(Snapshot::restore);
            match (whole, read(&damaged)) {
                (Ok(whole), Ok(pieces)) => {
                    assert_eq!(bytes(&whole), bytes(&pieces), "{damaged:?}");
                    good += 1;
                }
                (whole, pieces) => {
                    assert_eq!(whole.is_ok(), pieces.is_ok(), "{damaged:?}");
                    bad += 1;
                }
            }
        }
        assert!(good > 10 && bad > 1_000, "{good} can be read, {bad} cannot");
    }
}
