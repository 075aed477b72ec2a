//! A variant, simulated forward step by step.
//!
//! The order of one moment: what comes by itself first, so that what ends then is free, then the changes, then what the
//! base brings. At the very beginning nothing comes before the changes: applying them for real is the same step.

use std::sync::Arc;

use crate::host::authority;
use crate::host::clock;
use crate::host::clock::Tick;
use crate::host::plan::base::Base;
use crate::host::plan::tally::Tally;
use crate::message::command::ApplyPlan;
use crate::message::command::Command;
use crate::message::event::Event;
use crate::message::plan::Change;
use crate::message::plan::Variant;
use crate::message::rejection::Rejection;
use crate::state::world::State;
use crate::unit::limit;
use crate::unit::sort;
use crate::unit::time::Millis;
use crate::unit::time::Timestamp;

/// How far a run goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Horizon {
    /// To this time.
    Until(Timestamp),
    /// Until nothing happens any more.
    Quiet,
}

/// A change that was refused. The run goes on without it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Its position in the variant.
    pub change: usize,
    /// Why.
    pub rejection: Rejection,
}

/// What a step sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sent {
    /// A round: that of this slot, or because something is due.
    Round(Option<i64>),
    /// The changes of one moment that were not refused, by their positions in the variant.
    Changes(Vec<usize>),
    /// What the base brings, by its position.
    Ahead(usize),
}

/// A step, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// When.
    pub at: Timestamp,
    /// What was sent.
    pub sent: Sent,
    /// The answer.
    pub answer: Result<Vec<Event>, Rejection>,
}

/// A variant on its way.
#[derive(Clone, Debug)]
pub struct Run {
    state: State,
    from: Timestamp,
    now: Timestamp,
    horizon: Horizon,
    /// Changes that are on, by time, with their positions in the variant.
    changes: Vec<(usize, Change)>,
    next_change: usize,
    ahead: Arc<[(Timestamp, Command)]>,
    next_ahead: usize,
    /// The end of the run that this one is compared with, if it is one without a stated end.
    beside: Option<Timestamp>,
    is_over: bool,
    /// Changes that were refused.
    pub refused: Vec<Refusal>,
    /// What it has come to so far.
    pub tally: Tally,
}

/// What comes next.
#[derive(Clone, Copy)]
enum Next {
    Tick(Tick),
    Changes,
    Ahead,
}

impl Run {
    /// A run that has not begun. It goes at most [`limit::PLAN_MS_MAX`] ahead, whatever the horizon.
    #[must_use]
    pub fn new(base: &Base, variant: &Variant, horizon: Horizon) -> Self {
        let state = State::clone(&base.state);
        let mut changes: Vec<(usize, Change)> =
            variant.changes.iter().cloned().enumerate().filter(|(_, change)| !change.is_off).collect();
        for (_, change) in &mut changes {
            change.at = change.at.max(base.from);
        }
        sort::by_key(&mut changes, |(_, change)| change.at);
        let tally = Tally::new(&state, base.from);
        Self {
            state,
            from: base.from,
            now: base.from,
            horizon,
            changes,
            next_change: 0,
            ahead: Arc::clone(&base.ahead),
            next_ahead: 0,
            beside: None,
            is_over: false,
            refused: Vec::new(),
            tally,
        }
    }

    /// Is going to be compared with another run, which is over. Without a stated end either may come to rest earlier:
    /// this one goes at least as far, and whoever waits at the end has waited until the other came to rest.
    pub fn compare_with(&mut self, other: &Self) {
        self.compare_until(other.now);
    }

    /// The same, with nothing known of the other run but when it was over.
    pub fn compare_until(&mut self, end: Timestamp) {
        self.beside = (self.horizon == Horizon::Quiet).then_some(end);
    }

    /// The state by now.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The time by now.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// Until when waits are counted.
    #[must_use]
    pub fn waits_until(&self) -> Timestamp {
        self.beside.map_or(self.now, |end| end.min(self.now))
    }

    /// Whether it has reached its horizon.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// How much of it is done, in thousandths: of its time, or of what the base brings if nobody knows the time.
    #[must_use]
    pub fn done(&self) -> i64 {
        let share = |part: i64, whole: i64| {
            let share = i128::from(part) * 1000 / i128::from(whole.max(1));
            i64::try_from(share).unwrap_or(1000).clamp(0, 1000)
        };
        match self.horizon {
            _ if self.is_over => 1000,
            Horizon::Until(until) => share((self.now - self.from).0, (until - self.from).0),
            Horizon::Quiet if self.ahead.is_empty() => 0,
            Horizon::Quiet => {
                let count = |at: usize| i64::try_from(at).unwrap_or(i64::MAX);
                share(count(self.next_ahead), count(self.ahead.len()))
            }
        }
    }

