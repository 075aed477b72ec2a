//! What the screens compute, as plain types with plain tests. Nothing here knows the browser.
//!
//! No rule of the scheduler is repeated here: amounts come from the engine's ledger, sentences from its explanations.

pub mod agents;
pub mod amount;
pub mod books;
pub mod chart;
pub mod deletion;
pub mod destination;
pub mod duration;
#[cfg(test)]
pub(crate) mod example;
pub mod explained;
pub mod findings;
pub mod freshness;
pub mod gpus;
pub mod job_draft;
pub mod job_facts;
pub mod job_field;
pub mod job_filter;
pub mod job_state;
pub mod log_text;
pub mod node_action;
pub mod nodes;
pub mod offers;
pub mod path;
pub mod policy_draft;
pub mod preview;
pub mod scale_draft;
pub mod script_draft;
pub mod section;
pub mod set_up;
pub mod size_draft;
pub mod spot_draft;
pub mod tree_rows;
pub mod turns;
pub mod window;
