//! Jobs between two states: on the sheets on which a state has them, so that there are never two copies of all of them.

use std::sync::Arc;

use serde::Serialize;
use serde::Serializer;

use crate::state::jobs::Job;
use crate::state::jobs::Jobs;
use crate::state::jobs::SHEET;
use crate::state::jobs::Sheet;
use crate::state::jobs::empty;
use crate::unit::id::JobNo;
use crate::unit::ordered::Map;

/// Jobs with their numbers, in the order of these. Where a state has the same ones, what neither changes is there once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobList {
    /// Sheets by their places. None is empty: a number far beyond the others takes one sheet, not all up to it.
    sheets: Map<usize, Arc<Sheet>>,
    len: usize,
}

impl JobList {
    /// The jobs of a state.
    #[must_use]
    pub fn of(jobs: &Jobs) -> Self {
        let used = jobs.sheets().iter().enumerate().filter(|(_, sheet)| sheet.iter().any(Option::is_some));
        Self { sheets: used.map(|(at, sheet)| (at, Arc::clone(sheet))).collect(), len: jobs.len() }
    }

    /// The jobs for a state, with the free numbers in the order of their release: together these are all numbers from 0 on.
    #[must_use]
    pub fn into_jobs(self, free: Vec<JobNo>) -> Jobs {
        Jobs::of_sheets(self.sheets, free)
    }

    /// How many jobs there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds a job, unless its number is taken.
    ///
    /// # Errors
    /// The number is that of another job.
    pub fn add(&mut self, no: JobNo, job: Job) -> Result<(), String> {
        let sheet = self.sheets.or_insert_with(no.at() / SHEET, empty);
        let slot = &mut Arc::make_mut(sheet)[no.at() % SHEET];
        if slot.is_some() {
            return Err(format!("job number {} stands twice", no.at()));
        }
        *slot = Some(job);
        self.len += 1;
        Ok(())
    }

    /// The jobs in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (JobNo, &Job)> {
        self.sheets.iter().flat_map(|(at, sheet)| {
            let slots = sheet.iter().enumerate();
            slots.filter_map(move |(slot, job)| Some((number(*at, slot), job.as_ref()?)))
        })
    }

    /// The same, to change them.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (JobNo, &mut Job)> {
        let places: Vec<usize> = self.sheets.keys().copied().collect();
        places.into_iter().zip(self.sheets.values_mut()).flat_map(|(at, sheet)| {
            let slots = Arc::make_mut(sheet).iter_mut().enumerate();
            slots.filter_map(move |(slot, job)| Some((number(at, slot), job.as_mut()?)))
        })
    }
}

fn number(sheet: usize, slot: usize) -> JobNo {
    JobNo::from_index(sheet * SHEET + slot)
}

/// A list of pairs, as it is in messages.
impl Serialize for JobList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}
