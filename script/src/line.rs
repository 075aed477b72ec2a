//! A line, and what it asks for.

use engine::job::halt;
use engine::job::phase::Charge;
use engine::job::spec::FaultTolerance;
use engine::job::spec::IdlePolicy;
use engine::message::command::AmountByName;
use engine::message::command::CancelJob;
use engine::message::command::Command;
use engine::message::command::CreateCluster;
use engine::message::command::DeleteNode;
use engine::message::command::NodeHeard;
use engine::message::command::NodeSilent;
use engine::message::command::Observation;
use engine::message::command::PutGroup;
use engine::message::command::Report;
use engine::message::command::ResizeJob;
use engine::message::command::ScaleMode;
use engine::message::command::ScaleQuotas;
use engine::message::command::ScaleTarget;
use engine::message::command::SetPriority;
use engine::message::command::SubmitJob;
use engine::message::command::UpdateCluster;
use engine::message::command::UpdateQuota;
use engine::message::command::market::CreateOffer;
use engine::state::cluster::Execution;
use engine::state::cluster::NodeStatus;
use engine::state::cluster::OnSilence;
use engine::unit::id::GroupId;
use engine::unit::id::JobId;
use engine::unit::id::NodeId;
use engine::unit::id::OfferId;
use engine::unit::id::QuotaId;
use engine::unit::resource::ResourceType;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;

use crate::about::about;
use crate::amount;
use crate::fault::Fault;
use crate::market;
use crate::words;
use crate::words::Told;
use crate::words::Words;

/// What a line asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// Sets the scene.
    Scene(Scene),
    /// Is sent to the cluster.
    Act(Command),
    /// Says whether new pods may start on a node.
    Cordon(NodeId, NodeStatus),
    /// Publishes a price, for a time before or after the present one.
    Price {
        /// The offer.
        offer: OfferId,
        /// In micro-units.
        price: i64,
        /// What the present time is later or earlier by.
        shift: Option<Millis>,
    },
    /// Runs a round.
    Round,
    /// Lets time go on, with a round whenever time alone changes something.
    Advance(Millis),
    /// Lets time go on, with a scheduled round each minute.
    Pass(Millis),
    /// Lets time go on, and nobody looks.
    Skip(Millis),
    /// Asks the engine about a job.
    Ask(Question, JobId),
    /// Asks what has not been confirmed in time.
    Overdue,
}

/// What is there before anything happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scene {
    /// What the cluster declares of itself, before everything else.
    Cluster(CreateCluster),
    /// A resource group.
    Group(PutGroup),
    /// A machine.
    Node {
        /// Its name.
        node: NodeId,
        /// Its resource group, if it is named.
        group: Option<GroupId>,
        /// What it has.
        amount: AmountByName,
        /// Whether new pods may start on it.
        status: NodeStatus,
    },
    /// A quota.
    Quota {
        /// Its name.
        quota: QuotaId,
        /// What it is guaranteed.
        min: AmountByName,
        /// Its parent, its resource groups and its settings.
        told: Box<Told>,
    },
    /// A job that runs already.
    Run(Box<SubmitJob>, Placing),
    /// An offer of the spot market.
    Offer(CreateOffer),
}

/// Where and since when a job runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placing {
    /// What it counts against, if not its quota.
    pub charge: Option<Charge>,
    /// How long it has run.
    pub since: Option<Millis>,
    /// The nodes of its pods, as far as they are named.
    pub nodes: Vec<NodeId>,
}

/// What can be asked about a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// What people call its state.
    Status,
    /// Why it waits.
    Why,
    /// What would start it.
    Remedy,
    /// What it owes.
    Bills,
}

/// Reads a line; nothing for one that is empty or begins with `#`.
///
/// # Errors
/// Where and what is wrong, and what should stand there.
pub fn read(text: &str) -> Result<Option<Line>, Fault> {
    let mut words = Words::of(text);
    let Some(verb) = words.take().filter(|verb| !verb.starts_with('#')) else { return Ok(None) };
    let line = by_verb(verb, &mut words).and_then(|line| words.end().map(|()| line));
    line.map(Some).map_err(|reason| words.fault(reason))
}

