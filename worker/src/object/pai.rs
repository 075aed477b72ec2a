//! The PAI surface at the object: who sends a request is proved here, and what it asks for is done.

use std::cell::RefCell;

use ::pai::key::Accepted;
use ::pai::key::accepted;
use ::pai::nonce;
use ::pai::nonce::NONCES_MAX;
use ::pai::nonce::Nonce;
use ::pai::problem::Problem;
use ::pai::request::Request as Wire;
use ::pai::service;
use ::pai::service::Answer;
use ::pai::service::backend::Backend;
use ::pai::service::backend::Printed;
use ::pai::service::document::Change;
use ::pai::service::mark::Mark;
use ::pai::session::Session;
use ::pai::signature;
use ::pai::signature::Credential;
use ::pai::signature::Refused;
use ::pai::signature::Signed;
use engine::message::envelope::Envelope;
use engine::message::envelope::Receipt;
use engine::message::rejection::Rejection;
use engine::state::world::State;
use engine::transition::Sender;
use engine::unit::id::JobId;
use engine::unit::time::Timestamp;
use engine::workspace::key::KeyId;
use protocol::cluster::Cluster;
use protocol::cluster::Done;
use protocol::fault::Failure;
use protocol::name::ClusterName;
use protocol::note::Note;
use protocol::note::NoteChange;
use worker::Request;
use worker::Response;

use crate::access;
use crate::answer;
use crate::bindings;
use crate::nonces::OfKey;
use crate::object::core::Core;
use crate::object::incidents;
use crate::object::keys;
use crate::object::output;
use crate::pai;
use crate::pai::Head;
use crate::proof::Proof;
use crate::storage::SqlLog;

/// Answers a request that the front has handed on.
pub(super) async fn serve(core: &Core, mut request: Request) -> worker::Result<Response> {
    let bytes = request.bytes().await?;
    let end = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    let head: Head = serde_json::from_str(&String::from_utf8_lossy(&bytes[..end]))?;
    let body = bytes.get(end + 1..).unwrap_or_default();
    match answer(core, &head, body).await {
        Ok(answer) => pai::respond(&answer),
        Err(problem) => pai::failed(&head, &problem),
    }
}

async fn answer(core: &Core, head: &Head, body: &[u8]) -> Result<Answer, answer::Problem> {
    let (wire, now) = (head.with(body), bindings::now());
    let mark = Mark::of(&wire, now);
    let sender = match sender(core, head, &wire, now) {
        Ok(Ok(sender)) => sender,
        Ok(Err(refused)) => return Ok(service::refuse(&Problem::from(refused), mark)),
        Err(answer::Problem::TooMany(wait)) => {
            return Ok(service::refuse(&Problem::too_soon("the key sends requests too fast", wait), mark));
        }
        Err(problem) => return Err(problem),
    };
    let (mut done, mut refused) = (Vec::new(), Vec::new());
    let serve = |printed, done: &mut Vec<Done>, refused: &mut Vec<(String, Rejection)>| {
        core.with(|cluster| {
            cluster.mark()?;
            let mut backend = Host { cluster, now, done, refused, printed, awaited: RefCell::default() };
            let answer = service::serve(&wire, mark, &sender, &mut backend, now);
            Ok::<_, protocol::fault::Fault>((answer, backend.awaited.into_inner()))
        })
    };
    let (mut answer, awaited) = serve(None, &mut done, &mut refused)?;
    // A cluster is at work without a pause, and machines take their time: they are asked once it is known that the sender
    // may read what they say, and the request, which changes nothing, is served anew with their answer.
    if let Some(job) = awaited {
        let printed = output::printed(core, &job).await;
        answer = serve(Some(printed.map_err(|problem| unprinted(&problem))), &mut done, &mut refused)?.0;
    }
    for (command, rejection) in refused {
        core.n_refused.set(core.n_refused.get() + 1);
        core.note_refusal(&sender, &command, &rejection.into());
    }
    for done in &done {
        core.push(done)?;
    }
    core.follow_up().await?;
    Ok(answer)
}

/// Who sends a request. The nonce is used up last: a forged request must not use up that of a genuine one.
fn sender(core: &Core, head: &Head, wire: &Wire, now: Timestamp) -> Result<Result<Sender, Refused>, answer::Problem> {
    let signed = match signature::credential(wire) {
        Ok(Credential::Signed(signed)) => signed,
        Ok(Credential::Bearer(token)) => return bearer(core, head, token, now),
        Err(refused) => return Ok(Err(refused)),
    };
    let unknown = || Refused::UnknownKey { key: signed.key_id().to_owned() };
    let Some(id) = KeyId::new(signed.key_id()) else { return Ok(Err(unknown())) };
    if !open(core, head)? {
        return Ok(Err(unknown()));
    }
    let Some(key) = core.with(|cluster| cluster.with_state(|state| state.keys.get(&id).cloned()))? else {
        return Ok(Err(unknown()));
    };
    let nonce = match verify(core, head, &signed, &accepted(&bindings::master(&core.env)?, &id, &key, now), now)? {
        Ok(nonce) => nonce,
        Err(refused) => return Ok(Err(refused)),
    };
    let principal = core.with(|cluster| cluster.with_state(|state| access::of_key(state, &id)))??;
    keys::admit(core, &principal)?;
    // An agent's key is good for nothing here.
    if principal.agent.is_some() {
        return Ok(Err(unknown()));
    }
    let mut nonces = OfKey { sql: core.state.storage().sql(), key: id.as_str() };
    Ok(nonce::admit(&mut nonces, &nonce, NONCES_MAX, now)?.map(|()| principal.sender))
}

