//! People's own jobs: they are offered to the service as long as Slurm holds them, and follow what it says of them.
//!
//! A job is given a run by its comment and released, pinned to its node; the first line of its script reads
//! `marks/MARK`, which claims the run. What a run has of files is in `runs/RUN`, where its user may write and nobody look.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::fs;
use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::path::PathBuf;

use agent::adopt::Ask;
use agent::adopt::Offered;
use agent::adopt::Standing;
use agent::adopt::Told;
use agent::message::FORMAT;
use agent::run::RunId;
use agent::script::Script;

use crate::slurm::ask::ask;
use crate::slurm::held::HeldJob;
use crate::slurm::held::Options;
use crate::stored;

/// Everybody may go through, nobody may look.
const THROUGH: u32 = 0o711;
/// Everybody may make files of their own, and nobody may look or take away those of others.
const OPEN: u32 = 0o1733;
const READABLE: u32 = 0o644;
const MINUTE_MS: u64 = 60_000;
/// How much of why a job is not taken its user is told.
const TOLD_MAX: usize = 200;

/// Whose jobs are adopted, and how.
#[derive(Clone, Debug)]
pub struct Adopt {
    /// The folder that the plugin names, which the nodes share with the agent and users can go through.
    pub folder: PathBuf,
    /// The partition whose jobs are held.
    pub partition: String,
    /// The workspace and the quota of each account of Slurm.
    pub accounts: BTreeMap<String, (String, String)>,
}

/// The jobs that are adopted.
pub(super) struct Adoption {
    settings: Adopt,
    /// Where it is kept which jobs have been offered: one that Slurm has forgotten is not there to tell.
    records: PathBuf,
}

impl Adoption {
    pub(super) fn open(settings: Adopt, state: &Path) -> io::Result<Self> {
        let records = state.join("adopted");
        fs::create_dir_all(&records)?;
        for folder in [settings.folder.clone(), settings.folder.join("marks"), settings.folder.join("runs")] {
            fs::create_dir_all(&folder)?;
            fs::set_permissions(&folder, Permissions::from_mode(THROUGH))?;
        }
        Ok(Self { settings, records })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.settings.folder
    }

    /// Where the files of an adopted run are.
    pub(super) fn run_folder(&self, run: RunId) -> PathBuf {
        self.settings.folder.join("runs").join(run.to_string())
    }

    /// Makes room for a run: the job's user writes there, and the order to stop is ours.
    pub(super) fn make_room(&self, run: RunId) -> io::Result<()> {
        let folder = self.run_folder(run);
        if folder.is_dir() {
            return Ok(());
        }
        let beside = folder.with_file_name(format!(".{run}"));
        if beside.exists() {
            fs::remove_dir_all(&beside)?;
        }
        fs::create_dir(&beside)?;
        fs::set_permissions(&beside, Permissions::from_mode(0o700))?;
        let order = beside.join("stop-in");
        fs::write(&order, "")?;
        fs::set_permissions(&order, Permissions::from_mode(READABLE))?;
        fs::set_permissions(&beside, Permissions::from_mode(OPEN))?;
        fs::rename(&beside, &folder)
    }

