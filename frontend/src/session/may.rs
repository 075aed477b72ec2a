//! What whoever looks may do: the engine's own table, asked of the replica. The Worker asks it again.

use engine::message::command::Command;
use engine::transition::authorise;
use leptos::prelude::*;

use crate::session::Session;
use console_model::explained::sentence;

impl Session {
    /// Why a command would be denied; nothing if it would not be, or while nobody knows yet who looks.
    pub(crate) fn denied(self, command: &Command) -> Option<String> {
        let sender = self.me.get()?;
        let refused = self.ask(|state| authorise(state, &sender, command).err()).flatten()?;
        Some(sentence(&refused.to_string()))
    }
}
