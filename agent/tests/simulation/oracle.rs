//! What must hold, seen by somebody who sees processes alone. It shares nothing with the agent or the service.
use std::collections::BTreeMap;
use std::collections::BTreeSet;

/// A process as an onlooker sees it.
#[derive(Clone)]
pub(crate) struct Life {
    pub(crate) run: String,
    pub(crate) job: String,
    pub(crate) rank: u32,
    pub(crate) gpus: Vec<(String, u16)>,
    /// It was started by another process of its run.
    pub(crate) is_child: bool,
}

#[derive(Default)]
pub(crate) struct Oracle {
    living: BTreeMap<u64, Life>,
    /// Every pod of every run that ever had a process: its run, its node, and the number that its supervisor gave it.
    started: BTreeSet<(String, Option<String>, u32)>,
    /// Jobs that came to their own end.
    finished: BTreeSet<String>,
    given_up: BTreeSet<String>,
    n_restores: u64,
    /// What did not hold, the first thing first.
    pub(crate) faults: Vec<String>,
    pub(crate) n_started: u64,
}

impl Oracle {
    pub(crate) fn blame(&mut self, what: String) {
        if self.faults.len() < 100 {
            self.faults.push(what);
        }
    }

    pub(crate) fn start(&mut self, pid: u64, life: Life) {
        let Life { run, job, rank, gpus, is_child } = &life;
        let mut faults = Vec::new();
        for other in self.living.values().filter(|other| other.run != *run) {
            if let Some((node, gpu)) = gpus.iter().find(|gpu| other.gpus.contains(gpu)) {
                faults.push(format!("R1: GPU {gpu} of {node} has processes of {} and of {run}", other.run));
            }
            if other.job == *job {
                faults.push(format!("R2: {job} lives as {} and as {run}", other.run));
            }
        }
        let twins = self.living.values().filter(|other| other.run == *run && !other.is_child && !is_child);
        if let Some(other) = twins.into_iter().find(|other| gpus.iter().any(|gpu| other.gpus.contains(gpu))) {
            faults.push(format!("R2: pods {} and {rank} of {run} live on one GPU", other.rank));
        }
        if !is_child {
            self.n_started += 1;
            let node = gpus.first().map(|(node, _)| node.clone());
            if !self.started.insert((run.clone(), node, *rank)) {
                faults.push(format!("R2: pod {rank} of {run} has started twice"));
            }
            if self.finished.contains(job) {
                faults.push(format!("R2: {job} had finished, and has started again"));
            }
        }
        for what in faults {
            self.blame(what);
        }
        self.living.insert(pid, life);
    }

    pub(crate) fn end(&mut self, pid: u64) {
        self.living.remove(&pid);
    }

    /// It came to its own end, and that is written down where its machine keeps it.
    pub(crate) fn finish(&mut self, run: &str, job: &str) {
        let is_known = run.split_once('-').is_some_and(|(epoch, _)| epoch == self.n_restores.to_string());
        if is_known && !self.given_up.contains(job) {
            self.finished.insert(job.to_owned());
        }
    }

    /// The service does not wait for what the machine has written down: the job may start again.
    pub(crate) fn give_up(&mut self, job: String) {
        self.finished.remove(&job);
        self.given_up.insert(job);
    }

    /// The service may not know any more what it granted: it may start again as another run.
    pub(crate) fn restored(&mut self) {
        self.n_restores += 1;
        self.finished.clear();
    }

    pub(crate) fn n_living(&self) -> usize {
        self.living.len()
    }

    /// R4: what the service takes to be free has no processes.
    pub(crate) fn check_free(&mut self, is_free: impl Fn(&str, u16) -> bool) {
        let held = self.living.values().flat_map(|life| life.gpus.iter().map(move |gpu| (life, gpu)));
        let wrong = held.into_iter().find(|(_, (node, gpu))| is_free(node, *gpu));
        if let Some((life, (node, gpu))) = wrong {
            let what = format!("R4: GPU {gpu} of {node} is free for the service and has a process of {}", life.run);
            self.blame(what);
        }
    }
}
