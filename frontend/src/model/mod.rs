//! What the screens compute, as plain types with plain tests. Nothing here knows the browser.
//!
//! No rule of the scheduler is repeated here: amounts come from the engine's ledger, sentences from its explanations.

pub(crate) mod books;
pub(crate) mod duration;
#[cfg(test)]
pub(crate) mod example;
pub(crate) mod explained;
pub(crate) mod freshness;
pub(crate) mod gpus;
pub(crate) mod job_draft;
pub(crate) mod job_filter;
pub(crate) mod job_state;
pub(crate) mod policy_draft;
pub(crate) mod preview;
pub(crate) mod scale_draft;
pub(crate) mod tree_rows;
pub(crate) mod window;
