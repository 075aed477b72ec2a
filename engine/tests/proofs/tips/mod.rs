//! A tip is a promise (rules 10.2): who follows it sees the job started or granted by the next round, where it evicts
//! once those jobs have stopped, and no single change of the listed kinds that works goes untold.

mod brute;
mod kind;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::BTreeSet;

use engine::explain;
use engine::explain::Help;
use engine::host::authority;
use engine::job::cause::Cause;
use engine::job::phase::Phase;
use engine::job::run::RunNo;
use engine::job::spec::JobSpec;
use engine::message::command::CancelJob;
use engine::message::command::Command;
use engine::message::command::Observation;
use engine::message::command::Report;
use engine::message::command::Round;
use engine::message::command::ScaleMode;
use engine::message::command::ScaleQuotas;
use engine::message::command::SubmitJob;
use engine::message::event::Event;
use engine::state::jobs::Job;
use engine::state::world::State;
use engine::unit::id::JobId;
use engine::unit::id::JobNo;
use engine::unit::id::QuotaNo;
use engine::unit::time::Timestamp;

use crate::history::each_waiting;
use crate::history::seeds;
use crate::tips::kind::TipKind;

/// How many histories are gone through in the gate.
const TRUTHFUL: u64 = 150;
const NOT_SILENT: u64 = 60;

/// What somebody does who follows a tip.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    Wait,
    Send(Box<Command>),
    Anew(Box<SubmitJob>),
}

/// The state after the round that comes when something is due.
fn looked_at(state: &State, now: Timestamp) -> Cow<'_, State> {
    let mut state = authority::as_of(state, now);
    if let Cow::Owned(state) = &mut state {
        authority::step(state, &Command::Round(Round::default()), now).unwrap();
    }
    state
}

/// Whether an act starts the job whatever its new name is. Of what is submitted at one moment the names decide who comes
/// first, so what helps by a name alone is no change of a listed kind.
fn works(state: &State, no: JobNo, act: &Act, now: Timestamp) -> bool {
    let starts = |act: &Act| starts(state, no, act, now).unwrap_or(false);
    let Act::Anew(submission) = act else { return starts(act) };
    ["0-first", "zz-last"].into_iter().all(|name| {
        let job = JobId::new(name).unwrap();
        starts(&Act::Anew(Box::new(SubmitJob { job, ..(**submission).clone() })))
    })
}

/// Whether the job runs or is about to, after an act now or after the next scheduled round. Jobs that a scale-down
/// evicts are reported to have stopped before that.
pub(crate) fn starts(before: &State, no: JobNo, act: &Act, now: Timestamp) -> Result<bool, String> {
    let mut state = before.clone();
    let mut job = state.jobs[no].spec.id.clone();
    let send = |state: &mut State, command: Command, at: Timestamp| {
        authority::step(state, &command, at).map(|_| ()).map_err(|rejection| format!("{rejection}: {command:?}"))
    };
    match act {
        Act::Wait => {}
        Act::Send(command) => send(&mut state, (**command).clone(), now)?,
        Act::Anew(submission) => {
            send(&mut state, Command::CancelJob(CancelJob { job }), now)?;
            send(&mut state, Command::SubmitJob((**submission).clone()), now)?;
            job = submission.job.clone();
        }
    }
    if is_served(&state, &job) {
        return Ok(true);
    }
    if evicts_by_itself(act) {
        for report in stopped(before, &state) {
            send(&mut state, Command::Report(report), now)?;
        }
        if is_served(&state, &job) {
            return Ok(true);
        }
    }
    let minute = now.0 / 60_000 + 1;
    let slot = state.last_slot.map_or(minute, |last| minute.max(last + 1));
    send(&mut state, Command::Round(Round { slot: Some(slot) }), Timestamp(minute * 60_000))?;
    Ok(is_served(&state, &job))
}

