//! What a replay comes to: waits, use, evictions, work lost, speed, memory.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use engine::job::cause::Cause;
use engine::job::phase::Outcome;
use engine::message::event::Event;
use engine::state::world::State;
use engine::unit::amount::GPU;
use engine::unit::id::JobNo;
use engine::unit::time::Timestamp;
use serde::Serialize;

use crate::replay::market::Market;
use crate::replay::number::gpu_hours;
use crate::replay::number::period;
use crate::replay::number::ratio;
use crate::replay::number::wide_ratio;
use crate::replay::served::ClassFigures;
use crate::replay::served::Served;
use crate::replay::waits::Waits;

/// Evictions under one rule.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Rule {
    pub evictions: u64,
    pub lost_gpu_hours: f64,
    pub kept_gpu_hours: f64,
    #[serde(skip)]
    lost_gpu_ms: i128,
    #[serde(skip)]
    kept_gpu_ms: i128,
}

/// Everything that is printed.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Figures {
    pub submitted: u64,
    pub started: u64,
    pub restarted: u64,
    pub finished: u64,
    pub failed: u64,
    pub preempted: u64,
    pub waiting_at_end: u64,
    pub wait: Waits,
    pub wait_by_quota: BTreeMap<String, Waits>,
    /// By use of idle resources and priority.
    pub classes: BTreeMap<String, ClassFigures>,
    /// Jain's index of the quotas' mean slowdowns.
    pub fairness: Option<f64>,
    pub gpus: f64,
    pub gpu_use: f64,
    /// What of it was not lost.
    pub gpu_use_kept: f64,
    pub span_s: i64,
    pub rules: BTreeMap<&'static str, Rule>,
    /// Only if there are offers.
    pub market: Option<Market>,
    pub rounds: u64,
    pub decisions: u64,
    pub job_events: u64,
    pub elapsed_s: f64,
    pub decisions_per_s: f64,
    pub job_events_per_s: f64,
    pub peak_memory_bytes: Option<u64>,
    pub remarks: Vec<String>,
    #[serde(skip)]
    served: Served,
    #[serde(skip)]
    used: i64,
    #[serde(skip)]
    used_gpu_ms: i128,
    #[serde(skip)]
    capacity: i64,
    #[serde(skip)]
    first: Option<Timestamp>,
    #[serde(skip)]
    last: Timestamp,
}

impl Figures {
    /// Nothing yet, on this many thousandths of GPUs.
    #[must_use]
    pub fn of(state: &State, capacity: i64) -> Self {
        let wait_by_quota = state.live_quotas().map(|(_, quota)| (quota.id.to_string(), Waits::default())).collect();
        let market = state.market.live_offers().next().map(|_| Market::default());
        Self { capacity, wait_by_quota, market, gpus: ratio(capacity, 1000), ..Self::default() }
    }

    /// Takes in what has happened up to now; the state is the one after it.
    pub fn take(&mut self, state: &State, events: &[Event], now: Timestamp) {
        self.used_gpu_ms += i128::from(self.used) * i128::from((now - self.last).0);
        self.last = now;
        self.rounds += 1;
        for event in events {
            self.event(state, event);
        }
        if self.submitted > 0 {
            self.first.get_or_insert(now);
        }
        let in_quota: i64 = state
            .domains
            .list
            .iter()
            .flat_map(|domain| &domain.roots)
            .map(|root| state.cluster.gpus(&state.ledger.quotas[root.at()].used))
            .sum();
        let idle: i64 = state.ledger.domains.iter().map(|domain| state.cluster.gpus(&domain.idle)).sum();
        self.used = in_quota + idle;
    }

