//! Values each once.

use std::borrow::Borrow;
use std::fmt;
use std::vec;

use serde::Deserialize;
use serde::Deserializer;
use serde::Serialize;
use serde::Serializer;

use super::pieces::Iter;
use super::pieces::Pieces;

/// Values in their order, each once.
#[derive(Clone)]
pub struct Set<T>(Pieces<T>);

impl<T> Set<T> {
    /// A set without members.
    #[must_use]
    pub const fn new() -> Self {
        Self(Pieces::new())
    }

    /// Whether it has no members.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many members it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Forgets all members.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// The members in their order.
    #[must_use]
    pub fn iter(&self) -> Iter<'_, T> {
        self.0.iter()
    }

    /// The first member.
    #[must_use]
    pub fn first(&self) -> Option<&T> {
        self.iter().next()
    }

    /// Keeps the members that pass.
    pub fn retain(&mut self, mut passes: impl FnMut(&T) -> bool) {
        self.0.retain(|member| passes(member));
    }
}

impl<T: Ord> Set<T> {
    /// Whether this is a member.
    pub fn contains<Q: Ord + ?Sized>(&self, member: &Q) -> bool
    where
        T: Borrow<Q>,
    {
        self.0.find(|known| known.borrow().cmp(member)).is_ok()
    }

    /// Makes this a member; whether it was none.
    pub fn insert(&mut self, member: T) -> bool {
        let place = self.0.find(|known| known.cmp(&member));
        place.map_err(|place| self.0.insert(place, member)).is_err()
    }

    /// Takes a member out; whether it was one.
    pub fn remove<Q: Ord + ?Sized>(&mut self, member: &Q) -> bool
    where
        T: Borrow<Q>,
    {
        let place = self.0.find(|known| known.borrow().cmp(member));
        place.map(|place| self.0.remove(place)).is_ok()
    }

    /// The members from this one on.
    pub fn range_from(&self, member: &T) -> Iter<'_, T> {
        self.0.range_from(self.0.find(|known| known.cmp(member)).unwrap_or_else(|place| place))
    }
}

impl<T> Default for Set<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: PartialEq> PartialEq for Set<T> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<T: Eq> Eq for Set<T> {}

impl<T: fmt::Debug> fmt::Debug for Set<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl<T: Ord> FromIterator<T> for Set<T> {
    fn from_iter<I: IntoIterator<Item = T>>(members: I) -> Self {
        let mut set = Self::new();
        set.extend(members);
        set
    }
}

impl<T: Ord> Extend<T> for Set<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, members: I) {
        for member in members {
            self.insert(member);
        }
    }
}

impl<'a, T> IntoIterator for &'a Set<T> {
    type Item = &'a T;
    type IntoIter = Iter<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T: Ord, const N: usize> From<[T; N]> for Set<T> {
    fn from(members: [T; N]) -> Self {
        members.into_iter().collect()
    }
}

impl<T> IntoIterator for Set<T> {
    type Item = T;
    type IntoIter = vec::IntoIter<T>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_list().into_iter()
    }
}

impl<T: Serialize> Serialize for Set<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self)
    }
}

impl<'de, T: Deserialize<'de> + Ord> Deserialize<'de> for Set<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(|members| members.into_iter().collect())
    }
}
