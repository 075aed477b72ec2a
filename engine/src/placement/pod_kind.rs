//! Kinds of pods: a gang's pods that need the same are interchangeable, whatever their roles.

use crate::job::shape::Role;
use crate::state::cluster::Cluster;
use crate::unit::amount::Amount;
use crate::unit::amount::GPU;
use crate::unit::sort;

/// Equal pods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodKind {
    /// What each of them needs.
    pub amount: Amount,
    /// How many there are.
    pub count: u32,
}

impl PodKind {
    /// The kinds of pods in these roles, the largest first. Pods that need nothing are in nobody's way and left out.
    #[must_use]
    pub fn of(cluster: &Cluster, roles: &[Role]) -> Vec<Self> {
        let mut kinds: Vec<Self> = Vec::with_capacity(roles.len());
        for role in roles.iter().filter(|role| !role.amount.is_zero()) {
            match kinds.iter_mut().find(|kind| kind.amount == role.amount) {
                Some(kind) => kind.count = kind.count.saturating_add(role.count),
                None => kinds.push(Self { amount: role.amount, count: role.count }),
            }
        }
        sort::by_key(&mut kinds, |kind| {
            (std::cmp::Reverse(cluster.gpus(&kind.amount)), std::cmp::Reverse(kind.amount))
        });
        kinds
    }

    /// Whole GPUs of a dimension that each pod takes for itself.
    #[must_use]
    pub fn whole_gpus(&self, dimension: usize) -> i64 {
        self.amount[dimension] / GPU
    }

    /// The part of one GPU of a dimension that each pod needs, in thousandths.
    #[must_use]
    pub fn share(&self, dimension: usize) -> i64 {
        if self.amount[dimension] < GPU { self.amount[dimension] } else { 0 }
    }
}
