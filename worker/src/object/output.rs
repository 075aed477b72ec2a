//! What jobs print. While somebody watches a run its agent relays it, and this memory keeps the newest; at the end the agent
//! tells what was last, which is kept in the table `tails`. That is lost with the object, as nothing else is that cannot be
//! asked for again.

use std::time::Duration;

use ::pai::service::backend::Printed;
use agent::output;
use agent::output::Output;
use agent::output::OutputTaken;
use agent::run::RunId;
use engine::job::run::RunNo;
use engine::state::world::State;
use engine::unit::id::JobId;
use protocol::agents::contact::Identity;
use protocol::agents::output::Read;
use protocol::agents::output::rest;
use protocol::answer::JobLog;
use protocol::cluster::Cluster;
use protocol::log::encode;
use serde::Deserialize;
use worker::Delay;

use crate::answer;
use crate::answer::Origin;
use crate::answer::Problem;
use crate::answer::Reply;
use crate::bindings;
use crate::object::contacts::bell_of;
use crate::object::contacts::sql;
use crate::object::contacts::with_contacts;
use crate::object::core::Core;
use crate::query::Query;
use crate::storage::row::integer;

/// How long an agent may take to send what a run prints: clients of the PAI surface wait for ten seconds.
const ANSWERED_WITHIN: Duration = Duration::from_secs(5);
/// How often it is looked whether it has.
const LOOKS_APART: Duration = Duration::from_millis(100);

#[derive(Deserialize)]
struct TailRow {
    run: String,
    bytes: u64,
    text: String,
}

#[derive(Deserialize)]
struct JobRow {
    job: String,
}

/// Takes a piece of what a run prints.
pub(super) fn take(core: &Core, who: &Identity, output: Output) -> Result<OutputTaken, Problem> {
    let is_own = with_contacts(core, |cluster, contacts| Ok(cluster.prints(contacts, who, &output)?))?.is_some();
    if !is_own {
        return Ok(OutputTaken { next: output.offset, is_watched: false });
    }
    Ok(core.relay.borrow_mut().take(output, bindings::now()))
}

/// Keeps the end of what a job has printed, in place of that of an earlier run. It stands beside the log and its notes:
/// there may be much of it, and it is published nowhere.
pub(super) fn keep_tail(core: &Core, job: &JobId, tail: &agent::message::Tail) -> Result<(), Problem> {
    let values =
        vec![job.to_string().into(), tail.run.to_string().into(), integer(tail.bytes), tail.text.as_str().into()];
    sql(core).exec("INSERT OR REPLACE INTO tails VALUES (?, ?, ?, ?)", values)?;
    Ok(())
}

/// Where what a job prints is found.
enum Place {
    /// With the agent of a run that has not ended.
    Live(RunId, String),
    /// Here: the end of the last run.
    Ended(TailRow),
}

/// Where what a job prints is found: of its run if that has not ended, otherwise the end of its last one.
fn place(core: &Core, job: &JobId) -> Result<Option<Place>, Problem> {
    let printer = with_contacts(core, |cluster, contacts| Ok(cluster.printer(contacts, job)?))?;
    let tail = tail_of(core, job)?;
    // The end of a run is told shortly before it is known to have ended.
    let is_of = |run: &RunId| tail.as_ref().is_some_and(|tail| tail.run == run.to_string());
    Ok(match (printer.filter(|(run, _)| !is_of(run)), tail) {
        (Some((run, agent)), _) => Some(Place::Live(run, agent)),
        (None, tail) => tail.map(Place::Ended),
    })
}

/// What a job prints or has printed.
pub(super) fn answer(core: &Core, job: &str, query: &Query) -> Reply {
    let after = query.value("after")?;
    let id = JobId::new(job).map_err(|_| Problem::NoLog(job.to_owned()))?;
    let log = match place(core, &id)? {
        Some(Place::Live(run, agent)) => live(core, id, run, &agent, after)?,
        Some(Place::Ended(tail)) => ended(id, &tail, after)?,
        None => return Err(Problem::NoLog(job.to_owned())),
    };
    let revision = core.with(Cluster::mark)?.revision;
    answer::json_text(encode(&log)?, Origin::object(revision))
}

