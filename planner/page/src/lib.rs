//! The session in a Web Worker: messages go in and out as JSON, and the worker's script decides when to work.

use planner::page::message::Ask;
use planner::page::message::Tell;
use planner::page::session;
use wasm_bindgen::JsError;
use wasm_bindgen::prelude::wasm_bindgen;

/// The plan of the page.
#[wasm_bindgen]
#[derive(Default)]
pub struct Session(session::Session);

#[wasm_bindgen]
impl Session {
    /// A session without a plan.
    #[wasm_bindgen(constructor)]
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in a file that the next question is about.
    pub fn attach(&mut self, name: String, bytes: Vec<u8>) {
        self.0.attach(name, bytes);
    }

    /// Asks for something; the answer is a JSON list of what is told at once.
    ///
    /// # Errors
    /// If the message cannot be read.
    pub fn ask(&mut self, ask: &str) -> Result<String, JsError> {
        let ask: Ask = serde_json::from_str(ask)?;
        told(&self.0.ask(ask))
    }

    /// The text of a file that was asked for; it is given once.
    pub fn file(&mut self) -> Option<String> {
        self.0.file()
    }

    /// The address of what has to be fetched for a plan that is being opened.
    #[must_use]
    pub fn wanted(&self) -> Option<String> {
        self.0.wanted()
    }

    /// Takes in what was fetched; the answer is a JSON list of what is told.
    ///
    /// # Errors
    /// Never: what is told can always be written.
    pub fn take(&mut self, address: &str, text: &str) -> Result<String, JsError> {
        told(&self.0.take(address, Ok(text)))
    }

    /// Is told why something could not be fetched; the answer is a JSON list of what is told.
    ///
    /// # Errors
    /// Never: what is told can always be written.
    pub fn miss(&mut self, address: &str, reason: String) -> Result<String, JsError> {
        told(&self.0.take(address, Err(reason)))
    }

    /// Works for about so many events; the answer is a JSON list of what is over.
    ///
    /// # Errors
    /// Never: what is told can always be written.
    pub fn work(&mut self, events: u32) -> Result<String, JsError> {
        told(&self.0.work(events.into()))
    }

    /// How far it has come, as a JSON list.
    ///
    /// # Errors
    /// Never: what is told can always be written.
    pub fn progress(&self) -> Result<String, JsError> {
        told(&self.0.progress())
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
