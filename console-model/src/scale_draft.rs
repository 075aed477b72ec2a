//! The scale form as a value: new amounts for a quota and, if GPUs are moved, for one sibling.

use engine::message::command::AmountByName;
use engine::message::command::ScaleMode;
use engine::message::command::ScaleQuotas;
use engine::message::command::ScaleTarget;
use engine::state::world::State;
use engine::unit::id::QuotaId;
use engine::unit::id::QuotaNo;
use engine::unit::quantity::bare;
use engine::unit::quantity::quantity;

use crate::amount::value;

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

    /// The command, or each fault with the position of the dimension that has it.
    pub fn command(&self, state: &State, no: QuotaNo) -> Result<ScaleQuotas, Vec<(usize, String)>> {
        let quota = &state.quotas[no.at()];
        let sibling = QuotaId::new(&self.with).ok().and_then(|id| state.quota_no(&id));
        let sibling = sibling.map(|sibling| &state.quotas[sibling.at()]);
        let mut own = AmountByName::new();
        let mut theirs = AmountByName::new();
        let mut faults = Vec::new();
        for (at, text) in &self.amounts {
            let Some(dimension) = state.cluster.dimensions.get(*at) else { continue };
            let asked =
                |unit: &str| format!("Enter the {unit} that {} is guaranteed; 0 gives all of them away", quota.id);
            match value(dimension, text, asked) {
                Ok(target) => {
                    own.insert(dimension.name.clone(), target);
                    if let Some(sibling) = sibling.filter(|sibling| sibling.min.states(*at)) {
                        let change = target - quota.min.amount[*at];
                        theirs.insert(dimension.name.clone(), sibling.min.amount[*at] - change);
                    }
                }
                Err(fault) => faults.push((*at, fault)),
            }
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let mut targets = vec![ScaleTarget { quota: quota.id.clone(), min: own }];
        targets.extend(sibling.map(|sibling| ScaleTarget { quota: sibling.id.clone(), min: theirs }));
        Ok(ScaleQuotas { targets, mode: if self.is_evicting { ScaleMode::Evict } else { ScaleMode::Drain } })
    }
}

/// What a quota gives away altogether, and who has it then: a sentence for each quota and dimension that is left with
/// nothing.
#[must_use]
pub fn given_away(state: &State, scale: &ScaleQuotas) -> Vec<String> {
    let sentence = |target: &ScaleTarget, name: &str| {
        let quota = &state.quotas[state.quota_no(&target.quota)?.at()];
        let at = state.cluster.dimensions.iter().position(|dimension| dimension.name == name)?;
        let (dimension, had) = (&state.cluster.dimensions[at], quota.min.amount[at]);
        let receiver = scale.targets.iter().find(|other| other.quota != target.quota && other.min.contains_key(name));
        let to = match (receiver, quota.parent) {
            (Some(receiver), _) => format!(" to {}", receiver.quota),
            (None, Some(parent)) => format!(" to {}", state.quotas[parent.at()].id),
            (None, None) => String::new(),
        };
        (had > 0).then(|| format!("{} gives all of its {}{to} and keeps none.", quota.id, quantity(dimension, had)))
    };
    let emptied = |target: &ScaleTarget| {
        let zero = target.min.iter().filter(|(_, amount)| **amount == 0);
        zero.filter_map(|(name, _)| sentence(target, name)).collect::<Vec<_>>()
    };
    scale.targets.iter().flat_map(emptied).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::quota;
    use crate::example::three_teams;

    fn typed(text: &str, with: &str) -> ScaleDraft {
        ScaleDraft { amounts: vec![(0, text.to_owned())], with: with.to_owned(), is_evicting: false }
    }

    #[test]
    fn an_emptied_amount_gives_nothing_away() {
        let state = three_teams();
        let no = quota(&state, "Quota1.1");
        let asked = "Enter the GPUs that Quota1.1 is guaranteed; 0 gives all of them away".to_owned();
        assert_eq!(typed(" ", "Quota1.2").command(&state, no), Err(vec![(0, asked)]));
        assert!(["many", "-8", "4,5", "0x10"].into_iter().all(|text| typed(text, "").command(&state, no).is_err()));
    }

    #[test]
    fn a_zero_that_was_typed_says_what_it_gives_away() {
        let state = three_teams();
        let no = quota(&state, "Quota1.1");
        let said = |text: &str, with: &str| {
            given_away(&state, &typed(text, with).command(&state, no).expect("the form is complete"))
        };
        assert_eq!(said("0", ""), ["Quota1.1 gives all of its 48 GPUs to Quota1 and keeps none."]);
        assert_eq!(said("0", "Quota1.2"), ["Quota1.1 gives all of its 48 GPUs to Quota1.2 and keeps none."]);
        assert_eq!(said("128", "Quota1.2"), ["Quota1.2 gives all of its 80 GPUs to Quota1.1 and keeps none."]);
        assert_eq!(said("8", "Quota1.2"), [""; 0]);
    }
}
