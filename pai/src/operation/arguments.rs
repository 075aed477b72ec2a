//! The parameters of a request.

use serde_json::Map;
use serde_json::Value;

use crate::operation::fields::Fields;

/// The parameters of a request, wherever they stand.
#[derive(Clone, Debug)]
pub(crate) struct Arguments {
    pub(super) path: Map<String, Value>,
    pub(super) query: Map<String, Value>,
    pub(super) body: Map<String, Value>,
}

impl Arguments {
    pub(crate) fn path(&self) -> Fields<'_> {
        Fields::new("path", &self.path)
    }

    pub(crate) fn query(&self) -> Fields<'_> {
        Fields::new("query", &self.query)
    }

    pub(crate) fn body(&self) -> Fields<'_> {
        Fields::new("", &self.body)
    }
}
