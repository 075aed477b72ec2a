//! The course of a price: now, over the averaging window, and hour by hour over a week.
//!
//! A price is a step function of time. What the average needs is kept as a sum that each change adds to and old
//! changes leave, so that reading it costs as much as has left the window since the last change.

use std::collections::VecDeque;

use serde::Deserialize;
use serde::Serialize;

use crate::unit::limit;
use crate::unit::time::Millis;
use crate::unit::time::Timestamp;

/// A price over a time, as price times milliseconds and milliseconds: comparing it with a bid needs no division.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Average {
    sum: i128,
    ms: i64,
}

impl Average {
    /// A price that does not change.
    #[must_use]
    pub fn exactly(price: i64) -> Self {
        Self { sum: i128::from(price), ms: 1 }
    }

    /// Whether it is more than a bid.
    #[must_use]
    pub fn exceeds(self, bid: i64) -> bool {
        self.sum > i128::from(bid) * i128::from(self.ms)
    }

    /// The price, in micro-units, rounded up: a bid that it exceeds is below it, and no other.
    #[must_use]
    pub fn rounded_up(self) -> i64 {
        let ms = i128::from(self.ms.max(1));
        i64::try_from((self.sum + ms - 1) / ms).unwrap_or(i64::MAX)
    }
}

/// How a price was in one hour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PriceHour {
    /// Hours since the epoch.
    pub hour: i64,
    /// Price times milliseconds.
    pub sum: i64,
    /// For how many of its milliseconds the price is known.
    pub ms: i64,
    /// The lowest price.
    pub low: i64,
    /// The highest price.
    pub high: i64,
}

impl PriceHour {
    /// The average price of the hour, in micro-units, rounded up.
    #[must_use]
    pub fn average(&self) -> i64 {
        Average { sum: i128::from(self.sum), ms: self.ms.max(1) }.rounded_up()
    }
}

/// A price, now and before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(from = "Steps", into = "Steps")]
pub struct PriceCourse {
    price: i64,
    since: Timestamp,
    /// Earlier prices that the window may still see, each with its beginning; each ends where the next begins.
    earlier: VecDeque<(Timestamp, i64)>,
    /// Kept: price times milliseconds of all earlier ones.
    earlier_sum: i128,
    /// Hours that the earlier prices filled, the oldest first.
    hours: VecDeque<PriceHour>,
}

/// A course as it is written.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct Steps {
    price: i64,
    since: Timestamp,
    #[serde(default)]
    earlier: VecDeque<(Timestamp, i64)>,
    #[serde(default)]
    hours: VecDeque<PriceHour>,
}

impl From<Steps> for PriceCourse {
    fn from(steps: Steps) -> Self {
        let Steps { price, since, earlier, hours } = steps;
        let mut course = Self { price, since, earlier, earlier_sum: 0, hours };
        course.earlier_sum = course.steps().map(|(begin, end, price)| area(price, end - begin)).sum();
        course
    }
}

impl From<PriceCourse> for Steps {
    fn from(course: PriceCourse) -> Self {
        let PriceCourse { price, since, earlier, earlier_sum: _, hours } = course;
        Self { price, since, earlier, hours }
    }
}

fn area(price: i64, period: Millis) -> i128 {
    i128::from(price) * i128::from(period.0)
}

impl PriceCourse {
    /// A price that nothing is known of before.
    #[must_use]
    pub fn new(price: i64, since: Timestamp) -> Self {
        Self { price, since, earlier: VecDeque::new(), earlier_sum: 0, hours: VecDeque::new() }
    }

    /// The price now, in micro-units for an instance-minute.
    #[must_use]
    pub fn price(&self) -> i64 {
        self.price
    }

    /// Since when it is the price.
    #[must_use]
    pub fn since(&self) -> Timestamp {
        self.since
    }

