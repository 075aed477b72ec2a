//! A job as it is told of: what was sent, and what the engine knows of it.

use engine::explain;
use engine::job::hold::Hold;
use engine::job::phase::Charge;
use engine::job::phase::Phase;
use engine::state::jobs::Job;
use engine::state::world::State;
use engine::unit::amount::Amount;
use engine::unit::amount::DimensionKind;
use engine::unit::id::JobNo;
use engine::unit::resource::ResourceType;
use serde_json::Value;
use serde_json::json;

use crate::operation::quantity;
use crate::operation::submission::IDLE_POLICIES;
use crate::operation::training::SENT;
use crate::problem::Problem;
use crate::service::amount;
use crate::service::context::Context;
use crate::service::document::Document;
use crate::service::document::Kind;
use crate::service::held;
use crate::service::job::history;
use crate::service::job::history::last_eviction;
pub(crate) use crate::service::job::history::status;
use crate::service::job::history::tag;
use crate::service::job::pods;
use crate::service::named::named;
use crate::service::named::quota_name;
use crate::service::workspace;

pub(super) fn get(context: &Context, name: &str, detail: bool) -> Result<Value, Problem> {
    let (no, job) = context.told(name)?;
    let job = &job;
    let state = context.state()?;
    let document = context.document(Kind::Job, name)?;
    let mut stretches = history::stretches(state, job);
    for stretch in &mut stretches {
        stretch.message = named(context, &stretch.message)?;
    }
    let mut fields = told(context, job, &document)?;
    let (code, message) = reason(context, no, job)?;
    let (cpus, gpus, memory) = requested(state, job);
    let mut more = json!({
        "ReasonCode": code,
        "ReasonMessage": message,
        "StatusHistory": history::written(&stretches),
        "RequestCPU": cpus,
        "RequestGPU": gpus,
        "RequestMemory": memory,
    });
    if detail {
        more["Pods"] = pods::list(state, job, &document, &stretches);
        more["RestartRecord"] = history::restarts(&stretches, context.now);
        more["JobReplicaStatuses"] = replicas(job, &document);
    }
    if let Value::Object(more) = more {
        fields.extend(more);
    }
    Ok(Value::Object(fields))
}

/// What both an answer on one job and a list say of it.
pub(super) fn told(context: &Context, job: &Job, document: &Document) -> Result<Document, Problem> {
    let (state, now) = (context.state()?, context.now);
    let spec = &job.spec;
    let mut fields = document.clone();
    fields.remove(SENT);
    if !fields.contains_key("JobSpecs") {
        fields.insert("JobSpecs".to_owned(), specs(state, job));
    }
    let workspace = spec.workspace.as_ref().map(|id| workspace::shown_name(context, id)).transpose()?;
    let quota = (!job.bids()).then(|| &state.quotas[spec.quota.at()]);
    let quota_name = quota.map(|quota| quota_name(context, quota)).transpose()?;
    let max = spec.fault_tolerance.map_or(0, |tolerance| tolerance.max_restarts);
    let engine = json!({
        "JobId": spec.id.as_str(),
        "DisplayName": spec.name.as_deref().unwrap_or(spec.id.as_str()),
        "Status": status(job),
        "SubStatus": sub_status(job),
        "Priority": spec.priority.get(),
        "WorkspaceId": spec.workspace.as_ref().map(engine::unit::id::WorkspaceId::as_str),
        "WorkspaceName": workspace,
        "UserId": spec.user.as_ref().map(engine::unit::id::UserId::as_str),
        "ResourceId": quota.map(|quota| quota.id.as_str()),
        "ResourceName": quota_name,
        "ResourceQuotaName": quota_name,
        "ResourceType": machines(state, job),
        "RestartTimes": format!("{}/{max}", history::restart_count(job)),
        "EnablePreemptibleJob": job.bids(),
    });
    fields.extend(history::times(state, job, now));
    if let Value::Object(engine) = engine {
        fields.extend(engine);
    }
    let settings = fields.entry("Settings").or_insert_with(|| json!({}));
    let oversold = IDLE_POLICIES.iter().find(|(_, idle)| *idle == spec.idle).map(|(name, _)| *name);
    if let Value::Object(settings) = settings {
        settings.insert("OversoldType".to_owned(), Value::from(oversold));
    }
    Ok(fields)
}

/// The roles of a job that was not submitted by this contract.
fn specs(state: &State, job: &Job) -> Value {
    let one = |role: &engine::job::shape::Role| json!({ "Type": "Worker", "PodCount": role.count, "ResourceConfig": amount::resource(state, &role.amount) });
    job.spec.shape.roles().iter().map(one).collect()
}

