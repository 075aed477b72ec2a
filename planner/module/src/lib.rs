//! The planner in a Web Worker: messages go in and out as JSON, and the worker's script decides when to work.

use planner::desk;
use planner::message::Ask;
use planner::message::Tell;
use wasm_bindgen::JsError;
use wasm_bindgen::prelude::wasm_bindgen;

/// The plans of one page.
#[wasm_bindgen]
#[derive(Default)]
pub struct Desk(desk::Desk);

#[wasm_bindgen]
impl Desk {
    /// A desk without plans.
    #[wasm_bindgen(constructor)]
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks for something; the answer is a JSON list of what is told at once.
    ///
    /// # Errors
    /// If the message cannot be read.
    pub fn ask(&mut self, ask: &str) -> Result<String, JsError> {
        let ask: Ask = serde_json::from_str(ask)?;
        told(&self.0.ask(ask))
    }

    /// Works for about so many events; the answer is a JSON list of what is told.
    ///
    /// # Errors
    /// Never: what is told can always be written.
    pub fn work(&mut self, events: u32) -> Result<String, JsError> {
        told(&self.0.work(events.into()))
    }

    /// Whether there is work left.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.0.is_busy()
    }
}

fn told(tells: &[Tell]) -> Result<String, JsError> {
    Ok(serde_json::to_string(tells)?)
}
