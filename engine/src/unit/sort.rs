//! Sorting, at the price of little code.
//!
//! The standard sort is compiled anew for each kind of element and each comparison: fast, and five to ten thousand
//! bytes every time. In Wasm, where code is what people wait for, one sort of positions serves all, and a short one
//! does. Both are stable, so that the order is the same.

use std::cmp::Ordering;

/// Whether the code is to be small rather than fast.
const IS_SMALL: bool = cfg!(target_family = "wasm");

/// Sorts stably by a comparison.
pub fn by<T>(list: &mut [T], mut compare: impl FnMut(&T, &T) -> Ordering) {
    if IS_SMALL {
        let order = order(list.len(), &mut |a, b| compare(&list[a], &list[b]));
        arrange(order, &mut |a, b| list.swap(a, b));
    } else {
        list.sort_by(compare);
    }
}

/// Sorts stably by a key.
pub fn by_key<T, K: Ord>(list: &mut [T], mut key: impl FnMut(&T) -> K) {
    by(list, |a, b| key(a).cmp(&key(b)));
}

/// Sorts stably by keys that cost more than a comparison; each is made once.
pub fn by_cached_key<T, K: Ord>(list: &mut [T], key: impl FnMut(&T) -> K) {
    let keys: Vec<K> = list.iter().map(key).collect();
    let order = order(list.len(), &mut |a, b| keys[a].cmp(&keys[b]));
    arrange(order, &mut |a, b| list.swap(a, b));
}

/// The positions of a list in the order of what is there: ordered stretches are merged by twos.
fn order(len: usize, compare: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..len).collect();
    let mut merged = Vec::new();
    let mut width = 1;
    while width < len {
        for pair in order.chunks(2 * width) {
            let (mut left, mut right) = pair.split_at(width.min(pair.len()));
            // What follows each other already stays as it is.
            let is_ordered = left.last().zip(right.first()).is_none_or(|(&last, &first)| compare(last, first).is_le());
            while let ([first, left_rest @ ..], [second, right_rest @ ..], false) = (left, right, is_ordered) {
                if compare(*first, *second).is_le() {
                    merged.push(*first);
                    left = left_rest;
                } else {
                    merged.push(*second);
                    right = right_rest;
                }
            }
            merged.extend_from_slice(left);
            merged.extend_from_slice(right);
        }
        std::mem::swap(&mut order, &mut merged);
        merged.clear();
        width *= 2;
    }
    order
}

/// Brings what is at `order[0]` to the front, what is at `order[1]` behind it, and so on.
fn arrange(mut order: Vec<usize>, swap: &mut dyn FnMut(usize, usize)) {
    for at in 0..order.len() {
        // What was at this position may have been swapped away already; its trail leads to it.
        let mut from = order[at];
        while from < at {
            from = order[from];
        }
        order[at] = from;
        swap(at, from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that repeat, in no order.
    fn scattered(len: usize) -> Vec<(usize, usize)> {
        (0..len).map(|at| (at * 7_919 % 31, at)).collect()
    }

    #[test]
    fn the_small_sort_orders_as_the_standard_one() {
        for len in (0..70).chain([1_000]) {
            let mut standard = scattered(len);
            standard.sort_by_key(|(key, _)| *key);
            let mut small = scattered(len);
            let order = order(len, &mut |a, b| small[a].0.cmp(&small[b].0));
            arrange(order, &mut |a, b| small.swap(a, b));
            assert_eq!(small, standard, "{len}");
            let mut cached = scattered(len);
            by_cached_key(&mut cached, |(key, _)| *key);
            assert_eq!(cached, standard, "{len}");
        }
    }
}
