//! `tidegate agent run`: this machine does what its cluster wants.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;
use std::thread;

use agent::message::GPUS_MAX;
use runner::gpus;
use runner::leave;
use runner::local;
use runner::local::Local;
use runner::local::Settings;
use runner::serve;
use runner::serve::End;
use runner::slurm;
use runner::slurm::Slurm;
use runner::slurm::adopt::Adopt;
use runner::verbs::Runner;

use crate::agents::bell;
use crate::agents::joined::Joined;
use crate::agents::link::HttpLink;
use crate::agents::mirror::Mirrored;
use crate::agents::session::Session;

/// How large each of the three parts of a run's log may be.
const PART_BYTES: u64 = 4 << 20;

/// The nodes that are named as `NAME=GPUS`; without any, this machine with what its driver knows.
pub fn nodes(named: &[String]) -> Result<Vec<(String, u16)>, String> {
    if !named.is_empty() {
        return named.iter().map(|text| node(text)).collect();
    }
    let name = machine()?;
    let count = gpus::count().ok_or_else(|| {
        format!("no driver tells how many GPUs this machine has; say it with --node {name}=N (0 if it has none)")
    })?;
    Ok(vec![(name, count)])
}

/// What this machine is called.
pub fn machine() -> Result<String, String> {
    let name =
        fs::read_to_string("/proc/sys/kernel/hostname").map_err(|error| format!("the machine's name: {error}"))?;
    Ok(name.trim().to_owned())
}

fn node(text: &str) -> Result<(String, u16), String> {
    let parts = text.rsplit_once('=').filter(|(name, _)| !name.is_empty());
    let node =
        parts.and_then(|(name, gpus)| Some((name.to_owned(), gpus.parse().ok().filter(|gpus| *gpus <= GPUS_MAX)?)));
    node.ok_or_else(|| format!("--node {text}: write NAME=GPUS with at most {GPUS_MAX} GPUs, such as n1=8"))
}

/// The account under which jobs run, the agent's own: nobody means that to be root by accident.
pub fn account(is_root_allowed: bool) -> Result<u32, String> {
    let account = fs::metadata("/proc/self").map_err(|error| format!("/proc/self: {error}"))?.uid();
    if account == 0 && !is_root_allowed {
        return Err("jobs would run as root here; start this under another account, or say --allow-root".to_owned());
    }
    Ok(account)
}

/// Which jobs are adopted that people submit to Slurm.
#[derive(Clone, Copy, Debug)]
pub struct Adopted<'a> {
    /// The folder that the plugin names.
    pub folder: Option<&'a Path>,
    /// `ACCOUNT=WORKSPACE/QUOTA` of each account.
    pub accounts: &'a [String],
}

impl Adopted<'_> {
    /// What the runner has to know; nothing if none are adopted.
    fn read(&self, partition: Option<&str>) -> Result<Option<Adopt>, String> {
        let Some(folder) = self.folder else { return Ok(None) };
        if !folder.is_absolute() {
            return Err(format!("--adopt-folder {}: write its whole path, which all nodes have", folder.display()));
        }
        let partition =
            partition.ok_or("jobs are adopted of one partition: name it with --partition of slurm mirror")?;
        let mut accounts = BTreeMap::new();
        for text in self.accounts {
            let parts = text.split_once('=').and_then(|(account, rest)| Some((account, rest.split_once('/')?)));
            let (account, (workspace, quota)) = parts
                .ok_or_else(|| format!("--adopt {text}: write ACCOUNT=WORKSPACE/QUOTA, such as ml=research/gpus"))?;
            accounts.insert(account.to_owned(), (workspace.to_owned(), quota.to_owned()));
        }
        Ok(Some(Adopt { folder: folder.to_owned(), partition: partition.to_owned(), accounts }))
    }
}

/// How `tidegate agent run` was called.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// The state directory.
    pub state: &'a Path,
    /// The nodes that are named.
    pub nodes: &'a [String],
    /// What `sbatch` is told besides, where the runs are jobs of Slurm; else they are processes of this machine.
    pub slurm: Option<&'a [String]>,
    /// Which of people's own jobs of Slurm are adopted.
    pub adopt: Adopted<'a>,
    /// Whether jobs may run as root.
    pub is_root_allowed: bool,
    /// Whether it ends when its standard input does.
    pub is_attached: bool,
    /// Whether what it runs ends with it.
    pub stops_jobs: bool,
}

