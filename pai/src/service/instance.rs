//! Development instances (DSW). An instance is a document with a job of module DSW for each time that it was started.

use engine::job::phase::Phase;
use engine::message::command::CancelJob;
use engine::message::command::Command;
use engine::message::command::SetPriority;
use engine::state::jobs::Job;
use engine::unit::priority::Module;
use engine::unit::priority::Priority;
use engine::unit::sort;
use serde_json::Value;
use serde_json::json;

use crate::calendar;
use crate::operation::instance::Instance;
use crate::operation::instance::InstanceOperation;
use crate::operation::instance::InstanceOrder;
use crate::operation::instance::ListInstances;
use crate::operation::page::Direction;
use crate::operation::sent::dsw;
use crate::problem::Problem;
use crate::service::context::Context;
use crate::service::context::contains;
use crate::service::context::is_labelled;
use crate::service::context::not_found;
use crate::service::context::paged;
use crate::service::context::word_of;
use crate::service::document;
use crate::service::document::Change;
use crate::service::document::Document;
use crate::service::document::Kind;
use crate::service::job;
use crate::service::job::list::is_idle;
use crate::service::job::view;
use crate::service::named::quota_name;
use crate::service::run;
use crate::service::run::Wanted;
use crate::service::workspace;

const CREATED: &str = "GmtCreateTime";
const MODIFIED: &str = "GmtModifiedTime";

pub(super) fn serve(context: &mut Context, operation: InstanceOperation) -> Result<Value, Problem> {
    let mut answer = answer(context, operation)?;
    // This product repeats in its bodies what the status says.
    answer["Success"] = Value::from(true);
    answer["Code"] = Value::from("null");
    answer["Message"] = Value::from("");
    answer["HttpStatusCode"] = Value::from(200);
    Ok(answer)
}

fn answer(context: &mut Context, operation: InstanceOperation) -> Result<Value, Problem> {
    match operation {
        InstanceOperation::Create(instance) => create(context, &instance),
        InstanceOperation::Get { instance } => {
            let document = find(context, &instance)?;
            told(context, &instance, &document)
        }
        InstanceOperation::List(asked) => list(context, &asked),
        InstanceOperation::Update { instance, priority, changes } => update(context, &instance, priority, changes),
        InstanceOperation::Start { instance } => start(context, &instance),
        InstanceOperation::Stop { instance } => {
            let document = find(context, &instance)?;
            job::cancel(context, &run::job(&document), &[])?;
            Ok(json!({ "InstanceId": instance }))
        }
        InstanceOperation::Delete { instance } => delete(context, &instance),
        InstanceOperation::Events { instance, span, count } => {
            let document = find(context, &instance)?;
            let id = context.job(&run::job(&document))?.1.spec.id.clone();
            let events = job::told(context, &id, span, count)?;
            Ok(json!({ "InstanceId": instance, "Events": events }))
        }
    }
}

/// An instance that the sender may see: its job is one that they may see.
fn find(context: &Context, id: &str) -> Result<Document, Problem> {
    let unknown = || not_found("Instance", "instance", id);
    let document = context.found(Kind::Instance, id)?.ok_or_else(unknown)?;
    context.job(&run::job(&document)).map_err(|_| unknown())?;
    Ok(document)
}

fn create(context: &mut Context, instance: &Instance) -> Result<Value, Problem> {
    let id = context.new_id("dsw-");
    let mut document = document::kept_all(&instance.document);
    run::name_after(&mut document, &id);
    for time in [CREATED, MODIFIED] {
        document.insert(time.to_owned(), Value::from(calendar::written(context.now)));
    }
    let command = command(context, instance, &mut document)?;
    context.send(command, &[Change::put(Kind::Instance, &id, &document)])?;
    Ok(json!({ "InstanceId": id }))
}

fn command(context: &Context, instance: &Instance, document: &mut Document) -> Result<Command, Problem> {
    let wanted = Wanted {
        module: Module::Dsw,
        shown: &instance.name,
        workspace: instance.workspace.as_deref(),
        quota: instance.quota.as_deref(),
        priority: instance.priority,
        idle: instance.idle,
        count: 1,
        need: &instance.need,
        nodes: &instance.nodes,
    };
    run::another(context, &wanted, document)
}

fn start(context: &mut Context, id: &str) -> Result<Value, Problem> {
    let mut document = find(context, id)?;
    if !context.job(&run::job(&document))?.1.is_ended() {
        let message = format!("instance {id} has not stopped; it need not be started");
        return Err(Problem::new(409, "InstanceStatusNotSupported", message));
    }
    let instance = Instance::read(&document)?;
    let command = command(context, &instance, &mut document)?;
    context.send(command, &[Change::put(Kind::Instance, id, &document)])?;
    Ok(json!({ "InstanceId": id }))
}

fn update(context: &mut Context, id: &str, priority: Option<Priority>, changes: Document) -> Result<Value, Problem> {
    let mut document = find(context, id)?;
    document.extend(changes);
    Instance::read(&document)?;
    document.insert(MODIFIED.to_owned(), Value::from(calendar::written(context.now)));
    let change = [Change::put(Kind::Instance, id, &document)];
    let (_, job) = context.job(&run::job(&document))?;
    let name = job.spec.id.clone();
    if job.is_ended() {
        // What is stopped takes its priority with the next start. Who may stop an instance may change it.
        context.try_out(Command::CancelJob(CancelJob { job: name }))?;
        context.keep(&change)?;
    } else {
        let priority = priority.unwrap_or(job.spec.priority);
        context.send(Command::SetPriority(SetPriority { job: name, priority }), &change)?;
    }
    Ok(json!({ "InstanceId": id }))
}

