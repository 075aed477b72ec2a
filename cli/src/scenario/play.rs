//! Plays the lines of a block, and collects what the engine says.

use std::collections::BTreeMap;

use engine::explain;
use engine::market::bill;
use engine::market::bill::Charges;
use engine::message::command::Command;
use engine::message::command::Round;
use engine::message::command::market::PublishPrice;
use engine::message::event::Event;
use engine::message::rejection::Rejection;
use engine::unit::id::JobId;
use engine::unit::quantity;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use script::fault::Fault;
use script::line::Line;
use script::line::Question;
use script::line::Scene;
use script::lines::Block;
use script::lines::MARK;
use script::stage::Stage;
use script::stage::Trouble;

/// What a block came to: its lines with what the engine said now, and the first line where that differs.
#[derive(Clone, Debug)]
pub struct Played {
    pub lines: Vec<String>,
    pub difference: Option<String>,
}

/// A script on its way.
struct Script {
    stage: Stage,
    said: Vec<String>,
}

/// Plays a block. An error is a line that cannot be read.
pub fn block(block: &Block) -> Result<Played, String> {
    let mut script = Script::new().map_err(|rejection| rejection.to_string())?;
    let mut played = Played { lines: Vec::new(), difference: None };
    let mut at = 0;
    while at < block.lines.len() {
        let line = &block.lines[at];
        let number = block.first + at;
        at += 1;
        played.lines.push(line.clone());
        let asks = script.line(line).map_err(|fault| fault.in_line(number))?;
        let expected: Vec<&str> = block.lines[at..].iter().map_while(|line| line.strip_prefix(MARK)).collect();
        at += expected.len();
        let is_last = at == block.lines.len();
        if asks || is_last || !expected.is_empty() {
            let said = std::mem::take(&mut script.said);
            played.lines.extend(said.iter().map(|sentence| format!("{MARK}{sentence}")));
            if played.difference.is_none() {
                played.difference = difference(number, &expected, &said);
            }
        }
    }
    Ok(played)
}

fn difference(number: usize, expected: &[&str], said: &[String]) -> Option<String> {
    let most = expected.len().max(said.len());
    let at = (0..most).find(|&at| expected.get(at).copied() != said.get(at).map(String::as_str))?;
    let shown = |sentence: Option<&str>| sentence.map_or_else(|| "nothing".to_owned(), |text| format!("{text:?}"));
    let (expected, got) = (shown(expected.get(at).copied()), shown(said.get(at).map(String::as_str)));
    Some(format!("after line {number}: expected {expected}, got {got}"))
}

impl Script {
    fn new() -> Result<Self, Rejection> {
        Ok(Self { stage: Stage::new()?, said: Vec::new() })
    }

    /// Plays a line; whether the engine is asked to speak after it.
    fn line(&mut self, text: &str) -> Result<bool, Fault> {
        let Some(line) = self.stage.read(text)? else { return Ok(false) };
        match line {
            Line::Scene(scene) => return Ok(self.set(&scene)?),
            Line::Act(command) => {
                self.send(&command);
                return Ok(!matches!(command, Command::SubmitJob(_)));
            }
            Line::Cordon(node, status) => self.send(&self.stage.cordon(&node, status)?),
            Line::Price { offer, price, shift } => {
                let at = shift.map(|shift| self.stage.session.now + shift);
                self.send(&Command::PublishPrice(PublishPrice { offer, price, at }));
            }
            Line::Round => self.send(&Command::Round(Round::default())),
            Line::Advance(period) => self.advance(self.stage.session.now + period),
            Line::Pass(period) => self.pass(self.stage.session.now + period),
            Line::Skip(period) => {
                self.stage.session.now = self.stage.session.now + period;
                return Ok(false);
            }
            Line::Ask(question, job) => self.answer(question, &job)?,
            Line::Overdue => self.overdue(),
        }
        Ok(true)
    }

