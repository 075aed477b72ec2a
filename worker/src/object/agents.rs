//! What agents ask for. What follows from it is judged in [`protocol::agents`].

use agent::message::Hello;
use agent::message::SyncRequest;
use agent::message::Tail;
use agent::message::TailKept;
use agent::output::Output;
use agent::script::Script;
use engine::message;
use engine::message::envelope::Receipt;
use engine::message::rejection::Noun;
use engine::message::rejection::Rejection;
use engine::unit::id::JobId;
use engine::unit::time::Timestamp;
use protocol::agents::Heard;
use protocol::agents::contact::Contacts;
use protocol::agents::script;
use protocol::agents::shown;
use protocol::agents::tell;
use protocol::cluster::Cluster;
use protocol::log::encode;
use protocol::name::ClusterName;
use protocol::note::Note;
use protocol::note::NoteChange;
use protocol::route::AgentCall;
use worker::Request;
use worker::Response;

use crate::access::Principal;
use crate::answer;
use crate::answer::Origin;
use crate::answer::Problem;
use crate::answer::Reply;
use crate::bindings;
use crate::object::contacts::BELL;
use crate::object::contacts::bell_of;
use crate::object::contacts::change_contacts;
use crate::object::contacts::with_contacts;
use crate::object::core::Core;
use crate::object::output;
use crate::object::socket::socket;
use crate::proof::Proof;
use crate::query::Query;
use crate::storage::SqlLog;

/// Answers an agent.
pub(super) async fn serve(
    core: &Core,
    call: AgentCall,
    mut request: Request,
    query: &Query,
    principal: &Principal,
    proof: Option<&Proof>,
) -> Reply {
    let who = principal.agent.as_ref().ok_or(Problem::NoAgent)?;
    let now = bindings::now();
    match call {
        AgentCall::Hello => {
            let hello = hello(&mut request).await?;
            let welcome = change_contacts(core, |cluster, contacts| Ok(cluster.welcome(contacts, who, &hello, now)?))?;
            Ok(Response::from_json(&welcome)?)
        }
        AgentCall::Sync => {
            let said = said(&mut request).await?;
            let heard = change_contacts(core, |cluster, contacts| Ok(cluster.sync(contacts, who, &said, now)?))?;
            core.heard.note(&who.name, now);
            let Heard { answer, done } = heard;
            done.iter().try_for_each(|done| core.push(done))?;
            if !done.is_empty() {
                core.follow_up().await?;
            }
            answer::json_text(encode(&answer)?, Origin::object(answer.version.revision))
        }
        AgentCall::Tail => {
            let tail: Tail = message::read(&request.bytes().await?)?;
            let job = with_contacts(core, |cluster, contacts| Ok(cluster.printed(contacts, who, &tail)?))?;
            if let Some(job) = &job {
                output::keep_tail(core, job, &tail)?;
            }
            Ok(Response::from_json(&TailKept { is_kept: job.is_some() })?)
        }
        AgentCall::Output => {
            let printed: Output = message::read(&request.bytes().await?)?;
            Ok(Response::from_json(&output::take(core, who, printed)?)?)
        }
        AgentCall::Bell => {
            let proved = proof.map(Proof::text).unwrap_or_default();
            socket(core, &request, &[&proved, BELL, &bell_of(&who.name)])
        }
        AgentCall::Script => {
            let digest = query.text("digest").ok_or(Problem::BadQuery("digest"))?;
            let text = with_contacts(core, |cluster, contacts| Ok(cluster.script(contacts, who, &digest)?))?;
            let revision = core.with(Cluster::mark)?.revision;
            answer::json_text(text.ok_or(Problem::NoScript)?, Origin::object(revision))
        }
    }
}

/// What an agent says first.
pub(super) async fn hello(request: &mut Request) -> Result<Hello, Problem> {
    Ok(message::read(&request.bytes().await?)?)
}

/// What an agent says then.
pub(super) async fn said(request: &mut Request) -> Result<SyncRequest, Problem> {
    Ok(message::read(&request.bytes().await?)?)
}

/// Rings for the agents that a commit concerns. What is said is the revision; who does not hear it asks before long.
pub(super) fn ring(core: &Core, receipt: &Receipt) -> Result<(), Problem> {
    if core.state.get_websockets_with_tag(BELL).is_empty() {
        return Ok(());
    }
    let names: Vec<String> = with_contacts(core, |cluster, contacts| {
        let names = cluster.with_state(|state| {
            let concerned = tell::concerned(state, contacts, &receipt.events);
            concerned.into_iter().map(str::to_owned).collect()
        });
        Ok(names?)
    })?;
    for name in names {
        for socket in core.state.get_websockets_with_tag(&bell_of(&name)) {
            // A socket that cannot be written to will close; its agent then asks.
            let _ = socket.send_with_str(receipt.revision.to_string());
        }
    }
    Ok(())
}

/// When an agent was last heard, if that is known.
fn heard(core: &Core, agent: &str) -> Option<Timestamp> {
    core.heard.last(agent, &core.state.get_websockets_with_tag(&bell_of(agent)))
}

/// All agents, for people.
pub(super) fn list(core: &Core, name: &ClusterName) -> Result<String, Problem> {
    let shown = with_contacts(core, |cluster, contacts| {
        let heard = |agent: &str| heard(core, agent);
        Ok(cluster.with_state(|state| shown::shown(state, contacts, name, &heard, bindings::now()))?)
    })?;
    Ok(encode(&shown)?)
}

/// Says which nodes are silent because their agents are.
pub(super) fn look_for_silence(core: &Core) -> Result<(), Problem> {
    let look = |cluster: &mut Cluster<SqlLog>, contacts: &mut Contacts| {
        let heard = |agent: &str| heard(core, agent);
        Ok(cluster.look_for_silence(contacts, &heard, bindings::missed_after(&core.env), bindings::now())?)
    };
    match change_contacts(core, look)? {
        Some(done) => core.push(&done),
        None => Ok(()),
    }
}

/// The note with a script. Another script than a job has already is refused, as another job of its name would be.
pub(super) fn note(core: &Core, job: &JobId, script: &Script) -> Result<NoteChange, Problem> {
    let (name, text) = (script::note_name(job), encode(script)?);
    let is_other = core.with(|cluster| {
        let is_known = cluster.with_state(|state| state.jobs.find(job).is_some())?;
        let before = if is_known { cluster.note(&name)? } else { None };
        Ok::<_, protocol::fault::Fault>(before.is_some_and(|before| before != text))
    })?;
    if is_other {
        return Err(Rejection::Taken { noun: Noun::Job, name: job.to_string() }.into());
    }
    Ok(NoteChange::Put(Note::new(name, text)))
}
