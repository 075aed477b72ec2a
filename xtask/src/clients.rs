//! Clients that generators make of the documents, against a Worker in its runtime.
use crate::process::{Failure, show};
use crate::sdks;

/// Needs Python 3.11; what it brings along is all that its clients need.
const GENERATOR: &str = "openapi-python-client==0.29.1";

pub(crate) fn test() -> Result<(), Failure> {
    let python = sdks::environment("clients", &[GENERATOR])?;
    let remedy = "see what the generator or the client says above; a schema without a name is the usual reason";
    show("node", &["e2e/clients/run.mjs", &python], remedy)
}
