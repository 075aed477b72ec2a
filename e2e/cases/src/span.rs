//! How far apart the times of a case may be: it is played minute by minute, so a slip of the pen would run for ever.

use crate::case::Case;
use crate::case::EventCase;

/// The time between a case's now and anything else that it names, in seconds: four weeks.
const SPAN_S: i64 = 28 * 86_400;

/// The latest now, in seconds since 1970: after that, times in milliseconds come close to their end.
const LAST_S: i64 = 100_000_000_000;

/// Refuses a case whose times are out of reach.
pub(crate) fn check(case: &Case) -> Result<(), String> {
    let now = case.now;
    if !(0..=LAST_S).contains(&now) {
        return Err(format!("now is {now} s; write 0 to {LAST_S}"));
    }
    for (what, at) in times(case) {
        if (i128::from(at) - i128::from(now)).abs() > i128::from(SPAN_S) {
            return Err(format!("{what} at {at} s, now is {now} s: keep them within {SPAN_S} s of each other"));
        }
    }
    Ok(())
}

fn times(case: &Case) -> Vec<(String, i64)> {
    let submitted: &[_] = if let EventCase::Submit { jobs } = &case.event { jobs } else { &[] };
    let jobs = case.jobs.iter().chain(submitted).flat_map(|job| {
        let starts = job.start.map(|at| (format!("{} started", job.id), at));
        starts.into_iter().chain(job.submit.map(|at| (format!("{} was submitted", job.id), at)))
    });
    let timeline = case.expect.timeline.iter().map(|(at, word)| (format!("the timeline says {word:?}"), *at));
    jobs.chain(timeline).collect()
}
