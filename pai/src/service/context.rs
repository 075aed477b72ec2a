//! One request at work: who sends it, when, and the cluster that it is about.

use engine::host::visibility::Visibility;
use engine::message::FORMAT;
use engine::message::command::ApplyPlan;
use engine::message::command::Command;
use engine::message::envelope::Envelope;
use engine::message::envelope::Receipt;
use engine::state::jobs::Job;
use engine::state::world::State;
use engine::transition::Sender;
use engine::transition::may_see;
use engine::unit::id::CommandId;
use engine::unit::id::JobId;
use engine::unit::id::JobNo;
use engine::unit::id::QuotaId;
use engine::unit::id::QuotaNo;
use engine::unit::id::WorkspaceId;
use engine::unit::time::Timestamp;
use engine::workspace::role::Role;
use engine::workspace::role::RoleSet;
use engine::workspace::space::Workspace;
use serde_json::Value;

use crate::key::hex;
use crate::problem::Problem;
use crate::service::backend::Backend;
use crate::service::backend::Printed;
use crate::service::document::Change;
use crate::service::document::Document;
use crate::service::document::Kind;
use crate::service::mark::Mark;

/// How many characters a name has that is made here, after its prefix.
const ID_CHARS: usize = 14;
const ID_LETTERS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";

pub(crate) struct Context<'a> {
    backend: &'a mut dyn Backend,
    pub(crate) sender: &'a Sender,
    pub(crate) now: Timestamp,
    mark: Mark,
    /// How many commands and names have been made.
    made: u32,
}

impl<'a> Context<'a> {
    pub(crate) fn new(backend: &'a mut dyn Backend, sender: &'a Sender, now: Timestamp, mark: Mark) -> Self {
        Self { backend, sender, now, mark, made: 0 }
    }

    pub(crate) fn state(&self) -> Result<&State, Problem> {
        self.backend.state()
    }

    /// What the sender may see of the state.
    pub(crate) fn visibility(&self) -> Result<Visibility<'_>, Problem> {
        Ok(Visibility::new(self.backend.state()?, self.sender))
    }

    /// A name that nothing has yet. It follows from the request.
    pub(crate) fn new_id(&mut self, prefix: &str) -> String {
        let digest = self.next("name");
        let letters = digest.iter().take(ID_CHARS).map(|byte| char::from(ID_LETTERS[usize::from(*byte) % 36]));
        prefix.chars().chain(letters).collect()
    }

    /// A name of digits that nothing has yet.
    pub(crate) fn new_number(&mut self) -> String {
        let digest = self.next("number");
        let digits = digest.iter().take(ID_CHARS).map(|byte| char::from(b'0' + byte % 10));
        // Whoever reads it as a number must not lose a digit.
        ['1'].into_iter().chain(digits).collect()
    }

    fn next(&mut self, purpose: &str) -> [u8; 32] {
        self.made += 1;
        self.mark.derived(&format!("{purpose} {}", self.made))
    }

    /// Sends a command; documents change with it, or not at all.
    pub(crate) fn send(&mut self, command: Command, changes: &[Change]) -> Result<Receipt, Problem> {
        self.hand_in(command, changes, false)
    }

    /// Sends commands of which all are accepted or none.
    pub(crate) fn send_all(&mut self, mut commands: Vec<Command>, changes: &[Change]) -> Result<(), Problem> {
        let command = match commands.len() {
            0 => return Ok(()),
            1 => commands.remove(0),
            _ => Command::ApplyPlan(ApplyPlan { commands }),
        };
        self.send(command, changes).map(drop)
    }

    /// Whether a command would be accepted.
    pub(crate) fn try_out(&mut self, command: Command) -> Result<(), Problem> {
        self.foresee(command).map(drop)
    }

    /// What a command would come to.
    pub(crate) fn foresee(&mut self, command: Command) -> Result<Receipt, Problem> {
        self.hand_in(command, &[], true)
    }

    fn hand_in(&mut self, command: Command, changes: &[Change], dry_run: bool) -> Result<Receipt, Problem> {
        let name = format!("pai-{}", &hex(&self.next("command"))[..32]);
        let id = CommandId::new(&name).map_err(|error| Problem::new(500, "InternalError", error.to_string()))?;
        let by = Some(self.sender.user.clone());
        let envelope = Envelope { format: FORMAT, id, by, base: None, dry_run, command };
        self.backend.send(&envelope, self.sender, changes)
    }

    /// Changes documents and nothing else.
    pub(crate) fn keep(&mut self, changes: &[Change]) -> Result<(), Problem> {
        self.backend.keep(changes, self.sender)
    }

    /// The document on a thing; an empty one if there is none.
    pub(crate) fn document(&self, kind: Kind, of: &str) -> Result<Document, Problem> {
        Ok(self.found(kind, of)?.unwrap_or_default())
    }

    /// The document on a thing.
    pub(crate) fn found(&self, kind: Kind, of: &str) -> Result<Option<Document>, Problem> {
        let Some(text) = self.backend.document(&kind.name(of))? else { return Ok(None) };
        let damaged = |error: serde_json::Error| Problem::new(500, "InternalError", error.to_string());
        serde_json::from_str(&text).map(Some).map_err(damaged)
    }

    /// The things of a kind that have documents.
    pub(crate) fn described(&self, kind: Kind) -> Result<Vec<String>, Problem> {
        let names = self.backend.names(kind.start())?;
        Ok(names.iter().filter_map(|name| name.strip_prefix(kind.start())).map(str::to_owned).collect())
    }

    /// A field of the documents on things of a kind: the things in order, each with what its document says.
    pub(crate) fn told_of_all(&self, kind: Kind, field: &'static str) -> Result<Vec<(String, String)>, Problem> {
        let fields = self.backend.fields(kind.start(), field)?;
        let of = |(name, value): (String, String)| Some((name.strip_prefix(kind.start())?.to_owned(), value));
        Ok(fields.into_iter().filter_map(of).collect())
    }

    /// The sender's roles in a workspace.
    pub(crate) fn roles(&self, workspace: &Workspace) -> RoleSet {
        if self.sender.administers {
            return RoleSet::from_iter([Role::ClusterAdministrator]);
        }
        workspace.roles(&self.sender.user)
    }

    /// Whether the sender may see a workspace: they are a member, or look after the cluster.
    pub(crate) fn sees(&self, workspace: &Workspace) -> bool {
        !self.roles(workspace).is_empty()
    }

    /// A workspace that the sender may see; what others have does not exist for them.
    pub(crate) fn workspace(&self, name: &str) -> Result<(WorkspaceId, &Workspace), Problem> {
        let unknown = || not_found("Workspace", "workspace", name);
        let id = WorkspaceId::new(name).map_err(|_| unknown())?;
        let workspace = self.state()?.workspaces.get(&id).filter(|workspace| self.sees(workspace));
        Ok((id, workspace.ok_or_else(unknown)?))
    }

    /// A quota. Quotas are seen by everybody who belongs to a workspace, as amounts.
    pub(crate) fn quota(&self, name: &str) -> Result<QuotaNo, Problem> {
        let state = self.state()?;
        let found = QuotaId::new(name).ok().and_then(|id| state.quota_no(&id)).filter(|_| self.is_somebody(state));
        found.ok_or_else(|| not_found("Quota", "quota", name))
    }

    /// Whether the sender belongs to any workspace, or looks after the cluster.
    pub(crate) fn is_somebody(&self, state: &State) -> bool {
        self.sender.administers || state.workspaces.values().any(|workspace| self.sees(workspace))
    }

    /// A job that the sender may see and that nobody has deleted, with a story in which others have no names that they
    /// may not know.
    pub(crate) fn told(&self, name: &str) -> Result<(JobNo, Job), Problem> {
        let (no, _) = self.job(name)?;
        let told = self.visibility()?.told(no);
        Ok((no, told.ok_or_else(|| not_found("Job", "job", name))?))
    }

    /// A job that the sender may see and that nobody has deleted.
    pub(crate) fn job(&self, name: &str) -> Result<(JobNo, &Job), Problem> {
        let state = self.state()?;
        let unknown = || not_found("Job", "job", name);
        let id = JobId::new(name).map_err(|_| unknown())?;
        let no = state.jobs.find(&id).ok_or_else(unknown)?;
        if !self.may_see_job(&id)? || self.found(Kind::Deleted, name)?.is_some() {
            return Err(unknown());
        }
        Ok((no, &state.jobs[no]))
    }

    /// What a job that the sender may see has printed.
    pub(crate) fn printed(&self, job: &JobId) -> Result<Option<Printed>, Problem> {
        self.backend.printed(job)
    }

    pub(crate) fn may_see_job(&self, id: &JobId) -> Result<bool, Problem> {
        Ok(may_see(self.state()?, self.sender, id).is_ok())
    }
}

