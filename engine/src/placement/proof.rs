//! Whether a gang fits on machines on which nothing runs: that it does not is said with a proof, or not at all.
//!
//! The bounds come first, since they tell more: a pod that no machine can hold, more pods of a size than there is room
//! for, more in all than there is. What they leave open is searched for, exactly and within a step budget.

use crate::job::never::Never;
use crate::job::shape::Role;
use crate::placement::NodeUse;
use crate::placement::pack::pack;
use crate::placement::packing::Bin;
use crate::placement::packing::Packing;
use crate::placement::packing::Steps;
use crate::placement::pod_kind::PodKind;
use crate::state::cluster::Cluster;
use crate::unit::amount::Amount;
use crate::unit::amount::DIMENSIONS_MAX;
use crate::unit::ordered::Map;
use crate::unit::sort;

/// Steps that the search may take.
const STEPS_MAX: u32 = 5_000;

/// What is known of a gang on empty machines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// There is a way to place it.
    Fits,
    /// There is none, and why.
    Never(Never),
    /// So many steps did not tell.
    Unknown {
        /// Steps that were taken.
        steps: u32,
    },
}

/// Whether a gang fits on machines, given as how many of each kind there are.
#[must_use]
pub fn on_empty(cluster: &Cluster, machines: &Map<Amount, u32>, roles: &[Role]) -> Verdict {
    let kinds = PodKind::of(cluster, roles);
    let mut bins: Vec<Bin> =
        machines.iter().map(|(amount, count)| Bin { node: NodeUse::empty(cluster, amount), count: *count }).collect();
    // As a gang is placed: the fullest first.
    let lane = |bin: &Bin| bin.node.gpu_dimension.unwrap_or(DIMENSIONS_MAX);
    sort::by_key(&mut bins, |bin| (std::cmp::Reverse(lane(bin)), bin.node.free_gpus(), bin.node.free));
    if let Some(never) =
        too_large(&bins, &kinds).or_else(|| too_much(&bins, &kinds)).or_else(|| too_many(&bins, &kinds))
    {
        return Verdict::Never(never);
    }
    let mut steps = Steps::new(STEPS_MAX);
    match pack(&bins, &kinds, &mut steps) {
        Packing::Found(_) => Verdict::Fits,
        Packing::Nowhere => Verdict::Never(Never::Tried { pods: pods(&kinds), steps: steps.taken() }),
        Packing::Unsolved => Verdict::Unknown { steps: steps.taken() },
    }
}

/// How many pods of one size find room on empty machines.
#[must_use]
pub fn slots_of(cluster: &Cluster, machines: &Map<Amount, u32>, pod: &Amount) -> i64 {
    let one = |amount| NodeUse::empty(cluster, amount).slots(pod);
    machines
        .iter()
        .fold(0, |sum: i64, (amount, count)| sum.saturating_add(one(amount).saturating_mul(i64::from(*count))))
}

fn pods(kinds: &[PodKind]) -> u32 {
    kinds.iter().fold(0, |sum, kind| sum.saturating_add(kind.count))
}

fn slots(bins: &[Bin], pod: &Amount) -> i64 {
    bins.iter().fold(0, |sum: i64, bin| sum.saturating_add(bin.node.slots(pod).saturating_mul(i64::from(bin.count))))
}

/// A pod that no machine can hold.
fn too_large(bins: &[Bin], kinds: &[PodKind]) -> Option<Never> {
    let kind = kinds.iter().find(|kind| slots(bins, &kind.amount) == 0)?;
    Some(Never::Pod { pod: kind.amount })
}

/// More in all than there is.
fn too_much(bins: &[Bin], kinds: &[PodKind]) -> Option<Never> {
    let total = bins.iter().fold(Amount::ZERO, |sum, bin| sum.plus(&bin.node.free.times(bin.count)));
    let asked = kinds.iter().fold(Amount::ZERO, |sum, kind| sum.plus(&kind.amount.times(kind.count)));
    let at = asked.first_over(&total)?;
    let dimension = u8::try_from(at).unwrap_or(u8::MAX);
    Some(Never::Sum { pods: pods(kinds), dimension, asked: asked[at], total: total[at] })
}

/// More pods of a size, or larger, than there is room for pods of that size.
fn too_many(bins: &[Bin], kinds: &[PodKind]) -> Option<Never> {
    let of = pods(kinds);
    let count = |kinds: &[&PodKind]| {
        let pod = kinds.iter().skip(1).fold(kinds.first()?.amount, |least, kind| least.lesser(&kind.amount));
        let pods = kinds.iter().fold(0u32, |sum, kind| sum.saturating_add(kind.count));
        let fit = if pod.is_zero() { i64::MAX } else { slots(bins, &pod) };
        let fit = u32::try_from(fit).unwrap_or(u32::MAX);
        (fit < pods).then_some(Never::Count { pods, of, pod, fit })
    };
    let alone = kinds.iter().find_map(|kind| count(&[kind]));
    alone.or_else(|| {
        let asked = kinds.iter().fold(Amount::ZERO, |sum, kind| sum.plus(&kind.amount));
        let dimensions: Vec<usize> = asked.dimensions().collect();
        dimensions.into_iter().find_map(|at| {
            let mut order: Vec<&PodKind> = kinds.iter().filter(|kind| kind.amount[at] > 0).collect();
            sort::by_key(&mut order, |kind| std::cmp::Reverse(kind.amount[at]));
            (2..=order.len()).find_map(|upto| count(&order[..upto]))
        })
    })
}
