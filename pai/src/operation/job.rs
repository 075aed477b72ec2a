//! Operations of training jobs (DLC).

use engine::job::spec::IdlePolicy;
use engine::unit::priority::Priority;
use serde_json::Map;
use serde_json::Value;

use crate::operation::arguments::Arguments;
use crate::operation::fields::Fields;
use crate::operation::misfit::Misfit;
use crate::operation::page::Direction;
use crate::operation::page::Page;
use crate::operation::page::Span;
use crate::operation::sent;
use crate::operation::sent::dlc;
use crate::operation::submission;
use crate::operation::submission::CreateJob;

/// How many jobs a page has if nothing is asked for.
const PAGE_SIZE: i64 = 10;
/// How many events are told if nothing is asked for.
const EVENTS_MAX: i64 = 2000;
/// How many lines of a log are told at most, and if nothing is asked for.
const LINES_MAX: i64 = 2000;

/// The statuses of jobs, those that no job here has included.
const STATUSES: [&str; 13] = [
    "Creating",
    "Queuing",
    "Bidding",
    "EnvPreparing",
    "SanityChecking",
    "Running",
    "Restarting",
    "Stopping",
    "SucceededReserving",
    "FailedReserving",
    "Succeeded",
    "Failed",
    "Stopped",
];
/// What can be asked of the use of idle amounts.
pub(super) const IDLE_USES: [(&str, (IdlePolicy, Option<bool>)); 5] = [
    ("ForbiddenQuotaOverSold", (IdlePolicy::Off, None)),
    ("ForceQuotaOverSold", (IdlePolicy::Only, None)),
    ("AcceptQuotaOverSold", (IdlePolicy::Acceptable, None)),
    ("AcceptQuotaOverSold-true", (IdlePolicy::Acceptable, Some(true))),
    ("AcceptQuotaOverSold-false", (IdlePolicy::Acceptable, Some(false))),
];

/// An operation of jobs.
#[derive(Clone, Debug, PartialEq)]
pub enum JobOperation {
    /// Submit a job.
    Create(Box<CreateJob>),
    /// Tell of a job.
    Get {
        /// The job.
        job: String,
        /// With its pods and restarts.
        detail: bool,
    },
    /// Tell of many.
    List(Box<ListJobs>),
    /// Change a job.
    Update {
        /// The job.
        job: String,
        /// Its new priority.
        priority: Option<Priority>,
        /// Fields that answers repeat.
        changes: Map<String, Value>,
    },
    /// End a job.
    Stop {
        /// The job.
        job: String,
    },
    /// Forget a job.
    Delete {
        /// The job.
        job: String,
    },
    /// Tell what has happened to a job, or to one of its pods.
    Events {
        /// The job.
        job: String,
        /// The pod.
        pod: Option<String>,
        /// When.
        span: Span,
        /// How many at most.
        count: i64,
    },
    /// Tell what a job prints.
    Logs {
        /// The job.
        job: String,
        /// One of its pods.
        pod: String,
        /// The pod's life, if one is named.
        life: Option<String>,
        /// How many of the last lines at most.
        lines: i64,
    },
}

/// Which jobs are asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListJobs {
    /// Of this workspace.
    pub workspace: Option<String>,
    /// Of these names.
    pub jobs: Vec<String>,
    /// With this in their names for people, whatever the case.
    pub name_part: Option<String>,
    /// In one of these quotas.
    pub quotas: Vec<String>,
    /// In a quota of this name for people.
    pub quota_name: Option<String>,
    /// In one of these statuses.
    pub statuses: Vec<&'static str>,
    /// Of one of these frameworks.
    pub job_types: Vec<String>,
    /// Submitted by each of these users: a user is named like their id.
    pub users: Vec<String>,
    /// The sender's own.
    pub own: bool,
    /// By their use of idle amounts; of those that may use them, whether they do.
    pub idle: Option<(IdlePolicy, Option<bool>)>,
    /// Whether they choose nodes.
    pub chooses_nodes: Option<bool>,
    /// By what they are paid with.
    pub payment: Option<Payment>,
    /// Created then.
    pub created: Span,
    /// By what was sent with them and the engine does not look at.
    pub said: Said,
    /// By what they are sorted.
    pub sort: JobOrder,
    /// In which direction.
    pub direction: Direction,
    /// Which part of the list.
    pub page: Page,
}

/// What is asked of the documents of jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// These tags, each of them.
    pub tags: Vec<(String, String)>,
    /// These texts in these settings.
    pub settings: Vec<(&'static str, String)>,
    /// This visibility, whatever the case.
    pub accessibility: Option<String>,
    /// Texts that contain these, whatever the case: fields of the job.
    pub parts: Vec<(&'static str, String)>,
    /// With this in the name of an image.
    pub image_part: Option<String>,
}

/// What a job is paid with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payment {
    /// A quota.
    Quota,
    /// A bid.
    Spot,
    /// Public resources, which there are none of.
    Public,
}

