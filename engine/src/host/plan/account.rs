//! What a run comes to, in numbers that add up: for a job, a quota, or all of them.
//!
//! Work is counted in GPU-milliseconds (a whole GPU for a millisecond), money in micro-units of currency.

use serde::Deserialize;
use serde::Serialize;

use crate::unit::sort;
use crate::unit::time::Millis;

/// How jobs have fared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Account {
    /// Jobs that were submitted during the run.
    pub submitted: u64,
    /// Jobs that started for the first time.
    pub started: u64,
    /// Jobs that wait at the end.
    pub waiting: u64,
    /// Jobs that did their work.
    pub finished: u64,
    /// Jobs that were evicted or released for good.
    pub preempted: u64,
    /// Jobs that were cancelled, or failed.
    pub cancelled: u64,
    /// Times that a job was told to stop.
    pub evictions: u64,
    /// How long they have waited, before their first start and after evictions.
    pub waited: Millis,
    /// Work for which they waited: what they asked for, times how long.
    pub waited_gpu_ms: i64,
    /// Work for which they held GPUs.
    pub used_gpu_ms: i64,
    /// Work that evictions have undone.
    pub lost_gpu_ms: i64,
    /// Work that checkpoints have kept through evictions.
    pub saved_gpu_ms: i64,
    /// What they have paid on the spot market, or owe.
    pub cost_micros: i64,
}

impl Account {
    /// Both together.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let Self {
            submitted,
            started,
            waiting,
            finished,
            preempted,
            cancelled,
            evictions,
            waited,
            waited_gpu_ms,
            used_gpu_ms,
            lost_gpu_ms,
            saved_gpu_ms,
            cost_micros,
        } = self;
        Self {
            submitted: submitted + other.submitted,
            started: started + other.started,
            waiting: waiting + other.waiting,
            finished: finished + other.finished,
            preempted: preempted + other.preempted,
            cancelled: cancelled + other.cancelled,
            evictions: evictions + other.evictions,
            waited: Millis(waited.0.saturating_add(other.waited.0)),
            waited_gpu_ms: waited_gpu_ms.saturating_add(other.waited_gpu_ms),
            used_gpu_ms: used_gpu_ms.saturating_add(other.used_gpu_ms),
            lost_gpu_ms: lost_gpu_ms.saturating_add(other.lost_gpu_ms),
            saved_gpu_ms: saved_gpu_ms.saturating_add(other.saved_gpu_ms),
            cost_micros: cost_micros.saturating_add(other.cost_micros),
        }
    }

    /// Jobs that ended without having done their work.
    #[must_use]
    pub fn undone(&self) -> u64 {
        self.preempted + self.cancelled
    }

    /// How much of what was wanted was there when it was wanted, in thousandths: work done, of work done and work
    /// waited for. Nothing for somebody who wanted nothing.
    #[must_use]
    pub fn served(&self) -> Option<i64> {
        let (used, wanted) =
            (i128::from(self.used_gpu_ms), i128::from(self.used_gpu_ms) + i128::from(self.waited_gpu_ms));
        (wanted > 0).then(|| i64::try_from(used * 1000 / wanted).unwrap_or(1000))
    }
}

/// How long some jobs waited for their first start. A job that still waits counts with the time until now, and is told
/// apart: it waits longer than that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Waits {
    /// How many.
    pub jobs: u64,
    /// Half of them waited at most this long.
    #[serde(rename = "p50_ms")]
    pub p50: Wait,
    /// 95 of 100 waited at most this long.
    #[serde(rename = "p95_ms")]
    pub p95: Wait,
    /// The longest wait.
    #[serde(rename = "longest_ms")]
    pub longest: Wait,
}

/// A wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wait {
    /// How long.
    #[serde(rename = "length_ms")]
    pub length: Millis,
    /// Whether it had not ended then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_open: bool,
}

impl Waits {
    /// Of these waits.
    #[must_use]
    pub fn of(mut waits: Vec<Wait>) -> Self {
        sort::by_key(&mut waits, |wait| *wait);
        let rank = |percent: usize| rank(&waits, percent).unwrap_or_default();
        Self { jobs: waits.len() as u64, p50: rank(50), p95: rank(95), longest: rank(100) }
    }
}

/// The smallest of some values that at least so many of a hundred do not exceed; nothing if there are none. They come in
/// ascending order.
#[must_use]
pub fn rank<T: Copy>(ascending: &[T], percent: usize) -> Option<T> {
    ascending.get((ascending.len() * percent).div_ceil(100).saturating_sub(1)).copied()
}

/// Fairness, in thousandths: Jain's index of how well each of several parties was served. 1000 means that all were
/// served alike; with `n` parties of which one gets everything it is 1000 / `n`.
#[must_use]
pub fn fairness(served: &[i64]) -> Option<i64> {
    let sum: i128 = served.iter().map(|share| i128::from(*share)).sum();
    let squares: i128 = served.iter().map(|share| i128::from(*share) * i128::from(*share)).sum();
    let count = i128::try_from(served.len()).ok().filter(|count| *count > 0)?;
    // Where nobody gets anything, all are served alike.
    let index = if squares == 0 { 1000 } else { sum * sum * 1000 / (count * squares) };
    i64::try_from(index).ok()
}

#[cfg(test)]
mod tests {
    use super::Account;
    use super::Wait;
    use super::Waits;
    use super::fairness;
    use crate::unit::time::Millis;

    #[test]
    fn ranks_are_waits_that_occurred() {
        let ended = |ms: i64| Wait { length: Millis(ms), is_open: false };
        let waits = Waits::of([5, 1, 4, 2, 3].map(ended).to_vec());
        assert_eq!((waits.p50, waits.p95, waits.longest), (ended(3), ended(5), ended(5)));
        assert_eq!(Waits::of(Vec::new()), Waits::default());
        assert_eq!(Waits::of((1..=100).map(ended).collect()).p95, ended(95));
    }

    #[test]
    fn a_wait_that_has_not_ended_is_longer_than_one_that_has() {
        let (day, open) = (Millis::DAY, |length: Millis| Wait { length, is_open: true });
        let waits = Waits::of(vec![open(day), Wait { length: day, is_open: false }, open(Millis(1))]);
        assert_eq!((waits.p50, waits.longest), (Wait { length: day, is_open: false }, open(day)));
    }

    #[test]
    fn fairness_is_one_when_all_are_served_alike() {
        assert_eq!(fairness(&[400, 400, 400]), Some(1000));
        assert_eq!(fairness(&[1000, 0, 0, 0]), Some(250));
        assert_eq!(fairness(&[0, 0]), Some(1000));
        assert_eq!(fairness(&[]), None);
    }

    #[test]
    fn who_wanted_nothing_was_not_served_badly() {
        assert_eq!(Account::default().served(), None);
        let half = Account { used_gpu_ms: 5, waited_gpu_ms: 5, ..Account::default() };
        assert_eq!(half.served(), Some(500));
    }
}
