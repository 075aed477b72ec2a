//! The form for the number of a service's pods as a value.

use engine::job::shape::Shape;
use engine::message::command::ResizeJob;
use engine::state::jobs::Job;
use engine::state::world::State;
use engine::transition;
use engine::unit::id::JobNo;
use engine::unit::limit;

/// What has been typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SizeDraft {
    /// How many pods are owed to the service.
    pub owed: String,
    /// How many it accepts; the same if nothing is typed.
    pub most: String,
}

impl SizeDraft {
    /// The form of a service as it is; nothing for jobs that are not resized.
    #[must_use]
    pub fn of(state: &State, no: JobNo) -> Option<Self> {
        transition::check_resizable(state, no).ok()?;
        let (owed, above) = (state.owed(no), state.jobs[no].spec.shape.extra_pods());
        let most = if above > 0 { owed.saturating_add(above).to_string() } else { String::new() };
        Some(Self { owed: owed.to_string(), most })
    }

    /// The command, or what is wrong with each number.
    pub fn command(&self, job: &Job) -> Result<ResizeJob, Faults> {
        let number = |text: &str| {
            let number = text.trim().parse::<u32>().ok().filter(|number| (1..=limit::PODS_MAX).contains(number));
            number.ok_or_else(|| format!("Enter a number of pods from 1 to {}", limit::PODS_MAX))
        };
        let owed = number(&self.owed);
        let most = if self.most.trim().is_empty() { owed.clone() } else { number(&self.most) };
        match (owed, most) {
            (Ok(owed), Ok(most)) if most < owed => {
                Err(Faults { owed: None, most: Some(format!("Enter {owed} or more, or nothing")) })
            }
            (Ok(owed), Ok(most)) => {
                Ok(ResizeJob { job: job.spec.id.clone(), pods: most, min_pods: (most > owed).then_some(owed) })
            }
            (owed, most) => {
                let most = if self.most.trim().is_empty() { None } else { most.err() };
                Err(Faults { owed: owed.err(), most })
            }
        }
    }
}

/// What is wrong with each number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// With how many are owed.
    pub owed: Option<String>,
    /// With how many are accepted.
    pub most: Option<String>,
}

/// The parts of a service that have not ended, in the order of their names, each with its number of pods.
#[must_use]
pub fn parts(state: &State, no: JobNo) -> Vec<(JobNo, u32)> {
    let mut parts: Vec<(JobNo, u32)> =
        state.parts_of(no).map(|part| (part, Shape::gang_pods(&state.jobs[part].spec.shape))).collect();
    parts.sort_by(|(a, _), (b, _)| state.jobs[*a].spec.id.cmp(&state.jobs[*b].spec.id));
    parts
}

#[cfg(test)]
mod tests {
    use engine::host::authority;
    use engine::message::command::Command;
    use engine::unit::id::JobId;
    use engine::unit::time::Timestamp;

    use super::*;

    fn service() -> State {
        let mut state = State::default();
        for command in [
            r#"{"create_cluster":{"dimensions":[{"name":"gpu","kind":"gpu"}]}}"#,
            r#"{"put_group":{"group":"g","resource_type":"lingjun","pool":{"gpu":4000}}}"#,
            r#"{"create_quota":{"quota":"Q","groups":["g"],"min":{"gpu":4000}}}"#,
            r#"{"submit_job":{"job":"chat","quota":"Q","module":"EAS","pods":[{"count":2,"amount":{"gpu":1000}}]}}"#,
            r#"{"submit_job":{"job":"train","quota":"Q","pods":[{"amount":{"gpu":2000}}]}}"#,
            r#"{"resize_job":{"job":"chat","pods":5}}"#,
        ] {
            let command: Command = serde_json::from_str(command).unwrap();
            authority::step(&mut state, &command, Timestamp(0)).unwrap();
        }
        state
    }

    #[test]
    fn a_form_begins_with_what_is_owed_with_all_parts() {
        let state = service();
        let no = |name: &str| state.jobs.find(&JobId::new(name).unwrap()).unwrap();
        let draft = SizeDraft::of(&state, no("chat")).unwrap();
        assert_eq!((draft.owed.as_str(), draft.most.as_str()), ("5", ""));
        assert_eq!(parts(&state, no("chat")), [(no("chat+1"), 3)]);
        assert_eq!(SizeDraft::of(&state, no("train")), None);
        assert_eq!(SizeDraft::of(&state, no("chat+1")), None);
    }

    #[test]
    fn what_is_typed_is_a_command_or_a_fault() {
        let state = service();
        let job = &state.jobs[state.jobs.find(&JobId::new("chat").unwrap()).unwrap()];
        let command = |owed: &str, most: &str| SizeDraft { owed: owed.into(), most: most.into() }.command(job);
        let resize = |pods, min_pods| Ok(ResizeJob { job: job.spec.id.clone(), pods, min_pods });
        assert_eq!(command("3", ""), resize(3, None));
        assert_eq!(command(" 3 ", "3"), resize(3, None));
        assert_eq!(command("3", "8"), resize(8, Some(3)));
        let number = || Some("Enter a number of pods from 1 to 10000".to_owned());
        assert_eq!(command("", ""), Err(Faults { owed: number(), most: None }));
        assert_eq!(command("0", "x"), Err(Faults { owed: number(), most: number() }));
        let more = Some("Enter 3 or more, or nothing".to_owned());
        assert_eq!(command("3", "2"), Err(Faults { owed: None, most: more }));
    }
}