/// What jobs are sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobOrder {
    /// The name for people.
    DisplayName,
    /// The framework.
    JobType,
    /// The status.
    Status,
    /// When it was created.
    Created,
    /// When it ended.
    Finished,
}

pub(super) fn create(arguments: &Arguments) -> Result<JobOperation, Misfit> {
    Ok(JobOperation::Create(Box::new(submission::read(arguments)?)))
}

pub(super) fn get(arguments: &Arguments) -> Result<JobOperation, Misfit> {
    let detail = arguments.query().switch("NeedDetail")?.unwrap_or(true);
    Ok(JobOperation::Get { job: job(arguments)?, detail })
}

pub(super) fn list(arguments: &Arguments) -> Result<JobOperation, Misfit> {
    let query = arguments.query();
    let sorts = [
        ("DisplayName", JobOrder::DisplayName),
        ("JobType", JobOrder::JobType),
        ("Status", JobOrder::Status),
        ("GmtCreateTime", JobOrder::Created),
        ("GmtFinishTime", JobOrder::Finished),
    ];
    let payments = [("PrePaid", Payment::Quota), ("Spot", Payment::Spot), ("PostPaid", Payment::Public)];
    let both = |one: &str, many: &str| -> Result<Vec<String>, Misfit> {
        Ok(query.name(one)?.into_iter().chain(query.names(many)?).collect())
    };
    let from_all = query.switch("FromAllWorkspaces")?.unwrap_or(false);
    let users = [query.name("UserIdForFilter")?, query.name("Username")?];
    let list = ListJobs {
        workspace: query.name("WorkspaceId")?.filter(|_| !from_all),
        jobs: both("JobId", "JobIds")?,
        name_part: query.name("DisplayName")?,
        quotas: both("ResourceId", "ResourceIds")?,
        quota_name: query.name("ResourceQuotaName")?,
        statuses: query.several_of("Status", &STATUSES.map(|status| (status, status)))?,
        job_types: query.names("JobType")?,
        users: users.into_iter().flatten().collect(),
        own: query.switch("ShowOwn")?.unwrap_or(false),
        idle: query.one_of("OversoldInfo", &IDLE_USES)?,
        chooses_nodes: query.switch("EnableAssignNode")?,
        payment: query.one_of("PaymentType", &payments)?,
        created: Span::read(&query, "StartTime", "EndTime")?,
        said: said(&query)?,
        sort: query.one_of("SortBy", &sorts)?.unwrap_or(JobOrder::Created),
        direction: Direction::read(&query)?.unwrap_or(Direction::Descending),
        page: Page::read(&query, PAGE_SIZE)?,
    };
    Ok(JobOperation::List(Box::new(list)))
}

fn said(query: &Fields) -> Result<Said, Misfit> {
    let given = |names: [&'static str; 3]| {
        let one = |name: &'static str| Ok(query.name(name)?.map(|text| (name, text)));
        Ok::<_, Misfit>(names.into_iter().map(one).collect::<Result<Vec<_>, Misfit>>()?.into_iter().flatten())
    };
    let command = query.name("UserCommandSearch")?.map(|part| ("UserCommand", part));
    let description = query.name("Description")?.map(|part| ("Description", part));
    Ok(Said {
        tags: query.labels("Tags")?,
        settings: given(["BusinessUserId", "Caller", "PipelineId"])?.collect(),
        accessibility: query.name("Accessibility")?,
        parts: command.into_iter().chain(description).collect(),
        image_part: query.name("ImageSearch")?,
    })
}

pub(super) fn update(arguments: &Arguments) -> Result<JobOperation, Misfit> {
    let body = arguments.body();
    let changes = sent::kept_of(dlc::UPDATE_JOB, body.object());
    Ok(JobOperation::Update { job: job(arguments)?, priority: body.priority("Priority")?, changes })
}

pub(super) fn stop(arguments: &Arguments) -> Result<JobOperation, Misfit> {
    Ok(JobOperation::Stop { job: job(arguments)? })
}

pub(super) fn delete(arguments: &Arguments) -> Result<JobOperation, Misfit> {
    Ok(JobOperation::Delete { job: job(arguments)? })
}

pub(super) fn events(arguments: &Arguments) -> Result<JobOperation, Misfit> {
    let query = arguments.query();
    Ok(JobOperation::Events {
        job: job(arguments)?,
        pod: arguments.path().name("PodId")?,
        span: Span::read(&query, "StartTime", "EndTime")?,
        count: query.number("MaxEventsNum", 1, EVENTS_MAX)?.unwrap_or(EVENTS_MAX),
    })
}

pub(super) fn logs(arguments: &Arguments) -> Result<JobOperation, Misfit> {
    let query = arguments.query();
    Ok(JobOperation::Logs {
        job: job(arguments)?,
        pod: arguments.path().need("PodId")?,
        life: query.name("PodUid")?,
        lines: query.number("MaxLines", 1, LINES_MAX)?.unwrap_or(LINES_MAX),
    })
}

fn job(arguments: &Arguments) -> Result<String, Misfit> {
    arguments.path().need("JobId")
}
