//! Lines about the spot market: offers, prices, inventories, bids, and what they cost.

use std::collections::BTreeMap;

use engine::explain;
use engine::job::spec::FaultTolerance;
use engine::job::spec::IdlePolicy;
use engine::market::bid::Framework;
use engine::market::bid::Network;
use engine::market::bid::SpotStrategy;
use engine::market::bill;
use engine::market::bill::Charges;
use engine::market::offer::OfferTerms;
use engine::market::offer::PriceSource;
use engine::message::command::AmountByName;
use engine::message::command::Command;
use engine::message::command::PodGroup;
use engine::message::command::SpotRequest;
use engine::message::command::SubmitJob;
use engine::message::command::market::CreateOffer;
use engine::message::command::market::PublishPrice;
use engine::message::command::market::SetInventory;
use engine::message::event::Event;
use engine::unit::id::OfferId;
use engine::unit::priority::Module;
use engine::unit::priority::Priority;
use engine::unit::quantity;
use engine::unit::resource::ResourceType;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;

use crate::scenario::script::play::Script;
use crate::scenario::script::play::job_id;
use crate::scenario::script::words::Words;
use engine::unit::decimal::thousandths;

impl Script {
    /// Plays a line about the market; nothing for any other.
    pub(super) fn market(&mut self, verb: &str, words: &mut Words<'_>) -> Result<Option<bool>, String> {
        match verb {
            "offer" => {
                let command = Command::CreateOffer(offer(words)?);
                let is_refused = self.stage_or_say(&command);
                return Ok(Some(is_refused));
            }
            "bid" => {
                let job = self.bid(words)?;
                self.send(&Command::SubmitJob(job));
                return Ok(Some(false));
            }
            "price" => {
                let (offer, price) = (offer_id(words.need("an offer")?)?, micros(words.need("a price")?)?);
                let at = self.for_when(words)?;
                self.send(&Command::PublishPrice(PublishPrice { offer, price, at }));
            }
            "inventory" => {
                let (offer, number) = (offer_id(words.need("an offer")?)?, words.need("a number of instances")?);
                let inventory = number.parse().map_err(|_| format!("{number:?} is no number of instances"))?;
                self.send(&Command::SetInventory(SetInventory { offer, inventory }));
            }
            "pass" => {
                let to = self.session.now + words.period()?;
                self.pass(to);
            }
            "bills" => self.bills(words.need("a job")?)?,
            "why" => self.why(words.need("a job")?)?,
            _ => return Ok(None),
        }
        Ok(Some(true))
    }

