//! A job that is submitted.

use engine::market::bid::Framework;
use engine::market::bid::SpotStrategy;
use engine::message::command::AmountByName;
use engine::message::command::Command;
use engine::message::command::PodGroup;
use engine::message::command::SpotRequest;
use engine::message::command::SubmitJob;
use engine::unit::id::JobId;
use engine::unit::id::OfferId;
use engine::unit::priority::Module;
use serde_json::Value;

use crate::operation::submission::Bid;
use crate::operation::submission::CreateJob;
use crate::operation::submission::JobRole;
use crate::operation::submission::PodNeed;
use crate::problem::Problem;
use crate::service::amount;
use crate::service::context::Context;
use crate::service::document;
use crate::service::document::Change;
use crate::service::document::Document;
use crate::service::document::Kind;
use crate::service::engine_name;
use crate::service::fallback;

/// The format of scripts.
const SCRIPT_FORMAT: u32 = 1;

/// The name of the new job, which begins with the prefix.
pub(super) fn create(context: &mut Context, job: &CreateJob, prefix: &str) -> Result<String, Problem> {
    let name = context.new_id(prefix);
    let spot = spot(job)?;
    if spot.is_none() && job.quota.is_none() {
        let message = "there are no public resources here; name a quota as ResourceId, or bid with a SpotSpec";
        return Err(Problem::new(400, "UnsupportedResource", message));
    }
    let state = context.state()?;
    let quota = job.quota.as_deref().map(|quota| context.quota(quota)).transpose()?;
    let pod = |role: &JobRole| {
        // With a bid each pod has a whole instance, which is told by no amount.
        let amount = if spot.is_some() { AmountByName::new() } else { amount::of_pod(state, &role.need, quota)? };
        Ok(PodGroup { count: role.count, amount })
    };
    let needs = job.roles.iter().filter(|_| spot.is_none()).map(|role| &role.need);
    let nodes = amount::chosen_nodes(state, needs, &job.nodes)?;
    let submit = SubmitJob {
        job: engine_name::name::<JobId>(&name)?,
        quota: job.quota.as_deref().map(engine_name::quota).transpose()?,
        pods: job.roles.iter().map(pod).collect::<Result<_, Problem>>()?,
        spot,
        workspace: fallback::workspace_or_default(context, job.workspace.as_deref())?,
        user: Some(context.sender.user.clone()),
        name: Some(job.name.as_str().into()),
        module: Module::Dlc,
        priority: job.priority,
        min_pods: None,
        nodes,
        idle: job.idle,
        fault_tolerance: job.fault_tolerance,
        duration_ms: job.longest,
        checkpoint_ms: None,
    };
    let kept = document::kept_all(&job.document);
    let script = state.cluster.is_reported().then(|| Change::put(Kind::Script, &name, &script(&kept)));
    let changes: Vec<Change> = [Change::put(Kind::Job, &name, &kept)].into_iter().chain(script).collect();
    context.send(Command::SubmitJob(submit), &changes)?;
    Ok(name)
}

/// What a job executes where it really runs: its command in a shell, as PAI's own machines do it.
fn script(document: &Document) -> Document {
    let command = document.get("UserCommand").and_then(Value::as_str).unwrap_or_default();
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let environment = document.get("Envs").and_then(Value::as_object).into_iter().flatten();
    let environment: Document = environment.map(|(name, value)| (name.clone(), text(value).into())).collect();
    let mut script = Document::new();
    script.insert("format".to_owned(), SCRIPT_FORMAT.into());
    script.insert("command".to_owned(), ["/bin/sh", "-c", command].into_iter().collect());
    script.insert("environment".to_owned(), environment.into());
    script
}

/// The bid of a job: one for all of its roles.
fn spot(job: &CreateJob) -> Result<Option<SpotRequest>, Problem> {
    let mut bids = job.roles.iter().map(|role| role.bid.as_ref().map(|bid| (bid, &role.need)));
    let Some(first) = bids.next() else { return Ok(None) };
    if bids.any(|other| other != first) {
        let message =
            "all of JobSpecs must have the same EcsSpec and the same SpotSpec: a job bids on one instance type";
        return Err(Problem::new(400, "InvalidParameter", message));
    }
    let Some((bid, PodNeed::Instance(instance))) = first else { return Ok(None) };
    let Bid { as_price_goes, discount, price } = bid;
    let framework = match job.job_type {
        "PyTorchJob" => Framework::Pytorch,
        "MPIJob" => Framework::Mpi,
        _ => Framework::Other,
    };
    Ok(Some(SpotRequest {
        offer: engine_name::name::<OfferId>(instance)?,
        strategy: if *as_price_goes { SpotStrategy::AsPriceGoes } else { SpotStrategy::WithPriceLimit },
        discount_percent: discount.map(percent).transpose()?,
        price_limit: *price,
        framework,
        network: job.network.clone(),
    }))
}

/// Thousandths as percent, which bids are counted in.
fn percent(thousandths: i64) -> Result<i64, Problem> {
    if thousandths % 10 == 0 {
        return Ok(thousandths / 10);
    }
    let message = format!("SpotDiscountLimit is {thousandths} thousandths; it must be 0.1 to 0.9 in steps of 0.1");
    Err(Problem::new(400, "BidDiscountStep", message))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::script;

    #[test]
    fn what_a_job_executes_is_its_command_in_a_shell() {
        let document =
            json!({ "UserCommand": "python train.py", "Envs": { "EPOCHS": "3", "SEED": 7 }, "JobType": "x" });
        let expected = json!({
            "format": 1,
            "command": ["/bin/sh", "-c", "python train.py"],
            "environment": { "EPOCHS": "3", "SEED": "7" },
        });
        assert_eq!(serde_json::Value::Object(script(document.as_object().unwrap())), expected);
    }
}
