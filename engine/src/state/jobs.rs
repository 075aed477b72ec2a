//! The jobs, by number and by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use serde::Serialize;

use crate::job::phase::Phase;
use crate::job::phase::Placed;
use crate::job::phase::Progress;
use crate::job::spec::JobSpec;
use crate::job::story::Episode;
use crate::job::story::Story;
use crate::unit::id::ClassNo;
use crate::unit::id::JobId;
use crate::unit::id::JobNo;
use crate::unit::id::Spelling;
use crate::unit::limit;
use crate::unit::time::Timestamp;

/// A waiting job's place among others of its class: since when it waits, then by name.
pub type Place<'a> = (Timestamp, Spelling<'a>);

/// A job: what it asks for and what has become of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// What it asks for; the priority is the one declared last.
    pub spec: Arc<JobSpec>,
    /// When it was submitted.
    pub submitted: Timestamp,
    /// When it would have been submitted, had it only ever waited: its place in the queue and its age.
    pub waiting_since: Timestamp,
    /// Its phase.
    pub phase: Phase,
    /// What it has done so far.
    pub progress: Progress,
    /// What has happened to it.
    pub story: Story,
    /// The class in whose queue it waits or waited; known once it has been queued.
    #[serde(skip)]
    pub class: Option<ClassNo>,
}

impl Job {
    /// What it holds or still occupies.
    #[must_use]
    pub fn placed(&self) -> Option<&Placed> {
        match &self.phase {
            Phase::Starting { placed, .. } | Phase::Running { placed, .. } | Phase::Stopping { placed, .. } => {
                Some(placed)
            }
            Phase::Queued { .. } | Phase::Ended { .. } => None,
        }
    }

    /// Its place among waiting jobs of its class.
    #[must_use]
    pub fn place(&self) -> Place<'_> {
        (self.waiting_since, Spelling::of(self.spec.id.as_str()))
    }

    /// Whether it bids on the spot market instead of drawing on a quota.
    #[must_use]
    pub fn bids(&self) -> bool {
        self.spec.spot.is_some()
    }

    /// Whether it waits.
    #[must_use]
    pub fn is_queued(&self) -> bool {
        matches!(self.phase, Phase::Queued { .. })
    }

    /// Whether it runs.
    #[must_use]
    pub fn is_running(&self) -> bool {
        matches!(self.phase, Phase::Running { .. })
    }

    /// Whether it has ended.
    #[must_use]
    pub fn is_ended(&self) -> bool {
        matches!(self.phase, Phase::Ended { .. })
    }

    /// Adds to its timeline; of a long story the oldest part is forgotten.
    pub fn tell(&mut self, at: Timestamp, episode: Episode) {
        if self.story.len() >= limit::HISTORY_MAX {
            self.story.remove(0);
        }
        self.story.push((at, episode));
    }
}

/// All jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Jobs {
    slots: Vec<Option<Job>>,
    free: Vec<JobNo>,
    by_id: BTreeMap<JobId, JobNo>,
}

impl Jobs {
    /// The jobs of a snapshot: each with its number, and the free numbers in the order of their release.
    #[must_use]
    pub fn restored(jobs: Vec<(JobNo, Job)>, free: Vec<JobNo>) -> Self {
        let mut restored = Self { slots: Vec::new(), free, by_id: BTreeMap::new() };
        for (no, job) in jobs {
            restored.put(no, job);
        }
        for no in &restored.free {
            if restored.slots.len() <= no.at() {
                restored.slots.resize(no.at() + 1, None);
            }
        }
        restored
    }

    /// The number that the next job gets.
    #[must_use]
    pub fn next_no(&self) -> JobNo {
        self.free.last().copied().unwrap_or_else(|| JobNo::from_index(self.slots.len()))
    }

    /// Free numbers, the next one last.
    #[must_use]
    pub fn free(&self) -> &[JobNo] {
        &self.free
    }

    /// Adds a job under the number that is next.
    pub fn insert(&mut self, no: JobNo, job: Job) {
        if self.free.last() == Some(&no) {
            self.free.pop();
        }
        self.put(no, job);
    }

    fn put(&mut self, no: JobNo, job: Job) {
        self.by_id.insert(job.spec.id.clone(), no);
        if self.slots.len() <= no.at() {
            self.slots.resize(no.at() + 1, None);
        }
        self.slots[no.at()] = Some(job);
    }

    /// Forgets a job; its number is free again.
    pub fn remove(&mut self, no: JobNo) {
        if let Some(job) = self.slots.get_mut(no.at()).and_then(Option::take) {
            self.by_id.remove(&job.spec.id);
            self.free.push(no);
        }
    }

    /// How many jobs there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// The number of the job named so.
    #[must_use]
    pub fn find(&self, id: &JobId) -> Option<JobNo> {
        self.by_id.get(id).copied()
    }

    /// The job with this number.
    #[must_use]
    pub fn get(&self, no: JobNo) -> Option<&Job> {
        self.slots.get(no.at()).and_then(Option::as_ref)
    }

    /// The job with this number, to change it.
    pub fn get_mut(&mut self, no: JobNo) -> Option<&mut Job> {
        self.slots.get_mut(no.at()).and_then(Option::as_mut)
    }

    /// All jobs in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (JobNo, &Job)> {
        self.slots.iter().enumerate().filter_map(|(at, slot)| slot.as_ref().map(|job| (JobNo::from_index(at), job)))
    }
}

impl std::ops::Index<JobNo> for Jobs {
    type Output = Job;
    /// The job with this number; numbers come from the state itself.
    fn index(&self, no: JobNo) -> &Job {
        self.get(no).expect("a job number in the state names a job")
    }
}
