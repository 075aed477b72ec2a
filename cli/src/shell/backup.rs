//! `tidegate backup`: a whole cluster as one file, and a cluster from such a file.
//!
//! What is in a file, and how it is known to be whole, is in [`protocol::backup`]. Each object is one request, so neither the
//! service nor this command has more than one of them in memory.

use std::fs::File;
use std::io::BufReader;
use std::io::BufWriter;
use std::io::IsTerminal;
use std::io::Write;
use std::path::Path;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use clap::Args;
use clap::Subcommand;
use console_model::path;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use protocol::answer::Imported;
use protocol::answer::RestoreAnswer;
use protocol::backup::Opened;
use protocol::backup::Renaming;
use protocol::backup::Saving;
use protocol::cluster::Position;
use protocol::deletion::DeletionAnswer;
use protocol::deletion::tombstone::Deletion;
use protocol::document::Head;
use protocol::fault::Fault;
use protocol::name::ClusterName;
use serde::de::DeserializeOwned;

use crate::agents::join::TOKEN;
use crate::service::http::Address;
use crate::service::http::Answer;
use crate::service::http::Client;
use crate::service::time;
use crate::shell::contexts;
use crate::shell::contexts::Contexts;
use crate::shell::failure::Failure;
use crate::shell::login;
use crate::shell::person;
use crate::shell::print;
use crate::shell::prompt;

/// How often an object is asked for that KV does not show: what has just been put may be late.
const TRIES: u32 = 3;
/// How long it is waited before something is asked again.
const AGAIN: Duration = Duration::from_secs(1);
/// How long a restore may take that goes on by itself.
const RESTORE_WITHIN: Duration = Duration::from_hours(1);

/// What is done with backups.
#[derive(Debug, Subcommand)]
#[expect(clippy::doc_markdown, reason = "the comments of arguments are the help text")]
pub enum BackupTask {
    /// Saves a whole cluster as one file: its state, its notes, and the past that is kept.
    ///
    /// ADMIN_KEY is read from TIDEGATE_TOKEN, or is the one of a login, or asked for. Access keys are saved without their
    /// secrets, which nobody has:
    /// they go on serving where the cluster has its old name and MASTER_SECRET is the same.
    Save {
        /// The cluster: its name, where one is logged in to its service, or https://tidegate.example.org/clusters/prod.
        cluster: String,
        /// The file. One that is there is replaced once the new one is whole.
        file: PathBuf,
        /// Leaves out what of the past is older than so many days.
        #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u16).range(1..))]
        past: Option<u16>,
    },
    /// Says whether a file is whole, and of what it is a backup.
    Check {
        /// The file.
        file: PathBuf,
    },
    /// Makes a cluster of a file, under a name that no cluster has.
    Load(Load),
}

/// What `tidegate backup load` is asked for.
#[derive(Debug, Args)]
#[expect(clippy::doc_markdown, reason = "the comments of arguments are the help text")]
pub struct Load {
    /// The file.
    pub file: PathBuf,
    /// The cluster that it becomes: its name, where one is logged in to the service, or
    /// https://tidegate.example.org/clusters/prod-again.
    pub cluster: String,
    /// The revision of a deleted cluster whose name is taken again.
    #[arg(long, value_name = "REVISION")]
    pub anew: Option<u64>,
}

/// A service, with the key that opens all of it.
struct Service {
    client: Client,
    key: String,
    cluster: ClusterName,
}

/// Does it.
pub fn run(task: &BackupTask) -> Result<(), Failure> {
    match task {
        BackupTask::Save { cluster, file, past } => save(&Service::at(cluster)?, file, *past),
        BackupTask::Check { file } => print::line(&format!("{}: {}", file.display(), told(&opened(file)?))),
        BackupTask::Load(asked) => load(&Service::at(&asked.cluster)?, asked),
    }
}

