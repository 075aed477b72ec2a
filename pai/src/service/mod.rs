//! What requests come to: commands to the engine, and answers from its state.
//!
//! [`serve`] reads an operation, lets it work on a cluster through [`house::House`], and returns the answer's body.
//! Nothing here decides: who may do what is asked of the engine, and what it refuses is passed on with its sentence.

pub mod document;
pub mod house;
pub mod mark;
pub mod needed;
pub mod shelf;

mod access;
mod amount;
mod engine_name;
mod fallback;
mod group;
mod held;
mod inference;
mod instance;
mod job;
mod machine;
mod market;
mod member;
mod named;
mod node;
mod quota;
mod refusal;
mod resource;
mod run;
mod visit;
mod workspace;

use engine::transition::Sender;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use serde_json::Value;

use crate::operation;
use crate::operation::Operation;
use crate::problem::Problem;
use crate::request::Request;
use crate::service::house::House;
use crate::service::mark::Mark;
use crate::service::visit::Visit;

/// An answer: a status, and a body that is always an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The body.
    pub body: String,
    /// How long the sender is to wait before the next request, if that is what is wrong.
    pub wait: Option<Millis>,
}

/// Serves a request whose sender has been proved.
pub fn serve(request: &Request, mark: Mark, sender: &Sender, house: &mut dyn House, now: Timestamp) -> Answer {
    match answer(request, mark, sender, house, now) {
        Ok(mut body) => {
            body["RequestId"] = Value::from(mark.request_id().to_string());
            Answer { status: 200, body: body.to_string(), wait: None }
        }
        Err(problem) => refuse(&told(problem, mark, sender, house, now), mark),
    }
}

/// A refusal with names in its sentence; without them if the cluster cannot be read.
fn told(problem: Problem, mark: Mark, sender: &Sender, house: &mut dyn House, now: Timestamp) -> Problem {
    let visit = Visit::new(house, sender, now, mark);
    match named::named(&visit, &problem.message) {
        Ok(message) => Problem { message, ..problem },
        Err(_) => problem,
    }
}

/// The answer that says why there is none.
#[must_use]
pub fn refuse(problem: &Problem, mark: Mark) -> Answer {
    Answer { status: problem.status, body: problem.body(&mark.request_id()), wait: problem.wait }
}

fn answer(
    request: &Request,
    mark: Mark,
    sender: &Sender,
    house: &mut dyn House,
    now: Timestamp,
) -> Result<Value, Problem> {
    let operation = operation::read(request)?;
    let mut visit = Visit::new(house, sender, now, mark);
    let visit = &mut visit;
    match operation {
        Operation::Job(operation) => job::serve(visit, operation),
        Operation::Training(operation) => job::training::serve(visit, operation),
        Operation::Quota(operation) => quota::serve(visit, operation),
        Operation::Workspace(operation) => workspace::serve(visit, operation),
        Operation::Resource(operation) => resource::serve(visit, operation),
        Operation::Access(operation) => access::serve(visit, operation),
        Operation::Machine(operation) => machine::serve(visit, operation),
        Operation::Market(operation) => market::serve(visit, operation),
        Operation::Service(operation) => inference::serve(visit, operation),
        Operation::Instance(operation) => instance::serve(visit, operation),
    }
}
