//! Plays random markets, with the books beside them.

use engine::job::cause::Cause;
use engine::message::command::Command;
use engine::message::event::Event;
use engine::message::snapshot::Snapshot;
use engine::unit::id::JobNo;
use engine::unit::id::OfferNo;
use engine::unit::time::Timestamp;

use crate::history::seeds;
use crate::market::books::Books;
use crate::random::Random;
use crate::run::Run;
use crate::run::note;

const CASES: u64 = 1_000;
const COMMANDS: usize = 100;

/// What is wrong, if anything is.
pub(crate) type Fault = Option<String>;

/// A scheduled round: the books when it began and when it had ended, and what happened in between.
pub(crate) struct Round<'a> {
    pub(crate) before: &'a Books,
    pub(crate) after: &'a Books,
    pub(crate) events: &'a [Event],
    pub(crate) now: Timestamp,
}

impl Round<'_> {
    /// Jobs that started on an offer.
    pub(crate) fn started(&self, offer: OfferNo) -> Vec<JobNo> {
        let start = |event: &Event| if let Event::Started { job, .. } = event { Some(*job) } else { None };
        self.events.iter().filter_map(start).filter(|job| self.is_on(*job, offer)).collect()
    }

    /// Jobs that were told to leave an offer, and why.
    pub(crate) fn released(&self, offer: OfferNo) -> Vec<(JobNo, &Cause)> {
        let mut released = Vec::new();
        for event in self.events {
            if let Event::Evicted { job, cause, .. } = event
                && self.is_on(*job, offer)
            {
                released.push((*job, &**cause));
            }
        }
        released
    }

    fn is_on(&self, job: JobNo, offer: OfferNo) -> bool {
        self.before.bidders.get(&job).is_some_and(|bidder| bidder.offer == offer)
    }
}

/// Shows each event with the books before it, and tells how many there were of which the judge had a say.
pub(crate) fn each_event(mut judge: impl FnMut(&Books, &Event) -> Option<Fault>) -> u32 {
    let mut n_judged = 0;
    play(|run, books, _, events| {
        let mut books = books.clone();
        for event in events {
            if let Some(fault) = judge(&books, event) {
                n_judged += 1;
                if fault.is_some() {
                    return fault.map(|fault| format!("{fault}: {event:?}"));
                }
            }
            books.take(&run.state, event);
        }
        None
    });
    n_judged
}

/// Shows each scheduled round.
pub(crate) fn each_round(mut judge: impl FnMut(&Round<'_>) -> Fault) {
    play(|run, books, _, events| {
        let begin = events.iter().position(|event| matches!(event, Event::Rounded { slot: Some(_), .. }))?;
        let mut before = books.clone();
        events[..begin].iter().for_each(|event| before.take(&run.state, event));
        let mut after = before.clone();
        events[begin..].iter().for_each(|event| after.take(&run.state, event));
        let round = Round { before: &before, after: &after, events: &events[begin..], now: run.now };
        judge(&round).map(|fault| format!("{fault}\n{events:?}"))
    });
}

/// Plays at least a thousand runs. Now and then a run goes on from what is stored of it.
pub(crate) fn play(mut judge: impl FnMut(&Run, &Books, &Command, &[Event]) -> Fault) {
    for seed in seeds(CASES) {
        let mut run = Run::on_market(seed);
        let mut restarts = Random::new(seed ^ 0x7e57);
        let mut books = Books::default();
        for _ in 0..COMMANDS {
            let (_, command, outcome) = run.step();
            let events = outcome.unwrap_or_default();
            if let Some(fault) = judge(&run, &books, &command, &events) {
                panic!("{fault}\n{}", note(&run, &command));
            }
            for event in &events {
                books.take(&run.state, event);
            }
            if restarts.chance(8) {
                let stored = Snapshot::of(&run.state).to_bytes();
                run.state = serde_json::from_slice::<Snapshot>(&stored).unwrap().restore().unwrap();
            }
        }
    }
}
