//! Jobs of services and instances: what is stopped and started again is a new job of the same name with a number.

use engine::message::command::Command;
use engine::message::command::PodGroup;
use engine::message::command::SubmitJob;
use engine::state::world::State;
use engine::unit::id::JobId;
use engine::unit::priority::Module;
use serde_json::Value;

use crate::operation::nodes::AssignNodes;
use crate::operation::submission::PodNeed;
use crate::problem::Problem;
use crate::service::amount;
use crate::service::context::Context;
use crate::service::document::Document;
use crate::service::engine_name;
use crate::service::fallback;

/// Which run of a thing is the last.
const RUN: &str = "Run";
/// The name that the jobs of its runs begin with.
const THING: &str = "Thing";

/// What a service or an instance asks the engine for.
pub(crate) struct Wanted<'a> {
    pub(crate) module: Module,
    pub(crate) shown: &'a str,
    pub(crate) workspace: Option<&'a str>,
    pub(crate) quota: Option<&'a str>,
    pub(crate) priority: engine::unit::priority::Priority,
    pub(crate) idle: engine::job::spec::IdlePolicy,
    pub(crate) count: u32,
    pub(crate) need: &'a PodNeed,
    pub(crate) nodes: &'a AssignNodes,
}

/// The command for another run of a thing, which the document notes.
pub(crate) fn another(context: &Context, wanted: &Wanted, document: &mut Document) -> Result<Command, Problem> {
    let Some(quota_name) = wanted.quota else {
        let message = "there are no public resources here; name a quota";
        return Err(Problem::new(400, "UnsupportedResource", message));
    };
    let run = document.get(RUN).and_then(Value::as_i64).unwrap_or(0) + 1;
    document.insert(RUN.to_owned(), Value::from(run));
    let no = context.quota(quota_name)?;
    let amount = amount::of_pod(context.state()?, wanted.need, Some(no))?;
    Ok(Command::SubmitJob(SubmitJob {
        quota: Some(engine_name::quota(quota_name)?),
        workspace: fallback::workspace_or_default(context, wanted.workspace)?,
        user: Some(context.sender.user.clone()),
        name: Some(wanted.shown.into()),
        module: wanted.module,
        priority: wanted.priority,
        idle: wanted.idle,
        nodes: amount::chosen_nodes(context.state()?, [wanted.need], wanted.nodes)?,
        ..SubmitJob::new(engine_name::name::<JobId>(&job(document))?, vec![PodGroup { count: wanted.count, amount }])
    }))
}

/// Notes what the jobs of a thing are named after.
pub(crate) fn name_after(document: &mut Document, thing: &str) {
    document.insert(THING.to_owned(), Value::from(thing));
}

/// The name of the job of the last run.
pub(crate) fn job(document: &Document) -> String {
    let thing = document.get(THING).and_then(Value::as_str).unwrap_or_default();
    match document.get(RUN).and_then(Value::as_i64) {
        Some(run) if run > 1 => format!("{thing}.{run}"),
        Some(_) | None => thing.to_owned(),
    }
}

/// Whether the engine still knows the job of the last run: a thing without it is none any more.
pub(crate) fn is_known(state: &State, document: &Document) -> bool {
    JobId::new(&job(document)).is_ok_and(|id| state.jobs.find(&id).is_some())
}
