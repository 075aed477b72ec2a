//! `tidegate job` and `tidegate why`: one job, what has happened to it, and why it waits.

use clap::Args;
use console_model::duration;
use console_model::explained;
use console_model::explained::WhyText;
use console_model::job_facts;
use console_model::job_state::JobState;
use console_model::path;
use engine::explain;
use engine::state::world::State;
use engine::unit::id::JobNo;
use engine::unit::time::Timestamp;
use serde_json::Value;
use serde_json::json;

use crate::service::time;
use crate::shell::at::At;
use crate::shell::failure::Failure;
use crate::shell::named;
use crate::shell::person::Person;
use crate::shell::print;
use crate::shell::table::Output;
use crate::shell::table::shown;

/// What `tidegate job` and `tidegate why` are asked for.
#[derive(Debug, Args)]
pub struct OneJob {
    /// The job.
    pub job: String,
    #[command(flatten)]
    pub at: At,
}

/// Prints what there is to know of a job.
pub fn job(asked: &OneJob) -> Result<(), Failure> {
    let mut person = Person::of(asked.at.context.as_deref())?;
    let state = person.state()?;
    let no = named::job(&state, &asked.job, &person.place())?;
    let now = time::now();
    if asked.at.output == Output::Json {
        return print::line(&json_of(&state, no, now)?.to_string());
    }
    let job = &state.jobs[no];
    let mut lines = vec![format!("{}: {}", job.spec.id, status(&state, no, now))];
    let source = if job.bids() { "Offer" } else { "Quota" };
    lines.push(format!("  {source}: {}", state.drawn_on(&job.spec)));
    lines.extend(
        job_facts::facts(&state, job).into_iter().map(|(label, value)| format!("  {label}: {}", shown(&value))),
    );
    lines.extend(job_facts::taken(job).map(|taken| format!("\n{taken}")));
    if let Some(why) = explained::why(&state, no, now) {
        lines.push(String::new());
        lines.extend(reasons(&why));
    }
    lines.push(String::new());
    let moments = job_facts::moments(job).into_iter();
    lines.extend(moments.map(|(at, text, _)| format!("  {} ago: {}", duration::rough(now - at), shown(&text))));
    print::line(&lines.join("\n"))
}

/// The state, with the place in the queue.
fn status(state: &State, no: JobNo, now: Timestamp) -> String {
    let job = &state.jobs[no];
    let place = if job.is_queued() { explained::place(state, no, now) } else { None };
    let place = place.map(|place| format!(" (#{place})")).unwrap_or_default();
    format!("{}{place}", JobState::of(job).words())
}

fn json_of(state: &State, no: JobNo, now: Timestamp) -> Result<Value, Failure> {
    let job = &state.jobs[no];
    let as_it_is = serde_json::to_value(job).map_err(|error| error.to_string())?;
    let moments = job_facts::moments(job).into_iter();
    let story: Vec<Value> =
        moments.map(|(at, text, is_loss)| json!({ "at": at.0, "text": text, "is_loss": is_loss })).collect();
    Ok(json!({
        "job": job.spec.id,
        "state": JobState::of(job).as_str(),
        "reason": job.is_queued().then(|| explained::binding(state, no, now)),
        "story": story,
        "as_it_is": as_it_is,
    }))
}

/// Prints why a job waits: the service's own answer for scripts.
pub fn why(asked: &OneJob) -> Result<(), Failure> {
    let mut person = Person::of(asked.at.context.as_deref())?;
    if asked.at.output == Output::Json {
        let answer = person.get(&format!("jobs/{}/why", path::escape(&asked.job)))?;
        return print::line(&answer.text);
    }
    let state = person.state()?;
    let (no, now) = (named::job(&state, &asked.job, &person.place())?, time::now());
    let mut lines = vec![format!("{}: {}", state.jobs[no].spec.id, status(&state, no, now))];
    if let Some(why) = explained::why(&state, no, now) {
        lines.extend(reasons(&why));
    } else {
        // An end is told with what came before it, such as who took its GPUs.
        let moments = job_facts::moments(&state.jobs[no]);
        let n_told = if state.jobs[no].is_ended() { 2 } else { 1 };
        let told = &moments[moments.len().saturating_sub(n_told)..];
        lines.extend(told.iter().map(|(at, text, _)| format!("{} ago: {}", duration::rough(now - *at), shown(text))));
    }
    lines.extend(overdue(&state, no, now));
    print::line(&lines.join("\n"))
}

/// Of a job that really runs: what should have been reported by now.
fn overdue(state: &State, no: JobNo, now: Timestamp) -> Vec<String> {
    let id = &state.jobs[no].spec.id;
    let own = explain::overdue(state, now).into_iter().filter(|overdue| overdue.job == *id);
    own.map(|overdue| explain::overdue_words(state, &overdue, now)).collect()
}

/// The reasons, the binding one first, and what would help.
fn reasons(why: &WhyText) -> Vec<String> {
    let mut lines = vec![why.binding.clone()];
    lines.extend(why.place.clone());
    lines.extend(why.help.clone());
    lines.extend(why.estimate.clone());
    let others = why.others.iter().filter(|(_, reason)| *reason != why.binding);
    lines.extend(others.map(|(source, reason)| format!("  {}: {reason}", source.trim_end_matches('.'))));
    lines
}
