//! What a job bids, and which bids an offer takes (rules 6.2).

use std::fmt;
use std::sync::Arc;

use serde::Deserialize;
use serde::Serialize;

use crate::market::offer::MarketRange;
use crate::unit::amount::Dimension;
use crate::unit::id::OfferNo;
use crate::unit::priority::Module;
use crate::unit::quantity::bare;
use crate::unit::quantity::price;
use crate::unit::quantity::quantity;
use crate::unit::resource::ResourceType;

/// Whether a job names the most that it pays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SpotStrategy {
    /// It does, by a discount or by a price.
    #[default]
    WithPriceLimit,
    /// It pays whatever the market asks, which is never more than the original price. Limits take no effect.
    AsPriceGoes,
}

/// What a job is written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Framework {
    /// `PyTorch`.
    #[default]
    Pytorch,
    /// MPI.
    Mpi,
    /// Any other.
    Other,
}

impl Framework {
    /// As people write it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pytorch => "PyTorch",
            Self::Mpi => "MPI",
            Self::Other => "another framework",
        }
    }
}

/// Where a job's instances are connected.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Network {
    /// The virtual private cloud.
    pub vpc: Option<Arc<str>>,
    /// The switch in it.
    pub vswitch: Option<Arc<str>>,
    /// The security group.
    pub security_group: Option<Arc<str>>,
}

impl Network {
    /// The settings that are left out.
    #[must_use]
    pub fn missing(&self) -> Vec<NetworkPart> {
        let parts = [
            (&self.vpc, NetworkPart::Vpc),
            (&self.vswitch, NetworkPart::Vswitch),
            (&self.security_group, NetworkPart::SecurityGroup),
        ];
        parts
            .into_iter()
            .filter(|(name, _)| name.as_ref().is_none_or(|name| name.is_empty()))
            .map(|(_, part)| part)
            .collect()
    }
}

/// A network setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum NetworkPart {
    /// The virtual private cloud.
    Vpc,
    /// The switch in it.
    Vswitch,
    /// The security group.
    SecurityGroup,
}

impl NetworkPart {
    fn as_str(self) -> &'static str {
        match self {
            Self::Vpc => "a VPC",
            Self::Vswitch => "a vSwitch",
            Self::SecurityGroup => "a security group",
        }
    }
}

/// The most that a job pays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Bid {
    /// So many percent of the original price; 10 to 90 in steps of 10.
    Discount(u8),
    /// So many micro-units of currency for an instance-minute.
    Price(i64),
    /// Whatever the market asks.
    AsPriceGoes,
}

impl Bid {
    /// The most that it pays for an instance-minute of an offer with this original price.
    #[must_use]
    pub fn limit(self, original: i64) -> i64 {
        match self {
            Self::Discount(percent) => super::auction::price_at(original, i64::from(percent)),
            Self::Price(limit) => limit,
            Self::AsPriceGoes => original,
        }
    }
}

/// What a job asks of the spot market, as it was accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SpotSpec {
    /// The offer that it bids on; each of its pods takes one instance.
    pub offer: OfferNo,
    /// The offer's kind of machines.
    pub resource_type: ResourceType,
    /// The most that it pays.
    pub bid: Bid,
    /// What it is written in.
    pub framework: Framework,
    /// Where its instances are connected.
    pub network: Network,
}

/// Why an offer does not take a bid: one variant for each documented restriction (seed: preemptible-jobs).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum BidFault {
    /// A job runs on a quota or on the market, not on both.
    QuotaAndOffer {
        /// The quota that it names.
        quota: String,
    },
    /// Both limits are given.
    BothLimits {
        /// The discount, in percent.
        discount_percent: i64,
        /// The price, in micro-units.
        price_limit: i64,
    },
    /// No limit is given, and the strategy needs one.
    NoLimit,
    /// A discount that is no multiple of 10 from 10 to 90.
    DiscountStep {
        /// The discount, in percent.
        discount_percent: i64,
    },
    /// A discount on general computing.
    DiscountOnGeneral {
        /// The discount, in percent.
        discount_percent: i64,
    },
    /// A price on Lingjun.
    PriceOnLingjun {
        /// The price, in micro-units.
        price_limit: i64,
    },
    /// A price outside the market's range.
    PriceOutsideMarket {
        /// The price, in micro-units.
        price_limit: i64,
        /// What the market may ask.
        range: MarketRange,
    },
    /// A framework that does not run on these machines.
    Framework {
        /// The framework.
        framework: Framework,
        /// The machines.
        resource_type: ResourceType,
    },
    /// Network settings are missing, and Lingjun needs them.
    NetworkMissing {
        /// Which.
        missing: Vec<NetworkPart>,
    },
    /// Automatic fault tolerance on general computing.
    FaultToleranceOnGeneral,
    /// Only training jobs run on the market.
    NotTraining {
        /// The job's module.
        module: Module,
    },
    /// A job on the market has all its pods or none.
    Elastic {
        /// The minimum that it names.
        min_pods: u32,
    },
    /// A job on the market uses no idle amounts.
    IdleResources,
    /// A pod is larger than an instance.
    LargerThanInstance {
        /// The dimension.
        dimension: Dimension,
        /// What the pod asks for, in the dimension's unit.
        asked: i64,
        /// What an instance has.
        instance: i64,
    },
}

