//! The pods of a job. The engine counts them by kind; their names are those of the kinds with a number.

use engine::job::phase::AfterStop;
use engine::job::phase::Outcome;
use engine::job::phase::Phase;
use engine::job::phase::PodAt;
use engine::state::jobs::Job;
use engine::state::world::State;
use engine::unit::priority::Module;
use serde_json::Value;
use serde_json::json;

use crate::calendar;
use crate::service::document::Document;
use crate::service::held;
use crate::service::job::history::Stretch;

/// A pod's kind and number.
fn kinds<'a>(job: &'a Job, document: &'a Document) -> impl Iterator<Item = (String, u32)> + 'a {
    let specs = document.get("JobSpecs").and_then(Value::as_array);
    let kind = move |at: usize| {
        let stated = specs.and_then(|specs| specs.get(at)?.get("Type")?.as_str());
        stated.unwrap_or("Worker").to_owned()
    };
    let roles = job.spec.shape.roles().iter().enumerate();
    roles.flat_map(move |(at, role)| (0..role.count).map(move |number| (kind(at), number)))
}

/// The pods of services and instances have no kinds.
fn id(job: &Job, kind: &str, number: u32) -> String {
    match job.spec.module {
        Module::Dlc => format!("{}-{}-{number}", job.spec.id, kind.to_ascii_lowercase()),
        Module::Dsw | Module::Eas => format!("{}-{number}", job.spec.id),
    }
}

/// The names of a job's pods.
pub(crate) fn names<'a>(job: &'a Job, document: &'a Document) -> impl Iterator<Item = String> + 'a {
    kinds(job, document).map(|(kind, number)| id(job, &kind, number))
}

/// How its pods are, by what the job is.
fn status(job: &Job) -> (&'static str, &'static str) {
    match &job.phase {
        Phase::Queued { .. } | Phase::Starting { .. } => ("Pending", "Normal"),
        Phase::Running { .. } if job.is_unconfirmed() => ("Pending", "Normal"),
        Phase::Running { .. } => ("Running", "Normal"),
        Phase::Stopping(stopping) => match stopping.then {
            AfterStop::End(Outcome::Cancelled) => ("Running", "Normal"),
            AfterStop::End(_) | AfterStop::Requeue => ("Running", "Evicted"),
        },
        Phase::Ended { outcome: Outcome::Succeeded, .. } => ("Succeeded", "Normal"),
        Phase::Ended { outcome: Outcome::Preempted, .. } => ("Failed", "Evicted"),
        Phase::Ended { .. } => ("Failed", "Normal"),
    }
}

fn runs(stretches: &[Stretch]) -> impl Iterator<Item = &Stretch> {
    stretches.iter().filter(|stretch| stretch.status == "Running")
}

/// How many lives the pods of a job have begun.
pub(super) fn lives_begun(stretches: &[Stretch]) -> usize {
    runs(stretches).count()
}

/// The number of the life that a job's pods have, or will have when they start.
pub(super) fn life(job: &Job, stretches: &[Stretch]) -> usize {
    // The last run is that of the pods that are there now, unless the job waits again.
    let is_waiting = matches!(job.phase, Phase::Queued { .. } | Phase::Starting { .. }) || job.is_unconfirmed();
    lives_begun(stretches).saturating_sub(usize::from(!is_waiting))
}

/// The name of a life of a pod.
pub(super) fn life_name(pod: &str, number: usize) -> String {
    format!("{pod}-{number}")
}

/// The pods of a job, each with those that ran in its place before.
pub(super) fn list(state: &State, job: &Job, document: &Document, stretches: &[Stretch]) -> Value {
    let (status, sub_status) = status(job);
    let created = calendar::written(job.submitted);
    let runs: Vec<&Stretch> = runs(stretches).collect();
    let earlier = life(job, stretches);
    let held: Vec<Option<PodAt>> = held::pods(job).map(|(at, _)| at).collect();
    let current = runs.get(earlier);
    let one = |(at, (kind, number)): (usize, (String, u32))| {
        let node = held.get(at).copied().flatten().map(|pod| state.nodes[pod.node.at()].id.as_str());
        // An elastic job runs with fewer pods than it asks for.
        let is_missing = job.is_running() && at >= held.len();
        let (status, sub_status) = if is_missing { ("Pending", "Normal") } else { (status, sub_status) };
        let current = current.filter(|_| !is_missing);
        let name = id(job, &kind, number);
        let history: Value =
            runs[..earlier].iter().enumerate().map(|(run, past)| was(&name, &kind, run, past)).collect();
        json!({
            "PodId": name,
            "PodUid": life_name(&name, earlier),
            "Type": kind,
            "Status": status,
            "SubStatus": sub_status,
            "ResourceType": "Normal",
            "NodeName": node,
            "GmtCreateTime": created,
            "GmtStartTime": current.map(|run| calendar::written(run.from)),
            "GmtFinishTime": current.and_then(|run| run.until).map(calendar::written),
            "HistoryPods": history,
        })
    };
    kinds(job, document).enumerate().map(one).collect()
}

/// A pod of an earlier run: what ends one that is followed by another is an eviction.
fn was(name: &str, kind: &str, run: usize, past: &Stretch) -> Value {
    json!({
        "PodId": name,
        "PodUid": life_name(name, run),
        "Type": kind,
        "Status": "Failed",
        "SubStatus": "Evicted",
        "ResourceType": "Normal",
        "GmtCreateTime": calendar::written(past.from),
        "GmtStartTime": calendar::written(past.from),
        "GmtFinishTime": past.until.map(calendar::written),
    })
}