    /// Drops the files of a run.
    pub(super) fn forget(&self, run: RunId) -> io::Result<()> {
        match fs::remove_dir_all(self.run_folder(run)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Gives a held job this run, and releases it. What is not held yet, or not any more, waits for a later look.
    pub(super) fn start(&self, held: &HeldJob, store: &str, run: RunId, node: &str, batch: &str) -> io::Result<()> {
        if is_over(&held.state) {
            return if held.state == "CANCELLED" { Err(gone(&held.id)) } else { requeue(&held.id) };
        }
        if !held.is_pending() || !held.is_held {
            return Ok(());
        }
        let mark = self.settings.folder.join("marks").join(&held.mark);
        stored::replace(&mark, batch)?;
        fs::set_permissions(&mark, Permissions::from_mode(READABLE))?;
        let comment = format!("Comment={}", held.comment(store, Some((run, node)), ""));
        let job = format!("JobId={}", held.id);
        let node = format!("ReqNodeList={node}");
        // Of a job that has ended Slurm does not let that be changed any more. If it queues the job again by itself, as after a
        // lost node, the claim ends it there.
        ask("scontrol", ["update", &job, &node, "Requeue=1", "StartTime=now", &comment])?;
        ask("scontrol", ["release", &held.id]).map(drop)
    }

    /// What is told of the jobs that Slurm has now.
    pub(super) fn offered(&self, held: &[HeldJob]) -> io::Result<Vec<Offered>> {
        let records = self.records()?;
        let mut offered = Vec::new();
        for job in held {
            let is_known = records.get(&job.mark);
            if is_over(&job.state) && is_known.is_none() {
                continue;
            }
            let is_gone = job.state == "CANCELLED";
            let ask = match is_known {
                Some((_, true)) => None,
                Some((_, false)) | None => match self.asks(job) {
                    Ok(ask) => Some(Box::new(ask)),
                    Err(reason) => {
                        tell(job, &reason);
                        continue;
                    }
                },
            };
            self.keep(&job.mark, &job.job(), is_known.is_some_and(|(_, is_taken)| *is_taken))?;
            offered.push(Offered { job: job.job(), is_gone, ask: ask.filter(|_| !is_gone) });
        }
        let there: BTreeSet<&str> = held.iter().map(|job| job.mark.as_str()).collect();
        let missing = records.into_iter().filter(|(mark, _)| !there.contains(mark.as_str()));
        offered.extend(missing.map(|(_, (job, _))| Offered { job, is_gone: true, ask: None }));
        Ok(offered)
    }

    /// Does what follows from how far the jobs are. Of those that have a run in `busy` the run's end is waited for.
    pub(super) fn told(&self, held: &[HeldJob], told: &[Told], busy: &BTreeSet<String>) -> io::Result<()> {
        let records = self.records()?;
        for Told { job, standing } in told {
            let known = held.iter().find(|held| held.job() == *job);
            let Some(record) = records.iter().find(|(_, (name, _))| name == job) else { continue };
            let (mark, (_, is_taken)) = record;
            if matches!(standing, Standing::Waiting | Standing::Running) && !is_taken {
                self.keep(mark, job, true)?;
            }
            let Some(held) = known else {
                if *standing == Standing::Over {
                    self.drop_record(mark)?;
                }
                continue;
            };
            if !busy.contains(job) {
                self.follow(held, standing, *is_taken)?;
            }
        }
        Ok(())
    }

    fn follow(&self, held: &HeldJob, standing: &Standing, is_taken: bool) -> io::Result<()> {
        let is_over = is_over(&held.state);
        match standing {
            Standing::Unknown if is_taken => {
                tell(held, "Tidegate does not know it any more; cancel it, and submit it again");
            }
            Standing::Refused(reason) => tell(held, reason),
            Standing::Waiting if is_over && held.state != "CANCELLED" => requeue(&held.id)?,
            Standing::Waiting if held.is_pending() && !held.is_held => {
                ask("scontrol", ["hold", &held.id]).map(drop)?;
            }
            Standing::Waiting if !held.not_taken.is_empty() => comment(held, ""),
            Standing::Unknown | Standing::Running | Standing::Waiting => {}
            Standing::Over if is_over => self.drop_record(&held.mark)?,
            Standing::Over => {
                let user = format!("--user={}", held.user);
                ask("scancel", ["--quiet", &user, &held.id]).map(drop)?;
            }
        }
        Ok(())
    }

    /// What a job asks for, or why it cannot be taken.
    fn asks(&self, held: &HeldJob) -> Result<Ask, String> {
        let account = held.account.as_str();
        let (workspace, quota) = self.settings.accounts.get(account).ok_or_else(|| {
            format!(
                "account {account} has no workspace in Tidegate; ask an administrator, or name another with --account"
            )
        })?;
        let Options { priority, idle, checkpoint } = Options::read(&held.options)?;
        if held.gpus == 0 {
            return Err("it asks for no GPUs; write --gres=gpu:N".to_owned());
        }
        let script = Script {
            format: FORMAT,
            command: vec!["sbatch".to_owned(), held.name.clone()],
            directory: None,
            environment: BTreeMap::new(),
            checkpoint,
            adopted: Some(held.mark.clone()),
        };
        Ok(Ask {
            user: held.user.clone(),
            workspace: workspace.clone(),
            quota: quota.clone(),
            name: held.name.clone(),
            gpus: held.gpus,
            priority,
            idle,
            is_requeued: held.is_requeued,
            duration_ms: held.minutes.map(|minutes| minutes.saturating_mul(MINUTE_MS)),
            script,
        })
    }

    /// The jobs that have been offered, by their marks, and whether the service has taken them.
    fn records(&self) -> io::Result<BTreeMap<String, (String, bool)>> {
        let mut records = BTreeMap::new();
        for entry in fs::read_dir(&self.records)? {
            let entry = entry?;
            let text = stored::read(&entry.path())?.unwrap_or_default();
            if let Some((job, taken)) = text.split_once(' ') {
                records.insert(entry.file_name().to_string_lossy().into_owned(), (job.to_owned(), taken == "taken"));
            }
        }
        Ok(records)
    }

    fn keep(&self, mark: &str, job: &str, is_taken: bool) -> io::Result<()> {
        let path = self.records.join(mark);
        let text = format!("{job} {}", if is_taken { "taken" } else { "offered" });
        if stored::read(&path)?.as_deref() == Some(&text) { Ok(()) } else { stored::replace(&path, &text) }
    }

    fn drop_record(&self, mark: &str) -> io::Result<()> {
        stored::remove(&self.settings.folder.join("marks").join(mark))?;
        stored::remove(&self.records.join(mark))
    }
}

/// Whether a job of Slurm in this state is over.
pub(super) fn is_over(state: &str) -> bool {
    !matches!(
        state,
        "PENDING" | "RUNNING" | "COMPLETING" | "CONFIGURING" | "SUSPENDED" | "STOPPED" | "STAGE_OUT" | "SIGNALING"
    )
}

/// Puts a job that has ended back into the queue, held.
fn requeue(id: &str) -> io::Result<()> {
    ask("scontrol", ["requeuehold", id]).map(drop)
}

fn gone(id: &str) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, format!("job {id} of Slurm was cancelled"))
}

/// Tells a job's user why it is not taken.
fn tell(held: &HeldJob, reason: &str) {
    let plain: String = reason.replace("tidegate:", "").replace(['|', '\n'], " ");
    let plain = plain[..plain.floor_char_boundary(TOLD_MAX)].trim();
    if held.not_taken != plain && held.is_pending() {
        eprintln!("job {} of Slurm is not taken: {plain}", held.id);
        comment(held, plain);
    }
}

fn comment(held: &HeldJob, not_taken: &str) {
    let text = format!("Comment={}", held.comment("", None, not_taken));
    // What cannot be told now is told at the next look.
    drop(ask("scontrol", ["update", &format!("JobId={}", held.id), &text]));
}
