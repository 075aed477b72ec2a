//! What comes of one job, in the job itself: how it starts, and how it is told to stop. No judgement.

use std::sync::Arc;

use crate::job::cause::Cause;
use crate::job::phase::Phase;
use crate::job::phase::Placed;
use crate::job::phase::Stopping;
use crate::job::run::Leaving;
use crate::job::run::Run;
use crate::job::run::RunNo;
use crate::job::run::RunStep;
use crate::job::shape::Shape;
use crate::job::story::Episode;
use crate::message::event::Event;
use crate::state::jobs::Job;
use crate::unit::few::Few;
use crate::unit::time::Millis;
use crate::unit::time::Timestamp;

/// It starts, as a run if it has a number.
pub(super) fn start(job: &mut Job, at: Timestamp, placed: Placed, run: Option<RunNo>) {
    job.tell(at, Episode::Started(placed.source, placed.charge));
    job.run = run.map(|no| Box::new(Run::new(no, at, job.progress.saved_ms)));
    job.phase = Phase::Running { placed, started: at, extra: Few::new(), checkpointed: None };
}

/// It is told to stop for another job.
pub(super) fn evict(job: &mut Job, event: &Event) {
    let Event::Evicted { at, until, evicted_for, cause, then, lost_gpu_ms, saved_gpu_ms, saved_ms, .. } = event else {
        return;
    };
    let Phase::Running { placed, extra, .. } = &job.phase else { return };
    let (placed, extra) = (placed.clone(), extra.clone());
    job.progress.saved_ms = *saved_ms;
    job.progress.evictions += 1;
    job.tell(*at, Episode::Evicted { cause: cause.clone(), lost_gpu_ms: *lost_gpu_ms, saved_gpu_ms: *saved_gpu_ms });
    job.phase = Phase::Stopping(Box::new(Stopping {
        placed,
        extra,
        until: *until,
        evicted_for: *evicted_for,
        then: then.clone(),
        cause: (**cause).clone(),
    }));
}

/// Something has come of its run.
pub(super) fn of_run(job: &mut Job, at: Timestamp, step: &RunStep) {
    match step {
        RunStep::Confirmed => confirm(job, at),
        RunStep::Halted { .. } => halt(job, at, step),
        RunStep::Saved { saved_ms, regained_gpu_ms } => save(job, *saved_ms, *regained_gpu_ms),
        RunStep::PassedOver { nodes } => {
            let shape = &job.spec.shape;
            job.spec.shape = Arc::new(Shape::clone(shape).on(shape.nodes().passing_over(nodes)));
        }
        RunStep::Withdrawn => {
            job.phase = Phase::Queued { not_before: None };
            job.tell(at, Episode::Requeued);
        }
        // That is about those who wait for it as well.
        RunStep::Vacated { .. } => {}
    }
}

/// It runs, and has done nothing before now.
fn confirm(job: &mut Job, at: Timestamp) {
    if let Phase::Running { started, .. } = &mut job.phase {
        *started = at;
    }
    if let Some(run) = &mut job.run {
        run.confirmed = Some(at);
    }
    job.tell(at, Episode::Confirmed);
}

/// A run is told to stop, or why it is has changed.
fn halt(job: &mut Job, at: Timestamp, step: &RunStep) {
    let RunStep::Halted { until, halt, then, saved_ms, counts } = step else { return };
    if let Phase::Stopping(stopping) = &mut job.phase {
        stopping.then = then.clone();
        stopping.cause = Cause::Halted(halt.clone());
    } else if let Phase::Running { placed, extra, .. } = &job.phase {
        job.phase = Phase::Stopping(Box::new(Stopping {
            placed: placed.clone(),
            extra: extra.clone(),
            until: *until,
            evicted_for: None,
            then: then.clone(),
            cause: Cause::Halted(halt.clone()),
        }));
    }
    job.progress.saved_ms = *saved_ms;
    job.progress.evictions += u32::from(*counts);
    job.tell(at, Episode::Halted(Box::new(halt.clone())));
}

/// A checkpoint that was written after the order to stop counts, also in what the story tells of losses.
fn save(job: &mut Job, saved_run: Millis, regained: i64) {
    job.progress.saved_ms = saved_run;
    if let Some((_, Episode::Evicted { lost_gpu_ms, saved_gpu_ms, .. })) = job.story.last_mut() {
        *lost_gpu_ms = lost_gpu_ms.saturating_sub(regained);
        *saved_gpu_ms = saved_gpu_ms.saturating_add(regained);
    }
}

/// Pods leave; with an order they hold their GPUs until that is reported.
pub(super) fn shrink(job: &mut Job, at: Timestamp, pods: &[u32], cause: &Cause, order: Option<Leaving>) {
    if let Phase::Running { extra, .. } = &mut job.phase {
        let mut places = Vec::new();
        for pod in pods.iter().rev() {
            places.extend(extra.remove(*pod as usize).and_then(|pod| pod.at));
        }
        if let Some(order) = order {
            tell_to_leave(job, Leaving { pods: places, ..order });
        }
    }
    job.tell(
        at,
        Episode::Shrunk { cause: Box::new(cause.clone()), pods: u32::try_from(pods.len()).unwrap_or(u32::MAX) },
    );
}

pub(super) fn tell_to_leave(job: &mut Job, order: Leaving) {
    let Phase::Running { started, .. } = &job.phase else { return };
    if !order.pods.is_empty() {
        // What has run since before there were numbers gets what it lacks.
        let (started, saved) = (*started, job.progress.saved_ms);
        let old = || Box::new(Run { confirmed: Some(started), ..Run::new(RunNo::UNNUMBERED, started, saved) });
        job.run.get_or_insert_with(old).leaving.push(order);
    }
}
