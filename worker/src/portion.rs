//! What a read of the past asks for, and what is kept of that.

use engine::message::snapshot::Snapshot;
use engine::state::world::State;
use engine::unit::time::Timestamp;
use protocol::fault::Fault;
use protocol::log::encode;
use protocol::past::Kept;
use protocol::past::Moment;

use crate::answer::Problem;
use crate::query::Query;

/// How many rounds are listed, if nothing is asked for.
const ROUNDS_SHOWN: usize = 20;
/// How many rounds can be listed.
const ROUNDS_MAX: usize = 200;
/// How many entries can be asked for at once.
const PORTION_MAX: usize = 1000;

/// How many entries a query asks for, if it says so.
pub(crate) fn portion(query: &Query) -> Result<Option<usize>, Problem> {
    let count: Option<usize> = query.value("count")?;
    Ok(count.map(|count| count.min(PORTION_MAX)))
}

/// The moment that a query asks for.
pub(crate) fn moment(query: &Query) -> Result<Moment, Problem> {
    match (query.value("time")?, query.value("revision")?) {
        (Some(ms), None) => Ok(Moment::Time(Timestamp(ms))),
        (None, Some(revision)) => Ok(Moment::Revision(revision)),
        (None, None) | (Some(_), Some(_)) => Err(Problem::BadQuery("time or revision, one of the two,")),
    }
}

/// What is kept of the past, or since when something is.
pub(crate) fn at_hand<T>(kept: Kept<T>) -> Result<T, Problem> {
    match kept {
        Kept::Yes(kept) => Ok(kept),
        Kept::Since(revision, gap) => Err(Problem::NotKept(revision, gap)),
    }
}

/// The state before anything happened.
pub(crate) fn beginning() -> Result<String, Fault> {
    encode(&Snapshot::of(&State::default()))
}

/// How many rounds a query asks for.
pub(crate) fn count(query: &Query) -> Result<usize, Problem> {
    Ok(query.value("count")?.unwrap_or(ROUNDS_SHOWN).min(ROUNDS_MAX))
}
