//! The part of the submit form that bids on the spot market.

use engine::market::bid::Framework;
use engine::market::bid::Network;
use engine::market::bid::SpotStrategy;
use engine::message::command::SpotRequest;
use engine::unit::id::OfferId;

/// What is bid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BidKind {
    /// So many percent of the original price.
    Discount(i64),
    /// The price that is typed.
    Price,
    /// Whatever the market asks.
    AsPriceGoes,
}

impl BidKind {
    /// In the form.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Discount(percent) => percent.to_string(),
            Self::Price => "price".to_owned(),
            Self::AsPriceGoes => "as-price-goes".to_owned(),
        }
    }

    /// In words.
    #[must_use]
    pub fn words(self) -> String {
        match self {
            Self::Discount(percent) => format!("{percent} % of the original price"),
            Self::Price => "A price".to_owned(),
            Self::AsPriceGoes => "As the price goes".to_owned(),
        }
    }

    /// The bids of Lingjun, or of general computing.
    #[must_use]
    pub fn all(is_lingjun: bool) -> Vec<Self> {
        let limits: Vec<Self> =
            if is_lingjun { (1..=9).map(|tenth| Self::Discount(tenth * 10)).collect() } else { vec![Self::Price] };
        limits.into_iter().chain([Self::AsPriceGoes]).collect()
    }

    /// From the form.
    #[must_use]
    pub fn parse(name: &str) -> Self {
        match name {
            "price" => Self::Price,
            "as-price-goes" => Self::AsPriceGoes,
            percent => percent.parse().map_or(Self::AsPriceGoes, Self::Discount),
        }
    }
}

/// What has been typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpotDraft {
    /// The offer's name; empty for a job that runs on a quota.
    pub offer: String,
    /// What is bid.
    pub bid: BidKind,
    /// The price, if that is what is bid, in units of currency for an instance-minute.
    pub price: String,
    /// What the job is written in.
    pub framework: Framework,
    /// The virtual private cloud.
    pub vpc: String,
    /// The switch in it.
    pub vswitch: String,
    /// The security group.
    pub security_group: String,
}

impl Default for SpotDraft {
    fn default() -> Self {
        Self {
            offer: String::new(),
            bid: BidKind::Discount(40),
            price: String::new(),
            framework: Framework::Pytorch,
            vpc: String::new(),
            vswitch: String::new(),
            security_group: String::new(),
        }
    }
}

impl SpotDraft {
    /// Chooses an offer, and a bid that its machines take.
    pub fn choose(&mut self, offer: String, is_lingjun: bool) {
        self.offer = offer;
        if !BidKind::all(is_lingjun).contains(&self.bid) {
            self.bid = if is_lingjun { BidKind::Discount(40) } else { BidKind::Price };
        }
    }

    /// The bid, if the job has one, or what is wrong with its price.
    pub fn request(&self) -> Result<Option<SpotRequest>, String> {
        if self.offer.is_empty() {
            return Ok(None);
        }
        let offer = OfferId::new(&self.offer).map_err(|fault| fault.to_string())?;
        let price_limit = if self.bid == BidKind::Price { Some(micros(&self.price)?) } else { None };
        let strategy =
            if self.bid == BidKind::AsPriceGoes { SpotStrategy::AsPriceGoes } else { SpotStrategy::WithPriceLimit };
        let discount_percent = if let BidKind::Discount(percent) = self.bid { Some(percent) } else { None };
        let name = |text: &String| Some(text.trim()).filter(|text| !text.is_empty()).map(Into::into);
        let network =
            Network { vpc: name(&self.vpc), vswitch: name(&self.vswitch), security_group: name(&self.security_group) };
        let framework = self.framework;
        Ok(Some(SpotRequest { offer, strategy, discount_percent, price_limit, framework, network }))
    }
}

/// A price in micro-units, from units of currency.
pub fn micros(text: &str) -> Result<i64, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err("Enter the price limit, such as 0.25".to_owned());
    }
    let wrong = || format!("“{text}” is no price; write a number such as 0.25");
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let is_number = !whole.is_empty() && format!("{whole}{decimals}").bytes().all(|byte| byte.is_ascii_digit());
    if !is_number || decimals.len() > 6 {
        return Err(wrong());
    }
    format!("{whole}{decimals:0<6}").parse().map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_has_six_decimals() {
        assert_eq!(["0.25", "3", "0.000001"].map(micros), [Ok(250_000), Ok(3_000_000), Ok(1)]);
        assert!(
            ["", "-1", ".5", "0.0000001", "1e3", "99999999999999999999"].into_iter().all(|text| micros(text).is_err())
        );
    }

    #[test]
    fn machines_take_their_own_bids() {
        let mut draft = SpotDraft::default();
        draft.choose("gn7".to_owned(), false);
        assert_eq!(draft.bid, BidKind::Price);
        draft.choose("gn8".to_owned(), true);
        assert_eq!(draft.bid, BidKind::Discount(40));
    }

    #[test]
    fn without_an_offer_there_is_no_bid() {
        assert_eq!(
            SpotDraft { price: "x".to_owned(), bid: BidKind::Price, ..SpotDraft::default() }.request(),
            Ok(None)
        );
    }

    #[test]
    fn every_bid_is_found_by_its_name() {
        for kind in [true, false].map(BidKind::all).concat() {
            assert_eq!(BidKind::parse(&kind.name()), kind);
        }
    }
}