    /// Sets the scene. A quota or an offer that is refused is something that the engine says.
    fn set(&mut self, scene: &Scene) -> Result<bool, String> {
        match (self.stage.set(scene), scene) {
            (Ok(()), _) => Ok(false),
            (Err(Trouble::Refused(rejection)), Scene::Quota { .. } | Scene::Offer(_)) => {
                self.said.push(format!("refused: {rejection}"));
                Ok(true)
            }
            (Err(trouble), _) => Err(trouble.to_string()),
        }
    }

    /// Sends a command; what it comes to, or why it is refused, is said.
    fn send(&mut self, command: &Command) {
        let answer = self.stage.session.send(command);
        self.hear(answer);
    }

    fn hear(&mut self, answer: Result<Vec<Event>, Rejection>) {
        match answer {
            Ok(events) => self.say(&events),
            Err(rejection) => self.said.push(format!("refused: {rejection}")),
        }
    }

    fn say(&mut self, events: &[Event]) {
        let state = &self.stage.session.state;
        let is_news = |event: &&Event| !matches!(event, Event::JobSubmitted { .. });
        self.said.extend(events.iter().filter(is_news).filter_map(|event| explain::event(state, event)));
    }

    fn advance(&mut self, to: Timestamp) {
        let before = self.stage.session.log.len();
        if let Err(rejection) = self.stage.session.advance(to) {
            self.said.push(format!("refused: {rejection}"));
        }
        let events = self.stage.session.log[before..].to_vec();
        self.say(&events);
        self.send(&Command::Round(Round::default()));
    }

    /// Moves the clock with a scheduled round each minute, as the cron runs them.
    fn pass(&mut self, to: Timestamp) {
        while self.stage.session.now < to {
            self.stage.session.now = (self.stage.session.now + Millis::MINUTE).min(to);
            let answer = self.stage.session.scheduled_round();
            self.hear(answer);
        }
    }

    fn answer(&mut self, question: Question, job: &JobId) -> Result<(), String> {
        let (state, now) = (&self.stage.session.state, self.stage.session.now);
        let no = state.jobs.find(job).ok_or_else(|| format!("there is no job {job}"))?;
        let why = || explain::why(state, no, now);
        let does_not_wait = || format!("{job} does not wait");
        let said = match question {
            Question::Status => format!("{job}: {}", explain::status(&state.jobs[no]).as_str()),
            Question::Why => why().map_or_else(does_not_wait, |why| why.binding),
            Question::Remedy => why().map_or_else(does_not_wait, |why| match why.help {
                None => "Nothing has to change: the next round starts it.".to_owned(),
                Some(help) => help.sentence,
            }),
            Question::Bills => {
                self.bills(job);
                return Ok(());
            }
        };
        self.said.push(said);
        Ok(())
    }

    /// What has not been confirmed in time.
    fn overdue(&mut self) {
        let (state, now) = (&self.stage.session.state, self.stage.session.now);
        let overdue = explain::overdue(state, now);
        if overdue.is_empty() {
            self.said.push("Nothing is overdue.".to_owned());
        }
        self.said.extend(overdue.iter().map(|overdue| explain::overdue_words(state, overdue, now)));
    }

    /// What a job owes, by day, with the tag of its bills.
    fn bills(&mut self, job: &JobId) {
        let mut days: BTreeMap<i64, Charges> = BTreeMap::new();
        for event in &self.stage.session.log {
            if let Event::Billed { bill, .. } = event
                && bill.job == *job
            {
                let charges = days.entry(bill.day).or_default();
                *charges = charges.plus(bill.charges);
            }
        }
        let (key, value) = bill::PAY_TYPE;
        self.said.extend(days.into_iter().map(|(day, Charges { minutes, micros })| {
            format!("{job}, day {day}: {minutes} minutes, {}; {key}={value}", quantity::price(micros))
        }));
    }
}
