//! The processes of a run, however they were started.
//!
//! They are known by their control group, by what stands in their environment, which children inherit, and as descendants
//! of their supervisor, which adopts those whose parents are gone.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::fs;
use std::thread::sleep;
use std::time::Duration;

use rustix::process::Pid;
use rustix::process::Signal;
use rustix::process::kill_process;

use crate::cgroup::Cgroup;

/// The variable that names the run to its processes.
pub(crate) const RUN: &str = "TIDEGATE_RUN";
/// The variable that says whose run it is: two agents on a machine do not know each other's runs.
pub(crate) const STORE: &str = "TIDEGATE_STORE";

/// The variable that tells a run's pods apart: the first that its supervisor has started is 0.
pub(crate) const POD: &str = "TIDEGATE_POD";

/// How to find the processes of a run, or of one of its pods.
pub(crate) struct Mark<'a> {
    pub(crate) run: String,
    pub(crate) store: &'a str,
    pub(crate) cgroup: Option<Cgroup>,
    /// Whose descendants belong to it as well: of a run its supervisor's, of a pod its first process's.
    pub(crate) ancestor: Option<i32>,
    /// Which pod, if not all of them.
    pub(crate) pod: Option<usize>,
}

impl Mark<'_> {
    /// Those of them that live.
    pub(crate) fn living(&self) -> BTreeSet<i32> {
        let all = all();
        let mut found: BTreeSet<i32> = all.keys().copied().filter(|pid| self.is_named_in(*pid)).collect();
        let Some(wanted) = self.ancestor else { return found };
        for pid in all.keys() {
            let mut ancestor = *pid;
            // The chain ends at the first process; a parent that ended meanwhile ends it as well.
            while let Some(parent) = all.get(&ancestor) {
                if *parent == wanted {
                    found.insert(*pid);
                    break;
                }
                ancestor = *parent;
            }
        }
        found
    }

    fn is_named_in(&self, pid: i32) -> bool {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let has = |name: &str, value: &str| {
            let wanted = format!("{name}={value}");
            environment.split(|byte| *byte == 0).any(|entry| entry == wanted.as_bytes())
        };
        let is_of_pod = || self.pod.is_none_or(|pod| has(POD, &pod.to_string()));
        has(RUN, &self.run) && has(STORE, self.store) && is_of_pod()
    }

    /// Kills all of them again and again until there are none, or the time is over; whether there are none.
    pub(crate) fn kill(&self, tries: u32, mut after_each: impl FnMut()) -> bool {
        for attempt in 0..tries {
            self.cgroup.iter().for_each(Cgroup::kill);
            let living = self.living();
            if living.is_empty() && self.cgroup.as_ref().is_none_or(Cgroup::is_empty) {
                self.cgroup.iter().for_each(Cgroup::remove);
                return true;
            }
            for pid in living {
                send(pid, Signal::KILL);
            }
            sleep(Duration::from_millis(u64::from(attempt.min(20)) * 5 + 1));
            after_each();
        }
        false
    }
}

/// Sends a signal. A process that is gone already needs none.
pub(crate) fn send(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = kill_process(pid, signal);
    }
}

/// Every run of a store that has processes.
pub(crate) fn runs_of(store: &str) -> BTreeSet<String> {
    let wanted = format!("{STORE}={store}");
    let run_of = |pid: i32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
        let entries: Vec<&[u8]> = environment.split(|byte| *byte == 0).collect();
        let start = format!("{RUN}=");
        let run = entries.iter().find_map(|entry| entry.strip_prefix(start.as_bytes()))?;
        entries.contains(&wanted.as_bytes()).then(|| String::from_utf8_lossy(run).into_owned())
    };
    all().into_keys().filter_map(run_of).collect()
}

/// Living processes with their parents. Those that have ended and are not waited for yet do nothing any more.
fn all() -> BTreeMap<i32, i32> {
    let entries: Vec<fs::DirEntry> = fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok).collect();
    let pids = entries.iter().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter_map(|pid| {
        let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name in the middle may have any letters; what follows its last bracket is plain.
        let mut words = text.rsplit_once(')')?.1.split_whitespace();
        let state = words.next()?;
        let parent = words.next()?.parse().ok()?;
        (state != "Z" && state != "X").then_some((pid, parent))
    })
    .collect()
}
