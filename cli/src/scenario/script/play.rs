//! Plays the lines of a block, and collects what the engine says.

use engine::explain;
use engine::job::phase::Charge;
use engine::job::spec::FaultTolerance;
use engine::job::spec::IdlePolicy;
use engine::message::command::AmountByName;
use engine::message::command::CancelJob;
use engine::message::command::Command;
use engine::message::command::CreateCluster;
use engine::message::command::CreateQuota;
use engine::message::command::Observation;
use engine::message::command::PutGroup;
use engine::message::command::PutNode;
use engine::message::command::Report;
use engine::message::command::ScaleMode;
use engine::message::command::ScaleQuotas;
use engine::message::command::ScaleTarget;
use engine::message::command::SetPriority;
use engine::message::command::SubmitJob;
use engine::message::command::UpdateQuota;
use engine::message::event::Event;
use engine::message::rejection::Rejection;
use engine::state::cluster::Execution;
use engine::state::cluster::NodeStatus;
use engine::unit::amount::Dimension;
use engine::unit::amount::DimensionKind;
use engine::unit::id::GroupId;
use engine::unit::id::JobId;
use engine::unit::id::NodeId;
use engine::unit::id::QuotaId;
use engine::unit::resource::ResourceType;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;

use crate::scenario::place;
use crate::scenario::script::lines::Block;
use crate::scenario::script::lines::MARK;
use crate::scenario::script::words;
use crate::scenario::script::words::Words;
use crate::session::Session;

/// Scripts begin a day after zero, so that jobs can have run for a while.
const BEGINNING: Timestamp = Timestamp(86_400_000);
/// How long a job of a `run` line has run, if the line does not say.
const SINCE: Millis = Millis::HOUR;

/// What a block came to: its lines with what the engine said now, and the first line where that differs.
#[derive(Clone, Debug)]
pub struct Played {
    pub lines: Vec<String>,
    pub difference: Option<String>,
}

/// A script on its way.
pub(super) struct Script {
    pub(super) session: Session,
    machines: AmountByName,
    has_nodes: bool,
    pub(super) said: Vec<String>,
}

/// What is only needed to put a job on its place.
#[derive(Default)]
struct Placing<'a> {
    charge: Option<Charge>,
    since: Option<Millis>,
    nodes: Vec<Option<&'a str>>,
}

/// Plays a block. An error is a line that cannot be read.
pub fn block(block: &Block) -> Result<Played, String> {
    let mut script = Script::new().map_err(|rejection| rejection.to_string())?;
    let mut played = Played { lines: Vec::new(), difference: None };
    let mut at = 0;
    while at < block.lines.len() {
        let line = &block.lines[at];
        let number = block.first + at;
        at += 1;
        played.lines.push(line.clone());
        let asks = script.line(line).map_err(|problem| format!("line {number}: {problem}"))?;
        let expected: Vec<&str> = block.lines[at..].iter().map_while(|line| line.strip_prefix(MARK)).collect();
        at += expected.len();
        let is_last = at == block.lines.len();
        if asks || is_last || !expected.is_empty() {
            let said = std::mem::take(&mut script.said);
            played.lines.extend(said.iter().map(|sentence| format!("{MARK}{sentence}")));
            if played.difference.is_none() {
                played.difference = difference(number, &expected, &said);
            }
        }
    }
    Ok(played)
}

fn difference(number: usize, expected: &[&str], said: &[String]) -> Option<String> {
    let most = expected.len().max(said.len());
    let at = (0..most).find(|&at| expected.get(at).copied() != said.get(at).map(String::as_str))?;
    let shown = |sentence: Option<&str>| sentence.map_or_else(|| "nothing".to_owned(), |text| format!("{text:?}"));
    let (expected, got) = (shown(expected.get(at).copied()), shown(said.get(at).map(String::as_str)));
    Some(format!("after line {number}: expected {expected}, got {got}"))
}

impl Script {
    fn new() -> Result<Self, Rejection> {
        let mut session = Session::at(BEGINNING);
        let gpu = Dimension { name: "gpu".to_owned(), kind: DimensionKind::Gpu };
        session
            .send(&Command::CreateCluster(CreateCluster { dimensions: vec![gpu], execution: Execution::Simulated }))?;
        let machines = AmountByName::from([("gpu".to_owned(), 0)]);
        Ok(Self { session, machines, has_nodes: false, said: Vec::new() })
    }