fn save(service: &Service, file: &Path, past: Option<u16>) -> Result<(), Failure> {
    // What is committed is published first. A cluster that cannot do that is saved as it was published.
    let flushed = service.post("flush", "")?;
    if flushed.status != 200 {
        prompt::say(&format!("tidegate: not published anew: {}\n", flushed.refusal().1));
    }
    let head: Head = service.read(&service.get("head")?)?;
    let period = |days: u16| Millis(Millis::DAY.0 * i64::from(days));
    let since = past.map(|days| Timestamp(time::now().0 - period(days).0));
    let mut unfinished = file.as_os_str().to_owned();
    unfinished.push(".part");
    let unfinished = PathBuf::from(unfinished);
    let failed = |error: std::io::Error| Failure::refused(format!("{}: {error}", unfinished.display()));
    let mut out = BufWriter::new(File::create(&unfinished).map_err(failed)?);
    let mut saving = Saving::of(head, since).map_err(|fault| Failure::refused(fault.to_string()))?;
    let first = saving.begin().map_err(|fault| Failure::refused(fault.to_string()))?;
    out.write_all(first.as_bytes()).map_err(failed)?;
    let mut shown = Progress::default();
    while let Some(key) = saving.wants().map(str::to_owned) {
        let text = saving.take(service.object(&key)?).map_err(|fault| service.failed(&fault))?;
        out.write_all(text.as_bytes()).map_err(failed)?;
        shown.tell("saved", saving.progress());
    }
    let last = saving.end().map_err(|fault| service.failed(&fault))?;
    out.write_all(last.as_bytes()).map_err(failed)?;
    out.into_inner().map_err(|error| failed(error.into_error()))?.sync_all().map_err(failed)?;
    shown.end();
    let whole = opened(&unfinished)?;
    std::fs::rename(&unfinished, file).map_err(failed)?;
    print::line(&format!("{}: {}", file.display(), told(&whole)))
}

fn load(service: &Service, asked: &Load) -> Result<(), Failure> {
    let mut file = opened(&asked.file)?;
    let name = &service.cluster;
    let (mut renaming, mut shown, mut last) = (Renaming::to(name.clone()), Progress::default(), String::new());
    service.check_free(asked.anew)?;
    for number in 0..file.objects() {
        let object = file.object(number).map_err(|fault| damaged(&asked.file, &fault))?;
        let Some((key, text)) = object else { break };
        let (key, text) = renaming.object(&key, text).map_err(|fault| damaged(&asked.file, &fault))?;
        let part = key.strip_prefix(&name.start()).unwrap_or(&key);
        let Imported { key } = service.read(&service.post(&format!("imported/{}", path::escape(part)), &text)?)?;
        last = key;
        let left = (file.objects() - number) as u64 - 1;
        shown.tell("sent", (number as u64 + 1, left));
    }
    shown.end();
    let anew = asked.anew.map(|revision| format!("&anew={revision}")).unwrap_or_default();
    let here = service.restore(&format!("restore?head={}{anew}", path::escape(&last)))?;
    if here.revision == file.title.revision && here.hash != file.hash {
        let (hash, wanted) = (here.hash, &file.hash);
        return Err(Failure::refused(format!("cluster {name} has state {hash}, and the file has {wanted}")));
    }
    // Readers see it from now on.
    service.read::<serde_json::Value>(&service.post("flush", "")?)?;
    let Position { revision, hash, .. } = here;
    print::line(&format!("cluster {name} at {} is at revision {revision}, state {hash}", service.client.address()))?;
    prompt::say(AFTERWARDS);
    Ok(())
}

/// What a loaded cluster does not have.
const AFTERWARDS: &str = "tidegate: what ran when it was saved is shown as running until agents of its machines tell of it, so \
                          that these have to join it (`tidegate agent join`); what jobs had printed is not in a backup; keys \
                          open it where the service has the MASTER_SECRET of before, otherwise make new ones (`tidegate key \
                          create`)\n";

/// The file, if all of it is whole.
fn opened(file: &Path) -> Result<Opened<BufReader<File>>, Failure> {
    let input = File::open(file).map_err(|error| Failure::usage(format!("{}: {error}", file.display())))?;
    Opened::read(BufReader::new(input)).map_err(|fault| damaged(file, &fault))
}

fn damaged(file: &Path, fault: &Fault) -> Failure {
    Failure::refused(format!("{}: {fault}", file.display()))
}

/// What a file is, in a line.
fn told(file: &Opened<BufReader<File>>) -> String {
    let title = &file.title;
    let missing = match file.missing.as_slice() {
        [] => String::new(),
        missing => format!(
            "; missing of the past: {}",
            missing.iter().map(|one| format!("{} ({})", one.key, one.reason)).collect::<Vec<_>>().join(", ")
        ),
    };
    format!(
        "cluster {} at revision {}, state {}, {} objects, {} notes{missing}",
        title.cluster,
        title.revision,
        file.hash,
        file.objects(),
        file.notes
    )
}

impl Service {
    /// The service with the cluster that an address names, or that has this name at the service to which one is logged in.
    fn at(named: &str) -> Result<Self, Failure> {
        let address = if ClusterName::new(named).is_some() {
            let (_, context) = Contexts::chosen(&contexts::folder()?, None)?;
            &format!("{}/clusters/{named}", context.service)
        } else {
            named
        };
        let (service, cluster) = login::split(address)?;
        let like = |problem| Failure::usage(format!("{problem}, with the cluster in it: .../clusters/prod"));
        let client = Client::new(Address::new(&service).map_err(like)?);
        let named = cluster.ok_or_else(|| {
            Failure::usage(format!("{address} names no cluster; write one such as {service}/clusters/prod"))
        })?;
        let cluster = ClusterName::new(&named).ok_or_else(|| {
            Failure::usage(format!("“{named}” is not the name of a cluster: small letters, digits and hyphens"))
        })?;
        let named = std::env::var(TOKEN).ok().filter(|key| !key.is_empty());
        let known =
            || Ok::<_, Failure>(Contexts::read(&contexts::folder()?)?.key_of_service(&client.address().to_string()));
        let key = match named.map_or_else(known, |key| Ok(Some(key)))? {
            Some(key) => key,
            None => prompt::key()?,
        };
        Ok(Self { client, key, cluster })
    }

