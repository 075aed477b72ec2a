//! A cluster under load has no more in memory the longer that goes on: what is there beside its jobs is bounded, also where
//! no job is like another one.

use engine::message::snapshot::Snapshot;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use protocol::cluster::SLOT_MS;
use protocol::fault::Failure;
use protocol::log::text_of;
use protocol::note::Note;
use protocol::note::NoteChange;
use protocol::profile::Profile;
use protocol::publish::Occasion;
use protocol::replay::restore_state;
use serde_json::Value;
use serde_json::json;

use crate::life::Life;
use crate::memory::START;
use crate::world::envelope;
use crate::world::sender;

const MINUTES: i64 = 10;
/// Each of them brings a job, and one goes.
const APART: Millis = Millis(100);
const GPUS: u64 = 100;
/// After so many others a job is cancelled, if it has not ended.
const UNFINISHED: u64 = 200;
const USERS: u64 = 20;
const NOTE_BYTES: usize = 200;
/// What else there may be: classes of which no job waits any more are kept until there are too many of them. If they were
/// kept for ever, that would be 225,000 bytes in the last minute.
const SPARE: isize = 190_000;

impl Life {
    /// A job that may run, or one of a gang that nothing else is like.
    fn load(&mut self, now: Timestamp) {
        let number = self.n_jobs;
        self.n_jobs += 1;
        let (gpus, count) = if number.is_multiple_of(2) { (1 + number % 4, 1) } else { (1, GPUS + number) };
        let job = json!({ "job": format!("job-{number}"), "quota": if self.random.percent(50) { "a" } else { "b" },
            "user": format!("user-{}", self.random.below(USERS)),
            "pods": [{ "amount": { "gpu": 1000 * gpus }, "count": count }],
            "priority": 1 + self.random.below(9), "duration_ms": 1_000 * (1 + self.random.below(100)) });
        let note = NoteChange::Put(Note::new(format!("job/job-{number}"), "n".repeat(NOTE_BYTES)));
        let envelope = envelope(&format!("submit-{number}"), &json!({ "submit_job": job }));
        self.cluster.submit_noted(&envelope, &sender(), &[note], now).expect("it is accepted");
        if let Some(old) = number.checked_sub(UNFINISHED) {
            self.say(&format!("cancel-{old}"), &json!({ "cancel_job": { "job": format!("job-{old}") } }), now);
        }
    }

    /// Says something about a job that may have ended.
    fn say(&mut self, what: &str, command: &Value, now: Timestamp) {
        match self.cluster.submit(&envelope(what, command), &sender(), now) {
            Ok(_) | Err(Failure::Refused(_)) => {}
            Err(failure) => panic!("{failure}"),
        }
    }

    /// How many bytes the state takes where it has just been opened.
    fn opened_bytes(&mut self) -> isize {
        let text = self.cluster.with_state(|state| text_of(&Snapshot::of(state)));
        let text = text.expect("reading works").expect("it is text");
        let before = heap::live();
        let opened = restore_state("the state", [Ok(text.clone())]).expect("it is one");
        let bytes = heap::live() - before;
        drop(opened);
        bytes
    }
}

#[test]
fn under_load_there_is_no_more_in_memory_than_after_a_restart() {
    let before = heap::live();
    let mut life = Life::new(Profile::default(), GPUS);
    for minute in 0..MINUTES {
        let begin = START + Millis(minute * SLOT_MS);
        for step in 0..SLOT_MS / APART.0 {
            let now = begin + Millis(step * APART.0);
            life.ring(now);
            life.load(now);
            life.publish(Occasion::Command, now);
        }
        life.end_minute(begin + Millis(SLOT_MS));
        let (all, opened) = (heap::live() - before, life.opened_bytes());
        let jobs = life.cluster.with_state(|state| state.jobs.len()).expect("reading works");
        println!("minute {minute}: {jobs} jobs, {all} bytes, {opened} when they are opened anew");
        assert!(all <= opened + SPARE, "{all} bytes in memory, where {opened} are enough");
    }
}
