//! Operations of development instances (DSW): jobs that are stopped and started.

use engine::job::spec::IdlePolicy;
use engine::unit::priority::Priority;
use serde_json::Map;
use serde_json::Value;

use crate::operation::Arguments;
use crate::operation::Operation;
use crate::operation::fields::Fields;
use crate::operation::job::priority;
use crate::operation::misfit::Misfit;
use crate::operation::page::Direction;
use crate::operation::page::Page;
use crate::operation::submission::IDLE_POLICIES;
use crate::operation::submission::PodNeed;
use crate::operation::submission::amounts;

/// How many instances a page has if nothing is asked for.
const PAGE_SIZE: i64 = 10;
/// How many characters a name may have.
const NAME_CHARS_MAX: usize = 27;

/// An operation of instances.
#[derive(Clone, Debug, PartialEq)]
pub enum InstanceOperation {
    /// Add an instance.
    Create(Box<Instance>),
    /// Tell of an instance.
    Get {
        /// The instance.
        instance: String,
    },
    /// Tell of many.
    List(Box<ListInstances>),
    /// Change an instance.
    Update {
        /// The instance.
        instance: String,
        /// Its priority.
        priority: Option<Priority>,
        /// Fields that answers repeat.
        changes: Map<String, Value>,
    },
    /// Start a stopped one.
    Start {
        /// The instance.
        instance: String,
    },
    /// Stop an instance.
    Stop {
        /// The instance.
        instance: String,
    },
    /// Forget an instance.
    Delete {
        /// The instance.
        instance: String,
    },
    /// Tell what has happened to it.
    Events {
        /// The instance.
        instance: String,
    },
}

/// Which instances are asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListInstances {
    /// Of this workspace.
    pub workspace: Option<String>,
    /// In this quota.
    pub quota: Option<String>,
    /// With this in their names.
    pub name_part: Option<String>,
    /// In this status.
    pub status: Option<String>,
    /// With this use of idle amounts.
    pub idle: Option<IdlePolicy>,
    /// Whether they are sorted by priority instead of by when they were created.
    pub by_priority: bool,
    /// In which direction.
    pub direction: Direction,
    /// Which part of the list.
    pub page: Page,
}

/// An instance.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    /// Its name for people.
    pub name: String,
    /// The workspace.
    pub workspace: Option<String>,
    /// The quota.
    pub quota: Option<String>,
    /// Its priority.
    pub priority: Priority,
    /// Its use of idle amounts.
    pub idle: IdlePolicy,
    /// What it needs.
    pub need: PodNeed,
    /// The request as it was sent: answers repeat it.
    pub document: Map<String, Value>,
}

impl Instance {
    /// The instance that a request describes.
    pub fn read(document: &Map<String, Value>) -> Result<Self, Misfit> {
        let body = Fields::new("", document);
        let name = body.need("InstanceName")?;
        let is_good = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.len() > NAME_CHARS_MAX || !name.chars().all(is_good) {
            let expected = "at most 27 letters, digits and underscores";
            return Err(body.invalid_text("InstanceName", &name, expected));
        }
        if body.inside("SpotSpec")?.is_some() {
            return Err(Misfit::Unserved {
                action: "CreateInstance with SpotSpec".to_owned(),
                why: "only training jobs bid on the spot market; name a quota as ResourceId",
            });
        }
        let need = match (body.inside("RequestedResource")?, body.name("EcsSpec")?) {
            (Some(amount), _) => amounts(&amount)?,
            (None, Some(instance)) => PodNeed::Instance(instance),
            (None, None) => return Err(body.missing("RequestedResource")),
        };
        Ok(Self {
            name,
            workspace: body.name("WorkspaceId")?,
            quota: body.name("ResourceId")?,
            priority: priority(&body, "Priority")?.unwrap_or_default(),
            idle: body.one_of("OversoldType", &IDLE_POLICIES)?.unwrap_or_default(),
            need,
            document: document.clone(),
        })
    }
}

pub(super) fn create(arguments: &Arguments) -> Result<Operation, Misfit> {
    let instance = Instance::read(arguments.body().object())?;
    Ok(Operation::Instance(InstanceOperation::Create(Box::new(instance))))
}

pub(super) fn get(arguments: &Arguments) -> Result<Operation, Misfit> {
    Ok(Operation::Instance(InstanceOperation::Get { instance: instance(arguments)? }))
}

pub(super) fn list(arguments: &Arguments) -> Result<Operation, Misfit> {
    let query = arguments.query();
    let sorts = [("Priority", true), ("GmtCreateTime", false), ("GmtModifiedTime", false)];
    let list = ListInstances {
        workspace: query.name("WorkspaceId")?,
        quota: query.name("ResourceId")?.filter(|quota| quota != "ALL"),
        name_part: query.name("InstanceName")?,
        status: query.name("Status")?,
        idle: query.one_of("OversoldType", &IDLE_POLICIES)?,
        by_priority: query.one_of("SortBy", &sorts)?.unwrap_or(false),
        direction: Direction::read(&query)?.unwrap_or(Direction::Descending),
        page: Page::read(&query, PAGE_SIZE)?,
    };
    Ok(Operation::Instance(InstanceOperation::List(Box::new(list))))
}

pub(super) fn update(arguments: &Arguments) -> Result<Operation, Misfit> {
    let body = arguments.body();
    let repeated = ["InstanceName", "Accessibility", "Priority", "Labels", "Tag", "ImageId", "ImageUrl", "Datasets"];
    let changes = body.object().iter().filter(|(name, _)| repeated.contains(&name.as_str()));
    let resized = ["RequestedResource", "EcsSpec", "OversoldType"].into_iter().find(|name| body.value(name).is_some());
    if let Some(name) = resized {
        return Err(Misfit::Unserved {
            action: format!("UpdateInstance with {name}"),
            why: "an instance keeps its size; delete it and create another one",
        });
    }
    Ok(Operation::Instance(InstanceOperation::Update {
        instance: instance(arguments)?,
        priority: priority(&body, "Priority")?,
        changes: changes.map(|(name, value)| (name.clone(), value.clone())).collect(),
    }))
}

pub(super) fn start(arguments: &Arguments) -> Result<Operation, Misfit> {
    Ok(Operation::Instance(InstanceOperation::Start { instance: instance(arguments)? }))
}

pub(super) fn stop(arguments: &Arguments) -> Result<Operation, Misfit> {
    Ok(Operation::Instance(InstanceOperation::Stop { instance: instance(arguments)? }))
}

pub(super) fn delete(arguments: &Arguments) -> Result<Operation, Misfit> {
    Ok(Operation::Instance(InstanceOperation::Delete { instance: instance(arguments)? }))
}

pub(super) fn events(arguments: &Arguments) -> Result<Operation, Misfit> {
    Ok(Operation::Instance(InstanceOperation::Events { instance: instance(arguments)? }))
}

fn instance(arguments: &Arguments) -> Result<String, Misfit> {
    arguments.path().need("InstanceId")
}
