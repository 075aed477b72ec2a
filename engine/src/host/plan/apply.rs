//! From a plan to the real cluster.

use crate::host::plan::base::Base;
use crate::message::FORMAT;
use crate::message::command::ApplyPlan;
use crate::message::command::Command;
use crate::message::envelope::Envelope;
use crate::message::plan::Variant;
use crate::unit::id::CommandId;

/// What is to be sent, and what is not yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Application {
    /// The changes that the variant makes at its beginning, as one command. The cluster refuses it when it has moved
    /// on from the base: then somebody has to look again.
    pub envelope: Envelope,
    /// Changes for later, by their positions in the variant: whoever wants them sends them when it is time.
    pub later: Vec<usize>,
}

/// The command that makes a variant real, under this name. It comes to what the plan's first step came to.
#[must_use]
pub fn application(base: &Base, variant: &Variant, id: CommandId) -> Application {
    let mut commands = Vec::new();
    let mut later = Vec::new();
    for (at, change) in variant.changes.iter().enumerate().filter(|(_, change)| !change.is_off) {
        if change.at <= base.from {
            commands.push(change.command.clone());
        } else {
            later.push(at);
        }
    }
    let command = Command::ApplyPlan(ApplyPlan { commands });
    let base = Some(base.state.revision);
    Application { envelope: Envelope { format: FORMAT, id, by: None, base, dry_run: false, command }, later }
}
