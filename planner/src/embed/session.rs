//! Runs the plans of one page, a portion at a time. Whoever holds the session decides how long a portion is, and looks in
//! between whether somebody has asked for something else.

use engine::host::plan::run::Horizon;
use engine::host::plan::run::Run;
use engine::message::plan::Variant;

use crate::address;
use crate::embed::message::Ask;
use crate::embed::message::News;
use crate::embed::message::Source;
use crate::embed::message::Tell;
use crate::embed::result;
use crate::embed::result::Story;
use crate::embed::scenario::Scenario;
use crate::picture;
use crate::words::Language;

/// Planners of one page.
const SHEETS_MAX: usize = 64;

/// The plans of one page.
#[derive(Default)]
pub struct Session {
    /// Each with the number of its planner, in the order of their turns.
    sheets: Vec<(u32, Sheet)>,
}

/// One open plan.
struct Sheet {
    scenario: Scenario,
    language: Language,
    /// The scenario as it is written, once it has been run.
    baseline: Option<Box<Run>>,
    work: Option<Work>,
}

/// What a planner is doing. One follows the other.
enum Work {
    /// Plays the scenario to its end.
    Story(Box<Run>, Story, Variant),
    /// Runs the scenario as it is written.
    Base(Box<Run>, Variant),
    /// Runs the variant.
    Variant(Box<Run>),
}

impl Session {
    /// Answers what can be answered at once, and notes what takes time.
    pub fn ask(&mut self, planner: u32, ask: Ask) -> Option<Tell> {
        let answer = match ask {
            Ask::Open { source, language } => self.open(planner, source, language).map(Some),
            Ask::Close => {
                self.close(planner);
                Ok(None)
            }
            Ask::Run { values } => self.sheet(planner).map(|sheet| {
                sheet.run(&values);
                None
            }),
            Ask::Cancel => self.sheet(planner).map(|sheet| sheet.work.take().map(|_| News::Cancelled)),
            Ask::Link { values } => self
                .sheet(planner)
                .map(|sheet| Some(News::Linked { link: address::write(&sheet.scenario.lines, &values) })),
        };
        let news = answer.unwrap_or_else(|message| Some(News::Failed { message }));
        news.map(|news| Tell { planner, news })
    }

    fn open(&mut self, planner: u32, source: Source, language: Language) -> Result<News, String> {
        if self.sheet(planner).is_err() && self.sheets.len() >= SHEETS_MAX {
            return Err(format!("a page may have at most {SHEETS_MAX} planners"));
        }
        let (text, values) = match source {
            Source::Scenario(text) => (text, Vec::new()),
            Source::Address(address) => {
                let shared = address::read(&address).map_err(|fault| fault.to_string())?;
                (shared.text, shared.values)
            }
        };
        let scenario = Scenario::read(&text)?;
        let news = News::Opened {
            controls: result::controls(&scenario, &values, language),
            picture: picture::svg(&scenario.base.state, language),
        };
        self.close(planner);
        self.sheets.push((planner, Sheet { scenario, language, baseline: None, work: None }));
        Ok(news)
    }

    fn close(&mut self, planner: u32) {
        self.sheets.retain(|(known, _)| *known != planner);
    }

    fn sheet(&mut self, planner: u32) -> Result<&mut Sheet, String> {
        let mut sheets = self.sheets.iter_mut();
        let sheet = sheets.find_map(|(known, sheet)| (*known == planner).then_some(sheet));
        sheet.ok_or_else(|| "no plan is open; open one first".to_owned())
    }

    /// Whether there is work left.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.sheets.iter().any(|(_, sheet)| sheet.work.is_some())
    }

    /// Works for about so many events on one of the plans, each in its turn.
    pub fn work(&mut self, events: u64) -> Option<Tell> {
        let at = self.sheets.iter().position(|(_, sheet)| sheet.work.is_some())?;
        let (planner, mut sheet) = self.sheets.remove(at);
        let news = sheet.work(events);
        self.sheets.push((planner, sheet));
        news.map(|news| Tell { planner, news })
    }
}

impl Sheet {
    fn run(&mut self, values: &[i64]) {
        let variant = self.scenario.variant(values);
        let run = Run::new(&self.scenario.base, &variant, Horizon::Until(self.scenario.end));
        self.work = Some(Work::Story(Box::new(run), Story::new(&self.scenario, self.language), variant));
    }

    fn start(&self, variant: &Variant) -> Box<Run> {
        Box::new(Run::new(&self.scenario.base, variant, Horizon::Until(self.scenario.until())))
    }

    fn work(&mut self, events: u64) -> Option<News> {
        match self.work.take()? {
            Work::Story(mut run, mut story, variant) => {
                if !story.play(&mut run, events) {
                    self.work = Some(Work::Story(run, story, variant));
                    return Some(News::Progress { done: 0 });
                }
                self.work = Some(match self.baseline {
                    Some(_) => Work::Variant(self.start(&variant)),
                    None => Work::Base(self.start(&self.scenario.variant(&[])), variant),
                });
                Some(News::Played { picture: picture::svg(run.state(), self.language), events: story.told(&run) })
            }
            Work::Base(mut run, variant) => {
                run.advance(events);
                let done = run.done() / 2;
                if run.is_over() {
                    self.baseline = Some(run);
                    self.work = Some(Work::Variant(self.start(&variant)));
                } else {
                    self.work = Some(Work::Base(run, variant));
                }
                Some(News::Progress { done })
            }
            Work::Variant(mut run) => {
                run.advance(events);
                let done = run.done() / 2 + 500;
                let (Some(before), true) = (&self.baseline, run.is_over()) else {
                    self.work = Some(Work::Variant(run));
                    return Some(News::Progress { done });
                };
                Some(News::Ran { result: result::result(before, &run, self.language) })
            }
        }
    }
}
