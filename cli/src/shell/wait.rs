//! `tidegate wait`: until jobs have ended, for scripts that go on after them.

use std::collections::BTreeMap;
use std::time::Duration;
use std::time::Instant;

use clap::Args;
use console_model::duration;
use console_model::job_facts;
use console_model::job_state::JobState;
use engine::job::phase::Outcome;
use engine::job::phase::Phase;
use engine::state::world::State;
use engine::unit::time::Millis;

use crate::service::socket::Hears;
use crate::shell::failure::Failure;
use crate::shell::failure::Status;
use crate::shell::follow::follow;
use crate::shell::named;
use crate::shell::person::Person;
use crate::shell::print;

/// What `tidegate wait` is asked for.
#[derive(Debug, Args)]
pub struct Wait {
    /// The jobs.
    #[arg(required = true)]
    pub jobs: Vec<String>,
    /// For how long at most, such as 90m, 2h 30m or 1d.
    #[arg(long, value_parser = period)]
    pub timeout: Option<Millis>,
    /// The context [default: the current one].
    #[arg(long)]
    pub context: Option<String>,
}

/// A period that people type.
pub fn period(text: &str) -> Result<Millis, String> {
    duration::parse(text)?.ok_or_else(|| "write for example 90m, 2h 30m or 1d".to_owned())
}

/// Waits, and says of each job how it ended. Of several the first that did not succeed counts.
pub fn wait(asked: &Wait) -> Result<(), Failure> {
    let mut person = Person::of(asked.context.as_deref())?;
    let until = asked.timeout.map(|period| Instant::now() + Duration::from_millis(period.0.unsigned_abs()));
    let mut ended: BTreeMap<String, Option<Status>> = BTreeMap::new();
    let place = person.place();
    let look = |state: &State, _: Option<&_>| {
        for name in &asked.jobs {
            if !ended.contains_key(name)
                && let Some((text, status)) = end(state, name, &place)?
            {
                print::line(&text)?;
                ended.insert(name.clone(), status);
            }
        }
        let is_over = asked.jobs.iter().all(|name| ended.contains_key(name));
        Ok(if is_over { Hears::Enough } else { Hears::On })
    };
    if !follow(&mut person, until, look)? {
        let left: Vec<&str> = asked.jobs.iter().filter(|name| !ended.contains_key(*name)).map(String::as_str).collect();
        let text = format!("the time is over before the end of {}; nothing was changed", left.join(", "));
        return Err(Failure { status: Status::TimeOver, text });
    }
    let worst = asked.jobs.iter().find_map(|name| ended.get(name).copied().flatten());
    worst.map_or(Ok(()), |status| Err(Failure { status, text: String::new() }))
}

/// How a job has ended, if it has.
fn end(state: &State, name: &str, place: &str) -> Result<Option<(String, Option<Status>)>, Failure> {
    let job = &state.jobs[named::job(state, name, place)?];
    let Phase::Ended { outcome, .. } = &job.phase else { return Ok(None) };
    let status = match outcome {
        Outcome::Succeeded => None,
        Outcome::Failed { .. } => Some(Status::JobFailed),
        Outcome::Preempted => Some(Status::JobPreempted),
        Outcome::Cancelled => Some(Status::JobCancelled),
    };
    let last = job_facts::moments(job).pop().map(|(_, text, _)| format!(" {text}")).unwrap_or_default();
    Ok(Some((format!("{name}: {}.{last}", JobState::of(job).words()), status)))
}
