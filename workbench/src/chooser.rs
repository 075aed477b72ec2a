//! What can be chosen in a change. The command is the only truth: a chooser shows a part of it, and gives a command back
//! in which that part is different.

use engine::job::spec::FaultTolerance;
use engine::job::spec::IdlePolicy;
use engine::market::bid::Network;
use engine::message::command::Command;
use engine::message::command::ScaleMode;
use engine::message::command::ScaleQuotas;
use engine::message::command::ScaleTarget;
use engine::message::command::SubmitJob;
use engine::state::cluster::NodeStatus;
use engine::unit::id::JobId;
use engine::unit::id::QuotaId;
use engine::unit::priority::Module;

use crate::edit::Subject;
use crate::facts::Facts;
use crate::facts::OfferFacts;
use crate::wish::givers;

/// What there is to choose from. A list is made when it is shown, and not with every move of what stands beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum List {
    /// All quotas.
    Quotas,
    /// The quotas beside one, or nobody.
    Siblings(QuotaId),
    /// Jobs; not all of very many.
    Jobs,
    /// Nodes; not all of very many.
    Nodes,
    /// All offers.
    Offers,
    /// All pools.
    Pools,
    /// All modules.
    Modules,
    /// Values with their words.
    Words(&'static [(&'static str, &'static str)]),
    /// Nothing: it is typed.
    Typed,
}

/// More than that is typed rather than looked through.
const LISTED_MAX: usize = 200;

impl List {
    /// Whether it is typed.
    #[must_use]
    pub fn is_typed(&self, facts: &Facts) -> bool {
        match self {
            Self::Jobs | Self::Nodes | Self::Typed => true,
            Self::Quotas | Self::Siblings(_) => facts.quotas.len() > LISTED_MAX,
            Self::Offers => facts.offers.len() > LISTED_MAX,
            Self::Pools | Self::Modules | Self::Words(_) => false,
        }
    }

    /// What is suggested to whoever types, if anything is.
    #[must_use]
    pub fn suggestions(&self) -> Option<Suggestions> {
        match self {
            Self::Jobs => Some(Suggestions::Jobs),
            Self::Nodes => Some(Suggestions::Nodes),
            Self::Quotas | Self::Siblings(_) => Some(Suggestions::Quotas),
            Self::Offers => Some(Suggestions::Offers),
            Self::Pools | Self::Modules | Self::Words(_) | Self::Typed => None,
        }
    }

    /// What there is, with words.
    #[must_use]
    pub fn options(&self, facts: &Facts) -> Vec<(String, String)> {
        match self {
            Self::Quotas => named(facts.quotas.iter().map(|known| known.quota.to_string())),
            Self::Siblings(quota) => {
                let nobody = (String::new(), "nobody: what the parent has left".to_owned());
                let siblings = named(givers(facts, quota.as_str()).into_iter());
                std::iter::once(nobody).chain(siblings).collect()
            }
            Self::Jobs => named(facts.jobs.iter().map(|known| known.job.to_string())),
            Self::Nodes => named(facts.nodes.iter().map(|known| known.node.to_string())),
            Self::Offers => named(facts.offers.iter().map(|known| known.offer.to_string())),
            Self::Pools => {
                let pools = facts.groups.iter().filter(|known| known.pool.is_some());
                named(pools.map(|known| known.group.to_string()))
            }
            Self::Modules => named(Module::ALL.iter().map(|module| module.as_str().to_owned())),
            Self::Words(words) => {
                words.iter().map(|(value, words)| ((*value).to_owned(), (*words).to_owned())).collect()
            }
            Self::Typed => Vec::new(),
        }
    }
}

/// Names that a page suggests: it has each list once, whoever types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suggestions {
    /// Of jobs.
    Jobs,
    /// Of nodes.
    Nodes,
    /// Of quotas.
    Quotas,
    /// Of offers.
    Offers,
}

impl Suggestions {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Jobs, Self::Nodes, Self::Quotas, Self::Offers];

    /// The list's name in the page.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Jobs => "plan-jobs",
            Self::Nodes => "plan-nodes",
            Self::Quotas => "plan-quotas",
            Self::Offers => "plan-offers",
        }
    }

    /// The names, if anybody types them.
    #[must_use]
    pub fn names(self, facts: &Facts) -> Vec<String> {
        let list = match self {
            Self::Jobs => List::Jobs,
            Self::Nodes => List::Nodes,
            Self::Quotas => List::Quotas,
            Self::Offers => List::Offers,
        };
        let options = if list.is_typed(facts) { list.options(facts) } else { Vec::new() };
        options.into_iter().map(|(name, _)| name).collect()
    }
}

fn named(names: impl Iterator<Item = String>) -> Vec<(String, String)> {
    names.map(|name| (name.clone(), name)).collect()
}

