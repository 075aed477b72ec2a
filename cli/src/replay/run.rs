//! The replay itself: one clock, two things that can happen next.

use std::io::IsTerminal;
use std::io::Write;

use engine::message::command::Command;

use crate::meter::Meter;
use crate::replay::figures::Figures;
use crate::replay::machines::Machines;
use crate::replay::trace::Trace;

/// Rounds at one moment that change nothing any more; more of them would be a loop.
const STALLS_MAX: u32 = 3;

/// Replays a trace to its end: until nothing is submitted and nothing ends any more.
pub fn replay(machines: Machines, trace: Trace, meter: &dyn Meter, shows_progress: bool) -> Result<Figures, String> {
    let Machines { mut session, gpus, .. } = machines;
    session.log.clear();
    let mut figures = Figures::of(&session.state, gpus);
    let mut bar = Bar::of(trace.arrivals.len(), shows_progress);
    let began = meter.now();
    let mut arrivals = trace.arrivals.into_iter().peekable();
    let mut stalls = 0;
    loop {
        let wakeup = session.state.next_wakeup();
        let arrival = arrivals.peek().map(|arrival| arrival.at);
        let Some(at) = [wakeup, arrival].into_iter().flatten().min() else { break };
        session.now = at.max(session.now);
        if wakeup == Some(at) {
            session.round().map_err(|rejection| rejection.to_string())?;
            stalls = if session.state.next_wakeup() == Some(at) { stalls + 1 } else { 0 };
            if stalls > STALLS_MAX {
                return Err(format!(
                    "the engine does not get beyond {} s; this is a fault of the engine, please report it with the trace",
                    at.0 / 1000
                ));
            }
        } else if let Some(arrival) = arrivals.next() {
            let name = arrival.job.job.clone();
            session.send(&Command::SubmitJob(arrival.job)).map_err(|rejection| format!("job {name}: {rejection}"))?;
            bar.advance();
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
