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
    /// Whether somebody loses GPUs.
    pub is_eviction: bool,
}

/// Everything that would happen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Consequences {
    /// In the order in which it would.
    pub list: Vec<Consequence>,
    /// Jobs that would be evicted.
    pub evicted: Vec<JobId>,
    /// Jobs that would start, at once or after their victims.
    pub started: Vec<JobId>,
    /// Unsaved work that would be lost.
    pub lost_gpu_ms: i64,
}

/// The consequences of events, read from the state after them.
#[must_use]
pub fn consequences(after: &State, events: &[Event]) -> Consequences {
    let mut consequences = Consequences::default();
    let id = |no: JobNo| after.jobs.get(no).map(|job| job.spec.id.clone());
    for happened in events {
        let (job, is_eviction) = match happened {
            Event::Evicted { job, lost_gpu_ms, .. } => {
                consequences.lost_gpu_ms = consequences.lost_gpu_ms.saturating_add(*lost_gpu_ms);
                consequences.evicted.extend(id(*job));
                (*job, true)
            }
            Event::Shrunk { job, .. } => (*job, true),
            Event::Resized { job, resize, .. } => (*job, resize.leaving() > 0),
            Event::Started { job, .. } | Event::Granted { job, .. } => {
                consequences.started.extend(id(*job));
                (*job, false)
            }
            Event::Promoted { job, .. }
            | Event::Grown { job, .. }
            | Event::Held { job, .. }
            | Event::Run { job, .. }
            | Event::Ended { job, .. } => (*job, false),
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
            consequences.list.push(Consequence { sentence, job: id(job), is_eviction });
        }
    }
    consequences
}
