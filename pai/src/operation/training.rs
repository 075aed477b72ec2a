//! Training jobs as the high-level SDK describes them: by an algorithm, and the machines that it is to have.

use engine::market::bid::Network;
use engine::unit::limit;
use engine::unit::priority::Priority;
use engine::unit::resource::ResourceType;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use serde_json::Value;
use serde_json::json;

use crate::operation::arguments::Arguments;
use crate::operation::fields::Fields;
use crate::operation::job::JobOrder;
use crate::operation::job::ListJobs;
use crate::operation::job::Said;
use crate::operation::misfit::Misfit;
use crate::operation::nodes::AssignNodes;
use crate::operation::page::Direction;
use crate::operation::page::Page;
use crate::operation::page::Span;
use crate::operation::submission;
use crate::operation::submission::CreateJob;
use crate::operation::submission::JobRole;

/// The field of a job's document in which the request stands as it was sent.
pub const SENT: &str = "TrainingJob";
/// How many training jobs, and how many of their events, a page has if nothing is asked for.
const PAGE_SIZE: i64 = 20;
/// What an algorithm is if it does not say it.
const JOB_TYPE: &str = "PyTorchJob";
/// The statuses of training jobs, with those of jobs that they stand for.
pub const STATUSES: [(&str, &[&str]); 10] = [
    ("Submitted", &["Queuing", "Bidding", "Restarting"]),
    ("Initializing", &["EnvPreparing"]),
    ("Running", &["Running", "Stopping"]),
    ("Succeed", &["Succeeded"]),
    ("Failed", &["Failed"]),
    ("Terminated", &["Stopped"]),
    // No job here is ever one of these.
    ("Creating", &["Creating"]),
    ("Created", &["Creating"]),
    ("CreateFailed", &["Creating"]),
    ("InitializeFailed", &["Creating"]),
];

/// An operation of training jobs.
#[derive(Clone, Debug, PartialEq)]
pub enum TrainingOperation {
    /// Submit one.
    Create {
        /// The job that it is.
        job: Box<CreateJob>,
        /// The kind of its machines, if it is stated.
        machines: Option<ResourceType>,
    },
    /// Tell of one.
    Get {
        /// The job.
        job: String,
    },
    /// Tell of many.
    List {
        /// The jobs that they are; the page is of training jobs.
        jobs: Box<ListJobs>,
        /// With each of these labels.
        labels: Vec<(String, String)>,
    },
    /// End one.
    Stop {
        /// The job.
        job: String,
    },
    /// Forget one.
    Delete {
        /// The job.
        job: String,
    },
    /// Tell what has happened to one.
    Events {
        /// The job.
        job: String,
        /// When.
        span: Span,
        /// Which part of the list.
        page: Page,
    },
}

pub(super) fn create(arguments: &Arguments) -> Result<TrainingOperation, Misfit> {
    let body = arguments.body();
    let inside = |name: &str| body.inside(name)?.ok_or_else(|| body.missing(name));
    let (algorithm, resource) = (inside("AlgorithmSpec")?, inside("ComputeResource")?);
    let settings = body.inside("Settings")?;
    let job_type = match algorithm.name("JobType")? {
        Some(_) => submission::job_type(&algorithm)?,
        None => JOB_TYPE,
    };
    let role = role(&resource)?;
    let kinds =
        [("Lingjun", ResourceType::Lingjun), ("General", ResourceType::General), ("ECS", ResourceType::General)];
    let machines = body.one_of("ResourceType", &kinds)?;
    let job = CreateJob {
        workspace: body.name("WorkspaceId")?,
        name: submission::name(&body, "TrainingJobName")?,
        job_type,
        quota: resource.name("ResourceId")?,
        priority: priority(&body, settings.as_ref())?.unwrap_or_default(),
        idle: submission::idle(settings.as_ref(), &[])?,
        fault_tolerance: settings.as_ref().map_or(Ok(None), submission::fault_tolerance)?,
        nodes: AssignNodes::read(&body)?,
        network: body.inside("UserVpc")?.as_ref().map_or_else(|| Ok(Network::default()), submission::network)?,
        longest: body.inside("Scheduler")?.as_ref().map_or(Ok(None), longest)?,
        document: document(&body, &algorithm, &resource, &role, job_type),
        roles: vec![role],
    };
    Ok(TrainingOperation::Create { job: Box::new(job), machines })
}

/// All pods are alike.
fn role(resource: &Fields) -> Result<JobRole, Misfit> {
    let count = |name: &str| resource.number(name, 1, i64::from(limit::PODS_MAX));
    let (of_type, of_amounts) = (count("EcsCount")?, count("InstanceCount")?);
    let count = match (of_type, of_amounts) {
        (Some(one), Some(other)) if one != other => {
            let expected = format!("{one}, like EcsCount, or left out");
            return Err(resource.invalid("InstanceCount", &json!(other), &expected));
        }
        (one, other) => one.or(other).unwrap_or(1),
    };
    let (need, bid) = submission::need(resource, "InstanceSpec")?;
    Ok(JobRole { kind: "Worker".to_owned(), count: u32::try_from(count).unwrap_or(limit::PODS_MAX), need, bid })
}

