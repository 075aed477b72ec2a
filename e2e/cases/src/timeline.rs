//! What a case says about seconds: `[900, "signal v"]`, `[1020, "v stopped, in started"]`.

use engine::message::event::Event;
use engine::state::world::State;
use engine::unit::id::JobNo;
use engine::unit::time::Timestamp;

use crate::course::Course;
use crate::name::job as job_named;
use crate::name::job_id;
use crate::name::seconds;

/// What can be seen of a job at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// It was told to stop.
    Told,
    /// It stopped.
    Stopped,
    /// It started.
    Started,
    /// It ended.
    Ended,
}

/// When a job was seen so for the first time since the case began, in order.
#[must_use]
pub(crate) fn times(course: &Course, job: JobNo, moment: Moment) -> Vec<Timestamp> {
    let time = |event: &Event| match (event, moment) {
        (Event::Evicted { job: no, at, .. }, Moment::Told)
        | (Event::Stopped { job: no, at, .. }, Moment::Stopped)
        | (Event::Started { job: no, at, .. }, Moment::Started)
        | (Event::Ended { job: no, at, .. }, Moment::Ended)
            if *no == job =>
        {
            Some(*at)
        }
        _ => None,
    };
    course.all.iter().filter_map(time).collect()
}

/// Checks every entry, to the second; one that does not name a job and what is seen of it is `skipped`.
pub(crate) fn check(timeline: &[(i64, String)], course: &Course, skipped: &mut Vec<String>) -> Result<(), String> {
    for (second, text) in timeline {
        for phrase in text.split([',', ';']).map(str::trim) {
            let Some((job, moment)) = read(phrase, &course.rest) else {
                skipped.push(format!(
                    "not checked: the timeline says {phrase:?}; known are a job and one of signal, stopped, started, ended"
                ));
                continue;
            };
            let seen = times(course, job, moment);
            if !seen.contains(&seconds(*second)) {
                let seen: Vec<String> = seen.iter().map(|at| format!("at {} s", at.0 / 1000)).collect();
                let got = if seen.is_empty() { "never".to_owned() } else { seen.join(" and ") };
                return Err(format!("expected {phrase:?} at {second} s, got it {got}"));
            }
        }
    }
    Ok(())
}

fn read(phrase: &str, state: &State) -> Option<(JobNo, Moment)> {
    let words: Vec<&str> = phrase.split_whitespace().collect();
    let known = |name: &str| job_id(name).ok().and_then(|id| state.jobs.find(&id));
    let job = words.iter().find_map(|word| known(word));
    let moment = words.iter().find_map(|word| match *word {
        "signal" | "signalled" | "evict" | "evicted" | "preempt" | "preempted" | "victim" => Some(Moment::Told),
        "stopped" | "stops" | "exits" | "exited" | "stop" => Some(Moment::Stopped),
        "start" | "started" | "starts" | "run" | "runs" => Some(Moment::Started),
        "ends" | "ended" | "finished" | "finishes" => Some(Moment::Ended),
        _ => None,
    });
    job.zip(moment)
}

/// The number of the job named so.
pub(crate) fn number(course: &Course, name: &str) -> Result<JobNo, String> {
    job_named(&course.rest, name)?;
    course.rest.jobs.find(&job_id(name)?).ok_or_else(|| format!("there is no job {name}"))
}
