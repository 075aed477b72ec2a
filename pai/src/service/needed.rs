//! Which documents are still needed.

use engine::state::world::State;
use engine::unit::id::JobId;
use engine::unit::id::QuotaId;
use engine::unit::id::WorkspaceId;

use crate::service::document::Kind;
use crate::service::run;

/// Whether the thing that a document describes is still there; `text` reads what it says.
#[must_use]
pub fn is_needed(state: &State, name: &str, text: &(dyn Fn() -> Option<String> + '_)) -> bool {
    let Some((kind, of)) = Kind::ALL.into_iter().find_map(|kind| name.strip_prefix(kind.start()).map(|of| (kind, of)))
    else {
        return false;
    };
    match kind {
        Kind::Job | Kind::Script | Kind::Deleted => JobId::new(of).is_ok_and(|id| state.jobs.find(&id).is_some()),
        Kind::Quota => QuotaId::new(of).is_ok_and(|id| state.quota_no(&id).is_some()),
        Kind::Workspace => WorkspaceId::new(of).is_ok_and(|id| state.workspaces.contains_key(&id)),
        // Without its last job there is no such thing. What cannot be read stays.
        Kind::Service | Kind::Instance => text()
            .and_then(|text| serde_json::from_str(&text).ok())
            .is_none_or(|document| run::is_known(state, &document)),
        // These go with the operation that removes what they describe.
        Kind::Resource | Kind::Group | Kind::Setting => true,
    }
}
