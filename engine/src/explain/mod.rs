//! From data to sentences, in one place (rules 10). Nothing is decided here: whatever is said comes from
//! a decision's own data, or from asking the same rules once more.

mod blocker;
mod consequence;
mod event;
mod finding;
mod never;
mod people;
mod policy;
mod raise;
mod remedy;
mod spot;
mod status;
mod tip;
mod why;
mod words;

pub use blocker::blocker;
pub use consequence::Consequence;
pub use consequence::Consequences;
pub use consequence::consequences;
pub use event::episode;
pub use event::event;
pub use event::losses;
pub use finding::FindingWords;
pub use finding::finding;
pub use policy::PolicyWords;
pub use policy::child_level;
pub use policy::self_level;
pub use remedy::Help;
pub use remedy::remedy;
pub use remedy::tips;
pub use spot::bid;
pub use spot::cost;
pub use spot::past_of_bid;
pub use spot::percent;
pub use status::Status;
pub use status::status;
pub use why::Why;
pub use why::hold;
pub use why::why;
pub use why::why_seen;
pub use words::amount;
pub use words::cause;
pub use words::gpu_hours;
pub use words::period;
pub use words::source;
