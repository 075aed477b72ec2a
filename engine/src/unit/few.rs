//! A list that mostly is empty, and takes no room of its own then.

use std::ops::Deref;
use std::ops::DerefMut;

use serde::Deserialize;
use serde::Deserializer;
use serde::Serialize;
use serde::Serializer;

/// For how many values room is made at first.
const FIRST: usize = 2;

/// Values in their order: one word where there are none.
#[derive(Clone, Debug)]
#[expect(clippy::box_collection, reason = "the list is rarely there, and then its three words would be as well")]
pub struct Few<T>(Option<Box<Vec<T>>>);

impl<T> Few<T> {
    /// No values.
    #[must_use]
    pub fn new() -> Self {
        Self(None)
    }

    /// Adds a value at the end.
    pub fn push(&mut self, value: T) {
        self.0.get_or_insert_with(|| Box::new(Vec::with_capacity(FIRST))).push(value);
    }

    /// Takes the value at a position out, if there is one; those behind it move up.
    pub fn remove(&mut self, at: usize) -> Option<T> {
        let list = self.0.as_mut()?;
        (at < list.len()).then(|| list.remove(at))
    }

    /// Keeps the values of which this is true, asked in their order.
    pub fn retain(&mut self, is_kept: impl FnMut(&T) -> bool) {
        if let Some(list) = &mut self.0 {
            list.retain(is_kept);
        }
    }
}

impl<T> Default for Few<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Deref for Few<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        self.0.as_deref().map_or(&[], Vec::as_slice)
    }
}

impl<T> DerefMut for Few<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        self.0.as_deref_mut().map_or(&mut [], Vec::as_mut_slice)
    }
}

/// Lists are equal when their values are, whether or not there once were more.
impl<T: PartialEq> PartialEq for Few<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq> Eq for Few<T> {}

impl<'a, T> IntoIterator for &'a Few<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T: Serialize> Serialize for Few<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Few<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let list = Vec::deserialize(deserializer)?;
        Ok(Self((!list.is_empty()).then(|| Box::new(list))))
    }
}

#[cfg(test)]
mod tests {
    use super::Few;

    #[test]
    fn what_has_become_empty_equals_what_always_was() {
        let mut few = Few::new();
        few.push(1);
        few.push(2);
        assert_eq!((few.remove(0), &*few), (Some(1), &[2][..]));
        assert_eq!((few.remove(0), few.remove(0)), (Some(2), None));
        assert_eq!(few, Few::new());
    }

    #[test]
    fn an_empty_list_is_one_word() {
        assert_eq!(size_of::<Few<[u64; 9]>>(), size_of::<usize>());
    }
}
