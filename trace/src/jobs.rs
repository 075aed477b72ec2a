//! The jobs of a trace.

use std::collections::BTreeMap;

use engine::job::spec::FaultTolerance;
use engine::job::spec::IdlePolicy;
use engine::message::command::AmountByName;
use engine::message::command::NodesByName;
use engine::message::command::PodGroup;
use engine::message::command::SubmitJob;
use engine::unit::amount::GPU;
use engine::unit::id::JobId;
use engine::unit::id::QuotaId;
use engine::unit::id::UserId;
use engine::unit::priority::Module;
use engine::unit::priority::Priority;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;

use crate::bid::bid;
use crate::bid::has_bid;
use crate::offers::Change;
use crate::offers::Offers;
use crate::sheet::Line;
use crate::sheet::Sheet;
use crate::sheet::Source;

const REQUIRED: [&str; 5] = ["job_id", "submit_s", "duration_s", "gpus", "group"];
const KNOWN: [&str; 14] = [
    "job_id",
    "submit_s",
    "duration_s",
    "gpus",
    "group",
    "module",
    "priority",
    "idle",
    "fault_tolerance",
    "checkpoint_s",
    "bid_discount",
    "bid_price",
    "offer",
    "user",
];

/// A submission and its time.
#[derive(Clone, Debug)]
pub struct Arrival {
    pub at: Timestamp,
    pub job: SubmitJob,
    /// Where it stands.
    pub place: String,
}

/// The jobs of a trace, by time.
#[derive(Clone, Debug)]
pub struct Trace {
    pub arrivals: Vec<Arrival>,
    /// How the spot market changes meanwhile, by time.
    pub changes: Vec<Change>,
    /// What of the file is not replayed, in words.
    pub remarks: Vec<String>,
}

/// What the jobs of a trace may run on.
#[derive(Clone, Copy, Debug)]
pub struct Supply<'a> {
    /// GPUs of the largest node, in thousandths. A job with more gets pods that fill whole nodes; without nodes it is
    /// one pod.
    pub node_gpus: Option<i64>,
    /// The quotas' names.
    pub quotas: &'a BTreeMap<String, u64>,
    /// Without offers, jobs with a bid are left out.
    pub offers: Option<&'a Offers>,
}

impl Trace {
    /// Reads a job table.
    pub fn read(source: &Source, supply: &Supply<'_>) -> Result<Self, String> {
        let sheet = Sheet::read(source, &REQUIRED)?;
        let mut arrivals = Vec::new();
        let mut seen: BTreeMap<String, u64> = BTreeMap::new();
        let (mut bids, mut empty, mut idle) = (0u32, 0u32, 0u32);
        for line in sheet.lines() {
            let has_bid = has_bid(&line);
            if has_bid && supply.offers.is_none() {
                bids += 1;
                continue;
            }
            let arrival = arrival(&line, supply)?;
            let name = arrival.job.job.to_string();
            if let Some(first) = seen.insert(name.clone(), line.number) {
                return Err(line.complaint(
                    "job_id",
                    &name,
                    &format!("line {first} has it already; give every job its own name"),
                ));
            }
            if arrival.job.pods.is_empty() {
                empty += 1;
                continue;
            }
            idle += u32::from(has_bid && line.text("idle").is_some_and(|idle| !idle.eq_ignore_ascii_case("off")));
            arrivals.push(arrival);
        }
        arrivals.sort_by_key(|arrival| arrival.at);
        let mut remarks = Vec::new();
        let unknown = sheet.unknown(&KNOWN);
        if !unknown.is_empty() {
            remarks.push(format!("columns that say nothing to the scheduler: {}", unknown.join(", ")));
        }
        if bids > 0 {
            remarks
                .push(format!("{bids} jobs with a bid are left out: there is no table of the offers that they bid on"));
        }
        if empty > 0 {
            remarks.push(format!("{empty} jobs that ask for no GPU are left out"));
        }
        if idle > 0 {
            remarks.push(format!(
                "{idle} jobs with a bid also ask for idle resources, which belong to quotas: only the bid counts"
            ));
        }
        let changes = supply.offers.map(|offers| offers.changes.clone()).unwrap_or_default();
        remarks.extend(supply.offers.iter().flat_map(|offers| offers.remarks.clone()));
        Ok(Self { arrivals, changes, remarks })
    }
}

