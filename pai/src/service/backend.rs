//! What a service needs of whoever holds a cluster.

use engine::message::envelope::Envelope;
use engine::message::envelope::Receipt;
use engine::state::world::State;
use engine::transition::Sender;
use engine::unit::id::JobId;

use crate::problem::Problem;
use crate::service::document::Change;

/// The last of what a run of a job has printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Printed {
    /// The text. It begins within a line if something stands before it.
    pub text: String,
    /// Whether something was printed before it.
    pub is_cut: bool,
    /// Whether the run has ended: a job that waits again tells what its last run has printed.
    pub is_over: bool,
}

/// A cluster with the documents beside it.
pub trait Backend {
    /// The state as it is.
    fn state(&self) -> Result<&State, Problem>;

    /// Hands a command in, if the sender may send it. The documents change with it, or not at all.
    fn send(&mut self, envelope: &Envelope, sender: &Sender, changes: &[Change]) -> Result<Receipt, Problem>;

    /// Changes documents and nothing else; they count for the sender.
    fn keep(&mut self, changes: &[Change], sender: &Sender) -> Result<(), Problem>;

    /// A document's text.
    fn document(&self, name: &str) -> Result<Option<String>, Problem>;

    /// A field of all documents whose names begin so and that have it as a text, by their names in order.
    fn fields(&self, start: &str, field: &'static str) -> Result<Vec<(String, String)>, Problem>;

    /// The names of all documents that begin so, in order.
    fn names(&self, start: &str) -> Result<Vec<String>, Problem>;

    /// What a job prints or has printed last; none if nothing is kept of it. Who asks has seen to it that the sender may
    /// know. A cluster that has to ask machines for it refuses at first, and serves the request anew with their answer.
    fn printed(&self, job: &JobId) -> Result<Option<Printed>, Problem>;
}
