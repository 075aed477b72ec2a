//! What a reader can move in a scenario: each line that acts has one control.

use engine::message::command::Command;
use engine::message::plan::Change;
use engine::state::world::State;
use engine::unit::id::QuotaNo;

/// The dimension of scenarios.
const GPU: &str = "gpu";
/// Controls of a scenario; later lines stay as they are written.
pub const CONTROLS_MAX: usize = 8;
/// The finest step of GPUs that a control offers: a whole one.
const WHOLE: i64 = 1000;

/// A control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Control {
    /// What it moves.
    pub kind: Kind,
    /// The smallest value.
    pub least: i64,
    /// The largest value.
    pub most: i64,
    /// The distance between two values.
    pub step: i64,
    /// The value as the scenario has it.
    pub value: i64,
}

/// What a control moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The GPUs of a job's pods; at 0 it is not submitted.
    Size,
    /// The discount of a bid, in percent; at 0 there is no bid.
    Discount,
    /// The limit of a bid, in micro-units; at 0 there is no bid.
    Limit,
    /// The GPUs of the first of two quotas; the second one has the rest.
    Move,
    /// The price of an offer, in micro-units.
    Price,
    /// The instances of an offer.
    Inventory,
    /// Whether it happens: 1 or 0.
    Switch,
}

/// The controls of these acts: one for each of the first.
#[must_use]
pub fn of(state: &State, acts: &[Change]) -> Vec<Control> {
    let step = step(state, acts);
    acts.iter().take(CONTROLS_MAX).map(|act| control(state, &act.command, step)).collect()
}

fn control(state: &State, command: &Command, step: i64) -> Control {
    let (kind, least, most, step, value) = range(state, command, step).unwrap_or((Kind::Switch, 0, 1, 1, 1));
    Control { kind, least: least.min(value), most: most.max(value), step, value }
}

/// What the value of a command is, and how far it goes; nothing for a command that is made or not.
fn range(state: &State, command: &Command, step: i64) -> Option<(Kind, i64, i64, i64, i64)> {
    if let Command::SubmitJob(job) = command {
        if let Some(spot) = &job.spot {
            if let Some(percent) = spot.discount_percent {
                return Some((Kind::Discount, 0, 90, 10, percent));
            }
            let price = spot.price_limit?;
            let most = offer_price(state, spot.offer.as_str())?;
            return Some((Kind::Limit, 0, most, (most / 10).max(1), price));
        }
        let quota = state.quota_no(job.quota.as_ref()?)?;
        return Some((Kind::Size, 0, guaranteed(state, root(state, quota)), step, size(command)?));
    }
    if let Command::ScaleQuotas(scale) = command {
        let [first, second] = &scale.targets[..] else { return None };
        let (value, rest) = (*first.min.get(GPU)?, *second.min.get(GPU)?);
        return Some((Kind::Move, 0, value.saturating_add(rest), step, value));
    }
    if let Command::PublishPrice(price) = command {
        let most = offer_price(state, price.offer.as_str())?;
        // A price for another time is part of the past, or of what the scenario is about.
        let is_now = price.at.is_none();
        return is_now.then_some((Kind::Price, most / 10, most, (most / 50).max(1), price.price));
    }
    if let Command::SetInventory(set) = command {
        return Some((Kind::Inventory, 0, set.inventory.saturating_mul(2).max(8), 1, set.inventory));
    }
    None
}

fn root(state: &State, quota: QuotaNo) -> QuotaNo {
    let mut at = quota;
    while let Some(parent) = state.quotas[at.at()].parent {
        at = parent;
    }
    at
}

fn guaranteed(state: &State, quota: QuotaNo) -> i64 {
    state.cluster.gpus(&state.quotas[quota.at()].min.amount)
}

fn offer_price(state: &State, name: &str) -> Option<i64> {
    let mut offers = state.market.live_offers();
    offers.find(|(_, offer)| offer.id.as_str() == name).map(|(_, offer)| offer.terms.original_price)
}

/// What divides all guarantees and all that is asked for, so that every value that matters can be reached.
fn step(state: &State, acts: &[Change]) -> i64 {
    let amounts = state.live_quotas().map(|(no, _)| guaranteed(state, no));
    let all = amounts.chain(acts.iter().filter_map(|act| size(&act.command)));
    all.fold(0, divisor).max(WHOLE)
}

/// The GPUs that a command asks for: those of a job's first kind of pods, or those of the first quota.
fn size(command: &Command) -> Option<i64> {
    if let Command::SubmitJob(job) = command {
        return job.pods.first()?.amount.get(GPU).copied();
    }
    if let Command::ScaleQuotas(scale) = command {
        return scale.targets.first()?.min.get(GPU).copied();
    }
    None
}

fn divisor(a: i64, b: i64) -> i64 {
    if b == 0 { a.saturating_abs() } else { divisor(b, a % b) }
}

impl Control {
    /// The act with this value; nothing if it does not happen then.
    #[must_use]
    pub fn apply(&self, act: &Change, value: i64) -> Option<Change> {
        let value = value.clamp(self.least, self.most);
        // What is written happens as it is written, and is refused if it is wrong.
        let is_moved = value != self.value;
        if is_moved && value <= 0 && matches!(self.kind, Kind::Size | Kind::Discount | Kind::Limit | Kind::Switch) {
            return None;
        }
        let mut change = act.clone();
        if is_moved {
            self.put(&mut change.command, value);
        }
        Some(change)
    }

    fn put(&self, command: &mut Command, value: i64) {
        if let Command::SubmitJob(job) = command {
            if let Some(spot) = &mut job.spot {
                let limit =
                    if self.kind == Kind::Discount { &mut spot.discount_percent } else { &mut spot.price_limit };
                *limit = Some(value);
            } else if let Some(pods) = job.pods.first_mut() {
                pods.amount.insert(GPU.to_owned(), value);
            }
        } else if let Command::ScaleQuotas(scale) = command {
            if let [first, second] = &mut scale.targets[..] {
                second.min.insert(GPU.to_owned(), self.most - value);
                first.min.insert(GPU.to_owned(), value);
            }
        } else if let Command::PublishPrice(price) = command {
            price.price = value;
        } else if let Command::SetInventory(set) = command {
            set.inventory = value;
        }
    }
}