    /// The earlier prices: from when to when, and which.
    fn steps(&self) -> impl Iterator<Item = (Timestamp, Timestamp, i64)> + '_ {
        let ends = self.earlier.iter().skip(1).map(|(begin, _)| *begin).chain([self.since]);
        self.earlier.iter().zip(ends).map(|((begin, price), end)| (*begin, end, *price))
    }

    /// The prices that are known one by one, the one of now last, each with its beginning.
    #[must_use]
    pub fn known(&self) -> impl DoubleEndedIterator<Item = (Timestamp, i64)> + '_ {
        self.earlier.iter().copied().chain([(self.since, self.price)])
    }

    /// Changes of the price inside a window that ends now.
    #[must_use]
    pub fn changes(&self, now: Timestamp, window: Millis) -> usize {
        self.steps().filter(|(_, end, _)| *end > now - window).count()
    }

    /// Whether the average over the window is the price itself, and stays that while the price does.
    #[must_use]
    pub fn is_level(&self, now: Timestamp, window: Millis) -> bool {
        self.earlier.is_empty() || self.since <= now - window
    }

    /// The average over a window that ends now, or over what is known of it.
    #[must_use]
    pub fn average(&self, now: Timestamp, window: Millis) -> Average {
        let from = now - window;
        let known = self.earlier.front().map_or(self.since, |(first, _)| *first);
        let begin = from.max(known);
        if self.is_level(now, window) || now < self.since || begin >= now {
            return Average::exactly(self.price);
        }
        let unseen: i128 = self
            .steps()
            .take_while(|(step, _, _)| *step < begin)
            .map(|(step, end, price)| area(price, end.min(begin) - step))
            .sum();
        Average { sum: self.earlier_sum + area(self.price, now - self.since) - unseen, ms: (now - begin).0 }
    }

    /// The price changes. What the window cannot see any more is forgotten, but for the hours.
    pub fn set(&mut self, at: Timestamp, price: i64, window: Millis) {
        let at = at.max(self.since);
        if at > self.since {
            self.earlier.push_back((self.since, self.price));
            self.earlier_sum += area(self.price, at - self.since);
            let last_hour = hour_of(at) - limit::PRICE_HOURS;
            fill(&mut self.hours, self.since.max(begin_of(last_hour)), at, self.price);
            while self.hours.front().is_some_and(|hour| hour.hour < last_hour) {
                self.hours.pop_front();
            }
        }
        (self.price, self.since) = (price, at);
        while self.earlier.len() > limit::PRICE_CHANGES_MAX
            || self.steps().next().is_some_and(|(_, end, _)| end <= at - window)
        {
            let gone = self.steps().next().map_or(0, |(begin, end, price)| area(price, end - begin));
            self.earlier_sum -= gone;
            self.earlier.pop_front();
        }
    }

    /// The hours of the last week, the one that is going on included, as far as the price is known.
    #[must_use]
    pub fn hours(&self, now: Timestamp) -> Vec<PriceHour> {
        let mut hours = self.hours.clone();
        let first = hour_of(now) - limit::PRICE_HOURS + 1;
        fill(&mut hours, self.since.max(begin_of(first)), now, self.price);
        hours.into_iter().filter(|hour| hour.hour >= first && hour.ms > 0).collect()
    }

    /// In how many hours of the last week the price was at most this on average, and of how many it is known.
    #[must_use]
    pub fn hours_at_most(&self, limit: i64, now: Timestamp) -> (u32, u32) {
        let first = hour_of(now) - limit::PRICE_HOURS + 1;
        let from = self.since.max(begin_of(first));
        // An hour that began with an earlier price may go on with this one.
        let shared = self.hours.back().map(|last| last.hour).filter(|hour| *hour == hour_of(from) && from < now);
        let (mut hours, mut known) = (0, 0);
        for hour in self.hours.iter().filter(|hour| hour.hour >= first) {
            let more = if shared == Some(hour.hour) { (now.min(begin_of(hour.hour + 1)) - from).0 } else { 0 };
            let sum = hour.sum.saturating_add(self.price.saturating_mul(more));
            hours += i64::from(sum <= limit.saturating_mul(hour.ms + more));
            known += 1;
        }
        // All others know this price only, so they need not be looked at one by one.
        if from < now {
            let rest = hour_of(now - Millis(1)) - hour_of(from) + i64::from(shared.is_none());
            known += rest;
            hours += if self.price <= limit { rest } else { 0 };
        }
        let count = |number: i64| u32::try_from(number).unwrap_or(u32::MAX);
        (count(hours), count(known))
    }
}

/// The hour of a time, in hours since the epoch.
fn hour_of(at: Timestamp) -> i64 {
    at.0.div_euclid(Millis::HOUR.0)
}

fn begin_of(hour: i64) -> Timestamp {
    Timestamp(hour.saturating_mul(Millis::HOUR.0))
}

/// Adds a price to the hours from one time to another.
fn fill(hours: &mut VecDeque<PriceHour>, from: Timestamp, to: Timestamp, price: i64) {
    let mut from = from;
    while from < to {
        let no = hour_of(from);
        let until = to.min(begin_of(no + 1));
        if hours.back().is_none_or(|last| last.hour != no) {
            hours.push_back(PriceHour { hour: no, sum: 0, ms: 0, low: price, high: price });
        }
        if let Some(hour) = hours.back_mut() {
            let ms = (until - from).0;
            hour.sum = hour.sum.saturating_add(price.saturating_mul(ms));
            hour.ms += ms;
            hour.low = hour.low.min(price);
            hour.high = hour.high.max(price);
        }
        from = until;
    }
}

