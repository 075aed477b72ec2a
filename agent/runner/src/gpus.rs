//! How many GPUs this machine has, and who holds which.
//!
//! A GPU that is held has a file with the name of its run. The file is made whole at once and is removed when the run has
//! no process any more: so no two runs hold a GPU, whatever the service says and whichever process was killed.

use std::fs;
use std::io;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;

use agent::message::Pod;
use agent::run::RunId;

use crate::stored;

/// How many GPUs the driver knows; none if there is no driver.
#[must_use]
pub fn count() -> Option<u16> {
    let of_driver = fs::read_dir("/proc/driver/nvidia/gpus").map(Iterator::count).ok();
    let of_tool = || {
        let output = Command::new("nvidia-smi").arg("-L").output().ok().filter(|output| output.status.success())?;
        Some(String::from_utf8_lossy(&output.stdout).lines().filter(|line| line.starts_with("GPU ")).count())
    };
    of_driver.or_else(of_tool).and_then(|count| u16::try_from(count).ok())
}

/// Files of GPUs.
pub(crate) struct Gpus {
    folder: PathBuf,
}

impl Gpus {
    pub(crate) fn of(state: &Path) -> Self {
        Self { folder: state.join("gpus") }
    }

    /// Takes all of them for a run, or none; then it says who has one. What the run has already it keeps.
    pub(crate) fn take(&self, run: RunId, pods: &[Pod]) -> io::Result<Result<(), String>> {
        let mine = self.folder.join(format!(".{run}.{}", std::process::id()));
        fs::write(&mine, run.to_string())?;
        let mut taken: Vec<PathBuf> = Vec::new();
        let mut holder = None;
        for (pod, gpu) in pods.iter().flat_map(|pod| pod.gpus.iter().map(move |gpu| (pod, gpu))) {
            let file = self.file(&pod.node, *gpu);
            match fs::hard_link(&mine, &file) {
                Ok(()) => taken.push(file),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    let by = stored::read(&file)?.unwrap_or_default();
                    if by != run.to_string() {
                        holder = Some(format!("GPU {gpu} of {} is held by run {by}", pod.node));
                        break;
                    }
                }
                Err(error) => return Err(error),
            }
        }
        stored::remove(&mine)?;
        if let Some(holder) = holder {
            taken.iter().try_for_each(|file| stored::remove(file))?;
            return Ok(Err(holder));
        }
        Ok(Ok(()))
    }

    /// Gives back what some of a run's pods hold. The caller holds the run's lock.
    pub(crate) fn release_of(&self, run: RunId, node: &str, gpus: impl Iterator<Item = u16>) -> io::Result<()> {
        for gpu in gpus {
            give_back(run, &self.file(node, gpu))?;
        }
        Ok(())
    }

    fn file(&self, node: &str, gpu: u16) -> PathBuf {
        self.folder.join(format!("{}.{gpu}", file_name(node)))
    }

    /// Gives back what a run holds. The caller holds the run's lock, so nobody else does so at the same time.
    pub(crate) fn release(&self, run: RunId) -> io::Result<()> {
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            if !entry.file_name().to_string_lossy().starts_with('.') {
                give_back(run, &entry.path())?;
            }
        }
        Ok(())
    }
}

/// Removes the file of a GPU that a run holds.
fn give_back(run: RunId, file: &Path) -> io::Result<()> {
    if stored::read(file)?.is_some_and(|by| by == run.to_string()) { stored::remove(file) } else { Ok(()) }
}

/// A name as part of a file's name.
fn file_name(name: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    name.bytes()
        .map(|byte| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02x}") })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn no_name_leaves_the_folder() {
        assert_eq!(file_name("gpu-node_1"), "gpu-node_1");
        assert_eq!(file_name("../a.b"), "%2e%2e%2fa%2eb");
    }
}
