//! Which bids are accepted: the documented restrictions, one after the other (seed: preemptible-jobs).

use crate::job::shape::Shape;
use crate::job::spec::IdlePolicy;
use crate::market::bid::Bid;
use crate::market::bid::BidFault;
use crate::market::bid::Framework;
use crate::market::bid::SpotSpec;
use crate::market::bid::SpotStrategy;
use crate::market::offer::SpotOffer;
use crate::message::command::SpotRequest;
use crate::message::command::SubmitJob;
use crate::message::rejection::Rejection;
use crate::state::world::State;
use crate::transition::names;
use crate::unit::amount::Amount;
use crate::unit::priority::Module;
use crate::unit::resource::ResourceType;

/// The bid of a job, if its offer takes it.
pub(super) fn bid(state: &State, command: &SubmitJob, request: &SpotRequest) -> Result<SpotSpec, Rejection> {
    let no = names::offer(state, &request.offer)?;
    let offer = &state.market.offers[no.at()];
    let refuse = |fault| refuse(command, request, fault);
    check_job(command, offer).map_err(refuse)?;
    let bid = limit(request, offer).map_err(refuse)?;
    check_machines(request, offer).map_err(refuse)?;
    let SpotRequest { framework, network, .. } = request;
    Ok(SpotSpec { offer: no, resource_type: offer.resource_type, bid, framework: *framework, network: network.clone() })
}

fn refuse(command: &SubmitJob, request: &SpotRequest, fault: BidFault) -> Rejection {
    Rejection::Bid { job: command.job.to_string(), offer: request.offer.to_string(), fault }
}

fn check_job(command: &SubmitJob, offer: &SpotOffer) -> Result<(), BidFault> {
    if let Some(quota) = &command.quota {
        return Err(BidFault::QuotaAndOffer { quota: quota.to_string() });
    }
    if command.module != Module::Dlc {
        return Err(BidFault::NotTraining { module: command.module });
    }
    if command.idle != IdlePolicy::Off {
        return Err(BidFault::IdleResources);
    }
    if let Some(min_pods) = command.min_pods {
        return Err(BidFault::Elastic { min_pods });
    }
    if command.fault_tolerance.is_some() && offer.resource_type == ResourceType::General {
        return Err(BidFault::FaultToleranceOnGeneral);
    }
    Ok(())
}

fn limit(request: &SpotRequest, offer: &SpotOffer) -> Result<Bid, BidFault> {
    if request.strategy == SpotStrategy::AsPriceGoes {
        return Ok(Bid::AsPriceGoes);
    }
    match (offer.resource_type, request.discount_percent, request.price_limit) {
        (_, Some(discount_percent), Some(price_limit)) => Err(BidFault::BothLimits { discount_percent, price_limit }),
        (_, None, None) => Err(BidFault::NoLimit),
        (ResourceType::Lingjun, None, Some(price_limit)) => Err(BidFault::PriceOnLingjun { price_limit }),
        (ResourceType::General, Some(discount_percent), None) => Err(BidFault::DiscountOnGeneral { discount_percent }),
        (ResourceType::Lingjun, Some(discount_percent), None) => match u8::try_from(discount_percent) {
            Ok(percent @ 10..=90) if percent % 10 == 0 => Ok(Bid::Discount(percent)),
            Ok(_) | Err(_) => Err(BidFault::DiscountStep { discount_percent }),
        },
        (ResourceType::General, None, Some(price_limit)) => {
            let range = offer.terms.range();
            let is_inside = (range.low..=range.high).contains(&price_limit);
            if is_inside {
                Ok(Bid::Price(price_limit))
            } else {
                Err(BidFault::PriceOutsideMarket { price_limit, range })
            }
        }
    }
}

fn check_machines(request: &SpotRequest, offer: &SpotOffer) -> Result<(), BidFault> {
    let runs = match offer.resource_type {
        ResourceType::Lingjun => matches!(request.framework, Framework::Pytorch | Framework::Mpi),
        ResourceType::General => request.framework == Framework::Pytorch,
    };
    if !runs {
        return Err(BidFault::Framework { framework: request.framework, resource_type: offer.resource_type });
    }
    let missing = request.network.missing();
    if offer.resource_type == ResourceType::Lingjun && !missing.is_empty() {
        return Err(BidFault::NetworkMissing { missing });
    }
    Ok(())
}

/// Each pod runs on one instance.
pub(super) fn check_pods(
    state: &State,
    command: &SubmitJob,
    request: &SpotRequest,
    instance: &Amount,
    shape: &Shape,
) -> Result<(), Rejection> {
    let over = shape.roles().iter().find_map(|role| Some((role.amount, role.amount.first_over(instance)?)));
    over.map_or(Ok(()), |(asked, at)| {
        let dimension = state.cluster.dimensions[at].clone();
        Err(refuse(
            command,
            request,
            BidFault::LargerThanInstance { dimension, asked: asked[at], instance: instance[at] },
        ))
    })
}
