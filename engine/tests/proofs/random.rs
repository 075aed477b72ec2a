//! An own generator of random numbers, so that a seed means the same run on every target and for ever.

/// Xorshift with a multiplied output.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        // Neighbouring seeds must not make similar runs.
        let mut mixed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Self((mixed ^ (mixed >> 31)) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    /// A number below `limit`.
    pub(crate) fn below(&mut self, limit: i64) -> i64 {
        let limit = u64::try_from(limit.max(1)).expect("the limit is positive");
        i64::try_from(self.next() % limit).expect("a remainder of an i64 is one")
    }

    /// A number from `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below(high - low + 1)
    }

    pub(crate) fn chance(&mut self, percent: i64) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn index(&mut self, count: usize) -> usize {
        usize::try_from(self.below(i64::try_from(count).expect("lists are short"))).expect("an index fits")
    }

    pub(crate) fn pick<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.index(list.len())].clone()
    }
}