#[cfg(test)]
mod tests {
    use super::PriceCourse;
    use crate::unit::time::Millis;
    use crate::unit::time::Timestamp;

    const SECOND: i64 = 1000;

    /// A course with changes at uneven times, and all of its changes.
    fn course(window: Millis) -> (PriceCourse, Vec<(i64, i64)>) {
        let mut changes = vec![(0, 700)];
        let mut course = PriceCourse::new(700, Timestamp(0));
        let mut at = 0;
        for step in 1..400 {
            at += (step * 37 % 11) * 13 * SECOND;
            let price = 100 + step * 61 % 900;
            course.set(Timestamp(at), price, window);
            changes.push((at, price));
        }
        (course, changes)
    }

    fn price_at(changes: &[(i64, i64)], at: i64) -> i64 {
        changes.iter().rev().find(|(begin, _)| *begin <= at).unwrap().1
    }

    #[test]
    fn the_average_is_that_of_all_seconds_in_the_window() {
        for window in [30, 600, 3600] {
            let (course, changes) = course(Millis::from_seconds(window));
            let end = changes.last().unwrap().0 / SECOND;
            for now in (end..end + 4000).step_by(97) {
                let sum: i64 = (now - window..now).map(|second| price_at(&changes, second * SECOND)).sum();
                let average = course.average(Timestamp(now * SECOND), Millis::from_seconds(window));
                assert_eq!(average.rounded_up(), (sum + window - 1) / window, "{window} s at {now} s");
                assert!(average.exceeds(sum / window) == (sum % window != 0) && !average.exceeds(sum / window + 1));
            }
        }
    }

    #[test]
    fn before_the_first_price_nothing_counts() {
        let mut course = PriceCourse::new(10, Timestamp(0));
        course.set(Timestamp(60_000), 40, Millis::HOUR);
        assert_eq!(course.average(Timestamp(60_000), Millis::HOUR).rounded_up(), 10);
        assert_eq!(course.average(Timestamp(120_000), Millis::HOUR).rounded_up(), 25);
    }

    #[test]
    fn a_stored_course_goes_on_as_it_was() {
        let (course, changes) = course(Millis::HOUR);
        let stored: PriceCourse = serde_json::from_str(&serde_json::to_string(&course).unwrap()).unwrap();
        assert_eq!(stored, course);
        assert!(changes.len() > 300 && course.changes(course.since(), Millis::HOUR) < 100);
    }

    #[test]
    fn hours_hold_their_own_averages() {
        let (course, changes) = course(Millis::MINUTE);
        let now = changes.last().unwrap().0 + SECOND;
        for hour in course.hours(Timestamp(now)) {
            let seconds = hour.hour * 3600..((hour.hour + 1) * 3600).min(now / SECOND);
            let prices: Vec<i64> = seconds.map(|second| price_at(&changes, second * SECOND)).collect();
            assert_eq!(hour.sum / SECOND, prices.iter().sum::<i64>(), "{hour:?}");
            assert_eq!((hour.low, hour.high), (*prices.iter().min().unwrap(), *prices.iter().max().unwrap()));
        }
        let (hours, known) = course.hours_at_most(1000, Timestamp(now));
        assert_eq!(hours, known);
        assert_eq!(course.hours_at_most(99, Timestamp(now)).0, 0);
    }

    #[test]
    fn hours_are_counted_as_they_are_listed() {
        for window in [30, 3600] {
            let (course, changes) = course(Millis::from_seconds(window));
            let end = changes.last().unwrap().0;
            for now in (end..end + 200 * Millis::HOUR.0).step_by(7_777_777) {
                let hours = course.hours(Timestamp(now));
                for limit in (100..1000).step_by(50) {
                    let at_most = hours.iter().filter(|hour| hour.average() <= limit).count();
                    let counted = course.hours_at_most(limit, Timestamp(now));
                    assert_eq!(
                        counted,
                        (at_most.try_into().unwrap(), hours.len().try_into().unwrap()),
                        "{limit} at {now}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_week_of_hours_is_known_at_most() {
        let course = PriceCourse::new(5, Timestamp(0));
        assert_eq!(course.hours_at_most(5, Timestamp(1000 * Millis::DAY.0 + 1)), (168, 168));
    }

    #[test]
    fn at_the_moment_of_a_change_the_average_is_that_of_what_went_before() {
        let window = Millis(100);
        let mut course = PriceCourse::new(300, Timestamp(0));
        course.set(Timestamp(1000), 500, window);
        let averages = [1000, 1050, 1100].map(|at| course.average(Timestamp(at), window).rounded_up());
        assert_eq!(averages, [300, 400, 500]);
    }
}
