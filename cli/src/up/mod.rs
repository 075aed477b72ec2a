//! `tidegate up`: the service and an agent on this computer, on what a folder has stored.

pub mod release;
pub mod runtime;
pub mod unit;

use std::fs::DirBuilder;
use std::fs::File;
use std::fs::TryLockError;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;

use agent::message::GPUS_MAX;
use clap::Args;
use protocol::name::ClusterName;
use runner::gpus;
use rustix::io::FdFlags;
use rustix::io::fcntl_setfd;

use crate::agents::run;
use crate::service::http::Address;
use crate::up::release::Release;

/// How many GPUs are pretended where no driver knows of any.
const PRETENDED_GPUS: u16 = 8;

/// What `tidegate up` is asked for.
#[derive(Debug, Args)]
#[expect(clippy::doc_markdown, reason = "the comments of arguments are the help text")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub struct Up {
    /// Where everything is stored [default: ~/.local/share/tidegate].
    #[arg(long)]
    pub state: Option<PathBuf>,
    /// The port on this computer.
    #[arg(long, default_value_t = 8787)]
    pub port: u16,
    /// The cluster that is made for this computer.
    #[arg(long, default_value = "local")]
    pub cluster: String,
    /// How many GPUs this computer offers; otherwise those that its driver knows, and eight pretended ones without a driver.
    #[arg(long, value_parser = clap::value_parser!(u16).range(0..=i64::from(GPUS_MAX)))]
    pub gpus: Option<u16>,
    /// Runs the service alone: jobs run on the machines of other agents, or nowhere yet.
    #[arg(long, conflicts_with_all = ["gpus", "allow_root"])]
    pub no_agent: bool,
    /// The folder was put back from a backup: clusters are restored from what they had published, and runs are numbered anew.
    #[arg(long)]
    pub from_backup: bool,
    /// Runs jobs as root, if this program is started by root.
    #[arg(long)]
    pub allow_root: bool,
    /// The address under which a proxy that encrypts serves it to others, such as https://gpus.example.org.
    #[arg(long)]
    pub address: Option<String>,
    /// A setting of the service, such as JOBS_OF_USER_MAX=500; may be said several times.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub settings: Vec<String>,
    /// The built service [default: beside this program].
    #[arg(long)]
    pub release: Option<PathBuf>,
    /// Prints a unit for systemd that does the same, and starts nothing.
    #[arg(long)]
    pub unit: bool,
}

/// Prints the unit, or becomes the service; only a problem comes back from that.
pub fn up(asked: &Up) -> Result<String, String> {
    let cluster = ClusterName::new(&asked.cluster).ok_or_else(|| {
        format!("--cluster {}: write small letters, digits and hyphens, such as lab-1", asked.cluster)
    })?;
    let address = asked.address.as_deref().map(of_proxy).transpose()?;
    let settings = asked.settings.iter().map(|text| setting(text)).collect::<Result<Vec<_>, _>>()?;
    let release = asked.release.as_deref().map_or_else(Release::beside_program, Release::at)?;
    let state = asked.state.clone().map_or_else(default_state, Ok)?;
    if asked.unit {
        return unit::text(&state);
    }
    let mut node = Command::new("node");
    node.arg(release.program()).arg("--state").arg(&state).args(["--cluster", cluster.as_str()]);
    node.args(["--port", &asked.port.to_string()]);
    if asked.no_agent {
        node.arg("--no-agent");
    } else {
        run::account(asked.allow_root)?;
    }
    if asked.from_backup {
        node.arg("--from-backup");
    }
    // Without an agent this computer is none of the machines: what was put there would never begin.
    let own = if asked.no_agent { Vec::new() } else { nodes(asked.gpus)? };
    for (name, gpus) in own {
        node.args(["--node", &format!("{name}={gpus}")]);
    }
    let program = std::env::current_exe().map_err(|error| format!("the place of this program: {error}"))?;
    runtime::stand_in(&mut node, &program);
    node.arg("--program").arg(program);
    if let Some(address) = address {
        node.args(["--address", address]);
    }
    for setting in settings {
        node.args(["--variable", setting]);
    }
    lock(&state)?;
    // The service takes this process's place, so that a signal reaches it alone and it ends in order, its agent first.
    Err(format!("node did not start: {}; install Node 20.3 or later", node.exec()))
}

/// Holds the folder for as long as the process lives, whatever program it becomes: two services on one storage would each
/// believe to be the only one that decides.
fn lock(state: &Path) -> Result<(), String> {
    let about = |error: &dyn std::fmt::Display| format!("{}: {error}", state.display());
    DirBuilder::new().recursive(true).mode(0o700).create(state).map_err(|error| about(&error))?;
    let file = File::create(state.join("lock")).map_err(|error| about(&error))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            return Err(about(&"another `tidegate up` serves this folder; end that one, or name another with --state"));
        }
        Err(TryLockError::Error(error)) => return Err(about(&error)),
    }
    fcntl_setfd(&file, FdFlags::empty()).map_err(|error| about(&error))?;
    std::mem::forget(file);
    Ok(())
}

/// This computer as a node, and who says how many GPUs it has.
fn nodes(asked: Option<u16>) -> Result<Vec<(String, u16)>, String> {
    let name = run::machine()?;
    let count = asked.or_else(gpus::count).unwrap_or_else(|| {
        eprintln!(
            "no driver tells of GPUs here, so {PRETENDED_GPUS} are pretended, to have a look with; --gpus N says otherwise"
        );
        PRETENDED_GPUS
    });
    Ok(vec![(name, count)])
}

/// Where others reach the service: what is between the proxy and this computer is not encrypted, all else is.
fn of_proxy(text: &str) -> Result<&str, String> {
    Address::new(text)?;
    let rest = text.strip_prefix("https://").filter(|rest| !rest.trim_end_matches('/').is_empty());
    rest.map(|_| text.trim_end_matches('/')).ok_or_else(|| {
        format!("--address {text}: write the address of a proxy that encrypts, such as https://gpus.example.org")
    })
}

fn setting(text: &str) -> Result<&str, String> {
    let is_name = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    let named = text.split_once('=').filter(|(name, _)| is_name(name));
    match named {
        Some(("ADMIN_KEY" | "MASTER_SECRET" | "MONITOR_KEY", _)) => Err(format!(
            "--set {text}: secrets stand in the file `secrets` of the folder, where nobody else reads them"
        )),
        Some(_) => Ok(text),
        None => Err(format!("--set {text}: write NAME=VALUE, such as JOBS_OF_USER_MAX=500")),
    }
}

fn default_state() -> Result<PathBuf, String> {
    run::folder_of("XDG_DATA_HOME", ".local/share").map(|base| base.join("tidegate"))
}

#[cfg(test)]
mod tests {
    use super::of_proxy;
    use super::setting;

    #[test]
    fn others_reach_it_through_what_encrypts() {
        assert_eq!(of_proxy("https://gpus.example.org/"), Ok("https://gpus.example.org"));
        for bad in ["http://127.0.0.1:80", "https://", "gpus.example.org", "https://a.example.org/path"] {
            assert!(of_proxy(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn settings_have_names_and_secrets_are_none() {
        assert_eq!(setting("JOBS_OF_USER_MAX=500"), Ok("JOBS_OF_USER_MAX=500"));
        for bad in ["jobs=5", "=5", "JOBS", "ADMIN_KEY=x", "MASTER_SECRET=x"] {
            assert!(setting(bad).unwrap_err().starts_with(&format!("--set {bad}: ")), "{bad}");
        }
    }
}
