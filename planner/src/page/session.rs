//! Runs the variants of the open plan, a portion at a time. Whoever holds the session decides how long a portion is, and
//! looks in between whether the page has asked for something else.

use std::collections::BTreeMap;

use crate::picture;
use crate::words::Language;
use console_model::explained;
use engine::host::plan::apply::Application;
use engine::host::plan::apply::application;
use engine::host::plan::base::Base;
use engine::host::plan::difference::Difference;
use engine::host::plan::goal::Goal;
use engine::host::plan::run::Horizon;
use engine::host::plan::run::Run;
use engine::host::plan::run::Sent;
use engine::host::plan::search::Family;
use engine::host::plan::search::Search;
use engine::message::plan::Change;
use engine::message::plan::Variant;
use engine::unit::time::Millis;

use crate::comparison::Comparison;
use crate::comparison::Over;
use crate::comparison::UnderWay;
use crate::page::course::Courses;
use crate::page::finished::Finished;
use crate::page::found;
use crate::page::message::Ask;
use crate::page::message::Line;
use crate::page::message::LookAhead;
use crate::page::message::Tell;
use crate::page::past::Past;
use crate::page::past::Reading;
use crate::page::range::Ranges;
use crate::page::sheet::Sheet;
use crate::page::source;
use crate::page::source::Read;
use crate::page::whose::Whose;
use fields::facts::Facts;

/// Jobs whose difference is told.
const JOBS_TOLD: usize = 100;
/// Consequences that are told one by one.
const LINES_TOLD: usize = 12;

/// The session.
#[derive(Default)]
pub struct Session {
    files: Vec<(String, Vec<u8>)>,
    /// The text of a file that was asked for.
    saved: Option<String>,
    plan: Option<Plan>,
    /// A log that is being read, with the number of the plan that begins with it.
    reading: Option<(u32, Reading)>,
}

/// The open plan.
struct Plan {
    number: u32,
    facts: Facts,
    base: Base,
    length: Option<Millis>,
    /// The base without changes, and the variants.
    comparison: Comparison,
    /// What is over, by variant; the base has none.
    finished: BTreeMap<Option<u32>, Finished>,
    search: Option<Box<Search>>,
    /// How far figures may go by chance; nothing for what was written and not measured.
    ranges: Option<Ranges>,
}

impl Session {
    /// Takes in a file that the next question is about.
    pub fn attach(&mut self, name: String, bytes: Vec<u8>) {
        self.files.push((name, bytes));
    }

    /// Answers what can be answered at once, and notes what takes time.
    pub fn ask(&mut self, ask: Ask) -> Vec<Tell> {
        let files = std::mem::take(&mut self.files);
        match ask {
            Ask::OpenPast { plan, cluster, since, length, now } => {
                self.reading = Some((plan, Reading::new(cluster, since, length, now)));
                Vec::new()
            }
            Ask::Open { plan, source, look } => {
                self.reading = None;
                self.open(plan, look, source::read(source, &files))
            }
            Ask::Look { plan, length } => self.with(plan, |open| {
                open.look(length);
                Vec::new()
            }),
            Ask::Run { plan, variant, ticket, changes } => {
                self.with(plan, |open| vec![open.run(variant, ticket, changes)])
            }
            Ask::Forget { plan, variant } => self.with(plan, |open| {
                open.comparison.forget(variant);
                open.finished.remove(&Some(variant));
                open.ranges.iter_mut().for_each(|ranges| ranges.forget(variant));
                Vec::new()
            }),
            Ask::Search { plan, changes, goal, family } => self.with(plan, |open| open.look_for(changes, goal, family)),
            Ask::Cancel { plan } if self.reading.as_ref().is_some_and(|(number, _)| *number == plan) => {
                self.reading = None;
                vec![Tell::Cancelled { plan }]
            }
            Ask::Cancel { plan } => self.with(plan, |open| {
                open.comparison.cancel();
                open.search = None;
                open.ranges.iter_mut().for_each(Ranges::cancel);
                vec![Tell::Cancelled { plan }]
            }),
            Ask::Apply { plan, changes, id } => self.with(plan, |open| {
                let variant = Variant { name: String::new(), changes };
                let Application { envelope, later } = application(&open.base, &variant, id);
                vec![Tell::Application { plan, envelope: Box::new(envelope), later: later.len() as u64 }]
            }),
            Ask::Link { plan, variants } => {
                self.with(plan, |open| vec![Tell::Linked { plan, link: open.sheet(variants).link() }])
            }
            Ask::File { plan, variants } => {
                self.saved = self.plan_of(plan).map(|open| open.sheet(variants).text());
                Vec::new()
            }
            Ask::Courses { plan, variant, whose } => self.with(plan, |open| {
                let courses = open.courses(variant, whose.as_ref()).map(Box::new);
                vec![Tell::Courses { plan, courses }]
            }),
            Ask::Timeline { plan, variant, frame } => self.with(plan, |open| {
                let view = open.finished.get(&variant).map(|run| Box::new(run.timeline(&frame)));
                vec![Tell::Timeline { plan, view }]
            }),
        }
    }

