//! The replay itself: submissions and prices at their times, and the rounds that time brings by itself, as in a plan.

use std::io::IsTerminal;
use std::io::Write;

use engine::host::clock;
use engine::host::clock::Tick;
use engine::message::command::Command;
use engine::message::command::Round;
use engine::message::command::UpdateQuota;
use engine::quota::settings::QueueStrategy;
use engine::quota::settings::QuotaSettings;
use engine::quota::tree::Quota;
use planner::page::import;
use planner::page::import::Staged;
use script::session::Session;

use crate::meter::Meter;
use crate::replay::figures::Figures;
use trace::jobs::Arrival;
use trace::jobs::Trace;
use trace::machines::Setting;
use trace::offers::Change;
use trace::offers::Offers;
use trace::sheet::Source;

/// A cluster without jobs, set up.
#[derive(Clone, Debug)]
pub struct Stage {
    session: Session,
    /// All GPUs that jobs may start on, in thousandths.
    gpus: i64,
}

impl Stage {
    /// The same cluster, all of whose quotas order their queues so.
    pub fn with_strategy(&self, strategy: QueueStrategy) -> Result<Self, String> {
        let mut stage = self.clone();
        let of_quota = |(_, quota): (_, &Quota)| UpdateQuota {
            quota: quota.id.clone(),
            settings: QuotaSettings { strategy, ..quota.settings.clone() },
        };
        let updates: Vec<UpdateQuota> = self.session.state.live_quotas().map(of_quota).collect();
        for update in updates {
            let command = Command::UpdateQuota(update);
            stage.session.stage(&command, self.session.now).map_err(|rejection| rejection.to_string())?;
        }
        Ok(stage)
    }
}

/// Reads what is replayed, and refuses what the engine would refuse before anything has happened.
pub fn prepare(setting: &Setting<'_>, offers: Option<&Offers>, trace: &Source) -> Result<(Stage, Trace), String> {
    let Staged { state, begin, gpus, trace } = import::staged(setting, offers, trace)?;
    Ok((Stage { session: Session { state, now: begin, log: Vec::new() }, gpus }, trace))
}

/// What can happen next; of what happens at one moment, the first of these first, as in a plan.
#[derive(Clone, Copy, Debug)]
enum Next {
    /// A round comes by itself.
    Tick(Tick),
    /// The price or the inventory of an offer changes.
    Offer,
    /// A job is submitted.
    Job,
}

/// Replays a trace to its end: until nothing is submitted, nothing ends and nobody bids any more.
pub fn replay(stage: Stage, trace: Trace, meter: &dyn Meter, shows_progress: bool) -> Result<Figures, String> {
    let Stage { mut session, gpus } = stage;
    let mut figures = Figures::of(&session.state, gpus);
    session.log.clear();
    let mut bar = Bar::of(trace.arrivals.len(), shows_progress);
    let began = meter.now();
    let mut arrivals = trace.arrivals.into_iter().peekable();
    let mut changes = trace.changes.into_iter().peekable();
    loop {
        let arrival = arrivals.peek().map(|arrival| arrival.at);
        let is_traded = arrival.is_some() || session.state.market.desks.iter().any(|desk| !desk.is_empty());
        let change = changes.peek().map(|change| change.at).filter(|_| is_traded);
        let is_of_use = |tick: &Tick| is_traded || session.state.is_waited_for() || tick.slot.is_none();
        let tick = clock::next(&session.state, session.now).filter(is_of_use).or_else(|| {
            // Prices go on moving when nobody is left who would pay them; what still runs ends.
            session.state.next_due(session.now).map(|at| Tick { at, slot: None })
        });
        let tick = tick.map(|tick| (tick.at, Next::Tick(tick)));
        let known = [tick, change.map(|at| (at, Next::Offer)), arrival.map(|at| (at, Next::Job))];
        let Some((at, next)) = known.into_iter().flatten().min_by_key(|(at, _)| *at) else { break };
        session.now = at.max(session.now);
        match next {
            Next::Tick(Tick { slot, .. }) => {
                session.act(&Command::Round(Round { slot })).map_err(|rejection| rejection.to_string())?;
            }
            Next::Offer => {
                if let Some(Change { command, place, .. }) = changes.next() {
                    session.act(&command).map_err(|rejection| format!("{place}: {rejection}"))?;
                }
            }
            Next::Job => {
                if let Some(Arrival { job, place, .. }) = arrivals.next() {
                    session.act(&Command::SubmitJob(job)).map_err(|rejection| format!("{place}: {rejection}"))?;
                    bar.advance();
                }
            }
        }
        figures.take(&session.state, &session.log, session.now);
        session.log.clear();
    }
    figures.close(&session.state, meter.since(began), meter.peak_bytes(), trace.remarks);
    bar.clear();
    Ok(figures)
}

/// A progress bar on standard error, drawn for people only.
struct Bar {
    total: usize,
    done: usize,
    drawn: Option<usize>,
    is_shown: bool,
}

impl Bar {
    fn of(total: usize, is_wanted: bool) -> Self {
        Self { total, done: 0, drawn: None, is_shown: is_wanted && std::io::stderr().is_terminal() }
    }

    fn advance(&mut self) {
        self.done += 1;
        let percent = self.done * 100 / self.total.max(1);
        if self.is_shown && self.drawn != Some(percent) {
            self.drawn = Some(percent);
            let full = percent * 40 / 100;
            let line =
                format!("\r[{}{}] {percent:3} % of {} jobs", "#".repeat(full), " ".repeat(40 - full), self.total);
            let _ = std::io::stderr().write_all(line.as_bytes());
        }
    }

    fn clear(&self) {
        if self.is_shown {
            let _ = write!(std::io::stderr(), "\r{}\r", " ".repeat(72));
        }
    }
}
