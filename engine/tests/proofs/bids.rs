//! The spot market of a random run: its offers, and commands about offers, prices, inventories and bids.

use engine::job::spec::FaultTolerance;
use engine::job::spec::IdlePolicy;
use engine::market::bid::Framework;
use engine::market::bid::Network;
use engine::market::bid::SpotStrategy;
use engine::market::offer::OfferTerms;
use engine::market::offer::PriceSource;
use engine::message::command::market::*;
use engine::message::command::*;
use engine::state::world::State;
use engine::unit::id::JobId;
use engine::unit::id::OfferId;
use engine::unit::priority::Module;
use engine::unit::priority::Priority;
use engine::unit::resource::ResourceType;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;

use crate::cluster::Layout;
use crate::random::Random;

/// A few offers of small inventories.
pub(crate) fn offers(layout: &Layout, random: &mut Random) -> Vec<CreateOffer> {
    let count = random.between(1, 3);
    (0..count).map(|at| offer(layout, random, at)).collect()
}

fn offer(layout: &Layout, random: &mut Random, at: i64) -> CreateOffer {
    CreateOffer {
        offer: OfferId::new(&format!("offer-{at}")).unwrap(),
        resource_type: random.pick(&[ResourceType::Lingjun, ResourceType::Lingjun, ResourceType::General]),
        instance: layout.amount(random, |random| random.pick(&[1, 2, 8])),
        inventory: random.between(0, 6),
        price: None,
        terms: terms(random),
    }
}

fn terms(random: &mut Random) -> OfferTerms {
    OfferTerms {
        original_price: random.pick(&[1_000_000, 1_000_000, 1_234_567, 100]),
        protection: Millis(random.pick(&[0, 60_000, 600_000, 3_600_000])),
        window: Millis(random.pick(&[60_000, 600_000, 3_600_000])),
        grace_period: Millis(random.pick(&[0, 0, 30_000])),
        price_source: random.pick(&[PriceSource::Published, PriceSource::Auction]),
    }
}

/// A command about the market.
pub(crate) fn command(
    state: &State,
    layout: &Layout,
    random: &mut Random,
    now: Timestamp,
    job: impl FnOnce() -> JobId,
) -> Command {
    let create = random.pick(&layout.offers);
    let offer = create.offer.clone();
    match random.below(100) {
        0..50 => Command::SubmitJob(bid(layout, random, &create, job())),
        50..72 => {
            let original = create.terms.original_price;
            let price = original * random.pick(&[5, 10, 20, 30, 35, 40, 60, 90, 100, 101, -3]) / 100;
            let at = random.pick(&[None, None, Some(0), Some(-3_600_000), Some(3_600_000)]);
            Command::PublishPrice(PublishPrice { offer, price, at: at.map(|ahead| now + Millis(ahead)) })
        }
        72..86 => {
            let inventory = random.pick(&[-1, 0, 1, 2, 3, 4, 6, 8]);
            Command::SetInventory(SetInventory { offer, inventory })
        }
        86..92 => {
            let known = state.market.offer_no(&offer).map(|no| state.market.offers[no.at()].terms.clone());
            let mut terms = if random.chance(50) { terms(random) } else { known.unwrap_or(create.terms) };
            terms.price_source = random.pick(&[PriceSource::Published, PriceSource::Auction]);
            Command::UpdateOffer(UpdateOffer { offer, terms })
        }
        92..96 => Command::DeleteOffer(DeleteOffer { offer }),
        _ => Command::CreateOffer(create),
    }
}

/// Mostly a bid that its offer takes.
fn bid(layout: &Layout, random: &mut Random, create: &CreateOffer, job: JobId) -> SubmitJob {
    let is_lingjun = create.resource_type == ResourceType::Lingjun;
    let is_wrong = random.chance(12);
    let has_discount = is_lingjun != (is_wrong && random.chance(40));
    let has_price = is_lingjun == (is_wrong && random.chance(40));
    let discount = random.pick(&[10, 20, 30, 30, 40, 50, 90]);
    let price = create.terms.original_price * random.pick(&[10, 20, 30, 31, 45, 80, 100]) / 100 + random.between(0, 1);
    let part = |name: &str, is_there: bool| is_there.then(|| name.into());
    let as_price_goes = random.chance(8);
    let spot = SpotRequest {
        offer: create.offer.clone(),
        strategy: if as_price_goes { SpotStrategy::AsPriceGoes } else { SpotStrategy::WithPriceLimit },
        discount_percent: has_discount.then_some(if is_wrong && random.chance(30) { 25 } else { discount }),
        price_limit: has_price.then_some(if is_wrong && random.chance(30) { -1 } else { price }),
        framework: if is_wrong {
            random.pick(&[Framework::Pytorch, Framework::Mpi, Framework::Other])
        } else {
            Framework::Pytorch
        },
        network: Network {
            vpc: part("vpc-1", is_lingjun),
            vswitch: part("vsw-1", is_lingjun),
            security_group: part("sg-1", is_lingjun && !(is_wrong && random.chance(30))),
        },
    };
    let tolerates = is_lingjun && random.chance(60) || is_wrong && random.chance(20);
    SubmitJob {
        job,
        quota: (is_wrong && random.chance(15)).then(|| random.pick(&layout.quotas).quota),
        spot: Some(spot),
        workspace: None,
        user: None,
        name: None,
        module: if is_wrong && random.chance(15) { Module::Eas } else { Module::Dlc },
        priority: Priority::LOWEST,
        pods: vec![PodGroup {
            count: u32::try_from(random.pick(&[1, 1, 1, 2, 3])).unwrap(),
            amount: if is_wrong && random.chance(20) { layout.amount(random, |_| 16) } else { AmountByName::new() },
        }],
        nodes: NodesByName::default(),
        min_pods: (is_wrong && random.chance(15)).then_some(1),
        idle: if is_wrong && random.chance(15) { IdlePolicy::Acceptable } else { IdlePolicy::Off },
        fault_tolerance: tolerates.then(|| FaultTolerance { max_restarts: random.pick(&[1, 3]) }),
        duration_ms: random.chance(50).then(|| Millis(random.pick(&[20_000, 300_000, 7_200_000, 90_000_000]))),
        checkpoint_ms: random.chance(40).then_some(Millis(45_000)),
    }
}
