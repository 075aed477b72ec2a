//! Inference services (EAS). A service is a document with a job of module EAS for each time that it was started, and
//! with the parts of that job: instances that were asked for later.

mod change;
mod kept;
mod members;

use engine::job::phase::Phase;
use engine::message::command::CancelJob;
use engine::message::command::Command;
use engine::state::jobs::Job;
use engine::unit::amount::DimensionKind;
use engine::unit::sort;
use serde_json::Value;
use serde_json::json;

use crate::calendar;
use crate::operation::page::Direction;
use crate::operation::page::Span;
use crate::operation::service::ListServices;
use crate::operation::service::Service;
use crate::operation::service::ServiceOperation;
use crate::problem::Problem;
use crate::service::amount;
use crate::service::context::Context;
use crate::service::context::contains;
use crate::service::context::is_labelled;
use crate::service::context::paged;
use crate::service::context::word_of;
use crate::service::document::Change;
use crate::service::document::Document;
use crate::service::document::Kind;
use crate::service::inference::kept::CONFIG;
use crate::service::inference::kept::UPDATED;
use crate::service::inference::kept::WORKSPACE;
use crate::service::inference::kept::command;
use crate::service::inference::kept::described;
use crate::service::inference::kept::find;
use crate::service::job;
use crate::service::job::pods;
use crate::service::job::view;
use crate::service::run;

const ID: &str = "ServiceId";
const CREATED: &str = "CreateTime";
const LABELS: &str = "Labels";
/// How many events are told.
const EVENTS_MAX: i64 = 100;

pub(super) fn serve(context: &mut Context, operation: ServiceOperation) -> Result<Value, Problem> {
    match operation {
        ServiceOperation::Create(service) => create(context, &service),
        ServiceOperation::Get { service } => {
            let document = find(context, &service)?;
            told(context, &service, &document)
        }
        ServiceOperation::List(asked) => list(context, &asked),
        ServiceOperation::Update { service, config, is_whole } => {
            change::update(context, &service, config, is_whole)?;
            Ok(done(&service, "updated"))
        }
        ServiceOperation::Stop { service } => {
            let document = find(context, &service)?;
            job::cancel(context, &run::job(&document), &[])?;
            Ok(done(&service, "stopping"))
        }
        ServiceOperation::Start { service } => {
            let document = find(context, &service)?;
            if !context.job(&run::job(&document))?.1.is_ended() {
                let message = format!("service {service} has not stopped; it need not be started");
                return Err(Problem::new(409, "ServiceStatusNotSupported", message));
            }
            start(context, &service, document)?;
            Ok(done(&service, "starting"))
        }
        ServiceOperation::Restart { service } => {
            let document = find(context, &service)?;
            change::replace(context, &service, document)?;
            Ok(done(&service, "restarting"))
        }
        ServiceOperation::Delete { service } => {
            let document = find(context, &service)?;
            delete(context, &service, &document)?;
            Ok(done(&service, "deleted"))
        }
        ServiceOperation::Instances { service, name_parts, statuses, spot, page } => {
            let found = instances(context, &find(context, &service)?)?;
            let is_meant = |instance: &Value| {
                let text = |field: &str| instance[field].as_str().unwrap_or_default();
                name_parts.iter().all(|part| contains(text("InstanceName"), Some(part)))
                    && word_of(&statuses, text("Status"))
                    && spot != Some(true)
            };
            let (number, size) = (page.skip / page.take + 1, page.take);
            let (page, total) = paged(found.into_iter().filter(is_meant).collect(), page);
            Ok(json!({ "Instances": page, "TotalCount": total, "PageNumber": number, "PageSize": size }))
        }
        ServiceOperation::Events { service, span, normal, page } => {
            let found = events(context, &find(context, &service)?, span)?;
            let (number, size) = (page.skip / page.take + 1, page.take);
            let (page, total) = paged(if normal { found } else { Vec::new() }, page);
            let pages = usize::try_from(size).map_or(1, |size| total.div_ceil(size)).max(1);
            Ok(json!({ "TotalCount": total, "Events": page, "PageNum": number, "TotalPageNum": pages }))
        }
    }
}

fn done(service: &str, what: &str) -> Value {
    json!({ "Message": format!("service {service} is {what}"), "ServiceName": service })
}

fn create(context: &mut Context, service: &Service) -> Result<Value, Problem> {
    let id = context.new_id("eas-m-");
    // A service whose last job has been forgotten is none any more.
    if context
        .found(Kind::Service, &service.name)?
        .is_some_and(|known| context.state().is_ok_and(|state| run::is_known(state, &known)))
    {
        let message = format!("there is a service {}; choose another name", service.name);
        return Err(Problem::new(409, "ServiceAlreadyExists", message));
    }
    let mut document = Document::new();
    run::name_after(&mut document, &id);
    document.insert(ID.to_owned(), Value::from(id.as_str()));
    document.insert(CONFIG.to_owned(), Value::Object(service.config.clone()));
    document.insert(WORKSPACE.to_owned(), Value::from(service.workspace.clone()));
    let labels = service.labels.iter().map(|(key, value)| json!({ "Key": key, "Value": value }));
    document.insert(LABELS.to_owned(), labels.collect());
    for field in [CREATED, UPDATED] {
        document.insert(field.to_owned(), Value::from(calendar::written(context.now)));
    }
    start(context, &service.name, document)?;
    let document = find(context, &service.name)?;
    told(context, &service.name, &document)
}

/// Starts another run of what a document describes, and keeps the document with it.
fn start(context: &mut Context, name: &str, mut document: Document) -> Result<(), Problem> {
    let command = command(context, &mut document)?;
    context.send(command, &[Change::put(Kind::Service, name, &document)]).map(drop)
}

