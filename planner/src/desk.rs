//! Runs the plans of one page, a portion at a time. Whoever holds the desk decides how long a portion is, and looks in
//! between whether somebody has asked for something else.

use std::collections::BTreeMap;

use engine::host::plan::base::Base;
use engine::host::plan::difference::Difference;
use engine::host::plan::outcome::Outcome;
use engine::host::plan::run::Horizon;
use engine::host::plan::run::Run;
use engine::host::plan::run::Sent;
use engine::host::plan::search::Search;
use engine::message::plan::Variant;

use crate::document::Document;
use crate::link;
use crate::message::Ask;
use crate::message::Source;
use crate::message::Tell;
use crate::picture;
use crate::result;
use crate::words::Language;

/// Jobs whose difference is told.
const JOBS_MAX: usize = 20;
/// Planners of one page.
const SHEETS_MAX: usize = 64;

/// The plans of one page.
#[derive(Default)]
pub struct Desk {
    sheets: BTreeMap<u32, Sheet>,
    /// Whose turn it was last.
    last: u32,
}

/// One open plan.
struct Sheet {
    document: Document,
    base: Base,
    language: Language,
    /// The base without changes, once it has been run.
    baseline: Option<Box<Run>>,
    work: Option<Work>,
}

/// What a planner is doing.
enum Work {
    /// Runs the base, and then the variant.
    Base(Box<Run>, Variant),
    /// Runs the variant.
    Variant(Box<Run>),
    Search(Box<Search>),
}

impl Desk {
    /// Answers what can be answered at once, and notes what takes time.
    pub fn ask(&mut self, ask: Ask) -> Vec<Tell> {
        match ask {
            Ask::Open { planner, source, language } => {
                let opened = self.open(planner, source, language);
                vec![opened.unwrap_or_else(|message| Tell::Failed { planner, message })]
            }
            Ask::Close { planner } => {
                self.sheets.remove(&planner);
                Vec::new()
            }
            Ask::Run { planner, values } => self.with(planner, |sheet| Ok(sheet.run(planner, &values))),
            Ask::Search { planner, values, goal, family } => self.with(planner, |sheet| {
                let variant = sheet.document.variant(&sheet.base.state, &values);
                let search = Search::new(&sheet.base, &variant, sheet.horizon(), goal, family);
                sheet.work = Some(Work::Search(Box::new(search.map_err(|rejection| rejection.to_string())?)));
                Ok(Vec::new())
            }),
            Ask::Cancel { planner } => self.with(planner, |sheet| {
                let was_busy = sheet.work.take().is_some();
                Ok(was_busy.then_some(Tell::Cancelled { planner }).into_iter().collect())
            }),
            Ask::Link { planner, values } => self.with(planner, |sheet| {
                let document = Document { values, ..sheet.document.clone() };
                Ok(vec![Tell::Linked { planner, link: link::write(&document) }])
            }),
        }
    }

    fn open(&mut self, planner: u32, source: Source, language: Language) -> Result<Tell, String> {
        if !self.sheets.contains_key(&planner) && self.sheets.len() >= SHEETS_MAX {
            return Err(format!("a page may have at most {SHEETS_MAX} planners"));
        }
        let document = match source {
            Source::Document(json) => Document::read(&json)?,
            Source::Link(link) => link::read(&link).map_err(|fault| fault.to_string())?,
        };
        let base = document.base()?;
        let told = Tell::Opened {
            planner,
            title: language.of(&document.title).to_owned(),
            controls: result::controls(&document, &base.state, language),
            picture: picture::svg(&base.state, language),
        };
        self.sheets.insert(planner, Sheet { document, base, language, baseline: None, work: None });
        Ok(told)
    }

    fn with(&mut self, planner: u32, act: impl FnOnce(&mut Sheet) -> Result<Vec<Tell>, String>) -> Vec<Tell> {
        let done = match self.sheets.get_mut(&planner) {
            Some(sheet) => act(sheet),
            None => Err("no plan is open; open one first".to_owned()),
        };
        done.unwrap_or_else(|message| vec![Tell::Failed { planner, message }])
    }

    /// Whether there is work left.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.sheets.values().any(|sheet| sheet.work.is_some())
    }

    /// Works for about so many events on one of the plans, each in its turn.
    pub fn work(&mut self, events: u64) -> Vec<Tell> {
        let busy = |(planner, sheet): (&u32, &Sheet)| sheet.work.is_some().then_some(*planner);
        let after = self.sheets.range(self.last.saturating_add(1)..).find_map(busy);
        let Some(planner) = after.or_else(|| self.sheets.iter().find_map(busy)) else { return Vec::new() };
        self.last = planner;
        self.sheets.get_mut(&planner).map(|sheet| sheet.work(planner, events)).unwrap_or_default()
    }
}

impl Sheet {
    fn horizon(&self) -> Horizon {
        Horizon::Until(self.document.until())
    }

    /// Shows at once what the changes come to at once.
    fn run(&mut self, planner: u32, values: &[i64]) -> Vec<Tell> {
        let variant = self.document.variant(&self.base.state, values);
        let mut run = Run::new(&self.base, &variant, self.horizon());
        let mut first = None;
        if !variant.changes.is_empty() {
            first = run.step().filter(|step| matches!(step.sent, Sent::Changes(_)));
        }
        let events = first.and_then(|step| step.answer.ok()).unwrap_or_default();
        let began = Tell::Began {
            planner,
            picture: picture::svg(run.state(), self.language),
            events: result::events(&run, &events, self.language),
        };
        self.work = Some(match self.baseline {
            Some(_) => Work::Variant(Box::new(run)),
            None => Work::Base(Box::new(Run::new(&self.base, &Variant::default(), self.horizon())), variant),
        });
        vec![began]
    }

    fn work(&mut self, planner: u32, events: u64) -> Vec<Tell> {
        let Some(work) = self.work.take() else { return Vec::new() };
        match work {
            Work::Base(mut run, variant) => {
                run.advance(events);
                let progress = Tell::Progress { planner, done: run.done() / 2, events: run.tally.events };
                if run.is_over() {
                    self.baseline = Some(run);
                    self.work = Some(Work::Variant(Box::new(Run::new(&self.base, &variant, self.horizon()))));
                } else {
                    self.work = Some(Work::Base(run, variant));
                }
                vec![progress]
            }
            Work::Variant(mut run) => {
                run.advance(events);
                let done = run.done() / 2 + 500;
                let (Some(before), true) = (&self.baseline, run.is_over()) else {
                    let progress = Tell::Progress { planner, done, events: run.tally.events };
                    self.work = Some(Work::Variant(run));
                    return vec![progress];
                };
                let (was, outcome) = (Outcome::of(before), Box::new(Outcome::of(&run)));
                let difference = Box::new(Difference::of(before, &run, JOBS_MAX));
                let result = result::result(&was, &outcome, &difference, self.language);
                vec![Tell::Ran { planner, result, outcome, difference }]
            }
            Work::Search(mut search) => {
                search.advance(events);
                let found = search.found().cloned().map(Box::new);
                if found.is_none() {
                    self.work = Some(Work::Search(search));
                }
                found.map(|found| Tell::Searched { planner, found }).into_iter().collect()
            }
        }
    }
}