/// Proves a signature. Wrong ones are counted by the network and the key that they name: looking at one takes as long as
/// its body is, and a program with an old secret keeps nobody out but itself.
fn verify(
    core: &Core,
    head: &Head,
    signed: &Signed,
    accepted: &[Accepted],
    now: Timestamp,
) -> Result<Result<Nonce, Refused>, answer::Problem> {
    let sender = head.network.as_ref().map(|network| format!("{network} {}", signed.key_id()));
    if let Some(sender) = &sender {
        core.failures.borrow().check(sender, now).map_err(answer::Problem::TooMany)?;
    }
    let verified = signed.verify(accepted, now);
    if verified.is_err() {
        keys::keep_out(core, head.network.as_deref(), signed.key_id())?;
        if let Some(sender) = sender {
            core.failures.borrow_mut().take(sender, now).map_err(answer::Problem::TooMany)?;
        }
    }
    Ok(verified)
}

/// Who sends a request with a session's token. The front has read it too; whether its key still serves is known here.
fn bearer(core: &Core, head: &Head, token: &str, now: Timestamp) -> Result<Result<Sender, Refused>, answer::Problem> {
    let session = Session::read(&bindings::master(&core.env)?, token, now);
    let Some(Session { key, generation, expires }) = session else { return Ok(Err(Refused::Token)) };
    if !open(core, head)? {
        return Ok(Err(Refused::Token));
    }
    match keys::principal(core, Some(&Proof::Session { key, generation, expires })) {
        Ok(principal) if principal.agent.is_some() => Ok(Err(Refused::Token)),
        Ok(principal) => Ok(Ok(principal.sender)),
        Err(answer::Problem::Unauthorised) => Ok(Err(Refused::Token)),
        Err(problem) => Err(problem),
    }
}

/// Opens the cluster that the front has found, if there is one: whoever tries names leaves nothing behind.
fn open(core: &Core, head: &Head) -> Result<bool, answer::Problem> {
    let Some(cluster) = ClusterName::new(&head.cluster) else { return Ok(false) };
    if !SqlLog::exists(&core.state.storage())? {
        return Ok(false);
    }
    core.open(&cluster)?;
    // Of a deleted cluster no key is known.
    Ok(core.with(|cluster| cluster.tombstone())?.is_none())
}

/// The cluster as the service sees it.
struct Host<'a> {
    cluster: &'a mut Cluster<SqlLog>,
    now: Timestamp,
    done: &'a mut Vec<Done>,
    /// The names of commands that were refused, and why.
    refused: &'a mut Vec<(String, Rejection)>,
    /// What the job prints that was asked for, once its agent has answered.
    printed: Option<Result<Option<Printed>, Problem>>,
    /// The job whose agent is to be asked.
    awaited: RefCell<Option<JobId>>,
}

impl Backend for Host<'_> {
    fn state(&self) -> Result<&State, Problem> {
        self.cluster.state().ok_or_else(|| unavailable(&"the state is to be read anew"))
    }

    fn send(&mut self, envelope: &Envelope, sender: &Sender, changes: &[Change]) -> Result<Receipt, Problem> {
        let notes = notes(changes);
        let done = self.cluster.submit_noted(envelope, sender, &notes, self.now);
        if let Err(Failure::Refused(rejection)) = &done {
            self.refused.push((incidents::name_of(&envelope.command), rejection.clone()));
        }
        let done = done.map_err(problem)?;
        let receipt = done.receipt.clone();
        self.done.push(done);
        Ok(receipt)
    }

    fn keep(&mut self, changes: &[Change], sender: &Sender) -> Result<(), Problem> {
        self.cluster.keep_notes(&notes(changes), sender).map_err(problem)
    }

    fn document(&self, name: &str) -> Result<Option<String>, Problem> {
        self.cluster.note(name).map_err(|fault| unavailable(&fault))
    }

    fn fields(&self, start: &str, field: &'static str) -> Result<Vec<(String, String)>, Problem> {
        self.cluster.note_fields(start, field).map_err(|fault| unavailable(&fault))
    }

    fn names(&self, start: &str) -> Result<Vec<String>, Problem> {
        self.cluster.note_names(start).map_err(|fault| unavailable(&fault))
    }

    fn printed(&self, job: &JobId) -> Result<Option<Printed>, Problem> {
        self.printed.clone().unwrap_or_else(|| {
            self.awaited.replace(Some(job.clone()));
            Err(Problem::new(503, "ServiceUnavailable", "the job's agent has not been asked yet"))
        })
    }
}

fn notes(changes: &[Change]) -> Vec<NoteChange> {
    let one = |Change { name, text }: &Change| match text {
        Some(text) => NoteChange::Put(Note::new(name.clone(), text.clone())),
        None => NoteChange::Drop(name.clone()),
    };
    changes.iter().map(one).collect()
}

/// Why what a job prints cannot be had.
fn unprinted(problem: &answer::Problem) -> Problem {
    if matches!(problem, answer::Problem::AgentAway(_) | answer::Problem::AgentQuiet(_)) {
        return Problem::new(503, "ServiceUnavailable", problem.sentence());
    }
    unavailable(&problem.sentence())
}

fn problem(failure: Failure) -> Problem {
    match failure {
        Failure::Refused(rejection) => rejection.into(),
        Failure::Broken(fault) => unavailable(&fault),
        Failure::Lost(_) => unavailable(&failure),
    }
}

fn unavailable(reason: &impl std::fmt::Display) -> Problem {
    worker::console_error!("{reason}");
    Problem::new(503, "ServiceUnavailable", "a store did not answer as it should; send the request anew")
}
