//! A new job: in a quota, or with a bid.

use engine::message::command::Command;
use engine::message::command::SubmitJob;
use engine::unit::quantity;

use crate::bid;
use crate::facts::Facts;
use crate::field::Described;
use crate::field::Field;
use crate::job;

impl Described for SubmitJob {
    fn fields(&self) -> &'static [Field<Self>] {
        if self.spot.is_some() { bid::fields(self) } else { job::FIELDS }
    }

    fn line(&self, facts: &Facts) -> String {
        let pods = self.pods.first();
        let each = pods.and_then(|pods| pods.amount.iter().next());
        let size = each.map(|(name, value)| facts.amount(name, value * pods.map_or(1, |pods| i64::from(pods.count))));
        let on = match (&self.quota, &self.spot) {
            (_, Some(spot)) => {
                let discount = spot.discount_percent.map(|percent| format!("{percent} % of the original price"));
                let limit = discount.or_else(|| spot.price_limit.map(quantity::price));
                format!("bids {} on {}", limit.unwrap_or_else(|| "as the price goes".to_owned()), spot.offer)
            }
            (Some(quota), None) => format!("asks {quota} for {}", size.unwrap_or_else(|| "nothing".to_owned())),
            (None, None) => "asks nobody".to_owned(),
        };
        format!("{} {on}", self.job)
    }

    fn command(self) -> Command {
        Command::SubmitJob(self)
    }
}
