//! The auction: one uniform price for an offer, made by its bids (rules 6.5).
//!
//! The highest bids win as far as the inventory goes; a gang that does not fit in what higher bids leave is passed
//! over. The price is the lowest winning bid in whole steps, or the lowest step while inventory is left over.

use crate::unit::id::JobNo;
use crate::unit::ordered::Set;

/// The lowest price, in steps of one percent of the original price.
pub const STEP_LOWEST: i64 = 10;
/// The highest price, in steps.
pub const STEP_HIGHEST: i64 = 100;
/// By how many steps a price moves in a round at most.
pub const STEPS_A_ROUND: i64 = 5;

/// The price of a step, in micro-units.
#[must_use]
pub fn price_at(original: i64, step: i64) -> i64 {
    original.saturating_mul(step) / 100
}

/// The highest step whose price is at most `price`; it may lie outside the range of steps.
#[must_use]
pub fn step_below(original: i64, price: i64) -> i64 {
    // floor(original * step / 100) <= price exactly if original * step < (price + 1) * 100.
    price.saturating_add(1).saturating_mul(100).saturating_sub(1).div_euclid(original.max(1))
}

/// Somebody who bids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bidder {
    /// The job.
    pub job: JobNo,
    /// The most that it pays for an instance-minute, in micro-units.
    pub limit: i64,
    /// How many instances it takes, all or none.
    pub instances: i64,
}

/// What an auction comes to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clearing {
    /// Who wins.
    pub winners: Set<JobNo>,
    /// The step of the price.
    pub step: i64,
}

/// Clears an auction. Bidders come in their order: the highest limit first, among equals who runs, then who was
/// submitted earlier.
#[must_use]
pub fn clear(original: i64, inventory: i64, bidders: impl IntoIterator<Item = Bidder>) -> Clearing {
    let lowest = price_at(original, STEP_LOWEST);
    let mut left = inventory;
    let mut clearing = Clearing { winners: Set::new(), step: STEP_LOWEST };
    for bidder in bidders.into_iter().take_while(|bidder| bidder.limit >= lowest) {
        if left <= 0 {
            break;
        }
        if bidder.instances <= left {
            left -= bidder.instances;
            clearing.winners.insert(bidder.job);
            if left == 0 {
                clearing.step = step_below(original, bidder.limit).clamp(STEP_LOWEST, STEP_HIGHEST);
            }
        }
    }
    clearing
}

/// The price after one round on the way to a step: at most [`STEPS_A_ROUND`] from where it is.
#[must_use]
pub fn toward(original: i64, price: i64, step: i64) -> i64 {
    let target = price_at(original, step);
    let below = step_below(original, price);
    let above = if price_at(original, below) == price { below } else { below + 1 };
    match target.cmp(&price) {
        std::cmp::Ordering::Equal => price,
        std::cmp::Ordering::Greater => price_at(original, step.min(below + STEPS_A_ROUND)),
        std::cmp::Ordering::Less => price_at(original, step.max(above - STEPS_A_ROUND)),
    }
}

#[cfg(test)]
mod tests {
    use super::Bidder;
    use super::clear;
    use super::price_at;
    use super::step_below;
    use super::toward;
    use crate::unit::id::JobNo;

    #[test]
    fn a_step_is_the_highest_whose_price_a_bid_covers() {
        for original in [100, 101, 999, 1_234_567, 10_000_000_000] {
            for step in 10..=100 {
                let price = price_at(original, step);
                assert_eq!(step_below(original, price), step, "{original}");
                assert_eq!(step_below(original, price - 1), step - 1, "{original}");
            }
        }
    }

    #[test]
    fn a_price_moves_five_steps_at_most() {
        assert_eq!(toward(1000, 100, 80), 150);
        assert_eq!(toward(1000, 780, 80), 800);
        assert_eq!(toward(1000, 800, 10), 750);
        assert_eq!(toward(1000, 804, 80), 800);
        // A price between two steps, as one that was published before.
        assert_eq!(toward(1000, 804, 10), 760);
        assert_eq!(toward(1000, 804, 100), 850);
    }

    #[test]
    fn a_gang_that_does_not_fit_is_passed_over() {
        let bidder =
            |job: u32, percent: i64, instances: i64| Bidder { job: JobNo(job), limit: percent * 10, instances };
        let clearing = clear(1000, 8, [bidder(0, 50, 5), bidder(1, 40, 5), bidder(2, 30, 3)]);
        assert_eq!(clearing.step, 30);
        assert!(clearing.winners.contains(&JobNo(2)) && !clearing.winners.contains(&JobNo(1)));
        assert_eq!(clear(1000, 8, [bidder(0, 50, 5), bidder(1, 40, 5)]).step, 10);
    }
}