    /// The text of the file that was asked for last; it is given once.
    pub fn file(&mut self) -> Option<String> {
        self.saved.take()
    }

    /// Opens what was read elsewhere in place of the plan that was open.
    pub fn open(&mut self, plan: u32, look: LookAhead, read: Result<Read, String>) -> Vec<Tell> {
        match read {
            Ok(read) => {
                let (opened, tell) = Plan::open(plan, look, read);
                self.plan = Some(opened);
                vec![tell]
            }
            Err(message) => vec![Tell::Failed { plan, message }],
        }
    }

    /// The address of what has to be fetched for a plan that is being opened.
    #[must_use]
    pub fn wanted(&self) -> Option<String> {
        self.reading.as_ref().and_then(|(_, reading)| reading.wanted())
    }

    /// Takes in what was fetched, or why it could not be. What nobody wants any more is left alone.
    pub fn take(&mut self, address: &str, fetched: Result<&str, String>) -> Vec<Tell> {
        if self.wanted().as_deref() != Some(address) {
            return Vec::new();
        }
        let Some((plan, mut reading)) = self.reading.take() else { return Vec::new() };
        if let Err(message) = fetched.and_then(|text| reading.take(text)) {
            return vec![Tell::Failed { plan, message }];
        }
        if reading.wanted().is_none() {
            let title = format!("What happened in {}", reading.cluster);
            let read = reading.finish().map(|Past { base, length, remarks }| Read {
                base,
                title,
                place: None,
                usual: Some(length),
                variants: Vec::new(),
                remarks,
                is_measured: true,
            });
            return self.open(plan, LookAhead::Usual, read);
        }
        let ((done, at), entries) = (reading.progress(), reading.entries);
        self.reading = Some((plan, reading));
        vec![Tell::Reading { plan, done, entries, at }]
    }

    fn with(&mut self, plan: u32, act: impl FnOnce(&mut Plan) -> Vec<Tell>) -> Vec<Tell> {
        self.plan_of(plan).map(act).unwrap_or_default()
    }

    /// What is asked of a plan that has been left is of no interest any more.
    fn plan_of(&mut self, plan: u32) -> Option<&mut Plan> {
        self.plan.as_mut().filter(|open| open.number == plan)
    }

    /// Whether there is work left.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.plan.as_ref().is_some_and(Plan::is_busy)
    }

    /// Works for about so many events; says what is over.
    pub fn work(&mut self, events: u64) -> Vec<Tell> {
        self.plan.as_mut().map(|open| open.work(events)).unwrap_or_default()
    }

    /// How far it has come, and when nothing is left, how far that was. Nobody waits for ranges: while nothing else is
    /// under way nothing is told.
    #[must_use]
    pub fn progress(&self) -> Vec<Tell> {
        self.plan.iter().filter(|plan| !plan.only_ranges()).map(Plan::progress).collect()
    }
}

impl Plan {
    fn open(number: u32, look: LookAhead, read: Read) -> (Self, Tell) {
        let Read { base, title, place, usual, variants, remarks, is_measured } = read;
        let length = look.length(usual);
        let facts = Facts::of(&base, title, place, remarks);
        let told = Tell::Opened { plan: number, facts: Box::new(facts.clone()), length, usual, variants };
        let comparison = fresh(&base, length);
        let ranges = is_measured.then(Ranges::default);
        (Self { number, facts, base, length, comparison, finished: BTreeMap::new(), search: None, ranges }, told)
    }

    fn look(&mut self, length: Option<Millis>) {
        self.length = length;
        self.comparison = fresh(&self.base, length);
        self.finished.clear();
        self.search = None;
        self.ranges = self.ranges.is_some().then(Ranges::default);
    }

