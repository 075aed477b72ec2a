//! Values by key.

use std::borrow::Borrow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Index;
use std::vec;

use serde::Deserialize;
use serde::Deserializer;
use serde::Serialize;
use serde::Serializer;
use serde::de::MapAccess;
use serde::de::Visitor;

use super::pieces::Iter;
use super::pieces::Pieces;

/// Values by key, in the order of the keys.
#[derive(Clone)]
pub struct Map<K, V>(Pieces<(K, V)>);

impl<K, V> Map<K, V> {
    /// A map without entries.
    #[must_use]
    pub const fn new() -> Self {
        Self(Pieces::new())
    }

    /// Whether it has no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many entries it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Forgets all entries.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// The entries in the order of their keys.
    #[must_use]
    pub fn iter(&self) -> Entries<'_, K, V> {
        Entries(self.0.iter())
    }

    /// The keys in their order.
    #[must_use]
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> + Clone {
        self.0.iter().map(|(key, _)| key)
    }

    /// The values in the order of their keys.
    #[must_use]
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> + Clone {
        self.0.iter().map(|(_, value)| value)
    }

    /// The values in the order of their keys, to change them.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.0.iter_mut().map(|(_, value)| value)
    }

    /// The values in the order of their keys.
    pub fn into_values(self) -> impl Iterator<Item = V> {
        self.0.into_list().into_iter().map(|(_, value)| value)
    }

    /// Keeps the entries that pass.
    pub fn retain(&mut self, mut passes: impl FnMut(&K, &mut V) -> bool) {
        self.0.retain(|(key, value)| passes(key, value));
    }
}

impl<K: Ord, V> Map<K, V> {
    /// The value of a key.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let place = self.0.find(|(known, _)| known.borrow().cmp(key)).ok()?;
        self.0.get(place).map(|(_, value)| value)
    }

    /// The key as it is known, with its value.
    pub fn get_key_value(&self, key: &K) -> Option<(&K, &V)> {
        let place = self.0.find(|(known, _)| known.cmp(key)).ok()?;
        self.0.get(place).map(|(known, value)| (known, value))
    }

    /// The value of a key, to change it.
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let place = self.0.find(|(known, _)| known.borrow().cmp(key)).ok()?;
        self.0.get_mut(place).map(|(_, value)| value)
    }

    /// Whether a key has a value.
    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.get(key).is_some()
    }

    /// Gives a key this value; the one that it had.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.0.find(|(known, _)| known.cmp(&key)) {
            Ok(place) => self.0.get_mut(place).map(|(_, known)| std::mem::replace(known, value)),
            Err(place) => {
                self.0.insert(place, (key, value));
                None
            }
        }
    }

    /// The value of a key; where it has none, it gets this one.
    pub fn or_insert_with(&mut self, key: K, value: impl FnOnce() -> V) -> &mut V {
        let place = match self.0.find(|(known, _)| known.cmp(&key)) {
            Ok(place) => place,
            Err(place) => self.0.insert(place, (key, value())),
        };
        &mut self.0.at(place).1
    }

    /// The value of a key; where it has none, it gets an empty one.
    pub fn or_default(&mut self, key: K) -> &mut V
    where
        V: Default,
    {
        self.or_insert_with(key, V::default)
    }

    /// Takes a key out; the value that it had.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let place = self.0.find(|(known, _)| known.borrow().cmp(key)).ok()?;
        Some(self.0.remove(place).1)
    }

    /// The values before and after a key.
    pub fn beside(&self, key: &K) -> (Option<&V>, Option<&V>) {
        let (before, after) = match self.0.find(|(known, _)| known.cmp(key)) {
            Ok(place) => (place, self.0.range_from(place).nth(1)),
            Err(place) => (place, self.0.range_from(place).next()),
        };
        (self.0.before(before).map(|(_, value)| value), after.map(|(_, value)| value))
    }

    /// The entries from this key on.
    pub fn range_from(&self, key: &K) -> Entries<'_, K, V> {
        Entries(self.0.range_from(self.0.find(|(known, _)| known.cmp(key)).unwrap_or_else(|place| place)))
    }
}

impl<K, V> Default for Map<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: PartialEq, V: PartialEq> PartialEq for Map<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<K: Eq, V: Eq> Eq for Map<K, V> {}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for Map<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// Of equal keys the last counts.
impl<K: Ord, V> FromIterator<(K, V)> for Map<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = Self::new();
        for (key, value) in entries {
            map.insert(key, value);
        }
        map
    }
}

impl<K: Ord, V, const N: usize> From<[(K, V); N]> for Map<K, V> {
    fn from(entries: [(K, V); N]) -> Self {
        entries.into_iter().collect()
    }
}

impl<'a, K, V> IntoIterator for &'a Map<K, V> {
    type Item = (&'a K, &'a V);
    type IntoIter = Entries<'a, K, V>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<K, V> IntoIterator for Map<K, V> {
    type Item = (K, V);
    type IntoIter = vec::IntoIter<(K, V)>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_list().into_iter()
    }
}

impl<K: Ord + Borrow<Q>, Q: Ord + ?Sized, V> Index<&Q> for Map<K, V> {
    type Output = V;
    fn index(&self, key: &Q) -> &V {
        self.get(key).expect("the key is known")
    }
}

impl<K: Serialize, V: Serialize> Serialize for Map<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de, K: Deserialize<'de> + Ord, V: Deserialize<'de>> Deserialize<'de> for Map<K, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<K, V>(PhantomData<(K, V)>);
        impl<'de, K: Deserialize<'de> + Ord, V: Deserialize<'de>> Visitor<'de> for Entries<K, V> {
            type Value = Map<K, V>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
                let mut map = Map::new();
                while let Some((key, value)) = entries.next_entry()? {
                    map.insert(key, value);
                }
                Ok(map)
            }
        }
        deserializer.deserialize_map(Entries(PhantomData))
    }
}

/// Goes through the entries of a map from both ends.
pub struct Entries<'a, K, V>(Iter<'a, (K, V)>);

impl<K, V> Clone for Entries<'_, K, V> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<'a, K, V> Iterator for Entries<'a, K, V> {
    type Item = (&'a K, &'a V);
    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(key, value)| (key, value))
    }
}

impl<K, V> DoubleEndedIterator for Entries<'_, K, V> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back().map(|(key, value)| (key, value))
    }
}
