//! The stand-in for the service, behind its socket.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]
use std::collections::BTreeSet;
use std::io;
use std::os::unix::net::UnixListener;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;

use agent::message::RunState;
use agent::message::SyncRequest;
use agent::pods::Change;
use runner::clock;

use crate::authority::Authority;
use crate::link;
use crate::link::Answer;
use crate::link::Question;
use crate::random::Random;

struct Inside {
    authority: Authority,
    random: Random,
    /// Every run of which an agent said that it has ended.
    reported: BTreeSet<String>,
    /// How many pods were asked to join, and the orders to leave that were followed.
    left: BTreeSet<String>,
    joined: usize,
}

pub(crate) struct Service(Arc<Mutex<Inside>>);

impl Service {
    /// Listens until the test is over.
    pub(crate) fn begin(path: &Path, seed: u64) -> Self {
        let listener = UnixListener::bind(path).unwrap();
        let inside = Inside {
            authority: Authority::new(None),
            random: Random::new(seed),
            reported: BTreeSet::new(),
            left: BTreeSet::new(),
            joined: 0,
        };
        let inside = Arc::new(Mutex::new(inside));
        let shared = Arc::clone(&inside);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                // An agent that is killed while it asks or is told hears nothing, as when the network fails.
                drop(stream.and_then(|stream| answer(stream, &shared)));
            }
        });
        Self(inside)
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.0.lock().unwrap()
    }

    /// People submit, cancel and evict.
    pub(crate) fn go_on(&self, random: &mut Random) {
        let (nth, grace, now) = (random.below(100), random.below(400), clock::now());
        let authority = &mut self.inside().authority;
        authority.submit(random);
        authority.submit(random);
        match random.below(100) {
            0..=3 => authority.cancel(nth, now, grace),
            4..=9 => authority.evict(nth, now, grace),
            10..=11 => authority.evict(nth, now, 0),
            _ => {}
        }
        if random.per_mille(600) {
            authority.grow(random.below(100));
        }
        if random.per_mille(400) {
            authority.shrink(random.below(100), now);
        }
        authority.pass(now);
    }

    pub(crate) fn stop_everything(&self) {
        self.inside().authority.stop_everything(clock::now());
    }

    pub(crate) fn left_over(&self) -> Option<String> {
        self.inside().authority.left_over()
    }

    pub(crate) fn n_ended(&self) -> u64 {
        self.inside().reported.len() as u64
    }

    /// How many pods joined runs that go on, and how many left them.
    pub(crate) fn turnover(&self) -> (usize, usize) {
        let inside = self.inside();
        (inside.joined, inside.left.len())
    }

    /// Whether pods have both joined runs that go on, and left them.
    pub(crate) fn has_turnover(&self) -> bool {
        let (joined, left) = self.turnover();
        joined > 0 && left > 0
    }

    pub(crate) fn reported(&self) -> BTreeSet<String> {
        self.inside().reported.clone()
    }
}

fn answer(mut stream: UnixStream, shared: &Mutex<Inside>) -> io::Result<()> {
    let question = link::read(&stream)?;
    let mut inside = shared.lock().unwrap();
    let now = clock::now();
    let answer = match question {
        Question::Hello(agent, hello) => Answer::Hello(inside.authority.hello(agent, &hello)),
        Question::Sync(agent, request) => {
            inside.note(&request);
            let answer = inside.authority.sync(agent, &request, now);
            let more = |change: &Change| {
                request.runs.iter().any(|report| report.run == change.run && report.pods < change.pods.len())
            };
            inside.joined += answer.iter().flat_map(|answer| &answer.change).filter(|change| more(change)).count();
            Answer::Sync(answer)
        }
    };
    let is_lost = inside.random.per_mille(50);
    drop(inside);
    if is_lost { Ok(()) } else { link::write(&mut stream, &answer) }
}

impl Inside {
    fn note(&mut self, request: &SyncRequest) {
        let ended = request.runs.iter().filter(|report| matches!(report.state, RunState::Ended(_)));
        self.left.extend(request.runs.iter().flat_map(|report| &report.gone).map(ToString::to_string));
        self.reported.extend(ended.map(|report| report.run.to_string()));
    }
}
