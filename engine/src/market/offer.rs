//! An offer: an instance type of one kind of machines, with an inventory and a price (rules 6.1).

use std::fmt;

use serde::Deserialize;
use serde::Serialize;

use crate::market::auction;
use crate::market::price::PriceCourse;
use crate::unit::amount::Amount;
use crate::unit::id::OfferId;
use crate::unit::quantity::price;
use crate::unit::resource::ResourceType;
use crate::unit::time::Millis;
use crate::unit::time::Timestamp;

/// Where an offer's price comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PriceSource {
    /// Prices arrive as commands.
    #[default]
    Published,
    /// The bids make it, one step a round.
    Auction,
}

/// The terms of an offer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct OfferTerms {
    /// What an instance-minute costs without the market, in micro-units of currency.
    pub original_price: i64,
    /// How long a grant is safe from release; an hour if left out.
    #[serde(rename = "protection_ms", default = "an_hour")]
    pub protection: Millis,
    /// Over how long prices are averaged; an hour if left out.
    #[serde(rename = "window_ms", default = "an_hour")]
    pub window: Millis,
    /// How long a released job may take to stop; 30 seconds if left out.
    #[serde(rename = "grace_period_ms", default = "half_a_minute")]
    pub grace_period: Millis,
    /// Where the price comes from.
    #[serde(default)]
    pub price_source: PriceSource,
}

fn an_hour() -> Millis {
    Millis::HOUR
}

fn half_a_minute() -> Millis {
    Millis::from_seconds(30)
}

/// What the market may ask for an instance-minute, in micro-units: a tenth of the original price to all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MarketRange {
    /// The least.
    pub low: i64,
    /// The most.
    pub high: i64,
}

impl fmt::Display for MarketRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}", price(self.low), price(self.high))
    }
}

impl OfferTerms {
    /// What the market may ask.
    #[must_use]
    pub fn range(&self) -> MarketRange {
        MarketRange {
            low: auction::price_at(self.original_price, auction::STEP_LOWEST),
            high: auction::price_at(self.original_price, auction::STEP_HIGHEST),
        }
    }
}

/// An offer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SpotOffer {
    /// Its name: that of the instance type.
    pub id: OfferId,
    /// The kind of machines.
    pub resource_type: ResourceType,
    /// What one instance has.
    pub instance: Amount,
    /// How many instances there are.
    pub inventory: i64,
    /// Its terms.
    pub terms: OfferTerms,
    /// Its price, now and before.
    pub course: PriceCourse,
    /// Whether it has been removed; its number is never used again.
    #[serde(default)]
    pub is_removed: bool,
}

/// What is wrong with an offer, or with what is said of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OfferFault {
    /// A price outside what the market may ask.
    PriceOutsideMarket {
        /// The price, in micro-units.
        price: i64,
        /// What the market may ask.
        range: MarketRange,
    },
    /// A published price for a time that has passed.
    PriceInThePast {
        /// For when it is.
        at: Timestamp,
        /// The time now.
        now: Timestamp,
    },
    /// A published price for a time to come.
    PriceInTheFuture {
        /// For when it is.
        at: Timestamp,
        /// The time now.
        now: Timestamp,
    },
    /// A published price where the bids make it.
    PriceByAuction,
    /// Less than no instances.
    InventoryBelowZero {
        /// How many.
        inventory: i64,
    },
    /// An instance has nothing.
    EmptyInstance,
}

impl OfferFault {
    /// Its name, for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::PriceOutsideMarket { .. } => "offer_price_outside_market",
            Self::PriceInThePast { .. } => "offer_price_in_the_past",
            Self::PriceInTheFuture { .. } => "offer_price_in_the_future",
            Self::PriceByAuction => "offer_price_by_auction",
            Self::InventoryBelowZero { .. } => "offer_inventory_below_zero",
            Self::EmptyInstance => "offer_empty_instance",
        }
    }
}

impl fmt::Display for OfferFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PriceOutsideMarket { price: asked, range } => {
                write!(
                    f,
                    "the price {} is outside of {range}, a tenth of the original price to all of it",
                    price(*asked)
                )
            }
            Self::PriceInThePast { at, now } => write!(
                f,
                "the price is for a time {} s ago; a price holds from when it is published, so publish today's",
                (*now - *at).0 / 1000
            ),
            Self::PriceInTheFuture { at, now } => write!(
                f,
                "the price is for a time {} s ahead; a price holds from when it is published, so publish it then",
                (*at - *now).0 / 1000
            ),
            Self::PriceByAuction => {
                f.write_str("its price is made by the bids; change its price source to publish one")
            }
            Self::InventoryBelowZero { inventory } => {
                write!(f, "the inventory is {inventory}; it cannot be below 0")
            }
            Self::EmptyInstance => f.write_str("an instance has nothing; give it an amount above 0"),
        }
    }
}