fn evicts_by_itself(act: &Act) -> bool {
    let Act::Send(command) = act else { return false };
    matches!(&**command, Command::ScaleQuotas(ScaleQuotas { mode: ScaleMode::Evict, .. }))
}

/// The reports of everybody who has been told to stop in between, evicted and not halted, and of pods that leave.
fn stopped(before: &State, after: &State) -> Vec<Report> {
    let mut reports = Vec::new();
    for (no, job) in after.jobs.iter() {
        let was = before.jobs.get(no);
        let mut report = |observed| reports.push(Report { job: job.spec.id.clone(), run: job.run_no(), observed });
        if let Phase::Stopping(stopping) = &job.phase {
            let stops_already = was.is_some_and(|was| matches!(was.phase, Phase::Stopping(_)));
            if !stops_already && !matches!(stopping.cause, Cause::Halted(_)) {
                report(Observation::Stopped);
            }
        }
        let orders = |job: &Job| -> Vec<RunNo> {
            job.run.iter().flat_map(|run| &run.leaving).map(|leaving| leaving.order).collect()
        };
        let known = was.map(orders).unwrap_or_default();
        for order in orders(job).into_iter().filter(|order| !known.contains(order)) {
            report(Observation::Vacated { order });
        }
    }
    reports
}

fn is_served(state: &State, job: &JobId) -> bool {
    let phase = state.jobs.find(job).map(|no| &state.jobs[no].phase);
    matches!(phase, Some(Phase::Running { .. } | Phase::Starting { .. }))
}

fn act(help: &Help) -> Result<Act, String> {
    match (&help.command, &help.resubmit) {
        (Some(command), None) => Ok(Act::Send(Box::new(command.clone()))),
        (None, Some(submission)) => Ok(Act::Anew(submission.clone())),
        _ => Err(format!("nothing or too much to do: {help:?}")),
    }
}

/// A tip is followed, and said well.
fn check_tip(state: &State, no: JobNo, help: &Help, now: Timestamp) -> Result<(), String> {
    let act = act(help)?;
    if !starts(state, no, &act, now)? {
        return Err(format!("it waits still after {help:?}"));
    }
    check_price(state, no, &act, help, now)?;
    let is_sentence = help.sentence.starts_with(char::is_uppercase) && help.sentence.ends_with('.');
    if !is_sentence {
        return Err(format!("not a sentence: {}", help.sentence));
    }
    if let Act::Send(command) = &act
        && let Command::ScaleQuotas(scale) = &**command
    {
        let is_given = |id: &str| {
            let no = state.quota_no(&id.to_owned().try_into().unwrap()).unwrap();
            scale.targets.iter().any(|target| {
                target.quota.as_str() == id
                    && target.min.iter().any(|(name, value)| {
                        let at = state.cluster.dimensions.iter().position(|dimension| dimension.name == *name).unwrap();
                        *value < state.quotas[no.at()].min.amount[at]
                    })
            })
        };
        let donor = scale.targets.iter().map(|target| target.quota.as_str()).find(|id| is_given(id));
        if donor.is_some_and(|donor| !help.sentence.contains(&format!("from {donor} to "))) {
            return Err(format!("the donor is not named: {help:?}"));
        }
    }
    Ok(())
}

