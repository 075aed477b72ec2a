//! What an agent keeps of having joined: where the service is, and its key. Nobody else may read it.

use std::fs;
use std::fs::DirBuilder;
use std::fs::File;
use std::io::ErrorKind;
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::path::PathBuf;

use serde::Deserialize;
use serde::Serialize;

const FILE: &str = "agent.json";

/// What `agent.json` says.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Joined {
    /// The format of this file.
    pub format: u32,
    /// The address of the service.
    pub service: String,
    /// The cluster.
    pub cluster: String,
    /// The agent's name.
    pub name: String,
    /// The secret of its key.
    pub secret: String,
}

impl Joined {
    /// The name of its key.
    #[must_use]
    pub fn key(&self) -> String {
        format!("{}.{}", self.cluster, self.name)
    }

    /// Reads it.
    pub fn read(state: &Path) -> Result<Self, String> {
        let path = state.join(FILE);
        let about = |what: &dyn std::fmt::Display| format!("{}: {what}", path.display());
        let text = fs::read_to_string(&path).map_err(|error| {
            if error.kind() == ErrorKind::NotFound {
                about(&"no agent has joined with this state directory; see the help of join")
            } else {
                about(&error)
            }
        })?;
        let others = fs::metadata(&path).map_err(|error| about(&error))?.permissions().mode() & 0o077;
        if others != 0 {
            return Err(about(&"others may read it, and it has a secret in it: chmod 600"));
        }
        serde_json::from_str(&text).map_err(|error| about(&error))
    }
}

/// The file before it is written: nobody else writes it, and nobody else may read it.
pub struct AgentFile {
    path: PathBuf,
    file: File,
}

impl AgentFile {
    /// Makes it, before there is anything to write: a secret that is shown once must not be lost to a full disk.
    pub fn take(state: &Path) -> Result<Self, String> {
        let path = state.join(FILE);
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(state)
            .map_err(|error| format!("{}: {error}", state.display()))?;
        let taken = File::options().write(true).create_new(true).mode(0o600).open(&path);
        let file = taken.map_err(|error| {
            let (folder, file) = (state.display(), path.display());
            if error.kind() == ErrorKind::AlreadyExists {
                format!(
                    "an agent has joined with {folder} already; name another directory with --state, or remove {file}"
                )
            } else {
                format!("{file}: {error}")
            }
        })?;
        Ok(Self { path, file })
    }

    /// Gives the place back: nothing came of it.
    pub fn give_back(self) {
        // It is empty: whoever finds it is told to remove it.
        drop(fs::remove_file(self.path));
    }

    /// Writes it.
    pub fn fill(mut self, joined: &Joined) -> Result<(), String> {
        let about = |error: std::io::Error| format!("{}: {error}", self.path.display());
        let text = serde_json::to_string_pretty(joined).map_err(|error| error.to_string())?;
        self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_all()).map_err(about)
    }
}
