//! A busy spot market to measure: every offer has a new price, jobs to release, bids to serve and bids that wait.

use engine::job::spec::FaultTolerance;
use engine::job::spec::IdlePolicy;
use engine::market::bid::Framework;
use engine::market::bid::Network;
use engine::market::bid::SpotStrategy;
use engine::market::offer::OfferTerms;
use engine::market::offer::PriceSource;
use engine::message::command::AmountByName;
use engine::message::command::Command;
use engine::message::command::CreateCluster;
use engine::message::command::NodesByName;
use engine::message::command::PodGroup;
use engine::message::command::SpotRequest;
use engine::message::command::SubmitJob;
use engine::message::command::market::CreateOffer;
use engine::message::command::market::PublishPrice;
use engine::message::command::market::SetInventory;
use engine::state::cluster::Execution;
use engine::unit::amount::Dimension;
use engine::unit::amount::DimensionKind;
use engine::unit::amount::GPU;
use engine::unit::id::JobId;
use engine::unit::id::OfferId;
use engine::unit::priority::Module;
use engine::unit::priority::Priority;
use engine::unit::resource::ResourceType;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use script::session::Session;

use crate::workload::Random;

const ORIGINAL: i64 = 1_000_000;
/// Hours with prices of their own before the round that is measured.
const HOURS: i64 = 168;
const ROUNDS_TO_REST: i64 = 90;

/// A market before a scheduled round in which every offer has something to do, and half of the bids are new. Every
/// second offer is an auction, and every second pair on general computing; there are instances for a third of the bids.
pub fn busy(bids: u32, offers: u32) -> Result<Session, String> {
    let mut session = Session::at(Timestamp(0));
    let gpu = Dimension { name: "gpu".to_owned(), kind: DimensionKind::Gpu };
    send(
        &mut session,
        &Command::CreateCluster(CreateCluster { dimensions: vec![gpu], execution: Execution::Simulated }),
    )?;
    let inventory = i64::from(bids / offers.max(1)).max(3);
    for at in 0..offers {
        send(&mut session, &Command::CreateOffer(offer(at, inventory)?))?;
    }
    let mut random = Random::of(5);
    for hour in 0..HOURS {
        session.now = Timestamp(0) + Millis(hour * Millis::HOUR.0);
        publish(&mut session, offers, |_| 20 + 5 * pick(&mut random, 8))?;
    }
    for at in 0..bids / 2 {
        session.now = session.now + Millis(100);
        send(&mut session, &Command::SubmitJob(bid(at, at % offers.max(1), &mut random)?))?;
    }
    for _ in 0..ROUNDS_TO_REST {
        session.now = session.now + Millis::MINUTE;
        session.scheduled_round().map_err(|rejection| rejection.to_string())?;
    }
    // Prices rise above some bids, and a tenth of the instances of the auctions vanishes.
    publish(&mut session, offers, |at| 40 + i64::from(at % 20))?;
    for at in (0..offers).filter(|at| is_auction(*at)) {
        let set = SetInventory { offer: offer_id(at)?, inventory: inventory * 9 / 10 };
        send(&mut session, &Command::SetInventory(set))?;
    }
    session.now = session.now + Millis::HOUR;
    for at in bids / 2..bids {
        let now = session.now;
        let submit = Command::SubmitJob(bid(at, at % offers.max(1), &mut random)?);
        session.stage(&submit, now).map_err(|rejection| rejection.to_string())?;
    }
    session.log.clear();
    Ok(session)
}

fn is_auction(offer: u32) -> bool {
    offer % 2 == 1
}

fn is_general(offer: u32) -> bool {
    offer % 4 > 1
}

fn offer_id(at: u32) -> Result<OfferId, String> {
    OfferId::new(&format!("offer-{at:04}")).map_err(|bad| bad.to_string())
}

fn offer(at: u32, inventory: i64) -> Result<CreateOffer, String> {
    Ok(CreateOffer {
        offer: offer_id(at)?,
        resource_type: if is_general(at) { ResourceType::General } else { ResourceType::Lingjun },
        instance: AmountByName::from([("gpu".to_owned(), 8 * GPU)]),
        inventory,
        price: None,
        terms: OfferTerms {
            original_price: ORIGINAL,
            protection: Millis::HOUR,
            window: Millis::HOUR,
            grace_period: Millis::from_seconds(30),
            price_source: if is_auction(at) { PriceSource::Auction } else { PriceSource::Published },
        },
    })
}

fn bid(at: u32, offer: u32, random: &mut Random) -> Result<SubmitJob, String> {
    let percent = 10 + 10 * pick(random, 9);
    let named = || Some("bench".into());
    let is_general = is_general(offer);
    let spot = SpotRequest {
        offer: offer_id(offer)?,
        strategy: SpotStrategy::WithPriceLimit,
        discount_percent: (!is_general).then_some(percent),
        // Limits in money are all different.
        price_limit: is_general.then_some(ORIGINAL / 100 * percent + i64::from(at)),
        framework: Framework::Pytorch,
        network: Network { vpc: named(), vswitch: named(), security_group: named() },
    };
    Ok(SubmitJob {
        job: JobId::new(&format!("bid-{at:06}")).map_err(|bad| bad.to_string())?,
        quota: None,
        spot: Some(spot),
        workspace: None,
        user: None,
        name: None,
        module: Module::Dlc,
        priority: Priority::LOWEST,
        pods: vec![PodGroup { count: 1 + u32::try_from(pick(random, 5)).unwrap_or(0), amount: AmountByName::new() }],
        min_pods: None,
        nodes: NodesByName::default(),
        idle: IdlePolicy::Off,
        fault_tolerance: (!is_general).then_some(FaultTolerance { max_restarts: 1000 }),
        duration_ms: None,
        checkpoint_ms: None,
    })
}

/// New prices, in percent of the original one, where they are published.
fn publish(session: &mut Session, offers: u32, mut percent: impl FnMut(u32) -> i64) -> Result<(), String> {
    for at in (0..offers).filter(|at| !is_auction(*at)) {
        let price = ORIGINAL / 100 * percent(at);
        send(session, &Command::PublishPrice(PublishPrice { offer: offer_id(at)?, price, at: None }))?;
    }
    Ok(())
}

fn pick(random: &mut Random, limit: u64) -> i64 {
    i64::try_from(random.below(limit)).unwrap_or(0)
}

fn send(session: &mut Session, command: &Command) -> Result<(), String> {
    session.send(command).map_err(|rejection| rejection.to_string())?;
    session.log.clear();
    Ok(())
}
