//! The agent's loop, between a runner and a link to the service.

use std::collections::BTreeSet;
use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;
use std::time::Duration;

use agent::act::Act;
use agent::agent::Agent;
use agent::agent::Heard;
use agent::message::FORMAT;
use agent::message::Hello;
use agent::message::SyncAnswer;
use agent::message::SyncRequest;
use agent::message::TAIL_BYTES_MAX;
use agent::message::Tail;
use agent::message::TailKept;
use agent::message::Welcome;
use agent::run::RunId;
use agent::script::Script;
use agent::seen::Listing;
use agent::seen::Phase;

use crate::clock;
use crate::verbs::Runner;

/// How long the first pause after a failure is; each further one is twice as long.
const PAUSE_FIRST_MS: u64 = 200;
/// No pause is longer.
const PAUSE_MAX_MS: u64 = 30_000;

/// The way to the service. Each call ends within a bounded time.
pub trait Link {
    /// Introduces the agent.
    fn hello(&mut self, hello: &Hello) -> Result<Welcome, LinkError>;
    /// Tells everything and is told everything.
    fn sync(&mut self, request: &SyncRequest) -> Result<SyncAnswer, LinkError>;
    /// Tells the end of what a run has printed; whether it is kept.
    fn tail(&mut self, tail: &Tail) -> Result<TailKept, LinkError>;
    /// Fetches what a run executes.
    fn script(&mut self, digest: &str) -> Result<Script, LinkError>;
}

/// Why there is no answer.
#[derive(Debug)]
pub enum LinkError {
    /// A newer agent has taken over.
    Superseded,
    /// The service does not know it yet, or any more: it has to say hello.
    Unknown,
    /// The service does not want to hear this agent.
    Refused(String),
    /// The service does not know the agent's key. It may have lost its storage, and know it again when that is restored.
    Unproved(String),
    /// Nothing was heard.
    Silent(String),
}

/// Why an agent ends. What runs goes on.
#[derive(Debug)]
pub enum End {
    /// It was asked to.
    Asked,
    /// A newer agent has taken over.
    Superseded,
    /// The service does not want to hear this agent.
    Refused(String),
    /// The runner cannot say what is there.
    Runner(io::Error),
}

impl From<io::Error> for End {
    fn from(error: io::Error) -> Self {
        Self::Runner(error)
    }
}

/// Serves until something ends the agent. Who sets `is_asked_to_end` wakes the runner then, which may be waiting.
pub fn serve(link: &mut impl Link, runner: &mut impl Runner, is_asked_to_end: &AtomicBool) -> End {
    let (mut pause, mut tails) = (Pause::new(), Tails::default());
    let mut was_welcome = false;
    loop {
        let mut agent = match introduce(link, runner, &mut pause, is_asked_to_end, was_welcome) {
            Ok(agent) => agent,
            Err(end) => return end,
        };
        was_welcome = true;
        while !is_asked_to_end.load(Ordering::Acquire) {
            match turn(&mut agent, link, runner, &mut pause, &mut tails) {
                Ok(Next::Sync) => {}
                Ok(Next::Hello) => break,
                Err(end) => return end,
            }
        }
    }
}

/// What an agent says next.
enum Next {
    Sync,
    Hello,
}

/// Says hello until there is an answer. A key that never served, of an agent that has nothing to look after, is a mistake that
/// somebody wants to hear of at once.
fn introduce(
    link: &mut impl Link,
    runner: &mut impl Runner,
    pause: &mut Pause,
    is_asked_to_end: &AtomicBool,
    was_welcome: bool,
) -> Result<Agent, End> {
    let hello = Hello { format: FORMAT, store: runner.store().to_owned() };
    while !is_asked_to_end.load(Ordering::Acquire) {
        let length = match link.hello(&hello) {
            Ok(Welcome { incarnation, .. }) => return Ok(Agent::new(incarnation, runner.heard())),
            Err(LinkError::Superseded) => return Err(End::Superseded),
            Err(LinkError::Refused(reason)) => return Err(End::Refused(reason)),
            Err(LinkError::Unproved(reason)) if !was_welcome && runner.list()?.runs.is_empty() => {
                return Err(End::Refused(reason));
            }
            Err(LinkError::Unproved(reason)) => pause.unproved(&reason),
            Err(LinkError::Unknown) => pause.after("the service asks for another hello"),
            Err(LinkError::Silent(reason)) => pause.after(&reason),
        };
        runner.wait(Duration::from_millis(length));
    }
    Err(End::Asked)
}

/// One exchange, and what follows from it.
fn turn(
    agent: &mut Agent,
    link: &mut impl Link,
    runner: &mut impl Runner,
    pause: &mut Pause,
    tails: &mut Tails,
) -> Result<Next, End> {
    let listing = carry_out(agent, link, runner)?;
    tails.tell(agent, link, runner, &listing);
    let sent = clock::now();
    let interval = match link.sync(&agent.request(&listing, sent)) {
        Ok(answer) => {
            let (interval, offered) = (answer.interval_ms, answer.offered.clone());
            // A message that cannot be read is as good as none: what was heard before still counts.
            match agent.hear(answer, sent, clock::now()) {
                Ok(heard) => {
                    if heard == Heard::Newest
                        && let Err(error) = runner.told(&offered)
                    {
                        eprintln!("{error}; it is tried again");
                    }
                    keep_heard(agent, &listing, runner)?;
                    pause.reset();
                }
                Err(bad) => eprintln!("what the service says cannot be taken: {bad}"),
            }
            jittered(interval.clamp(10, PAUSE_MAX_MS))
        }
        Err(LinkError::Superseded) => return Err(End::Superseded),
        Err(LinkError::Refused(reason)) => return Err(End::Refused(reason)),
        Err(LinkError::Unknown) => return Ok(Next::Hello),
        Err(LinkError::Unproved(reason)) => pause.unproved(&reason),
        Err(LinkError::Silent(reason)) => pause.after(&reason),
    };
    let after = carry_out(agent, link, runner)?;
    let is_news = |run, seen: &agent::seen::Seen| {
        listing.runs.get(run).is_none_or(|before| before.phase != seen.phase && !before.phase.is_live())
    };
    if !after.runs.iter().any(|(run, seen)| is_news(run, seen)) {
        runner.wait(Duration::from_millis(interval));
    }
    Ok(Next::Sync)
}

