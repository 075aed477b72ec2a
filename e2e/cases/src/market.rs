//! The spot market of a case: one offer for its bids, prices that follow a path, and what its timeline says of them.
//!
//! Bids by price are on one-GPU instances whose price an auction makes, as many as the cluster has GPUs; bids by
//! discount are on instances as large as the largest pod, at published prices.

use engine::market::bid::Framework;
use engine::market::bid::Network;
use engine::market::bid::SpotStrategy;
use engine::market::offer::OfferTerms;
use engine::market::offer::PriceSource;
use engine::message::command::AmountByName;
use engine::message::command::Command;
use engine::message::command::PodGroup;
use engine::message::command::SpotRequest;
use engine::message::command::SubmitJob;
use engine::message::command::market::CreateOffer;
use engine::message::command::market::PublishPrice;
use engine::message::event::Event;
use engine::unit::id::JobId;
use engine::unit::id::OfferId;
use engine::unit::resource::ResourceType;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use serde_json::Value;

use crate::case::Case;
use crate::case::EventCase;
use crate::case::JobCase;
use crate::case::Kind;
use crate::name::job_id;
use crate::name::seconds;
use crate::stage::Settings;
use crate::stage::Stage;
use crate::stage::submitted;
use engine::unit::decimal::thousandths;

const OFFER: &str = "instances";

/// The kind of machines on which a price path is played: bids are held against the average on one, and against the
/// price on the other.
const MACHINES: [ResourceType; 2] = [ResourceType::Lingjun, ResourceType::General];

/// A bid as the case gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BidCase {
    /// In percent of the original price.
    Discount(i64),
    /// In micro-units.
    Price(i64),
}

fn bid(job: &JobCase) -> Result<BidCase, String> {
    let field = |name: &str| job.bid.get(name).and_then(|value| thousandths(&value.to_string()));
    match (field("discount"), field("price")) {
        (Some(discount), None) => Ok(BidCase::Discount(discount / 10)),
        (None, Some(price)) => Ok(BidCase::Price(price * 1000)),
        _ => Err(format!("the bid of {} is {}; write {{\"discount\": 0.4}} or {{\"price\": 2}}", job.id, job.bid)),
    }
}

fn micros(value: &Value, what: &str) -> Result<i64, String> {
    let thousandths = thousandths(&value.to_string());
    thousandths.map(|value| value * 1000).ok_or_else(|| format!("{what} is {value}; write a decimal number"))
}

fn bidders(case: &Case) -> impl Iterator<Item = &JobCase> {
    case.jobs.iter().chain(submitted(case)).filter(|job| job.kind == Kind::Spot)
}

fn gpus(amount: &AmountByName) -> i64 {
    amount.get("gpu").copied().unwrap_or(0)
}

impl Stage {
    /// Creates the offer on which the jobs of a case bid, if any does.
    pub(crate) fn create_offer(&mut self, case: &Case, machines: ResourceType) -> Result<(), String> {
        let jobs: Vec<&JobCase> = bidders(case).collect();
        let Some(first) = jobs.first() else { return Ok(()) };
        let bids = jobs.iter().map(|job| bid(job)).collect::<Result<Vec<BidCase>, String>>()?;
        let prices = bids.iter().filter_map(|bid| if let BidCase::Price(price) = bid { Some(*price) } else { None });
        let (lowest, highest) = (prices.clone().min().unwrap_or(0), prices.max().unwrap_or(0));
        let is_path = matches!(case.event, EventCase::PricePath { .. });
        let original_price = if first.list_price.is_null() {
            highest.max(lowest * 10)
        } else {
            micros(&first.list_price, "the list price")?
        };
        let each = self.instance(&jobs)?;
        let all = self.amount("the cluster", &case.cluster.clone().unwrap_or_default())?;
        let terms = OfferTerms {
            original_price,
            protection: Millis::from_seconds(first.protection_s),
            window: Millis::HOUR,
            grace_period: Millis::ZERO,
            price_source: if is_path { PriceSource::Published } else { PriceSource::Auction },
        };
        self.command(&Command::CreateOffer(CreateOffer {
            offer: offer()?,
            resource_type: machines,
            inventory: gpus(&all) / gpus(&each).max(1),
            instance: each,
            price: first_price(case)?,
            terms,
        }))
        .map(drop)
    }

    /// What an instance has: one GPU under bids by price, and room for the largest pod under bids by discount.
    fn instance(&self, jobs: &[&JobCase]) -> Result<AmountByName, String> {
        let mut largest = AmountByName::from([("gpu".to_owned(), 1000)]);
        for job in jobs.iter().filter(|job| matches!(bid(job), Ok(BidCase::Discount(_)))) {
            for pod in &job.pods {
                let amount = self.amount(&job.id, &pod.amount)?;
                if gpus(&amount) > gpus(&largest) {
                    largest = amount;
                }
            }
        }
        Ok(largest)
    }

