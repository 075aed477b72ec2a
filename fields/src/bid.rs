//! A new job with a bid on the spot market.

use engine::market::bid::Framework;
use engine::market::bid::Network;
use engine::market::bid::SpotStrategy;
use engine::message::command::AmountByName;
use engine::message::command::Command;
use engine::message::command::SpotRequest;
use engine::message::command::SubmitJob;

use crate::facts::Facts;
use crate::field::Described;
use crate::field::Field;
use crate::field::Holds;
use crate::job;
use crate::list::List;
use crate::number::Number;

/// Of a network's parts.
macro_rules! network {
    ($key:literal, $label:literal, $part:ident) => {
        Field {
            key: $key,
            label: $label,
            about: "Where the machines are reached; Lingjun needs it.",
            holds: Holds::Text {
                list: |_| List::Typed,
                read: |job| {
                    let part = job.spot.as_ref().and_then(|spot| spot.network.$part.as_deref());
                    part.unwrap_or_default().to_owned()
                },
                write: |job, _, text| {
                    if let Some(spot) = &mut job.spot {
                        spot.network.$part = (!text.is_empty()).then(|| text.into());
                    }
                    Ok(())
                },
            },
        }
    };
}

const DISCOUNT: Field<SubmitJob> = Field {
    key: "discount",
    label: "At most, of the original price",
    about: "It is outbid when the price rises above this share of the original price.",
    holds: Holds::Number {
        range: |_, _| Number::tens_of_percent(),
        read: |job| job.spot.as_ref().and_then(|spot| spot.discount_percent).unwrap_or(0),
        write: |job, value| {
            if let Some(spot) = &mut job.spot {
                spot.discount_percent = Some(value);
            }
        },
    },
};

const LIMIT: Field<SubmitJob> = Field {
    key: "limit",
    label: "At most",
    about: "It is outbid when the price for an instance-minute rises above this one.",
    holds: Holds::Number {
        range: |job, facts| {
            let offer = job.spot.as_ref().and_then(|spot| facts.offer(&spot.offer));
            Number::price(offer.map_or(1_000_000, |offer| offer.original))
        },
        read: |job| job.spot.as_ref().and_then(|spot| spot.price_limit).unwrap_or(0),
        write: |job, value| {
            if let Some(spot) = &mut job.spot {
                spot.price_limit = Some(value);
            }
        },
    },
};

const OFFER: Field<SubmitJob> = Field {
    key: "offer",
    label: "Offer",
    about: "The machines that it bids for, whole instances at a time.",
    holds: Holds::Text {
        list: |_| List::Offers,
        read: |job| job.spot.as_ref().map(|spot| spot.offer.to_string()).unwrap_or_default(),
        write: |job, facts, name| {
            let known = facts.offer_named(name)?;
            if let Some(spot) = &mut job.spot {
                spot.offer = known.offer.clone();
                (spot.discount_percent, spot.price_limit) = known.limits();
            }
            Ok(())
        },
    },
};

const VPC: Field<SubmitJob> = network!("vpc", "VPC", vpc);
const VSWITCH: Field<SubmitJob> = network!("vswitch", "vSwitch", vswitch);
const SECURITY_GROUP: Field<SubmitJob> = network!("security_group", "Security group", security_group);

/// What is set of a bid alone.
pub(crate) const OF_BID: &[Field<SubmitJob>] = &[OFFER, DISCOUNT, LIMIT, VPC, VSWITCH, SECURITY_GROUP];

/// What the limit of the bid is decides which field it has.
pub(crate) fn fields(job: &SubmitJob) -> &'static [Field<SubmitJob>] {
    const WITH_DISCOUNT: &[Field<SubmitJob>] = &[
        job::PODS,
        job::PRIORITY,
        job::DURATION,
        DISCOUNT,
        job::NAME,
        OFFER,
        job::MODULE,
        VPC,
        VSWITCH,
        SECURITY_GROUP,
    ];
    const WITH_LIMIT: &[Field<SubmitJob>] =
        &[job::PODS, job::PRIORITY, job::DURATION, LIMIT, job::NAME, OFFER, job::MODULE, VPC, VSWITCH, SECURITY_GROUP];
    const AS_PRICE_GOES: &[Field<SubmitJob>] =
        &[job::PODS, job::PRIORITY, job::DURATION, job::NAME, OFFER, job::MODULE, VPC, VSWITCH, SECURITY_GROUP];
    match job.spot.as_ref().map(|spot| (spot.discount_percent, spot.price_limit)) {
        Some((Some(_), _)) => WITH_DISCOUNT,
        Some((None, Some(_))) => WITH_LIMIT,
        Some((None, None)) | None => AS_PRICE_GOES,
    }
}

/// On the first offer, at what it costs.
pub(crate) fn begin(facts: &Facts, number: usize) -> Option<Command> {
    let known = facts.offers.first()?;
    let (discount_percent, price_limit) = known.limits();
    let spot = SpotRequest {
        offer: known.offer.clone(),
        strategy: SpotStrategy::default(),
        discount_percent,
        price_limit,
        framework: Framework::default(),
        network: network(),
    };
    Some(SubmitJob { spot: Some(spot), ..job::planned(number, AmountByName::new())? }.command())
}

/// Lingjun takes no bid without a network. Which one it is decides nothing, so a new bid has names to be replaced.
fn network() -> Network {
    let part = |name: &str| Some(name.into());
    Network { vpc: part("vpc"), vswitch: part("vswitch"), security_group: part("security-group") }
}
