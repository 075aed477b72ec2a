//! What a case says in words about the whole course: invariants that hold, and faults that must not happen.

use engine::message::event::Event;
use engine::state::world::State;
use engine::transition;
use engine::unit::amount::DIMENSIONS_MAX;
use engine::unit::id::JobNo;
use engine::unit::time::Millis;

use crate::case::Case;
use crate::course::Course;
use crate::name::job_id;
use crate::name::quota_id;
use crate::stage::Settings;
use crate::stage::Stage;
use crate::timeline::Moment;
use crate::timeline::number;
use crate::timeline::times;

/// The largest number of rounds or cycles that the words of a case name.
#[must_use]
pub(crate) fn rounds_named(invariants: &[String]) -> Option<u32> {
    let named = invariants.iter().flat_map(|claim| {
        let words: Vec<&str> = claim.split_whitespace().collect();
        let pairs: Vec<(String, String)> =
            words.windows(2).map(|pair| (pair[0].replace(',', ""), pair[1].to_owned())).collect();
        pairs
            .into_iter()
            .filter(|(_, unit)| unit.starts_with("cycle") || unit.starts_with("round"))
            .filter_map(|(count, _)| count.parse().ok())
    });
    named.max()
}

/// Checks every invariant by its words; words that nobody here knows are `skipped`.
pub(crate) fn invariants(
    case: &Case,
    claims: &[String],
    course: &Course,
    skipped: &mut Vec<String>,
) -> Result<(), String> {
    for claim in claims {
        match invariant(case, claim.trim(), course) {
            Some(held) => held?,
            None => skipped.push(format!(
                "not checked: the invariant {claim:?} is not understood; known are evictions(JOB) == N over N cycles, JOB not started before JOB, JOB starts at +N s, sum(children) <= parent, no new start in QUOTA while usage > amount"
            )),
        }
    }
    Ok(())
}

/// Whether the claim holds; nothing where its words are not known.
fn invariant(case: &Case, claim: &str, course: &Course) -> Option<Result<(), String>> {
    let words: Vec<&str> = claim.split_whitespace().collect();
    Some(match words.as_slice() {
        ["sum(children)", "<=", "parent"] => children_fit(course),
        ["no", "new", "start", "in", quota, "while", "usage", ">", "amount"] => no_start_above(case, quota, course),
        ["no", "job", "evicted", "twice", ..] | ["nobody", "evicted", "twice", ..] => always(course),
        [count, operator, number, ..] if count.starts_with("evictions(") || count.starts_with("starts(") => {
            compare_count(course, count, operator, number)
        }
        [job, "not", "started", "before", other] => not_before(course, job, other),
        [job, "never" | "not", "evicted"] | [job, "is", "never", "evicted"] => never(course, job, Moment::Told),
        [job, "never" | "not", "started" | "starts"] => never(course, job, Moment::Started),
        [job, verb @ ("starts" | "started" | "stops" | "evicted"), "at", after, "s"] => {
            at_second(course, job, verb, after)
        }
        [job, verb @ ("starts" | "started" | "stops" | "evicted"), "at", after] => {
            at_second(course, job, verb, after.trim_end_matches('s'))
        }
        _ => return None,
    })
}

fn children_fit(course: &Course) -> Result<(), String> {
    let state = &course.rest;
    for (no, parent) in state.live_quotas() {
        for at in (0..DIMENSIONS_MAX).filter(|&at| parent.min.states(at)) {
            let sum: i64 = state.children(no).map(|(_, child)| child.min.amount[at]).sum();
            if sum > parent.min.amount[at] {
                return Err(format!(
                    "expected the children of {} to have at most {} together, got {sum}",
                    parent.id, parent.min.amount[at]
                ));
            }
        }
    }
    Ok(())
}

/// Replays the course over the scene and looks at the quota before each start in it; a probe job is submitted to it,
/// since nothing can start where nothing waits.
fn no_start_above(case: &Case, quota: &str, course: &Course) -> Result<(), String> {
    let mut stage = Stage::of(case, Settings::default())?;
    let no = stage.session.state.quota_no(&quota_id(quota)?).ok_or_else(|| format!("there is no quota {quota}"))?;
    for event in &course.all {
        if let Event::Started { job, .. } = event {
            refuse_above(&stage.session.state, no, *job)?;
        }
        transition::apply(&mut stage.session.state, event);
    }
    stage.session.now = course.began;
    if is_above(&stage.session.state, no) {
        probe(&mut stage, case, quota, no)?;
    }
    Ok(())
}

fn is_above(state: &State, quota: engine::unit::id::QuotaNo) -> bool {
    !state.ledger.quotas[quota.at()].used.fits_in(&state.quotas[quota.at()].min.amount)
}

fn refuse_above(state: &State, quota: engine::unit::id::QuotaNo, job: JobNo) -> Result<(), String> {
    let spec = &state.jobs[job].spec;
    if spec.quota == quota && is_above(state, quota) {
        return Err(format!(
            "expected no start in {} while it is above its amount, got {} started",
            state.quotas[quota.at()].id,
            spec.id
        ));
    }
    Ok(())
}

