//! A job's priority.

use engine::message::command::Command;
use engine::message::command::SetPriority;
use engine::unit::id::JobId;
use engine::unit::priority::Priority;

use crate::facts::Facts;
use crate::field::Described;
use crate::field::Field;
use crate::field::Holds;
use crate::list::List;
use crate::number::Number;

const FIELDS: &[Field<SetPriority>] = &[
    Field {
        key: "priority",
        label: "Priority",
        about: "From 1 to 9; higher ones go first, and may preempt where a policy allows it.",
        holds: Holds::Number {
            range: |_, _| Number::count(1, 9),
            read: |set| set.priority.get().into(),
            write: |set, value| set.priority = Priority::new(value).unwrap_or(set.priority),
        },
    },
    Field {
        key: "job",
        label: "Job",
        about: "The job that gets another priority.",
        holds: Holds::Text {
            list: |_| List::Jobs,
            read: |set| set.job.to_string(),
            write: |set, _, name| {
                set.job = JobId::new(name).map_err(|bad| bad.to_string())?;
                Ok(())
            },
        },
    },
];

/// The first job, one higher.
pub(crate) fn begin(facts: &Facts) -> Option<Command> {
    let known = facts.jobs.first()?;
    let raised = Priority::new(i64::from(known.priority) + 1).ok();
    let priority = raised.or_else(|| Priority::new(known.priority.into()).ok())?;
    Some(SetPriority { job: known.job.clone(), priority }.command())
}

impl Described for SetPriority {
    fn fields(&self) -> &'static [Field<Self>] {
        FIELDS
    }

    fn line(&self, facts: &Facts) -> String {
        let known = facts.jobs.iter().find(|known| known.job == self.job);
        let was = known.map(|known| format!("{} → ", known.priority)).unwrap_or_default();
        format!("{} gets priority {was}{}", self.job, self.priority.get())
    }

    fn command(self) -> Command {
        Command::SetPriority(self)
    }
}
