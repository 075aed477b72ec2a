//! An offer's inventory.

use engine::message::command::Command;
use engine::message::command::market::SetInventory;

use crate::facts::Facts;
use crate::field::Described;
use crate::field::Field;
use crate::field::Holds;
use crate::list::List;
use crate::number::Number;

const FIELDS: &[Field<SetInventory>] = &[
    Field {
        key: "inventory",
        label: "Instances",
        about: "How many instances there are; what is above it goes back, lowest bids first.",
        holds: Holds::Number {
            range: |set, facts| {
                let now = facts.offer(&set.offer).map_or(0, |offer| offer.inventory);
                Number::count(0, now.saturating_mul(2).max(8))
            },
            read: |set| set.inventory,
            write: |set, value| set.inventory = value,
        },
    },
    Field {
        key: "offer",
        label: "Offer",
        about: "The offer whose inventory changes.",
        holds: Holds::Text {
            list: |_| List::Offers,
            read: |set| set.offer.to_string(),
            write: |set, facts, name| {
                let known = facts.offer_named(name)?;
                (set.offer, set.inventory) = (known.offer.clone(), known.inventory);
                Ok(())
            },
        },
    },
];

/// The first offer, with what it has.
pub(crate) fn begin(facts: &Facts) -> Option<Command> {
    let known = facts.offers.first()?;
    Some(SetInventory { offer: known.offer.clone(), inventory: known.inventory }.command())
}

impl Described for SetInventory {
    fn fields(&self) -> &'static [Field<Self>] {
        FIELDS
    }

    fn line(&self, facts: &Facts) -> String {
        let was = facts.offer(&self.offer).map_or(0, |known| known.inventory);
        format!("{} has {was} → {} instances", self.offer, self.inventory)
    }

    fn command(self) -> Command {
        Command::SetInventory(self)
    }
}
