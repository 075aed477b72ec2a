//! The jobs of a trace.

use std::collections::BTreeMap;

use engine::job::spec::FaultTolerance;
use engine::job::spec::IdlePolicy;
use engine::message::command::AmountByName;
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

use crate::replay::sheet::Line;
use crate::replay::sheet::Sheet;
use crate::replay::sheet::Source;

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
}

/// The jobs of a trace, by time.
#[derive(Clone, Debug)]
pub struct Trace {
    pub arrivals: Vec<Arrival>,
    /// What of the file is not replayed, in words.
    pub remarks: Vec<String>,
}

impl Trace {
    /// Reads a job table. A job with more GPUs than `node_gpus` gets pods that fill whole nodes; without nodes it is
    /// one pod.
    pub fn read(source: &Source, node_gpus: Option<i64>, quotas: &BTreeMap<String, u64>) -> Result<Self, String> {
        let sheet = Sheet::read(source, &REQUIRED)?;
        let mut arrivals = Vec::new();
        let mut seen: BTreeMap<String, u64> = BTreeMap::new();
        let (mut bids, mut empty) = (0u32, 0u32);
        for line in sheet.lines() {
            if line.text("bid_discount").or(line.text("bid_price")).is_some() {
                bids += 1;
                continue;
            }
            let arrival = arrival(&line, node_gpus)?;
            let name = arrival.job.job.to_string();
            if let Some(first) = seen.insert(name.clone(), line.number) {
                return Err(line.complaint(
                    "job_id",
                    &name,
                    &format!("line {first} has it already; give every job its own name"),
                ));
            }
            let group = line.need("group")?;
            if !quotas.contains_key(group) {
                return Err(line.complaint("group", group, "name a group of the quota file, or add it there"));
            }
            if arrival.job.pods.is_empty() {
                empty += 1;
                continue;
            }
            arrivals.push(arrival);
        }
        arrivals.sort_by_key(|arrival| arrival.at);
        let mut remarks = Vec::new();
        let unknown = sheet.unknown(&KNOWN);
        if !unknown.is_empty() {
            remarks.push(format!("columns that say nothing to the scheduler: {}", unknown.join(", ")));
        }
        if bids > 0 {
            remarks.push(format!("{bids} jobs with a bid are left out: there is no spot market yet"));
        }
        if empty > 0 {
            remarks.push(format!("{empty} jobs that ask for no GPU are left out"));
        }
        Ok(Self { arrivals, remarks })
    }
}

fn arrival(line: &Line<'_>, node_gpus: Option<i64>) -> Result<Arrival, String> {
    let name = line.need("job_id")?;
    let group = line.need("group")?;
    let job = JobId::new(name).map_err(|bad| line.complaint("job_id", name, &bad.to_string()))?;
    let quota = QuotaId::new(group).map_err(|bad| line.complaint("group", group, &bad.to_string()))?;
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
    let user =
        line.text("user").map(|user| UserId::new(user).map_err(|bad| line.complaint("user", user, &bad.to_string())));
    let tolerates = line.word("fault_tolerance", &[("yes", true), ("no", false)])?.unwrap_or(false);
    let submitted = SubmitJob {
        job,
        quota: Some(quota),
        spot: None,
        workspace: None,
        user: user.transpose()?,
        name: None,
        module: line.word("module", &modules)?.unwrap_or(Module::Dlc),
        priority,
        pods: pods(line.need_decimal("gpus")?, node_gpus),
        min_pods: None,
        idle: line.word("idle", &idle)?.unwrap_or(IdlePolicy::Off),
        fault_tolerance: tolerates.then_some(FaultTolerance { max_restarts: 1000 }),
        duration_ms: Some(Millis(line.need_decimal("duration_s")?.max(1))),
        checkpoint_ms: line.decimal("checkpoint_s")?.filter(|interval| *interval > 0).map(Millis),
    };
    Ok(Arrival { at: Timestamp(line.need_decimal("submit_s")?), job: submitted })
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
