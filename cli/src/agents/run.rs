//! `tidegate agent run`: this machine does what its cluster wants.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;

use agent::message::GPUS_MAX;
use runner::gpus;
use runner::local::Local;
use runner::local::Settings;
use runner::serve;
use runner::serve::End;

use crate::agents::bell;
use crate::agents::joined::Joined;
use crate::agents::link::HttpLink;
use crate::agents::session::Session;

/// How large each of the three parts of a run's log may be.
const PART_BYTES: u64 = 4 << 20;

/// The nodes that are named as `NAME=GPUS`; without any, this machine with what its driver knows.
pub fn nodes(named: &[String]) -> Result<Vec<(String, u16)>, String> {
    if !named.is_empty() {
        return named.iter().map(|text| node(text)).collect();
    }
    let name =
        fs::read_to_string("/proc/sys/kernel/hostname").map_err(|error| format!("the machine's name: {error}"))?;
    let name = name.trim().to_owned();
    let count = gpus::count().ok_or_else(|| {
        format!("no driver tells how many GPUs this machine has; say it with --node {name}=N (0 if it has none)")
    })?;
    Ok(vec![(name, count)])
}

fn node(text: &str) -> Result<(String, u16), String> {
    let parts = text.rsplit_once('=').filter(|(name, _)| !name.is_empty());
    let node =
        parts.and_then(|(name, gpus)| Some((name.to_owned(), gpus.parse().ok().filter(|gpus| *gpus <= GPUS_MAX)?)));
    node.ok_or_else(|| format!("--node {text}: write NAME=GPUS with at most {GPUS_MAX} GPUs, such as n1=8"))
}

/// Jobs run under the agent's own account: nobody means that to be root by accident, and everybody is told of it.
fn check_account(is_root_allowed: bool) -> Result<(), String> {
    let account = fs::metadata("/proc/self").map_err(|error| format!("/proc/self: {error}"))?.uid();
    if account == 0 && !is_root_allowed {
        return Err(
            "jobs would run as root here; start the agent under another account, or say --allow-root".to_owned()
        );
    }
    eprintln!(
        "jobs run under the agent's own account, {account}, which can read its key: let only those submit jobs here whom \
         you trust with that"
    );
    Ok(())
}

/// Serves until something ends the agent; why that is. What runs goes on.
pub fn run(state: &Path, named: &[String], is_root_allowed: bool) -> Result<String, String> {
    let joined = Joined::read(state)?;
    check_account(is_root_allowed)?;
    let nodes = nodes(named)?;
    let (name, cluster) = (joined.name.clone(), joined.cluster.clone());
    let session = Arc::new(Session::new(joined)?);
    let program = PathBuf::from("/proc/self/exe");
    let settings = Settings { state: state.to_owned(), nodes, program, part_bytes: PART_BYTES, cgroups: true };
    let mut runner = Local::open(settings).map_err(|error| format!("{}: {error}", state.display()))?;
    bell::listen(Arc::clone(&session), state);
    Err(match serve::serve(&mut HttpLink(session), &mut runner) {
        End::Superseded => format!(
            "another process has said hello as agent {name} of cluster {cluster}, so this one ends; if there are two \
             machines, give each a key of its own. What runs goes on"
        ),
        End::Refused(reason) => format!("{reason}. What runs goes on"),
        End::Runner(error) => format!("{}: {error}. What runs goes on", state.display()),
    })
}

/// Where an agent keeps its state if nothing else is said.
pub fn default_state() -> Result<PathBuf, String> {
    let of = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = of("XDG_STATE_HOME").or_else(|| of("HOME").map(|home| home.join(".local/state")));
    base.map(|base| base.join("tidegate/agent"))
        .ok_or_else(|| "HOME is not set; name a directory with --state".to_owned())
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