/// What following a tip takes from jobs of quotas at once is what it says.
fn check_price(state: &State, no: JobNo, act: &Act, help: &Help, now: Timestamp) -> Result<(), String> {
    let Act::Send(command) = act else { return Ok(()) };
    let mut after = state.clone();
    let events = authority::step(&mut after, command, now).map_err(|rejection| rejection.to_string())?;
    let victims = events.iter().filter_map(|event| {
        let Event::Evicted { job, lost_gpu_ms, .. } = event else { return None };
        Some((&state.jobs[*job].spec, *lost_gpu_ms))
    });
    let victims: Vec<(&JobSpec, i64)> = victims.filter(|(spec, _)| spec.spot.is_none()).collect();
    let quotas: BTreeSet<QuotaNo> = victims.iter().map(|(spec, _)| spec.quota).collect();
    let is_named = |no: &QuotaNo| help.sentence.contains(state.quotas[no.at()].id.as_str());
    let lost = explain::gpu_hours(victims.iter().map(|(_, lost)| lost).sum());
    let is_at_once = is_served(&after, &state.jobs[no].spec.id);
    let is_said = match (victims.len(), is_at_once) {
        (0, true) => !help.sentence.contains(" evict "),
        (0, false) => true,
        (n_jobs, true) => {
            help.sentence.contains(&format!("would evict {n_jobs} job"))
                && (lost == "no GPU-hours" || help.sentence.contains(&format!(", lose {lost}.")))
        }
        (_, false) => {
            let waits_for_them = help.sentence.ends_with("their GPUs are free.");
            help.sentence.contains("would evict ") && waits_for_them == evicts_by_itself(act)
        }
    };
    if !is_said || quotas.len() <= 3 && !quotas.iter().all(is_named) {
        return Err(format!("{} jobs of {quotas:?} lose {lost}: {help:?}", victims.len()));
    }
    Ok(())
}

#[test]
fn every_tip_that_is_followed_starts_the_job() {
    let (mut n_explained, mut n_tips) = (0u64, BTreeMap::new());
    let seeds = seeds(TRUTHFUL);
    for seed in seeds.clone() {
        each_waiting(seed, seed % 4 == 3, 60, |state, no, now| {
            n_explained += 1;
            for help in explain::tips(state, no, now, usize::MAX) {
                *n_tips.entry(TipKind::of(state, no, &act(&help)?)).or_insert(0u64) += 1;
                check_tip(state, no, &help, now)?;
            }
            let hold = explain::hold(state, no, now).ok_or("no reason")?;
            match explain::remedy(state, no, &hold, now) {
                Some(help) if help.works() => check_tip(state, no, &help, now),
                Some(help) if help.sentence.starts_with("No single change would start it. ") => Ok(()),
                Some(help) => Err(format!("neither a tip nor a miss: {help:?}")),
                None if starts(state, no, &Act::Wait, now)? => Ok(()),
                None => Err("nothing is said, and it does not start".to_owned()),
            }
        });
    }
    println!("histories {seeds:?}: {n_explained} explained states, tips {n_tips:?}");
    let count = seeds.end - seeds.start;
    assert!(n_explained >= count && n_tips.len() > 6, "only {n_tips:?} of {n_explained}");
}

#[test]
fn no_single_change_that_works_goes_untold() {
    let (mut n_explained, mut n_told) = (0u64, BTreeMap::new());
    let seeds = seeds(NOT_SILENT);
    for seed in seeds.clone() {
        each_waiting(seed, seed % 4 == 3, 40, |state, no, now| {
            // A service has looked at what was due: otherwise every command that changes nothing would bring a round.
            let state = &looked_at(state, now);
            if !state.jobs[no].is_queued() || starts(state, no, &Act::Wait, now)? {
                return Ok(());
            }
            n_explained += 1;
            let told: Vec<TipKind> = explain::tips(state, no, now, usize::MAX)
                .iter()
                .map(|help| act(help).map(|act| TipKind::of(state, no, &act)))
                .collect::<Result<_, _>>()?;
            for (kind, acts) in brute::acts(state, no) {
                let works = |act: &&Act| works(state, no, act, now);
                if told.contains(&kind) {
                    *n_told.entry(kind).or_insert(0u64) += 1;
                } else if let Some(act) = acts.iter().find(works) {
                    return Err(format!("nothing is said of {kind:?} in {told:?}, and this works: {act:?}"));
                }
            }
            Ok(())
        });
    }
    println!("histories {seeds:?}: {n_explained} explained states, told {n_told:?}");
    assert!(n_explained >= seeds.end - seeds.start && n_told.len() > 5, "only {n_told:?} of {n_explained}");
}
