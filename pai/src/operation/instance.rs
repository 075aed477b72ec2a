//! Operations of development instances (DSW): jobs that are stopped and started.

use engine::job::spec::IdlePolicy;
use engine::unit::priority::Priority;
use serde_json::Map;
use serde_json::Value;

use crate::operation::arguments::Arguments;
use crate::operation::fields::Fields;
use crate::operation::job::IDLE_USES;
use crate::operation::misfit::Misfit;
use crate::operation::nodes::AssignNodes;
use crate::operation::page::Direction;
use crate::operation::page::Page;
use crate::operation::page::Span;
use crate::operation::sent;
use crate::operation::sent::dsw;
use crate::operation::submission::IDLE_POLICIES;
use crate::operation::submission::PodNeed;
use crate::operation::submission::amounts;

/// How many instances a page has if nothing is asked for.
const PAGE_SIZE: i64 = 10;
/// How many events are told if nothing is asked for.
const EVENTS_MAX: i64 = 2000;
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
        /// When.
        span: Span,
        /// How many at most.
        count: i64,
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
    /// This one only.
    pub instance: Option<String>,
    /// Whose.
    pub user: Option<String>,
    /// In one of these statuses, whatever the case.
    pub statuses: Vec<String>,
    /// With this visibility, whatever the case.
    pub accessibility: Option<String>,
    /// Whether they ask for GPUs.
    pub accelerated: Option<bool>,
    /// With this use of idle amounts; of those that may use them, whether they do.
    pub idle: Vec<(IdlePolicy, Option<bool>)>,
    /// Whether they are paid with a quota: all of them are.
    pub in_quota: bool,
    /// With each of these labels.
    pub labels: Vec<(String, String)>,
    /// With each of these tags.
    pub tags: Vec<(String, String)>,
    /// Created then.
    pub created: Span,
    /// By what they are sorted.
    pub sort: InstanceOrder,
    /// In which direction.
    pub direction: Direction,
    /// Which part of the list.
    pub page: Page,
}

/// What instances are sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstanceOrder {
    /// When it was created.
    Created,
    /// When it was changed.
    Modified,
    /// The priority.
    Priority,
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
    /// The nodes that it may run on.
    pub nodes: AssignNodes,
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
        let need = match (body.inside("RequestedResource")?, body.name("EcsSpec")?) {
            (Some(_), Some(instance)) => {
                return Err(body.invalid_text("EcsSpec", &instance, "left out where RequestedResource is sent"));
            }
            (Some(amount), None) => amounts(&amount)?,
            (None, Some(instance)) => PodNeed::Instance(instance),
            (None, None) => return Err(body.missing("RequestedResource")),
        };
        Ok(Self {
            name,
            workspace: body.name("WorkspaceId")?,
            quota: body.name("ResourceId")?,
            priority: body.priority("Priority")?.unwrap_or_default(),
            idle: body.one_of("OversoldType", &IDLE_POLICIES)?.unwrap_or_default(),
            need,
            nodes: AssignNodes::read(&body)?,
            document: document.clone(),
        })
    }
}

pub(super) fn create(arguments: &Arguments) -> Result<InstanceOperation, Misfit> {
    let instance = Instance::read(arguments.body().object())?;
    Ok(InstanceOperation::Create(Box::new(instance)))
}

pub(super) fn get(arguments: &Arguments) -> Result<InstanceOperation, Misfit> {
    Ok(InstanceOperation::Get { instance: instance(arguments)? })
}

pub(super) fn list(arguments: &Arguments) -> Result<InstanceOperation, Misfit> {
    let query = arguments.query();
    let sorts = [
        ("Priority", InstanceOrder::Priority),
        ("GmtCreateTime", InstanceOrder::Created),
        ("GmtModifiedTime", InstanceOrder::Modified),
    ];
    let policies = IDLE_POLICIES.map(|(name, policy)| (name, (policy, None)));
    let list = ListInstances {
        workspace: query.name("WorkspaceId")?,
        quota: query.name("ResourceId")?.filter(|quota| quota != "ALL"),
        name_part: query.name("InstanceName")?,
        instance: query.name("InstanceId")?,
        user: query.name("CreateUserId")?,
        statuses: query.names("Status")?,
        accessibility: query.name("Accessibility")?,
        accelerated: query.one_of("AcceleratorType", &[("GPU", true), ("CPU", false)])?,
        idle: query
            .one_of("OversoldType", &policies)?
            .into_iter()
            .chain(query.one_of("OversoldInfo", &IDLE_USES)?)
            .collect(),
        in_quota: query.one_of("PaymentType", &[("Subscription", true), ("PayAsYouGo", false)])?.unwrap_or(true),
        labels: query.labels("Labels")?,
        tags: query.labels("Tag")?,
        created: Span::read(&query, "CreateTimeAfter", "CreateTimeBefore")?,
        sort: query.one_of("SortBy", &sorts)?.unwrap_or(InstanceOrder::Created),
        direction: Direction::read(&query)?.unwrap_or(Direction::Descending),
        page: Page::read(&query, PAGE_SIZE)?,
    };
    Ok(InstanceOperation::List(Box::new(list)))
}

pub(super) fn update(arguments: &Arguments) -> Result<InstanceOperation, Misfit> {
    let body = arguments.body();
    let changes = sent::kept_of(dsw::UPDATE, body.object());
    Ok(InstanceOperation::Update { instance: instance(arguments)?, priority: body.priority("Priority")?, changes })
}

pub(super) fn start(arguments: &Arguments) -> Result<InstanceOperation, Misfit> {
    Ok(InstanceOperation::Start { instance: instance(arguments)? })
}

pub(super) fn stop(arguments: &Arguments) -> Result<InstanceOperation, Misfit> {
    Ok(InstanceOperation::Stop { instance: instance(arguments)? })
}

pub(super) fn delete(arguments: &Arguments) -> Result<InstanceOperation, Misfit> {
    Ok(InstanceOperation::Delete { instance: instance(arguments)? })
}

pub(super) fn events(arguments: &Arguments) -> Result<InstanceOperation, Misfit> {
    let query = arguments.query();
    Ok(InstanceOperation::Events {
        instance: instance(arguments)?,
        span: Span::read(&query, "StartTime", "EndTime")?,
        count: query.number("MaxEventsNum", 1, EVENTS_MAX)?.unwrap_or(EVENTS_MAX),
    })
}

fn instance(arguments: &Arguments) -> Result<String, Misfit> {
    arguments.path().need("InstanceId")
}
