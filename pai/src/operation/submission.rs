//! A job as it is submitted (DLC).

use std::sync::Arc;

use engine::job::spec::FaultTolerance;
use engine::job::spec::IdlePolicy;
use engine::market::bid::Network;
use engine::unit::limit;
use engine::unit::priority::Priority;
use engine::unit::time::Millis;
use serde_json::Map;
use serde_json::Value;

use crate::operation::arguments::Arguments;
use crate::operation::fields::Fields;
use crate::operation::misfit::Misfit;
use crate::operation::nodes::AssignNodes;
use crate::operation::quantity;

const JOB_TYPES: [&str; 9] = [
    "TFJob",
    "PyTorchJob",
    "MPIJob",
    "XGBoostJob",
    "OneFlowJob",
    "ElasticBatchJob",
    "SlurmJob",
    "RayJob",
    "DataJuicerJob",
];
/// How many characters the name of a job may have.
const NAME_CHARS_MAX: usize = 256;
pub(crate) const IDLE_POLICIES: [(&str, IdlePolicy); 3] = [
    ("ForbiddenQuotaOverSold", IdlePolicy::Off),
    ("AcceptQuotaOverSold", IdlePolicy::Acceptable),
    ("ForceQuotaOverSold", IdlePolicy::Only),
];

/// A job that is submitted.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateJob {
    /// The workspace.
    pub workspace: Option<String>,
    /// Its name for people.
    pub name: String,
    /// Its framework.
    pub job_type: &'static str,
    /// The quota; none for a job on public resources.
    pub quota: Option<String>,
    /// Its priority.
    pub priority: Priority,
    /// Its use of idle amounts.
    pub idle: IdlePolicy,
    /// Automatic fault tolerance.
    pub fault_tolerance: Option<FaultTolerance>,
    /// Its roles.
    pub roles: Vec<JobRole>,
    /// The nodes that it may run on.
    pub nodes: AssignNodes,
    /// Where its instances are connected.
    pub network: Network,
    /// How long it may run.
    pub longest: Option<Millis>,
    /// The request as it was sent: answers repeat it.
    pub document: Map<String, Value>,
}

/// Pods of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobRole {
    /// Worker, Master and so on.
    pub kind: String,
    /// How many pods.
    pub count: u32,
    /// What each of them needs.
    pub need: PodNeed,
    /// What is bid for its instances.
    pub bid: Option<Bid>,
}

/// What a pod needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PodNeed {
    /// An instance of a type.
    Instance(String),
    /// Amounts.
    Amounts {
        /// GPUs in thousandths.
        gpus: i64,
        /// The type of the GPUs, if it matters.
        gpu_type: Option<String>,
        /// CPUs in thousandths.
        cpus: i64,
        /// Memory in MiB.
        memory: i64,
    },
}

/// What is bid on the spot market, as it was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bid {
    /// Whether there is no limit.
    pub as_price_goes: bool,
    /// Of the full price, in thousandths.
    pub discount: Option<i64>,
    /// A price of an instance and minute, in millionths.
    pub price: Option<i64>,
}

pub(super) fn read(arguments: &Arguments) -> Result<CreateJob, Misfit> {
    let body = arguments.body();
    let specs = body.each("JobSpecs")?;
    if specs.is_empty() {
        return Err(body.missing("JobSpecs"));
    }
    body.need("UserCommand")?;
    let settings = body.inside("Settings")?;
    let job = CreateJob {
        workspace: body.name("WorkspaceId")?,
        name: name(&body, "DisplayName")?,
        job_type: job_type(&body)?,
        quota: same(&body, &specs, "ResourceId", "QuotaId")?,
        priority: body.priority("Priority")?.unwrap_or_default(),
        idle: idle(settings.as_ref(), &specs)?,
        fault_tolerance: settings.as_ref().map_or(Ok(None), fault_tolerance)?,
        nodes: AssignNodes::of_roles(&specs)?,
        roles: specs.iter().map(role).collect::<Result<_, Misfit>>()?,
        network: body.inside("UserVpc")?.as_ref().map_or_else(|| Ok(Network::default()), network)?,
        longest: longest(&body)?,
        document: body.object().clone(),
    };
    Ok(job)
}

