//! The scale form as a value: new amounts for a quota and, if GPUs are moved, for one sibling.

use engine::message::command::AmountByName;
use engine::message::command::ScaleMode;
use engine::message::command::ScaleQuotas;
use engine::message::command::ScaleTarget;
use engine::state::world::State;
use engine::unit::id::QuotaId;
use engine::unit::id::QuotaNo;
use engine::unit::quantity::bare;

use crate::job_draft::value;

/// What has been typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScaleDraft {
    /// The new amount in each stated dimension: its position, and the text.
    pub amounts: Vec<(usize, String)>,
    /// The sibling that gives or takes the difference, if any.
    pub with: String,
    /// Whether jobs that are no longer covered are evicted.
    pub is_evicting: bool,
}

impl ScaleDraft {
    /// The form of a quota as it is.
    #[must_use]
    pub fn of(state: &State, no: QuotaNo) -> Self {
        let min = &state.quotas[no.at()].min;
        let stated = (0..state.cluster.dimensions.len()).filter(|at| min.states(*at));
        let amounts = stated.map(|at| (at, bare(&state.cluster.dimensions[at], min.amount[at]))).collect();
        Self { amounts, ..Self::default() }
    }

    /// The command, or what is wrong.
    pub fn command(&self, state: &State, no: QuotaNo) -> Result<ScaleQuotas, String> {
        let quota = &state.quotas[no.at()];
        let sibling = QuotaId::new(&self.with).ok().and_then(|id| state.quota_no(&id));
        let mut own = AmountByName::new();
        let mut theirs = AmountByName::new();
        for (at, text) in &self.amounts {
            let Some(dimension) = state.cluster.dimensions.get(*at) else { continue };
            let target = value(dimension, text)?;
            let change = target - quota.min.amount[*at];
            own.insert(dimension.name.clone(), target);
            if let Some(sibling) =
                sibling.map(|sibling| &state.quotas[sibling.at()]).filter(|sibling| sibling.min.states(*at))
            {
                theirs.insert(dimension.name.clone(), sibling.min.amount[*at] - change);
            }
        }
        let mut targets = vec![ScaleTarget { quota: quota.id.clone(), min: own }];
        if let Some(sibling) = sibling {
            targets.push(ScaleTarget { quota: state.quotas[sibling.at()].id.clone(), min: theirs });
        }
        Ok(ScaleQuotas { targets, mode: if self.is_evicting { ScaleMode::Evict } else { ScaleMode::Drain } })
    }
}