    /// The submission of a job as a bid.
    pub(crate) fn with_bid(&self, job: &JobCase, submission: SubmitJob) -> Result<SubmitJob, String> {
        let no = self.session.state.market.offer_no(&offer()?).ok_or("the case has no offer")?;
        let offered = &self.session.state.market.offers[no.at()];
        let is_lingjun = offered.resource_type == ResourceType::Lingjun;
        let bid = bid(job)?;
        let (discount_percent, price_limit) = match (bid, is_lingjun) {
            (BidCase::Discount(percent), true) => (Some(percent), None),
            (BidCase::Discount(percent), false) => (None, Some(offered.terms.original_price * percent / 100)),
            (BidCase::Price(price), _) => (None, Some(price)),
        };
        let part = || is_lingjun.then(|| "of the case".into());
        let spot = SpotRequest {
            offer: offer()?,
            strategy: SpotStrategy::WithPriceLimit,
            discount_percent,
            price_limit,
            framework: Framework::Pytorch,
            network: Network { vpc: part(), vswitch: part(), security_group: part() },
        };
        // A pod that is larger than an instance of one GPU stands for as many of them.
        let instance = self.session.state.cluster.gpus(&offered.instance);
        let pods = submission.pods.iter().map(|pod| {
            let count = u32::try_from(gpus(&pod.amount) / instance.max(1)).unwrap_or(1).max(1);
            PodGroup { count: pod.count.saturating_mul(count), amount: AmountByName::new() }
        });
        Ok(SubmitJob { quota: None, spot: Some(spot), pods: pods.collect(), min_pods: None, ..submission })
    }

    /// Lets the market run as it has until the case begins, a round each minute, so that its price is the one that the
    /// running jobs make.
    pub(crate) fn run_market(&mut self, case: &Case) -> Result<(), String> {
        let first = bidders(case).filter_map(|job| job.start).min().map_or(self.session.now, seconds);
        let now = self.session.now;
        self.session.now = first;
        while self.session.now + Millis::MINUTE <= now {
            self.session.now = self.session.now + Millis::MINUTE;
            self.session.scheduled_round().map_err(|rejection| rejection.to_string())?;
        }
        self.session.now = now;
        Ok(())
    }
}

fn offer() -> Result<OfferId, String> {
    OfferId::new(OFFER).map_err(|bad| bad.to_string())
}

/// The points of a price path: seconds and micro-units.
fn path(case: &Case) -> Result<Vec<(Timestamp, i64)>, String> {
    let EventCase::PricePath { points } = &case.event else { return Ok(Vec::new()) };
    let point = |point: &Value| {
        let (second, price) = (point.get(0).and_then(Value::as_i64), point.get(1));
        let (Some(second), Some(price)) = (second, price) else { return Err(format!("{point} is no point of a path")) };
        Ok((seconds(second), micros(price, "a price")?))
    };
    points.as_array().ok_or("the points of the price path are no list")?.iter().map(point).collect()
}

/// The price at the beginning: of a path its first, otherwise the lowest.
fn first_price(case: &Case) -> Result<Option<i64>, String> {
    Ok(path(case)?.first().map(|(_, price)| *price))
}

/// Plays a price path on both kinds of machines, a round each minute and at each point, and checks the timeline.
pub(crate) fn play_path(case: &Case) -> Result<(), String> {
    for machines in MACHINES {
        let mut stage = Stage::on(case, Settings::default(), machines)
            .map_err(|problem| format!("the scene cannot be set: {problem}"))?;
        for (at, word) in &case.expect.timeline {
            check(case, &mut stage, seconds(*at), word)
                .map_err(|difference| format!("{difference} (on {})", machines.as_str()))?;
        }
    }
    Ok(())
}

/// Goes on to a time, with the prices on the way.
fn go_on(case: &Case, stage: &mut Stage, to: Timestamp) -> Result<(), String> {
    let session = &mut stage.session;
    let mut next = Timestamp(session.now.0 - session.now.0.rem_euclid(Millis::MINUTE.0)) + Millis::MINUTE;
    for (at, price) in path(case)?.into_iter().chain([(to, 0)]).filter(|(at, _)| *at <= to) {
        while next <= at {
            session.now = next;
            session.scheduled_round().map_err(|rejection| rejection.to_string())?;
            next = next + Millis::MINUTE;
        }
        if price > 0 && at > session.now - Millis(1) {
            session.now = at;
            let publish = PublishPrice { offer: offer()?, price, at: None };
            session.send(&Command::PublishPrice(publish)).map_err(|rejection| rejection.to_string())?;
        }
    }
    session.now = to;
    Ok(())
}

/// One entry of a path's timeline, which speaks of every job of the case.
fn check(case: &Case, stage: &mut Stage, at: Timestamp, word: &str) -> Result<(), String> {
    go_on(case, stage, at)?;
    let session = &stage.session;
    for job in bidders(case) {
        let no = session.state.jobs.find(&job_id(&job.id)?).ok_or_else(|| format!("there is no job {}", job.id))?;
        let (offer, limit, _) = session.state.bid_of(no).ok_or("the job has no bid")?;
        let is_running = session.state.jobs[no].is_running();
        let price = session.state.market.offers[offer.at()].course.price();
        let holds = match word {
            "run" => is_running && limit >= price,
            "at_risk" => is_running && limit < price,
            "released" => session
                .log
                .iter()
                .any(|event| matches!(event, Event::Evicted { job, at: told, .. } if *job == no && *told == at)),
            "eligible_to_rebid" => is_eligible(stage, job)?,
            _ => return Err(format!("the timeline says {word:?}; write run, at_risk, released or eligible_to_rebid")),
        };
        if !holds {
            return Err(format!(
                "expected {} {word} at {} s, got {:?}",
                job.id,
                at.0 / 1000,
                session.state.jobs[no].phase
            ));
        }
    }
    Ok(())
}

/// Whether the same bid would start now if it were submitted again.
fn is_eligible(stage: &Stage, job: &JobCase) -> Result<bool, String> {
    let again = JobCase { id: format!("{} again", job.id), ..job.clone() };
    let submit = stage.submission(&again)?;
    let id: JobId = submit.job.clone();
    let preview = engine::host::planner::preview(&stage.session.state, &Command::SubmitJob(submit), stage.session.now);
    let after = preview.map_err(|rejection| rejection.to_string())?.after;
    Ok(after.jobs.find(&id).is_some_and(|no| after.jobs[no].is_running()))
}
