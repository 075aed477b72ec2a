//! Parameters after the question mark.

use std::collections::BTreeMap;
use std::str::FromStr;

use protocol::route::Route;
use worker::Request;

use crate::answer::Problem;

/// Those of a request's parameters that its route has; of equal names the last one counts.
pub(crate) struct Query(BTreeMap<String, String>);

impl Query {
    pub(crate) fn of(request: &Request, route: &Route) -> Result<Self, Problem> {
        let url = request.url()?;
        let known = url.query_pairs().filter(|(name, _)| route.query.contains(&name.as_ref()));
        Ok(Self(known.map(|(name, value)| (name.into_owned(), value.into_owned())).collect()))
    }

    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.0.get(name).cloned()
    }

    /// A parameter's value, or nothing if it is not there; what cannot be read is refused.
    pub(crate) fn value<T: FromStr>(&self, name: &'static str) -> Result<Option<T>, Problem> {
        self.0.get(name).map(|text| text.parse().map_err(|_| Problem::BadQuery(name))).transpose()
    }
}
