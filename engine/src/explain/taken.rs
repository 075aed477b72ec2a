//! What is taken from jobs, in the words of the button that takes it and of the tip that would.

use crate::explain::words::count;
use crate::explain::words::gpu_hours;
use crate::message::event::Event;
use crate::schedule::work;
use crate::state::world::State;
use crate::unit::id::JobNo;
use crate::unit::ordered::Set;
use crate::unit::time::Timestamp;

/// What is taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Jobs that would be evicted.
    pub evicted: u64,
    /// Jobs that would go on with fewer pods.
    pub shrunk: u64,
    /// Jobs that would end although nobody evicts them.
    pub ended: u64,
    /// Unsaved work that would be lost.
    pub lost_gpu_ms: i64,
}

impl Cost {
    /// What events take, read from the state before them.
    #[must_use]
    pub fn of<'e>(before: &State, events: impl IntoIterator<Item = &'e Event>, now: Timestamp) -> Self {
        let mut evicted: Set<JobNo> = Set::default();
        let mut shrunk: Set<JobNo> = Set::default();
        let mut ended: Set<JobNo> = Set::default();
        let mut lost_by_eviction: i64 = 0;
        for event in events {
            if let Event::Evicted { job, lost_gpu_ms, .. } = event {
                evicted.insert(*job);
                lost_by_eviction = lost_by_eviction.saturating_add(*lost_gpu_ms);
            } else if let Event::Shrunk { job, .. } = event {
                shrunk.insert(*job);
            } else if let Event::Resized { job, resize, .. } = event
                && resize.leaving() > 0
            {
                shrunk.insert(*job);
            } else if let Event::Ended { job, .. } = event {
                ended.insert(*job);
            } else if let Event::Run { job, step, .. } = event
                && step.ends_job_once_stopped()
            {
                ended.insert(*job);
            }
        }
        let stopped = || ended.iter().filter(|job| !evicted.contains(job));
        let unsaved = |no: &JobNo| {
            let run = before.jobs.get(*no).map(|job| work::unsaved_run(before, job, now));
            run.map_or(0, |run| work::gpu_ms(before, &before.held_by(*no), run))
        };
        Self {
            evicted: evicted.len() as u64,
            shrunk: shrunk.iter().filter(|job| !evicted.contains(job) && !ended.contains(job)).count() as u64,
            ended: stopped().count() as u64,
            lost_gpu_ms: stopped().map(unsaved).fold(lost_by_eviction, i64::saturating_add),
        }
    }

    /// Whether nobody loses anything.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// `evict 2 jobs, lose 0.75 GPU-hours`; nothing where nobody loses anything.
    #[must_use]
    pub fn words(&self) -> Option<String> {
        let lost = (self.lost_gpu_ms > 0).then(|| format!("lose {}", gpu_hours(self.lost_gpu_ms)));
        let parts: Vec<String> = self.taken().into_iter().chain(lost).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    /// `Save and evict 2 jobs, lose 0.75 GPU-hours`; the action alone where nobody loses anything.
    #[must_use]
    pub fn button(&self, action: &str) -> String {
        self.words().map_or_else(|| action.to_owned(), |words| format!("{action} and {words}"))
    }

    /// `Evict 2 jobs?`
    #[must_use]
    pub fn question(&self) -> String {
        let mut text = self.taken().join(", ");
        if let Some(first) = text.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        format!("{text}?")
    }

    /// `Unsaved work lost: 0.75 GPU-hours.` Also where an eviction loses nothing.
    #[must_use]
    pub fn lost(&self) -> Option<String> {
        (!self.is_nothing()).then(|| format!("Unsaved work lost: {}.", gpu_hours(self.lost_gpu_ms)))
    }

    /// `evict 2 jobs` and `end 1 job`, each by itself.
    #[must_use]
    pub fn taken(&self) -> Vec<String> {
        [("evict", self.evicted), ("take pods from", self.shrunk), ("end", self.ended)]
            .into_iter()
            .filter(|(_, number)| *number > 0)
            .map(|(verb, number)| format!("{verb} {}", count(number, "job", "jobs")))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000;

    #[test]
    fn the_button_names_the_cost() {
        let cost = Cost { evicted: 2, lost_gpu_ms: HOUR * 3 / 4, ..Cost::default() };
        assert_eq!(cost.button("Save"), "Save and evict 2 jobs, lose 0.75 GPU-hours");
        assert_eq!(cost.question(), "Evict 2 jobs?");
        let cost = Cost { evicted: 1, shrunk: 1, ended: 3, lost_gpu_ms: HOUR };
        assert_eq!(cost.button("Apply"), "Apply and evict 1 job, take pods from 1 job, end 3 jobs, lose 1 GPU-hour");
        assert_eq!(cost.question(), "Evict 1 job, take pods from 1 job, end 3 jobs?");
    }

    #[test]
    fn what_costs_nothing_is_called_what_it_is() {
        assert_eq!(Cost::default().button("Scale"), "Scale");
        assert_eq!(Cost { ended: 1, ..Cost::default() }.button("Apply"), "Apply and end 1 job");
        assert_eq!((Cost::default().lost(), Cost::default().is_nothing()), (None, true));
    }
}
