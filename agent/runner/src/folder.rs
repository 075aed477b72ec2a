//! The folder of a run: all that is kept of it.
//!
//! | file | what it says | made by |
//! |---|---|---|
//! | `run.json` | what is to be run; the folder appears with it | the agent |
//! | `alive` | its lock is held by the supervisor, as long as that lives | the supervisor |
//! | `claim` | its maker has begun the run, or has ruled it out | the supervisor or the agent |
//! | `stop` | when what is left is killed | the agent |
//! | `pods.json` | which pods it should have now, if these are other ones than it began with | the agent |
//! | `held.json` | which pods it has, and which orders to leave have been followed | the supervisor |
//! | `wake` | a pipe: a byte in it makes the supervisor look | the supervisor |
//! | `checkpoint` | written by the job when it has a checkpoint | the job |
//! | `exit.json` | how it ended; then it has no process, and never will have one | who claimed it, or the agent |

use std::fs;
use std::fs::File;
use std::io;
use std::path::Path;
use std::path::PathBuf;

use agent::exit::Exit;
use agent::message::Pod;
use agent::message::Want;
use agent::pods::Pods;
use agent::run::RunId;
use agent::script::Script;
use rustix::fs::FlockOperation;
use rustix::fs::flock;
use serde::Deserialize;
use serde::Serialize;

use crate::clock;
use crate::stored;

/// What `run.json` says.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Order {
    pub(crate) job: String,
    /// None where a run was stopped that nobody had heard of.
    pub(crate) work: Option<Work>,
    pub(crate) store: String,
    pub(crate) part_bytes: u64,
    pub(crate) cgroups: bool,
}

/// What is to be run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Work {
    pub(crate) want: Want,
    pub(crate) script: Script,
}

/// What `claim` says.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Claim {
    pub(crate) at: u64,
    pub(crate) cgroup: Option<String>,
}

/// What `exit.json` says.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Record {
    pub(crate) at: u64,
    pub(crate) exit: Exit,
    /// Whether it was told to stop before.
    pub(crate) told: bool,
}

/// What `held.json` says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Held {
    /// Pods of which something may live, or that have come to their own end.
    pub(crate) pods: Vec<Pod>,
    /// The orders to leave of which nothing is left.
    pub(crate) gone: Vec<RunId>,
}

/// How many bytes are kept free for the end of a run, so that a disk that fills up does not hide it.
const RECORD_BYTES: usize = 2_048;

/// A run's folder.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    pub(crate) run: RunId,
    pub(crate) path: PathBuf,
}

impl Folder {
    pub(crate) fn of(state: &Path, run: RunId) -> Self {
        Self { run, path: state.join("runs").join(run.to_string()) }
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    pub(crate) fn exists(&self) -> bool {
        self.path.is_dir()
    }

    /// Makes the folder with its order: both or neither are there.
    pub(crate) fn make(&self, order: &Order) -> io::Result<()> {
        if self.exists() {
            return Ok(());
        }
        let beside = self.beside()?;
        fs::create_dir(&beside)?;
        fs::create_dir(beside.join("work"))?;
        stored::create_new(&beside.join("run.json"), &serde_json::to_string(order)?)?;
        fs::rename(&beside, &self.path)?;
        stored::sync_folder_of(&self.path)
    }

    /// A name beside the folder that nobody takes for a run, free of what somebody was killed over.
    fn beside(&self) -> io::Result<PathBuf> {
        let beside = self.path.with_file_name(format!(".{}", self.run));
        if beside.exists() {
            fs::remove_dir_all(&beside)?;
        }
        Ok(beside)
    }

    /// Removes the folder: it is gone at once, and its files soon.
    pub(crate) fn remove(&self) -> io::Result<()> {
        let beside = self.beside()?;
        fs::rename(&self.path, &beside)?;
        stored::sync_folder_of(&self.path)?;
        fs::remove_dir_all(beside)
    }

    /// What is to be run; none if that cannot be read any more.
    pub(crate) fn order(&self) -> io::Result<Option<Order>> {
        Ok(serde_json::from_str(&fs::read_to_string(self.file("run.json"))?).ok())
    }

    /// The lock of who acts for this run; none while somebody else does.
    pub(crate) fn lock(&self) -> io::Result<Option<File>> {
        let file = File::options().write(true).create(true).truncate(false).open(self.file("alive"))?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(file)),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Makes the claim; whether nobody had made one.
    pub(crate) fn claim(&self, claim: &Claim) -> io::Result<bool> {
        match stored::create_new(&self.file("claim"), &serde_json::to_string(claim)?) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error),
        }
    }

    pub(crate) fn is_claimed(&self) -> bool {
        self.file("claim").exists()
    }

    /// What the claim says; nothing if its writer was killed just then.
    pub(crate) fn claimed(&self) -> Option<Claim> {
        stored::parsed(&self.file("claim")).ok()?
    }

    /// Takes the room on the disk that the end of the run will need.
    pub(crate) fn reserve(&self) -> io::Result<()> {
        stored::replace(&self.file("exit.room"), &" ".repeat(RECORD_BYTES))
    }

    /// Writes how the run ended, into the room that was taken for it, if any was.
    pub(crate) fn record(&self, exit: Exit, told: bool) -> io::Result<()> {
        let text = serde_json::to_string(&Record { at: clock::now(), exit, told })?;
        let room = self.file("exit.room");
        if !room.exists() {
            return stored::replace(&self.file("exit.json"), &text);
        }
        let file = File::options().write(true).open(&room)?;
        io::Write::write_all(&mut &file, format!("{text:RECORD_BYTES$}").as_bytes())?;
        file.sync_all()?;
        fs::rename(&room, self.file("exit.json"))?;
        stored::sync_folder_of(&room)
    }

    /// How it ended. A record that cannot be read is none: then it is looked whether anything lives.
    pub(crate) fn ended(&self) -> io::Result<Option<Record>> {
        stored::parsed(&self.file("exit.json"))
    }

    /// When what is left is killed, if the run was told to stop.
    pub(crate) fn kill_at(&self) -> io::Result<Option<u64>> {
        Ok(stored::read(&self.file("stop"))?.and_then(|text| text.parse().ok()))
    }

    /// The pods that it should have, if these are other ones than it began with.
    pub(crate) fn told_pods(&self) -> io::Result<Option<Pods>> {
        stored::parsed(&self.file("pods.json"))
    }

    /// Says which pods it should have.
    pub(crate) fn tell_pods(&self, pods: &Pods) -> io::Result<()> {
        stored::replace_json(&self.file("pods.json"), pods)
    }

    /// What the supervisor says of the pods that it has, once these have changed.
    pub(crate) fn held(&self) -> io::Result<Option<Held>> {
        stored::parsed(&self.file("held.json"))
    }

    /// Says that.
    pub(crate) fn note_held(&self, held: &Held) -> io::Result<()> {
        stored::replace_json(&self.file("held.json"), held)
    }

    /// When the job last wrote its file, by the machine's clock.
    pub(crate) fn checkpoint(&self) -> Option<u64> {
        let age = fs::metadata(self.file("checkpoint")).ok()?.modified().ok()?.elapsed().unwrap_or_default();
        Some(clock::now().saturating_sub(u64::try_from(age.as_millis()).unwrap_or(u64::MAX)))
    }
}
