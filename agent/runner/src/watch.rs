//! What a supervisor sees and does while the pods of its run live.

use std::fs::File;
use std::io;
use std::io::PipeReader;
use std::io::PipeWriter;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use agent::exit::Exit;
use agent::exit::shorten;
use agent::message::Pod;
use agent::script;
use agent::silence;
use agent::silence::SILENCE_GRACE_MS;
use rustix::event::PollFd;
use rustix::event::PollFlags;
use rustix::event::poll;
use rustix::fs::OFlags;
use rustix::fs::fcntl_setfl;
use rustix::process::Pid;
use rustix::process::PidfdFlags;
use rustix::process::Signal;
use rustix::process::WaitOptions;
use rustix::process::WaitStatus;
use rustix::process::kill_process_group;
use rustix::process::pidfd_open;
use rustix::process::wait;
use rustix::time::Timespec;

use crate::clock;
use crate::folder::Folder;
use crate::folder::Order;
use crate::folder::Work;
use crate::log::Log;
use crate::pod;
use crate::processes::send;
use crate::store;

/// How long a supervisor sleeps at most: it waits for those that it has adopted, of whose end nothing tells it.
const SLEEP_MAX_MS: u64 = 10_000;
/// How often it looks for a checkpoint while its run is stopping.
const CHECKPOINT_LOOK_MS: u64 = 100;
/// How much too early a file may seem to be written.
const FILE_TIME_MS: u64 = 20;
const PROGRAM: &str = "/proc/self/exe";

/// What starting a pod fails with when the job asks for something that is not there. All else is the machine's fault.
const JOBS_FAULTS: [io::ErrorKind; 5] = [
    io::ErrorKind::NotFound,
    io::ErrorKind::NotADirectory,
    io::ErrorKind::PermissionDenied,
    io::ErrorKind::InvalidInput,
    io::ErrorKind::ArgumentListTooLong,
];

/// A started pod.
struct Started {
    pid: i32,
    end: Option<OwnedFd>,
    pod: Pod,
    status: Option<WaitStatus>,
}

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
    /// What the pods print; none when nobody can print any more.
    output: Option<PipeReader>,
    /// Where they print, until they are started.
    input: Option<PipeWriter>,
    log: Log,
    since: u64,
    pods: Vec<Started>,
    stopping: Option<Stopping>,
}

impl Watch {
    pub(crate) fn new(folder: &Folder, order: &Order) -> io::Result<Self> {
        let wake = store::open_pipe(&folder.file("wake"))?;
        let (output, input) = io::pipe()?;
        fcntl_setfl(&output, OFlags::NONBLOCK)?;
        let (output, input) = (Some(output), Some(input));
        let log = Log::new(&folder.path, order.part_bytes);
        Ok(Self { wake, output, input, log, since: clock::now(), pods: Vec::new(), stopping: None })
    }

    /// Starts every pod, or says how the run ends.
    pub(crate) fn start(&mut self, folder: &Folder, order: &Order, work: &Work) -> Result<(), Exit> {
        let begin = |error: &io::Error| Exit::Start(shorten(&error.to_string()));
        if work.script.command.is_empty() {
            return Err(Exit::Command("there is no command".to_owned()));
        }
        let Some(input) = self.input.take() else { return Ok(()) };
        for pod in &work.want.pods {
            let started = self.start_pod(folder, order, work, pod, &input);
            started.map_err(|error| {
                // The folder that it asks for, or a letter that no argument may have.
                let is_of_job = JOBS_FAULTS.contains(&error.kind());
                if is_of_job { Exit::Command(shorten(&error.to_string())) } else { begin(&error) }
            })?;
        }
        Ok(())
    }

