//! Puts jobs where a scenario finds them: on the nodes and charges it names, by events and without a round.

use engine::job::cause::Cause;
use engine::job::phase::AfterStop;
use engine::job::phase::Charge;
use engine::job::phase::Outcome;
use engine::job::phase::Placed;
use engine::job::phase::PodAt;
use engine::ledger::Reach;
use engine::ledger::fits_in_quota;
use engine::message::event::Event;
use engine::state::cluster::Execution;
use engine::unit::amount::Amount;
use engine::unit::id::JobNo;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use script::place;
use script::session::Session;

use crate::case::JobCase;
use crate::name::job_id;
use crate::name::seconds;

/// Starts a job that has been submitted, where and when the case says.
pub(crate) fn run(session: &mut Session, case: &JobCase) -> Result<(), String> {
    let no = find(session, &case.id)?;
    let started = seconds(case.start.unwrap_or(0));
    if session.state.jobs[no].bids() {
        session.apply(Event::Started { job: no, at: started, placed: Placed::on_market(), is_run: false });
        return Ok(());
    }
    let nodes: Vec<Option<&str>> = case.pods.iter().map(|pod| pod.node.as_deref()).collect();
    let gang_pods = usize::try_from(session.state.jobs[no].spec.shape.gang_pods()).unwrap_or(usize::MAX);
    let charge = charge(session, no, case.charge.as_deref())?;
    place::start(session, no, charge, &nodes[..gang_pods.min(nodes.len())], started)?;
    for node in nodes.iter().skip(gang_pods) {
        grow(session, no, case.charge.as_deref(), charge, *node, started)?;
    }
    let interval = case.checkpoint_interval_s.unwrap_or(0).saturating_mul(1000);
    if interval > 0 && session.state.cluster.execution == Execution::Reported {
        let intervals = (session.now - started).0 / interval;
        if intervals > 0 {
            session.apply(Event::Checkpointed { job: no, at: started + Millis(intervals * interval) });
        }
    }
    Ok(())
}

fn find(session: &Session, name: &str) -> Result<JobNo, String> {
    session.state.jobs.find(&job_id(name)?).ok_or_else(|| format!("there is no job {name}"))
}

/// What the gang counts against. Of a mixed job the gang is in quota as far as the quota goes.
fn charge(session: &Session, no: JobNo, word: Option<&str>) -> Result<Charge, String> {
    let job = &session.state.jobs[no];
    match word.unwrap_or("in_quota") {
        "in_quota" => Ok(Charge::InQuota),
        "mixed" if fits(session, no, &job.spec.shape.gang_amount()) => Ok(Charge::InQuota),
        "not_in_quota" | "mixed" => Ok(Charge::Idle),
        other => Err(format!("charge {other:?} of {} is not one of in_quota, not_in_quota, mixed", job.spec.id)),
    }
}

fn fits(session: &Session, no: JobNo, amount: &Amount) -> bool {
    let state = &session.state;
    fits_in_quota(&state.quotas, &state.ledger.quotas, state.jobs[no].spec.quota, amount, Reach::Own).is_ok()
}

fn grow(
    session: &mut Session,
    no: JobNo,
    word: Option<&str>,
    gang: Charge,
    node: Option<&str>,
    at: Timestamp,
) -> Result<(), String> {
    let amount = session.state.jobs[no].spec.shape.extra_amount();
    let charge = match word {
        Some("mixed") if fits(session, no, &amount) => Charge::InQuota,
        Some("mixed") => Charge::Idle,
        _ => gang,
    };
    let place = match session.state.jobs[no].placed() {
        Some(placed) if !placed.pods.is_empty() => {
            let floor = &session.state.floor.nodes;
            let chosen =
                place::choose(session, floor, node, &amount).ok_or_else(|| place::no_room(session, no, node))?;
            Some(PodAt { node: chosen, gpus: floor[chosen.at()].fit(&amount).unwrap_or(0) })
        }
        Some(_) | None => None,
    };
    session.apply(Event::Grown { job: no, at, charge, pods: vec![place] });
    Ok(())
}

/// Tells a running job to stop, for nobody, with a deadline that far away.
pub(crate) fn hang(session: &mut Session, name: &str, for_long: Millis) -> Result<(), String> {
    let no = find(session, name)?;
    let quota = session.state.quotas[session.state.jobs[no].spec.quota.at()].id.clone();
    let then = if session.state.jobs[no].spec.fault_tolerance.is_some() {
        AfterStop::Requeue
    } else {
        AfterStop::End(Outcome::Preempted)
    };
    let at = session.now;
    session.apply(Event::Evicted {
        job: no,
        at,
        until: at + for_long,
        evicted_for: None,
        cause: Cause::ScaledDown { quota }.into(),
        then,
        lost_gpu_ms: 0,
        saved_gpu_ms: 0,
        saved_ms: Millis::ZERO,
    });
    Ok(())
}