    /// `NAME OFFER INSTANCES [40%] [limit PRICE] [as-price-goes] [OPTION...]`
    fn bid(&self, words: &mut Words<'_>) -> Result<SubmitJob, String> {
        let job = job_id(words.need("a name")?)?;
        let offer = offer_id(words.need("an offer")?)?;
        let number = words.need("a number of instances")?;
        let count = number.parse().map_err(|_| format!("{number:?} is no number of instances"))?;
        let known = self.session.state.market.offer_no(&offer);
        let is_lingjun =
            known.is_some_and(|no| self.session.state.market.offers[no.at()].resource_type == ResourceType::Lingjun);
        let mut spot = SpotRequest {
            offer,
            strategy: SpotStrategy::WithPriceLimit,
            discount_percent: None,
            price_limit: None,
            framework: Framework::Pytorch,
            network: network(is_lingjun),
        };
        let mut job = SubmitJob {
            job,
            quota: None,
            spot: None,
            workspace: None,
            user: None,
            name: None,
            module: Module::Dlc,
            priority: Priority::LOWEST,
            pods: vec![PodGroup { count, amount: AmountByName::new() }],
            min_pods: None,
            idle: IdlePolicy::Off,
            fault_tolerance: None,
            duration_ms: None,
            checkpoint_ms: None,
        };
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
                "of" => job.pods[0].amount = words.gpus()?,
                "fault-tolerance" => job.fault_tolerance = Some(FaultTolerance::default()),
                "for" => job.duration_ms = Some(words.period()?),
                "checkpoint" => job.checkpoint_ms = Some(words.period()?),
                percent if percent.ends_with('%') => {
                    let number = percent.trim_end_matches('%');
                    let number = number.parse().map_err(|_| format!("{percent:?} is no discount; write 40%"))?;
                    spot.discount_percent = Some(number);
                }
                other => {
                    return Err(format!(
                        "{other:?} is not known here; write 40%, limit, as-price-goes, mpi, other-framework, no-network, DLC, DSW, EAS, of, fault-tolerance, for or checkpoint"
                    ));
                }
            }
        }
        job.spot = Some(spot);
        Ok(job)
    }

    /// When a published price is meant for, where the line says so: `1h ago`.
    fn for_when(&self, words: &mut Words<'_>) -> Result<Option<Timestamp>, String> {
        if words.is_empty() {
            return Ok(None);
        }
        let period = words.period()?;
        match words.need("ago or ahead")? {
            "ago" => Ok(Some(self.session.now - period)),
            "ahead" => Ok(Some(self.session.now + period)),
            other => Err(format!("{other:?} is not one of ago, ahead")),
        }
    }

    /// Moves the clock with a scheduled round each minute, as the cron runs them.
    fn pass(&mut self, to: Timestamp) {
        while self.session.now < to {
            self.session.now = (self.session.now + Millis::MINUTE).min(to);
            match self.session.scheduled_round() {
                Ok(events) => self.say(&events),
                Err(rejection) => self.said.push(format!("refused: {rejection}")),
            }
        }
    }

    /// What a job owes, by day, with the tag of its bills.
    fn bills(&mut self, name: &str) -> Result<(), String> {
        let job = job_id(name)?;
        let mut days: BTreeMap<i64, Charges> = BTreeMap::new();
        for event in &self.session.log {
            if let Event::Billed { bill, .. } = event
                && bill.job == job
            {
                let charges = days.entry(bill.day).or_default();
                *charges = charges.plus(bill.charges);
            }
        }
        let (key, value) = bill::PAY_TYPE;
        self.said.extend(days.into_iter().map(|(day, Charges { minutes, micros })| {
            format!("{name}, day {day}: {minutes} minutes, {}; {key}={value}", quantity::price(micros))
        }));
        Ok(())
    }

    /// Why a job waits.
    fn why(&mut self, name: &str) -> Result<(), String> {
        let no = self.session.state.jobs.find(&job_id(name)?).ok_or_else(|| format!("there is no job {name}"))?;
        let why = explain::why(&self.session.state, no, self.session.now);
        self.said.push(why.map_or_else(|| format!("{name} does not wait"), |why| why.binding));
        Ok(())
    }
}

/// `NAME lingjun|general GPUS xNUMBER original PRICE [at PRICE] [auction] [protection P] [window P] [grace P]`
fn offer(words: &mut Words<'_>) -> Result<CreateOffer, String> {
    let offer = offer_id(words.need("a name")?)?;
    let resource_type = match words.need("lingjun or general")? {
        "lingjun" => ResourceType::Lingjun,
        "general" => ResourceType::General,
        other => return Err(format!("{other:?} is not one of lingjun, general")),
    };
    let instance = words.gpus()?;
    let number = words.need("a number of instances such as x4")?;
    let inventory = number.strip_prefix('x').and_then(|number| number.parse().ok());
    let mut create = CreateOffer {
        offer,
        resource_type,
        instance,
        inventory: inventory.ok_or_else(|| format!("{number:?} is no number of instances; write x4"))?,
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
                return Err(format!(
                    "{other:?} is not known here; write original, at, auction, protection, window or grace"
                ));
            }
        }
    }
    Ok(create)
}

fn network(is_there: bool) -> Network {
    let part = |name: &str| is_there.then(|| name.into());
    Network { vpc: part("vpc"), vswitch: part("vswitch"), security_group: part("security group") }
}

fn offer_id(name: &str) -> Result<OfferId, String> {
    OfferId::new(name).map_err(|bad| bad.to_string())
}

/// A price with at most three digits after the point, in micro-units.
fn micros(word: &str) -> Result<i64, String> {
    thousandths(word).and_then(|value| value.checked_mul(1000)).ok_or_else(|| format!("{word:?} is no price"))
}
