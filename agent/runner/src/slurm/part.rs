//! The parts of a run: what of it is one job of Slurm, with files of its own in the run's folder. NAME is that of its node, and
//! for pods that have joined later one of their own.
//!
//! | file | what it says | made by |
//! |---|---|---|
//! | `claim-NAME` | its maker has begun the part, or has ruled it out | the batch script's first line, or the agent |
//! | `alive-NAME` | changes while the batch script lives | the batch script |
//! | `exit-NAME` | how the part ended | the batch script, or the agent where Slurm has killed that |
//! | `stop-in`, `leave-NAME` | within how many milliseconds the run, or the part, has to end; empty before | the agent |
//! | `log-0...`, `out-NAME` | what the first pod's node prints, and what others do | Slurm |

use std::fs;
use std::fs::File;
use std::io;
use std::io::Write;

use agent::exit::Exit;

use crate::folder::Folder;
use crate::slurm::queue::SlurmJob;
use crate::stored;

/// What a claim says that stands for "never".
const NEVER: &str = "never";
/// The file by which all parts of a run are ordered to end.
pub(super) const STOP: &str = "stop-in";
/// How shells tell of a signal: this and its number.
const SIGNALS: std::ops::RangeInclusive<i32> = 129..=192;

/// How a part ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PartEnd {
    pub(super) exit: Exit,
    pub(super) told: bool,
}

impl PartEnd {
    /// Whether the rest of the run has to go.
    pub(super) fn is_bad(&self) -> bool {
        self.told || self.exit != Exit::Code(0)
    }
}

/// How far a part is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Nobody has claimed it, and Slurm has no job for it.
    Absent,
    /// Nobody has claimed it, and Slurm has a job for it.
    Queued,
    /// Slurm's job for it is over, and nobody has claimed it.
    Refused(String),
    /// It never starts.
    Buried,
    /// It is claimed, and Slurm has its job.
    Live,
    /// It is claimed and has not told its end, and Slurm's job is over: in this state, or forgotten.
    Gone(Option<SlurmJob>),
    /// It has ended, and Slurm's job is over.
    Ended(PartEnd),
}

impl Part {
    /// How far it is. The jobs are those of Slurm for it, from before the files are looked at: what has begun or ended
    /// since says so in its files.
    pub(super) fn of(folder: &Folder, node: &str, jobs: &[&SlurmJob]) -> io::Result<Self> {
        let is_live = jobs.iter().any(|job| job.is_live());
        let claim = stored::read(&folder.file(&format!("claim-{node}")))?;
        Ok(match (claim, end(folder, node)?) {
            (None, _) if is_live => Self::Queued,
            (None, _) => jobs.first().map_or(Self::Absent, |job| Self::Refused(refusal(job, node))),
            (Some(claim), _) if claim.trim() == NEVER => Self::Buried,
            (Some(_), _) if is_live => Self::Live,
            (Some(_), Some(end)) => Self::Ended(end),
            (Some(_), None) => Self::Gone(jobs.iter().max_by_key(|job| job.is_given_up()).map(|job| (*job).clone())),
        })
    }

    /// Whether it has, or may have, processes.
    pub(super) fn is_live(&self) -> bool {
        match self {
            Self::Live | Self::Gone(_) => true,
            Self::Absent | Self::Queued | Self::Refused(_) | Self::Buried | Self::Ended(_) => false,
        }
    }

    /// Whether Slurm has lost it: what it had may live, and nobody would hear of its end.
    pub(super) fn is_lost(&self) -> bool {
        match self {
            Self::Gone(job) => job.as_ref().is_none_or(SlurmJob::is_given_up),
            Self::Absent | Self::Queued | Self::Refused(_) | Self::Buried | Self::Live | Self::Ended(_) => false,
        }
    }

    /// Whether nobody has claimed it.
    pub(super) fn is_unclaimed(&self) -> bool {
        match self {
            Self::Absent | Self::Queued | Self::Refused(_) => true,
            Self::Buried | Self::Live | Self::Gone(_) | Self::Ended(_) => false,
        }
    }
}

