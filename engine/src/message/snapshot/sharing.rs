//! Jobs as they are read: those of equal shape share one. Each with a shape of its own they took three times the memory,
//! of which a service with a large cluster has little.

use std::fmt;
use std::sync::Arc;

use serde::Deserializer;
use serde::de::SeqAccess;
use serde::de::Visitor;

use crate::job::shape::Shape;
use crate::state::jobs::Job;
use crate::unit::id::JobNo;
use crate::unit::ordered::Map;

/// Reads the jobs of a snapshot.
pub(super) fn jobs<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<(JobNo, Job)>, D::Error> {
    deserializer.deserialize_seq(Jobs)
}

struct Jobs;

impl<'de> Visitor<'de> for Jobs {
    type Value = Vec<(JobNo, Job)>;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("a list of jobs with their numbers")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let (mut jobs, mut shapes) = (Vec::new(), Map::<Arc<Shape>, Arc<Shape>>::new());
        while let Some((no, mut job)) = list.next_element::<(JobNo, Job)>()? {
            let own = Arc::clone(&job.spec.shape);
            job.spec.shape = Arc::clone(shapes.or_insert_with(Arc::clone(&own), || own));
            jobs.push((no, job));
        }
        Ok(jobs)
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
        let [one, other, third] = [0, 1, 2].map(|at| &read.jobs[at].1.spec.shape);
        assert!(Arc::ptr_eq(one, third) && !Arc::ptr_eq(one, other));
    }
}
