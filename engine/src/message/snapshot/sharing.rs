//! Jobs as they are read: those of equal shape share one, and those of a workspace or user its name. Each with a shape of
//! its own they took three times the memory, of which a service with a large cluster has little.

use std::fmt;
use std::sync::Arc;

use serde::Deserializer;
use serde::de::Error;
use serde::de::SeqAccess;
use serde::de::Visitor;

use crate::job::shape::Shape;
use crate::state::job_list::JobList;
use crate::state::jobs::Job;
use crate::unit::id::JobNo;
use crate::unit::id::UserId;
use crate::unit::id::WorkspaceId;
use crate::unit::ordered::Map;

/// The jobs that have been read, and what they have in common.
#[derive(Debug, Default)]
pub(super) struct Shared {
    pub(super) jobs: JobList,
    shapes: Map<Arc<Shape>, Arc<Shape>>,
    workspaces: Map<WorkspaceId, WorkspaceId>,
    users: Map<UserId, UserId>,
}

impl Shared {
    /// Adds a job, unless its number is taken.
    pub(super) fn add(&mut self, no: JobNo, mut job: Job) -> Result<(), String> {
        share(&mut self.shapes, &mut job.spec.shape);
        if let Some(workspace) = &mut job.spec.workspace {
            share(&mut self.workspaces, workspace);
        }
        if let Some(user) = &mut job.spec.user {
            share(&mut self.users, user);
        }
        self.jobs.add(no, job)
    }
}

fn share<T: Ord + Clone>(known: &mut Map<T, T>, own: &mut T) {
    let first = known.or_insert_with(own.clone(), || own.clone()).clone();
    *own = first;
}

/// Reads the jobs of a snapshot.
pub(super) fn jobs<'de, D: Deserializer<'de>>(deserializer: D) -> Result<JobList, D::Error> {
    deserializer.deserialize_seq(Jobs)
}

struct Jobs;

impl<'de> Visitor<'de> for Jobs {
    type Value = JobList;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("a list of jobs with their numbers")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut shared = Shared::default();
        while let Some((no, job)) = list.next_element()? {
            shared.add(no, job).map_err(A::Error::custom)?;
        }
        Ok(shared.jobs)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::host::authority;
    use crate::message;
    use crate::message::command::Command;
    use crate::message::snapshot::Snapshot;
    use crate::state::world::State;
    use crate::unit::time::Timestamp;

    #[test]
    fn jobs_of_equal_shape_share_one() {
        let mut state = State::default();
        let founding = [
            r#"{"create_cluster":{"dimensions":[{"name":"gpu","kind":"gpu"}]}}"#,
            r#"{"put_group":{"group":"pool","resource_type":"lingjun","pool":{"gpu":8000}}}"#,
            r#"{"create_quota":{"quota":"q","groups":["pool"],"min":{"gpu":8000}}}"#,
        ];
        let job = |(at, gpu)| {
            format!(r#"{{"submit_job":{{"job":"job-{at}","quota":"q","pods":[{{"amount":{{"gpu":{gpu}}}}}]}}}}"#)
        };
        let jobs = [1000, 2000, 1000].into_iter().enumerate().map(job);
        for text in founding.map(str::to_owned).into_iter().chain(jobs) {
            let command: Command = message::read(text.as_bytes()).unwrap();
            authority::step(&mut state, &command, Timestamp(0)).unwrap();
        }
        let snapshot = Snapshot::of(&state);
        let read: Snapshot = message::read(&snapshot.to_bytes()).unwrap();
        assert_eq!(read.to_bytes(), snapshot.to_bytes());
        let shapes: Vec<_> = read.jobs.iter().map(|(_, job)| &job.spec.shape).collect();
        assert!(Arc::ptr_eq(shapes[0], shapes[2]) && !Arc::ptr_eq(shapes[0], shapes[1]));
    }
}
