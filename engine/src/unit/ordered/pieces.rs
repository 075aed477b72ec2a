//! A long list in short pieces: a value is put in or taken out anywhere by moving no more than a piece.
//!
//! Maps and sets know the order; here are only places.

use std::cmp::Ordering;
use std::slice;

/// How many values a piece has at most.
const FULL: usize = 64;
/// Neighbours that together have no more than this become one.
const FEW: usize = FULL / 4;

/// Values in short pieces, none of which is empty.
#[derive(Clone)]
pub(super) struct Pieces<T>(Vec<Vec<T>>);

/// Where a value stands, or would stand.
#[derive(Clone, Copy)]
pub(super) struct Place {
    piece: usize,
    at: usize,
}

impl<T> Default for Pieces<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Pieces<T> {
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.0.iter().map(Vec::len).sum()
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// The place of the value that is equal, or where it would stand; `compare` says how a value compares with it.
    pub(super) fn find(&self, mut compare: impl FnMut(&T) -> Ordering) -> Result<Place, Place> {
        let piece = match &self.0[..] {
            // Most lists are short.
            [] | [_] => 0,
            pieces => {
                let begins_before = |piece: &Vec<T>| piece.first().is_some_and(|first| compare(first).is_le());
                pieces.partition_point(begins_before).saturating_sub(1)
            }
        };
        let list = self.0.get(piece).map_or(&[][..], Vec::as_slice);
        list.binary_search_by(compare).map(|at| Place { piece, at }).map_err(|at| Place { piece, at })
    }

    pub(super) fn get(&self, Place { piece, at }: Place) -> Option<&T> {
        self.0.get(piece)?.get(at)
    }

    pub(super) fn get_mut(&mut self, Place { piece, at }: Place) -> Option<&mut T> {
        self.0.get_mut(piece)?.get_mut(at)
    }

    /// The value that stands there.
    pub(super) fn at(&mut self, Place { piece, at }: Place) -> &mut T {
        &mut self.0[piece][at]
    }

    /// Puts a value where it would stand; where it stands now.
    #[inline(never)]
    pub(super) fn insert(&mut self, Place { piece, at }: Place, value: T) -> Place {
        let Some(list) = self.0.get_mut(piece) else {
            self.0.push(vec![value]);
            return Place { piece, at };
        };
        if list.len() < FULL {
            list.insert(at, value);
            return Place { piece, at };
        }
        // What grows at its end leaves full pieces behind.
        let half = if at == FULL { FULL } else { FULL / 2 };
        let mut rest = list.split_off(half);
        let (is_in_rest, at) = if at < half { (false, at) } else { (true, at - half) };
        if is_in_rest {
            rest.insert(at, value);
        } else {
            list.insert(at, value);
        }
        self.0.insert(piece + 1, rest);
        Place { piece: piece + usize::from(is_in_rest), at }
    }

    /// Takes a value out that stands there.
    #[inline(never)]
    pub(super) fn remove(&mut self, Place { piece, at }: Place) -> T {
        let value = self.0[piece].remove(at);
        let left = self.0[piece].len();
        let of_next = self.0.get(piece + 1).map_or(FULL, Vec::len);
        if left == 0 {
            self.0.remove(piece);
        } else if left + of_next <= FEW {
            let mut next = self.0.remove(piece + 1);
            self.0[piece].append(&mut next);
        }
        value
    }

    /// Keeps what passes.
    pub(super) fn retain(&mut self, mut passes: impl FnMut(&mut T) -> bool) {
        for piece in &mut self.0 {
            piece.retain_mut(&mut passes);
        }
        self.0.retain(|piece| !piece.is_empty());
    }

    pub(super) fn iter(&self) -> Iter<'_, T> {
        Iter { front: [].iter(), middle: self.0.iter(), back: [].iter() }
    }

    /// The values from this place on.
    pub(super) fn range_from(&self, Place { piece, at }: Place) -> Iter<'_, T> {
        let front = self.0.get(piece).and_then(|list| list.get(at..)).unwrap_or(&[]);
        Iter { front: front.iter(), middle: self.0.get(piece + 1..).unwrap_or(&[]).iter(), back: [].iter() }
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut().flatten()
    }

    /// All values in one list.
    pub(super) fn into_list(self) -> Vec<T> {
        let mut pieces = self.0.into_iter();
        let mut list = pieces.next().unwrap_or_default();
        pieces.for_each(|mut piece| list.append(&mut piece));
        list
    }
}

/// Goes through the values from both ends.
pub struct Iter<'a, T> {
    front: slice::Iter<'a, T>,
    middle: slice::Iter<'a, Vec<T>>,
    back: slice::Iter<'a, T>,
}

impl<T> Clone for Iter<'_, T> {
    fn clone(&self) -> Self {
        Self { front: self.front.clone(), middle: self.middle.clone(), back: self.back.clone() }
    }
}

impl<'a, T> Iterator for Iter<'a, T> {
    type Item = &'a T;

    fn next(&mut self) -> Option<&'a T> {
        loop {
            if let Some(value) = self.front.next() {
                return Some(value);
            }
            match self.middle.next() {
                Some(piece) => self.front = piece.iter(),
                None => return self.back.next(),
            }
        }
    }
}

impl<'a, T> DoubleEndedIterator for Iter<'a, T> {
    fn next_back(&mut self) -> Option<&'a T> {
        loop {
            if let Some(value) = self.back.next_back() {
                return Some(value);
            }
            match self.middle.next_back() {
                Some(piece) => self.back = piece.iter(),
                None => return self.front.next_back(),
            }
        }
    }
}
