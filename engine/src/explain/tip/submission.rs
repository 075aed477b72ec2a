//! What to send to submit a job once more.

use crate::job::nodes::NodeChoice;
use crate::job::shape::Role;
use crate::market::bid::Bid;
use crate::market::bid::SpotStrategy;
use crate::message::command::NodesByName;
use crate::message::command::PodGroup;
use crate::message::command::SpotRequest;
use crate::message::command::SubmitJob;
use crate::state::world::State;
use crate::unit::id::JobId;
use crate::unit::id::JobNo;
use crate::unit::id::NodeNo;
use crate::unit::id::with_room;
use crate::unit::time::Period;

/// The submission of a job as it is, under a name that nobody has; none of a service in parts.
pub(in crate::explain) fn submission(state: &State, no: JobNo) -> Option<SubmitJob> {
    if state.is_in_parts(no) {
        return None;
    }
    let spec = &state.jobs[no].spec;
    let quota = spec.spot.is_none().then(|| state.quotas[spec.quota.at()].id.clone());
    let spot = spec.spot.as_ref().map(|spot| SpotRequest {
        offer: state.market.offers[spot.offer.at()].id.clone(),
        strategy: match spot.bid {
            Bid::AsPriceGoes => SpotStrategy::AsPriceGoes,
            Bid::Discount(_) | Bid::Price(_) => SpotStrategy::WithPriceLimit,
        },
        discount_percent: if let Bid::Discount(percent) = spot.bid { Some(i64::from(percent)) } else { None },
        price_limit: if let Bid::Price(limit) = spot.bid { Some(limit) } else { None },
        framework: spot.framework,
        network: spot.network.clone(),
    });
    Some(SubmitJob {
        job: free_name(state, spec.id.as_str())?,
        quota,
        spot,
        workspace: spec.workspace.clone(),
        user: spec.user.clone(),
        name: spec.name.clone(),
        module: spec.module,
        priority: spec.priority,
        pods: spec.shape.roles().iter().map(|role| pods(state, role)).collect(),
        min_pods: spec.shape.min_pods(),
        nodes: nodes(state, spec.shape.nodes()),
        idle: spec.idle,
        fault_tolerance: spec.fault_tolerance,
        duration_ms: spec.duration.map(Period::get),
        checkpoint_ms: spec.checkpoint.map(Period::get),
    })
}

/// The nodes that a job may run on, as they are written on the wire.
fn nodes(state: &State, choice: &NodeChoice) -> NodesByName {
    let names =
        |numbers: &mut dyn Iterator<Item = &NodeNo>| numbers.map(|no| state.nodes[no.at()].id.clone()).collect();
    let NodeChoice { gpu_type, only, without, passed_over: _ } = choice;
    // A deleted node need not be kept out. Where only such are chosen, no submission will do, and none is made.
    let without = names(&mut without.iter().filter(|no| !state.nodes[no.at()].is_deleted));
    NodesByName { gpu_type: gpu_type.clone(), only: names(&mut only.iter()), without }
}

/// Pods of one kind, as they are written on the wire.
pub(super) fn pods(state: &State, role: &Role) -> PodGroup {
    PodGroup { count: role.count, amount: state.cluster.by_name(&role.amount) }
}

/// A name for the next attempt: a cancelled job keeps its own.
fn free_name(state: &State, name: &str) -> Option<JobId> {
    let base = match name.rsplit_once('-') {
        Some((base, number)) if !base.is_empty() && number.parse::<u32>().is_ok_and(|number| number > 1) => base,
        Some(_) | None => name,
    };
    // A long name is cut short to make room for the number, which has at most eleven bytes with its dash.
    let base = with_room(base, 11);
    let names = (2..=u32::MAX).filter_map(|attempt| JobId::new(&format!("{base}-{attempt}")).ok());
    names.take(state.jobs.len() + 1).find(|id| state.jobs.find(id).is_none())
}