fn arrival(line: &Line<'_>, supply: &Supply<'_>) -> Result<Arrival, String> {
    let name = line.need("job_id")?;
    let job = JobId::new(name).map_err(|bad| line.complaint("job_id", name, &bad.to_string()))?;
    let bid = supply.offers.filter(|_| has_bid(line)).map(|offers| bid(line, offers)).transpose()?;
    let quota = if bid.is_none() { Some(quota(line, supply.quotas)?) } else { None };
    let priority = match line.text("priority") {
        None => Priority::LOWEST,
        Some(text) => {
            let value: i64 =
                text.parse().map_err(|_| line.complaint("priority", text, "write a number from 1 to 9"))?;
            Priority::new(value).map_err(|_| line.complaint("priority", text, "write a number from 1 to 9"))?
        }
    };
    let modules = [("DLC", Module::Dlc), ("DSW", Module::Dsw), ("EAS", Module::Eas)];
    let idle = [("off", IdlePolicy::Off), ("acceptable", IdlePolicy::Acceptable), ("only", IdlePolicy::Only)];
    let idle = line.word("idle", &idle)?.filter(|_| bid.is_none());
    let user =
        line.text("user").map(|user| UserId::new(user).map_err(|bad| line.complaint("user", user, &bad.to_string())));
    let tolerates = line.word("fault_tolerance", &[("yes", true), ("no", false)])?.unwrap_or(false);
    // On the market each pod takes an instance.
    let pod_gpus = bid.as_ref().map_or(supply.node_gpus, |(_, gpus)| Some(*gpus));
    let submitted = SubmitJob {
        job,
        quota,
        spot: bid.map(|(spot, _)| spot),
        workspace: None,
        user: user.transpose()?,
        name: None,
        module: line.word("module", &modules)?.unwrap_or(Module::Dlc),
        priority,
        pods: pods(line.need_decimal("gpus")?, pod_gpus),
        min_pods: None,
        nodes: NodesByName::default(),
        idle: idle.unwrap_or(IdlePolicy::Off),
        fault_tolerance: tolerates.then_some(FaultTolerance { max_restarts: 1000 }),
        duration_ms: Some(Millis(line.need_decimal("duration_s")?.max(1))),
        checkpoint_ms: line.decimal("checkpoint_s")?.filter(|interval| *interval > 0).map(Millis),
    };
    Ok(Arrival { at: Timestamp(line.need_decimal("submit_s")?), job: submitted, place: line.place() })
}

fn quota(line: &Line<'_>, quotas: &BTreeMap<String, u64>) -> Result<QuotaId, String> {
    let group = line.need("group")?;
    if !quotas.contains_key(group) {
        return Err(line.complaint("group", group, "name a group of the quota file, or add it there"));
    }
    QuotaId::new(group).map_err(|bad| line.complaint("group", group, &bad.to_string()))
}

/// Pods that fill whole nodes, one for the whole GPUs that are left, and one for a part of a GPU.
fn pods(gpus: i64, node_gpus: Option<i64>) -> Vec<PodGroup> {
    let pod = |count: i64, value: i64| PodGroup {
        count: u32::try_from(count).unwrap_or(u32::MAX),
        amount: AmountByName::from([("gpu".to_owned(), value)]),
    };
    let (whole, part) = if gpus > GPU { (gpus - gpus % GPU, gpus % GPU) } else { (gpus, 0) };
    let mut pods = Vec::new();
    match node_gpus.filter(|node| *node > 0 && whole > *node) {
        Some(node) => {
            pods.push(pod(whole / node, node));
            if whole % node > 0 {
                pods.push(pod(1, whole % node));
            }
        }
        None if whole > 0 => pods.push(pod(1, whole)),
        None => {}
    }
    if part > 0 {
        pods.push(pod(1, part));
    }
    pods
}

#[cfg(test)]
mod tests {
    use super::pods;

    fn amounts(gpus: i64, node: Option<i64>) -> Vec<(u32, i64)> {
        pods(gpus, node).iter().map(|pod| (pod.count, pod.amount["gpu"])).collect()
    }

    #[test]
    fn a_large_job_fills_whole_nodes() {
        assert_eq!(amounts(20_000, Some(8000)), [(2, 8000), (1, 4000)]);
        assert_eq!(amounts(16_000, Some(8000)), [(2, 8000)]);
        assert_eq!(amounts(20_000, None), [(1, 20_000)]);
    }

    #[test]
    fn parts_of_a_gpu() {
        assert_eq!(amounts(460, Some(8000)), [(1, 460)]);
        assert_eq!(amounts(2500, Some(8000)), [(1, 2000), (1, 500)]);
        assert_eq!(amounts(0, Some(8000)), []);
    }
}
