//! What one machine can hold of several kinds of pods together, and which of its GPUs they take.

use crate::placement::NodeUse;
use crate::placement::packing::Bin;
use crate::placement::packing::OutOfSteps;
use crate::placement::packing::Pack;
use crate::placement::packing::Packing;
use crate::placement::packing::Steps;
use crate::placement::pod_kind::PodKind;
use crate::unit::amount::Amount;
use crate::unit::amount::DIMENSIONS_MAX;
use crate::unit::limit::NODE_GPUS_MAX;
use crate::unit::sort;

/// A machine, and kinds of pods, the largest first.
pub(super) struct Filler<'a> {
    pub(super) node: &'a NodeUse,
    pub(super) kinds: &'a [PodKind],
    /// Splits GPUs among pods where the simple way fails: a packing in one dimension.
    pub(super) pack: Pack,
}

impl Filler<'_> {
    /// A fill with as many pods of each kind as fit, one kind after the other. Of the kinds from `from` on it has none
    /// yet.
    pub(super) fn filled(
        &self,
        mut fill: Vec<u32>,
        from: usize,
        left: &[u32],
        steps: &mut Steps,
    ) -> Result<Vec<u32>, OutOfSteps> {
        for at in from..fill.len() {
            fill[at] = self.most(&fill, at).min(left[at]);
            if self.gpus_hold(&fill, steps)? {
                continue;
            }
            // Where sums suffice, parts of GPUs may still not.
            let (mut fits, mut too_many) = (0, fill[at]);
            while too_many - fits > 1 {
                fill[at] = fits + (too_many - fits) / 2;
                if self.gpus_hold(&fill, steps)? {
                    fits = fill[at];
                } else {
                    too_many = fill[at];
                }
            }
            fill[at] = fits;
        }
        Ok(fill)
    }

    /// Whether a pod of one of the kinds up to `last` fits beside a fill, as far as any is left.
    pub(super) fn has_room(
        &self,
        fill: &[u32],
        last: usize,
        left: &[u32],
        steps: &mut Steps,
    ) -> Result<bool, OutOfSteps> {
        let mut more = fill.to_vec();
        for at in (0..=last).filter(|&at| fill[at] < left[at]) {
            more[at] += 1;
            if self.holds(&more, steps)? {
                return Ok(true);
            }
            more[at] -= 1;
        }
        Ok(false)
    }

    /// Whether the machine holds all of a fill.
    pub(super) fn holds(&self, fill: &[u32], steps: &mut Steps) -> Result<bool, OutOfSteps> {
        Ok(self.amount(fill).fits_in(&self.node.free) && self.gpus_hold(fill, steps)?)
    }

    /// The GPUs for each pod of a fill that the machine holds, as bits, kind by kind.
    pub(super) fn gpus(&self, fill: &[u32], steps: &mut Steps) -> Result<Option<Vec<Vec<u16>>>, OutOfSteps> {
        let mut bits: Vec<Vec<u16>> = fill.iter().map(|count| vec![0; *count as usize]).collect();
        let Some(dimension) = self.node.gpu_dimension else { return Ok(Some(bits)) };
        let mut untouched = (0..NODE_GPUS_MAX).filter(|&gpu| self.node.gpus[gpu] == 1000);
        for (kind, pods) in self.kinds.iter().zip(&mut bits).filter(|(kind, _)| kind.share(dimension) == 0) {
            for pod in pods {
                for _ in 0..kind.whole_gpus(dimension) {
                    let Some(gpu) = untouched.next() else { return Ok(None) };
                    *pod |= 1 << gpu;
                }
            }
        }
        let Some(shared) = self.split(fill, dimension, steps)? else { return Ok(None) };
        let mut taken = vec![0; fill.len()];
        for (kind, gpu) in shared {
            bits[kind][taken[kind]] = 1 << gpu;
            taken[kind] += 1;
        }
        Ok(Some(bits))
    }

    fn amount(&self, fill: &[u32]) -> Amount {
        let counted = self.kinds.iter().zip(fill).filter(|(_, count)| **count > 0);
        counted.fold(Amount::ZERO, |sum, (kind, count)| sum.plus(&kind.amount.times(*count)))
    }

    /// How many pods of a kind fit beside a fill, as far as sums tell.
    fn most(&self, fill: &[u32], at: usize) -> u32 {
        let kind = &self.kinds[at];
        let free = self.node.free.minus(&self.amount(fill));
        let by_amount =
            (0..DIMENSIONS_MAX).filter(|&at| kind.amount[at] > 0).map(|at| free[at].max(0) / kind.amount[at]);
        let by_gpus = self.node.gpu_dimension.and_then(|dimension| {
            let left = self.node.untouched_gpus() - self.whole_gpus(fill, dimension);
            left.max(0).checked_div(kind.whole_gpus(dimension))
        });
        by_amount.chain(by_gpus).min().map_or(0, |most| u32::try_from(most).unwrap_or(u32::MAX))
    }

    /// Whole GPUs that a fill takes.
    fn whole_gpus(&self, fill: &[u32], dimension: usize) -> i64 {
        let each = self.kinds.iter().zip(fill);
        each.map(|(kind, count)| kind.whole_gpus(dimension).saturating_mul(i64::from(*count))).sum()
    }

    fn gpus_hold(&self, fill: &[u32], steps: &mut Steps) -> Result<bool, OutOfSteps> {
        let Some(dimension) = self.node.gpu_dimension else { return Ok(true) };
        if self.whole_gpus(fill, dimension) > self.node.untouched_gpus() {
            return Ok(false);
        }
        let mut shared = self.kinds.iter().zip(fill).filter(|(kind, count)| **count > 0 && kind.share(dimension) > 0);
        match (shared.next(), shared.next()) {
            (None, _) => Ok(true),
            (Some((kind, count)), None) => {
                let gpus = self.shared_gpus(fill, dimension);
                let slots: i64 = gpus.iter().map(|(free, _)| free / kind.share(dimension)).sum();
                Ok(slots >= i64::from(*count))
            }
            (Some(_), Some(_)) => self.split(fill, dimension, steps).map(|split| split.is_some()),
        }
    }

    /// GPUs on which parts are free, those excepted that a fill takes as a whole: what is free, and which one it is, the
    /// fullest first.
    fn shared_gpus(&self, fill: &[u32], dimension: usize) -> Vec<(i64, usize)> {
        let mut whole = self.whole_gpus(fill, dimension);
        let mut gpus: Vec<(i64, usize)> = Vec::with_capacity(NODE_GPUS_MAX);
        for (at, free) in self.node.gpus.iter().enumerate().filter(|(_, free)| **free > 0) {
            if *free == 1000 && whole > 0 {
                whole -= 1;
            } else {
                gpus.push((i64::from(*free), at));
            }
        }
        sort::by_key(&mut gpus, |gpu| *gpu);
        gpus
    }

    /// A GPU for each pod of a fill that shares one: each on the fullest, or else by trying every way that matters.
    fn split(
        &self,
        fill: &[u32],
        dimension: usize,
        steps: &mut Steps,
    ) -> Result<Option<Vec<(usize, usize)>>, OutOfSteps> {
        let gpus = self.shared_gpus(fill, dimension);
        let each = self.kinds.iter().map(|kind| kind.share(dimension)).zip(fill).enumerate();
        let shares: Vec<Share> = each
            .filter(|(_, (size, count))| *size > 0 && **count > 0)
            .map(|(kind, (size, count))| Share { kind, size, count: *count })
            .collect();
        let asked: i64 = shares.iter().map(|share| share.size.saturating_mul(i64::from(share.count))).sum();
        if asked > gpus.iter().map(|(free, _)| free).sum() {
            return Ok(None);
        }
        split_largest_first(&gpus, &shares)
            .map_or_else(|| split_exactly(&gpus, &shares, self.pack, steps), |found| Ok(Some(found)))
    }
}

