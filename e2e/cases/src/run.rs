//! Runs a case: sets the scene, sends the event, lets time pass, compares, and then watches for a while longer.

use engine::job::phase::Phase;
use engine::message::command::Command;
use engine::message::command::Observation;
use engine::message::command::Report;
use engine::message::command::ScaleMode;
use engine::message::command::ScaleQuotas;
use engine::message::command::ScaleTarget;
use engine::message::event::Event;
use engine::unit::id::JobId;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use serde_json::Value;

use crate::case::Case;
use crate::case::EventCase;
use crate::case::Expect;
use crate::check;
use crate::claims;
use crate::course::Course;
use crate::market;
use crate::name::quota_id;
use crate::span;
use crate::stage::Settings;
use crate::stage::Stage;
use crate::stage::scope_of;
use crate::stage::submitted;
use crate::timeline;

/// How long the engine may take to come to rest, in steps; more is a loop.
const STEPS_MAX: u32 = 10_000;
/// How many rounds a case is watched after it has come to rest, if it does not say so itself.
const ROUNDS_WATCHED: u32 = 100;
/// A deadline further away than this is no deadline.
const FAR: Millis = Millis(100 * 86_400_000);

/// What a case comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The engine does what is right.
    Pass,
    /// It does not, or the case cannot be run.
    Fail(String),
}

/// A case's verdict, with what is worth knowing beside it.
#[derive(Clone, Debug)]
pub struct CaseReport {
    pub id: String,
    pub title: String,
    pub verdict: Verdict,
    /// Claims in words that were not checked, since this player does not know the words.
    pub skipped: Vec<String>,
    /// Which alternatives were checked.
    pub notes: Vec<String>,
}

/// Runs one document.
#[must_use]
pub fn case(document: &Value) -> CaseReport {
    let word = |field: &str| document.get(field).and_then(Value::as_str).unwrap_or("?").to_owned();
    let (id, title) = (word("id"), word("title"));
    let (mut skipped, mut notes) = (Vec::new(), Vec::new());
    let verdict = match serde_json::from_value::<Case>(document.clone()) {
        Err(error) => Verdict::Fail(format!("the case cannot be read: {error}")),
        Ok(case) => match run(&case, &mut skipped, &mut notes) {
            Ok(()) => Verdict::Pass,
            Err(difference) => Verdict::Fail(difference),
        },
    };
    CaseReport { id, title, verdict, skipped, notes }
}

fn run(case: &Case, skipped: &mut Vec<String>, notes: &mut Vec<String>) -> Result<(), String> {
    span::check(case)?;
    if matches!(case.event, EventCase::PricePath { .. }) {
        return market::play_path(case);
    }
    let expects_victims = |expect: &Expect| {
        let some = expect.victims.as_ref().is_some_and(|victims| !victims.is_empty());
        some || expect.victims_any_of.is_some() || expect.victims_preferred.is_some()
    };
    let evicts = expects_victims(&case.expect);
    let settings = Settings { scope: None, evicts: Some(evicts) };
    let course = play(case, &case.expect, settings)?;
    check::all(case, &case.expect, &course)?;
    timeline::check(&case.expect.timeline, &course, skipped)?;
    claims::invariants(case, &case.expect.invariants, &course, skipped)?;
    claims::forbidden(&case.must_not, &course, skipped)?;
    claims::always(&course)?;
    for alternative in &case.alternatives {
        other(case, alternative, notes)?;
    }
    Ok(())
}

/// The right answer under another setting, where the engine has that setting.
fn other(case: &Case, document: &Value, notes: &mut Vec<String>) -> Result<(), String> {
    let mut fields =
        document.as_object().cloned().ok_or_else(|| format!("an alternative must be an object, here is {document}"))?;
    let under = fields.remove("under").and_then(|under| under.as_str().map(str::to_owned)).unwrap_or_default();
    fields.remove("note");
    let Some(settings) = settings_of(&under) else {
        notes.push(format!("alternative {under:?} is not applicable: the engine has no such setting"));
        return Ok(());
    };
    let expect: Expect = serde_json::from_value(Value::Object(fields))
        .map_err(|error| format!("alternative {under:?} cannot be read: {error}"))?;
    let course = play(case, &expect, settings)?;
    check::all(case, &expect, &course).map_err(|difference| format!("under {under}: {difference}"))?;
    notes.push(format!("alternative {under:?} holds"));
    Ok(())
}

fn settings_of(under: &str) -> Option<Settings> {
    let mut settings = Settings::default();
    for part in under.split(',') {
        match part.trim().split_once('=')? {
            ("scope", word) => settings.scope = Some(scope_of(word.trim()).ok()?),
            ("scale_down", "evict") => settings.evicts = Some(true),
            ("scale_down", "drain") => settings.evicts = Some(false),
            _ => return None,
        }
    }
    Some(settings)
}

/// Plays the case under some settings.
pub(crate) fn play(case: &Case, expect: &Expect, settings: Settings) -> Result<Course, String> {
    let mut stage = Stage::of(case, settings).map_err(|problem| format!("the scene cannot be set: {problem}"))?;
    let began = stage.session.now;
    stage.session.log.clear();
    happen(&mut stage, case, settings)?;
    settle(&mut stage)?;
    let (rest, rested) = (stage.session.state.clone(), stage.session.now);
    let until_rest = stage.session.log.clone();
    watch(&mut stage, case, expect)?;
    Ok(Course { rest, rested, until_rest, all: stage.session.log, began })
}

