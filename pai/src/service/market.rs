//! The spot market: what can be bid for (DLC), and what it has cost (`PaiStudio`).
//!
//! The contract tells prices as shares of the original price, never as money.

use engine::market::offer::SpotOffer;
use engine::market::price::PriceHour;
use engine::state::world::State;
use engine::unit::amount::DimensionKind;
use engine::unit::id::OfferId;
use engine::unit::id::OfferNo;
use engine::unit::limit;
use engine::unit::sort;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use serde_json::Value;
use serde_json::json;

use crate::calendar;
use crate::operation::market::MarketOperation;
use crate::operation::market::SpecOrder;
use crate::operation::page::Direction;
use crate::operation::page::Page;
use crate::problem::Problem;
use crate::service::amount;
use crate::service::context::Context;
use crate::service::context::not_found;
use crate::service::context::paged;
use crate::service::job::view::machine_word;

/// How far back prices go if nothing is asked for.
const DAYS_SHOWN: Millis = Millis(3 * Millis::DAY.0);

pub(super) fn serve(context: &mut Context, operation: MarketOperation) -> Result<Value, Problem> {
    let state = context.state()?;
    match operation {
        MarketOperation::Specs { types, resource_type, accelerated, sort, direction, page } => {
            let is_meant = |(_, offer): &(OfferNo, &SpotOffer)| {
                (types.is_empty() || types.iter().any(|name| name == offer.id.as_str()))
                    && resource_type.is_none_or(|kind| kind == offer.resource_type)
                    && accelerated.is_none_or(|wanted| (state.cluster.gpus(&offer.instance) > 0) == wanted)
            };
            let mut found: Vec<_> = state.market.live_offers().filter(is_meant).collect();
            order(state, &mut found, sort);
            if direction == Direction::Descending {
                found.reverse();
            }
            let (page, total) = paged(found, page);
            let specs: Vec<Value> = page.into_iter().map(|(no, offer)| spec(state, no, offer)).collect();
            Ok(json!({ "EcsSpecs": specs, "TotalCount": total }))
        }
        MarketOperation::Prices { instance, from, until, direction, page } => {
            let from = from.unwrap_or(context.now - DAYS_SHOWN);
            prices(context, &instance, from, until.unwrap_or(context.now), direction, page)
        }
    }
}

fn order(state: &State, offers: &mut [(OfferNo, &SpotOffer)], by: SpecOrder) {
    let kind = match by {
        SpecOrder::Cpu => DimensionKind::Cpu,
        SpecOrder::Gpu => DimensionKind::Gpu,
        SpecOrder::Memory => DimensionKind::Memory,
        SpecOrder::Created => return,
    };
    sort::by_key(offers, |(_, offer)| amount::whole(state, &offer.instance, kind));
}

fn spec(state: &State, no: OfferNo, offer: &SpotOffer) -> Value {
    let count = |kind| amount::whole(state, &offer.instance, kind);
    let gpus = count(DimensionKind::Gpu);
    let is_free = state.market.free(no) > 0;
    json!({
        "InstanceType": offer.id.as_str(),
        "AcceleratorType": if gpus > 0 { "GPU" } else { "CPU" },
        "Cpu": count(DimensionKind::Cpu),
        "Gpu": gpus,
        "GpuType": amount::resource(state, &offer.instance)["GPUType"],
        "Memory": count(DimensionKind::Memory),
        "ResourceType": machine_word(offer.resource_type),
        "IsAvailable": is_free,
        "PaymentTypes": ["Spot"],
        "SpotStockStatus": if is_free { "WithStock" } else { "NoStock" },
        "NonProtectSpotDiscount": share(offer.course.price(), offer.terms.original_price),
    })
}

/// A price as a share of the original one, to a thousandth; never nothing, because the market asks a tenth at least.
fn share(price: i64, original: i64) -> Value {
    let thousandths = (i128::from(price) * 1000 + i128::from(original) / 2) / i128::from(original.max(1));
    let text = crate::operation::quantity::decimal(i64::try_from(thousandths).unwrap_or(1000));
    text.parse::<f64>().map(Value::from).unwrap_or_default()
}

fn prices(
    context: &Context,
    name: &str,
    from: Timestamp,
    until: Timestamp,
    direction: Direction,
    page: Page,
) -> Result<Value, Problem> {
    let state = context.state()?;
    let no = OfferId::new(name).ok().and_then(|id| state.market.offer_no(&id));
    let no = no.ok_or_else(|| not_found("InstanceType", "instance type", name))?;
    let offer = &state.market.offers[no.at()];
    let original = offer.terms.original_price;
    let mut points = points(offer, context.now);
    points.retain(|(at, _)| (from..=until).contains(at));
    if direction == Direction::Descending {
        points.reverse();
    }
    let (page, total) = paged(points, page);
    let one = |(at, price): (Timestamp, i64)| {
        json!({
            "InstanceType": name,
            "SpotDiscount": share(price, original),
            "Timestamp": calendar::written(at),
        })
    };
    Ok(json!({ "SpotPriceHistory": page.into_iter().map(one).collect::<Vec<_>>(), "TotalCount": total }))
}

/// The price at each whole minute and at each change, as far back as changes are known; before that at the beginning of
/// each hour, on its average.
fn points(offer: &SpotOffer, now: Timestamp) -> Vec<(Timestamp, i64)> {
    let minute_of = |at: Timestamp| at.0.div_euclid(Millis::MINUTE.0);
    let known: Vec<(Timestamp, i64)> = offer.course.known().collect();
    let week = Millis(limit::PRICE_HOURS * Millis::HOUR.0);
    let first = known.first().map_or(now, |(at, _)| *at).max(now - week);
    let hour = |hour: &PriceHour| (Timestamp(hour.hour * Millis::HOUR.0), hour.average());
    let hours = offer.course.hours(now);
    let mut points: Vec<_> = hours.iter().map(hour).filter(|(at, _)| *at + Millis::HOUR <= first).collect();
    let ends = known.iter().skip(1).map(|(at, _)| *at).chain([now + Millis(1)]);
    for ((begin, price), end) in known.iter().zip(ends) {
        let begin = (*begin).max(first);
        let minutes = minute_of(begin) + 1..=minute_of(now);
        let times = minutes.map(|minute| Timestamp(minute * Millis::MINUTE.0)).take_while(|at| *at < end);
        points.extend([begin].into_iter().chain(times).filter(|at| *at < end).map(|at| (at, *price)));
    }
    points
}
