//! The pods of a run that have been started, and how they end.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use agent::exit::Exit;
use agent::exit::shorten;
use agent::message::Pod;
use agent::run::RunId;
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

use crate::cgroup::Cgroup;
use crate::folder::Folder;
use crate::folder::Held;
use crate::folder::Order;
use crate::folder::Work;
use crate::pod;
use crate::pod::Numbers;
use crate::watch::output::Output;

const PROGRAM: &str = "/proc/self/exe";

/// What starting a pod fails with when the job asks for something that is not there. All else is the machine's fault.
const JOBS_FAULTS: [io::ErrorKind; 5] = [
    io::ErrorKind::NotFound,
    io::ErrorKind::NotADirectory,
    io::ErrorKind::PermissionDenied,
    io::ErrorKind::InvalidInput,
    io::ErrorKind::ArgumentListTooLong,
];

/// What a supervisor stands on.
pub(crate) struct Ground<'a> {
    pub(crate) state: &'a Path,
    pub(crate) folder: &'a Folder,
    pub(crate) order: &'a Order,
    pub(crate) work: &'a Work,
    pub(crate) cgroup: Option<&'a Cgroup>,
}

/// A started pod.
pub(super) struct Started {
    pub(super) pid: i32,
    pub(super) end: Option<OwnedFd>,
    pub(super) pod: Pod,
    pub(super) status: Option<WaitStatus>,
    pub(super) stay: Stay,
    pub(super) output: Output,
}

/// Whether a pod stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stay {
    Stays,
    /// It has been told to end.
    Leaves {
        /// By which order; by none if nobody says that it should be there.
        order: Option<RunId>,
        kill_at: u64,
    },
    /// Nothing of it is left, and its GPUs are given back.
    Gone(Option<RunId>),
}

impl Stay {
    pub(super) fn order(self) -> Option<RunId> {
        match self {
            Self::Leaves { order, .. } | Self::Gone(order) => order,
            Self::Stays => None,
        }
    }
}

/// All that have been started, in this order.
#[derive(Default)]
pub(super) struct Running {
    pub(super) pods: Vec<Started>,
    /// What was written down last of them.
    pub(super) noted: Option<Held>,
}

impl Running {
    /// Starts a pod, or says how the run ends.
    pub(super) fn start_pod(&mut self, ground: &Ground, pod: &Pod) -> Result<(), Exit> {
        self.try_pod(ground, pod).map_err(|error| {
            let reason = shorten(&error.to_string());
            // The folder that it asks for, or a letter that no argument may have.
            if JOBS_FAULTS.contains(&error.kind()) { Exit::Command(reason) } else { Exit::Start(reason) }
        })
    }

    fn try_pod(&mut self, ground: &Ground, pod: &Pod) -> io::Result<()> {
        let ordinal = self.pods.len();
        let neighbours = self.pods.iter().filter(|other| other.stay == Stay::Stays && other.pod.node == pod.node);
        let numbers = Numbers { ordinal, local_rank: neighbours.count() };
        let (pipe, printed) = io::pipe()?;
        fcntl_setfl(&pipe, OFlags::NONBLOCK)?;
        let mut command = pod::command(ground.folder, ground.order, ground.work, pod, numbers, Path::new(PROGRAM));
        command.stdout(printed.try_clone()?).stderr(printed);
        let child = match ground.cgroup {
            Some(group) => group.of_pod(ordinal)?.within(|| command.spawn())??,
            None => command.spawn()?,
        };
        let pid = i32::try_from(child.id()).map_err(io::Error::other)?;
        let end = Pid::from_raw(pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        let is_alone = ground.work.want.world == 1 && pod.rank == 0;
        let output = Output::new(pipe, if is_alone { String::new() } else { format!("[{}] ", pod.rank) });
        self.pods.push(Started { pid, end, pod: pod.clone(), status: None, stay: Stay::Stays, output });
        Ok(())
    }

    /// Waits for everybody who has ended, adopted ones included.
    pub(super) fn reap(&mut self) {
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            let pid = pid.as_raw_nonzero().get();
            if let Some(pod) = self.pods.iter_mut().find(|pod| pod.pid == pid) {
                pod.status = Some(status);
            }
        }
    }

    /// How the run ended, if it has: the first pod that failed speaks for all, but for those that were told to leave.
    pub(super) fn exit(&self, folder: &Folder, is_stopping: bool) -> Option<Exit> {
        let staying = || self.pods.iter().enumerate().filter(|(_, pod)| pod.stay == Stay::Stays);
        let exits = || staying().filter_map(|(at, pod)| pod.status.map(|status| exit_of(folder, at, status)));
        let failed = exits().find(|exit| *exit != Exit::Code(0));
        let is_over = match staying().count() {
            // Where all have left it goes on: others may join, until it is told to stop.
            0 => is_stopping && self.pods.iter().all(|pod| pod.status.is_some()),
            count => exits().count() == count,
        };
        failed.or_else(|| is_over.then_some(Exit::Code(0)))
    }

    pub(super) fn send_to_groups(&self, signal: Signal) {
        for group in self.pods.iter().filter_map(|pod| Pid::from_raw(pod.pid)) {
            // A group without processes needs no signal.
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Started {
    pub(super) fn leave(&mut self, order: Option<RunId>, kill_at: u64) {
        self.stay = Stay::Leaves { order, kill_at };
        if let Some(group) = Pid::from_raw(self.pid).filter(|_| self.status.is_none()) {
            // A group without processes needs no signal.
            let _ = kill_process_group(group, Signal::TERM);
        }
    }

    /// Whether something of it may live, or it has come to its own end.
    pub(super) fn holds(&self) -> bool {
        !matches!(self.stay, Stay::Gone(_))
    }
}

fn exit_of(folder: &Folder, ordinal: usize, status: WaitStatus) -> Exit {
    let refusal = std::fs::read_to_string(pod::refusal(folder, ordinal));
    match (refusal, status.terminating_signal()) {
        (Ok(reason), _) => Exit::Command(shorten(&reason)),
        (Err(_), Some(signal)) => Exit::Signal(signal),
        (Err(_), None) => Exit::Code(status.exit_status().unwrap_or(1)),
    }
}
