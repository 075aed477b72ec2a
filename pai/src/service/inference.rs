//! Inference services (EAS). A service is a document with a job of module EAS for each time that it was started.

use engine::job::phase::Phase;
use engine::message::command::CancelJob;
use engine::message::command::Command;
use engine::state::jobs::Job;
use engine::unit::amount::DimensionKind;
use engine::unit::priority::Module;
use engine::unit::sort;
use serde_json::Value;
use serde_json::json;

use crate::calendar;
use crate::operation::nodes::AssignNodes;
use crate::operation::page::Direction;
use crate::operation::page::Span;
use crate::operation::service::ListServices;
use crate::operation::service::Service;
use crate::operation::service::ServiceOperation;
use crate::problem::Problem;
use crate::service::amount;
use crate::service::document::Change;
use crate::service::document::Document;
use crate::service::document::Kind;
use crate::service::job;
use crate::service::job::pods;
use crate::service::job::view;
use crate::service::run;
use crate::service::run::Wanted;
use crate::service::visit::Visit;
use crate::service::visit::contains;
use crate::service::visit::is_labelled;
use crate::service::visit::not_found;
use crate::service::visit::paged;
use crate::service::visit::word_of;

/// The field of the document that holds the description.
const CONFIG: &str = "Config";
const ID: &str = "ServiceId";
const UPDATED: &str = "UpdateTime";
const WORKSPACE: &str = "WorkspaceId";
const LABELS: &str = "Labels";
/// How many events are told.
const EVENTS_MAX: i64 = 100;

pub(super) fn serve(visit: &mut Visit, operation: ServiceOperation) -> Result<Value, Problem> {
    match operation {
        ServiceOperation::Create(service) => create(visit, &service),
        ServiceOperation::Get { service } => {
            let document = find(visit, &service)?;
            told(visit, &service, &document)
        }
        ServiceOperation::List(asked) => list(visit, &asked),
        ServiceOperation::Update { service, config, is_whole } => update(visit, &service, config, is_whole),
        ServiceOperation::Stop { service } => {
            let document = find(visit, &service)?;
            job::cancel(visit, &run::job(&document), &[])?;
            Ok(done(&service, "stopping"))
        }
        ServiceOperation::Start { service } => {
            let document = find(visit, &service)?;
            if !visit.job(&run::job(&document))?.1.is_ended() {
                let message = format!("service {service} has not stopped; it need not be started");
                return Err(Problem::new(409, "ServiceStatusNotSupported", message));
            }
            start(visit, &service, document)?;
            Ok(done(&service, "starting"))
        }
        ServiceOperation::Restart { service } => {
            let document = find(visit, &service)?;
            replace(visit, &service, document)?;
            Ok(done(&service, "restarting"))
        }
        ServiceOperation::Delete { service } => {
            let document = find(visit, &service)?;
            delete(visit, &service, &document)?;
            Ok(done(&service, "deleted"))
        }
        ServiceOperation::Instances { service, name_parts, statuses, spot, page } => {
            let found = instances(visit, &find(visit, &service)?)?;
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
            let found = events(visit, &find(visit, &service)?, span)?;
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

/// A service that the sender may see: its job is one that they may see.
fn find(visit: &Visit, name: &str) -> Result<Document, Problem> {
    let unknown = || not_found("Service", "service", name);
    let document = visit.found(Kind::Service, name)?.ok_or_else(unknown)?;
    visit.job(&run::job(&document)).map_err(|_| unknown())?;
    Ok(document)
}

fn create(visit: &mut Visit, service: &Service) -> Result<Value, Problem> {
    let id = visit.new_id("eas-m-");
    // A service whose last job has been forgotten is none any more.
    if visit
        .found(Kind::Service, &service.name)?
        .is_some_and(|known| visit.state().is_ok_and(|state| run::is_known(state, &known)))
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
    document.insert(UPDATED.to_owned(), Value::from(calendar::written(visit.now)));
    start(visit, &service.name, document)?;
    let document = find(visit, &service.name)?;
    told(visit, &service.name, &document)
}

/// Starts another run of what a document describes, and keeps the document with it.
fn start(visit: &mut Visit, name: &str, mut document: Document) -> Result<(), Problem> {
    let command = command(visit, &mut document)?;
    visit.send(command, &[Change::put(Kind::Service, name, &document)]).map(drop)
}

fn command(visit: &Visit, document: &mut Document) -> Result<Command, Problem> {
    let service = described(document)?;
    let wanted = Wanted {
        module: Module::Eas,
        shown: &service.name,
        workspace: service.workspace.as_deref(),
        quota: service.quota.as_deref(),
        priority: service.priority,
        idle: service.idle,
        count: service.count,
        need: &service.need,
        nodes: &AssignNodes::default(),
    };
    run::another(visit, &wanted, document)
}

fn described(document: &Document) -> Result<Service, Problem> {
    let config = document.get(CONFIG).and_then(Value::as_object).cloned().unwrap_or_default();
    let workspace = document.get(WORKSPACE).and_then(Value::as_str).map(str::to_owned);
    Ok(Service::read(&config, workspace)?)
}

/// Another run in the place of the one that there is: nobody takes what is between them.
fn replace(visit: &mut Visit, name: &str, mut document: Document) -> Result<(), Problem> {
    let (_, before) = visit.job(&run::job(&document))?;
    let stop = (!before.is_ended()).then(|| Command::CancelJob(CancelJob { job: before.spec.id.clone() }));
    let next = command(visit, &mut document)?;
    let commands = stop.into_iter().chain([next]).collect();
    visit.send_all(commands, &[Change::put(Kind::Service, name, &document)])
}

/// What concerns scheduling makes another run; everything else is only noted.
fn update(visit: &mut Visit, name: &str, config: Document, is_whole: bool) -> Result<Value, Problem> {
    let mut document = find(visit, name)?;
    let before = described(&document)?;
    let mut after = if is_whole { Document::new() } else { before.config.clone() };
    merge(&mut after, config);
    document.insert(CONFIG.to_owned(), Value::Object(after));
    document.insert(UPDATED.to_owned(), Value::from(calendar::written(visit.now)));
    let now = described(&document)?;
    if now.name != name {
        let message = format!("the name is {:?}; a service keeps its name, {name}", now.name);
        return Err(Problem::new(400, "InvalidParameter", message));
    }
    let schedules = |service: &Service| Service { config: Document::new(), ..service.clone() };
    let is_stopped = visit.job(&run::job(&document))?.1.is_ended();
    if schedules(&before) == schedules(&now) || is_stopped {
        let job = visit.job(&run::job(&document))?.1.spec.id.clone();
        // Who may stop a service may describe it anew.
        visit.try_out(Command::CancelJob(CancelJob { job }))?;
        visit.keep(&[Change::put(Kind::Service, name, &document)])?;
    } else {
        replace(visit, name, document)?;
    }
    Ok(done(name, "updated"))
}

/// Objects are merged field by field; everything else is replaced.
fn merge(into: &mut Document, from: Document) {
    for (field, value) in from {
        match (into.get_mut(&field), value) {
            (Some(Value::Object(kept)), Value::Object(sent)) => merge(kept, sent),
            (_, value) => drop(into.insert(field, value)),
        }
    }
}

fn delete(visit: &mut Visit, name: &str, document: &Document) -> Result<(), Problem> {
    let change = [Change::drop(Kind::Service, name)];
    let job = run::job(document);
    let (_, before) = visit.job(&job)?;
    let cancel = Command::CancelJob(CancelJob { job: before.spec.id.clone() });
    if before.is_ended() {
        visit.try_out(cancel)?;
        return visit.keep(&change);
    }
    visit.send(cancel, &change).map(drop)
}

fn status(job: &Job) -> &'static str {
    match &job.phase {
        Phase::Queued { .. } => "Waiting",
        Phase::Starting { .. } => "Creating",
        Phase::Running { .. } => "Running",
        Phase::Stopping { .. } => "Stopping",
        Phase::Ended { .. } if view::status(job) == "Failed" => "Failed",
        Phase::Ended { .. } => "Stopped",
    }
}

fn told(visit: &Visit, name: &str, document: &Document) -> Result<Value, Problem> {
    let (state, id) = (visit.state()?, run::job(document));
    let (no, job) = visit.told(&id)?;
    let service = described(document)?;
    let pods = job.spec.shape.roles().iter().map(|role| role.count).sum::<u32>();
    let running = if job.is_running() { pods } else { 0 };
    let each = job.spec.shape.extra_amount();
    let (code, message) = view::reason(visit, no, &job)?;
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
        "TotalInstance": pods,
        "RunningInstance": running,
        "PendingInstance": if job.is_ended() { 0 } else { pods - running },
        "Labels": document.get(LABELS).map(label_list),
        "ServiceConfig": Value::Object(service.config).to_string(),
        "CurrentVersion": runs,
        "LatestVersion": runs,
        "CreateTime": calendar::written(job.submitted),
        "UpdateTime": document.get(UPDATED),
    }))
}

