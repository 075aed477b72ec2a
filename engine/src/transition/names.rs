//! From the names and numbers that people send to what the state holds.

use std::fmt::Display;

use crate::message::command::AmountByName;
use crate::message::rejection::Noun;
use crate::message::rejection::Rejection;
use crate::state::world::State;
use crate::unit::amount::Amount;
use crate::unit::amount::DimensionKind;
use crate::unit::amount::GPU;
use crate::unit::amount::Guarantee;
use crate::unit::id::GroupId;
use crate::unit::id::GroupNo;
use crate::unit::id::JobId;
use crate::unit::id::JobNo;
use crate::unit::id::NodeId;
use crate::unit::id::NodeNo;
use crate::unit::id::OfferId;
use crate::unit::id::OfferNo;
use crate::unit::id::QuotaId;
use crate::unit::id::QuotaNo;
use crate::unit::id::WorkspaceId;
use crate::unit::limit;
use crate::unit::time::Millis;
use crate::workspace::key::AccessKey;
use crate::workspace::key::KeyId;
use crate::workspace::space::Workspace;

pub(super) fn quota(state: &State, id: &QuotaId) -> Result<QuotaNo, Rejection> {
    state.quota_no(id).ok_or_else(|| Rejection::Unknown { noun: Noun::Quota, name: id.to_string() })
}

pub(super) fn group(state: &State, id: &GroupId) -> Result<GroupNo, Rejection> {
    state.group_no(id).ok_or_else(|| Rejection::Unknown { noun: Noun::Group, name: id.to_string() })
}

pub(super) fn node(state: &State, id: &NodeId) -> Result<NodeNo, Rejection> {
    state.node_no(id).ok_or_else(|| Rejection::Unknown { noun: Noun::Node, name: id.to_string() })
}

pub(super) fn workspace<'a>(state: &'a State, id: &WorkspaceId) -> Result<&'a Workspace, Rejection> {
    state.workspaces.get(id).ok_or_else(|| Rejection::Unknown { noun: Noun::Workspace, name: id.to_string() })
}

pub(super) fn key<'a>(state: &'a State, id: &KeyId) -> Result<&'a AccessKey, Rejection> {
    state.keys.get(id).ok_or_else(|| Rejection::Unknown { noun: Noun::Key, name: id.to_string() })
}

pub(super) fn job(state: &State, id: &JobId) -> Result<JobNo, Rejection> {
    state.jobs.find(id).ok_or_else(|| Rejection::Unknown { noun: Noun::Job, name: id.to_string() })
}

pub(super) fn offer(state: &State, id: &OfferId) -> Result<OfferNo, Rejection> {
    state.market.offer_no(id).ok_or_else(|| Rejection::Unknown { noun: Noun::Offer, name: id.to_string() })
}

pub(super) fn amount(state: &State, what: impl Display, by_name: &AmountByName) -> Result<Amount, Rejection> {
    guarantee(state, what, by_name).map(|guarantee| guarantee.amount)
}

/// The dimensions that `by_name` names, with their values.
pub(super) fn guarantee(state: &State, what: impl Display, by_name: &AmountByName) -> Result<Guarantee, Rejection> {
    let mut guarantee = Guarantee::default();
    for (name, &value) in by_name {
        let at = state
            .cluster
            .dimension(name)
            .ok_or_else(|| Rejection::Unknown { noun: Noun::Dimension, name: name.clone() })?;
        in_range(format_args!("{name} of {what}"), value, 0, limit::AMOUNT_MAX)?;
        if state.cluster.dimensions[at].kind == DimensionKind::Gpu && (1..limit::GPU_SHARE_MIN).contains(&value) {
            return Err(Rejection::Structure { reason: too_small_a_share(name, &what, value) });
        }
        guarantee.state(at, value);
    }
    Ok(guarantee)
}

/// Nothing asks for so little of a GPU; who writes 8 for eight of them is told the unit.
fn too_small_a_share(name: &str, what: &impl Display, thousandths: i64) -> String {
    format!(
        "{name} of {what} is {thousandths} thousandths of a GPU, and the smallest share is {}; amounts are in thousandths; \
         did you mean {}?",
        limit::GPU_SHARE_MIN,
        thousandths * GPU
    )
}

/// `what` is put into words only when something is wrong.
pub(super) fn in_range(what: impl Display, value: i64, min: i64, max: i64) -> Result<(), Rejection> {
    if (min..=max).contains(&value) {
        Ok(())
    } else {
        Err(Rejection::OutOfRange { what: what.to_string(), value, min, max })
    }
}

/// After how long a silence runs may be killed.
pub(super) fn silence_in_range(after: Millis) -> Result<(), Rejection> {
    let what = "the silence after which runs are killed in milliseconds";
    in_range(what, after.0, limit::SILENCE_MS_MIN, limit::SILENCE_MS_MAX)
}

pub(super) fn within_limit(what: impl Display, count: usize, limit: usize) -> Result<(), Rejection> {
    if count <= limit {
        return Ok(());
    }
    Err(Rejection::Limit { what: what.to_string(), count: count as u64, limit: limit as u64 })
}
