//! What a command would come to, as a list that can be read before it is sent.

use crate::explain::event::event;
use crate::message::event::Event;
use crate::state::world::State;
use crate::unit::id::JobId;
use crate::unit::id::JobNo;

/// One thing that would happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Consequence {
    /// The sentence.
    pub sentence: String,
    /// The job that it is about.
    pub job: Option<JobId>,
    /// What it is to that job.
    pub turn: Turn,
    /// Of somebody who loses GPUs: whose job it is, in words.
    pub owner: Option<String>,
}

/// What something is to the job that it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It loses GPUs.
    Loses,
    /// It starts, at once or after its victims.
    Starts,
    /// Anything else.
    Other,
}

/// The consequences of events, in the order in which they would happen; read from the state after them.
#[must_use]
pub fn consequences(after: &State, events: &[Event]) -> Vec<Consequence> {
    let mut consequences = Vec::new();
    let id = |no: JobNo| after.jobs.get(no).map(|job| job.spec.id.clone());
    for happened in events {
        let (job, turn) = match happened {
            Event::Evicted { job, .. } | Event::Shrunk { job, .. } => (*job, Turn::Loses),
            Event::Resized { job, resize, .. } if resize.leaving() > 0 => (*job, Turn::Loses),
            Event::Started { job, .. } | Event::Granted { job, .. } => (*job, Turn::Starts),
            Event::Promoted { job, .. }
            | Event::Grown { job, .. }
            | Event::Resized { job, .. }
            | Event::Held { job, .. }
            | Event::Run { job, .. }
            | Event::Ended { job, .. } => (*job, Turn::Other),
            Event::ClusterCreated { .. }
            | Event::GroupPut { .. }
            | Event::NodePut { .. }
            | Event::Node { .. }
            | Event::ClusterUpdated { .. }
            | Event::QuotaCreated { .. }
            | Event::QuotaUpdated { .. }
            | Event::QuotasScaled { .. }
            | Event::QuotaDeleted { .. }
            | Event::WorkspacePut { .. }
            | Event::WorkspaceDeleted { .. }
            | Event::QuotaAttached { .. }
            | Event::QuotaDetached { .. }
            | Event::MemberPut { .. }
            | Event::MemberRemoved { .. }
            | Event::KeyPut { .. }
            | Event::KeyForgotten { .. }
            | Event::Redacted
            | Event::JobSubmitted { .. }
            | Event::CancelledBy { .. }
            | Event::PriorityChanged { .. }
            | Event::OfferCreated { .. }
            | Event::OfferUpdated { .. }
            | Event::OfferDeleted { .. }
            | Event::InventorySet { .. }
            | Event::Priced { .. }
            | Event::Billed { .. }
            | Event::Stopped { .. }
            | Event::Returned { .. }
            | Event::Checkpointed { .. }
            | Event::Forgotten { .. }
            | Event::Rounded { .. } => continue,
        };
        if let Some(sentence) = event(after, happened) {
            let owner = if turn == Turn::Loses { owner(after, job) } else { None };
            consequences.push(Consequence { sentence, job: id(job), turn, owner });
        }
    }
    consequences
}

/// Whose job it is, and of which workspace, as far as that is known: `carol, workspace-c`.
fn owner(state: &State, no: JobNo) -> Option<String> {
    let spec = &state.jobs.get(no)?.spec;
    match (&spec.user, &spec.workspace) {
        (Some(user), Some(workspace)) => Some(format!("{user}, {workspace}")),
        (Some(user), None) => Some(user.to_string()),
        (None, Some(workspace)) => Some(workspace.to_string()),
        (None, None) => None,
    }
}
