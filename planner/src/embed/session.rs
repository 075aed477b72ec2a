//! Runs the plans of one page, a portion at a time. Whoever holds the session decides how long a portion is, and looks in
//! between whether somebody has asked for something else.

use engine::host::plan::run::Horizon;
use engine::host::plan::run::Run;
use engine::message::plan::Variant;

use crate::address;
use crate::comparison::Comparison;
use crate::comparison::Over;
use crate::comparison::UnderWay;
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
    /// Plays the scenario to its end, with what is compared afterwards.
    playing: Option<(Box<Run>, Story, Variant)>,
    /// The scene as it is, and with what the scenario does.
    comparison: Comparison,
}

/// The only variant.
const MOVED: u32 = 0;

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
            Ask::Cancel => self.sheet(planner).map(Sheet::cancel),
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
        // What a scenario does is the change; without it there is the scene.
        let comparison = Comparison::new(&scenario.base, &Variant::default(), Horizon::Until(scenario.until()));
        self.sheets.push((planner, Sheet { scenario, language, playing: None, comparison }));
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
        self.sheets.iter().any(|(_, sheet)| sheet.is_busy())
    }

    /// Works for about so many events on one of the plans, each in its turn.
    pub fn work(&mut self, events: u64) -> Option<Tell> {
        let at = self.sheets.iter().position(|(_, sheet)| sheet.is_busy())?;
        let (planner, mut sheet) = self.sheets.remove(at);
        let news = sheet.work(events);
        self.sheets.push((planner, sheet));
        news.map(|news| Tell { planner, news })
    }

    /// How far each planner has come that does something.
    #[must_use]
    pub fn progress(&self) -> Vec<Tell> {
        let busy = self.sheets.iter().filter(|(_, sheet)| sheet.is_busy());
        busy.map(|(planner, sheet)| Tell { planner: *planner, news: News::Progress { done: sheet.done() } }).collect()
    }
}

impl Sheet {
    fn run(&mut self, values: &[i64]) {
        self.comparison.cancel();
        let variant = self.scenario.variant(values);
        let run = Run::new(&self.scenario.base, &variant, Horizon::Until(self.scenario.end));
        self.playing = Some((Box::new(run), Story::new(&self.scenario, self.language), variant));
    }

    fn cancel(&mut self) -> Option<News> {
        let was_busy = self.is_busy();
        self.playing = None;
        self.comparison.cancel();
        was_busy.then_some(News::Cancelled)
    }

    fn is_busy(&self) -> bool {
        self.playing.is_some() || self.comparison.is_busy()
    }

    /// How far the comparison has come.
    fn done(&self) -> i64 {
        if self.playing.is_some() { 0 } else { self.comparison.done() }
    }

    fn work(&mut self, events: u64) -> Option<News> {
        if let Some((mut run, mut story, variant)) = self.playing.take() {
            if !story.play(&mut run, events) {
                self.playing = Some((run, story, variant));
                return None;
            }
            let moved = Box::new(Run::new(&self.scenario.base, &variant, self.comparison.horizon()));
            self.comparison.add(UnderWay { variant: MOVED, ticket: 0, run: moved });
            return Some(News::Played { picture: picture::svg(run.state(), self.language), events: story.told(&run) });
        }
        match self.comparison.work(events)? {
            Over::Base => None,
            Over::Variant(UnderWay { run, .. }) => {
                Some(News::Ran { result: result::result(&self.comparison.baseline, &run, self.language) })
            }
        }
    }
}
