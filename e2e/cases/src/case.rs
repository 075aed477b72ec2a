//! The document: fields as the schema names them; an unknown field is an error that names it.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Number;
use serde_json::Value;

/// Whole units by resource name.
pub type Units = BTreeMap<String, Number>;

/// One case.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    pub id: String,
    pub title: String,
    #[serde(default)]
    pub origin: Value,
    #[serde(default)]
    pub fidelity: Value,
    #[serde(default)]
    pub tags: Vec<String>,
    #[serde(default)]
    pub now: i64,
    #[serde(default)]
    pub cluster: Option<Units>,
    #[serde(default)]
    pub nodes: Vec<NodeCase>,
    #[serde(default)]
    pub quotas: Vec<QuotaCase>,
    #[serde(default)]
    pub jobs: Vec<JobCase>,
    pub event: EventCase,
    pub expect: Expect,
    #[serde(default)]
    pub why: Value,
    #[serde(default)]
    pub notes: Value,
    #[serde(default)]
    pub alternatives: Vec<Value>,
    #[serde(default)]
    pub must_not: Vec<String>,
    #[serde(default)]
    pub auto_checkable: Option<bool>,
}

/// A node with its amounts.
#[derive(Clone, Debug, Deserialize)]
pub struct NodeCase {
    pub id: String,
    #[serde(flatten)]
    pub amount: Units,
}

/// A quota.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuotaCase {
    pub id: String,
    #[serde(default)]
    pub parent: Option<String>,
    pub amount: Units,
    #[serde(default)]
    pub policy: PolicyCase,
}

/// What is set on a quota.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PolicyCase {
    #[serde(rename = "self")]
    pub self_level: Option<SelfCase>,
    pub child: Option<ChildCase>,
    pub min_runtime_s: Option<i64>,
    pub grace_s: Option<i64>,
}

/// Self-level preemption.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SelfCase {
    pub high: Vec<i64>,
    #[serde(default)]
    pub low: Vec<i64>,
    #[serde(default)]
    pub modules: Vec<String>,
    #[serde(default)]
    pub scope: Option<String>,
}

/// Child-level preemption.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChildCase {
    pub victims: Vec<i64>,
    pub modules: Vec<String>,
}

/// Whether a job uses what others leave idle, or bids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    #[default]
    Regular,
    IdleAcceptable,
    IdleOnly,
    Spot,
}

/// What a job does when the case begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Run {
    Running,
    #[default]
    Queued,
    Terminating,
}

/// A pod: its amounts, and the node it runs on.
#[derive(Clone, Debug, Deserialize)]
pub struct PodCase {
    #[serde(default)]
    pub node: Option<String>,
    #[serde(flatten)]
    pub amount: Units,
}

/// A job.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobCase {
    pub id: String,
    pub quota: String,
    #[serde(default)]
    pub priority: Option<i64>,
    #[serde(default)]
    pub module: Option<String>,
    #[serde(default)]
    pub kind: Kind,
    #[serde(default)]
    pub run: Run,
    #[serde(default)]
    pub charge: Option<String>,
    pub pods: Vec<PodCase>,
    #[serde(default)]
    pub gang: Option<bool>,
    #[serde(default)]
    pub start: Option<i64>,
    #[serde(default)]
    pub submit: Option<i64>,
    #[serde(default)]
    pub min_pods: Option<u32>,
    #[serde(default)]
    pub duration_s: Option<i64>,
    #[serde(default)]
    pub exit_after_s: Option<i64>,
    #[serde(default)]
    pub requeue: Option<bool>,
    #[serde(default)]
    pub checkpoint_interval_s: Option<i64>,
    #[serde(default)]
    pub bid: Value,
    #[serde(default)]
    pub list_price: Value,
    #[serde(default)]
    pub protection_s: i64,
}

/// What happens.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum EventCase {
    Submit { jobs: Vec<JobCase> },
    Scale { changes: BTreeMap<String, Units> },
    PricePath { points: Value },
}

/// A reason for all waiting jobs, or one for each.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Reason {
    All(String),
    Each(BTreeMap<String, String>),
}

/// The answer that is right.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Expect {
    pub victims: Option<Vec<String>>,
    pub victims_any_of: Option<Vec<Vec<String>>>,
    pub victims_preferred: Option<Vec<String>>,
    pub victim_pods: Option<BTreeMap<String, u32>>,
    pub start: Option<Vec<String>>,
    pub started_pods: Option<BTreeMap<String, u32>>,
    pub stay_queued: Option<Vec<String>>,
    pub reason: Option<Reason>,
    pub state: BTreeMap<String, String>,
    pub charge: BTreeMap<String, String>,
    pub timeline: Vec<(i64, String)>,
    pub invariants: Vec<String>,
    pub final_usage: BTreeMap<String, Value>,
}

/// The quotas in an order in which they can be created.
pub fn parents_first(quotas: &[QuotaCase]) -> Result<Vec<&QuotaCase>, String> {
    let mut placed: Vec<&QuotaCase> = Vec::new();
    let mut left: Vec<&QuotaCase> = quotas.iter().collect();
    while !left.is_empty() {
        let is_known = |quota: &QuotaCase| {
            quota.parent.as_ref().is_none_or(|parent| placed.iter().any(|known| known.id == *parent))
        };
        let (ready, later): (Vec<&QuotaCase>, Vec<&QuotaCase>) =
            left.iter().copied().partition(|quota| is_known(quota));
        if ready.is_empty() {
            return Err(format!("the parent of quota {} is not in the case, or the quotas form a cycle", later[0].id));
        }
        placed.extend(ready);
        left = later;
    }
    Ok(placed)
}
