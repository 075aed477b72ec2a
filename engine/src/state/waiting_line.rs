//! The waiting jobs of a class, in the order in which they have waited.
//!
//! Most classes have one job, which takes no room of its own. A job's place is read from the job itself, so only
//! numbers are kept.

use std::cmp::Ordering;
use std::collections::VecDeque;

use crate::state::jobs::Jobs;
use crate::unit::id::JobNo;

/// Waiting jobs by the time since when they wait, then by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WaitingLine(Members);

/// One job never takes the third form, so equal lines are equal values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Members {
    #[default]
    None,
    One(JobNo),
    #[expect(clippy::box_collection, reason = "it keeps a class small, and few lines are long")]
    Several(Box<VecDeque<JobNo>>),
}

impl WaitingLine {
    /// How many wait.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.0 {
            Members::None => 0,
            Members::One(_) => 1,
            Members::Several(members) => members.len(),
        }
    }

    /// Whether nobody waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        matches!(self.0, Members::None)
    }

    /// The job at a place, the first one at 0.
    #[must_use]
    pub fn get(&self, place: usize) -> Option<JobNo> {
        match &self.0 {
            Members::One(only) if place == 0 => Some(*only),
            Members::None | Members::One(_) => None,
            Members::Several(members) => members.get(place).copied(),
        }
    }

    /// Who has waited longest.
    #[must_use]
    pub fn first(&self) -> Option<JobNo> {
        self.get(0)
    }

    /// The waiting jobs in their order.
    pub fn iter(&self) -> impl Iterator<Item = JobNo> + '_ {
        (0..self.len()).filter_map(|place| self.get(place))
    }

    /// Lines up a job at the place that the job says.
    pub(super) fn insert(&mut self, no: JobNo, jobs: &Jobs) {
        match &mut self.0 {
            Members::None => self.0 = Members::One(no),
            Members::One(only) => {
                let order = if in_order(jobs, *only, no) == Ordering::Less { [*only, no] } else { [no, *only] };
                self.0 = Members::Several(Box::new(order.into()));
            }
            Members::Several(members) => {
                let is_before = |other: &JobNo| in_order(jobs, *other, no) == Ordering::Less;
                // Most who come have waited least.
                let is_last = members.back().is_some_and(is_before);
                let place = if is_last { members.len() } else { members.partition_point(is_before) };
                members.insert(place, no);
            }
        }
    }

    /// Takes a job out of the line; it still has the place with which it came.
    pub(super) fn remove(&mut self, no: JobNo, jobs: &Jobs) {
        match &mut self.0 {
            Members::One(only) if *only == no => self.0 = Members::None,
            Members::None | Members::One(_) => {}
            Members::Several(members) => {
                // Most who go have waited longest.
                let is_first = members.front() == Some(&no);
                let place = if is_first { Ok(0) } else { members.binary_search_by(|other| in_order(jobs, *other, no)) };
                if let Ok(place) = place {
                    members.remove(place);
                }
                if let (1, Some(last)) = (members.len(), members.front().copied()) {
                    self.0 = Members::One(last);
                }
            }
        }
    }
}

fn in_order(jobs: &Jobs, a: JobNo, b: JobNo) -> Ordering {
    jobs[a].place().cmp(&jobs[b].place())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::WaitingLine;
    use crate::job::phase::Phase;
    use crate::job::phase::Progress;
    use crate::job::shape::Shape;
    use crate::job::spec::IdlePolicy;
    use crate::job::spec::JobSpec;
    use crate::job::story::Story;
    use crate::state::jobs::Job;
    use crate::state::jobs::Jobs;
    use crate::unit::id::JobId;
    use crate::unit::id::JobNo;
    use crate::unit::id::QuotaNo;
    use crate::unit::priority::Module;
    use crate::unit::priority::Priority;
    use crate::unit::time::Timestamp;

    fn jobs(jobs: &[(&str, i64)]) -> Jobs {
        let job = |name: &str, since: i64| Job {
            spec: JobSpec {
                id: JobId::new(name).unwrap(),
                quota: QuotaNo(0),
                workspace: None,
                user: None,
                name: None,
                module: Module::Dlc,
                priority: Priority::LOWEST,
                shape: Arc::new(Shape::new(Vec::new(), None)),
                idle: IdlePolicy::Off,
                fault_tolerance: None,
                duration: None,
                checkpoint: None,
                spot: None,
                part_of: JobNo::NONE,
            },
            submitted: Timestamp(since),
            waiting_since: Timestamp(since),
            phase: Phase::Queued { not_before: None },
            run: None,
            progress: Progress::default(),
            story: Story::new(),
            class: None,
        };
        let mut known = Jobs::default();
        for (name, since) in jobs {
            known.insert(known.next_no(), job(name, *since));
        }
        known
    }

    fn line(jobs: &Jobs, members: &[u32]) -> WaitingLine {
        let mut line = WaitingLine::default();
        for no in members {
            line.insert(JobNo(*no), jobs);
        }
        line
    }

    #[test]
    fn who_waits_longer_comes_first_and_then_the_name_decides() {
        let jobs = jobs(&[("b", 5), ("late", 9), ("a", 5), ("early", 1)]);
        let order: Vec<u32> = line(&jobs, &[0, 1, 2, 3]).iter().map(|no| no.0).collect();
        assert_eq!(order, [3, 2, 0, 1]);
    }

    #[test]
    fn whoever_came_and_left_leaves_no_trace() {
        let jobs = jobs(&[("a", 1), ("b", 2), ("c", 3)]);
        let mut left = line(&jobs, &[2, 0, 1]);
        left.remove(JobNo(1), &jobs);
        assert_eq!(left, line(&jobs, &[0, 2]));
        left.remove(JobNo(0), &jobs);
        assert_eq!((left.first(), &left), (Some(JobNo(2)), &line(&jobs, &[2])));
        left.remove(JobNo(2), &jobs);
        assert_eq!((left.len(), left), (0, WaitingLine::default()));
    }
}
