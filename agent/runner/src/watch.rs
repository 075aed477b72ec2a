//! What a supervisor sees and does while the pods of its run live.

mod output;
mod running;
mod turnover;

pub(crate) use crate::watch::running::Ground;

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Duration;

use agent::exit::Exit;
use agent::script;
use agent::silence;
use agent::silence::SILENCE_GRACE_MS;
use rustix::event::PollFd;
use rustix::event::PollFlags;
use rustix::event::poll;
use rustix::process::Signal;
use rustix::time::Timespec;

use crate::clock;
use crate::folder::Folder;
use crate::folder::Work;
use crate::log::Log;
use crate::processes::send;
use crate::store;
use crate::watch::running::Running;

/// How long a supervisor sleeps at most: it waits for those that it has adopted, of whose end nothing tells it.
const SLEEP_MAX_MS: u64 = 10_000;
/// How often it looks for a checkpoint while its run is stopping.
const CHECKPOINT_LOOK_MS: u64 = 100;
/// How much too early a file may seem to be written.
const FILE_TIME_MS: u64 = 20;

/// How far a stop has come.
#[derive(Clone, Copy)]
struct Stopping {
    kill_at: u64,
    /// When it was asked for a checkpoint.
    since: u64,
    /// When the group is told to end, if it has not been.
    term_at: Option<u64>,
}

pub(crate) struct Watch {
    wake: File,
    log: Log,
    since: u64,
    running: Running,
    stopping: Option<Stopping>,
}

impl Watch {
    pub(crate) fn new(ground: &Ground) -> io::Result<Self> {
        let wake = store::open_pipe(&ground.folder.file("wake"))?;
        let log = Log::new(&ground.folder.path, ground.order.part_bytes);
        Ok(Self { wake, log, since: clock::now(), running: Running::default(), stopping: None })
    }

    /// Starts every pod, or says how the run ends.
    pub(crate) fn start(&mut self, ground: &Ground) -> Result<(), Exit> {
        if ground.work.script.command.is_empty() {
            return Err(Exit::Command("there is no command".to_owned()));
        }
        ground.work.want.pods.iter().try_for_each(|pod| self.running.start_pod(ground, pod))
    }

    /// Waits for the end: of all pods, or of the first one that fails.
    pub(crate) fn wait(&mut self, ground: &Ground) -> Exit {
        loop {
            // Who has ended by itself was not told to stop, even if the order is there by now.
            self.running.reap();
            if let Some(exit) = self.running.exit(ground.folder, self.is_told()) {
                return exit;
            }
            let mut next = self.look(ground.state, ground.folder, ground.work);
            if !self.is_told() {
                match self.running.turn_over(ground, clock::now()) {
                    Ok(at) => next = next.min(at),
                    Err(exit) => return exit,
                }
            }
            self.sleep(next);
            self.drain();
            store::take(&mut self.wake);
        }
    }

    /// Whether the run was told to stop.
    pub(crate) fn is_told(&self) -> bool {
        self.stopping.is_some()
    }

    /// Sends the signals that are due; when to look again.
    fn look(&mut self, state: &Path, folder: &Folder, work: &Work) -> u64 {
        let now = clock::now();
        let mut next = now + SLEEP_MAX_MS;
        let mut kill_at = folder.kill_at().ok().flatten();
        let heard = || store::heard(state).unwrap_or(self.since);
        let silence_ends = work.want.stop_after_ms.and_then(|after| silence::ends_at(heard(), Some(after)));
        match silence_ends {
            Some(end) if end <= now => {
                let end = self.stopping.map_or(now + SILENCE_GRACE_MS, |stopping| stopping.kill_at);
                kill_at = Some(kill_at.map_or(end, |earlier| earlier.min(end)));
            }
            Some(end) => next = next.min(end),
            None => {}
        }
        let Some(kill_at) = kill_at else { return next };
        self.stop(kill_at, folder, work.script.checkpoint, now).min(next)
    }

    fn stop(&mut self, kill_at: u64, folder: &Folder, checkpoint: Option<script::Signal>, now: u64) -> u64 {
        let term_at = match self.stopping {
            None => match checkpoint {
                // It is asked for a checkpoint first, and told to end when it has one, or half of the time is over.
                Some(signal) if now < kill_at => {
                    self.running
                        .pods
                        .iter()
                        .filter(|pod| pod.status.is_none())
                        .for_each(|pod| send(pod.pid, number(signal)));
                    Some(now + (kill_at - now) / 2)
                }
                Some(_) | None => Some(now),
            },
            Some(stopping) => stopping.term_at.map(|at| at.min(kill_at)),
        };
        let since = self.stopping.map_or(now, |stopping| stopping.since);
        let is_newer = |at: u64| at.saturating_add(FILE_TIME_MS) >= since;
        let has_checkpoint = self.stopping.is_some() && folder.checkpoint().is_some_and(is_newer);
        let is_due = term_at.is_some_and(|at| at <= now || has_checkpoint);
        if is_due {
            self.running.send_to_groups(Signal::TERM);
        }
        if kill_at <= now {
            self.running.send_to_groups(Signal::KILL);
        }
        let term_at = term_at.filter(|_| !is_due);
        self.stopping = Some(Stopping { kill_at, since, term_at });
        let look = now + CHECKPOINT_LOOK_MS;
        if kill_at <= now { look } else { term_at.map_or(kill_at, |at| at.min(look)) }
    }

    fn sleep(&mut self, until: u64) {
        let until = self.running.pods.iter().filter_map(|pod| pod.output.due()).fold(until, u64::min);
        let timeout = Timespec::try_from(Duration::from_millis(until.saturating_sub(clock::now()))).ok();
        let mut waits = vec![PollFd::new(&self.wake, PollFlags::IN)];
        let outputs = self.running.pods.iter().filter_map(|pod| pod.output.pipe.as_ref());
        waits.extend(outputs.map(|output| PollFd::new(output, PollFlags::IN)));
        let living = self.running.pods.iter().filter(|pod| pod.status.is_none());
        waits.extend(living.filter_map(|pod| pod.end.as_ref()).map(|end| PollFd::new(end, PollFlags::IN)));
        let _ = poll(&mut waits, timeout.as_ref());
    }

    /// Waits for everybody who has ended, adopted ones included.
    pub(crate) fn reap(&mut self) {
        self.running.reap();
    }

    /// Takes what was printed.
    pub(crate) fn drain(&mut self) {
        let now = clock::now();
        for pod in &mut self.running.pods {
            pod.output.drain(&mut self.log, now);
        }
    }
}

fn number(signal: script::Signal) -> Signal {
    match signal {
        script::Signal::Usr1 => Signal::USR1,
        script::Signal::Usr2 => Signal::USR2,
        script::Signal::Int => Signal::INT,
        script::Signal::Hup => Signal::HUP,
    }
}