impl BidFault {
    /// Its name, for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::QuotaAndOffer { .. } => "bid_quota_and_offer",
            Self::BothLimits { .. } => "bid_both_limits",
            Self::NoLimit => "bid_no_limit",
            Self::DiscountStep { .. } => "bid_discount_step",
            Self::DiscountOnGeneral { .. } => "bid_discount_on_general",
            Self::PriceOnLingjun { .. } => "bid_price_on_lingjun",
            Self::PriceOutsideMarket { .. } => "bid_price_outside_market",
            Self::Framework { .. } => "bid_framework",
            Self::NetworkMissing { .. } => "bid_network_missing",
            Self::FaultToleranceOnGeneral => "bid_fault_tolerance_on_general",
            Self::NotTraining { .. } => "bid_not_training",
            Self::Elastic { .. } => "bid_elastic",
            Self::IdleResources => "bid_idle_resources",
            Self::LargerThanInstance { .. } => "bid_larger_than_instance",
        }
    }
}

impl fmt::Display for BidFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::QuotaAndOffer { quota } => {
                write!(f, "it names quota {quota} as well; a job runs on a quota or bids, so leave out one of them")
            }
            Self::BothLimits { discount_percent, price_limit } => write!(
                f,
                "it has both limits, a discount to {discount_percent} % and a price of {}; give one",
                price(*price_limit)
            ),
            Self::NoLimit => f.write_str("it has no limit; give a discount or a price, or bid as the price goes"),
            Self::DiscountStep { discount_percent } => {
                write!(f, "the discount is {discount_percent} %; it must be 10 % to 90 % in steps of 10 %")
            }
            Self::DiscountOnGeneral { discount_percent } => write!(
                f,
                "it bids {discount_percent} %, and discounts are for Lingjun only; bid a price on general computing"
            ),
            Self::PriceOnLingjun { price_limit } => {
                write!(
                    f,
                    "it bids a price of {}, and Lingjun takes discounts only; bid 10 % to 90 %",
                    price(*price_limit)
                )
            }
            Self::PriceOutsideMarket { price_limit, range } => {
                write!(f, "it bids a price of {}, and the market asks {range}; bid inside of that", price(*price_limit))
            }
            Self::Framework { framework, resource_type: ResourceType::General } => {
                write!(f, "it runs {}, and spot instances of general computing run PyTorch only", framework.as_str())
            }
            Self::Framework { framework, resource_type: ResourceType::Lingjun } => {
                write!(f, "it runs {}, and spot instances of Lingjun run PyTorch and MPI only", framework.as_str())
            }
            Self::NetworkMissing { missing } => {
                let missing: Vec<&str> = missing.iter().map(|part| part.as_str()).collect();
                write!(f, "its network lacks {}; Lingjun needs all three", missing.join(", "))
            }
            Self::FaultToleranceOnGeneral => {
                f.write_str("it has automatic fault tolerance, which general computing does not support; switch it off")
            }
            Self::NotTraining { module } => {
                write!(f, "its module is {}; only DLC jobs run on the spot market", module.as_str())
            }
            Self::Elastic { min_pods } => {
                write!(f, "it is elastic from {min_pods} pods; a job on the spot market has all its pods or none")
            }
            Self::IdleResources => f.write_str("it asks for idle resources, which belong to quotas; switch them off"),
            Self::LargerThanInstance { dimension, asked, instance } => write!(
                f,
                "a pod asks for {} and an instance has {}; ask for less, or for more pods",
                quantity(dimension, *asked),
                bare(dimension, *instance)
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::BidFault;
    use super::Network;

    #[test]
    fn a_network_that_is_there_in_part_is_not_called_none() {
        let network = Network { vpc: Some("vpc-1".into()), vswitch: None, security_group: Some("sg-1".into()) };
        let fault = BidFault::NetworkMissing { missing: network.missing() };
        assert_eq!(fault.to_string(), "its network lacks a vSwitch; Lingjun needs all three");
    }
}