/// Serves until something ends the agent; why that is.
pub fn run(asked: Run) -> Result<String, String> {
    let Run { state, nodes: named, slurm, is_root_allowed, .. } = asked;
    let joined = Joined::read(state)?;
    let account = account(is_root_allowed)?;
    eprintln!(
        "jobs run under the agent's own account, {account}, which can read its key: let only those submit jobs here whom \
         you trust with that"
    );
    let about = |error: io::Error| format!("{}: {error}", state.display());
    let Some(options) = slurm else {
        let program = PathBuf::from("/proc/self/exe");
        let nodes = nodes(named)?;
        let settings = Settings { state: state.to_owned(), nodes, program, part_bytes: PART_BYTES, cgroups: true };
        return serve(asked, joined, Local::open(settings).map_err(about)?);
    };
    let Mirrored { nodes, partition, .. } = Mirrored::read(state)?;
    let adopt = asked.adopt.read(partition.as_deref())?;
    let partition = partition.map(|partition| format!("--partition={partition}"));
    let options = partition.into_iter().chain(options.iter().cloned()).collect();
    let settings = slurm::Settings { state: state.to_owned(), nodes, options, adopt };
    serve(asked, joined, Slurm::open(settings).map_err(about)?)
}

/// Serves with this runner.
fn serve(asked: Run, joined: Joined, mut runner: impl Runner) -> Result<String, String> {
    let Run { state, is_attached, stops_jobs, .. } = asked;
    let (name, cluster) = (joined.name.clone(), joined.cluster.clone());
    let session = Arc::new(Session::new(joined)?);
    bell::listen(Arc::clone(&session), state);
    let is_asked_to_end = Arc::new(AtomicBool::new(false));
    if is_attached {
        watch_input(Arc::clone(&is_asked_to_end), state);
    }
    let end = serve::serve(&mut HttpLink(session), &mut runner, &is_asked_to_end);
    let rest = if stops_jobs { left(&mut runner)? } else { "what runs goes on".to_owned() };
    let why = match end {
        End::Asked => return Ok(format!("the agent {name} of cluster {cluster} has ended; {rest}")),
        End::Superseded => format!(
            "another process has said hello as agent {name} of cluster {cluster}, so this one ends; if there are two \
             machines, give each a key of its own"
        ),
        End::Refused(reason) => reason,
        End::Runner(error) => format!("{}: {error}", state.display()),
    };
    Err(format!("{why}; {rest}"))
}

/// Asks the agent to end when its standard input does: the program that started it has closed the pipe, or has died.
fn watch_input(is_asked_to_end: Arc<AtomicBool>, state: &Path) {
    let state = state.to_owned();
    thread::spawn(move || {
        let mut bytes = [0; 256];
        while io::stdin().read(&mut bytes).is_ok_and(|count| count > 0) {}
        is_asked_to_end.store(true, Ordering::Release);
        local::wake(&state);
    });
}

/// Ends what runs; what to say of that.
fn left(runner: &mut impl Runner) -> Result<String, String> {
    match leave::leave(runner) {
        Ok(0) => Ok("nothing of it runs any more".to_owned()),
        Ok(living) => Err(format!("{living} runs cannot be ended; look for processes with TIDEGATE_RUN")),
        Err(error) => Err(format!("what runs could not be ended: {error}")),
    }
}

/// Where an agent keeps its state if nothing else is said.
pub fn default_state() -> Result<PathBuf, String> {
    folder_of("XDG_STATE_HOME", ".local/state").map(|base| base.join("tidegate/agent"))
}

/// A user's folder for some purpose: what this variable names, or this folder at home.
pub fn folder_of(variable: &str, at_home: &str) -> Result<PathBuf, String> {
    let of = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = of(variable).or_else(|| of("HOME").map(|home| home.join(at_home)));
    base.ok_or_else(|| "HOME is not set; name a directory with --state".to_owned())
}

#[cfg(test)]
mod tests {
    use super::nodes;

    #[test]
    fn nodes_are_named_with_their_gpus() {
        let named = |text: &str| nodes(&[text.to_owned()]);
        assert_eq!(named("n1=8"), Ok(vec![("n1".to_owned(), 8)]));
        for bad in ["n1", "=8", "n1=", "n1=65", "n1=-1"] {
            assert!(named(bad).unwrap_err().starts_with(&format!("--node {bad}: write NAME=GPUS")), "{bad}");
        }
    }
}
