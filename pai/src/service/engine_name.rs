//! Names of the engine's, read from a request.

use engine::unit::id::BadName;
use engine::unit::id::QuotaId;

use crate::problem::Problem;

/// A name of the engine's.
pub(crate) fn name<T: TryFrom<String, Error = BadName>>(text: &str) -> Result<T, Problem> {
    T::try_from(text.to_owned()).map_err(|error| Problem::new(400, "InvalidParameter", error.to_string()))
}

/// The name of a quota.
pub(crate) fn quota(text: &str) -> Result<QuotaId, Problem> {
    name(text)
}