fn delete(context: &mut Context, name: &str, document: &Document) -> Result<(), Problem> {
    let change = [Change::drop(Kind::Service, name)];
    let job = run::job(document);
    let (_, before) = context.job(&job)?;
    let cancel = Command::CancelJob(CancelJob { job: before.spec.id.clone() });
    if before.is_ended() {
        context.try_out(cancel)?;
        return context.keep(&change);
    }
    context.send(cancel, &change).map(drop)
}

fn status(job: &Job) -> &'static str {
    match &job.phase {
        Phase::Queued { .. } => "Waiting",
        Phase::Starting { .. } => "Creating",
        Phase::Running { .. } if job.is_unconfirmed() => "Creating",
        Phase::Running { .. } => "Running",
        Phase::Stopping { .. } => "Stopping",
        Phase::Ended { .. } if view::status(job) == "Failed" => "Failed",
        Phase::Ended { .. } => "Stopped",
    }
}

fn told(context: &Context, name: &str, document: &Document) -> Result<Value, Problem> {
    let (state, id) = (context.state()?, run::job(document));
    let (no, job) = context.told(&id)?;
    let service = described(document)?;
    let members = members::of(state, no);
    let (all, running) = (members.instances(), members.running());
    let each = job.spec.shape.extra_amount();
    let (code, message) = match members.waiting() {
        Some((part, waiting)) if part != no => view::reason(context, part, waiting)?,
        Some(_) | None => view::reason(context, no, &job)?,
    };
    let runs = document.get("Run").and_then(Value::as_i64);
    Ok(json!({
        "ServiceName": name,
        "ServiceId": document.get(ID),
        "ServiceUid": id,
        "Status": status(&job),
        "Reason": code,
        "Message": message,
        "QuotaId": service.quota,
        "WorkspaceId": service.workspace,
        "Region": "local",
        "Cpu": amount::whole(state, &each, DimensionKind::Cpu),
        "Gpu": amount::whole(state, &each, DimensionKind::Gpu),
        "Memory": amount::in_units(state, &each, DimensionKind::Memory),
        "TotalInstance": all,
        "RunningInstance": running,
        "PendingInstance": if job.is_ended() { 0 } else { all.saturating_sub(running) },
        "Labels": document.get(LABELS).map(label_list),
        "ServiceConfig": Value::Object(service.config).to_string(),
        "CurrentVersion": runs,
        "LatestVersion": runs,
        "CreateTime": document.get(CREATED).cloned().unwrap_or_else(|| calendar::written(job.submitted).into()),
        "UpdateTime": document.get(UPDATED),
    }))
}

/// The labels as answers write them.
fn label_list(kept: &Value) -> Value {
    let one = |label: &Value| json!({ "LabelKey": label["Key"], "LabelValue": label["Value"] });
    kept.as_array().into_iter().flatten().map(one).collect()
}

fn list(context: &Context, asked: &ListServices) -> Result<Value, Problem> {
    let mut found = Vec::new();
    let is_called = |name: &String| asked.name_parts.iter().all(|part| contains(name, Some(part)));
    for name in context.described(Kind::Service)?.into_iter().filter(is_called) {
        let Ok(document) = find(context, &name) else { continue };
        let service = described(&document)?;
        let (_, job) = context.job(&run::job(&document))?;
        let is_meant = asked.quota.as_ref().is_none_or(|id| service.quota.as_ref() == Some(id))
            && asked.workspace.as_ref().is_none_or(|id| service.workspace.as_ref() == Some(id))
            && asked.run.as_ref().is_none_or(|id| job.spec.id.as_str() == id)
            && word_of(&asked.statuses, status(job))
            && is_labelled(&document, LABELS, &asked.labels);
        if is_meant {
            found.push((job.submitted, name, document));
        }
    }
    if asked.by_creation {
        sort::by_key(&mut found, |(submitted, ..)| *submitted);
    }
    if asked.direction == Direction::Descending {
        found.reverse();
    }
    let (number, size) = (asked.page.skip / asked.page.take + 1, asked.page.take);
    let (page, total) = paged(found, asked.page);
    let one = |(_, name, document): &(_, String, Document)| told(context, name, document);
    let services = page.iter().map(one).collect::<Result<Vec<Value>, Problem>>()?;
    Ok(json!({ "Services": services, "TotalCount": total, "PageNumber": number, "PageSize": size }))
}

fn instances(context: &Context, document: &Document) -> Result<Vec<Value>, Problem> {
    let (no, service) = context.job(&run::job(document))?;
    let (state, now) = (context.state()?, context.now);
    let of_member = |job: &Job| -> Vec<Value> {
        let started = job::times(state, job, now).get("GmtRunningTime").cloned();
        let running = if job.is_unconfirmed() { 0 } else { members::running_of(job) };
        let one = |(at, name): (usize, String)| {
            json!({
                "InstanceName": name,
                "Status": if at < running { "Running" } else { "Pending" },
                "StartTime": started,
                "RestartCount": job.progress.evictions,
                "IsSpot": false,
            })
        };
        pods::names(job, &Document::new()).enumerate().map(one).collect()
    };
    let members = members::of(context.state()?, no);
    Ok(members.jobs().filter(|_| !service.is_ended()).flat_map(of_member).collect())
}

fn events(context: &Context, document: &Document, span: Span) -> Result<Vec<Value>, Problem> {
    let id = context.job(&run::job(document))?.1.spec.id.clone();
    let lines = job::told(context, &id, span, EVENTS_MAX)?;
    let one = |line: &String| {
        let (time, message) = line.split_once(' ').unwrap_or_default();
        json!({ "Time": time, "Type": "Normal", "Reason": "Scheduling", "Message": message })
    };
    Ok(lines.iter().map(one).collect())
}
