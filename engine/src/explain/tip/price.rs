//! What a change that starts a job takes from others, as its tip tells it.

use crate::explain::taken::Cost;
use crate::explain::tip::proposal::Start;
use crate::explain::words::count;
use crate::message::event::Event;
use crate::state::world::State;
use crate::unit::id::QuotaNo;
use crate::unit::ordered::Set;
use crate::unit::time::Timestamp;

/// How many quotas are named.
const NAMED_MAX: usize = 3;

/// `In Quota1.2 that would evict 2 jobs, lose 3.5 GPU-hours.` Nothing where no job of a quota loses anything. It names
/// no job, so everybody may read it.
pub(super) fn price(state: &State, start: &Start, now: Timestamp) -> Option<String> {
    let losses = || start.events.iter().filter_map(|event| Some((event, loser(state, event)?)));
    let words = Cost::of(state, losses().map(|(event, _)| event), now).words()?;
    let quotas: Set<QuotaNo> = losses().map(|(_, quota)| quota).collect();
    let place = if quotas.len() > NAMED_MAX {
        count(quotas.len() as u64, "quota", "quotas")
    } else {
        quotas.iter().map(|no| state.quotas[no.at()].id.as_str()).collect::<Vec<_>>().join(" and ")
    };
    let stops = if start.others_stop_first { "; it starts when their GPUs are free" } else { "" };
    Some(format!("In {place} that would {words}{stops}."))
}

/// The quota whose job an event takes something from.
fn loser(state: &State, event: &Event) -> Option<QuotaNo> {
    let (Event::Evicted { job, .. } | Event::Shrunk { job, .. }) = event else { return None };
    let spec = &state.jobs.get(*job)?.spec;
    spec.spot.is_none().then_some(spec.quota)
}
