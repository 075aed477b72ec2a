//! The planner in a Web Worker: the worker's script asks, and decides when to work; what is told is a JSON list.

use planner::embed::message::Ask;
use planner::embed::message::Source;
use planner::embed::message::Tell;
use planner::embed::session;
use planner::words::Language;
use wasm_bindgen::prelude::wasm_bindgen;

#[cfg(target_family = "wasm")]
#[global_allocator]
static ALLOCATOR: rlsf::SmallGlobalTlsf = rlsf::SmallGlobalTlsf::new();

/// The plans of one page.
#[wasm_bindgen]
#[derive(Default)]
pub struct Session(session::Session);

#[wasm_bindgen]
impl Session {
    /// A session without plans.
    #[wasm_bindgen(constructor)]
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens a scenario.
    pub fn open(&mut self, planner: u32, text: String, is_chinese: bool) -> String {
        self.ask(planner, Ask::Open { source: Source::Scenario(text), language: language(is_chinese) })
    }

    /// Opens what stands in an address.
    pub fn open_link(&mut self, planner: u32, address: String, is_chinese: bool) -> String {
        self.ask(planner, Ask::Open { source: Source::Address(address), language: language(is_chinese) })
    }

    /// Runs the plan with its controls at these values.
    pub fn run(&mut self, planner: u32, values: &[f64]) -> String {
        self.ask(planner, Ask::Run { values: whole(values) })
    }

    /// Makes a link.
    pub fn link(&mut self, planner: u32, values: &[f64]) -> String {
        self.ask(planner, Ask::Link { values: whole(values) })
    }

    /// Gives up what the planner does.
    pub fn cancel(&mut self, planner: u32) -> String {
        self.ask(planner, Ask::Cancel)
    }

    /// Forgets the planner.
    pub fn close(&mut self, planner: u32) -> String {
        self.ask(planner, Ask::Close)
    }

    /// Works for about so many events, and tells what is over.
    pub fn work(&mut self, events: u32) -> String {
        Tell::list(self.0.work(events.into()).as_slice())
    }

    /// Tells how far each planner has come.
    #[must_use]
    pub fn progress(&self) -> String {
        Tell::list(&self.0.progress())
    }

    /// Whether there is work left.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.0.is_busy()
    }

    fn ask(&mut self, planner: u32, ask: Ask) -> String {
        Tell::list(self.0.ask(planner, ask).as_slice())
    }
}

fn language(is_chinese: bool) -> Language {
    if is_chinese { Language::Zh } else { Language::En }
}

/// A page's numbers are whole; what is none becomes one.
#[expect(clippy::cast_possible_truncation, reason = "a page's numbers that are no amounts become the nearest amount")]
fn whole(values: &[f64]) -> Vec<i64> {
    values.iter().map(|value| *value as i64).collect()
}
