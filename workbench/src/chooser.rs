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
use crate::wish::givers;

/// One of several, or a name that is typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chooser {
    /// What is chosen.
    pub label: &'static str,
    /// What there is, with words.
    pub options: Vec<(String, String)>,
    /// What is chosen now.
    pub chosen: String,
    /// Whether anything else may be typed.
    pub is_free: bool,
}

impl Chooser {
    fn of(label: &'static str, options: Vec<(String, String)>, chosen: &str) -> Self {
        Self { label, options, chosen: chosen.to_owned(), is_free: false }
    }

    fn typed(label: &'static str, names: impl Iterator<Item = String>, chosen: &str) -> Self {
        Self {
            label,
            options: names.map(|name| (name.clone(), name)).collect(),
            chosen: chosen.to_owned(),
            is_free: true,
        }
    }
}

const IDLE: [(&str, &str, IdlePolicy); 3] = [
    ("off", "its quota only", IdlePolicy::Off),
    ("acceptable", "idle GPUs of others, too", IdlePolicy::Acceptable),
    ("only", "idle GPUs of others only", IdlePolicy::Only),
];

/// What can be chosen in a command.
#[must_use]
pub fn choosers(command: &Command, facts: &Facts) -> Vec<Chooser> {
    let quotas = || facts.quotas.iter().map(|known| known.quota.to_string());
    let named = |names: Vec<String>| names.into_iter().map(|name| (name.clone(), name)).collect::<Vec<_>>();
    let offers = || named(facts.offers.iter().map(|known| known.offer.to_string()).collect());
    let jobs = || facts.jobs.iter().map(|known| known.job.to_string());
    let words =
        |list: &[(&str, &str)]| list.iter().map(|(value, words)| ((*value).to_owned(), (*words).to_owned())).collect();
    match Subject::of(command) {
        Subject::Amounts(scale) => {
            let Some(first) = scale.targets.first() else { return Vec::new() };
            let mut siblings = vec![(String::new(), "nobody: what the parent has left".to_owned())];
            siblings.extend(named(givers(facts, first.quota.as_str())));
            let second = scale.targets.get(1).map(|target| target.quota.to_string()).unwrap_or_default();
            let modes = words(&[("drain", "may finish"), ("evict", "are evicted")]);
            let mode = if scale.mode == ScaleMode::Evict { "evict" } else { "drain" };
            vec![
                Chooser::of("Quota", named(quotas().collect()), first.quota.as_str()),
                Chooser::of("The difference goes to, or comes from", siblings, &second),
                Chooser::of("Jobs that are no longer covered", modes, mode),
            ]
        }
        Subject::Policies(update) => vec![Chooser::of("Quota", named(quotas().collect()), update.quota.as_str())],
        Subject::Priority(set) => vec![Chooser::typed("Job", jobs(), set.job.as_str())],
        Subject::Cancel(cancel) => vec![Chooser::typed("Job", jobs(), cancel.job.as_str())],
        Subject::Job(job) => {
            let name = Chooser::typed("Job name", std::iter::empty(), job.job.as_str());
            let modules = named(Module::ALL.map(|module| module.as_str().to_owned()).into());
            let module = Chooser::of("Module", modules, job.module.as_str());
            if let Some(spot) = &job.spot {
                let Network { vpc, vswitch, security_group } = &spot.network;
                let parts = [("VPC", vpc), ("vSwitch", vswitch), ("Security group", security_group)];
                let network =
                    parts.map(|(label, part)| Chooser::typed(label, std::iter::empty(), part.as_deref().unwrap_or("")));
                return [name, Chooser::of("Offer", offers(), spot.offer.as_str()), module]
                    .into_iter()
                    .chain(network)
                    .collect();
            }
            let quota = job.quota.as_ref().map(ToString::to_string).unwrap_or_default();
            let idle = IDLE.iter().map(|(value, words, _)| ((*value).to_owned(), (*words).to_owned())).collect();
            let is_idle = IDLE.iter().find(|(.., policy)| *policy == job.idle).map_or("off", |(value, ..)| value);
            let again = if job.fault_tolerance.is_some() { "yes" } else { "no" };
            vec![
                name,
                Chooser::of("In quota", named(quotas().collect()), &quota),
                module,
                Chooser::of("Runs on", idle, is_idle),
                Chooser::of("After an eviction", words(&[("no", "it ends"), ("yes", "it is queued again")]), again),
            ]
        }
        Subject::Price(publish) => vec![Chooser::of("Offer", offers(), publish.offer.as_str())],
        Subject::Inventory(set) => vec![Chooser::of("Offer", offers(), set.offer.as_str())],
        Subject::Pool(group) => {
            let pools = facts.groups.iter().filter(|known| known.pool.is_some()).map(|known| known.group.to_string());
            vec![Chooser::of("Pool", named(pools.collect()), group.group.as_str())]
        }
        Subject::Node(node) => {
            let nodes = facts.nodes.iter().map(|known| known.node.to_string());
            let status = words(&[("ready", "takes pods"), ("cordoned", "takes no new pods")]);
            let is = if node.status == NodeStatus::Ready { "ready" } else { "cordoned" };
            vec![Chooser::typed("Node", nodes, node.node.as_str()), Chooser::of("It", status, is)]
        }
        Subject::Other(_) => Vec::new(),
    }
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
                    let quota = QuotaId::new(value).map_err(|bad| bad.to_string())?;
                    let sibling = givers(facts, quota.as_str()).into_iter().next();
                    let sibling = sibling.and_then(|name| QuotaId::new(&name).ok());
                    scaling(facts, &quota, sibling.as_ref(), scale.mode)
                }
                1 => {
                    let first = first.ok_or("no quota is chosen")?;
                    scaling(facts, &first, QuotaId::new(value).ok().as_ref(), scale.mode)
                }
                _ => {
                    let mode = if value == "evict" { ScaleMode::Evict } else { ScaleMode::Drain };
                    ScaleQuotas { mode, ..scale.clone() }
                }
            };
        }
        (Command::UpdateQuota(update), _) => {
            if let Some(known) = facts.quotas.iter().find(|known| known.quota.as_str() == value) {
                (update.quota, update.settings) = (known.quota.clone(), known.settings.clone());
            }
        }
        (Command::SetPriority(set), _) => set.job = job_named(value)?,
        (Command::CancelJob(cancel), _) => cancel.job = job_named(value)?,
        (Command::SubmitJob(job), _) => choose_of_job(job, facts, chooser, value)?,
        (Command::PublishPrice(publish), _) => {
            if let Some(known) = facts.offers.iter().find(|known| known.offer.as_str() == value) {
                (publish.offer, publish.price) = (known.offer.clone(), known.price);
            }
        }
        (Command::SetInventory(set), _) => {
            if let Some(known) = facts.offers.iter().find(|known| known.offer.as_str() == value) {
                (set.offer, set.inventory) = (known.offer.clone(), known.inventory);
            }
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

fn choose_of_job(job: &mut SubmitJob, facts: &Facts, chooser: usize, value: &str) -> Result<(), String> {
    match (chooser, &mut job.spot) {
        (0, _) => job.job = JobId::new(value).map_err(|bad| bad.to_string())?,
        (1, Some(spot)) => {
            if let Some(known) = facts.offers.iter().find(|known| known.offer.as_str() == value) {
                spot.offer = known.offer.clone();
                (spot.discount_percent, spot.price_limit) = known.limits();
            }
        }
        (1, None) => job.quota = Some(QuotaId::new(value).map_err(|bad| bad.to_string())?),
        (2, _) => job.module = Module::ALL.into_iter().find(|module| module.as_str() == value).unwrap_or(job.module),
        (3.., Some(spot)) => {
            let network = &mut spot.network;
            let parts = [&mut network.vpc, &mut network.vswitch, &mut network.security_group];
            if let Some(part) = parts.into_iter().nth(chooser - 3) {
                *part = Some(value.into());
            }
        }
        (3, _) => job.idle = IDLE.iter().find(|(name, ..)| *name == value).map_or(job.idle, |(.., policy)| *policy),
        _ => job.fault_tolerance = (value == "yes").then_some(FaultTolerance::default()),
    }
    Ok(())
}