fn refusal(job: &SlurmJob, node: &str) -> String {
    let SlurmJob { id, state, reason, .. } = job;
    if state == "CANCELLED" {
        return format!("Slurm's job {id} for it was cancelled before it began");
    }
    format!(
        "Slurm's job {id} for it ended before it began ({state}, {reason}): does {node} have the agent's state directory?"
    )
}

/// Rules a part out; whether nobody had claimed it.
pub(super) fn bury(folder: &Folder, node: &str) -> io::Result<bool> {
    match stored::create_new(&folder.file(&format!("claim-{node}")), NEVER) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

/// How a part ended, if its batch script has said that.
fn end(folder: &Folder, node: &str) -> io::Result<Option<PartEnd>> {
    Ok(stored::read(&folder.file(&format!("exit-{node}")))?.and_then(|text| parsed(&text)))
}

/// Says how a part ended whose batch script cannot any more.
pub(super) fn note_end(folder: &Folder, node: &str, signal: i32, told: bool) -> io::Result<()> {
    let told = u8::from(told);
    stored::replace(&folder.file(&format!("exit-{node}")), &format!("code {told} {}", 128 + signal))
}

/// Says that a part is lost.
pub(super) fn note_lost(folder: &Folder, name: &str, node: &str) -> io::Result<()> {
    let reason = format!("Slurm lost its job on {node}, and nothing of it has been seen since");
    stored::replace(&folder.file(&format!("exit-{name}")), &format!("lost 0 {reason}"))
}

/// The words `code`, `command` and `command` and `lost` begin what is said, then whether it was told to stop.
fn parsed(text: &str) -> Option<PartEnd> {
    let (word, rest) = text.trim_end().split_once(' ')?;
    let (told, rest) = rest.split_once(' ')?;
    let exit = match word {
        "code" => match rest.parse().ok()? {
            code if SIGNALS.contains(&code) => Exit::Signal(code - 128),
            code => Exit::Code(code),
        },
        "lost" => Exit::Lost(rest.to_owned()),
        "command" => Exit::Command(agent::exit::shorten(rest)),
        _ => return None,
    };
    Some(PartEnd { exit, told: told == "1" })
}

/// What changes while the batch script of a part lives.
pub(super) fn sign_of_life(folder: &Folder, node: &str) -> io::Result<Option<String>> {
    stored::read(&folder.file(&format!("alive-{node}")))
}

/// Orders all parts to end within so long, or one of them by its own file. The file is written in place: shared file systems show who opens it what it
/// says now, but may hide for a while that a file is new.
pub(super) fn order_stop(folder: &Folder, file: &str, within_ms: u64) -> io::Result<()> {
    let mut file = File::options().write(true).create(true).truncate(true).open(folder.file(file))?;
    file.write_all(format!("{within_ms}\n").as_bytes())?;
    file.sync_all()
}

/// Makes the file of such an order, which says nothing yet.
pub(super) fn make_room(folder: &Folder, file: &str) -> io::Result<()> {
    File::options().append(true).create(true).open(folder.file(file)).map(drop)
}

/// For how long a file has been as it is, in milliseconds.
pub(super) fn age(folder: &Folder, name: &str) -> Option<u64> {
    let age = fs::metadata(folder.file(name)).ok()?.modified().ok()?.elapsed().unwrap_or_default();
    u64::try_from(age.as_millis()).ok()
}

#[cfg(test)]
mod tests {
    use super::PartEnd;
    use super::parsed;
    use agent::exit::Exit;

    #[test]
    fn what_a_batch_script_says_of_its_end() {
        let end = |exit, told| Some(PartEnd { exit, told });
        for (text, wanted) in [
            ("code 0 3\n", end(Exit::Code(3), false)),
            ("code 1 143\n", end(Exit::Signal(15), true)),
            ("command 0 nope: there is none", end(Exit::Command("nope: there is none".to_owned()), false)),
            ("", None),
            ("code 0", None),
            ("code 0 x", None),
        ] {
            assert_eq!(parsed(text), wanted, "{text}");
        }
    }
}
