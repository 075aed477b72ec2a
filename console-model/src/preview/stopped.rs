//! What follows when jobs that a command ends have really stopped: their GPUs are free then, and not before.

use engine::host::planner::Preview;
use engine::host::planner::preview;
use engine::message::command::ApplyPlan;
use engine::message::command::Command;
use engine::message::command::Observation;
use engine::message::command::Report;
use engine::message::event::Event;
use engine::unit::id::JobNo;
use engine::unit::time::Timestamp;

/// The same with what comes of it once agents have said that the jobs have stopped. Where jobs are simulated they have
/// ended already.
pub(super) fn followed(first: Preview, now: Timestamp) -> Preview {
    let stopped: Vec<JobNo> = first.events.iter().filter_map(ends_once_stopped).collect();
    let reports = stopped.iter().map(|no| &first.after.jobs[*no]);
    let reports =
        reports.map(|job| Report { job: job.spec.id.clone(), run: job.run_no(), observed: Observation::Stopped });
    let commands: Vec<Command> = reports.map(Command::Report).collect();
    if commands.is_empty() {
        return first;
    }
    let Ok(next) = preview(&first.after, &Command::ApplyPlan(ApplyPlan { commands }), now) else { return first };
    // Why others wait while it stops is soon no longer so, and that it ends was said with its stop.
    let is_passing = |event: &Event| matches!(event, Event::Held { .. });
    let is_known = |event: &Event| matches!(event, Event::Ended { job, .. } if stopped.contains(job));
    let until_then = first.events.into_iter().filter(|event| !is_passing(event));
    let events = until_then.chain(next.events.into_iter().filter(|event| !is_known(event))).collect();
    Preview { events, after: next.after }
}

fn ends_once_stopped(event: &Event) -> Option<JobNo> {
    let Event::Run { job, step, .. } = event else { return None };
    step.ends_job_once_stopped().then_some(*job)
}

#[cfg(test)]
mod tests {
    use engine::message::command::CancelJob;
    use engine::message::command::Command;
    use engine::unit::id::JobId;

    use crate::example::START;
    use crate::example::decide;
    use crate::example::job;
    use crate::example::two_machines;
    use crate::preview::of_change;

    #[test]
    fn who_takes_the_place_of_a_job_that_is_cancelled_is_said_before() {
        for execution in ["simulated", "reported"] {
            let mut state = two_machines(execution);
            let waits = job(&state, "waits", "team", 8);
            decide(&mut state, &Command::SubmitJob(waits));
            let cancel = Command::CancelJob(CancelJob { job: JobId::new("wide").unwrap() });
            let foreseen = of_change(&state, &cancel, START);
            let starters: Vec<_> = foreseen.starters.iter().filter_map(|line| line.job.as_deref()).collect();
            assert_eq!((starters, foreseen.cost.ended), (vec!["waits"], 1), "{execution}: {foreseen:?}");
        }
    }
}
