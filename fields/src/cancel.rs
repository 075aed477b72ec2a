//! The end of a job.

use engine::message::command::CancelJob;
use engine::message::command::Command;
use engine::unit::id::JobId;

use crate::facts::Facts;
use crate::field::Described;
use crate::field::Field;
use crate::field::Holds;
use crate::list::List;

const FIELDS: &[Field<CancelJob>] = &[Field {
    key: "job",
    label: "Job",
    about: "The job that is cancelled; if it runs, it ends.",
    holds: Holds::Text {
        list: |_| List::Jobs,
        read: |cancel| cancel.job.to_string(),
        write: |cancel, _, name| {
            cancel.job = JobId::new(name).map_err(|bad| bad.to_string())?;
            Ok(())
        },
    },
}];

/// The first job.
pub(crate) fn begin(facts: &Facts) -> Option<Command> {
    Some(CancelJob { job: facts.jobs.first()?.job.clone() }.command())
}

impl Described for CancelJob {
    fn fields(&self) -> &'static [Field<Self>] {
        FIELDS
    }

    fn line(&self, _: &Facts) -> String {
        format!("{} is cancelled", self.job)
    }

    fn command(self) -> Command {
        Command::CancelJob(self)
    }
}
