//! Placement: which node takes which pod (rules 1.4).
//!
//! The fullest node on which the pod fits takes it, ties by name, the largest pods of a gang first. A pod that asks
//! for whole GPUs takes empty ones; a pod that asks for less than one shares the fullest GPU on which it fits.
//!
//! 1. [`floor`]: what is free where;
//! 2. [`gang`]: a gang by that rule, and another way to place it where the rule finds none;
//! 3. [`mod@pack`]: the search for other ways, with [`kind`], [`packing`] and what one machine holds;
//! 4. [`proof`]: whether a gang fits on empty machines at all.

mod elsewhere;
mod fill;
pub mod floor;
pub mod gang;
pub mod pack;
pub mod packing;
pub mod pod_kind;
pub mod proof;

use crate::state::cluster::Cluster;
use crate::unit::amount::Amount;
use crate::unit::amount::DIMENSIONS_MAX;
use crate::unit::amount::GPU;
use crate::unit::limit::NODE_GPUS_MAX;

/// What a node has free. During a grace period an amount may be held by a victim and by the job it was evicted for:
/// then it is negative, and nobody else can take it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeUse {
    /// What is free in each dimension.
    pub free: Amount,
    /// What is free of each GPU, in thousandths.
    pub gpus: [i16; NODE_GPUS_MAX],
    /// The position of the node's GPU dimension.
    pub gpu_dimension: Option<usize>,
}

impl NodeUse {
    /// An empty node.
    #[must_use]
    pub fn empty(cluster: &Cluster, amount: &Amount) -> Self {
        let gpu_dimension = cluster.gpu_dimension(amount);
        let count = gpu_dimension.map_or(0, |at| usize::try_from(amount[at] / GPU).unwrap_or(0));
        let mut gpus = [0; NODE_GPUS_MAX];
        gpus.iter_mut().take(count).for_each(|gpu| *gpu = 1000);
        Self { free: *amount, gpus, gpu_dimension }
    }

    /// The GPUs that a pod would take here, as bits; nothing if it does not fit.
    #[must_use]
    pub fn fit(&self, pod: &Amount) -> Option<u16> {
        if !pod.fits_in(&self.free) {
            return None;
        }
        let asked = self.gpu_dimension.map_or(0, |at| pod[at]);
        if asked == 0 { Some(0) } else { self.pick_gpus(asked) }
    }

    fn pick_gpus(&self, asked: i64) -> Option<u16> {
        if asked < GPU {
            let fits = |gpu: i16| i64::from(gpu) >= asked;
            let best = (0..NODE_GPUS_MAX).filter(|&at| fits(self.gpus[at])).min_by_key(|&at| (self.gpus[at], at))?;
            return Some(1 << best);
        }
        let mut bits = 0u16;
        let mut left = asked / GPU;
        for at in (0..NODE_GPUS_MAX).filter(|&at| self.gpus[at] == 1000) {
            if left == 0 {
                break;
            }
            bits |= 1 << at;
            left -= 1;
        }
        (left == 0).then_some(bits)
    }

    /// Takes what a pod needs.
    pub fn take(&mut self, pod: &Amount, gpus: u16) {
        self.free -= *pod;
        self.shift_gpus(pod, gpus, -1);
    }

    /// Gives back what a pod held.
    pub fn give(&mut self, pod: &Amount, gpus: u16) {
        self.free += *pod;
        self.shift_gpus(pod, gpus, 1);
    }

    fn shift_gpus(&mut self, pod: &Amount, gpus: u16, sign: i16) {
        let asked = self.gpu_dimension.map_or(0, |at| pod[at]);
        let each = i16::try_from(asked.min(GPU)).unwrap_or(1000) * sign;
        let mut left = gpus;
        while left != 0 {
            self.gpus[left.trailing_zeros() as usize] += each;
            left &= left - 1;
        }
    }

    /// What is free in the dimension of the node's GPUs.
    #[must_use]
    pub fn free_gpus(&self) -> i64 {
        self.gpu_dimension.map_or(0, |at| self.free[at])
    }

    /// GPUs of which nothing is taken.
    #[must_use]
    pub fn untouched_gpus(&self) -> i64 {
        self.gpus.iter().map(|free| i64::from(*free == 1000)).sum()
    }

    /// What a pod of this size could take in a dimension: a share of one GPU, whole GPUs that are empty, or whatever is
    /// free of anything else.
    #[must_use]
    pub fn free_for(&self, pod: &Amount, dimension: usize) -> i64 {
        if self.gpu_dimension != Some(dimension) {
            return self.free[dimension];
        }
        if pod[dimension] < GPU {
            return self.gpus.iter().copied().max().map_or(0, i64::from);
        }
        let empty = self.gpus.iter().filter(|gpu| **gpu == 1000).count();
        i64::try_from(empty).unwrap_or(i64::MAX).saturating_mul(GPU)
    }

    /// How many pods of this amount would fit.
    #[must_use]
    pub fn slots(&self, pod: &Amount) -> i64 {
        // Most nodes are full while victims are looked for: one comparison tells, and nothing is divided.
        if self.gpu_dimension.is_some_and(|at| pod[at] > self.free[at].max(0)) {
            return 0;
        }
        let by_amount =
            (0..DIMENSIONS_MAX).filter(|&at| pod[at] > 0).map(|at| self.free[at].max(0) / pod[at]).min().unwrap_or(0);
        let asked = self.gpu_dimension.map_or(0, |at| pod[at]);
        if asked == 0 || by_amount == 0 {
            return by_amount;
        }
        let by_gpu: i64 = if asked < GPU {
            self.gpus.iter().map(|free| i64::from(*free).max(0) / asked).sum()
        } else {
            self.untouched_gpus() / (asked / GPU)
        };
        by_gpu.min(by_amount)
    }
}