/// Nothing has this name, or nothing that the sender may know of.
pub(crate) fn not_found(code: &str, noun: &str, name: &str) -> Problem {
    Problem::new(404, format!("{code}NotFound"), format!("there is no {noun} {name}"))
}

/// A list cut to the page that is asked for, and how long it was.
pub(crate) fn paged<T>(mut list: Vec<T>, page: crate::operation::page::Page) -> (Vec<T>, usize) {
    let total = list.len();
    let skip = usize::try_from(page.skip).unwrap_or(usize::MAX).min(total);
    list.drain(..skip);
    list.truncate(usize::try_from(page.take).unwrap_or(usize::MAX));
    (list, total)
}

/// Whether a text contains another, whatever the case.
pub(crate) fn contains(text: &str, part: Option<&str>) -> bool {
    part.is_none_or(|part| text.to_lowercase().contains(&part.to_lowercase()))
}

/// Whether a name is among these, of which none means all.
pub(crate) fn one_of(names: &[String], name: Option<&str>) -> bool {
    names.is_empty() || name.is_some_and(|name| names.iter().any(|one| one == name))
}

/// The same of words, whatever their case.
pub(crate) fn word_of(words: &[String], word: &str) -> bool {
    words.is_empty() || words.iter().any(|one| one.eq_ignore_ascii_case(word))
}

/// Whether a document has each of these labels in a field: an object of texts, or a list of keys with values.
pub(crate) fn is_labelled(document: &Document, field: &str, wanted: &[(String, String)]) -> bool {
    let value = |name: &str| match document.get(field)? {
        Value::Object(object) => object.get(name)?.as_str(),
        Value::Array(list) => {
            let of_name = list.iter().find(|one| one.get("Key").and_then(Value::as_str) == Some(name));
            of_name?.get("Value")?.as_str()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    };
    wanted.iter().all(|(name, wanted)| value(name) == Some(wanted))
}
