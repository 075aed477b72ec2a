//! Estimates: where nothing else arrives, a job starts when it was told that it would (rules 10.3).

use engine::explain;
use engine::host::authority;
use engine::job::phase::Phase;
use engine::message::command::Command;
use engine::message::command::Round;
use engine::state::cluster::Execution;
use engine::state::cluster::NodeStatus;
use engine::state::world::State;
use engine::unit::id::JobNo;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;

use crate::history::each_waiting;
use crate::history::seeds;

const HISTORIES: u64 = 100;

/// How far the clock is followed.
const HORIZON: Millis = Millis(5 * 3_600_000);

/// When time changes a job by itself, read off its phase.
fn due(state: &State, no: JobNo) -> Option<Timestamp> {
    let job = &state.jobs[no];
    let is_simulated = state.cluster.execution == Execution::Simulated || job.bids();
    match &job.phase {
        Phase::Running { started, .. } if is_simulated => {
            job.spec.duration.map(|duration| *started + Millis(duration.get().0 - job.progress.saved_ms.0))
        }
        // What really runs is told to stop by time, and nothing but a report says that it has.
        Phase::Running { started, .. } => {
            let left = job.spec.duration.map(|duration| Millis((duration.get().0 - job.progress.saved_ms.0).max(0)));
            let run = job.run.as_ref()?;
            if run.confirmed.is_some() { Some(*started + left?) } else { Some(run.told + state.cluster.start_within) }
        }
        Phase::Stopping(stopping) => is_simulated.then_some(stopping.until),
        Phase::Queued { not_before } => *not_before,
        Phase::Starting { .. } | Phase::Ended { .. } => None,
    }
}

/// When a job that runs may first be taken, which is when somebody may start who waits for that.
fn end_of_protection(state: &State, no: JobNo) -> Option<Timestamp> {
    let job = &state.jobs[no];
    match &job.phase {
        Phase::Running { started, .. } => Some(*started + state.quotas[job.spec.quota.at()].settings.min_runtime),
        Phase::Queued { .. } | Phase::Starting { .. } | Phase::Stopping(_) | Phase::Ended { .. } => None,
    }
}

/// When what runs on a silent node is lost, and its quota free.
fn lost(state: &State) -> Option<Timestamp> {
    let silent = state.nodes.iter().filter_map(|node| {
        let silence = node.silence.filter(|silence| !silence.is_lost && node.status != NodeStatus::Dead)?;
        Some(Timestamp(silence.since.0 + silence.stop_after?.0 * 11 / 10 + 60_000))
    });
    silent.min()
}

/// When the job starts: a round each minute, and one whenever something is due or a protection ends.
fn lived(state: &State, no: JobNo, now: Timestamp) -> Option<Timestamp> {
    let mut state = state.clone();
    let mut at = now;
    while at < now + HORIZON {
        let minute = Timestamp((at.0 / 60_000 + 1) * 60_000);
        let due = state.jobs.iter().filter_map(|(no, _)| due(&state, no)).chain(lost(&state));
        let due = due.min().map(|due| due.max(at));
        let jobs = state.jobs.iter().filter(|(_, job)| !job.bids());
        let ends = jobs.filter_map(|(no, _)| end_of_protection(&state, no)).filter(|end| *end > at);
        let next = due.into_iter().chain(ends).min();
        let round = if let Some(next) = next.filter(|next| *next < minute) {
            at = next;
            Round::default()
        } else {
            at = minute;
            Round { slot: Some(state.last_slot.map_or(at.0 / 60_000, |last| (last + 1).max(at.0 / 60_000))) }
        };
        authority::step(&mut state, &Command::Round(round), at).unwrap();
        match &state.jobs.get(no)?.phase {
            Phase::Queued { .. } => {}
            Phase::Starting { .. } | Phase::Running { .. } => return Some(at),
            Phase::Stopping { .. } | Phase::Ended { .. } => return None,
        }
    }
    None
}

#[test]
fn a_job_starts_when_it_was_told_that_it_would() {
    let (mut n_explained, mut n_lived, mut n_told) = (0u64, 0u64, 0u64);
    let seeds = seeds(HISTORIES);
    for seed in seeds.clone() {
        each_waiting(seed, false, 50, |state, no, now| {
            if state.jobs[no].bids() {
                return Ok(());
            }
            n_explained += 1;
            let lived = lived(state, no, now);
            let told = explain::why(state, no, now).and_then(|why| why.estimate);
            n_lived += u64::from(lived.is_some());
            n_told += u64::from(told.is_some());
            let is_true = match (lived, told) {
                (Some(lived), Some(told)) => lived == told,
                (Some(_), None) => false,
                // What lies behind the horizon is not followed.
                (None, told) => told.is_none_or(|told| told > now + HORIZON),
            };
            if is_true { Ok(()) } else { Err(format!("told {told:?}, and it starts at {lived:?}")) }
        });
    }
    println!("histories {seeds:?}: {n_explained} explained states, {n_told} estimates, {n_lived} starts");
    assert!(n_told > (seeds.end - seeds.start) / 8, "only {n_told} estimates in {n_explained} states");
}
