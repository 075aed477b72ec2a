//! Operations of inference services (EAS): jobs that do not end by themselves.

use engine::job::spec::IdlePolicy;
use engine::unit::limit;
use engine::unit::priority::Priority;
use serde_json::Map;
use serde_json::Value;

use crate::operation::arguments::Arguments;
use crate::operation::fields::Fields;
use crate::operation::misfit::Misfit;
use crate::operation::page::Direction;
use crate::operation::page::Page;
use crate::operation::page::Span;
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
    List(Box<ListServices>),
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
        /// Each of these in their names.
        name_parts: Vec<String>,
        /// In one of these statuses, whatever the case.
        statuses: Vec<String>,
        /// Whether they are of the spot market; none is.
        spot: Option<bool>,
        /// Which part of the list.
        page: Page,
    },
    /// Tell what has happened to it.
    Events {
        /// The service.
        service: String,
        /// When.
        span: Span,
        /// Whether ordinary events are asked for: all of them are.
        normal: bool,
        /// Which part of the list.
        page: Page,
    },
}

/// Which services are asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListServices {
    /// In this quota.
    pub quota: Option<String>,
    /// Of this workspace.
    pub workspace: Option<String>,
    /// Each of these in their names.
    pub name_parts: Vec<String>,
    /// In one of these statuses, whatever the case.
    pub statuses: Vec<String>,
    /// This run of a service.
    pub run: Option<String>,
    /// With each of these labels.
    pub labels: Vec<(String, String)>,
    /// Whether they are sorted by when they were started instead of by their names.
    pub by_creation: bool,
    /// In which direction.
    pub direction: Direction,
    /// Which part of the list.
    pub page: Page,
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
    /// Its labels.
    pub labels: Vec<(String, String)>,
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
            priority: options.as_ref().map_or(Ok(None), |options| options.priority("priority"))?.unwrap_or_default(),
            idle: options
                .map_or(Ok(None), |options| options.one_of("quota_oversold", &IDLE_POLICIES))?
                .unwrap_or_default(),
            count: u32::try_from(count).unwrap_or(limit::PODS_MAX),
            need: PodNeed::Amounts { gpus, gpu_type, cpus, memory },
            labels: Vec::new(),
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

pub(super) fn create(arguments: &Arguments) -> Result<ServiceOperation, Misfit> {
    let workspace = arguments.query().name("WorkspaceId")?;
    let labels = arguments.query().labels("Labels")?;
    let service = Service { labels, ..Service::read(arguments.body().object(), workspace)? };
    Ok(ServiceOperation::Create(Box::new(service)))
}

pub(super) fn get(arguments: &Arguments) -> Result<ServiceOperation, Misfit> {
    Ok(ServiceOperation::Get { service: service(arguments)? })
}

pub(super) fn list(arguments: &Arguments) -> Result<ServiceOperation, Misfit> {
    let query = arguments.query();
    let list = ListServices {
        quota: query.name("QuotaId")?,
        workspace: query.name("WorkspaceId")?,
        name_parts: name_parts(&query, "ServiceName")?,
        statuses: query.names("ServiceStatus")?,
        run: query.name("ServiceUid")?,
        labels: query.labels("Label")?,
        by_creation: query.one_of("Sort", &[("ServiceName", false), ("CreateTime", true)])?.unwrap_or(false),
        direction: Direction::read(&query)?.unwrap_or(Direction::Ascending),
        page: Page::read(&query, PAGE_SIZE)?,
    };
    Ok(ServiceOperation::List(Box::new(list)))
}

/// A name can be looked for in two fields.
fn name_parts(query: &Fields, name: &str) -> Result<Vec<String>, Misfit> {
    Ok([query.name(name)?, query.name("Filter")?].into_iter().flatten().collect())
}

pub(super) fn update(arguments: &Arguments) -> Result<ServiceOperation, Misfit> {
    let kinds = [("merge", false), ("replace", true)];
    Ok(ServiceOperation::Update {
        service: service(arguments)?,
        config: arguments.body().object().clone(),
        is_whole: arguments.query().one_of("UpdateType", &kinds)?.unwrap_or(false),
    })
}

pub(super) fn stop(arguments: &Arguments) -> Result<ServiceOperation, Misfit> {
    Ok(ServiceOperation::Stop { service: service(arguments)? })
}

pub(super) fn start(arguments: &Arguments) -> Result<ServiceOperation, Misfit> {
    Ok(ServiceOperation::Start { service: service(arguments)? })
}

pub(super) fn restart(arguments: &Arguments) -> Result<ServiceOperation, Misfit> {
    Ok(ServiceOperation::Restart { service: service(arguments)? })
}

pub(super) fn delete(arguments: &Arguments) -> Result<ServiceOperation, Misfit> {
    Ok(ServiceOperation::Delete { service: service(arguments)? })
}

pub(super) fn instances(arguments: &Arguments) -> Result<ServiceOperation, Misfit> {
    let query = arguments.query();
    Ok(ServiceOperation::Instances {
        service: service(arguments)?,
        name_parts: name_parts(&query, "InstanceName")?,
        statuses: query.names("InstanceStatus")?,
        spot: query.switch("IsSpot")?,
        page: Page::read(&query, PAGE_SIZE)?,
    })
}

pub(super) fn events(arguments: &Arguments) -> Result<ServiceOperation, Misfit> {
    let query = arguments.query();
    let types = query.names("EventType")?;
    Ok(ServiceOperation::Events {
        service: service(arguments)?,
        span: Span::read(&query, "StartTime", "EndTime")?,
        normal: types.is_empty() || types.iter().any(|event| event.eq_ignore_ascii_case("Normal")),
        page: Page::of(&query, "PageNum", PAGE_SIZE)?,
    })
}

/// The region in the path is not looked at: there is one here, whatever it is called.
fn service(arguments: &Arguments) -> Result<String, Misfit> {
    arguments.path().need("ServiceName")
}
