//! Training jobs of the high-level SDK. Each is a job whose document has the request beside what DLC tells.

use engine::state::world::State;
use engine::unit::id::OfferId;
use engine::unit::resource::ResourceType;
use serde_json::Value;
use serde_json::json;

use crate::operation::submission::CreateJob;
use crate::operation::submission::PodNeed;
use crate::operation::training::SENT;
use crate::operation::training::STATUSES;
use crate::operation::training::TrainingOperation;
use crate::problem::Problem;
use crate::service::context::Context;
use crate::service::context::is_labelled;
use crate::service::context::not_found;
use crate::service::context::paged;
use crate::service::document::Document;
use crate::service::document::Kind;
use crate::service::job;
use crate::service::job::history;
use crate::service::job::list;
use crate::service::job::pods;
use crate::service::job::submit;
use crate::service::job::view;
use crate::service::named::named;

/// How the names of training jobs begin.
const PREFIX: &str = "train";

pub(crate) fn serve(context: &mut Context, operation: TrainingOperation) -> Result<Value, Problem> {
    match operation {
        TrainingOperation::Create { job, machines } => create(context, &job, machines),
        TrainingOperation::Get { job } => get(context, &job),
        TrainingOperation::List { jobs, labels } => {
            let mut found = Vec::new();
            for job in list::found(context, &jobs)? {
                let document = context.document(Kind::Job, job.spec.id.as_str())?;
                if sent(&document).is_some_and(|sent| is_labelled(sent, "Labels", &labels)) {
                    found.push(job.spec.id.as_str().to_owned());
                }
            }
            let (page, total) = paged(found, jobs.page);
            let told = page.iter().map(|name| get(context, name)).collect::<Result<Vec<Value>, Problem>>()?;
            Ok(json!({ "TrainingJobs": told, "TotalCount": total }))
        }
        TrainingOperation::Stop { job } => {
            check(context, &job)?;
            job::cancel(context, &job, &[])?;
            Ok(json!({ "TrainingJobId": job }))
        }
        TrainingOperation::Delete { job } => {
            check(context, &job)?;
            job::delete(context, &job)?;
            Ok(json!({ "TrainingJobId": job }))
        }
        TrainingOperation::Events { job: name, span, page } => {
            check(context, &name)?;
            let (_, job) = context.job(&name)?;
            let (events, total) = paged(job::told(context, &job.spec.id, span, i64::MAX)?, page);
            Ok(json!({ "Events": events, "TotalCount": total }))
        }
    }
}

fn create(context: &mut Context, job: &CreateJob, machines: Option<ResourceType>) -> Result<Value, Problem> {
    if let Some(stated) = machines
        && let Some((of, known)) = machines_of(context, job)?
        && stated != known
    {
        let word = |kind| if kind == ResourceType::Lingjun { "Lingjun" } else { "General" };
        let message = format!("ResourceType is {:?}; the machines of {of} are {}", word(stated), word(known));
        return Err(Problem::new(400, "InvalidParameter", message));
    }
    let name = submit::create(context, job, PREFIX)?;
    Ok(json!({ "TrainingJobId": name }))
}

/// What says of which kind the machines of a job are, and the kind.
fn machines_of(context: &Context, job: &CreateJob) -> Result<Option<(String, ResourceType)>, Problem> {
    let state = context.state()?;
    if let Some(quota) = &job.quota {
        let kind = view::kind_of_quota(state, context.quota(quota)?);
        return Ok(Some((format!("quota {quota}"), kind)));
    }
    Ok(job.roles.iter().find_map(|role| match &role.need {
        PodNeed::Instance(instance) => Some((instance.clone(), kind_of_offer(state, instance)?)),
        PodNeed::Amounts { .. } => None,
    }))
}

fn kind_of_offer(state: &State, name: &str) -> Option<ResourceType> {
    let no = OfferId::new(name).ok().and_then(|id| state.market.offer_no(&id))?;
    Some(state.market.offers[no.at()].resource_type)
}

/// The request of which a job was made, if it is a training job.
fn sent(document: &Document) -> Option<&Document> {
    document.get(SENT).and_then(Value::as_object)
}

/// Jobs that were submitted otherwise are no training jobs.
fn check(context: &Context, name: &str) -> Result<Document, Problem> {
    let unknown = || not_found("TrainingJob", "training job", name);
    context.job(name).map_err(|problem| if problem.status == 404 { unknown() } else { problem })?;
    let document = context.document(Kind::Job, name)?;
    if sent(&document).is_some() { Ok(document) } else { Err(unknown()) }
}

fn get(context: &Context, name: &str) -> Result<Value, Problem> {
    let document = check(context, name)?;
    let (no, job) = context.told(name)?;
    let state = context.state()?;
    let stretches = history::stretches(context.state()?, &job);
    let (code, message) = view::reason(context, no, &job)?;
    let transition = |stretch: &history::Stretch| {
        let mut told = history::written(std::slice::from_ref(stretch))[0].take();
        told["Status"] = Value::from(status(stretch.status));
        told["ReasonMessage"] = Value::from(named(context, &stretch.message)?);
        Ok(told)
    };
    let transitions = stretches.iter().map(transition).collect::<Result<Vec<Value>, Problem>>()?;
    let pods = pods::list(state, &job, &document, &stretches);
    let instance = |pod: &Value| json!({ "Name": pod["PodId"], "Role": pod["Type"], "Status": pod["Status"] });
    let mut fields = sent(&document).cloned().unwrap_or_default();
    let engine = json!({
        "TrainingJobId": name,
        "TrainingJobName": job.spec.name.as_deref().unwrap_or(name),
        "Status": status(history::status(&job)),
        "ReasonCode": code,
        "ReasonMessage": message,
        "IsTempAlgo": true,
        "WorkspaceId": job.spec.workspace.as_ref().map(engine::unit::id::WorkspaceId::as_str),
        "UserId": job.spec.user.as_ref().map(engine::unit::id::UserId::as_str),
        "StatusTransitions": transitions,
        "Instances": pods.as_array().into_iter().flatten().map(instance).collect::<Vec<_>>(),
    });
    let times = history::times(context.state()?, &job, context.now);
    let shared = ["GmtCreateTime", "GmtModifiedTime", "Duration"];
    fields.extend(times.into_iter().filter(|(name, _)| shared.contains(&name.as_str())));
    fields.extend(engine.as_object().cloned().into_iter().flatten());
    Ok(Value::Object(fields))
}

/// What a training job is called whose job is called that.
fn status(of_job: &str) -> &'static str {
    STATUSES.iter().find(|(_, jobs)| jobs.contains(&of_job)).map_or("Submitted", |(name, _)| name)
}