    /// Begins to run a variant, and tells at once what it comes to at once.
    fn run(&mut self, variant: u32, ticket: u32, changes: Vec<Change>) -> Tell {
        let wanted = Variant { name: String::new(), changes };
        let mut run = Run::new(&self.base, &wanted, self.comparison.horizon());
        let is_now = |change: &Change| !change.is_off && change.at <= self.base.from;
        let first = if wanted.changes.iter().any(is_now) { run.step() } else { None };
        let events = first.filter(|step| matches!(step.sent, Sent::Changes(_))).and_then(|step| step.answer.ok());
        let mut lines: Vec<Line> = explained::sentences(run.state(), &events.unwrap_or_default())
            .into_iter()
            .map(|(text, is_loss)| Line { text, is_loss })
            .collect();
        let left_out = lines.len().saturating_sub(LINES_TOLD) as u64;
        lines.truncate(LINES_TOLD);
        let refused = run.refused.iter().map(|refusal| {
            (u32::try_from(refusal.change).unwrap_or(u32::MAX), explained::sentence(&refusal.rejection.to_string()))
        });
        let told = Tell::Began {
            plan: self.number,
            variant,
            ticket,
            lines,
            left_out,
            refused: refused.collect(),
            picture: picture::svg(run.state(), Language::En),
        };
        self.comparison.add(UnderWay { variant, ticket, run: Box::new(run) });
        if let Some(ranges) = &mut self.ranges {
            ranges.want(variant, ticket, wanted.changes);
        }
        // What is looked for is looked for beside what was changed by then.
        self.search = None;
        told
    }

    fn look_for(&mut self, changes: Vec<Change>, goal: Goal, family: Family) -> Vec<Tell> {
        let variant = Variant { name: String::new(), changes };
        let horizon = found::horizon(self.comparison.horizon(), &goal, self.base.from);
        match Search::new(&self.base, &variant, horizon, goal, family) {
            Ok(search) => {
                self.search = Some(Box::new(search));
                Vec::new()
            }
            Err(rejection) => {
                let words = explained::sentence(&rejection.to_string());
                vec![Tell::Searched { plan: self.number, command: None, words }]
            }
        }
    }

    fn sheet(&self, variants: Vec<Variant>) -> Sheet {
        let Facts { title, place, .. } = &self.facts;
        Sheet {
            is_measured: self.ranges.is_some(),
            ..Sheet::of(&self.base, title.clone(), place.clone(), self.length, variants)
        }
    }

    fn courses(&self, variant: u32, whose: Option<&Whose>) -> Option<Courses> {
        let base = self.finished.get(&None)?;
        Some(self.finished.get(&Some(variant))?.courses(base, whose))
    }

    fn is_busy(&self) -> bool {
        self.search.is_some() || self.comparison.is_busy() || self.ranges.as_ref().is_some_and(Ranges::is_busy)
    }

    /// A search goes on beside nothing else, and nothing waits for ranges.
    fn work(&mut self, events: u64) -> Vec<Tell> {
        if self.comparison.is_busy() {
            let told = match self.comparison.work(events) {
                Some(Over::Base) => Some(self.base_ran()),
                Some(Over::Variant(over)) => self.ran(&over),
                None => None,
            };
            return told.into_iter().collect();
        }
        let Some(search) = &mut self.search else { return self.range(events).into_iter().collect() };
        search.advance(events);
        let Some(found) = search.found().cloned() else { return Vec::new() };
        let words = found::words(&found, &self.facts);
        self.search = None;
        vec![Tell::Searched { plan: self.number, command: found::command(found).map(Box::new), words }]
    }

    fn only_ranges(&self) -> bool {
        self.ranges.as_ref().is_some_and(Ranges::has_begun) && self.search.is_none() && !self.comparison.is_busy()
    }

    fn range(&mut self, events: u64) -> Option<Tell> {
        let (whose, ranges) = self.ranges.as_mut()?.work(&self.base, self.comparison.horizon(), events)?;
        let ticket = whose.map_or(0, |(_, ticket)| ticket);
        Some(Tell::Ranges { plan: self.number, variant: whose.map(|(variant, _)| variant), ticket, ranges })
    }

    fn base_ran(&mut self) -> Tell {
        let base = Finished::of(&self.comparison.baseline);
        let ended = Box::new(base.base());
        self.finished.insert(None, base);
        Tell::Ran { plan: self.number, variant: None, ticket: 0, ended }
    }

    fn ran(&mut self, UnderWay { variant, ticket, run }: &UnderWay) -> Option<Tell> {
        let difference = Difference::of(&self.comparison.baseline, run, JOBS_TOLD);
        let finished = Finished::of(run);
        let ended = Box::new(finished.variant(self.finished.get(&None)?, &difference));
        self.finished.insert(Some(*variant), finished);
        Some(Tell::Ran { plan: self.number, variant: Some(*variant), ticket: *ticket, ended })
    }

    fn progress(&self) -> Tell {
        Tell::Progress { plan: self.number, done: self.comparison.done(), events: self.comparison.events() }
    }
}

/// The base is run whether or not anybody has a variant.
fn fresh(base: &Base, length: Option<Millis>) -> Comparison {
    let horizon = length.map_or(Horizon::Quiet, |length| Horizon::Until(base.from + length));
    let mut comparison = Comparison::new(base, &Variant::default(), horizon);
    comparison.want();
    comparison
}
