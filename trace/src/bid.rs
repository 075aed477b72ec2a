//! What a job of a trace bids.

use engine::market::bid::Framework;
use engine::market::bid::Network;
use engine::market::bid::SpotStrategy;
use engine::message::command::SpotRequest;
use engine::unit::id::OfferId;

use crate::offers::Offers;
use crate::sheet::Line;
use engine::unit::decimal::thousandths;

/// Whether a line's job runs on the spot market. One that names an offer and no limit bids as the price goes.
#[must_use]
pub fn has_bid(line: &Line<'_>) -> bool {
    ["bid_discount", "bid_price", "offer"].iter().any(|column| line.text(column).is_some())
}

/// The bid, and thousandths of GPUs of an instance of its offer.
pub fn bid(line: &Line<'_>, offers: &Offers) -> Result<(SpotRequest, i64), String> {
    let name = match (line.text("offer"), offers.list.keys().next()) {
        (Some(name), _) => name,
        (None, Some(only)) if offers.list.len() == 1 => only,
        (None, _) => return Err(line.complaint("offer", "", "there are several offers; name the one that it bids on")),
    };
    let Some(declared) = offers.list.get(name) else {
        let known: Vec<&str> = offers.list.keys().map(String::as_str).collect();
        return Err(line.complaint("offer", name, &format!("the offers are {}; name one of them", known.join(", "))));
    };
    let offer = OfferId::new(name).map_err(|bad| line.complaint("offer", name, &bad.to_string()))?;
    let (discount_percent, price_limit) = (discount(line)?, offers.reading.price(line, "bid_price")?);
    let has_limit = discount_percent.is_some() || price_limit.is_some();
    let strategy = if has_limit { SpotStrategy::WithPriceLimit } else { SpotStrategy::AsPriceGoes };
    // A trace says nothing of networks, and a replay has none.
    let named = || Some("replay".into());
    let network = Network { vpc: named(), vswitch: named(), security_group: named() };
    let framework = Framework::Pytorch;
    let request = SpotRequest { offer, strategy, discount_percent, price_limit, framework, network };
    Ok((request, declared.gpus))
}

/// A discount as `40`, `40 %` or `0.4`, in percent.
fn discount(line: &Line<'_>) -> Result<Option<i64>, String> {
    let Some(text) = line.text("bid_discount") else { return Ok(None) };
    let number = text.trim_end_matches('%').trim_end();
    let percent = thousandths(number).and_then(|value| {
        let is_share = number == text && value.abs() <= 1000;
        let percent = if is_share { value * 100 } else { value };
        (percent % 1000 == 0).then_some(percent / 1000)
    });
    let remedy = "write 10 to 90 in steps of 10, or 0.1 to 0.9";
    percent.map(Some).ok_or_else(|| line.complaint("bid_discount", text, remedy))
}
