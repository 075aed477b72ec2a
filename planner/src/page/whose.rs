//! Who a line of a result is about: a quota, or an offer of the spot market, which may have the same name.

use serde::Deserialize;
use serde::Serialize;

/// A quota or an offer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Whose {
    /// Its name.
    pub name: String,
    /// Whether it is an offer.
    pub is_offer: bool,
}

impl Whose {
    /// As addresses have it: `quota:Quota1.1` or `offer:gn8`.
    #[must_use]
    pub fn key(&self) -> String {
        format!("{}:{}", if self.is_offer { "offer" } else { "quota" }, self.name)
    }

    /// As people read it.
    #[must_use]
    pub fn label(&self) -> String {
        label(&self.name, self.is_offer)
    }
}

/// The name of a quota or an offer, as people read it.
#[must_use]
pub fn label(name: &str, is_offer: bool) -> String {
    if is_offer { format!("{name} (offer)") } else { name.to_owned() }
}