    fn event(&mut self, state: &State, event: &Event) {
        let is_decision = matches!(
            event,
            Event::Promoted { .. }
                | Event::Evicted { .. }
                | Event::Shrunk { .. }
                | Event::Granted { .. }
                | Event::Started { .. }
                | Event::Grown { .. }
                | Event::Held { .. }
        );
        self.decisions += u64::from(is_decision);
        self.job_events +=
            u64::from(!matches!(event, Event::Rounded { .. } | Event::Priced { .. } | Event::InventorySet { .. }));
        if let Some(market) = &mut self.market {
            market.take(state, event);
        }
        if let Event::JobSubmitted { no, at, spec } = event {
            self.submitted += 1;
            self.served.submit(*no, *at, spec);
        } else if let Event::Started { job, at, .. } = event {
            self.start(state, *job, *at);
        } else if let Event::Evicted { cause, lost_gpu_ms, saved_gpu_ms, .. } = event {
            let rule = self.rules.entry(rule_of(cause)).or_default();
            rule.evictions += 1;
            rule.lost_gpu_ms += i128::from(*lost_gpu_ms);
            rule.kept_gpu_ms += i128::from(*saved_gpu_ms);
        } else if let Event::Ended { job, at, outcome } = event {
            match outcome {
                Outcome::Succeeded => {
                    self.finished += 1;
                    self.served.finish(*job, *at);
                }
                Outcome::Failed { .. } | Outcome::Cancelled => self.failed += 1,
                Outcome::Preempted => self.preempted += 1,
            }
        }
    }

    fn start(&mut self, state: &State, job: JobNo, at: Timestamp) {
        let Some(wait) = self.served.start(job, at) else {
            self.restarted += 1;
            return;
        };
        self.started += 1;
        self.wait.add(wait);
        let Some(spec) = state.jobs.get(job).map(|job| &job.spec) else { return };
        if spec.spot.is_some() {
            self.market.iter_mut().for_each(|market| market.wait(state, job, wait));
        } else if let Some(waits) = self.wait_by_quota.get_mut(state.drawn_on(spec)) {
            waits.add(wait);
        }
    }

    /// Whoever has not started by the end has waited until then.
    fn waits_on(&mut self, state: &State) {
        for (no, job) in state.jobs.iter().filter(|(_, job)| job.is_queued()) {
            let Some(wait) = self.served.wait_on(no, self.last) else { continue };
            self.wait.add_open(wait);
            if let Some(waits) =
                self.wait_by_quota.get_mut(state.drawn_on(&job.spec)).filter(|_| job.spec.spot.is_none())
            {
                waits.add_open(wait);
            }
        }
    }

    /// Evictions under all rules together.
    #[must_use]
    pub fn all_rules(&self) -> Rule {
        self.rules.values().fold(Rule::default(), |all, rule| Rule {
            evictions: all.evictions + rule.evictions,
            lost_gpu_hours: all.lost_gpu_hours + rule.lost_gpu_hours,
            kept_gpu_hours: all.kept_gpu_hours + rule.kept_gpu_hours,
            ..all
        })
    }

    /// The replay has ended, after this time.
    pub fn close(&mut self, state: &State, elapsed: Duration, peak_memory_bytes: Option<u64>, remarks: Vec<String>) {
        self.waiting_at_end = state.jobs.iter().filter(|(_, job)| job.is_queued()).count() as u64;
        self.waits_on(state);
        self.wait.close();
        self.wait_by_quota.values_mut().for_each(Waits::close);
        self.wait_by_quota.retain(|_, waits| !waits.is_empty());
        for rule in self.rules.values_mut() {
            (rule.lost_gpu_hours, rule.kept_gpu_hours) = (gpu_hours(rule.lost_gpu_ms), gpu_hours(rule.kept_gpu_ms));
        }
        self.classes = self.served.classes();
        self.fairness = self.served.fairness();
        self.market.iter_mut().for_each(|market| market.close(state));
        let span = self.first.map_or(0, |first| (self.last - first).0);
        self.span_s = span / 1000;
        let offered = i128::from(self.capacity) * i128::from(span);
        // What is used is counted in thousandths of GPUs, what is lost in GPUs.
        let lost: i128 = self.rules.values().map(|rule| rule.lost_gpu_ms * i128::from(GPU)).sum();
        let share = |gpu_ms: i128| if offered > 0 { wide_ratio(gpu_ms, offered) } else { 0.0 };
        (self.gpu_use, self.gpu_use_kept) = (share(self.used_gpu_ms), share(self.used_gpu_ms - lost));
        self.elapsed_s = elapsed.as_secs_f64();
        self.decisions_per_s = per_second(self.decisions, elapsed);
        self.job_events_per_s = per_second(self.job_events, elapsed);
        self.peak_memory_bytes = peak_memory_bytes;
        self.remarks = remarks;
    }
}