/// One of several, or a name that is typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chooser {
    /// What is chosen.
    pub label: &'static str,
    /// Among what.
    pub list: List,
    /// What is chosen now.
    pub chosen: String,
}

impl Chooser {
    fn of(label: &'static str, list: List, chosen: &str) -> Self {
        Self { label, list, chosen: chosen.to_owned() }
    }
}

const MODES: List = List::Words(&[("drain", "may finish"), ("evict", "are evicted")]);
const AGAIN: List = List::Words(&[("no", "it ends"), ("yes", "it is queued again")]);
const STATUS: List = List::Words(&[("ready", "takes pods"), ("cordoned", "takes no new pods")]);
const IDLE: List = List::Words(&[
    ("off", "its quota only"),
    ("acceptable", "idle GPUs of others, too"),
    ("only", "idle GPUs of others only"),
]);

fn idle(policy: IdlePolicy) -> &'static str {
    match policy {
        IdlePolicy::Off => "off",
        IdlePolicy::Acceptable => "acceptable",
        IdlePolicy::Only => "only",
    }
}

/// What can be chosen in a command.
#[must_use]
pub fn choosers(command: &Command) -> Vec<Chooser> {
    match Subject::of(command) {
        Subject::Amounts(scale) => {
            let Some(first) = scale.targets.first() else { return Vec::new() };
            let second = scale.targets.get(1).map(|target| target.quota.as_str()).unwrap_or_default();
            let mode = if scale.mode == ScaleMode::Evict { "evict" } else { "drain" };
            let siblings = List::Siblings(first.quota.clone());
            vec![
                Chooser::of("Quota", List::Quotas, first.quota.as_str()),
                Chooser::of("The difference goes to, or comes from", siblings, second),
                Chooser::of("Jobs that are no longer covered", MODES, mode),
            ]
        }
        Subject::Policies(update) => vec![Chooser::of("Quota", List::Quotas, update.quota.as_str())],
        Subject::Priority(set) => vec![Chooser::of("Job", List::Jobs, set.job.as_str())],
        Subject::Size(resize) => vec![Chooser::of("Job", List::Jobs, resize.job.as_str())],
        Subject::Cancel(cancel) => vec![Chooser::of("Job", List::Jobs, cancel.job.as_str())],
        Subject::Job(job) => of_job(job),
        Subject::Price(publish) => vec![Chooser::of("Offer", List::Offers, publish.offer.as_str())],
        Subject::Inventory(set) => vec![Chooser::of("Offer", List::Offers, set.offer.as_str())],
        Subject::Pool(group) => vec![Chooser::of("Pool", List::Pools, group.group.as_str())],
        Subject::Node(node) => {
            let is = if node.status == NodeStatus::Ready { "ready" } else { "cordoned" };
            vec![Chooser::of("Node", List::Nodes, node.node.as_str()), Chooser::of("It", STATUS, is)]
        }
        Subject::Other(_) => Vec::new(),
    }
}

fn of_job(job: &SubmitJob) -> Vec<Chooser> {
    let name = Chooser::of("Job name", List::Typed, job.job.as_str());
    let module = Chooser::of("Module", List::Modules, job.module.as_str());
    if let Some(spot) = &job.spot {
        let Network { vpc, vswitch, security_group } = &spot.network;
        let parts = [("VPC", vpc), ("vSwitch", vswitch), ("Security group", security_group)];
        let network = parts.map(|(label, part)| Chooser::of(label, List::Typed, part.as_deref().unwrap_or("")));
        let offer = Chooser::of("Offer", List::Offers, spot.offer.as_str());
        return [name, offer, module].into_iter().chain(network).collect();
    }
    let quota = job.quota.as_ref().map(QuotaId::as_str).unwrap_or_default();
    let again = if job.fault_tolerance.is_some() { "yes" } else { "no" };
    vec![
        name,
        Chooser::of("In quota", List::Quotas, quota),
        module,
        Chooser::of("Runs on", IDLE, idle(job.idle)),
        Chooser::of("After an eviction", AGAIN, again),
    ]
}

/// The scaling that changes nothing yet.
#[must_use]
pub fn scaling(facts: &Facts, quota: &QuotaId, with: Option<&QuotaId>, mode: ScaleMode) -> ScaleQuotas {
    let target = |quota: &QuotaId| ScaleTarget {
        quota: quota.clone(),
        min: facts.quota(quota).map(|known| known.min.clone()).unwrap_or_default(),
    };
    ScaleQuotas { targets: [Some(quota), with].into_iter().flatten().map(target).collect(), mode }
}

