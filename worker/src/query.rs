//! Parameters after the question mark.

use std::collections::BTreeMap;
use std::str::FromStr;

use worker::Request;

use crate::answer::Problem;

/// A request's parameters; of equal names the last one counts.
pub(crate) struct Query(BTreeMap<String, String>);

impl Query {
    pub(crate) fn of(request: &Request) -> Result<Self, Problem> {
        let url = request.url()?;
        Ok(Self(url.query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned())).collect()))
    }

    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.0.get(name).cloned()
    }

    /// A parameter's value, or nothing if it is not there; what cannot be read is refused.
    pub(crate) fn value<T: FromStr>(&self, name: &'static str) -> Result<Option<T>, Problem> {
        self.0.get(name).map(|text| text.parse().map_err(|_| Problem::BadQuery(name))).transpose()
    }
}