fn longest(body: &Fields) -> Result<Option<Millis>, Misfit> {
    let minutes = body.number("JobMaxRunningTimeMinutes", 1, limit::PERIOD_MS_MAX / Millis::MINUTE.0)?;
    Ok(minutes.map(|minutes| Millis(minutes * Millis::MINUTE.0)))
}

pub(super) fn name(body: &Fields, field: &str) -> Result<String, Misfit> {
    let name = body.need(field)?;
    let count = name.chars().count();
    if count > NAME_CHARS_MAX {
        let expected = format!("at most {NAME_CHARS_MAX} characters, and has {count}");
        return Err(body.invalid_text(field, &name, &expected));
    }
    Ok(name)
}

pub(super) fn network(vpc: &Fields) -> Result<Network, Misfit> {
    let part = |name: &str| Ok::<_, Misfit>(vpc.name(name)?.map(Arc::from));
    Ok(Network { vpc: part("VpcId")?, vswitch: part("SwitchId")?, security_group: part("SecurityGroupId")? })
}

pub(super) fn job_type(body: &Fields) -> Result<&'static str, Misfit> {
    let sent = body.need("JobType")?;
    let known = JOB_TYPES.iter().find(|known| **known == sent);
    known.copied().ok_or_else(|| body.invalid_text("JobType", &sent, &format!("one of {}", JOB_TYPES.join(", "))))
}

/// What the job or any of its roles states: a job is in one quota.
fn same(body: &Fields, specs: &[Fields], of_job: &str, of_role: &str) -> Result<Option<String>, Misfit> {
    let mut stated = body.name(of_job)?;
    for spec in specs {
        match (&stated, spec.name(of_role)?) {
            (Some(first), Some(other)) if *first != other => {
                return Err(spec.invalid_text(of_role, &other, &format!("{first:?}, like that of the whole job")));
            }
            (None, other) => stated = other,
            (Some(_), _) => {}
        }
    }
    Ok(stated)
}

pub(super) fn idle(settings: Option<&Fields>, specs: &[Fields]) -> Result<IdlePolicy, Misfit> {
    let mut stated = settings.map_or(Ok(None), |settings| settings.one_of("OversoldType", &IDLE_POLICIES))?;
    for spec in specs {
        let other = spec.one_of("OversoldType", &IDLE_POLICIES)?;
        if let (Some(first), Some(other)) = (stated, other)
            && first != other
        {
            let sent = spec.need("OversoldType")?;
            return Err(spec.invalid_text("OversoldType", &sent, "the same for the whole job"));
        }
        stated = stated.or(other);
    }
    Ok(stated.unwrap_or_default())
}

/// Automatic fault tolerance is a switch, and a command line that says how often.
pub(super) fn fault_tolerance(settings: &Fields) -> Result<Option<FaultTolerance>, Misfit> {
    const FIELD: &str = "ErrorMonitoringArgs";
    if settings.switch("EnableErrorMonitoringInAIMaster")? != Some(true) {
        return Ok(None);
    }
    let line = settings.text(FIELD)?.unwrap_or_default();
    let words: Vec<&str> =
        line.split(|c: char| c.is_whitespace() || c == '=').filter(|word| !word.is_empty()).collect();
    let value_of = |name: &str| words.iter().position(|word| *word == name).map(|at| words.get(at + 1).copied());
    if value_of("--enable-job-restart").flatten().is_some_and(|word| word.eq_ignore_ascii_case("false")) {
        return Ok(None);
    }
    let Some(restarts) = value_of("--max-num-of-job-restart") else { return Ok(Some(FaultTolerance::default())) };
    let expected = "a command line in which --max-num-of-job-restart is a whole number";
    let max_restarts = restarts.and_then(|word| word.parse().ok());
    let max_restarts = max_restarts.ok_or_else(|| settings.invalid_text(FIELD, line, expected))?;
    Ok(Some(FaultTolerance { max_restarts }))
}