/// The two SDKs send it in two places.
fn priority(body: &Fields, settings: Option<&Fields>) -> Result<Option<Priority>, Misfit> {
    const NAME: &str = "Priority";
    let of_body = body.priority(NAME)?;
    let of_settings = settings.map_or(Ok(None), |settings| settings.priority(NAME))?;
    match (of_body, of_settings) {
        (Some(one), Some(other)) if one != other => {
            let expected = format!("{}, like Settings.Priority, or left out", other.get());
            Err(body.invalid(NAME, &json!(one.get()), &expected))
        }
        (one, other) => Ok(one.or(other)),
    }
}

fn longest(scheduler: &Fields) -> Result<Option<Millis>, Misfit> {
    let read = |name: &str, unit: i64| {
        let count = scheduler.number(name, 1, limit::PERIOD_MS_MAX / unit)?;
        Ok::<_, Misfit>(count.map(|count| Millis(count * unit)))
    };
    let seconds = read("MaxRunningTimeInSeconds", 1_000)?;
    let minutes = read("MaxRunningTimeInMinutes", Millis::MINUTE.0)?;
    Ok(seconds.into_iter().chain(minutes).min())
}

/// The same as a job of DLC, with the request beside it.
fn document(
    body: &Fields,
    algorithm: &Fields,
    resource: &Fields,
    role: &JobRole,
    job_type: &str,
) -> serde_json::Map<String, Value> {
    let mut spec = json!({
        "Type": role.kind,
        "PodCount": role.count,
        "Image": algorithm.value("Image"),
        "ResourceConfig": resource.value("InstanceSpec"),
        "EcsSpec": resource.value("EcsSpec"),
        "SpotSpec": resource.value("SpotSpec"),
    });
    if let Some(spec) = spec.as_object_mut() {
        spec.retain(|_, value| !value.is_null());
    }
    let fields = json!({
        "DisplayName": body.value("TrainingJobName"),
        "JobType": job_type,
        "JobSpecs": [spec],
        "UserCommand": command_line(algorithm),
        "Envs": body.value("Environments"),
        "Settings": body.value("Settings"),
        "UserVpc": body.value("UserVpc"),
        SENT: body.object(),
    });
    fields.as_object().cloned().unwrap_or_default()
}

/// The words of a command as a line for a shell.
fn command_line(algorithm: &Fields) -> String {
    let words = algorithm.value("Command").and_then(Value::as_array);
    let words: Vec<&str> = words.into_iter().flatten().filter_map(Value::as_str).collect();
    if let ["sh" | "bash", "-c", line] = words.as_slice() {
        return (*line).to_owned();
    }
    let is_plain = |word: &str| {
        !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_./:=@%+,-".contains(&byte))
    };
    let quoted =
        |word: &&str| if is_plain(word) { (*word).to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

pub(super) fn get(arguments: &Arguments) -> Result<TrainingOperation, Misfit> {
    Ok(TrainingOperation::Get { job: job(arguments)? })
}

pub(super) fn list(arguments: &Arguments) -> Result<TrainingOperation, Misfit> {
    let query = arguments.query();
    let sorts = [
        ("GmtCreateTime", JobOrder::Created),
        ("TrainingJobName", JobOrder::DisplayName),
        ("Status", JobOrder::Status),
    ];
    let created = Span::read(&query, "StartTime", "EndTime")?;
    let jobs = ListJobs {
        workspace: query.name("WorkspaceId")?,
        jobs: query.names("TrainingJobId")?,
        name_part: query.name("TrainingJobName")?,
        quotas: Vec::new(),
        quota_name: None,
        statuses: query.several_of("Status", &STATUSES)?.concat(),
        job_types: Vec::new(),
        users: Vec::new(),
        own: false,
        idle: None,
        chooses_nodes: None,
        payment: None,
        // Nobody says that these lists are of the last days.
        created: Span { from: created.from.or(Some(Timestamp(i64::MIN))), ..created },
        said: Said::default(),
        sort: query.one_of("SortBy", &sorts)?.unwrap_or(JobOrder::Created),
        direction: Direction::read(&query)?.unwrap_or(Direction::Descending),
        page: Page::read(&query, PAGE_SIZE)?,
    };
    let labels = query.labels("Labels")?;
    Ok(TrainingOperation::List { jobs: Box::new(jobs), labels })
}

pub(super) fn stop(arguments: &Arguments) -> Result<TrainingOperation, Misfit> {
    Ok(TrainingOperation::Stop { job: job(arguments)? })
}

pub(super) fn delete(arguments: &Arguments) -> Result<TrainingOperation, Misfit> {
    Ok(TrainingOperation::Delete { job: job(arguments)? })
}

pub(super) fn events(arguments: &Arguments) -> Result<TrainingOperation, Misfit> {
    let query = arguments.query();
    Ok(TrainingOperation::Events {
        job: job(arguments)?,
        span: Span::read(&query, "StartTime", "EndTime")?,
        page: Page::read(&query, PAGE_SIZE)?,
    })
}

fn job(arguments: &Arguments) -> Result<String, Misfit> {
    arguments.path().need("TrainingJobId")
}