/// Does what follows now; what is there then.
fn carry_out(agent: &Agent, link: &mut impl Link, runner: &mut impl Runner) -> Result<Listing, End> {
    // What is prepared can be started at once, and what was stopped may be cleared: a second look, no more.
    for _ in 0..2 {
        let listing = runner.list()?;
        let acts = agent.decide(&listing, clock::now());
        if acts.is_empty() {
            return Ok(listing);
        }
        for act in acts {
            // What fails is decided again at the next look, from what is there then.
            let done = match &act {
                Act::Prepare(run) => prepare(agent, link, runner, *run),
                Act::Start(run) => runner.start(*run),
                Act::Stop(run, stop) => runner.stop(*run, stop),
                Act::Change(run, pods) => runner.change(*run, pods),
                Act::Forget(run) => runner.forget(*run),
            };
            if let Err(error) = done {
                eprintln!("{act:?}: {error}");
            }
        }
    }
    Ok(runner.list()?)
}

fn prepare(agent: &Agent, link: &mut impl Link, runner: &mut impl Runner, run: agent::run::RunId) -> io::Result<()> {
    let Some(want) = agent.want(run) else { return Ok(()) };
    let script = link.script(&want.script).map_err(|error| io::Error::other(format!("{error:?}")))?;
    runner.prepare(want, &script)
}

/// Only runs that end in silence need it, so nothing is written for the others.
fn keep_heard(agent: &Agent, listing: &Listing, runner: &mut impl Runner) -> io::Result<()> {
    let is_needed = listing.runs.values().any(|seen| seen.stop_after_ms.is_some()) || agent.wants_lease();
    match agent.heard().filter(|_| is_needed) {
        Some(at) => runner.keep_heard(at),
        None => Ok(()),
    }
}

/// The runs of whose logs the end has been told. A restarted agent tells it again.
#[derive(Default)]
struct Tails(BTreeSet<RunId>);

impl Tails {
    /// Tells what ended runs have printed, before it is told that they have ended. The end itself waits for nothing: what
    /// cannot be told now is missing.
    fn tell(&mut self, agent: &Agent, link: &mut impl Link, runner: &mut impl Runner, listing: &Listing) {
        self.0.retain(|run| listing.runs.contains_key(run));
        let has_ended = |seen: &agent::seen::Seen| matches!(seen.phase, Phase::Ended(_)) && seen.log_bytes > 0;
        for (run, seen) in listing.runs.iter().filter(|(_, seen)| has_ended(seen)) {
            if !self.0.insert(*run) {
                continue;
            }
            let printed = last_bytes(runner, *run, seen.log_bytes);
            let told = printed.map(|printed| link.tail(&Tail::of(agent.incarnation(), *run, seen.log_bytes, &printed)));
            match told {
                Ok(Ok(_)) => {}
                Ok(Err(error)) => eprintln!("the end of what run {run} printed is not told: {error:?}"),
                Err(error) => eprintln!("what run {run} printed cannot be read: {error}"),
            }
        }
    }
}

/// The end of what a run has printed, which may be in several files.
fn last_bytes(runner: &mut impl Runner, run: RunId, end: u64) -> io::Result<Vec<u8>> {
    let mut at = end.saturating_sub(TAIL_BYTES_MAX as u64);
    let mut bytes = Vec::new();
    while at < end && bytes.len() < TAIL_BYTES_MAX {
        let chunk = runner.log(run, at, TAIL_BYTES_MAX - bytes.len())?;
        if chunk.bytes.is_empty() {
            break;
        }
        at = chunk.offset + chunk.bytes.len() as u64;
        bytes.extend(chunk.bytes);
    }
    Ok(bytes)
}

/// Agents that began together do not stay together.
fn jittered(interval: u64) -> u64 {
    interval - clock::now() % (interval / 5 + 1)
}

/// Pauses that double.
struct Pause {
    length: u64,
    /// Whether it has been said that the key does not serve: a service that is away comes back so when its storage is lost.
    has_said_unproved: bool,
}

impl Pause {
    fn new() -> Self {
        Self { length: PAUSE_FIRST_MS, has_said_unproved: false }
    }

    fn next(&mut self) -> u64 {
        let now = self.length;
        self.length = (now * 2).min(PAUSE_MAX_MS);
        // Agents that lost the service together do not come back together.
        now / 2 + clock::now() % (now / 2 + 1)
    }

    /// The next pause; the first one after an answer says why.
    fn after(&mut self, reason: &str) -> u64 {
        if self.length == PAUSE_FIRST_MS {
            eprintln!("no answer from the service: {reason}; what runs goes on");
        }
        self.next()
    }

    /// The next pause while the key does not serve, which is said once.
    fn unproved(&mut self, reason: &str) -> u64 {
        if !std::mem::replace(&mut self.has_said_unproved, true) {
            eprintln!("{reason}; what runs goes on, and the agent keeps asking");
        }
        self.next()
    }

    fn reset(&mut self) {
        *self = Self::new();
    }
}
