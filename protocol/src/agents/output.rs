//! What runs print while somebody watches: the newest of it, in memory alone. A service that has forgotten it is asked again
//! by the next reader, and asks the agent.

use std::collections::BTreeMap;
use std::collections::VecDeque;

use agent::output::OUTPUT_BYTES_MAX;
use agent::output::Output;
use agent::output::OutputTaken;
use agent::run::RunId;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;

/// For how long a reader counts as watching after each look.
pub const WATCHED_FOR: Millis = Millis(30_000);
/// After how long without a piece the agent is asked again: it sends one every few seconds, even an empty one.
const ASKED_AGAIN: Millis = Millis(10_000);
/// How many runs are watched at most; of more, the one that was looked at longest ago goes.
const RUNS_MAX: usize = 32;

/// The runs that are watched.
#[derive(Debug, Default)]
pub struct Relay(BTreeMap<RunId, Watched>);

#[derive(Debug)]
struct Watched {
    /// When somebody last looked.
    looked: Timestamp,
    /// When the agent was last asked, or sent something.
    heard: Timestamp,
    pieces: VecDeque<Piece>,
    /// Where the next piece begins, once there was one.
    end: Option<u64>,
}

#[derive(Debug)]
struct Piece {
    offset: u64,
    bytes: u64,
    text: String,
}

/// What there is to read of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Read {
    /// Where the text begins, in bytes of the log.
    pub from: u64,
    /// Where it ends.
    pub end: u64,
    /// The text.
    pub text: String,
}

impl Relay {
    /// Somebody watches a run from now on; whether its agent is to be asked.
    pub fn watch(&mut self, run: RunId, now: Timestamp) -> bool {
        self.drop_unwatched(now);
        if let Some(watched) = self.0.get_mut(&run) {
            watched.looked = now;
            let is_quiet = now - watched.heard >= ASKED_AGAIN;
            if is_quiet {
                watched.heard = now;
            }
            return is_quiet;
        }
        let oldest = self.0.iter().min_by_key(|(_, watched)| watched.looked).map(|(run, _)| *run);
        if let Some(oldest) = oldest.filter(|_| self.0.len() >= RUNS_MAX) {
            self.0.remove(&oldest);
        }
        self.0.insert(run, Watched { looked: now, heard: now, pieces: VecDeque::new(), end: None });
        true
    }

    /// Takes a piece. One that does not follow what is there is told where to go on; one from further on leaves a gap.
    pub fn take(&mut self, output: Output, now: Timestamp) -> OutputTaken {
        self.drop_unwatched(now);
        let Output { run, offset, bytes, text, .. } = output;
        let end = offset.saturating_add(bytes);
        let Some(watched) = self.0.get_mut(&run) else { return OutputTaken { next: end, is_watched: false } };
        watched.heard = now;
        if let Some(next) = watched.end.filter(|next| offset < *next) {
            return OutputTaken { next, is_watched: true };
        }
        if watched.end.is_some_and(|next| offset > next) {
            watched.pieces.clear();
        }
        watched.end = Some(end);
        if bytes > 0 {
            watched.pieces.push_back(Piece { offset, bytes, text });
        }
        watched.shorten();
        OutputTaken { next: end, is_watched: true }
    }

    /// What a run has printed after this byte, or everything that is there; none if nothing has come yet.
    #[must_use]
    pub fn read(&self, run: RunId, after: Option<u64>) -> Option<Read> {
        let watched = self.0.get(&run)?;
        let end = watched.end?;
        let after = after.unwrap_or_default();
        let newer = watched.pieces.iter().filter(|piece| piece.offset + piece.bytes > after);
        let parts: Vec<(u64, &str)> = newer.map(|piece| piece.after(after)).collect();
        let from = parts.first().map_or(end, |(from, _)| *from);
        Some(Read { from, end, text: parts.into_iter().map(|(_, text)| text).collect() })
    }

    fn drop_unwatched(&mut self, now: Timestamp) {
        self.0.retain(|_, watched| now - watched.looked < WATCHED_FOR);
    }
}

impl Piece {
    /// Where it begins, and its text, without what comes before a byte. Of what was no text all is shown again: it is longer
    /// as text.
    fn after(&self, after: u64) -> (u64, &str) {
        if self.text.len() as u64 == self.bytes {
            rest(self.offset, &self.text, after)
        } else {
            (self.offset, &self.text)
        }
    }
}

/// What is left of a text that begins at a byte of the log, after another byte: where it begins, with a whole letter.
#[must_use]
pub fn rest(offset: u64, text: &str, after: u64) -> (u64, &str) {
    let read = usize::try_from(after.saturating_sub(offset)).unwrap_or(usize::MAX);
    let begin = text.floor_char_boundary(read);
    (offset + begin as u64, &text[begin..])
}

