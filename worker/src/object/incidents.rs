//! What happens beside the cluster's log, and who may read of it.

use std::borrow::Cow;

use engine::message::command::Command;
use engine::transition::Sender;
use protocol::incident::Incident;
use protocol::incident::Kind;
use protocol::log::encode;
use worker::console_error;

use crate::answer::Problem;
use crate::bindings;
use crate::incidents;
use crate::object::core::Core;
use crate::query::Query;

/// After how many slots it is looked whether there are too many: once a day, since all of them are looked at.
const PRUNED_EVERY: i64 = 1_440;

impl Core {
    /// Notes an incident. What comes of a request does not hang on it.
    pub(super) fn note(&self, kind: Kind, who: &str, what: impl Into<Cow<'static, str>>) {
        let due = self.incidents.borrow_mut().note(kind, who, what.into(), bindings::now());
        self.write_incidents(due);
    }

    /// Notes that somebody was refused something.
    pub(super) fn note_refusal(&self, sender: &Sender, what: &str, problem: &Problem) {
        self.note(Kind::Refused, sender.user.as_str(), format!("{what}: {}", problem.code()));
    }

    /// Writes what is only counted so far, and drops now and then what is too much.
    pub(super) fn tidy_incidents(&self, slot: i64) {
        let due = self.incidents.borrow_mut().flush();
        self.write_incidents(due);
        if slot % PRUNED_EVERY == 0 {
            let pruned = incidents::prune(&self.state.storage().sql(), bindings::now());
            pruned.unwrap_or_else(|error| console_error!("old incidents are not dropped: {error}"));
        }
    }

    fn write_incidents(&self, due: Vec<Incident>) {
        let written = incidents::write(&self.state.storage().sql(), due);
        written.unwrap_or_else(|error| console_error!("incidents are not written: {error}"));
    }
}

/// The newest incidents: all of them for an administrator, and for others what they have caused themselves.
pub(super) fn list(core: &Core, sender: &Sender, query: &Query) -> Result<Vec<Incident>, Problem> {
    let who = (!sender.administers).then(|| sender.user.as_str());
    incidents::read(&core.state.storage().sql(), who, query)
}

/// What a command is called in messages.
pub(super) fn name_of(command: &Command) -> String {
    let text = encode(command).unwrap_or_default();
    text.split('"').nth(1).unwrap_or("command").to_owned()
}
