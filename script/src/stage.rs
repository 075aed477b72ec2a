//! Sets the scene: what is there before anything happens.

use engine::job::phase::Charge;
use engine::message::command::AmountByName;
use engine::message::command::Command;
use engine::message::command::CreateCluster;
use engine::message::command::CreateQuota;
use engine::message::command::PutGroup;
use engine::message::command::PutNode;
use engine::message::command::SubmitJob;
use engine::message::rejection::Rejection;
use engine::state::cluster::Execution;
use engine::state::cluster::NodeStatus;
use engine::unit::amount::Dimension;
use engine::unit::amount::DimensionKind;
use engine::unit::id::GroupId;
use engine::unit::resource::ResourceType;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;

use crate::line::Placing;
use crate::line::Scene;
use crate::place;
use crate::session::Session;

/// Scenes are set a day after zero, so that jobs can have run for a while.
pub const BEGINNING: Timestamp = Timestamp(86_400_000);
/// How long a job of a `run` line has run, if the line does not say.
const SINCE: Millis = Millis::HOUR;

/// A scene that is being set.
#[derive(Clone, Debug)]
pub struct Stage {
    /// The cluster.
    pub session: Session,
    /// What all roots together need.
    machines: AmountByName,
    has_nodes: bool,
}

/// Why a scene cannot be set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The engine refuses it.
    Refused(Rejection),
    /// It cannot be so, in words.
    Impossible(String),
}

impl From<Rejection> for Trouble {
    fn from(rejection: Rejection) -> Self {
        Self::Refused(rejection)
    }
}

impl std::fmt::Display for Trouble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Refused(rejection) => rejection.fmt(f),
            Self::Impossible(reason) => f.write_str(reason),
        }
    }
}

impl Stage {
    /// A cluster without machines and quotas.
    ///
    /// # Errors
    /// Never: one dimension of GPUs is always taken.
    pub fn new() -> Result<Self, Rejection> {
        let mut session = Session::at(BEGINNING);
        let gpu = Dimension { name: "gpu".to_owned(), kind: DimensionKind::Gpu };
        session.stage(
            &Command::CreateCluster(CreateCluster { dimensions: vec![gpu], execution: Execution::Simulated }),
            BEGINNING,
        )?;
        let machines = AmountByName::from([("gpu".to_owned(), 0)]);
        Ok(Self { session, machines, has_nodes: false })
    }

    /// Sets a line of the scene.
    ///
    /// # Errors
    /// What the engine refuses, and what does not fit on the machines.
    pub fn set(&mut self, scene: &Scene) -> Result<(), Trouble> {
        match scene {
            Scene::Node { node, amount, is_cordoned } => {
                if !self.has_nodes {
                    self.has_nodes = true;
                    self.put_group(None)?;
                }
                let status = if *is_cordoned { NodeStatus::Cordoned } else { NodeStatus::Ready };
                let (node, amount) = (node.clone(), amount.clone());
                self.send(&Command::PutNode(PutNode {
                    node,
                    group: group()?,
                    node_type: None,
                    gpu_type: None,
                    amount,
                    status,
                }))
            }
            Scene::Quota { quota, min, parent, settings } => {
                let mut groups = Vec::new();
                if parent.is_none() {
                    groups.push(group()?);
                    if !self.has_nodes {
                        // A root without nodes gets as large a pool as it needs.
                        for (name, value) in min {
                            *self.machines.or_default(name.clone()) += value;
                        }
                        self.put_group(Some(self.machines.clone()))?;
                    }
                }
                self.send(&Command::CreateQuota(CreateQuota {
                    quota: quota.clone(),
                    parent: parent.clone(),
                    groups,
                    min: min.clone(),
                    settings: settings.as_ref().clone(),
                }))
            }
            Scene::Run(job, placing) => self.run(job, placing),
            Scene::Offer(offer) => self.send(&Command::CreateOffer(offer.clone())),
        }
    }

    fn run(&mut self, job: &SubmitJob, placing: &Placing) -> Result<(), Trouble> {
        let started = self.session.now - placing.since.unwrap_or(SINCE);
        self.session.stage(&Command::SubmitJob(job.clone()), started)?;
        let no = self.session.state.jobs.find(&job.job);
        let no = no.ok_or_else(|| Trouble::Impossible(format!("there is no job {}", job.job)))?;
        let nodes: Vec<Option<&str>> = placing.nodes.iter().map(|node| Some(node.as_str())).collect();
        place::start(&mut self.session, no, placing.charge.unwrap_or(Charge::InQuota), &nodes, started)
            .map_err(Trouble::Impossible)
    }

    fn put_group(&mut self, pool: Option<AmountByName>) -> Result<(), Trouble> {
        self.send(&Command::PutGroup(PutGroup { group: group()?, resource_type: ResourceType::Lingjun, pool }))
    }

    fn send(&mut self, command: &Command) -> Result<(), Trouble> {
        let now = self.session.now;
        self.session.stage(command, now)?;
        Ok(())
    }
}

fn group() -> Result<GroupId, Trouble> {
    GroupId::new("machines").map_err(|bad| Trouble::Impossible(bad.to_string()))
}