impl Watched {
    /// Drops the oldest pieces above what is kept; the newest stays.
    fn shorten(&mut self) {
        let mut bytes: usize = self.pieces.iter().map(|piece| piece.text.len()).sum();
        while bytes > OUTPUT_BYTES_MAX && self.pieces.len() > 1 {
            bytes -= self.pieces.pop_front().map_or(0, |piece| piece.text.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use agent::output::OUTPUT_BYTES_MAX;
    use agent::output::Output;
    use agent::output::OutputTaken;
    use agent::run::RunId;
    use engine::unit::time::Timestamp;

    use super::ASKED_AGAIN;
    use super::RUNS_MAX;
    use super::Relay;
    use super::WATCHED_FOR;

    const NOW: Timestamp = Timestamp(1_000);

    fn run(no: u64) -> RunId {
        RunId::parse(&format!("0-{no}")).unwrap()
    }

    fn take(relay: &mut Relay, offset: u64, text: &str) -> OutputTaken {
        relay.take(Output::of(1, run(1), offset, text.as_bytes()), NOW)
    }

    fn text(relay: &Relay, after: Option<u64>) -> Option<(u64, u64, String)> {
        relay.read(run(1), after).map(|read| (read.from, read.end, read.text))
    }

    #[test]
    fn what_is_printed_is_read_from_where_one_has_read() {
        let mut relay = Relay::default();
        assert!(relay.watch(run(1), NOW), "the agent is asked");
        assert_eq!(text(&relay, None), None);
        assert_eq!(take(&mut relay, 10, "one\n"), OutputTaken { next: 14, is_watched: true });
        assert_eq!(take(&mut relay, 14, "two\n"), OutputTaken { next: 18, is_watched: true });
        assert_eq!(text(&relay, None), Some((10, 18, "one\ntwo\n".to_owned())));
        assert_eq!(text(&relay, Some(14)), Some((14, 18, "two\n".to_owned())));
        assert_eq!(text(&relay, Some(18)), Some((18, 18, String::new())));
        assert!(!relay.watch(run(1), NOW), "it sends already");
    }

    #[test]
    fn what_comes_twice_is_taken_once_and_a_gap_is_seen() {
        let mut relay = Relay::default();
        relay.watch(run(1), NOW);
        take(&mut relay, 0, "one\n");
        assert_eq!(take(&mut relay, 0, "one\n"), OutputTaken { next: 4, is_watched: true });
        assert_eq!(take(&mut relay, 100, "late\n"), OutputTaken { next: 105, is_watched: true });
        assert_eq!(text(&relay, Some(4)), Some((100, 105, "late\n".to_owned())));
        assert_eq!(text(&relay, None), Some((100, 105, "late\n".to_owned())), "what stands before a gap is not joined");
    }

    #[test]
    fn who_has_read_a_part_of_a_piece_reads_the_rest() {
        let mut relay = Relay::default();
        relay.watch(run(1), NOW);
        take(&mut relay, 10, "one\nzwei: ü\n");
        assert_eq!(text(&relay, Some(14)), Some((14, 23, "zwei: ü\n".to_owned())));
        assert_eq!(text(&relay, Some(21)), Some((20, 23, "ü\n".to_owned())), "from a whole letter");
        relay.take(Output::of(1, run(1), 23, b"\xff\xff\n"), NOW);
        assert_eq!(relay.read(run(1), Some(25)).unwrap().from, 23, "what is no text is shown again");
    }

    #[test]
    fn nobody_watches_for_longer_than_they_look() {
        let mut relay = Relay::default();
        assert_eq!(take(&mut relay, 0, "one\n"), OutputTaken { next: 4, is_watched: false });
        relay.watch(run(1), NOW);
        let late = relay.take(Output::of(1, run(1), 0, b"one\n"), NOW + WATCHED_FOR);
        assert!(!late.is_watched);
        assert_eq!(text(&relay, None), None);
    }

    #[test]
    fn an_agent_that_sends_nothing_is_asked_again() {
        let mut relay = Relay::default();
        relay.watch(run(1), NOW);
        assert!(relay.watch(run(1), NOW + ASKED_AGAIN));
        assert!(!relay.watch(run(1), NOW + ASKED_AGAIN), "once in that time");
    }

    #[test]
    fn the_newest_is_kept_and_no_more() {
        let mut relay = Relay::default();
        relay.watch(run(1), NOW);
        let piece = "x".repeat(OUTPUT_BYTES_MAX / 4);
        for at in 0..10 {
            take(&mut relay, at * piece.len() as u64, &piece);
        }
        let read = relay.read(run(1), None).unwrap();
        assert_eq!((read.text.len(), read.from), (OUTPUT_BYTES_MAX, 6 * piece.len() as u64));
    }

    #[test]
    fn so_many_are_watched_and_the_longest_unseen_goes() {
        let mut relay = Relay::default();
        for no in 0..=RUNS_MAX as u64 {
            relay.watch(run(no), Timestamp(NOW.0 + i64::try_from(no).unwrap()));
        }
        let now = Timestamp(NOW.0 + 100);
        assert!(relay.watch(run(0), now), "it was the first to go");
        assert!(!relay.watch(run(RUNS_MAX as u64), now));
    }
}