/// The newest of what a job prints, when its agent has answered; none if nothing is kept of it.
pub(super) async fn printed(core: &Core, job: &JobId) -> Result<Option<Printed>, Problem> {
    let mut waited = Duration::ZERO;
    loop {
        // A run may end meanwhile.
        let (run, agent) = match place(core, job)? {
            Some(Place::Live(run, agent)) => (run, agent),
            Some(Place::Ended(TailRow { bytes, text, .. })) => {
                return Ok(Some(Printed { is_cut: bytes > text.len() as u64, text, is_over: true }));
            }
            None => return Ok(None),
        };
        if let Some(Read { from, end: _, text }) = ask(core, run, &agent, None)? {
            return Ok(Some(Printed { text, is_cut: from > 0, is_over: false }));
        }
        if waited >= ANSWERED_WITHIN {
            return Err(Problem::AgentQuiet(agent));
        }
        Delay::from(LOOKS_APART).await;
        waited += LOOKS_APART;
    }
}

/// What a run has printed that has not ended, for somebody who comes again.
fn live(core: &Core, job: JobId, run: RunId, agent: &str, after: Option<u64>) -> Result<JobLog, Problem> {
    let known = ask(core, run, agent, after)?;
    let Read { from, end, text } = known.unwrap_or_else(|| Read { end: after.unwrap_or_default(), ..Read::default() });
    let run = run.to_string().parse().map_err(Problem::Internal)?;
    Ok(JobLog { job, run, bytes: end, from, text, is_over: false })
}

/// What has come of a run that has not ended. Nothing is there before its agent has been asked.
fn ask(core: &Core, run: RunId, agent: &str, after: Option<u64>) -> Result<Option<Read>, Problem> {
    let is_to_be_asked = core.relay.borrow_mut().watch(run, bindings::now());
    let sockets = core.state.get_websockets_with_tag(&bell_of(agent));
    if is_to_be_asked {
        for socket in &sockets {
            // A socket that cannot be written to will close; its agent then connects again.
            let _ = socket.send_with_str(output::asked(run));
        }
    }
    let known = core.relay.borrow().read(run, after);
    if known.is_none() && sockets.is_empty() {
        return Err(Problem::AgentAway(agent.to_owned()));
    }
    Ok(known)
}

fn tail_of(core: &Core, job: &JobId) -> Result<Option<TailRow>, Problem> {
    let key = vec![job.to_string().into()];
    let rows: Vec<TailRow> = sql(core).exec("SELECT run, bytes, text FROM tails WHERE job = ?", key)?.to_array()?;
    Ok(rows.into_iter().next())
}

/// The end of what a job has printed in its last run that has ended.
fn ended(job: JobId, tail: &TailRow, after: Option<u64>) -> Result<JobLog, Problem> {
    let TailRow { run, bytes, text } = tail;
    let (run, bytes): (RunNo, u64) = (run.parse().map_err(Problem::Internal)?, *bytes);
    // What was no text is longer as text, so that more is shown again then, and never less.
    let (from, text) = rest(bytes.saturating_sub(text.len() as u64), text, after.unwrap_or_default());
    Ok(JobLog { job, run, bytes, from, text: text.to_owned(), is_over: true })
}

/// Drops what jobs have printed that are forgotten.
pub(super) fn sweep(core: &Core) -> Result<(), Problem> {
    let sql = sql(core);
    let rows: Vec<JobRow> = sql.exec("SELECT job FROM tails", None)?.to_array()?;
    for JobRow { job } in rows {
        let is_known = |state: &State| JobId::new(&job).is_ok_and(|job| state.jobs.find(&job).is_some());
        if !core.with(|cluster| cluster.with_state(is_known))? {
            sql.exec("DELETE FROM tails WHERE job = ?", vec![job.into()])?;
        }
    }
    Ok(())
}
