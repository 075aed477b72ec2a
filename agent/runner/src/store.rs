//! The state directory: one agent at a time, and files that belong to all of its runs.

use std::fs;
use std::fs::DirBuilder;
use std::fs::File;
use std::io;
use std::io::Read;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

use agent::run::RunId;
use rustix::event::PollFd;
use rustix::event::PollFlags;
use rustix::event::poll;
use rustix::fs::CWD;
use rustix::fs::FileType;
use rustix::fs::FlockOperation;
use rustix::fs::Mode;
use rustix::fs::flock;
use rustix::fs::mknodat;
use rustix::time::Timespec;

use crate::clock;
use crate::stored;

/// Only the agent's account may look inside.
const MODE: u32 = 0o700;
const LOCK_TRIES: u32 = 20;
const LOCK_PAUSE: Duration = Duration::from_millis(25);

/// An open state directory. It is locked as long as this lives.
pub(crate) struct Store {
    pub(crate) path: PathBuf,
    pub(crate) name: String,
    changed: File,
    _lock: File,
}

impl Store {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(MODE).create(path)?;
        fs::set_permissions(path, fs::Permissions::from_mode(MODE))?;
        let path = fs::canonicalize(path)?;
        let lock = File::options().write(true).create(true).truncate(false).open(path.join("lock"))?;
        lock_for_ever(&lock, &path)?;
        for folder in ["runs", "gpus"] {
            DirBuilder::new().recursive(true).mode(MODE).create(path.join(folder))?;
        }
        sweep(&path)?;
        let name = match stored::read(&path.join("store"))? {
            Some(name) => name,
            None => draw_name(&path)?,
        };
        let changed = open_pipe(&path.join("changed"))?;
        Ok(Self { path, name, changed, _lock: lock })
    }

    /// The runs that have a folder.
    pub(crate) fn runs(&self) -> io::Result<Vec<RunId>> {
        let mut runs = Vec::new();
        for entry in fs::read_dir(self.path.join("runs"))? {
            runs.extend(entry?.file_name().to_str().and_then(RunId::parse));
        }
        runs.sort();
        Ok(runs)
    }

    /// Waits until somebody says that something has changed, or for this long; whether somebody does.
    pub(crate) fn wait(&mut self, longest: Duration) -> bool {
        wait_for(&mut self.changed, longest)
    }
}

/// Removes what agents and supervisors were killed over: folders half made or half removed, and names for files of GPUs.
fn sweep(path: &Path) -> io::Result<()> {
    for entry in fs::read_dir(path.join("runs"))? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with('.') {
            fs::remove_dir_all(entry.path())?;
        }
    }
    for entry in fs::read_dir(path.join("gpus"))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        // A supervisor may be at it just now.
        let writer = name.strip_prefix('.').and_then(|name| name.rsplit_once('.')).map(|(_, pid)| pid);
        if writer.is_some_and(|pid| !Path::new("/proc").join(pid).exists()) {
            stored::remove(&entry.path())?;
        }
    }
    Ok(())
}

/// Takes the lock. A process that a killed agent had just begun to start has it for a moment longer.
fn lock_for_ever(lock: &File, path: &Path) -> io::Result<()> {
    for _ in 0..LOCK_TRIES {
        match flock(lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(()),
            Err(rustix::io::Errno::WOULDBLOCK) => sleep(LOCK_PAUSE),
            Err(error) => return Err(error.into()),
        }
    }
    Err(io::Error::other(format!("another agent uses {}; stop it first", path.display())))
}

fn draw_name(path: &Path) -> io::Result<String> {
    let mut bytes = [0; 12];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    let name = bytes.iter().fold(String::new(), |name, byte| format!("{name}{byte:02x}"));
    stored::replace(&path.join("store"), &name)?;
    Ok(name)
}

/// A pipe with a name. Opened for both directions, so that it has no end when nobody writes.
pub(crate) fn open_pipe(path: &Path) -> io::Result<File> {
    match mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0) {
        Ok(()) | Err(rustix::io::Errno::EXIST) => {}
        Err(error) => return Err(error.into()),
    }
    let flags = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or_default();
    std::os::unix::fs::OpenOptionsExt::custom_flags(File::options().read(true).write(true), flags).open(path)
}

/// Wakes the process that waits at a pipe. If none does, none needs it: they look first, and wait then.
pub(crate) fn ring(path: &Path) {
    let flags = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or_default();
    let pipe = std::os::unix::fs::OpenOptionsExt::custom_flags(File::options().write(true), flags).open(path);
    drop(pipe.and_then(|mut pipe| io::Write::write(&mut pipe, b"!")));
}

/// Waits for a byte in a pipe, and takes all that are there; whether there was one.
fn wait_for(pipe: &mut File, longest: Duration) -> bool {
    let timeout = Timespec::try_from(longest).ok();
    let is_rung = poll(&mut [PollFd::new(pipe, PollFlags::IN)], timeout.as_ref()).is_ok_and(|ready| ready > 0);
    take(pipe);
    is_rung
}

/// Takes all bytes that are in a pipe.
pub(crate) fn take(pipe: &mut File) {
    let mut bytes = [0; 256];
    while pipe.read(&mut bytes).is_ok_and(|count| count == bytes.len()) {}
}

/// Keeps when the service was last heard, for supervisors and for agents to come.
pub(crate) fn keep_heard(state: &Path, at: u64) -> io::Result<()> {
    let path = state.join("heard");
    fs::write(path.with_extension("new"), format!("{at} {}", clock::boot()))?;
    fs::rename(path.with_extension("new"), path)
}

/// When the service was last heard since the machine was started.
pub(crate) fn heard(state: &Path) -> Option<u64> {
    let text = stored::read(&state.join("heard")).ok()??;
    let (at, boot) = text.split_once(' ')?;
    at.parse().ok().filter(|_| boot == clock::boot())
}
