//! Somebody in a shell, towards one cluster: requests with their key, and the sentences for what goes wrong.

use std::path::PathBuf;

use agent::script::Script;
use console_model::path;
use engine::host::authority;
use engine::message::FORMAT;
use engine::message::command::Command;
use engine::message::envelope::Envelope;
use engine::message::envelope::Receipt;
use engine::message::snapshot::Snapshot;
use engine::state::world::State;
use engine::transition::Sender;
use engine::unit::id::CommandId;
use engine::unit::time::Millis;
use protocol::answer::Credentials;
use protocol::answer::Me;
use protocol::answer::OpenedSession;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::service::drawn;
use crate::service::http::Address;
use crate::service::http::Answer;
use crate::service::http::Client;
use crate::service::time;
use crate::shell::contexts;
use crate::shell::contexts::Context;
use crate::shell::contexts::Contexts;
use crate::shell::contexts::Opened;
use crate::shell::failure::Failure;
use crate::shell::failure::Status;

/// A session that ends so soon is not begun with.
const LEFT_AT_LEAST: Millis = Millis::MINUTE;

/// Somebody who has logged in.
pub struct Person {
    folder: PathBuf,
    /// The name of the context.
    pub name: String,
    /// What is known of them.
    pub context: Context,
    client: Client,
}

/// A command, and beside it what the job executes that it submits.
#[derive(Serialize)]
struct Submission<'a> {
    #[serde(flatten)]
    envelope: Envelope,
    #[serde(skip_serializing_if = "Option::is_none")]
    script: Option<&'a Script>,
}

impl Person {
    /// The person that is meant by a context, or by the current one.
    pub fn of(named: Option<&str>) -> Result<Self, Failure> {
        let folder = contexts::folder()?;
        let (name, context) = Contexts::chosen(&folder, named)?;
        let client = Client::new(Address::new(&context.service)?);
        Ok(Self { folder, name, context, client })
    }

    /// The person of a cluster of a service, if somebody has logged in to it: the current one where there are several.
    pub fn at(service: &str, cluster: &str) -> Result<Option<Self>, Failure> {
        let address = Address::new(service).map_err(Failure::usage)?.to_string();
        let contexts = Contexts::read(&contexts::folder()?)?;
        let is_meant =
            |name: &str| contexts.contexts.get(name).is_some_and(|of| of.service == address && of.cluster == cluster);
        let current = contexts.current.as_deref().filter(|name| is_meant(name));
        let name = current.or_else(|| contexts.contexts.keys().map(String::as_str).find(|name| is_meant(name)));
        name.map(|name| Self::of(Some(name))).transpose()
    }

    /// Where the service is.
    #[must_use]
    pub fn address(&self) -> &Address {
        self.client.address()
    }

    /// The path of something of the cluster.
    #[must_use]
    pub fn path(&self, rest: &str) -> String {
        path::api(&self.context.cluster, rest)
    }

    /// Asks for something of the cluster.
    pub fn get(&mut self, rest: &str) -> Result<Answer, Failure> {
        let answer = self.answer(rest)?;
        if answer.status == 200 { Ok(answer) } else { Err(self.refused(&answer)) }
    }

    /// The same, where a refusal is worth reading.
    pub fn answer(&mut self, rest: &str) -> Result<Answer, Failure> {
        let path = self.path(rest);
        self.ask(|client, token| client.get(&path, token))
    }

    /// The same, read.
    pub fn read<T: DeserializeOwned>(&mut self, rest: &str) -> Result<T, Failure> {
        let answer = self.get(rest)?;
        serde_json::from_str(&answer.text).map_err(|error| self.unreadable(&error.to_string()))
    }

    /// Who they are to the service, which knows what they may do.
    pub fn sender(&mut self) -> Result<Sender, Failure> {
        let me: Me = self.read("me")?;
        Ok(Sender { user: me.user, administers: me.administers })
    }

    /// The state as it is now, as far as they may see it.
    pub fn state(&mut self) -> Result<State, Failure> {
        let newest = self.newest()?;
        self.state_since(newest)
    }