    fn path(&self, rest: &str) -> String {
        path::api(self.cluster.as_str(), rest)
    }

    fn get(&self, rest: &str) -> Result<Answer, Failure> {
        self.client.get(&self.path(rest), &self.key).map_err(|problem| person::unreachable(&problem))
    }

    fn post(&self, rest: &str, body: &str) -> Result<Answer, Failure> {
        self.client.post(&self.path(rest), Some(&self.key), body).map_err(|problem| person::unreachable(&problem))
    }

    fn refused(&self, answer: &Answer) -> Failure {
        Failure::refused(format!("cluster {} at {}: {}", self.cluster, self.client.address(), answer.refusal().1))
    }

    fn failed(&self, fault: &Fault) -> Failure {
        Failure::refused(format!("cluster {} at {}: {fault}", self.cluster, self.client.address()))
    }

    fn read<T: DeserializeOwned>(&self, answer: &Answer) -> Result<T, Failure> {
        if answer.status != 200 {
            return Err(self.refused(answer));
        }
        serde_json::from_str(&answer.text)
            .map_err(|error| Failure::refused(format!("an answer that cannot be read: {error}")))
    }

    /// What KV has under a key; nothing if it does not show it.
    fn object(&self, key: &str) -> Result<Option<String>, Failure> {
        for tries in 1..=TRIES {
            let answer = self.get(&format!("objects/{}", path::escape(key)))?;
            match (answer.status, answer.refusal().0.as_str()) {
                (200, _) => return Ok(Some(answer.text)),
                // The text says what is wrong with it, and whether the state needs it is known here.
                (409, "damaged") => return Ok(Some(String::new())),
                (503, "incomplete" | "unavailable") if tries == TRIES => {}
                (429 | 503, _) => thread::sleep(AGAIN),
                _ => return Err(self.refused(&answer)),
            }
        }
        Ok(None)
    }

    /// Whether a cluster can be made under this name. The service looks again when it is.
    fn check_free(&self, anew: Option<u64>) -> Result<(), Failure> {
        let answer = self.get("hash")?;
        match (answer.status, answer.refusal().0.as_str()) {
            // An earlier load may have come as far as the restore.
            (404, _) | (503, "restoring") => Ok(()),
            // What is sent while the old data is being removed would go with it, and hold that up.
            (410, "deleted") => match self.read(&self.get("deletion")?)? {
                DeletionAnswer::Deleted(Deletion { is_done: true, revision, .. }) if anew == Some(revision) => Ok(()),
                DeletionAnswer::Deleted(_) | DeletionAnswer::Cost(_) => Err(self.refused(&answer)),
            },
            (200, _) => Err(Failure::refused(format!(
                "cluster {} at {} is there; choose a name that no cluster has",
                self.cluster,
                self.client.address()
            ))),
            _ => Err(self.refused(&answer)),
        }
    }

    /// Restores it, in as many steps as the service needs. Where the cluster is then.
    fn restore(&self, rest: &str) -> Result<Position, Failure> {
        let deadline = Instant::now() + RESTORE_WITHIN;
        let begun = self.read::<RestoreAnswer>(&self.post(rest, "")?)?;
        if let RestoreAnswer::Over(over) = begun {
            return Ok(over.object);
        }
        loop {
            thread::sleep(AGAIN);
            let answer = self.get("hash")?;
            match answer.refusal().0.as_str() {
                "restoring" | "unavailable" if Instant::now() < deadline => {}
                _ => return self.read(&answer),
            }
        }
    }
}

/// How far it is, on a terminal.
#[derive(Default)]
struct Progress {
    told: Option<Instant>,
}

impl Progress {
    fn tell(&mut self, verb: &str, (done, left): (u64, u64)) {
        let is_soon = self.told.is_some_and(|told| told.elapsed() < AGAIN);
        if !is_soon && std::io::stderr().is_terminal() {
            prompt::say(&format!("\rtidegate: {done} objects {verb}, {left} left "));
            self.told = Some(Instant::now());
        }
    }

    fn end(&self) {
        if self.told.is_some() {
            prompt::say("\n");
        }
    }
}