fn by_verb(verb: &str, words: &mut Words<'_>) -> Result<Line, String> {
    Ok(match verb {
        "cluster" => Line::Scene(Scene::Cluster(cluster(words))),
        "group" => Line::Scene(Scene::Group(group(words)?)),
        "node" => Line::Scene(node(words)?),
        "quota" => Line::Scene(quota(words)?),
        "run" => {
            let (job, placing) = job(words)?;
            Line::Scene(Scene::Run(Box::new(job), placing))
        }
        "offer" => Line::Scene(Scene::Offer(market::offer(words)?)),
        "submit" => Line::Act(Command::SubmitJob(job(words)?.0)),
        "bid" => Line::Act(Command::SubmitJob(market::bid(words)?)),
        "scale" => Line::Act(Command::ScaleQuotas(scale(words)?)),
        "update" => {
            let (quota, settings) = (words.quota()?, words::settings(words)?);
            Line::Act(Command::UpdateQuota(UpdateQuota { quota, settings }))
        }
        "cancel" => Line::Act(Command::CancelJob(CancelJob { job: words.job()? })),
        "priority" => {
            let (job, priority) = (words.job()?, words::priority(words.need("a priority")?)?);
            Line::Act(Command::SetPriority(SetPriority { job, priority }))
        }
        "resize" => Line::Act(Command::ResizeJob(resize(words)?)),
        "finish" => {
            Line::Act(Command::Report(Report { job: words.job()?, run: None, observed: Observation::Finished }))
        }
        "report" => Line::Act(Command::Report(report(words)?)),
        "cordon" => Line::Cordon(words.node()?, NodeStatus::Cordoned),
        "uncordon" => Line::Cordon(words.node()?, NodeStatus::Ready),
        "dead" => Line::Cordon(words.node()?, NodeStatus::Dead),
        "delete" => Line::Act(Command::DeleteNode(DeleteNode { node: words.node()? })),
        "silent" => Line::Act(Command::NodeSilent(silent(words)?)),
        "heard" => Line::Act(Command::NodeHeard(NodeHeard { node: words.node()? })),
        "execution" => Line::Act(Command::UpdateCluster(execution(words)?)),
        "price" => {
            let (offer, price, shift) = market::price(words)?;
            Line::Price { offer, price, shift }
        }
        "inventory" => Line::Act(Command::SetInventory(market::inventory(words)?)),
        "round" => Line::Round,
        "advance" => Line::Advance(words.period()?),
        "pass" => Line::Pass(words.period()?),
        "skip" => Line::Skip(words.period()?),
        "status" => Line::Ask(Question::Status, words.job()?),
        "why" => Line::Ask(Question::Why, words.job()?),
        "remedy" => Line::Ask(Question::Remedy, words.job()?),
        "bills" => Line::Ask(Question::Bills, words.job()?),
        "overdue" => Line::Overdue,
        other => return Err(about(other, "is not known; a line begins with a verb such as quota, run or submit")),
    })
}

fn resize(words: &mut Words<'_>) -> Result<ResizeJob, String> {
    let number = |word: &str| word.parse().map_err(|_| about(word, "is no number of pods"));
    let mut resize = ResizeJob { job: words.job()?, pods: number(words.need("a number of pods")?)?, min_pods: None };
    while let Some(word) = words.take() {
        match word {
            "min" => resize.min_pods = Some(number(words.need("a number of pods")?)?),
            other => return Err(about(other, "is not known here; write min")),
        }
    }
    Ok(resize)
}

fn cluster(words: &mut Words<'_>) -> CreateCluster {
    let mut create = CreateCluster { dimensions: Vec::new(), execution: Execution::Simulated };
    while let Some(word) = words.take() {
        match word {
            "reported" => create.execution = Execution::Reported,
            name => create.dimensions.push(amount::dimension(name)),
        }
    }
    if create.dimensions.is_empty() {
        create.dimensions.push(amount::dimension(amount::GPU));
    }
    create
}

/// Whoever says so has heard of it until now.
fn silent(words: &mut Words<'_>) -> Result<NodeSilent, String> {
    let mut silent = NodeSilent { node: words.node()?, since: Timestamp(i64::MAX), stop_after_ms: None };
    match words.take() {
        None => {}
        Some("stop-after") => silent.stop_after_ms = Some(words.period()?),
        Some(other) => return Err(about(other, "is not known here; write stop-after")),
    }
    Ok(silent)
}

fn execution(words: &mut Words<'_>) -> Result<UpdateCluster, String> {
    let mut update = UpdateCluster::default();
    while let Some(word) = words.take() {
        match word {
            "simulated" => update.execution = Some(Execution::Simulated),
            "reported" => update.execution = Some(Execution::Reported),
            "start-within" => update.start_within_ms = Some(words.period()?),
            other => return Err(about(other, "is not known here; write simulated, reported or start-within")),
        }
    }
    Ok(update)
}

fn group(words: &mut Words<'_>) -> Result<PutGroup, String> {
    let mut put =
        PutGroup { group: words.group()?, resource_type: ResourceType::Lingjun, pool: None, on_silence: None };
    while let Some(word) = words.take() {
        match market::resource_type(word) {
            Some(named) => put.resource_type = named,
            None if word == "stop-after" => put.on_silence = Some(OnSilence::StopAfter(words.period()?)),
            None => put.pool = Some(amount::read(word)?),
        }
    }
    Ok(put)
}

fn node(words: &mut Words<'_>) -> Result<Scene, String> {
    let (node, amount) = (words.node()?, words.amount()?);
    let (mut group, mut status) = (None, NodeStatus::Ready);
    while let Some(word) = words.take() {
        match word {
            "in" => group = Some(words.group()?),
            "cordoned" => status = NodeStatus::Cordoned,
            other => return Err(about(other, "is not known here; write in or cordoned")),
        }
    }
    Ok(Scene::Node { node, group, amount, status })
}

fn quota(words: &mut Words<'_>) -> Result<Scene, String> {
    let (quota, min) = (words.quota()?, words.amount()?);
    Ok(Scene::Quota { quota, min, told: Box::new(words::told(words)?) })
}

