//! The jobs, by number and by name.

use std::hash::DefaultHasher;
use std::hash::Hasher;
use std::sync::Arc;

use serde::Deserialize;
use serde::Serialize;

use crate::job::phase::AfterStop;
use crate::job::phase::ExtraPod;
use crate::job::phase::Phase;
use crate::job::phase::Placed;
use crate::job::phase::Progress;
use crate::job::run::Run;
use crate::job::run::RunNo;
use crate::job::spec::JobSpec;
use crate::job::story::Episode;
use crate::job::story::Story;
use crate::unit::id::ClassNo;
use crate::unit::id::JobId;
use crate::unit::id::JobNo;
use crate::unit::id::NodeNo;
use crate::unit::id::Spelling;
use crate::unit::limit;
use crate::unit::ordered::Set;
use crate::unit::time::Millis;
use crate::unit::time::Timestamp;

/// A waiting job's place among others of its class: since when it waits, then by name.
pub type Place<'a> = (Timestamp, Spelling<'a>);

/// A job: what it asks for and what has become of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// What it asks for; the priority is the one declared last.
    pub spec: JobSpec,
    /// When it was submitted.
    pub submitted: Timestamp,
    /// When it would have been submitted, had it only ever waited: its place in the queue and its age.
    pub waiting_since: Timestamp,
    /// Its phase.
    pub phase: Phase,
    /// Its run, where others report what it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<Box<Run>>,
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
            Phase::Starting { placed, .. } | Phase::Running { placed, .. } => Some(placed),
            Phase::Stopping(stopping) => Some(&stopping.placed),
            Phase::Queued { .. } | Phase::Ended { .. } => None,
        }
    }

    /// Its place among waiting jobs of its class.
    #[must_use]
    pub fn place(&self) -> Place<'_> {
        (self.waiting_since, Spelling::of(&self.spec.id))
    }

    /// The number of its run: of what has run since before there were numbers, none.
    #[must_use]
    pub fn run_no(&self) -> Option<RunNo> {
        let no = || self.run.as_ref().map_or(RunNo::UNNUMBERED, |run| run.no);
        matches!(self.phase, Phase::Running { .. } | Phase::Stopping(_)).then(no)
    }

    /// Whether it has been told to run, and nobody has confirmed that it does.
    #[must_use]
    pub fn is_unconfirmed(&self) -> bool {
        self.is_running() && self.run.as_ref().is_some_and(|run| run.confirmed.is_none())
    }

    /// Its pods above the minimum, in the order in which they started (rules 3.7).
    #[must_use]
    pub fn extra(&self) -> &[ExtraPod] {
        match &self.phase {
            Phase::Running { extra, .. } => extra,
            Phase::Stopping(stopping) => &stopping.extra,
            Phase::Queued { .. } | Phase::Starting { .. } | Phase::Ended { .. } => &[],
        }
    }

    /// The nodes on which its gang and its extra pods are, one for each pod.
    pub fn nodes_of_run(&self) -> impl Iterator<Item = NodeNo> {
        let gang = self.placed().into_iter().flat_map(|placed| &placed.pods).map(|pod| pod.node);
        gang.chain(self.extra().iter().filter_map(|pod| Some(pod.at?.node)))
    }

    /// The same with pods that were told to leave.
    pub fn nodes(&self) -> impl Iterator<Item = NodeNo> {
        let leaving = self.run.iter().flat_map(|run| &run.leaving).flat_map(|leaving| &leaving.pods);
        self.nodes_of_run().chain(leaving.map(|pod| pod.node))
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

    /// Whether it ends once it has stopped.
    #[must_use]
    pub fn is_going(&self) -> bool {
        matches!(&self.phase, Phase::Stopping(stopping) if matches!(stopping.then, AfterStop::End(_)))
    }

    /// How long it runs yet after a start, as far as it says so.
    #[must_use]
    pub fn left(&self) -> Option<Millis> {
        self.spec.duration.map(|duration| Millis(duration.get().0 - self.progress.saved_ms.0))
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

/// How many jobs lie on a sheet.
pub(super) const SHEET: usize = 32;

/// Neighbours by number. Copies of the state share what neither has changed, so a copy to try something on costs as
/// much as there are sheets, and what is tried changes few of them.
pub(super) type Sheet = [Option<Job>; SHEET];

/// A sheet without jobs.
pub(super) fn empty() -> Arc<Sheet> {
    Arc::new(std::array::from_fn(|_| None))
}

/// All jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Jobs {
    sheets: Vec<Arc<Sheet>>,
    /// The first number that no job has had.
    end: JobNo,
    free: Vec<JobNo>,
    /// Numbers by a digest of the name: in place of names, which are longer and compared more slowly.
    by_name: Set<(u32, JobNo)>,
}

impl Jobs {
    /// Jobs on sheets by their places, none of which is empty, and the free numbers in the order of their release.
    pub(super) fn of_sheets(sheets: impl IntoIterator<Item = (usize, Arc<Sheet>)>, free: Vec<JobNo>) -> Self {
        let mut jobs = Self::default();
        for (at, sheet) in sheets {
            for (slot, job) in sheet.iter().enumerate() {
                let Some(job) = job else { continue };
                let no = JobNo::from_index(at * SHEET + slot);
                jobs.by_name.insert((digest(&job.spec.id), no));
                jobs.make_room(no);
            }
            jobs.sheets[at] = sheet;
        }
        for no in &free {
            jobs.make_room(*no);
        }
        Self { free, ..jobs }
    }

    /// The sheets by their places.
    pub(super) fn sheets(&self) -> &[Arc<Sheet>] {
        &self.sheets
    }

    /// The number that the next job gets.
    #[must_use]
    pub fn next_no(&self) -> JobNo {
        self.free.last().copied().unwrap_or(self.end)
    }

    /// The number that a job gets after so many others.
    #[must_use]
    pub fn no_after(&self, others: usize) -> JobNo {
        let of_free = self.free.len().checked_sub(others + 1).map(|at| self.free[at]);
        of_free.unwrap_or_else(|| JobNo::from_index(self.end.at() + others - self.free.len()))
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
        self.by_name.insert((digest(&job.spec.id), no));
        self.make_room(no);
        *self.slot(no) = Some(job);
    }

    fn make_room(&mut self, no: JobNo) {
        self.end = self.end.max(JobNo::from_index(no.at() + 1));
        while self.sheets.len() * SHEET <= no.at() {
            self.sheets.push(empty());
        }
    }

    fn slot(&mut self, no: JobNo) -> &mut Option<Job> {
        &mut Arc::make_mut(&mut self.sheets[no.at() / SHEET])[no.at() % SHEET]
    }

    /// Forgets a job; its number is free again.
    pub fn remove(&mut self, no: JobNo) {
        if self.get(no).is_none() {
            return;
        }
        if let Some(job) = self.slot(no).take() {
            self.by_name.remove(&(digest(&job.spec.id), no));
            self.free.push(no);
        }
    }

    /// How many jobs there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.by_name.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// The number of the job named so.
    #[must_use]
    pub fn find(&self, id: &JobId) -> Option<JobNo> {
        let digest = digest(id);
        let alike = self.by_name.range_from(&(digest, JobNo(0))).take_while(|(of, _)| *of == digest);
        alike.map(|(_, no)| *no).find(|no| self[*no].spec.id == *id)
    }

    /// The job with this number.
    #[must_use]
    pub fn get(&self, no: JobNo) -> Option<&Job> {
        self.sheets.get(no.at() / SHEET).and_then(|sheet| sheet[no.at() % SHEET].as_ref())
    }

    /// The job with this number, to change it.
    pub fn get_mut(&mut self, no: JobNo) -> Option<&mut Job> {
        if self.get(no).is_some() { self.slot(no).as_mut() } else { None }
    }

    /// All jobs in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (JobNo, &Job)> {
        let slots = self.sheets.iter().flat_map(|sheet| sheet.iter());
        slots.enumerate().filter_map(|(at, slot)| slot.as_ref().map(|job| (JobNo::from_index(at), job)))
    }
}

/// A number for a name. Nothing that is decided depends on it: different names may share one. Names are chosen by
/// their senders, so it is of a kind whose collisions cannot be looked up.
fn digest(id: &JobId) -> u32 {
    let mut hasher = DefaultHasher::new();
    hasher.write(id.as_bytes());
    u32::try_from(hasher.finish() >> 32).unwrap_or(u32::MAX)
}

impl std::ops::Index<JobNo> for Jobs {
    type Output = Job;
    /// The job with this number; numbers come from the state itself.
    fn index(&self, no: JobNo) -> &Job {
        self.get(no).expect("a job number in the state names a job")
    }
}
