//! A service's number of pods.

use engine::message::command::Command;
use engine::message::command::ResizeJob;
use engine::unit::id::JobId;

use crate::facts::Facts;
use crate::field::Described;
use crate::field::Field;
use crate::field::Holds;
use crate::list::List;
use crate::number::Number;

const FIELDS: &[Field<ResizeJob>] = &[
    Field {
        key: "pods",
        label: "Pods",
        about: "How many pods the service gets, or at most.",
        holds: Holds::Number {
            range: |resize, _| Number::count(resize.min_pods.unwrap_or(1).into(), 64),
            read: |resize| resize.pods.into(),
            write: |resize, value| resize.pods = u32::try_from(value).unwrap_or(resize.pods),
        },
    },
    Field {
        key: "job",
        label: "Job",
        about: "The service.",
        holds: Holds::Text {
            list: |_| List::Jobs,
            read: |resize| resize.job.to_string(),
            write: |resize, _, name| {
                resize.job = JobId::new(name).map_err(|bad| bad.to_string())?;
                Ok(())
            },
        },
    },
];

impl Described for ResizeJob {
    fn fields(&self) -> &'static [Field<Self>] {
        FIELDS
    }

    fn line(&self, _: &Facts) -> String {
        match self.min_pods {
            Some(min) => format!("{} gets {min} to {} pods", self.job, self.pods),
            None => format!("{} gets {} pods", self.job, self.pods),
        }
    }

    fn command(self) -> Command {
        Command::ResizeJob(self)
    }
}
