//! Numbered values, and a draft over them: reads go to the base until something is changed.
//!
//! A round tries many things before it decides one. It works on drafts, so that it never has to undo, and pays
//! only for what it touches.

use std::collections::BTreeMap;

/// Values that are found by their number and can be changed.
pub trait Slots<T> {
    /// The value at `at`.
    fn get(&self, at: usize) -> &T;
    /// The value at `at`, to change it.
    fn get_mut(&mut self, at: usize) -> &mut T;
}

impl<T> Slots<T> for Vec<T> {
    fn get(&self, at: usize) -> &T {
        &self[at]
    }

    fn get_mut(&mut self, at: usize) -> &mut T {
        &mut self[at]
    }
}

/// Changes over a list that stays as it is.
#[derive(Clone, Debug)]
pub struct Draft<'base, T> {
    base: &'base [T],
    changed: BTreeMap<usize, T>,
}

impl<'base, T> Draft<'base, T> {
    /// A draft without changes.
    #[must_use]
    pub fn over(base: &'base [T]) -> Self {
        Self { base, changed: BTreeMap::new() }
    }

    /// The numbers and values that differ from the base, or may.
    pub fn changes(&self) -> impl Iterator<Item = (usize, &T)> {
        self.changed.iter().map(|(at, value)| (*at, value))
    }

    /// Whether the value at `at` may differ from the base.
    #[must_use]
    pub fn is_changed(&self, at: usize) -> bool {
        !self.changed.is_empty() && self.changed.contains_key(&at)
    }
}

impl<T: Clone> Slots<T> for Draft<'_, T> {
    fn get(&self, at: usize) -> &T {
        if self.changed.is_empty() {
            return &self.base[at];
        }
        self.changed.get(&at).unwrap_or_else(|| &self.base[at])
    }

    fn get_mut(&mut self, at: usize) -> &mut T {
        let base = self.base;
        self.changed.entry(at).or_insert_with(|| base[at].clone())
    }
}
