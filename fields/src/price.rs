//! An offer's price.

use engine::message::command::Command;
use engine::message::command::market::PublishPrice;
use engine::unit::quantity;

use crate::facts::Facts;
use crate::field::Described;
use crate::field::Field;
use crate::field::Holds;
use crate::list::List;
use crate::number::Number;

const FIELDS: &[Field<PublishPrice>] = &[
    Field {
        key: "price",
        label: "Price",
        about: "What an instance-minute costs; bids below it are outbid.",
        holds: Holds::Number {
            range: |publish, facts| {
                Number::price(facts.offer(&publish.offer).map_or(1_000_000, |offer| offer.original))
            },
            read: |publish| publish.price,
            write: |publish, value| publish.price = value,
        },
    },
    Field {
        key: "offer",
        label: "Offer",
        about: "The offer whose price changes.",
        holds: Holds::Text {
            list: |_| List::Offers,
            read: |publish| publish.offer.to_string(),
            write: |publish, facts, name| {
                let known = facts.offer_named(name)?;
                (publish.offer, publish.price) = (known.offer.clone(), known.price);
                Ok(())
            },
        },
    },
];

/// The first offer, at what it costs.
pub(crate) fn begin(facts: &Facts) -> Option<Command> {
    let known = facts.offers.first()?;
    Some(PublishPrice { offer: known.offer.clone(), price: known.price, at: None }.command())
}

impl Described for PublishPrice {
    fn fields(&self) -> &'static [Field<Self>] {
        FIELDS
    }

    fn line(&self, facts: &Facts) -> String {
        let was = facts.offer(&self.offer).map_or(0, |known| known.price);
        format!("{} costs {} → {}", self.offer, quantity::price(was), quantity::price(self.price))
    }

    fn command(self) -> Command {
        Command::PublishPrice(self)
    }
}