/// The command with something else chosen.
///
/// # Errors
/// What is wrong with a name that was typed.
pub fn chosen(command: &Command, facts: &Facts, chooser: usize, value: &str) -> Result<Command, String> {
    let mut command = command.clone();
    let job_named = |name: &str| JobId::new(name).map_err(|bad| bad.to_string());
    match (&mut command, chooser) {
        (Command::ScaleQuotas(scale), _) => {
            let first = scale.targets.first().map(|target| target.quota.clone());
            *scale = match chooser {
                0 => {
                    let quota = known_quota(facts, value)?;
                    let sibling = givers(facts, quota.as_str()).into_iter().next();
                    let sibling = sibling.and_then(|name| QuotaId::new(&name).ok());
                    scaling(facts, &quota, sibling.as_ref(), scale.mode)
                }
                1 => {
                    let first = first.ok_or("no quota is chosen")?;
                    let with = if value.is_empty() { None } else { Some(sibling(facts, &first, value)?) };
                    scaling(facts, &first, with.as_ref(), scale.mode)
                }
                _ => {
                    let mode = if value == "evict" { ScaleMode::Evict } else { ScaleMode::Drain };
                    ScaleQuotas { mode, ..scale.clone() }
                }
            };
        }
        (Command::UpdateQuota(update), _) => {
            update.quota = known_quota(facts, value)?;
            update.settings = facts.quota(&update.quota).map(|known| known.settings.clone()).unwrap_or_default();
        }
        (Command::SetPriority(set), _) => set.job = job_named(value)?,
        (Command::ResizeJob(resize), _) => resize.job = job_named(value)?,
        (Command::CancelJob(cancel), _) => cancel.job = job_named(value)?,
        (Command::SubmitJob(job), _) => choose_of_job(job, facts, chooser, value)?,
        (Command::PublishPrice(publish), _) => {
            let known = known_offer(facts, value)?;
            (publish.offer, publish.price) = (known.offer.clone(), known.price);
        }
        (Command::SetInventory(set), _) => {
            let known = known_offer(facts, value)?;
            (set.offer, set.inventory) = (known.offer.clone(), known.inventory);
        }
        (Command::PutGroup(group), _) => {
            if let Some(known) = facts.groups.iter().find(|known| known.group.as_str() == value) {
                *group = known.clone();
            }
        }
        (Command::PutNode(node), 0) => {
            let known = facts.nodes.iter().find(|known| known.node.as_str() == value);
            let status = node.status;
            *node = known.cloned().ok_or("there is no node of this name")?;
            node.status = status;
        }
        (Command::PutNode(node), _) => {
            node.status = if value == "ready" { NodeStatus::Ready } else { NodeStatus::Cordoned };
        }
        _ => {}
    }
    Ok(command)
}

fn known_quota(facts: &Facts, name: &str) -> Result<QuotaId, String> {
    let known = facts.quotas.iter().find(|known| known.quota.as_str() == name);
    known.map(|known| known.quota.clone()).ok_or_else(|| format!("there is no quota “{name}”"))
}

fn sibling(facts: &Facts, quota: &QuotaId, name: &str) -> Result<QuotaId, String> {
    let sibling = known_quota(facts, name)?;
    let is_beside = givers(facts, quota.as_str()).iter().any(|giver| giver == name);
    if is_beside { Ok(sibling) } else { Err(format!("{name} has not the same parent as {quota}")) }
}

fn known_offer<'a>(facts: &'a Facts, name: &str) -> Result<&'a OfferFacts, String> {
    let known = facts.offers.iter().find(|known| known.offer.as_str() == name);
    known.ok_or_else(|| format!("there is no offer “{name}”"))
}

fn choose_of_job(job: &mut SubmitJob, facts: &Facts, chooser: usize, value: &str) -> Result<(), String> {
    match (chooser, &mut job.spot) {
        (0, _) => job.job = JobId::new(value).map_err(|bad| bad.to_string())?,
        (1, Some(spot)) => {
            let known = known_offer(facts, value)?;
            spot.offer = known.offer.clone();
            (spot.discount_percent, spot.price_limit) = known.limits();
        }
        (1, None) => job.quota = Some(known_quota(facts, value)?),
        (2, _) => job.module = Module::ALL.into_iter().find(|module| module.as_str() == value).unwrap_or(job.module),
        (3.., Some(spot)) => {
            let network = &mut spot.network;
            let parts = [&mut network.vpc, &mut network.vswitch, &mut network.security_group];
            if let Some(part) = parts.into_iter().nth(chooser - 3) {
                *part = Some(value.into());
            }
        }
        (3, _) => {
            let policies = [IdlePolicy::Off, IdlePolicy::Acceptable, IdlePolicy::Only];
            job.idle = policies.into_iter().find(|policy| idle(*policy) == value).unwrap_or(job.idle);
        }
        _ => job.fault_tolerance = (value == "yes").then_some(FaultTolerance::default()),
    }
    Ok(())
}
