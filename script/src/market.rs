//! Lines about the spot market: offers, prices, inventories and bids.

use engine::job::spec::FaultTolerance;
use engine::market::bid::Framework;
use engine::market::bid::Network;
use engine::market::bid::SpotStrategy;
use engine::market::offer::OfferTerms;
use engine::market::offer::PriceSource;
use engine::message::command::AmountByName;
use engine::message::command::PodGroup;
use engine::message::command::SpotRequest;
use engine::message::command::SubmitJob;
use engine::message::command::market::CreateOffer;
use engine::message::command::market::SetInventory;
use engine::unit::decimal::thousandths;
use engine::unit::id::OfferId;
use engine::unit::priority::Module;
use engine::unit::resource::ResourceType;
use engine::unit::time::Millis;

use crate::about::about;
use crate::words::Words;

/// `NAME lingjun|general GPUS xNUMBER original PRICE [at PRICE] [auction] [protection P] [window P] [grace P]`
pub(crate) fn offer(words: &mut Words<'_>) -> Result<CreateOffer, String> {
    let offer = words.offer()?;
    let word = words.need("lingjun or general")?;
    let resource_type = resource_type(word).ok_or_else(|| about(word, "is not one of lingjun, general"))?;
    let instance = words.amount()?;
    let number = words.need("a number of instances such as x4")?;
    let inventory = number.strip_prefix('x').and_then(|number| number.parse().ok());
    let mut create = CreateOffer {
        offer,
        resource_type,
        instance,
        inventory: inventory.ok_or_else(|| about(number, "is no number of instances; write x4"))?,
        price: None,
        terms: OfferTerms {
            original_price: 1_000_000,
            protection: Millis::HOUR,
            window: Millis::HOUR,
            grace_period: Millis::ZERO,
            price_source: PriceSource::Published,
        },
    };
    while let Some(word) = words.take() {
        match word {
            "original" => create.terms.original_price = micros(words.need("a price")?)?,
            "at" => create.price = Some(micros(words.need("a price")?)?),
            "auction" => create.terms.price_source = PriceSource::Auction,
            "protection" => create.terms.protection = words.period()?,
            "window" => create.terms.window = words.period()?,
            "grace" => create.terms.grace_period = words.period()?,
            other => {
                return Err(about(
                    other,
                    "is not known here; write original, at, auction, protection, window or grace",
                ));
            }
        }
    }
    Ok(create)
}

/// The kind of machines by its name.
pub(crate) fn resource_type(word: &str) -> Option<ResourceType> {
    match word {
        "lingjun" => Some(ResourceType::Lingjun),
        "general" => Some(ResourceType::General),
        _ => None,
    }
}

/// `NAME OFFER INSTANCES [40%] [limit PRICE] [as-price-goes] [OPTION...]`
pub(crate) fn bid(words: &mut Words<'_>) -> Result<SubmitJob, String> {
    let (name, offer) = (words.job()?, words.offer()?);
    let number = words.need("a number of instances")?;
    let count = number.parse().map_err(|_| about(number, "is no number of instances"))?;
    let mut spot = SpotRequest {
        offer,
        strategy: SpotStrategy::WithPriceLimit,
        discount_percent: None,
        price_limit: None,
        framework: Framework::Pytorch,
        network: network(true),
    };
    let mut job = SubmitJob::new(name, vec![PodGroup { count, amount: AmountByName::new() }]);
    while let Some(word) = words.take() {
        match word {
            "limit" => spot.price_limit = Some(micros(words.need("a price")?)?),
            "as-price-goes" => spot.strategy = SpotStrategy::AsPriceGoes,
            "DLC" => job.module = Module::Dlc,
            "DSW" => job.module = Module::Dsw,
            "EAS" => job.module = Module::Eas,
            "mpi" => spot.framework = Framework::Mpi,
            "other-framework" => spot.framework = Framework::Other,
            "no-network" => spot.network = network(false),
            "of" => job.pods[0].amount = words.amount()?,
            "fault-tolerance" => job.fault_tolerance = Some(FaultTolerance::default()),
            "for" => job.duration_ms = Some(words.period()?),
            "checkpoint" => job.checkpoint_ms = Some(words.period()?),
            percent if percent.ends_with('%') => {
                let number = percent.trim_end_matches('%');
                let number = number.parse().map_err(|_| about(percent, "is no discount; write 40%"))?;
                spot.discount_percent = Some(number);
            }
            other => {
                return Err(about(
                    other,
                    "is not known here; write 40%, limit, as-price-goes, mpi, other-framework, no-network, DLC, DSW, EAS, of, fault-tolerance, for or checkpoint",
                ));
            }
        }
    }
    job.spot = Some(spot);
    Ok(job)
}

/// An offer, its price in micro-units, and what the present time is later or earlier by.
type Price = (OfferId, i64, Option<Millis>);

/// `OFFER PRICE [PERIOD ago|ahead]`
pub(crate) fn price(words: &mut Words<'_>) -> Result<Price, String> {
    let (offer, price) = (words.offer()?, micros(words.need("a price")?)?);
    if words.is_empty() {
        return Ok((offer, price, None));
    }
    let period = words.period()?;
    let shift = match words.need("ago or ahead")? {
        "ago" => Millis(-period.0),
        "ahead" => period,
        other => return Err(about(other, "is not one of ago, ahead")),
    };
    Ok((offer, price, Some(shift)))
}

/// `OFFER NUMBER`
pub(crate) fn inventory(words: &mut Words<'_>) -> Result<SetInventory, String> {
    let (offer, number) = (words.offer()?, words.need("a number of instances")?);
    let inventory = number.parse().map_err(|_| about(number, "is no number of instances"))?;
    Ok(SetInventory { offer, inventory })
}

fn network(is_there: bool) -> Network {
    let part = |name: &str| is_there.then(|| name.into());
    Network { vpc: part("vpc"), vswitch: part("vswitch"), security_group: part("security group") }
}

/// A price with at most three digits after the point, in micro-units.
fn micros(word: &str) -> Result<i64, String> {
    thousandths(word).and_then(|value| value.checked_mul(1000)).ok_or_else(|| about(word, "is no price"))
}