fn role(spec: &Fields) -> Result<JobRole, Misfit> {
    let count = spec.number("PodCount", 1, i64::from(limit::PODS_MAX))?.unwrap_or(1);
    let (need, bid) = need(spec, "ResourceConfig")?;
    let kind = spec.name("Type")?.unwrap_or_else(|| "Worker".to_owned());
    Ok(JobRole { kind, count: u32::try_from(count).unwrap_or(limit::PODS_MAX), need, bid })
}

/// What each pod needs and what is bid for it; amounts stand in a field of this name.
pub(super) fn need(spec: &Fields, of_amounts: &str) -> Result<(PodNeed, Option<Bid>), Misfit> {
    let bid = spec.inside("SpotSpec")?.as_ref().map(bid).transpose()?;
    match (spec.switch("UseSpotInstance")?, &bid) {
        (Some(true), None) => return Err(spec.missing("SpotSpec")),
        (Some(false), Some(_)) => {
            return Err(spec.invalid_text("UseSpotInstance", "false", "true or left out where SpotSpec is sent"));
        }
        (Some(_) | None, _) => {}
    }
    // A bid is for whole instances, and so is a type of them; amounts are of machines of any type.
    let need = match (spec.name("EcsSpec")?, spec.inside(of_amounts)?) {
        (Some(instance), Some(_)) => {
            return Err(spec.invalid_text("EcsSpec", &instance, &format!("left out where {of_amounts} is sent")));
        }
        (Some(instance), None) => PodNeed::Instance(instance),
        (None, _) if bid.is_some() => return Err(spec.missing("EcsSpec")),
        (None, Some(config)) => amounts(&config)?,
        (None, None) => return Err(spec.missing(of_amounts)),
    };
    Ok((need, bid))
}

pub(super) fn amounts(config: &Fields) -> Result<PodNeed, Misfit> {
    // Bytes are told without a unit, and less than a MiB of them is GiB without one.
    let memory =
        |text: &str| quantity::mebibytes(text).filter(|_| !text.parse().is_ok_and(|bytes: u64| bytes < 1 << 20));
    let read = |name: &str, read: &dyn Fn(&str) -> Option<i64>, expected: &str| {
        let Some(text) = config.name(name)? else { return Ok(0) };
        let value = read(&text).filter(|value| *value <= limit::AMOUNT_MAX);
        value.ok_or_else(|| config.invalid_text(name, &text, expected))
    };
    Ok(PodNeed::Amounts {
        gpus: read("GPU", &quantity::thousandths, "a number of GPUs such as \"8\" or \"0.5\"")?,
        gpu_type: config.name("GPUType")?,
        cpus: read("CPU", &quantity::cpus, "a number of CPUs such as \"8\" or \"500m\"")?,
        memory: read("Memory", &memory, "an amount of memory with its unit, such as \"64Gi\"")?,
    })
}

fn bid(spot: &Fields) -> Result<Bid, Misfit> {
    let strategies = [("SpotWithPriceLimit", false), ("SpotAsPriceGo", true)];
    Ok(Bid {
        as_price_goes: spot.one_of("SpotStrategy", &strategies)?.ok_or_else(|| spot.missing("SpotStrategy"))?,
        discount: decimal(spot, "SpotDiscountLimit", 3)?,
        price: decimal(spot, "SpotPriceLimit", 6)?,
    })
}

/// A decimal number in units of so many digits after the point, without a detour over fractions of two.
fn decimal(fields: &Fields, name: &str, digits: usize) -> Result<Option<i64>, Misfit> {
    let Some(value) = fields.value(name) else { return Ok(None) };
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let is_digits = [whole, fraction].iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
    let units = (is_digits && !whole.is_empty() && fraction.len() <= digits)
        .then(|| format!("{whole}{fraction:0<digits$}").parse().ok())
        .flatten();
    let wrong = || fields.invalid(name, value, &format!("a number with at most {digits} digits after the point"));
    units.ok_or_else(wrong).map(Some)
}
