//! Operations of inference services (EAS): jobs that do not end by themselves.

use engine::job::spec::IdlePolicy;
use engine::unit::limit;
use engine::unit::priority::Priority;
use serde_json::Map;
use serde_json::Value;

use crate::operation::Arguments;
use crate::operation::Operation;
use crate::operation::fields::Fields;
use crate::operation::job::priority;
use crate::operation::misfit::Misfit;
use crate::operation::page::Page;
use crate::operation::quantity;
use crate::operation::submission::IDLE_POLICIES;
use crate::operation::submission::PodNeed;

/// How many services a page has if nothing is asked for.
const PAGE_SIZE: i64 = 100;

/// An operation of services.
#[derive(Clone, Debug, PartialEq)]
pub enum ServiceOperation {
    /// Add a service.
    Create(Box<Service>),
    /// Tell of a service.
    Get {
        /// The service.
        service: String,
    },
    /// Tell of many.
    List {
        /// In this quota.
        quota: Option<String>,
        /// Of this workspace.
        workspace: Option<String>,
        /// With this in their names.
        name_part: Option<String>,
        /// In this status.
        status: Option<String>,
        /// Which part of the list.
        page: Page,
    },
    /// Change a service: its description is merged with this one, or replaced by it.
    Update {
        /// The service.
        service: String,
        /// What is sent.
        config: Map<String, Value>,
        /// Whether it replaces what was there.
        is_whole: bool,
    },
    /// Stop a service.
    Stop {
        /// The service.
        service: String,
    },
    /// Start a stopped one.
    Start {
        /// The service.
        service: String,
    },
    /// Stop it and start it.
    Restart {
        /// The service.
        service: String,
    },
    /// Forget a service.
    Delete {
        /// The service.
        service: String,
    },
    /// Tell of its instances.
    Instances {
        /// The service.
        service: String,
    },
    /// Tell what has happened to it.
    Events {
        /// The service.
        service: String,
    },
}

/// A service.
#[derive(Clone, Debug, PartialEq)]
pub struct Service {
    /// Its name, which no other has.
    pub name: String,
    /// The workspace.
    pub workspace: Option<String>,
    /// The quota.
    pub quota: Option<String>,
    /// Its priority.
    pub priority: Priority,
    /// Its use of idle amounts.
    pub idle: IdlePolicy,
    /// How many instances.
    pub count: u32,
    /// What each of them needs.
    pub need: PodNeed,
    /// Its description as it was sent.
    pub config: Map<String, Value>,
}

impl Service {
    /// The service that a description describes.
    pub fn read(config: &Map<String, Value>, workspace: Option<String>) -> Result<Self, Misfit> {
        let config_fields = Fields::new("", config);
        let metadata = config_fields.inside("metadata")?.ok_or_else(|| config_fields.missing("metadata"))?;
        let options = config_fields.inside("options")?;
        let count = metadata.number("instance", 1, i64::from(limit::PODS_MAX))?.unwrap_or(1);
        let gpu_type = metadata.name("gpu_type")?;
        let gpus = thousandths(&metadata, "gpu")?;
        let cpus = thousandths(&metadata, "cpu")?;
        let memory = metadata.number("memory", 0, limit::AMOUNT_MAX)?.unwrap_or(0);
        Ok(Self {
            name: name(&config_fields, &metadata)?,
            workspace: workspace.or(metadata.name("workspace_id")?),
            quota: metadata.name("quota_id")?,
            priority: options.as_ref().map_or(Ok(None), |options| priority(options, "priority"))?.unwrap_or_default(),
            idle: options
                .map_or(Ok(None), |options| options.one_of("quota_oversold", &IDLE_POLICIES))?
                .unwrap_or_default(),
            count: u32::try_from(count).unwrap_or(limit::PODS_MAX),
            need: PodNeed::Amounts { gpus, gpu_type, cpus, memory },
            config: config.clone(),
        })
    }
}

/// The name of a service stands at the root of its description, or in the metadata.
fn name(config: &Fields, metadata: &Fields) -> Result<String, Misfit> {
    const FIELD: &str = "name";
    match (config.name(FIELD)?, metadata.name(FIELD)?) {
        (Some(at_root), Some(inside)) if at_root != inside => {
            Err(metadata.invalid_text(FIELD, &inside, &format!("{at_root:?}, like the name at the root")))
        }
        (Some(name), _) | (None, Some(name)) => Ok(name),
        (None, None) => Err(metadata.missing(FIELD)),
    }
}

/// A number that may have a fraction, in thousandths.
fn thousandths(fields: &Fields, name: &str) -> Result<i64, Misfit> {
    let Some(value) = fields.value(name) else { return Ok(0) };
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let units = quantity::thousandths(&text).filter(|units| *units <= limit::AMOUNT_MAX);
    units.ok_or_else(|| fields.invalid(name, value, "a number such as 8 or 0.5"))
}

pub(super) fn create(arguments: &Arguments) -> Result<Operation, Misfit> {
    let workspace = arguments.query().name("WorkspaceId")?;
    let service = Service::read(arguments.body().object(), workspace)?;
    Ok(Operation::Service(ServiceOperation::Create(Box::new(service))))
}

pub(super) fn get(arguments: &Arguments) -> Result<Operation, Misfit> {
    Ok(Operation::Service(ServiceOperation::Get { service: service(arguments)? }))
}

pub(super) fn list(arguments: &Arguments) -> Result<Operation, Misfit> {
    let query = arguments.query();
    Ok(Operation::Service(ServiceOperation::List {
        quota: query.name("QuotaId")?,
        workspace: query.name("WorkspaceId")?,
        name_part: query.name("ServiceName")?.or(query.name("Filter")?),
        status: query.name("ServiceStatus")?,
        page: Page::read(&query, PAGE_SIZE)?,
    }))
}

pub(super) fn update(arguments: &Arguments) -> Result<Operation, Misfit> {
    let kinds = [("merge", false), ("replace", true)];
    Ok(Operation::Service(ServiceOperation::Update {
        service: service(arguments)?,
        config: arguments.body().object().clone(),
        is_whole: arguments.query().one_of("UpdateType", &kinds)?.unwrap_or(false),
    }))
}

pub(super) fn stop(arguments: &Arguments) -> Result<Operation, Misfit> {
    Ok(Operation::Service(ServiceOperation::Stop { service: service(arguments)? }))
}

pub(super) fn start(arguments: &Arguments) -> Result<Operation, Misfit> {
    Ok(Operation::Service(ServiceOperation::Start { service: service(arguments)? }))
}

pub(super) fn restart(arguments: &Arguments) -> Result<Operation, Misfit> {
    Ok(Operation::Service(ServiceOperation::Restart { service: service(arguments)? }))
}

pub(super) fn delete(arguments: &Arguments) -> Result<Operation, Misfit> {
    Ok(Operation::Service(ServiceOperation::Delete { service: service(arguments)? }))
}

pub(super) fn instances(arguments: &Arguments) -> Result<Operation, Misfit> {
    Ok(Operation::Service(ServiceOperation::Instances { service: service(arguments)? }))
}

pub(super) fn events(arguments: &Arguments) -> Result<Operation, Misfit> {
    Ok(Operation::Service(ServiceOperation::Events { service: service(arguments)? }))
}

/// The region in the path is not looked at: there is one here, whatever it is called.
fn service(arguments: &Arguments) -> Result<String, Misfit> {
    arguments.path().need("ServiceName")
}