fn delete(context: &mut Context, id: &str) -> Result<Value, Problem> {
    let document = find(context, id)?;
    let change = [Change::drop(Kind::Instance, id)];
    let (_, job) = context.job(&run::job(&document))?;
    let cancel = Command::CancelJob(CancelJob { job: job.spec.id.clone() });
    if job.is_ended() {
        context.try_out(cancel)?;
        context.keep(&change)?;
    } else {
        context.send(cancel, &change)?;
    }
    Ok(json!({ "InstanceId": id }))
}

fn status(job: &Job) -> &'static str {
    match &job.phase {
        Phase::Queued { .. } => "Queuing",
        Phase::Starting { .. } => "ResourceAllocating",
        Phase::Running { .. } if job.is_unconfirmed() => "EnvPreparing",
        Phase::Running { .. } => "Running",
        Phase::Stopping { .. } => "Stopping",
        Phase::Ended { .. } if view::status(job) == "Failed" => "Failed",
        Phase::Ended { .. } => "Stopped",
    }
}

fn told(context: &Context, id: &str, document: &Document) -> Result<Value, Problem> {
    let (no, job) = context.told(&run::job(document))?;
    let (code, message) = view::reason(context, no, &job)?;
    let quota_name = quota_name(context, &context.state()?.quotas[job.spec.quota.at()])?;
    let of = job.spec.workspace.as_ref();
    let workspace_name = of.map(|id| workspace::shown_name(context, id)).transpose()?;
    let seconds =
        job::times(context.state()?, &job, context.now).get("Duration").and_then(Value::as_i64).unwrap_or_default();
    let mut fields = document.clone();
    // What is noted of its runs is nobody's field.
    fields.retain(|name, _| dsw::CREATE.iter().any(|field| field.name == name));
    let told = json!({
        "InstanceId": id,
        "Status": status(&job),
        "ReasonCode": code,
        "ReasonMessage": message,
        "Priority": job.spec.priority.get(),
        "UserId": job.spec.user.as_ref().map(engine::unit::id::UserId::as_str),
        "WorkspaceId": job.spec.workspace.as_ref().map(engine::unit::id::WorkspaceId::as_str),
        "ResourceName": quota_name,
        "WorkspaceName": workspace_name,
        "UserName": job.spec.user.as_ref().map(engine::unit::id::UserId::as_str),
        "UseOversoldResource": view::runs_idle(&job),
        "AccumulatedRunningTimeInMs": seconds * 1000,
        CREATED: document.get(CREATED),
        MODIFIED: document.get(MODIFIED),
    });
    if let Value::Object(told) = told {
        fields.extend(told);
    }
    Ok(Value::Object(fields))
}

fn text<'d>(document: &'d Document, field: &str) -> &'d str {
    document.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn list(context: &Context, asked: &ListInstances) -> Result<Value, Problem> {
    let state = context.state()?;
    let mut found = Vec::new();
    for id in context.described(Kind::Instance)? {
        let Ok(document) = find(context, &id) else { continue };
        let instance = Instance::read(&document)?;
        let (_, job) = context.job(&run::job(&document))?;
        let workspace = job.spec.workspace.as_ref().map(engine::unit::id::WorkspaceId::as_str);
        let is_meant = asked.workspace.as_ref().is_none_or(|id| workspace == Some(id))
            && asked.quota.as_ref().is_none_or(|id| instance.quota.as_ref() == Some(id))
            && contains(&instance.name, asked.name_part.as_deref())
            && asked.in_quota
            && asked.instance.as_ref().is_none_or(|wanted| *wanted == id)
            && asked.user.as_ref().is_none_or(|name| job.spec.user.as_ref().is_some_and(|of| of.as_str() == name))
            && word_of(&asked.statuses, status(job))
            && asked.idle.iter().all(|(idle, runs)| is_idle(job, *idle, *runs))
            && asked.accelerated.is_none_or(|wanted| (state.cluster.gpus(&view::all_pods(job)) > 0) == wanted)
            && asked
                .accessibility
                .as_ref()
                .is_none_or(|wanted| text(&document, "Accessibility").eq_ignore_ascii_case(wanted))
            && is_labelled(&document, "Labels", &asked.labels)
            && is_labelled(&document, "Tag", &asked.tags)
            && (asked.created.is_open()
                || calendar::read(text(&document, CREATED)).is_some_and(|at| asked.created.has(at)));
        if is_meant {
            let key = match asked.sort {
                InstanceOrder::Priority => (job.spec.priority, CREATED),
                InstanceOrder::Created => (Priority::LOWEST, CREATED),
                InstanceOrder::Modified => (Priority::LOWEST, MODIFIED),
            };
            found.push(((key.0, text(&document, key.1).to_owned()), id, document));
        }
    }
    sort::by(&mut found, |(a, ..), (b, ..)| a.cmp(b));
    if asked.direction == Direction::Descending {
        found.reverse();
    }
    let (page, total) = paged(found, asked.page);
    let one = |(_, id, document): &(_, String, Document)| told(context, id, document);
    let instances = page.iter().map(one).collect::<Result<Vec<Value>, Problem>>()?;
    Ok(json!({ "Instances": instances, "TotalCount": total }))
}