fn probe(stage: &mut Stage, case: &Case, quota: &str, no: engine::unit::id::QuotaNo) -> Result<(), String> {
    let Some(pattern) = case.jobs.iter().find(|job| job.quota == quota) else { return Ok(()) };
    let mut probe = pattern.clone();
    "a job that must wait".clone_into(&mut probe.id);
    probe.priority = Some(9);
    (probe.min_pods, probe.start, probe.submit) = (None, None, None);
    probe.pods.truncate(1);
    for value in probe.pods.iter_mut().flat_map(|pod| pod.amount.values_mut()) {
        *value = 1.into();
    }
    stage.submit(&probe)?;
    stage.session.round().map_err(|rejection| rejection.to_string())?;
    let job = stage.session.state.jobs.find(&job_id(&probe.id)?).ok_or("the probe job was not submitted")?;
    if stage.session.state.jobs[job].is_queued() || !is_above(&stage.session.state, no) {
        return Ok(());
    }
    Err(format!("expected no start in {quota} while it is above its amount, got a job of 1 unit started"))
}

fn compare_count(course: &Course, count: &str, operator: &str, number_text: &str) -> Result<(), String> {
    let (what, rest) = count.split_once('(').unwrap_or((count, ""));
    let name = rest.trim_end_matches(')');
    let moment = if what == "starts" { Moment::Started } else { Moment::Told };
    let got = times(course, number(course, name)?, moment).len();
    let expected: usize =
        number_text.trim_end_matches(',').parse().map_err(|_| format!("{number_text:?} is not a number"))?;
    let holds = match operator {
        "==" | "=" => got == expected,
        "<=" => got <= expected,
        ">=" => got >= expected,
        "<" => got < expected,
        ">" => got > expected,
        _ => return Err(format!("the comparison {operator:?} is not one of ==, <=, >=, <, >")),
    };
    if holds { Ok(()) } else { Err(format!("expected {count} {operator} {expected}, got {got}")) }
}

fn not_before(course: &Course, job: &str, other: &str) -> Result<(), String> {
    let first = times(course, number(course, job)?, Moment::Started).first().copied();
    let limit = times(course, number(course, other)?, Moment::Started).first().copied();
    match (first, limit) {
        (None, _) => Ok(()),
        (Some(first), Some(limit)) if first >= limit => Ok(()),
        (Some(first), _) => {
            Err(format!("expected {job} not to start before {other}, got it started at {} s", first.0 / 1000))
        }
    }
}

fn never(course: &Course, job: &str, moment: Moment) -> Result<(), String> {
    match times(course, number(course, job)?, moment).first() {
        None => Ok(()),
        Some(at) => Err(format!("expected {job} never to be {moment:?}, got it at {} s", at.0 / 1000)),
    }
}

fn at_second(course: &Course, job: &str, verb: &str, after: &str) -> Result<(), String> {
    let moment = match verb {
        "stops" => Moment::Stopped,
        "evicted" => Moment::Told,
        _ => Moment::Started,
    };
    let count: i64 =
        after.trim_start_matches('+').parse().map_err(|_| format!("{after:?} is not a number of seconds"))?;
    let due =
        if after.starts_with('+') { course.began + Millis::from_seconds(count) } else { crate::name::seconds(count) };
    let got = times(course, number(course, job)?, moment);
    if got.contains(&due) {
        return Ok(());
    }
    let got: Vec<String> = got.iter().map(|at| format!("+{} s", (*at - course.began).0 / 1000)).collect();
    Err(format!(
        "expected {job} {verb} at {after} s, got {}",
        if got.is_empty() { "never".to_owned() } else { got.join(", ") }
    ))
}

/// What no case allows: books that differ from a recomputation, and a job that is evicted twice although nobody sends
/// commands any more.
pub(crate) fn always(course: &Course) -> Result<(), String> {
    if let Some(difference) = engine::ledger::check::difference(&course.rest) {
        return Err(format!("expected the books to be right, got {difference}"));
    }
    for (no, job) in course.rest.jobs.iter() {
        let count = times(course, no, Moment::Told).len();
        if count > 1 {
            return Err(format!("expected nobody to be evicted twice, got {} evicted {count} times", job.spec.id));
        }
    }
    Ok(())
}

/// Checks that none of the named faults has happened; words that nobody here knows are `skipped`.
pub(crate) fn forbidden(faults: &[String], course: &Course, skipped: &mut Vec<String>) -> Result<(), String> {
    for fault in faults {
        let words: Vec<&str> = fault.split_whitespace().collect();
        match words.as_slice() {
            ["evict", job] => never(course, job, Moment::Told)?,
            ["start", job] => never_until_rest(course, job)?,
            ["issue", "a", "second", "eviction", "for", job] | ["evict", job, "twice" | "again"] => {
                let told = times(course, number(course, job)?, Moment::Told).len();
                let had_one = usize::from(words[0] == "issue");
                if told + had_one > 1 {
                    return Err(format!("must not {fault}, but that happened"));
                }
            }
            // A rule, not an event: the expectation itself shows that the rule is not applied.
            ["require", ..] => {}
            _ => skipped.push(format!(
                "not checked: the fault {fault:?} is not understood; known are evict JOB, start JOB, issue a second eviction for JOB, require ..."
            )),
        }
    }
    Ok(())
}

fn never_until_rest(course: &Course, job: &str) -> Result<(), String> {
    let no = number(course, job)?;
    let started = course.until_rest.iter().any(|event| matches!(event, Event::Started { job, .. } if *job == no));
    if started { Err(format!("must not start {job}, but it started")) } else { Ok(()) }
}
