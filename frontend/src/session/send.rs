//! Commands on their way: shown at once, taken back when they are refused.

use agent::script::Script;
use engine::message::FORMAT;
use engine::message::command::Command;
use engine::message::envelope::CommandKind;
use engine::message::envelope::Entry;
use engine::message::envelope::Envelope;
use engine::message::envelope::Receipt;
use engine::unit::id::CommandId;

use crate::api::browser;
use crate::api::client;
use crate::api::client::Submission;
use crate::api::failure::Failure;
use crate::session::Known;
use crate::session::Session;
use crate::session::notices::Tone;
use leptos::prelude::*;

/// A command with a new name.
pub(crate) fn envelope(command: Command) -> Option<Envelope> {
    let id = CommandId::new(&browser::unique("console")).ok()?;
    Some(Envelope { format: FORMAT, id, by: None, base: None, dry_run: false, command })
}

impl Session {
    /// Sends a command. What it does is shown before the answer comes; a refusal takes it back and is shown.
    pub(crate) async fn send(self, command: Command) -> Result<Receipt, Failure> {
        self.send_with(command, None).await
    }

    /// The same with what a submitted job executes.
    pub(crate) async fn send_with(self, command: Command, script: Option<Script>) -> Result<Receipt, Failure> {
        let envelope = envelope(command).ok_or(Failure::Unreachable)?;
        let answer = self.dispatch(Submission { envelope, script }).await;
        if let Err(failure) = &answer {
            self.notices.show(Tone::Refused, failure.to_string(), None);
        }
        answer
    }

    /// Sends a command that has its name already. Whoever sends it shows a refusal.
    pub(crate) async fn send_envelope(self, envelope: Envelope) -> Result<Receipt, Failure> {
        self.dispatch(Submission { envelope, script: None }).await
    }

    async fn dispatch(self, sent: Submission) -> Result<Receipt, Failure> {
        let envelope = &sent.envelope;
        self.known.update(|known| {
            if let Known::Here(replica) = known {
                // What is refused here may be accepted by a newer state: the answer counts.
                let _ = replica.send(envelope.clone(), browser::now());
            }
        });
        let answer = client::command(&self.name(), &sent).await;
        self.known.try_update(|known| {
            let Known::Here(replica) = known else { return };
            match &answer {
                // The same comes as an event; after a gap only that can be taken.
                Ok(receipt) => drop(replica.receive(&entry(envelope, receipt))),
                Err(_) => replica.refused(&envelope.id),
            }
        });
        answer
    }
}

/// The log's entry of an accepted command. Its kind is read where it comes from the log.
fn entry(envelope: &Envelope, receipt: &Receipt) -> Entry<CommandKind> {
    let Receipt { id, revision, at, events } = receipt.clone();
    let Envelope { format, by, base, dry_run, .. } = envelope.clone();
    let envelope = Envelope { format, id, by, base, dry_run, command: CommandKind { kind: None } };
    Entry { format, revision, at, envelope, events }
}

/// The same request for a terminal. The key is named, not shown.
pub(crate) fn as_curl(cluster: &str, command: &Command) -> String {
    as_curl_with(cluster, command, None)
}

/// The same with what a submitted job executes.
pub(crate) fn as_curl_with(cluster: &str, command: &Command, script: Option<Script>) -> String {
    let Some(envelope) = envelope(command.clone()) else { return String::new() };
    let body = serde_json::to_string(&Submission { envelope, script }).unwrap_or_default().replace('\'', "'\\''");
    let url = format!("{}{}", browser::origin(), console_model::path::api(cluster, "commands"));
    format!(
        "curl -sS -X POST '{url}' \\\n  -H \"Authorization: Bearer $TIDEGATE_KEY\" \\\n  -H 'Content-Type: application/json' \\\n  -d '{body}'"
    )
}
