//! Who and what is in a quota (`PaiStudio`): the jobs of its queue, and whose they are.

use engine::unit::amount::DimensionKind;
use engine::unit::priority::Module;
use engine::unit::priority::Priority;

use crate::operation::arguments::Arguments;
use crate::operation::misfit::Misfit;
use crate::operation::page::Direction;
use crate::operation::page::Page;
use crate::operation::page::Span;

/// How many jobs or users a page has if nothing is asked for.
const PAGE_SIZE: i64 = 10;

/// Which jobs of a quota are asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListWorkloads {
    /// The quota.
    pub quota: String,
    /// Or of these quotas below it.
    pub descendants: Vec<String>,
    /// Of these names.
    pub jobs: Vec<String>,
    /// With one of these names for people.
    pub names: Vec<String>,
    /// Of one of these modules.
    pub modules: Vec<Module>,
    /// In one of these statuses, whatever the case.
    pub statuses: Vec<String>,
    /// Whether they wait; in any of these ways.
    pub waiting: Vec<bool>,
    /// Of these workspaces.
    pub workspaces: Vec<String>,
    /// Of these users.
    pub users: Vec<String>,
    /// The sender's own.
    pub own: bool,
    /// Of this priority.
    pub priority: Option<Priority>,
    /// At this place in the queue.
    pub place: Option<i64>,
    /// Whether they run on idle amounts.
    pub idle: Option<bool>,
    /// With a pod on this node.
    pub node: Option<String>,
    /// Created then.
    pub created: Span,
    /// Put into the queue then.
    pub enqueued: Span,
    /// Taken from it then.
    pub dequeued: Span,
    /// By what they are sorted, if not by their places.
    pub sort: Option<WorkloadOrder>,
    /// In which direction.
    pub direction: Direction,
    /// Which part of the list.
    pub page: Page,
}

/// What the jobs of a quota are sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkloadOrder {
    /// When they were created.
    Created,
    /// When they were put into the queue.
    Enqueued,
    /// The priority.
    Priority,
    /// The place in the queue; jobs that do not wait come first.
    Position,
}

/// Whose use of a quota is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListUsages {
    /// The quota.
    pub quota: String,
    /// Of each of these users: a user is named like their id.
    pub users: Vec<String>,
    /// Of this workspace only.
    pub workspace: Option<String>,
    /// Without its descendants.
    pub own_only: bool,
    /// By what they are sorted, if not by their names.
    pub sort: Option<UsageOrder>,
    /// In which direction.
    pub direction: Direction,
    /// Which part of the list.
    pub page: Page,
}

/// What uses are sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsageOrder {
    /// The number of jobs.
    Jobs,
    /// What jobs ask for.
    Submitted(DimensionKind),
    /// What jobs hold.
    Used(DimensionKind),
}

pub(super) fn workloads(arguments: &Arguments) -> Result<ListWorkloads, Misfit> {
    let query = arguments.query();
    let modules = Module::ALL.map(|module| (module.as_str(), module));
    let sorts = [
        ("GmtCreatedTime", WorkloadOrder::Created),
        ("GmtEnqueuedTime", WorkloadOrder::Enqueued),
        ("Priority", WorkloadOrder::Priority),
        ("Position", WorkloadOrder::Position),
    ];
    Ok(ListWorkloads {
        quota: arguments.path().need("QuotaId")?,
        descendants: query.names("SubQuotaIds")?,
        jobs: query.names("WorkloadIds")?,
        names: query.names("WorkloadNames")?,
        modules: query.several_of("WorkloadType", &modules)?,
        statuses: query.names("WorkloadStatuses")?,
        waiting: query.several_of("Status", &[("Enqueued", true), ("Dequeued", false)])?,
        workspaces: query.names("WorkspaceIds")?,
        users: query.names("UserIds")?,
        own: query.switch("ShowOwn")?.unwrap_or(false),
        priority: query.priority("Priority")?,
        place: query.number("Position", 1, i64::MAX)?,
        idle: query.switch("UseOversoldResource")?,
        node: query.name("NodeName")?,
        created: Span::inside(&query, "WorkloadCreatedTimeRange")?,
        enqueued: Span::inside(&query, "GmtEnqueuedTimeRange")?,
        dequeued: Span::inside(&query, "GmtDequeuedTimeRange")?,
        sort: query.one_of("SortBy", &sorts)?,
        direction: Direction::read(&query)?.unwrap_or(Direction::Ascending),
        page: Page::read(&query, PAGE_SIZE)?,
    })
}

pub(super) fn usages(arguments: &Arguments) -> Result<ListUsages, Misfit> {
    let query = arguments.query();
    let sorts = [
        ("WorkloadCount", UsageOrder::Jobs),
        ("SubmittedCPU", UsageOrder::Submitted(DimensionKind::Cpu)),
        ("SubmittedMemory", UsageOrder::Submitted(DimensionKind::Memory)),
        ("SubmittedGPU", UsageOrder::Submitted(DimensionKind::Gpu)),
        ("UsedCPU", UsageOrder::Used(DimensionKind::Cpu)),
        ("UsedMemory", UsageOrder::Used(DimensionKind::Memory)),
        ("UsedGPU", UsageOrder::Used(DimensionKind::Gpu)),
    ];
    let users = [query.name("UserId")?, query.name("Username")?];
    Ok(ListUsages {
        quota: arguments.path().need("QuotaId")?,
        users: users.into_iter().flatten().collect(),
        workspace: query.name("WorkspaceId")?,
        own_only: query.switch("SelfOnly")?.unwrap_or(false),
        sort: query.one_of("SortBy", &sorts)?,
        direction: Direction::read(&query)?.unwrap_or(Direction::Ascending),
        page: Page::read(&query, PAGE_SIZE)?,
    })
}
