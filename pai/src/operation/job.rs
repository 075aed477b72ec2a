//! Operations of training jobs (DLC).

use engine::job::spec::IdlePolicy;
use engine::unit::priority::Priority;
use engine::unit::time::Timestamp;
use serde_json::Map;
use serde_json::Value;

use crate::operation::Arguments;
use crate::operation::Operation;
use crate::operation::fields::Fields;
use crate::operation::misfit::Misfit;
use crate::operation::page::Direction;
use crate::operation::page::Page;
use crate::operation::submission::CreateJob;

/// How many jobs a page has if nothing is asked for.
const PAGE_SIZE: i64 = 10;
/// How many events are told if nothing is asked for.
const EVENTS_MAX: i64 = 2000;

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
        /// Not before.
        from: Option<Timestamp>,
        /// Not after.
        until: Option<Timestamp>,
        /// How many at most.
        count: i64,
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
    /// In this status.
    pub status: Option<String>,
    /// Of this framework.
    pub job_type: Option<String>,
    /// Submitted by this user.
    pub user: Option<String>,
    /// The sender's own.
    pub own: bool,
    /// By their use of idle amounts; of those that may use them, whether they do.
    pub idle: Option<(IdlePolicy, Option<bool>)>,
    /// Created not before.
    pub from: Option<Timestamp>,
    /// Created not after.
    pub until: Option<Timestamp>,
    /// By what they are sorted.
    pub sort: JobOrder,
    /// In which direction.
    pub direction: Direction,
    /// Which part of the list.
    pub page: Page,
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

pub(super) fn get(arguments: &Arguments) -> Result<Operation, Misfit> {
    let detail = arguments.query().switch("NeedDetail")?.unwrap_or(true);
    Ok(Operation::Job(JobOperation::Get { job: job(arguments)?, detail }))
}

pub(super) fn list(arguments: &Arguments) -> Result<Operation, Misfit> {
    let query = arguments.query();
    let sorts = [
        ("DisplayName", JobOrder::DisplayName),
        ("JobType", JobOrder::JobType),
        ("Status", JobOrder::Status),
        ("GmtCreateTime", JobOrder::Created),
        ("GmtFinishTime", JobOrder::Finished),
    ];
    let idles = [
        ("ForbiddenQuotaOverSold", (IdlePolicy::Off, None)),
        ("ForceQuotaOverSold", (IdlePolicy::Only, None)),
        ("AcceptQuotaOverSold", (IdlePolicy::Acceptable, None)),
        ("AcceptQuotaOverSold-true", (IdlePolicy::Acceptable, Some(true))),
        ("AcceptQuotaOverSold-false", (IdlePolicy::Acceptable, Some(false))),
    ];
    let both = |one: &str, many: &str| -> Result<Vec<String>, Misfit> {
        Ok(query.name(one)?.into_iter().chain(query.names(many)?).collect())
    };
    let list = ListJobs {
        workspace: query.name("WorkspaceId")?,
        jobs: both("JobId", "JobIds")?,
        name_part: query.name("DisplayName")?,
        quotas: both("ResourceId", "ResourceIds")?,
        status: query.name("Status")?,
        job_type: query.name("JobType")?,
        user: query.name("UserIdForFilter")?,
        own: query.switch("ShowOwn")?.unwrap_or(false),
        idle: query.one_of("OversoldInfo", &idles)?,
        from: query.time("StartTime")?,
        until: query.time("EndTime")?,
        sort: query.one_of("SortBy", &sorts)?.unwrap_or(JobOrder::Created),
        direction: Direction::read(&query)?.unwrap_or(Direction::Descending),
        page: Page::read(&query, PAGE_SIZE)?,
    };
    Ok(Operation::Job(JobOperation::List(Box::new(list))))
}

pub(super) fn update(arguments: &Arguments) -> Result<Operation, Misfit> {
    let body = arguments.body();
    let resubmitted = ["JobSpecs", "UserCommand"].into_iter().find(|name| body.value(name).is_some());
    if let Some(name) = resubmitted {
        return Err(Misfit::Unserved {
            action: format!("UpdateJob with {name}"),
            why: "a job keeps what it was submitted with; stop it and submit another one",
        });
    }
    let changes = body.object().iter().filter(|(name, _)| ["Accessibility", "Description"].contains(&name.as_str()));
    Ok(Operation::Job(JobOperation::Update {
        job: job(arguments)?,
        priority: priority(&body, "Priority")?,
        changes: changes.map(|(name, value)| (name.clone(), value.clone())).collect(),
    }))
}

pub(super) fn stop(arguments: &Arguments) -> Result<Operation, Misfit> {
    Ok(Operation::Job(JobOperation::Stop { job: job(arguments)? }))
}

pub(super) fn delete(arguments: &Arguments) -> Result<Operation, Misfit> {
    Ok(Operation::Job(JobOperation::Delete { job: job(arguments)? }))
}

pub(super) fn events(arguments: &Arguments) -> Result<Operation, Misfit> {
    let query = arguments.query();
    Ok(Operation::Job(JobOperation::Events {
        job: job(arguments)?,
        pod: arguments.path().name("PodId")?,
        from: query.time("StartTime")?,
        until: query.time("EndTime")?,
        count: query.number("MaxEventsNum", 1, EVENTS_MAX)?.unwrap_or(EVENTS_MAX),
    }))
}

pub(super) fn priority(body: &Fields, name: &str) -> Result<Option<Priority>, Misfit> {
    let number = body.number(name, Priority::LOWEST.into(), Priority::HIGHEST.into())?;
    Ok(number.and_then(|number| Priority::new(number).ok()))
}

fn job(arguments: &Arguments) -> Result<String, Misfit> {
    arguments.path().need("JobId")
}
