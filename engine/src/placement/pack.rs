//! Exact packing: whether pods of several kinds fit on machines, by trying every way that matters.
//!
//! Machine by machine it tries what the machine could hold, fullest fill first. Only fills that leave no room for any
//! pod that is still to be placed are tried: with another one that pod could move here from where it is. Machines that
//! have the same are interchangeable, and so are pods that need the same: what is left to place on the machines that
//! are left is tried once. The search keeps its own stack, and a step budget ends it.

use crate::placement::NodeUse;
use crate::placement::fill::Filler;
use crate::placement::packing::Bin;
use crate::placement::packing::Load;
use crate::placement::packing::OutOfSteps;
use crate::placement::packing::Packing;
use crate::placement::packing::Steps;
use crate::placement::pod_kind::PodKind;
use crate::unit::amount::Amount;
use crate::unit::amount::GPU;
use crate::unit::ordered::Set;

/// Packs all pods of these kinds into bins; the bins are filled in their order, the kinds in theirs.
#[must_use]
pub fn pack(bins: &[Bin], kinds: &[PodKind], steps: &mut Steps) -> Packing {
    match Search::new(bins, kinds).run(steps) {
        Ok(Some(loads)) => Packing::Found(loads),
        Ok(None) => Packing::Nowhere,
        Err(OutOfSteps) => Packing::Unsolved,
    }
}

/// What machines could hold at most, by simple sums.
#[derive(Clone, Debug)]
struct Most {
    /// How many pods of each kind, if there were no others.
    slots: Vec<i64>,
    free: Amount,
    /// GPUs of which nothing is taken, in thousandths.
    untouched: Amount,
}

impl Most {
    fn nothing(kinds: usize) -> Self {
        Self { slots: vec![0; kinds], free: Amount::ZERO, untouched: Amount::ZERO }
    }

    fn of(node: &NodeUse, kinds: &[PodKind]) -> Self {
        let slots = kinds.iter().map(|kind| node.slots(&kind.amount)).collect();
        let untouched = node.gpu_dimension.map_or(Amount::ZERO, |at| Amount::of(at, node.untouched_gpus() * GPU));
        Self { slots, free: node.free.positive(), untouched }
    }

    /// This and `count` times that.
    fn plus(&self, that: &Self, count: u32) -> Self {
        let slots = self.slots.iter().zip(&that.slots);
        Self {
            slots: slots.map(|(a, b)| a.saturating_add(b.saturating_mul(i64::from(count)))).collect(),
            free: self.free.plus(&that.free.times(count)),
            untouched: self.untouched.plus(&that.untouched.times(count)),
        }
    }
}

/// A machine that is being filled.
struct Frame {
    bin: usize,
    nth: u32,
    /// Pods that are still to be placed, here or later.
    left: Vec<u32>,
    /// Those that are placed here.
    fill: Option<Vec<u32>>,
}

struct Search<'a> {
    bins: &'a [Bin],
    kinds: &'a [PodKind],
    /// Of one machine of each bin.
    each: Vec<Most>,
    /// Of all bins from a position on.
    from: Vec<Most>,
    /// What could not be placed on the machines from one on.
    failed: Set<(usize, u32, Vec<u32>)>,
}

impl<'a> Search<'a> {
    fn new(bins: &'a [Bin], kinds: &'a [PodKind]) -> Self {
        let each: Vec<Most> = bins.iter().map(|bin| Most::of(&bin.node, kinds)).collect();
        let mut from = vec![Most::nothing(kinds.len())];
        for (bin, one) in bins.iter().zip(&each).rev() {
            let rest = from.last().map(|rest| rest.plus(one, bin.count));
            from.extend(rest);
        }
        from.reverse();
        Self { bins, kinds, each, from, failed: Set::new() }
    }

    fn run(mut self, steps: &mut Steps) -> Result<Option<Vec<Load>>, OutOfSteps> {
        let left: Vec<u32> = self.kinds.iter().map(|kind| kind.count).collect();
        if left.iter().all(|count| *count == 0) {
            return Ok(Some(Vec::new()));
        }
        let mut stack = Vec::new();
        stack.extend(self.frame(0, 0, left));
        while let Some(frame) = stack.last_mut() {
            let Some(fill) = self.next_fill(frame, steps)? else {
                let failed = (frame.bin, frame.nth, std::mem::take(&mut frame.left));
                self.failed.insert(failed);
                stack.pop();
                continue;
            };
            let left: Vec<u32> = frame.left.iter().zip(&fill).map(|(left, here)| left - here).collect();
            let (bin, nth, is_idle) = (frame.bin, frame.nth, fill.iter().all(|count| *count == 0));
            frame.fill = Some(fill);
            if left.iter().all(|count| *count == 0) {
                return Ok(Some(stack.into_iter().filter_map(Frame::load).collect()));
            }
            // Where one machine cannot hold anything, its equals cannot either.
            let is_last = is_idle || nth + 1 == self.bins[bin].count;
            let next = if is_last { self.frame(bin + 1, 0, left) } else { self.frame(bin, nth + 1, left) };
            stack.extend(next);
        }
        Ok(None)
    }

    /// The machine as one to be filled, if what is left may fit on it and on those behind it.
    fn frame(&self, bin: usize, nth: u32, left: Vec<u32>) -> Option<Frame> {
        let machines = self.bins.get(bin)?.count - nth;
        let most = self.from[bin + 1].plus(&self.each[bin], machines);
        let (mut asked, mut whole) = (Amount::ZERO, Amount::ZERO);
        for (kind, count) in self.kinds.iter().zip(&left) {
            let amount = kind.amount.times(*count);
            asked += amount;
            for at in most.untouched.dimensions().filter(|at| kind.share(*at) == 0) {
                whole[at] = whole[at].saturating_add(amount[at]);
            }
        }
        let may_fit = asked.fits_in(&most.free)
            && whole.fits_in(&most.untouched)
            && left.iter().zip(&most.slots).all(|(left, slots)| i64::from(*left) <= *slots);
        let key = (bin, nth, left);
        let is_new = may_fit && !self.failed.contains(&key);
        is_new.then_some(Frame { bin, nth, left: key.2, fill: None })
    }

    /// The next fill of a machine that leaves no room for any other pod, in falling order.
    fn next_fill(&self, frame: &Frame, steps: &mut Steps) -> Result<Option<Vec<u32>>, OutOfSteps> {
        let filler = Filler { node: &self.bins[frame.bin].node, kinds: self.kinds, pack };
        if frame.bin + 1 == self.bins.len() && frame.nth + 1 == self.bins[frame.bin].count {
            // The last machine has to take all that is left.
            steps.take()?;
            let fits = frame.fill.is_none() && filler.holds(&frame.left, steps)?;
            return Ok(fits.then(|| frame.left.clone()));
        }
        let Some(mut fill) = frame.fill.clone() else {
            steps.take()?;
            return filler.filled(vec![0; self.kinds.len()], 0, &frame.left, steps).map(Some);
        };
        while let Some(at) = fill.iter().rposition(|count| *count > 0) {
            steps.take()?;
            fill[at] -= 1;
            fill = filler.filled(fill, at + 1, &frame.left, steps)?;
            if !filler.has_room(&fill, at, &frame.left, steps)? {
                return Ok(Some(fill));
            }
        }
        Ok(None)
    }
}

impl Frame {
    fn load(self) -> Option<Load> {
        let Self { bin, nth, left: _, fill } = self;
        fill.map(|pods| Load { bin, nth, pods })
    }
}
