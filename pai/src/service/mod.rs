//! What requests come to: commands to the engine, and answers from its state.
//!
//! [`serve`] reads an operation, lets it work on a cluster through [`backend::Backend`], and returns the answer's body.
//! Nothing here decides: who may do what is asked of the engine, and what it refuses is passed on with its sentence.

pub mod backend;
pub mod document;
pub mod mark;
pub mod memory;
pub mod needed;

mod access;
mod amount;
mod context;
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
mod workspace;

use engine::transition::Sender;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use serde_json::Value;

use crate::operation;
use crate::operation::Operation;
use crate::problem::Problem;
use crate::request::Request;
use crate::service::backend::Backend;
use crate::service::context::Context;
use crate::service::mark::Mark;

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
pub fn serve(request: &Request, mark: Mark, sender: &Sender, backend: &mut dyn Backend, now: Timestamp) -> Answer {
    match answer(request, mark, sender, backend, now) {
        Ok(mut body) => {
            body["RequestId"] = Value::from(mark.request_id().to_string());
            Answer { status: 200, body: body.to_string(), wait: None }
        }
        Err(problem) => refuse(&told(problem, mark, sender, backend, now), mark),
    }
}

/// A refusal with names in its sentence; without them if the cluster cannot be read.
fn told(problem: Problem, mark: Mark, sender: &Sender, backend: &mut dyn Backend, now: Timestamp) -> Problem {
    let context = Context::new(backend, sender, now, mark);
    match named::named(&context, &problem.message) {
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
    backend: &mut dyn Backend,
    now: Timestamp,
) -> Result<Value, Problem> {
    let operation = operation::read(request)?;
    let mut context = Context::new(backend, sender, now, mark);
    let context = &mut context;
    match operation {
        Operation::Job(operation) => job::serve(context, operation),
        Operation::Training(operation) => job::training::serve(context, operation),
        Operation::Quota(operation) => quota::serve(context, operation),
        Operation::Workspace(operation) => workspace::serve(context, operation),
        Operation::Resource(operation) => resource::serve(context, operation),
        Operation::Access(operation) => access::serve(context, operation),
        Operation::Machine(operation) => machine::serve(context, operation),
        Operation::Market(operation) => market::serve(context, operation),
        Operation::Service(operation) => inference::serve(context, operation),
        Operation::Instance(operation) => instance::serve(context, operation),
    }
}