    /// Plays a line; whether the engine is asked to speak after it.
    fn line(&mut self, line: &str) -> Result<bool, String> {
        let mut words = Words::of(line);
        let Some(verb) = words.take().filter(|verb| !verb.starts_with('#')) else { return Ok(false) };
        match verb {
            "node" => self.node(&mut words)?,
            "quota" => return self.quota(&mut words),
            "run" => self.run(&mut words)?,
            "submit" => {
                let (job, _) = Self::job(&mut words)?;
                self.send(&Command::SubmitJob(job));
                return Ok(false);
            }
            "round" => self.send(&Command::Round(engine::message::command::Round::default())),
            "advance" => {
                let to = self.session.now + words.period()?;
                self.advance(to);
            }
            "scale" => self.scale(&mut words)?,
            "update" => {
                let quota = quota_id(words.need("a quota")?)?;
                let (_, settings) = words::settings(&mut words)?;
                self.send(&Command::UpdateQuota(UpdateQuota { quota, settings }));
            }
            "cancel" => {
                let job = job_id(words.need("a job")?)?;
                self.send(&Command::CancelJob(CancelJob { job }));
            }
            "priority" => {
                let job = job_id(words.need("a job")?)?;
                let priority = words::priority(words.need("a priority")?)?;
                self.send(&Command::SetPriority(SetPriority { job, priority }));
            }
            "finish" => {
                let job = job_id(words.need("a job")?)?;
                self.send(&Command::Report(Report { job, observed: Observation::Finished }));
            }
            "remedy" => self.remedy(words.need("a job")?)?,
            "status" => self.status(words.need("a job")?)?,
            other => {
                let asks = self.market(other, &mut words)?.ok_or_else(|| {
                    format!("{other:?} is not known; the verbs are those at the top of cli/src/scenario/script/mod.rs")
                })?;
                return no_more(&mut words).map(|()| asks);
            }
        }
        no_more(&mut words).map(|()| !matches!(verb, "node" | "run"))
    }

    /// Sends a command; what it comes to, or why it is refused, is said.
    pub(super) fn send(&mut self, command: &Command) {
        match self.session.send(command) {
            Ok(events) => self.say(&events),
            Err(rejection) => self.said.push(format!("refused: {rejection}")),
        }
    }

    pub(super) fn say(&mut self, events: &[Event]) {
        let state = &self.session.state;
        let is_news = |event: &&Event| !matches!(event, Event::JobSubmitted { .. });
        self.said.extend(events.iter().filter(is_news).filter_map(|event| explain::event(state, event)));
    }

    fn advance(&mut self, to: Timestamp) {
        let before = self.session.log.len();
        if let Err(rejection) = self.session.advance(to) {
            self.said.push(format!("refused: {rejection}"));
        }
        let events = self.session.log[before..].to_vec();
        self.say(&events);
        self.send(&Command::Round(engine::message::command::Round::default()));
    }

    fn stage(&mut self, command: &Command) -> Result<(), String> {
        let now = self.session.now;
        self.session.stage(command, now).map(drop).map_err(|rejection| rejection.to_string())
    }

    fn node(&mut self, words: &mut Words<'_>) -> Result<(), String> {
        let node = NodeId::new(words.need("a name")?).map_err(|bad| bad.to_string())?;
        let amount = words.gpus()?;
        let status = match words.take() {
            None => NodeStatus::Ready,
            Some("cordoned") => NodeStatus::Cordoned,
            Some(other) => return Err(format!("{other:?} is not known here; write cordoned or nothing")),
        };
        if !self.has_nodes {
            self.has_nodes = true;
            self.stage(&Command::PutGroup(PutGroup {
                group: group()?,
                resource_type: ResourceType::Lingjun,
                pool: None,
            }))?;
        }
        self.stage(&Command::PutNode(PutNode {
            node,
            group: group()?,
            node_type: None,
            gpu_type: None,
            amount,
            status,
        }))
    }

    /// A quota; a root without nodes gets as large a pool as it needs. A refusal is said.
    fn quota(&mut self, words: &mut Words<'_>) -> Result<bool, String> {
        let quota = quota_id(words.need("a name")?)?;
        let min = words.gpus()?;
        let (parent, settings) = words::settings(words)?;
        let mut groups = Vec::new();
        if parent.is_none() {
            groups.push(group()?);
            if !self.has_nodes {
                for (name, value) in &min {
                    *self.machines.entry(name.clone()).or_default() += value;
                }
                let pool = Some(self.machines.clone());
                self.stage(&Command::PutGroup(PutGroup {
                    group: group()?,
                    resource_type: ResourceType::Lingjun,
                    pool,
                }))?;
            }
        }
        let parent = parent.as_deref().map(quota_id).transpose()?;
        Ok(self.stage_or_say(&Command::CreateQuota(CreateQuota { quota, parent, groups, min, settings })))
    }