fn rule_of(cause: &Cause) -> &'static str {
    match cause {
        Cause::Reclaimed { .. } => "reclaim",
        Cause::OverUse { .. } => "over-use after a scale-down",
        Cause::ChildLevel { .. } => "child-level preemption",
        Cause::SelfLevel { .. } => "self-level preemption",
        Cause::ScaledDown { .. } => "scale-down",
        Cause::LendingEnded => "end of lending",
        Cause::BelowPrice { .. } => "spot: bid below the price",
        Cause::BelowAverage { .. } => "spot: bid below the average price",
        Cause::Outbid { .. } => "spot: outbid",
        Cause::Halted(_) => "end of a run",
        Cause::InventoryShrunk { .. } => "spot: inventory shrank",
    }
}

#[expect(clippy::cast_precision_loss, reason = "for people to read")]
fn per_second(count: u64, elapsed: Duration) -> f64 {
    count as f64 / elapsed.as_secs_f64().max(f64::MIN_POSITIVE)
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { evictions, lost_gpu_hours, kept_gpu_hours, .. } = self;
        write!(f, "{evictions}, {lost_gpu_hours:.1} GPU-hours lost, {kept_gpu_hours:.1} kept by checkpoints")
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for remark in &self.remarks {
            writeln!(f, "note: {remark}")?;
        }
        let Self { submitted, started, restarted, finished, failed, preempted, waiting_at_end, .. } = self;
        writeln!(
            f,
            "jobs       {submitted} submitted, {started} started, {restarted} restarts, {finished} finished, {preempted} preempted for good, {failed} failed, {waiting_at_end} still waiting"
        )?;
        writeln!(f, "wait       {}", self.wait)?;
        for (quota, waits) in &self.wait_by_quota {
            writeln!(f, "  {quota:<16} {:>7} started, {waits}", waits.started)?;
        }
        for (class, ClassFigures { wait, delay_mean_ms, .. }) in &self.classes {
            let (mean, p95, delay) = (period(wait.mean_ms), period(wait.p95_ms), period(*delay_mean_ms));
            writeln!(f, "  {class:<24} mean {mean}, p95 {p95}, done {delay} later than alone")?;
        }
        writeln!(
            f,
            "GPU use    {:.1} % of {:.0} GPUs over {}",
            self.gpu_use * 100.0,
            self.gpus,
            period(self.span_s.saturating_mul(1000))
        )?;
        writeln!(f, "evictions  {}", self.all_rules())?;
        for (rule, figures) in &self.rules {
            writeln!(f, "  {rule:<24} {figures}")?;
        }
        if let Some(market) = &self.market {
            writeln!(f, "{market}")?;
        }
        writeln!(
            f,
            "engine     {} rounds, {} decisions, {} job events in {:.3} s",
            self.rounds, self.decisions, self.job_events, self.elapsed_s
        )?;
        writeln!(f, "speed      {:.0} decisions/s, {:.0} job events/s", self.decisions_per_s, self.job_events_per_s)?;
        match self.peak_memory_bytes {
            Some(bytes) => write!(f, "memory     {:.1} MiB at most", wide_ratio(bytes.into(), 1 << 20)),
            None => write!(f, "memory     not known on this system"),
        }
    }
}
