//! How use and waiting go over time, for charts: averages over intervals of equal length.
//!
//! Nobody knows in advance how long a run is. The intervals begin with a minute; whenever the list is full, two and
//! two of them become one.

use crate::unit::time::Millis;
use crate::unit::time::Timestamp;

/// How many intervals there are at most.
pub const INTERVALS_MAX: i64 = 256;

/// Amounts over time, added up by interval.
#[derive(Clone, Debug)]
pub struct Course {
    from: Timestamp,
    /// The length of an interval.
    width: Millis,
    /// Thousandths of GPUs times milliseconds.
    sums: Vec<i128>,
}

impl Course {
    /// Nothing yet.
    #[must_use]
    pub fn new(from: Timestamp) -> Self {
        Self { from, width: Millis::MINUTE, sums: Vec::new() }
    }

    /// Adds an amount in thousandths of GPUs that is there from one time to another.
    pub fn add(&mut self, gpus: i64, from: Timestamp, to: Timestamp) {
        let (begin, end) = ((from - self.from).0.max(0), (to - self.from).0);
        if end <= begin || gpus == 0 {
            return;
        }
        self.reach(end);
        let mut at = begin / self.width.0;
        loop {
            let (low, high) = (begin.max(at * self.width.0), end.min((at + 1) * self.width.0));
            if low >= high {
                break;
            }
            if let Some(sum) = usize::try_from(at).ok().and_then(|at| self.sums.get_mut(at)) {
                *sum += i128::from(gpus) * i128::from(high - low);
            }
            at += 1;
        }
    }

    /// Makes room for what ends so long after the beginning.
    fn reach(&mut self, end: i64) {
        while (end - 1) / self.width.0 >= INTERVALS_MAX {
            self.fold();
        }
        let count = usize::try_from((end - 1) / self.width.0 + 1).unwrap_or(0);
        if self.sums.len() < count {
            self.sums.resize(count, 0);
        }
    }

    /// Adds another one with the same beginning.
    pub fn add_course(&mut self, other: &Self) {
        let mut other = other.clone();
        while other.width < self.width {
            other.fold();
        }
        while self.width < other.width {
            self.fold();
        }
        self.sums.resize(self.sums.len().max(other.sums.len()), 0);
        for (sum, more) in self.sums.iter_mut().zip(other.sums) {
            *sum += more;
        }
    }

    fn fold(&mut self) {
        self.width = Millis(self.width.0.saturating_mul(2));
        self.sums = self.sums.chunks(2).map(|pair| pair.iter().sum()).collect();
    }

    /// The averages up to a time, in thousandths of GPUs, for intervals of this length. The last one may be shorter.
    #[must_use]
    pub fn averages(mut self, width: Millis, until: Timestamp) -> Vec<i64> {
        while self.width < width {
            self.fold();
        }
        let end = (until - self.from).0;
        if end > 0 {
            self.reach(end);
        }
        let average = |(at, sum): (i64, &i128)| {
            let length = self.width.0.min(end - at * self.width.0).max(1);
            i64::try_from(*sum / i128::from(length)).unwrap_or(i64::MAX)
        };
        (0..).zip(&self.sums).map(average).collect()
    }

    /// The length of the intervals of a run from here to there.
    #[must_use]
    pub fn width(from: Timestamp, until: Timestamp) -> Millis {
        let mut course = Self::new(from);
        let end = (until - from).0;
        if end > 0 {
            course.reach(end);
        }
        course.width
    }
}

#[cfg(test)]
mod tests {
    use super::Course;
    use crate::unit::time::Millis;
    use crate::unit::time::Timestamp;

    fn at(minutes: i64) -> Timestamp {
        Timestamp(1_000 + minutes * 60_000)
    }

    #[test]
    fn averages_of_what_was_there() {
        let mut course = Course::new(at(0));
        course.add(8_000, at(0), at(2));
        course.add(4_000, at(1), Timestamp(at(1).0 + 30_000));
        assert_eq!(course.averages(Millis::MINUTE, at(3)), [8_000, 10_000, 0]);
    }

    #[test]
    fn the_last_interval_may_be_short() {
        let mut course = Course::new(at(0));
        let end = Timestamp(at(1).0 + 30_000);
        course.add(8_000, at(0), end);
        assert_eq!(course.averages(Millis::MINUTE, end), [8_000, 8_000]);
    }

    #[test]
    fn long_runs_have_long_intervals() {
        let mut course = Course::new(at(0));
        course.add(1_000, at(0), at(1_000));
        let width = Course::width(at(0), at(1_000));
        assert_eq!(width, Millis(4 * 60_000));
        let averages = course.averages(width, at(1_000));
        assert_eq!(averages.len(), 250);
        assert!(averages.iter().all(|gpus| *gpus == 1_000), "{averages:?}");
    }

    #[test]
    fn courses_of_different_lengths_add_up() {
        let (mut short, mut long) = (Course::new(at(0)), Course::new(at(0)));
        short.add(1_000, at(0), at(2));
        long.add(3_000, at(0), at(1_000));
        let mut both = short.clone();
        both.add_course(&long);
        let width = Course::width(at(0), at(1_000));
        let averages = both.averages(width, at(1_000));
        assert_eq!((averages.len(), &averages[..2]), (250, &[3_500, 3_000][..]));
        long.add_course(&short);
        assert_eq!(long.averages(width, at(1_000)), averages);
    }

    #[test]
    fn a_short_course_is_shown_on_the_scale_of_a_long_one() {
        let mut course = Course::new(at(0));
        course.add(1_000, at(0), at(2));
        assert_eq!(course.averages(Millis(4 * 60_000), at(8)), [500, 0]);
    }
}