    /// Sets the scene with a command; whether it is refused, which is said.
    pub(super) fn stage_or_say(&mut self, command: &Command) -> bool {
        let now = self.session.now;
        let refused = self.session.stage(command, now).err();
        self.said.extend(refused.iter().map(|rejection| format!("refused: {rejection}")));
        refused.is_some()
    }

    fn run(&mut self, words: &mut Words<'_>) -> Result<(), String> {
        let (job, placing) = Self::job(words)?;
        let name = job.job.clone();
        let started = self.session.now - placing.since.unwrap_or(SINCE);
        self.session.stage(&Command::SubmitJob(job), started).map_err(|rejection| rejection.to_string())?;
        let no = self.session.state.jobs.find(&name).ok_or_else(|| format!("there is no job {name}"))?;
        place::start(&mut self.session, no, placing.charge.unwrap_or(Charge::InQuota), &placing.nodes, started)
    }

    fn job<'a>(words: &mut Words<'a>) -> Result<(SubmitJob, Placing<'a>), String> {
        let mut job = SubmitJob {
            job: job_id(words.need("a name")?)?,
            quota: Some(quota_id(words.need("a quota")?)?),
            spot: None,
            workspace: None,
            user: None,
            name: None,
            module: words::module(words.need("a module")?)?,
            priority: words::priority(words.need("a priority such as p5")?)?,
            pods: words::pods(words.need("pods such as 16 or 2x8")?)?,
            min_pods: None,
            idle: IdlePolicy::Off,
            fault_tolerance: None,
            duration_ms: None,
            checkpoint_ms: None,
        };
        let mut placing = Placing::default();
        while let Some(word) = words.take() {
            match word {
                "acceptable" => job.idle = IdlePolicy::Acceptable,
                "only" => job.idle = IdlePolicy::Only,
                "fault-tolerance" => job.fault_tolerance = Some(FaultTolerance::default()),
                "for" => job.duration_ms = Some(words.period()?),
                "checkpoint" => job.checkpoint_ms = Some(words.period()?),
                "min" => job.min_pods = words.need("a number of pods")?.parse().ok(),
                "idle" => placing.charge = Some(Charge::Idle),
                "since" => placing.since = Some(words.period()?),
                "on" => placing.nodes = words.need("nodes")?.split(',').map(Some).collect(),
                other => {
                    return Err(format!(
                        "{other:?} is not known here; write acceptable, only, fault-tolerance, for, checkpoint, min, idle, since or on"
                    ));
                }
            }
        }
        Ok((job, placing))
    }

    fn scale(&mut self, words: &mut Words<'_>) -> Result<(), String> {
        let mut scale = ScaleQuotas { targets: Vec::new(), mode: ScaleMode::Drain };
        while let Some(word) = words.take() {
            match word.split_once('=') {
                Some((quota, amount)) => {
                    scale.targets.push(ScaleTarget { quota: quota_id(quota)?, min: words::gpus(amount)? });
                }
                None if word == "evict" => scale.mode = ScaleMode::Evict,
                None => return Err(format!("{word:?} should be QUOTA=GPUS or evict")),
            }
        }
        self.send(&Command::ScaleQuotas(scale));
        Ok(())
    }

    fn status(&mut self, name: &str) -> Result<(), String> {
        let no = self.session.state.jobs.find(&job_id(name)?).ok_or_else(|| format!("there is no job {name}"))?;
        let status = explain::status(&self.session.state.jobs[no]);
        self.said.push(format!("{name}: {}", status.as_str()));
        Ok(())
    }

    /// What would start a waiting job now.
    fn remedy(&mut self, name: &str) -> Result<(), String> {
        let no = self.session.state.jobs.find(&job_id(name)?).ok_or_else(|| format!("there is no job {name}"))?;
        let help = explain::why(&self.session.state, no, self.session.now).map(|why| why.help);
        self.said.push(match help {
            None => format!("{name} does not wait"),
            Some(None) => "No single change would start it now.".to_owned(),
            Some(Some(help)) => help.sentence,
        });
        Ok(())
    }
}

fn no_more(words: &mut Words<'_>) -> Result<(), String> {
    words.take().map_or(Ok(()), |word| Err(format!("{word:?} is one word too many")))
}

fn group() -> Result<GroupId, String> {
    GroupId::new("machines").map_err(|bad| bad.to_string())
}

fn quota_id(name: &str) -> Result<QuotaId, String> {
    QuotaId::new(name).map_err(|bad| bad.to_string())
}

pub(super) fn job_id(name: &str) -> Result<JobId, String> {
    JobId::new(name).map_err(|bad| bad.to_string())
}