    fn start_pod(
        &mut self,
        folder: &Folder,
        order: &Order,
        work: &Work,
        pod: &Pod,
        input: &PipeWriter,
    ) -> io::Result<()> {
        let mut command = pod::command(folder, order, work, pod, Path::new(PROGRAM));
        let child = command.stdout(input.try_clone()?).stderr(input.try_clone()?).spawn()?;
        let pid = i32::try_from(child.id()).map_err(io::Error::other)?;
        let end = Pid::from_raw(pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        self.pods.push(Started { pid, end, pod: pod.clone(), status: None });
        Ok(())
    }

    /// Waits for the end: of all pods, or of the first one that fails.
    pub(crate) fn wait(&mut self, state: &Path, folder: &Folder, work: &Work) -> Exit {
        loop {
            // Who has ended by itself was not told to stop, even if the order is there by now.
            self.reap();
            if let Some(exit) = self.exit(folder) {
                return exit;
            }
            let next = self.look(state, folder, work);
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
                    self.pods.iter().filter(|pod| pod.status.is_none()).for_each(|pod| send(pod.pid, number(signal)));
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
            self.send_to_groups(Signal::TERM);
        }
        if kill_at <= now {
            self.send_to_groups(Signal::KILL);
        }
        let term_at = term_at.filter(|_| !is_due);
        self.stopping = Some(Stopping { kill_at, since, term_at });
        let look = now + CHECKPOINT_LOOK_MS;
        if kill_at <= now { look } else { term_at.map_or(kill_at, |at| at.min(look)) }
    }

    fn send_to_groups(&self, signal: Signal) {
        for group in self.pods.iter().filter_map(|pod| Pid::from_raw(pod.pid)) {
            // A group without processes needs no signal.
            let _ = kill_process_group(group, signal);
        }
    }

    fn sleep(&mut self, until: u64) {
        let timeout = Timespec::try_from(Duration::from_millis(until.saturating_sub(clock::now()))).ok();
        let mut waits = vec![PollFd::new(&self.wake, PollFlags::IN)];
        waits.extend(self.output.iter().map(|output| PollFd::new(output, PollFlags::IN)));
        let living = self.pods.iter().filter(|pod| pod.status.is_none());
        waits.extend(living.filter_map(|pod| pod.end.as_ref()).map(|end| PollFd::new(end, PollFlags::IN)));
        let _ = poll(&mut waits, timeout.as_ref());
    }

    /// Takes what was printed.
    pub(crate) fn drain(&mut self) {
        let mut bytes = [0; 16_384];
        // No more at once than a pipe holds a few times: who prints without end does not keep us from looking.
        for _ in 0..64 {
            let Some(output) = &mut self.output else { return };
            match output.read(&mut bytes) {
                // Its end would be told again and again.
                Ok(0) => self.output = None,
                Ok(count) => self.log.append(&bytes[..count]),
                Err(_) => return,
            }
        }
    }

    /// Waits for everybody who has ended, adopted ones included.
    pub(crate) fn reap(&mut self) {
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            let pid = pid.as_raw_nonzero().get();
            if let Some(pod) = self.pods.iter_mut().find(|pod| pod.pid == pid) {
                pod.status = Some(status);
            }
        }
    }

    /// How the run ended, if it has: the first pod that failed speaks for all.
    fn exit(&self, folder: &Folder) -> Option<Exit> {
        let exits = || self.pods.iter().filter_map(|pod| pod.status.map(|status| exit_of(folder, &pod.pod, status)));
        let failed = exits().find(|exit| *exit != Exit::Code(0));
        failed.or_else(|| (exits().count() == self.pods.len()).then_some(Exit::Code(0)))
    }
}

fn exit_of(folder: &Folder, pod: &Pod, status: WaitStatus) -> Exit {
    let refusal = std::fs::read_to_string(pod::refusal(folder, pod));
    match (refusal, status.terminating_signal()) {
        (Ok(reason), _) => Exit::Command(shorten(&reason)),
        (Err(_), Some(signal)) => Exit::Signal(signal),
        (Err(_), None) => Exit::Code(status.exit_status().unwrap_or(1)),
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
