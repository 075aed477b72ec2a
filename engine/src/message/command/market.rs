//! Commands about offers of the spot market (rules 6.1).

use serde::Deserialize;
use serde::Serialize;

use crate::market::bid::Framework;
use crate::market::bid::Network;
use crate::market::bid::SpotStrategy;
use crate::market::offer::OfferTerms;
use crate::message::command::AmountByName;
use crate::unit::id::OfferId;
use crate::unit::resource::ResourceType;
use crate::unit::time::Timestamp;

/// Adds an offer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CreateOffer {
    /// Its name: that of the instance type.
    pub offer: OfferId,
    /// Lingjun or general computing; it cannot change.
    pub resource_type: ResourceType,
    /// What one instance has; it cannot change.
    pub instance: AmountByName,
    /// How many instances there are.
    pub inventory: i64,
    /// Its price at the beginning, in micro-units of currency for an instance-minute; if left out, the original price
    /// where prices are published, and the lowest where the bids make it.
    #[serde(default)]
    pub price: Option<i64>,
    /// Its terms.
    pub terms: OfferTerms,
}

/// Replaces an offer's terms.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct UpdateOffer {
    /// The offer.
    pub offer: OfferId,
    /// All its terms; what is left out gets its default. Grants keep the protection that they were given.
    pub terms: OfferTerms,
}

/// Removes an offer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DeleteOffer {
    /// The offer.
    pub offer: OfferId,
}

/// Says what an instance-minute costs from now on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PublishPrice {
    /// The offer.
    pub offer: OfferId,
    /// Micro-units of currency for an instance-minute: a tenth of the original price to all of it.
    pub price: i64,
    /// For when it is meant, if the sender says so: within a minute of now. It holds from now on.
    #[serde(default)]
    pub at: Option<Timestamp>,
}

/// Says how many instances there are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SetInventory {
    /// The offer.
    pub offer: OfferId,
    /// Instances, held ones included.
    pub inventory: i64,
}

/// A bid on the spot market.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SpotRequest {
    /// The offer; each pod takes one of its instances.
    pub offer: OfferId,
    /// Whether the job names the most that it pays.
    #[serde(default)]
    pub strategy: SpotStrategy,
    /// The most that it pays on Lingjun, in percent of the original price: 10 to 90 in steps of 10.
    #[serde(default)]
    pub discount_percent: Option<i64>,
    /// The most that it pays on general computing, in micro-units of currency for an instance-minute.
    #[serde(default)]
    pub price_limit: Option<i64>,
    /// What it is written in.
    #[serde(default)]
    pub framework: Framework,
    /// Where its instances are connected; Lingjun needs all of it.
    #[serde(default)]
    pub network: Network,
}