fn report(words: &mut Words<'_>) -> Result<Report, String> {
    let (job, mut run) = (words.job()?, None);
    let mut word = words.need(OBSERVED)?;
    if word == "run" {
        run = Some(words.need("the number of a run")?.parse()?);
        word = words.need(OBSERVED)?;
    }
    Ok(Report { job, run, observed: observed(word, words)? })
}

const OBSERVED: &str = "confirmed, checkpointed, stopped, finished, failed or vacated";

fn observed(word: &str, words: &mut Words<'_>) -> Result<Observation, String> {
    Ok(match word {
        "confirmed" => Observation::Confirmed,
        "vacated" => Observation::Vacated { order: words.need("the number of an order")?.parse()? },
        "checkpointed" => Observation::Checkpointed,
        "stopped" => Observation::Stopped,
        "finished" => Observation::Finished,
        "failed" => Observation::Failed { reason: words.rest(), fault: halt::Fault::Job, exit: None },
        "failed-by-node" => Observation::Failed { reason: words.rest(), fault: halt::Fault::Node, exit: None },
        "failed-to-start" => Observation::Failed { reason: words.rest(), fault: halt::Fault::Start, exit: None },
        other => {
            return Err(about(
                other,
                "is not one of confirmed, checkpointed, stopped, finished, failed, failed-by-node, failed-to-start, vacated",
            ));
        }
    })
}

fn job(words: &mut Words<'_>) -> Result<(SubmitJob, Placing), String> {
    let (name, quota) = (words.job()?, words.quota()?);
    let module = words::module(words.need("a module")?)?;
    let priority = words::priority(words.need("a priority such as p5")?)?;
    let pods = words::pods(words.need("pods such as 16 or 2x8")?)?;
    let mut job = SubmitJob { quota: Some(quota), module, priority, ..SubmitJob::new(name, pods) };
    let mut placing = Placing::default();
    while let Some(word) = words.take() {
        match word {
            "acceptable" => job.idle = IdlePolicy::Acceptable,
            "only" => job.idle = IdlePolicy::Only,
            "fault-tolerance" => job.fault_tolerance = Some(FaultTolerance::default()),
            "for" => job.duration_ms = Some(words.period()?),
            "checkpoint" => job.checkpoint_ms = Some(words.period()?),
            "min" => {
                let number = words.need("a number of pods")?;
                let pods = number.parse().map_err(|_| about(number, "is no number of pods"))?;
                job.min_pods = Some(pods);
            }
            "only-on" => job.nodes.only = words::nodes(words.need("nodes")?)?,
            "not-on" => job.nodes.without = words::nodes(words.need("nodes")?)?,
            "idle" => placing.charge = Some(Charge::Idle),
            "since" => placing.since = Some(words.period()?),
            "on" => placing.nodes = words::nodes(words.need("nodes")?)?,
            other => {
                return Err(about(
                    other,
                    "is not known here; write acceptable, only, fault-tolerance, for, checkpoint, min, only-on, not-on, \
                     idle, since or on",
                ));
            }
        }
    }
    Ok((job, placing))
}

fn scale(words: &mut Words<'_>) -> Result<ScaleQuotas, String> {
    let mut scale = ScaleQuotas { targets: Vec::new(), mode: ScaleMode::Drain };
    while let Some(word) = words.take() {
        match word.split_once('=') {
            Some((quota, amount)) => {
                scale.targets.push(ScaleTarget { quota: words::quota(quota)?, min: amount::read(amount)? });
            }
            None if word == "evict" => scale.mode = ScaleMode::Evict,
            None => return Err(about(word, "should be QUOTA=GPUS or evict")),
        }
    }
    Ok(scale)
}

#[cfg(test)]
mod tests {
    use super::Line;
    use super::Question;
    use super::read;

    fn refusal(text: &str) -> String {
        read(text).unwrap_err().reason
    }

    #[test]
    fn what_says_nothing_asks_for_nothing() {
        assert_eq!(read("  "), Ok(None));
        assert_eq!(read("# a remark"), Ok(None));
    }

    #[test]
    fn a_line_that_cannot_be_read_says_what_should_stand_there() {
        assert_eq!(
            refusal("submitt a Q DLC p5 8"),
            "\"submitt\" is not known; a line begins with a verb such as quota, run or submit"
        );
        assert_eq!(refusal("submit a Q DLC p5"), "here should be pods such as 16 or 2x8");
        assert_eq!(refusal("submit a Q DLC p10 8"), "priority 10 is not between 1 and 9");
        assert_eq!(refusal("status a b"), "\"b\" is one word too many");
        assert_eq!(refusal("scale Q 8"), "\"Q\" should be QUOTA=GPUS or evict");
        assert!(refusal("quota Q 8 lending").starts_with("\"lending\" is not known here; write in, from, child-level"));
    }

    #[test]
    fn a_question_has_its_job() {
        let Ok(Some(Line::Ask(question, job))) = read("why train") else { panic!("no question") };
        assert_eq!((question, job.as_str()), (Question::Why, "train"));
    }
}