    /// Takes steps until so many events have happened or the horizon is reached.
    pub fn advance(&mut self, events: u64) {
        let enough = self.tally.events.saturating_add(events);
        while self.tally.events < enough && self.step().is_some() {}
    }

    /// Takes all steps that are left.
    pub fn finish(&mut self) {
        while self.step().is_some() {}
    }

    /// Takes the next step; nothing at the horizon.
    pub fn step(&mut self) -> Option<Step> {
        let Some((at, next)) = self.next() else {
            self.end();
            return None;
        };
        self.now = at;
        let step = match next {
            Next::Tick(tick) => Step { at, sent: Sent::Round(tick.slot), answer: tick.take(&mut self.state) },
            Next::Changes => self.change(),
            Next::Ahead => self.bring(),
        };
        self.tally.take(&self.state, step.answer.as_deref().unwrap_or_default(), at);
        Some(step)
    }

    fn next(&self) -> Option<(Timestamp, Next)> {
        if self.is_over {
            return None;
        }
        let change = self.changes.get(self.next_change).map(|(_, change)| (change.at, Next::Changes));
        let ahead = self.ahead.get(self.next_ahead).map(|(at, _)| ((*at).max(self.from), Next::Ahead));
        let last = match self.horizon {
            Horizon::Until(until) => until.min(self.latest()),
            Horizon::Quiet => self.latest(),
        };
        let tick = self.tick(last).map(|tick| (tick.at, Next::Tick(tick)));
        // Of one moment the first in this list comes first.
        let has_begun = self.next_change > 0 || self.now > self.from || self.tally.events > 0;
        let known = if has_begun { [tick, change, ahead] } else { [change, tick, ahead] };
        let (at, next) = known.into_iter().flatten().min_by_key(|(at, _)| *at)?;
        (at <= last).then_some((at, next))
    }

    /// What comes next by itself. What is due by the horizon is looked at there, if not before.
    fn tick(&self, last: Timestamp) -> Option<Tick> {
        let tick = clock::next(&self.state, self.now)?;
        let is_due = tick.at > last && self.state.next_due(self.now).is_some_and(|due| due <= last);
        Some(if is_due { Tick { at: last, slot: None } } else { tick })
    }

    fn latest(&self) -> Timestamp {
        self.from + Millis(limit::PLAN_MS_MAX)
    }

    fn end(&mut self) {
        if self.is_over {
            return;
        }
        self.is_over = true;
        let end = match self.horizon {
            Horizon::Until(until) => Some(until.min(self.latest())),
            // At rest nothing happens any more.
            Horizon::Quiet => self.beside,
        };
        self.now = end.unwrap_or(self.now).max(self.now);
        self.tally.close(&self.state, self.now, self.waits_until());
    }

    /// All changes of this moment as one plan. A change that is refused is left out, and the others are made.
    fn change(&mut self) -> Step {
        let later = &self.changes[self.next_change..];
        let count = later.iter().take_while(|(_, change)| change.at <= self.now).count();
        let mut group: Vec<(usize, Change)> = later[..count].to_vec();
        self.next_change += count;
        loop {
            let commands = group.iter().map(|(_, change)| change.command.clone()).collect();
            let answer = authority::step(&mut self.state, &Command::ApplyPlan(ApplyPlan { commands }), self.now);
            match answer {
                Err(Rejection::InPlan { at, rejection }) if (at as usize) < group.len() => {
                    let (change, _) = group.remove(at as usize);
                    self.refused.push(Refusal { change, rejection: *rejection });
                }
                answer => {
                    if let Err(rejection) = &answer {
                        let all = group.drain(..);
                        self.refused.extend(all.map(|(change, _)| Refusal { change, rejection: rejection.clone() }));
                    }
                    let sent = Sent::Changes(group.into_iter().map(|(change, _)| change).collect());
                    return Step { at: self.now, sent, answer };
                }
            }
        }
    }

    fn bring(&mut self) -> Step {
        let at = self.next_ahead;
        self.next_ahead = at + 1;
        let answer = authority::step(&mut self.state, &self.ahead[at].1, self.now);
        if let Err(rejection) = &answer {
            self.tally.refuse(at, rejection);
        }
        Step { at: self.now, sent: Sent::Ahead(at), answer }
    }
}