/// `Restarting` from an eviction until the job runs again, if it will.
fn sub_status(job: &Job) -> &'static str {
    let is_restarting = match &job.phase {
        Phase::Queued { .. } | Phase::Starting { .. } => job.progress.evictions > 0,
        Phase::Running { .. } if job.is_unconfirmed() => job.progress.evictions > 0,
        Phase::Stopping(_) => status(job) == "Restarting",
        Phase::Running { .. } | Phase::Ended { .. } => false,
    };
    if is_restarting { "Restarting" } else { "" }
}

fn machines(state: &State, job: &Job) -> &'static str {
    let kind = match &job.spec.spot {
        Some(spot) => spot.resource_type,
        None => kind_of_quota(state, job.spec.quota),
    };
    machine_word(kind)
}

/// The kind of machines that a quota's root draws on.
pub(crate) fn kind_of_quota(state: &State, quota: engine::unit::id::QuotaNo) -> ResourceType {
    let root = std::iter::successors(Some(quota), |no| state.quotas[no.at()].parent).last().unwrap_or(quota);
    let group = state.quotas[root.at()].groups.first();
    group.map_or(ResourceType::General, |group| state.groups[group.at()].resource_type)
}

pub(crate) fn machine_word(kind: ResourceType) -> &'static str {
    match kind {
        ResourceType::Lingjun => "Lingjun",
        ResourceType::General => "ECS",
    }
}

/// Whether a job runs on idle amounts, or did when it ended.
pub(crate) fn runs_idle(job: &Job) -> bool {
    let charge = match &job.phase {
        Phase::Ended { .. } => history::last_charge(job),
        Phase::Queued { .. } | Phase::Starting { .. } | Phase::Running { .. } | Phase::Stopping(_) => {
            job.placed().map(|placed| placed.charge)
        }
    };
    charge == Some(Charge::Idle)
}

/// Why a job is as it is, of which the sender is told so much: why it waits, what evicts it, how it ended.
pub(crate) fn reason(context: &Context, no: JobNo, told: &Job) -> Result<(String, String), Problem> {
    let (code, sentence) = match &told.phase {
        Phase::Queued { .. } => {
            let hold = explain::hold(context.state()?, no, context.now);
            return hold.map_or_else(|| Ok(Default::default()), |hold| binding(context, hold));
        }
        Phase::Stopping { .. } => last_eviction(told),
        Phase::Ended { outcome, .. } => history::end(told, outcome),
        Phase::Starting { .. } | Phase::Running { .. } => Default::default(),
    };
    Ok((code, named(context, &sentence)?))
}

/// The code and the sentence of what a job waits for first.
pub(crate) fn binding(context: &Context, hold: Hold) -> Result<(String, String), Problem> {
    let (state, hold) = (context.state()?, context.visibility()?.hold(hold));
    let code = hold.binding().map(|attempt| tag(&attempt.blocker)).unwrap_or_default();
    let sentence = explain::binding(state, &hold, context.now);
    Ok((code, named(context, &sentence)?))
}

/// What all pods of a job ask for: CPUs, GPUs and GiB of memory.
fn requested(state: &State, job: &Job) -> (i64, f64, i64) {
    let all = all_pods(job);
    let gpus: f64 = quantity::decimal(state.cluster.gpus(&all)).parse().unwrap_or_default();
    (amount::whole(state, &all, DimensionKind::Cpu), gpus, amount::whole(state, &all, DimensionKind::Memory))
}

/// What all pods of a job ask for.
pub(crate) fn all_pods(job: &Job) -> Amount {
    job.spec.shape.roles().iter().fold(Amount::ZERO, |sum, role| sum.plus(&role.amount.times(role.count)))
}

fn replicas(job: &Job, document: &Document) -> Value {
    /// The pods of a kind, and how many of them there are now.
    struct PodCount {
        name: String,
        count: i64,
        active: i64,
    }
    let mut kinds: Vec<PodCount> = Vec::new();
    let (held, waits) =
        (if job.is_running() && !job.is_unconfirmed() { held::pods(job).count() } else { 0 }, job.is_queued());
    for (at, pod) in pods::names(job, document).enumerate() {
        let name = pod.rsplit('-').nth(1).unwrap_or_default();
        if kinds.last().is_none_or(|last| last.name != name) {
            kinds.push(PodCount { name: name.to_owned(), count: 0, active: 0 });
        }
        if let Some(kind) = kinds.last_mut() {
            kind.count += 1;
            kind.active += i64::from(at < held);
        }
    }
    let one = |PodCount { name, count, active }: PodCount| {
        let (queuing, dequeued) = if waits { (count, 0) } else { (0, count) };
        json!({ "Type": name, "Active": active, "Queuing": queuing, "Dequeued": dequeued })
    };
    kinds.into_iter().map(one).collect()
}
