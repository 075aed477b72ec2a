//! A long list in short pieces: a value is put in or taken out anywhere by moving no more than a piece.
//!
//! Maps and sets know the order; here are only places.

use std::cmp::Ordering;
use std::slice;

/// How many values a piece has at most.
const FULL: usize = 64;
/// Neighbours that together have no more than this become one.
const FEW: usize = FULL / 4;

/// Values in short pieces. Most lists have one: it stands here, and keeps its room when it has been emptied.
#[derive(Clone)]
pub(super) struct Pieces<T> {
    first: Vec<T>,
    /// None of them is empty; while there are any, the first is not empty either.
    more: Vec<Vec<T>>,
    /// How many values there are in all of them.
    len: usize,
}

/// Where a value stands, or would stand.
#[derive(Clone, Copy)]
pub(super) struct PiecePlace {
    piece: usize,
    at: usize,
}

impl<T> Default for Pieces<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Pieces<T> {
    pub(super) const fn new() -> Self {
        Self { first: Vec::new(), more: Vec::new(), len: 0 }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.first.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn clear(&mut self) {
        self.first.clear();
        self.more.clear();
        self.len = 0;
    }

    fn piece(&self, piece: usize) -> &[T] {
        match piece.checked_sub(1) {
            None => &self.first,
            Some(at) => self.more.get(at).map_or(&[], Vec::as_slice),
        }
    }

    fn piece_mut(&mut self, piece: usize) -> &mut Vec<T> {
        match piece.checked_sub(1) {
            None => &mut self.first,
            Some(at) => &mut self.more[at],
        }
    }

    /// The place of the value that is equal, or where it would stand; `compare` says how a value compares with it.
    pub(super) fn find(&self, mut compare: impl FnMut(&T) -> Ordering) -> Result<PiecePlace, PiecePlace> {
        let piece = if self.more.is_empty() {
            0
        } else {
            self.more.partition_point(|piece| piece.first().is_some_and(|first| compare(first).is_le()))
        };
        let found = self.piece(piece).binary_search_by(compare);
        found.map(|at| PiecePlace { piece, at }).map_err(|at| PiecePlace { piece, at })
    }

    pub(super) fn get(&self, PiecePlace { piece, at }: PiecePlace) -> Option<&T> {
        self.piece(piece).get(at)
    }

    /// The value before a place.
    pub(super) fn before(&self, PiecePlace { piece, at }: PiecePlace) -> Option<&T> {
        match at.checked_sub(1) {
            Some(at) => self.piece(piece).get(at),
            None => self.piece(piece.checked_sub(1)?).last(),
        }
    }

    pub(super) fn get_mut(&mut self, PiecePlace { piece, at }: PiecePlace) -> Option<&mut T> {
        self.piece_mut(piece).get_mut(at)
    }

    /// The value that stands there.
    pub(super) fn at(&mut self, PiecePlace { piece, at }: PiecePlace) -> &mut T {
        &mut self.piece_mut(piece)[at]
    }

    /// Puts a value where it would stand; where it stands now.
    #[inline(never)]
    pub(super) fn insert(&mut self, PiecePlace { piece, at }: PiecePlace, value: T) -> PiecePlace {
        self.len += 1;
        let list = self.piece_mut(piece);
        if list.len() < FULL {
            list.insert(at, value);
            return PiecePlace { piece, at };
        }
        // What grows at one of its ends leaves full pieces behind.
        let half = match at {
            0 => 0,
            FULL => FULL,
            _ => FULL / 2,
        };
        let mut rest = list.split_off(half);
        let is_in_rest = at > 0 && at >= half;
        let at = if is_in_rest { at - half } else { at };
        if is_in_rest {
            rest.insert(at, value);
        } else {
            list.insert(at, value);
        }
        self.more.insert(piece, rest);
        PiecePlace { piece: piece + usize::from(is_in_rest), at }
    }

    /// Takes a value out that stands there.
    #[inline(never)]
    pub(super) fn remove(&mut self, PiecePlace { piece, at }: PiecePlace) -> T {
        self.len -= 1;
        let list = self.piece_mut(piece);
        let value = list.remove(at);
        let left = list.len();
        // The next piece is the one with this number among the others.
        if self.more.get(piece).is_some_and(|next| left == 0 || left + next.len() <= FEW) {
            let mut next = self.more.remove(piece);
            self.piece_mut(piece).append(&mut next);
        } else if left == 0 && piece > 0 {
            self.more.remove(piece - 1);
        }
        value
    }

    /// Keeps what passes.
    pub(super) fn retain(&mut self, mut passes: impl FnMut(&mut T) -> bool) {
        self.first.retain_mut(&mut passes);
        for piece in &mut self.more {
            piece.retain_mut(&mut passes);
        }
        self.more.retain(|piece| !piece.is_empty());
        self.len = self.first.len() + self.more.iter().map(Vec::len).sum::<usize>();
        if self.first.is_empty() && !self.more.is_empty() {
            self.first = self.more.remove(0);
        }
    }

    pub(super) fn iter(&self) -> Iter<'_, T> {
        Iter { front: self.first.iter(), middle: self.more.iter(), back: [].iter() }
    }

    /// The values from this place on.
    pub(super) fn range_from(&self, PiecePlace { piece, at }: PiecePlace) -> Iter<'_, T> {
        let front = self.piece(piece).get(at..).unwrap_or(&[]);
        Iter { front: front.iter(), middle: self.more.get(piece..).unwrap_or(&[]).iter(), back: [].iter() }
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.first.iter_mut().chain(self.more.iter_mut().flatten())
    }

    /// All values in one list.
    pub(super) fn into_list(self) -> Vec<T> {
        let mut list = self.first;
        for mut piece in self.more {
            list.append(&mut piece);
        }
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