/// Equal pods that share GPUs.
struct Share {
    kind: usize,
    size: i64,
    count: u32,
}

fn split_largest_first(gpus: &[(i64, usize)], shares: &[Share]) -> Option<Vec<(usize, usize)>> {
    let mut gpus = gpus.to_vec();
    let mut split = Vec::new();
    for share in shares {
        for _ in 0..share.count {
            let (free, gpu) = gpus.iter_mut().filter(|(free, _)| *free >= share.size).min()?;
            *free -= share.size;
            split.push((share.kind, *gpu));
        }
    }
    Some(split)
}

/// GPUs are packed as machines are, in one dimension.
fn split_exactly(
    gpus: &[(i64, usize)],
    shares: &[Share],
    pack: Pack,
    steps: &mut Steps,
) -> Result<Option<Vec<(usize, usize)>>, OutOfSteps> {
    let alone = |free: i64| NodeUse { free: Amount::of(0, free), gpus: [0; NODE_GPUS_MAX], gpu_dimension: None };
    let mut bins: Vec<Bin> = Vec::new();
    for (free, _) in gpus {
        match bins.last_mut().filter(|bin| bin.node.free[0] == *free) {
            Some(bin) => bin.count += 1,
            None => bins.push(Bin { node: alone(*free), count: 1 }),
        }
    }
    let kinds: Vec<PodKind> =
        shares.iter().map(|share| PodKind { amount: Amount::of(0, share.size), count: share.count }).collect();
    let loads = match pack(&bins, &kinds, steps) {
        Packing::Found(loads) => loads,
        Packing::Nowhere => return Ok(None),
        Packing::Unsolved => return Err(OutOfSteps),
    };
    let mut split = Vec::new();
    for load in loads {
        let before: u32 = bins[..load.bin].iter().map(|bin| bin.count).sum();
        let (_, gpu) = gpus[(before + load.nth) as usize];
        for (share, count) in shares.iter().zip(load.pods) {
            split.extend((0..count).map(|_| (share.kind, gpu)));
        }
    }
    Ok(Some(split))
}
