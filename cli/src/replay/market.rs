//! What the spot market of a replay comes to: bids, grants, releases, work lost and kept, and what it cost.

use std::collections::BTreeMap;
use std::fmt;

use engine::market::bill::Bill;
use engine::message::event::Event;
use engine::state::world::State;
use engine::unit::id::JobNo;
use serde::Serialize;

use crate::replay::number::gpu_hours;
use crate::replay::number::period;
use crate::replay::number::ratio;
use crate::replay::waits::Waits;

/// What an offer, or all of them, came to.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Trade {
    pub bids: u64,
    pub grants: u64,
    pub releases: u64,
    pub finished: u64,
    pub waiting_at_end: u64,
    pub wait: Waits,
    pub instance_hours: f64,
    /// In units of currency.
    pub cost: f64,
    /// The same instances at the original price.
    pub cost_at_original_price: f64,
    pub lost_gpu_hours: f64,
    pub kept_gpu_hours: f64,
    #[serde(skip)]
    sums: Sums,
}

/// Sums before they are rounded for people: micro-units of currency, GPU-milliseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    minutes: i64,
    micros: i128,
    original_micros: i128,
    lost: i128,
    kept: i128,
}

/// The market of a replay.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Market {
    pub total: Trade,
    pub offers: BTreeMap<String, Trade>,
}

impl Market {
    /// An event of a job with a bid, or of an offer.
    pub fn take(&mut self, state: &State, event: &Event) {
        if let Event::OfferCreated { offer, .. } = event {
            self.offers.insert(offer.id.to_string(), Trade::default());
        } else if let Event::JobSubmitted { no, .. } = event {
            self.note(state, *no, |trade| trade.bids += 1);
        } else if let Event::Started { job, .. } = event {
            self.note(state, *job, |trade| trade.grants += 1);
        } else if let Event::Evicted { job, lost_gpu_ms, saved_gpu_ms, .. } = event {
            self.note(state, *job, |trade| {
                trade.releases += 1;
                trade.sums.lost += i128::from(*lost_gpu_ms);
                trade.sums.kept += i128::from(*saved_gpu_ms);
            });
        } else if let Event::Ended { job, outcome: engine::job::phase::Outcome::Succeeded, .. } = event {
            self.note(state, *job, |trade| trade.finished += 1);
        } else if let Event::Billed { job, bill, .. } = event {
            let Some((offer, _, _)) = state.bid_of(*job) else { return };
            let original = state.market.offers[offer.at()].terms.original_price;
            self.note(state, *job, |trade| trade.bill(bill, original));
        }
    }

    /// How long a bid waited for its first grant.
    pub fn wait(&mut self, state: &State, job: JobNo, wait_ms: i64) {
        self.note(state, job, |trade| trade.wait.add(wait_ms));
    }

    fn note(&mut self, state: &State, job: JobNo, note: impl Fn(&mut Trade)) {
        let Some((offer, _, _)) = state.bid_of(job) else { return };
        note(&mut self.total);
        note(self.offers.entry(state.market.offers[offer.at()].id.to_string()).or_default());
    }

    /// The replay has ended.
    pub fn close(&mut self, state: &State) {
        for (no, _) in state.jobs.iter().filter(|(_, job)| job.is_queued()) {
            self.note(state, no, |trade| trade.waiting_at_end += 1);
        }
        self.offers.values_mut().chain([&mut self.total]).for_each(Trade::close);
    }
}

impl Trade {
    fn bill(&mut self, bill: &Bill, original_price: i64) {
        let minutes = bill.charges.minutes.saturating_mul(bill.instances);
        self.sums.minutes += minutes;
        self.sums.micros += i128::from(bill.charges.micros);
        self.sums.original_micros += i128::from(minutes) * i128::from(original_price);
    }

    fn close(&mut self) {
        let Sums { minutes, micros, original_micros, lost, kept } = self.sums;
        self.wait.close();
        self.instance_hours = ratio(minutes, 60);
        self.cost = units(micros);
        self.cost_at_original_price = units(original_micros);
        (self.lost_gpu_hours, self.kept_gpu_hours) = (gpu_hours(lost), gpu_hours(kept));
    }
}

#[expect(clippy::cast_precision_loss, reason = "for people to read")]
fn units(micros: i128) -> f64 {
    micros as f64 / 1_000_000.0
}

impl fmt::Display for Market {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "market     {}", self.total)?;
        for (offer, trade) in &self.offers {
            write!(f, "\n  {offer:<16} {trade}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Trade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bids, grants, releases, finished, waiting_at_end, .. } = self;
        write!(
            f,
            "{bids} bids, {grants} grants, {releases} releases, {finished} finished, {waiting_at_end} still waiting; wait p50 {}, p95 {}; cost {:.2} for {:.1} instance-hours",
            period(self.wait.p50_ms),
            period(self.wait.p95_ms),
            self.cost,
            self.instance_hours
        )?;
        if self.cost_at_original_price > 0.0 {
            let share = self.cost / self.cost_at_original_price * 100.0;
            write!(f, ", {share:.1} % of {:.2} at the original price", self.cost_at_original_price)?;
        }
        write!(f, "; {:.1} GPU-hours lost, {:.1} kept by checkpoints", self.lost_gpu_hours, self.kept_gpu_hours)
    }
}