fn happen(stage: &mut Stage, case: &Case, settings: Settings) -> Result<(), String> {
    match &case.event {
        EventCase::Submit { .. } => {
            for job in submitted(case) {
                stage.submit(job)?;
            }
        }
        EventCase::Scale { changes } => {
            let mut targets = Vec::new();
            for (quota, units) in changes {
                targets.push(ScaleTarget { quota: quota_id(quota)?, min: stage.amount(quota, units)? });
            }
            let mode = if settings.evicts == Some(true) { ScaleMode::Evict } else { ScaleMode::Drain };
            send(stage, &Command::ScaleQuotas(ScaleQuotas { targets, mode }))?;
        }
        EventCase::PricePath { .. } => return Ok(()),
    }
    round(stage)
}

fn send(stage: &mut Stage, command: &Command) -> Result<(), String> {
    stage.session.send(command).map(drop).map_err(|rejection| rejection.to_string())
}

fn round(stage: &mut Stage) -> Result<(), String> {
    // An auction moves in scheduled rounds.
    let has_market = !stage.session.state.market.offers.is_empty();
    let round = if has_market { stage.session.scheduled_round() } else { stage.session.round() };
    round.map(drop).map_err(|rejection| rejection.to_string())
}

/// Lets time pass until nobody starts or stops any more.
fn settle(stage: &mut Stage) -> Result<(), String> {
    for _ in 0..STEPS_MAX {
        let before = stage.session.log.len();
        exits_now(stage)?;
        round(stage)?;
        let is_quiet =
            stage.session.log[before..].iter().all(|event| matches!(event, Event::Rounded { .. } | Event::Held { .. }));
        if !is_quiet {
            continue;
        }
        let Some(next) = next_stop(stage) else { return Ok(()) };
        stage.session.now = next;
    }
    Err(format!("the engine has not come to rest after {STEPS_MAX} steps"))
}

/// When the next stopping job has stopped, by its deadline or by its own time.
fn next_stop(stage: &Stage) -> Option<Timestamp> {
    let now = stage.session.now;
    let stopping = stage.session.state.jobs.iter().filter_map(|(_, job)| {
        let Phase::Stopping(stopping) = &job.phase else { return None };
        let until = stopping.until;
        let exit = exit_of(stage, &job.spec.id).map_or(until, |exit| exit.min(until));
        (!stage.stuck.contains(&job.spec.id) && exit - now < FAR).then_some(exit)
    });
    stopping.filter(|at| *at > now).min()
}

/// When a stopping job stops by itself, where reports say so: at its own time, or at once when the case gives neither
/// that nor a grace period.
fn exit_of(stage: &Stage, id: &JobId) -> Option<Timestamp> {
    if !stage.is_reported || stage.stuck.contains(id) {
        return None;
    }
    let told = stage.session.log.iter().rev().find_map(|event| {
        let Event::Evicted { job, at, until, .. } = event else { return None };
        (stage.session.state.jobs[*job].spec.id == *id).then_some((*at, *until))
    });
    let (at, until) = told?;
    match stage.exits.get(id).copied().flatten() {
        Some(period) => Some(at + period),
        None => (until - at > FAR).then_some(at),
    }
}

fn exits_now(stage: &mut Stage) -> Result<(), String> {
    let now = stage.session.now;
    let stopping: Vec<JobId> = stage
        .session
        .state
        .jobs
        .iter()
        .filter(|(_, job)| matches!(job.phase, Phase::Stopping { .. }))
        .map(|(_, job)| job.spec.id.clone())
        .collect();
    for job in stopping {
        if exit_of(stage, &job).is_some_and(|at| at <= now) {
            send(stage, &Command::Report(Report { job, run: None, observed: Observation::Stopped }))?;
        }
    }
    Ok(())
}

/// Goes on for as many rounds as the case names, a minute apart as the cron runs them, and at every moment at which
/// time alone changes something.
fn watch(stage: &mut Stage, case: &Case, expect: &Expect) -> Result<(), String> {
    let rounds = claims::rounds_named(&case.expect.invariants).unwrap_or(ROUNDS_WATCHED);
    let last = expect.timeline.iter().map(|(second, _)| *second).max().unwrap_or(0);
    let end = (stage.session.now + Millis(60_000 * i64::from(rounds))).max(Timestamp(last.saturating_mul(1000)));
    let mut minute = stage.session.now + Millis::MINUTE;
    for _ in 0..STEPS_MAX {
        if stage.session.now >= end {
            return Ok(());
        }
        let now = stage.session.now;
        let wakeup = stage.session.state.next_wakeup().filter(|at| *at > now);
        let next = [Some(minute), wakeup, next_stop(stage)].into_iter().flatten().min().unwrap_or(minute);
        stage.session.now = next;
        if next == minute {
            minute = minute + Millis::MINUTE;
        }
        exits_now(stage)?;
        round(stage)?;
    }
    Ok(())
}
