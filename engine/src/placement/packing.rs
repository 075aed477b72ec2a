//! What a packing is made of: machines to fill, a budget of steps, and what comes out.

use crate::placement::NodeUse;
use crate::placement::pod_kind::PodKind;

/// Machines that have the same free.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bin {
    /// What each of them has free.
    pub node: NodeUse,
    /// How many there are.
    pub count: u32,
}

/// What one machine takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Load {
    /// The bin, by its position.
    pub bin: usize,
    /// Which of its machines.
    pub nth: u32,
    /// How many pods of each kind.
    pub pods: Vec<u32>,
}

/// What a search has found out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Packing {
    /// A way to place all pods.
    Found(Vec<Load>),
    /// There is none.
    Nowhere,
    /// The budget was used up first.
    Unsolved,
}

/// A step budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steps {
    taken: u32,
    limit: u32,
}

/// A step budget is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfSteps;

impl Steps {
    /// A budget of so many steps.
    #[must_use]
    pub fn new(limit: u32) -> Self {
        Self { taken: 0, limit }
    }

    /// Steps that were taken.
    #[must_use]
    pub fn taken(&self) -> u32 {
        self.taken
    }

    pub(super) fn take(&mut self) -> Result<(), OutOfSteps> {
        if self.taken >= self.limit {
            return Err(OutOfSteps);
        }
        self.taken += 1;
        Ok(())
    }
}

/// A search for a packing.
pub(super) type Pack = fn(&[Bin], &[PodKind], &mut Steps) -> Packing;
