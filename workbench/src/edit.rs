//! The kinds of changes that people add to a plan, and what each says in one line.

use engine::market::bid::Framework;
use engine::market::bid::Network;
use engine::market::bid::SpotStrategy;
use engine::message::command::AmountByName;
use engine::message::command::CancelJob;
use engine::message::command::Command;
use engine::message::command::PodGroup;
use engine::message::command::PutGroup;
use engine::message::command::PutNode;
use engine::message::command::ResizeJob;
use engine::message::command::ScaleMode;
use engine::message::command::ScaleQuotas;
use engine::message::command::SetPriority;
use engine::message::command::SpotRequest;
use engine::message::command::SubmitJob;
use engine::message::command::UpdateQuota;
use engine::message::command::market::PublishPrice;
use engine::message::command::market::SetInventory;
use engine::state::cluster::NodeStatus;
use engine::unit::amount::DimensionKind;
use engine::unit::amount::GPU;
use engine::unit::id::JobId;
use engine::unit::priority::Priority;
use engine::unit::quantity;
use engine::unit::time::Millis;

use crate::chooser::scaling;
use crate::facts::Facts;

/// What of a command can be edited.
#[derive(Clone, Copy, Debug)]
pub enum Subject<'a> {
    /// Amounts of quotas.
    Amounts(&'a ScaleQuotas),
    /// Settings of a quota.
    Policies(&'a UpdateQuota),
    /// A new job.
    Job(&'a SubmitJob),
    /// A job's priority.
    Priority(&'a SetPriority),
    /// A service's pods.
    Size(&'a ResizeJob),
    /// The end of a job.
    Cancel(&'a CancelJob),
    /// A price.
    Price(&'a PublishPrice),
    /// An inventory.
    Inventory(&'a SetInventory),
    /// A group, with its pool.
    Pool(&'a PutGroup),
    /// A node.
    Node(&'a PutNode),
    /// It is taken as it is.
    Other(&'a Command),
}

impl<'a> Subject<'a> {
    /// Of a command.
    #[must_use]
    pub fn of(command: &'a Command) -> Self {
        match command {
            Command::ScaleQuotas(scale) => Self::Amounts(scale),
            Command::UpdateQuota(update) => Self::Policies(update),
            Command::SubmitJob(job) => Self::Job(job),
            Command::SetPriority(set) => Self::Priority(set),
            Command::ResizeJob(resize) => Self::Size(resize),
            Command::CancelJob(cancel) => Self::Cancel(cancel),
            Command::PublishPrice(publish) => Self::Price(publish),
            Command::SetInventory(set) => Self::Inventory(set),
            Command::PutGroup(group) => Self::Pool(group),
            Command::PutNode(node) => Self::Node(node),
            Command::CreateCluster(_)
            | Command::UpdateCluster(_)
            | Command::NodeSilent(_)
            | Command::NodeHeard(_)
            | Command::CreateQuota(_)
            | Command::DeleteQuota(_)
            | Command::CreateOffer(_)
            | Command::UpdateOffer(_)
            | Command::DeleteOffer(_)
            | Command::Report(_)
            | Command::PutWorkspace(_)
            | Command::DeleteWorkspace(_)
            | Command::AttachQuota(_)
            | Command::DetachQuota(_)
            | Command::PutMember(_)
            | Command::RemoveMember(_)
            | Command::CreateKey(_)
            | Command::RotateKey(_)
            | Command::RevokeKey(_)
            | Command::ApplyPlan(_)
            | Command::Round(_) => Self::Other(command),
        }
    }
}

/// A kind of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// GPUs move from one quota to another.
    Amounts,
    /// A quota's preemption policies.
    Policies,
    /// A new job.
    Job,
    /// A job's priority.
    Priority,
    /// A job is cancelled.
    Cancel,
    /// A new job with a bid.
    Bid,
    /// An offer's price.
    Price,
    /// An offer's inventory.
    Inventory,
    /// A pool of machines.
    Pool,
    /// A node.
    Node,
}

impl Kind {
    /// All of them, in the order in which they are offered.
    pub const ALL: [Self; 10] = [
        Self::Amounts,
        Self::Policies,
        Self::Job,
        Self::Priority,
        Self::Cancel,
        Self::Bid,
        Self::Price,
        Self::Inventory,
        Self::Pool,
        Self::Node,
    ];

    /// What people choose.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Amounts => "Move GPUs",
            Self::Policies => "Change policies",
            Self::Job => "Submit a job",
            Self::Priority => "Change a job's priority",
            Self::Cancel => "Cancel a job",
            Self::Bid => "Bid on the market",
            Self::Price => "Change a price",
            Self::Inventory => "Change an inventory",
            Self::Pool => "Grow or shrink a pool",
            Self::Node => "Cordon a node",
        }
    }

    /// The kinds that make sense where a plan begins.
    #[must_use]
    pub fn offered(facts: &Facts) -> Vec<Self> {
        Self::ALL.into_iter().filter(|kind| kind.command(facts, 0).is_some()).collect()
    }

    /// The first state of a new change; `number` makes the names of new jobs differ
    /// ([`free_number`]). Nothing where there is nothing to
    /// change.
    #[must_use]
    pub fn command(self, facts: &Facts, number: usize) -> Option<Command> {
        match self {
            Self::Amounts => amounts(facts),
            Self::Policies => {
                let quota = facts.quotas.first()?;
                let (quota, settings) = (quota.quota.clone(), quota.settings.clone());
                Some(Command::UpdateQuota(UpdateQuota { quota, settings }))
            }
            Self::Job => {
                let quota = facts.quotas.iter().rev().find(|quota| !quota.min.is_empty())?;
                let gpus = facts.dimensions.iter().find(|known| known.kind == DimensionKind::Gpu)?;
                let amount = AmountByName::from([(gpus.name.clone(), 8 * GPU)]);
                let job = job(number, amount)?;
                Some(Command::SubmitJob(SubmitJob { quota: Some(quota.quota.clone()), ..job }))
            }
            Self::Priority => {
                let known = facts.jobs.first()?;
                let raised = Priority::new(i64::from(known.priority) + 1).ok();
                let priority = raised.or_else(|| Priority::new(known.priority.into()).ok())?;
                Some(Command::SetPriority(SetPriority { job: known.job.clone(), priority }))
            }
            Self::Cancel => Some(Command::CancelJob(CancelJob { job: facts.jobs.first()?.job.clone() })),
            Self::Bid => {
                let known = facts.offers.first()?;
                let (discount_percent, price_limit) = known.limits();
                let spot = SpotRequest {
                    offer: known.offer.clone(),
                    strategy: SpotStrategy::default(),
                    discount_percent,
                    price_limit,
                    framework: Framework::default(),
                    network: network(),
                };
                let job = job(number, AmountByName::new())?;
                Some(Command::SubmitJob(SubmitJob { spot: Some(spot), ..job }))
            }
            Self::Price => {
                let known = facts.offers.first()?;
                let (offer, price) = (known.offer.clone(), known.price);
                Some(Command::PublishPrice(PublishPrice { offer, price, at: None }))
            }
            Self::Inventory => {
                let known = facts.offers.first()?;
                let (offer, inventory) = (known.offer.clone(), known.inventory);
                Some(Command::SetInventory(SetInventory { offer, inventory }))
            }
            Self::Pool => facts.groups.iter().find(|group| group.pool.is_some()).cloned().map(Command::PutGroup),
            Self::Node => {
                let mut node = facts.nodes.first()?.clone();
                node.status = NodeStatus::Cordoned;
                Some(Command::PutNode(node))
            }
        }
    }
}

/// The first quota with a sibling gets what that one gives; a single quota is scaled alone.
fn amounts(facts: &Facts) -> Option<Command> {
    let sibling = |at: usize| {
        let known = &facts.quotas[at];
        let is_sibling = |other: &&crate::facts::QuotaFacts| other.parent == known.parent && !other.min.is_empty();
        known.parent.as_ref().and_then(|_| facts.quotas[at + 1..].iter().find(is_sibling)).map(|other| (known, other))
    };
    let pair = (0..facts.quotas.len()).filter(|at| !facts.quotas[*at].min.is_empty()).find_map(sibling);
    let scale = match pair {
        Some((quota, with)) => scaling(facts, &quota.quota, Some(&with.quota), ScaleMode::Drain),
        None => scaling(facts, &facts.quotas.iter().find(|quota| !quota.min.is_empty())?.quota, None, ScaleMode::Drain),
    };
    Some(Command::ScaleQuotas(scale))
}

/// The first number whose job neither the facts nor these commands have.
#[must_use]
pub fn free_number(facts: &Facts, commands: &[Command]) -> usize {
    let is_of = |command: &Command, name: &str| matches!(command, Command::SubmitJob(job) if job.job.as_str() == name);
    let is_taken = |number: usize| {
        let name = planned(number);
        facts.jobs.iter().any(|known| known.job.as_str() == name)
            || commands.iter().any(|command| is_of(command, &name))
    };
    let mut number = 0;
    while is_taken(number) {
        number += 1;
    }
    number
}

fn planned(number: usize) -> String {
    format!("planned-{}", number + 1)
}

fn job(number: usize, amount: AmountByName) -> Option<SubmitJob> {
    let id = JobId::new(&planned(number)).ok()?;
    let duration_ms = Some(Millis(4 * Millis::HOUR.0));
    Some(SubmitJob { duration_ms, ..SubmitJob::new(id, vec![PodGroup { count: 1, amount }]) })
}

/// Lingjun takes no bid without a network. Which one it is decides nothing, so a new bid has names to be replaced.
fn network() -> Network {
    let part = |name: &str| Some(name.into());
    Network { vpc: part("vpc"), vswitch: part("vswitch"), security_group: part("security-group") }
}

/// What a command changes, in one line.
#[must_use]
pub fn line(command: &Command, facts: &Facts) -> String {
    match Subject::of(command) {
        Subject::Amounts(scale) => {
            let mut parts = Vec::new();
            for target in &scale.targets {
                for (name, value) in &target.min {
                    let was = facts.min(&target.quota, name);
                    if was != *value {
                        parts.push(format!(
                            "{} {} → {}",
                            target.quota,
                            bare(facts, name, was),
                            amount(facts, name, *value)
                        ));
                    }
                }
            }
            match (parts.is_empty(), scale.targets.first()) {
                (true, Some(first)) => format!("{} keeps its amounts", first.quota),
                _ => parts.join(", "),
            }
        }
        Subject::Policies(update) => {
            let same = facts.quota(&update.quota).is_some_and(|known| known.settings == update.settings);
            format!("{} {}", update.quota, if same { "keeps its policies" } else { "gets other policies" })
        }
        Subject::Job(job) => {
            let pods = job.pods.first();
            let each = pods.and_then(|pods| pods.amount.iter().next());
            let size =
                each.map(|(name, value)| amount(facts, name, value * pods.map_or(1, |pods| i64::from(pods.count))));
            let on = match (&job.quota, &job.spot) {
                (_, Some(spot)) => {
                    let discount = spot.discount_percent.map(|percent| format!("{percent} % of the original price"));
                    let limit = discount.or_else(|| spot.price_limit.map(quantity::price));
                    format!("bids {} on {}", limit.unwrap_or_else(|| "as the price goes".to_owned()), spot.offer)
                }
                (Some(quota), None) => format!("asks {quota} for {}", size.unwrap_or_else(|| "nothing".to_owned())),
                (None, None) => "asks nobody".to_owned(),
            };
            format!("{} {on}", job.job)
        }
        Subject::Priority(set) => {
            let was =
                facts.jobs.iter().find(|known| known.job == set.job).map(|known| format!("{} → ", known.priority));
            format!("{} gets priority {}{}", set.job, was.unwrap_or_default(), set.priority.get())
        }
        Subject::Size(resize) => match resize.min_pods {
            Some(min) => format!("{} gets {min} to {} pods", resize.job, resize.pods),
            None => format!("{} gets {} pods", resize.job, resize.pods),
        },
        Subject::Cancel(cancel) => format!("{} is cancelled", cancel.job),
        Subject::Price(publish) => {
            let was = facts.offer(&publish.offer).map_or(0, |known| known.price);
            format!("{} costs {} → {}", publish.offer, quantity::price(was), quantity::price(publish.price))
        }
        Subject::Inventory(set) => {
            let was = facts.offer(&set.offer).map_or(0, |known| known.inventory);
            format!("{} has {was} → {} instances", set.offer, set.inventory)
        }
        Subject::Pool(group) => {
            let known =
                facts.groups.iter().find(|known| known.group == group.group).and_then(|known| known.pool.as_ref());
            let parts = group.pool.iter().flatten().map(|(name, value)| {
                let was = known.and_then(|pool| pool.get(name)).copied().unwrap_or(0);
                format!("{} → {}", bare(facts, name, was), amount(facts, name, *value))
            });
            format!("{} {}", group.group, parts.collect::<Vec<_>>().join(", "))
        }
        Subject::Node(node) => {
            format!("{} takes {}", node.node, if node.status == NodeStatus::Ready { "pods" } else { "no new pods" })
        }
        Subject::Other(other) => serde_json::to_string(other).unwrap_or_default(),
    }
}

fn amount(facts: &Facts, name: &str, value: i64) -> String {
    let known = facts.dimensions.iter().find(|known| known.name == name);
    known.map_or_else(|| value.to_string(), |known| quantity::quantity(known, value))
}

fn bare(facts: &Facts, name: &str, value: i64) -> String {
    let known = facts.dimensions.iter().find(|known| known.name == name);
    known.map_or_else(|| value.to_string(), |known| quantity::bare(known, value))
}