    /// The same; nothing if there is no such cluster, nor where one is to be created in place of a deleted one.
    pub fn state_if_there(&mut self, anew: bool) -> Result<Option<State>, Failure> {
        let answer = self.answer("overdue")?;
        match (answer.status, answer.refusal().0.as_str()) {
            (200, _) => self.state_since(answer.revision.unwrap_or_default()).map(Some),
            (404, "unknown") => Ok(None),
            (410, "deleted") if anew => Ok(None),
            _ => Err(self.refused(&answer)),
        }
    }

    /// The newest revision. What is published may lag behind it; this answer does not.
    pub fn newest(&mut self) -> Result<u64, Failure> {
        Ok(self.get("overdue")?.revision.unwrap_or_default())
    }

    /// The state, at least as new as a revision.
    pub fn state_since(&mut self, revision: u64) -> Result<State, Failure> {
        let snapshot = self.snapshot_since(revision)?;
        let state = snapshot.restore().map_err(|rejection| self.unreadable(&rejection.to_string()))?;
        Ok(authority::as_of(&state, time::now()).into_owned())
    }

    /// The same as a document.
    pub fn snapshot_since(&mut self, revision: u64) -> Result<Snapshot, Failure> {
        self.read(&format!("snapshot?min_revision={revision}"))
    }

    /// Sends a command; with a base, refused if anything has happened since that revision.
    pub fn send(&mut self, command: Command, script: Option<&Script>, base: Option<u64>) -> Result<Receipt, Failure> {
        let answer = self.command(command, script, base)?;
        serde_json::from_str(&answer.text).map_err(|error| self.unreadable(&error.to_string()))
    }

    /// Founds the cluster, anew in place of one that was deleted at that revision.
    pub fn found(&mut self, founding: Command, anew: Option<u64>) -> Result<Receipt, Failure> {
        let rest = anew.map_or_else(|| "commands".to_owned(), |revision| format!("commands?anew={revision}"));
        let answer = self.command_to(&rest, founding, None, None)?;
        serde_json::from_str(&answer.text).map_err(|error| self.unreadable(&error.to_string()))
    }

    fn command(&mut self, command: Command, script: Option<&Script>, base: Option<u64>) -> Result<Answer, Failure> {
        self.command_to("commands", command, script, base)
    }

    fn command_to(
        &mut self,
        rest: &str,
        command: Command,
        script: Option<&Script>,
        base: Option<u64>,
    ) -> Result<Answer, Failure> {
        let id = CommandId::new(&format!("shell-{}", drawn::drawn()?)).map_err(|bad| bad.to_string())?;
        let envelope = Envelope { format: FORMAT, id, by: None, base, dry_run: false, command };
        let body = serde_json::to_string(&Submission { envelope, script }).map_err(|error| error.to_string())?;
        let path = self.path(rest);
        let answer = self.ask(|client, token| client.post(&path, Some(token), &body))?;
        if answer.status == 200 { Ok(answer) } else { Err(self.refused(&answer)) }
    }

    /// Sends a command that makes a secret, which the answer shows this one time.
    pub fn make_secret(&mut self, command: Command) -> Result<String, Failure> {
        let answer = self.command(command, None, None)?;
        answer.secret.ok_or_else(|| self.unreadable("it has no secret"))
    }

    /// Has something done that is no command of the cluster.
    pub fn post(&mut self, rest: &str) -> Result<Answer, Failure> {
        let path = self.path(rest);
        let answer = self.ask(|client, token| client.post(&path, Some(token), ""))?;
        if answer.status == 200 { Ok(answer) } else { Err(self.refused(&answer)) }
    }

    /// Ends the session at the service, if there is one.
    pub fn sign_out(&mut self) -> Result<(), Failure> {
        let Some(Opened { token, .. }) = self.context.session.clone() else { return Ok(()) };
        let path = self.path("sessions/end");
        let answer = self.client.post(&path, Some(&token), "{}").map_err(|problem| unreachable(&problem))?;
        // One that is not taken any more has ended.
        if matches!(answer.status, 200 | 401) { Ok(()) } else { Err(self.refused(&answer)) }
    }