/// The labels as answers write them.
fn label_list(kept: &Value) -> Value {
    let one = |label: &Value| json!({ "LabelKey": label["Key"], "LabelValue": label["Value"] });
    kept.as_array().into_iter().flatten().map(one).collect()
}

fn list(visit: &Visit, asked: &ListServices) -> Result<Value, Problem> {
    let mut found = Vec::new();
    let is_called = |name: &String| asked.name_parts.iter().all(|part| contains(name, Some(part)));
    for name in visit.described(Kind::Service)?.into_iter().filter(is_called) {
        let Ok(document) = find(visit, &name) else { continue };
        let service = described(&document)?;
        let (_, job) = visit.job(&run::job(&document))?;
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
    let one = |(_, name, document): &(_, String, Document)| told(visit, name, document);
    let services = page.iter().map(one).collect::<Result<Vec<Value>, Problem>>()?;
    Ok(json!({ "Services": services, "TotalCount": total, "PageNumber": number, "PageSize": size }))
}

fn instances(visit: &Visit, document: &Document) -> Result<Vec<Value>, Problem> {
    let (_, job) = visit.job(&run::job(document))?;
    let status = if job.is_running() { "Running" } else { "Pending" };
    let started = job::times(job, visit.now).get("GmtRunningTime").cloned();
    let one = |name: String| {
        json!({
            "InstanceName": name,
            "Status": status,
            "StartTime": started,
            "RestartCount": job.progress.evictions,
            "IsSpot": false,
        })
    };
    let none = Document::new();
    Ok(pods::names(job, &none).filter(|_| !job.is_ended()).map(one).collect())
}

fn events(visit: &Visit, document: &Document, span: Span) -> Result<Vec<Value>, Problem> {
    let id = visit.job(&run::job(document))?.1.spec.id.clone();
    let lines = job::told(visit, &id, span, EVENTS_MAX)?;
    let one = |line: &String| {
        let (time, message) = line.split_once(' ').unwrap_or_default();
        json!({ "Time": time, "Type": "Normal", "Reason": "Scheduling", "Message": message })
    };
    Ok(lines.iter().map(one).collect())
}
