//! Reads of the spot market, from a state and the newest entries of its log.

use engine::host::visibility::Visibility;
use engine::market::history::History;
use engine::market::statement::By;
use engine::market::statement::csv;
use engine::message::envelope::Entry;
use engine::message::rejection::Noun;
use engine::message::rejection::Rejection;
use engine::state::world::State;
use engine::unit::id::OfferId;
use engine::unit::time::Timestamp;
use protocol::log::encode;
use protocol::market;
use protocol::market::Reach;
use protocol::route::MarketCall;

use crate::answer::Problem;
use crate::query::Query;

/// An answer and what it is written in.
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) content_type: &'static str,
}

/// Answers a call for the market, or for the offer of a name; `is_whole` tells whether the entries are all that there are.
pub(crate) fn answer(
    visibility: Visibility,
    entries: &[Entry],
    is_whole: bool,
    call: MarketCall,
    name: &str,
    query: &Query,
    now: Timestamp,
) -> Result<Answer, Problem> {
    let state = visibility.state();
    let text = match call {
        MarketCall::Offers => encode(&market::offers(visibility, now))?,
        MarketCall::History => encode(&course(state, entries, name, now)?)?,
        MarketCall::Bills => {
            let by: By = query.value("by")?.unwrap_or_default();
            let before: Option<u64> = query.value("before")?;
            let reach = before.map_or(Reach::Newest, |_| Reach::Earlier);
            let statement = market::statement(visibility, entries, is_whole, by, reach, now);
            match query.text("format").as_deref() {
                Some("csv") => {
                    return Ok(Answer { text: csv(&statement.lines), content_type: "text/csv; charset=utf-8" });
                }
                Some("json") | None => encode(&statement)?,
                Some(_) => return Err(Problem::BadQuery("format")),
            }
        }
    };
    Ok(Answer { text, content_type: "application/json" })
}

fn course(state: &State, entries: &[Entry], name: &str, now: Timestamp) -> Result<History, Problem> {
    let found = OfferId::new(name).ok().and_then(|id| market::history::history(state, entries, &id, now));
    found.ok_or_else(|| Rejection::Unknown { noun: Noun::Offer, name: name.to_owned() }.into())
}