    /// Asks with a token; once more with a new one if it is not taken any more.
    fn ask(&mut self, ask: impl Fn(&Client, &str) -> Result<Answer, String>) -> Result<Answer, Failure> {
        let token = self.token()?;
        let answer = ask(&self.client, &token).map_err(|problem| unreachable(&problem))?;
        if answer.status != 401 {
            return Ok(answer);
        }
        if self.context.key.is_none() {
            return Err(self.not_taken());
        }
        self.context.session = None;
        let token = self.token()?;
        let answer = ask(&self.client, &token).map_err(|problem| unreachable(&problem))?;
        if answer.status == 401 { Err(self.not_taken()) } else { Ok(answer) }
    }

    /// What proves who they are.
    pub fn token(&mut self) -> Result<String, Failure> {
        let Some(key) = self.context.key.clone() else { return Ok(self.context.secret.clone()) };
        let lasts = |opened: &&Opened| opened.expires - time::now() > LEFT_AT_LEAST;
        if let Some(opened) = self.context.session.as_ref().filter(lasts) {
            return Ok(opened.token.clone());
        }
        let Context { cluster, secret, .. } = &self.context;
        let Some(opened) = open_session(&self.client, cluster, &key, secret)? else { return Err(self.not_taken()) };
        let token = opened.token.clone();
        self.context.session = Some(Opened { token: opened.token, expires: opened.expires });
        self.keep()?;
        Ok(token)
    }

    /// Keeps the session for the next command.
    fn keep(&self) -> Result<(), Failure> {
        let mut contexts = Contexts::read(&self.folder)?;
        contexts.contexts.insert(self.name.clone(), self.context.clone());
        contexts.write(&self.folder)
    }

    fn not_taken(&self) -> Failure {
        let Context { service, cluster, user, .. } = &self.context;
        let text = format!(
            "cluster {cluster} at {service} does not take the key of {user} any more: it was revoked or rotated, or has \
             expired; write `tidegate login {service}{}`",
            path::cluster(cluster)
        );
        Failure { status: Status::NotLoggedIn, text }
    }

    /// Which cluster it is, and where.
    #[must_use]
    pub fn place(&self) -> String {
        let Context { service, cluster, .. } = &self.context;
        format!("cluster {cluster} at {service}")
    }

    /// A refusal, with who refused.
    #[must_use]
    pub fn refused(&self, answer: &Answer) -> Failure {
        self.refused_since(&answer.refusal().1)
    }

    /// A refusal for a reason.
    #[must_use]
    pub fn refused_since(&self, reason: &str) -> Failure {
        Failure::refused(format!("{}: {reason}", self.place()))
    }

    /// An answer that cannot be read.
    #[must_use]
    pub fn unreadable(&self, problem: &str) -> Failure {
        Failure::refused(format!("the answer of {} cannot be read: {problem}", self.place()))
    }
}

/// Opens a session; nothing if the key is not taken.
pub fn open_session(client: &Client, cluster: &str, key: &str, secret: &str) -> Result<Option<OpenedSession>, Failure> {
    let shown = Credentials { key: key.to_owned(), secret: secret.to_owned() };
    let body = serde_json::to_string(&shown).map_err(|error| error.to_string())?;
    let answer = client.post(&path::api(cluster, "sessions"), None, &body).map_err(|problem| unreachable(&problem))?;
    match answer.status {
        200 => {
            let read = serde_json::from_str(&answer.text);
            read.map(Some).map_err(|error| Failure::refused(format!("{}: {error}", client.address())))
        }
        401 => Ok(None),
        _ => Err(Failure::refused(format!("{}: {}", client.address(), answer.refusal().1))),
    }
}

/// A service that does not answer.
#[must_use]
pub fn unreachable(problem: &str) -> Failure {
    let text = format!("{problem}; is it running, and can it be reached from here?");
    Failure { status: Status::Unreachable, text }
}
