//! Control groups of version 2, where there is a folder of them that we may write: what a run starts is in its group
//! whatever it does, and the kernel kills all of a group at once.

use std::fs;
use std::io;
use std::path::Path;
use std::path::PathBuf;

use agent::run::RunId;

/// The group of a run, or of one of its pods.
pub(crate) struct Cgroup {
    path: PathBuf,
}

impl Cgroup {
    /// Makes the group of a run below our own; none where that cannot be done. Who was killed over it has left it.
    pub(crate) fn make(store: &str, run: RunId) -> Option<Self> {
        let group = Self::named(store, run)?;
        group.create().ok()?;
        if group.path.join("cgroup.kill").exists() {
            return Some(group);
        }
        group.remove();
        None
    }

    /// The group that a run would have, whether it is there or not.
    pub(crate) fn named(store: &str, run: RunId) -> Option<Self> {
        Some(Self { path: own()?.join(format!("tidegate-{store}-{run}")) })
    }

    /// The group of one of its pods, which is made if it is not there.
    pub(crate) fn of_pod(&self, ordinal: usize) -> io::Result<Self> {
        let group = Self { path: self.path.join(format!("pod-{ordinal}")) };
        group.create().map(|()| group)
    }

    /// Makes the folder, unless it is there.
    fn create(&self) -> io::Result<()> {
        match fs::create_dir(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    pub(crate) fn at(path: &str) -> Self {
        Self { path: PathBuf::from(path) }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Starts something within the group. The caller is in it meanwhile, since children are born where their parent is.
    pub(crate) fn within<T>(&self, start: impl FnOnce() -> T) -> io::Result<T> {
        let before = own().ok_or_else(|| io::Error::other("our own control group is not known"))?;
        enter(&self.path)?;
        let started = start();
        enter(&before)?;
        Ok(started)
    }

    pub(crate) fn kill(&self) {
        // A group that is gone has nobody to kill.
        drop(fs::write(self.path.join("cgroup.kill"), "1"));
    }

    pub(crate) fn is_empty(&self) -> bool {
        let events = fs::read_to_string(self.path.join("cgroup.events")).unwrap_or_default();
        !events.lines().any(|line| line == "populated 1")
    }

    /// Removes the group with those of its pods, which must be empty.
    pub(crate) fn remove(&self) {
        for entry in fs::read_dir(&self.path).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                drop(fs::remove_dir(entry.path()));
            }
        }
        drop(fs::remove_dir(&self.path));
    }
}

fn enter(group: &Path) -> io::Result<()> {
    fs::write(group.join("cgroup.procs"), std::process::id().to_string())
}

/// Our own group: where the hierarchy of version 2 is mounted, and where we are in it.
fn own() -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
    let mount = mounts.lines().find_map(|line| {
        let mut words = line.split(' ').skip(1);
        let place = words.next()?;
        (words.next()? == "cgroup2").then(|| place.to_owned())
    })?;
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let group = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    Some(Path::new(&mount).join(group))
}
