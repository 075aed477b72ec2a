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
use engine::state::cluster::Node;
use engine::state::cluster::NodeStatus;
use engine::unit::id::GroupId;
use engine::unit::id::JobId;
use engine::unit::id::JobNo;
use engine::unit::id::NodeId;
use engine::unit::resource::ResourceType;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;

use crate::amount;
use crate::fault::Fault;
use crate::line;
use crate::line::Line;
use crate::line::Placing;
use crate::line::Scene;
use crate::place;
use crate::session::Session;
use crate::words::Told;

/// Scenes are set a day after zero, so that jobs can have run for a while.
pub const BEGINNING: Timestamp = Timestamp(86_400_000);
/// How long a job of a `run` line has run, if the line does not say.
const SINCE: Millis = Millis::HOUR;

/// A scene that is being set.
#[derive(Clone, Debug)]
pub struct Stage {
    /// The cluster.
    pub session: Session,
    /// What all roots together need that name no resource group.
    machines: AmountByName,
    has_machines: bool,
    is_declared: bool,
    /// The jobs that lines have named so far.
    jobs: Vec<JobId>,
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
        let mut stage = Self {
            session: Session::at(BEGINNING),
            machines: AmountByName::new(),
            has_machines: false,
            is_declared: false,
            jobs: Vec::new(),
        };
        let dimensions = vec![amount::dimension(amount::GPU)];
        stage.declare(&CreateCluster { dimensions, execution: Execution::Simulated })?;
        Ok(stage)
    }

    /// Reads a line. A name that it gives to something must be a new one.
    ///
    /// # Errors
    /// In words: what is wrong, and what should stand there.
    pub fn read(&mut self, text: &str) -> Result<Option<Line>, Fault> {
        let line = line::read(text)?;
        let is_new = line.as_ref().map_or(Ok(()), |line| self.is_new(line));
        // A name is the second word.
        is_new.map(|()| line).map_err(|reason| Fault::of_word(text, 1, reason))
    }

    fn is_new(&mut self, line: &Line) -> Result<(), String> {
        if let Line::Act(Command::SubmitJob(job)) = line {
            return self.name(&job.job);
        }
        if let Line::Scene(Scene::Run(job, _)) = line {
            return self.name(&job.job);
        }
        let state = &self.session.state;
        if let Line::Scene(Scene::Quota { quota, .. }) = line
            && state.quota_no(quota).is_some()
        {
            return Err(["there is a quota ", quota.as_str(), " already; scale or update it"].concat());
        }
        if let Line::Scene(Scene::Node { node, .. }) = line
            && state.node_no(node).is_some()
        {
            return Err(["there is a node ", node.as_str(), " already; cordon or uncordon it"].concat());
        }
        Ok(())
    }

    fn name(&mut self, job: &JobId) -> Result<(), String> {
        if self.jobs.contains(job) {
            return Err(["there is a job ", job.as_str(), " already; give this one another name"].concat());
        }
        self.jobs.push(job.clone());
        Ok(())
    }

    /// Sets a line of the scene.
    ///
    /// # Errors
    /// What the engine refuses, and what does not fit on the machines.
    pub fn set(&mut self, scene: &Scene) -> Result<(), Trouble> {
        match scene {
            Scene::Cluster(create) => {
                if self.is_declared || !self.session.state.groups.is_empty() {
                    return Err(Trouble::Impossible("cluster stands once, before everything else".to_owned()));
                }
                self.is_declared = true;
                Ok(self.declare(create)?)
            }
            Scene::Group(put) => self.send(&Command::PutGroup(put.clone())),
            Scene::Node { node, group, amount, status } => {
                if group.is_none() && !self.has_machines {
                    self.has_machines = true;
                    self.put_machines(None)?;
                }
                let group = group.clone().map_or_else(machines, Ok)?;
                let (node, amount, status) = (node.clone(), amount.clone(), *status);
                self.send(&Command::PutNode(PutNode { node, group, node_type: None, gpu_type: None, amount, status }))
            }
            Scene::Quota { quota, min, told } => {
                let Told { parent, groups, settings } = told.as_ref().clone();
                let mut create = CreateQuota { quota: quota.clone(), parent, groups, min: min.clone(), settings };
                if create.parent.is_none() && create.groups.is_empty() {
                    create.groups.push(machines()?);
                    if !self.has_machines {
                        // A root without machines gets as large a pool as it needs.
                        for (name, value) in min {
                            *self.machines.or_default(name.clone()) += value;
                        }
                        self.put_machines(Some(self.machines.clone()))?;
                    }
                }
                self.send(&Command::CreateQuota(create))
            }
            Scene::Run(job, placing) => self.run(job, placing),
            Scene::Offer(offer) => self.send(&Command::CreateOffer(offer.clone())),
        }
    }

    /// The command after which new pods may start on a node, or may not.
    ///
    /// # Errors
    /// In words: there is no such node.
    pub fn cordon(&self, node: &NodeId, status: NodeStatus) -> Result<Command, String> {
        let state = &self.session.state;
        let no = state.node_no(node).ok_or_else(|| ["there is no node ", node.as_str()].concat())?;
        let Node { group, node_type, gpu_type, amount, .. } = state.nodes[no.at()].clone();
        Ok(Command::PutNode(PutNode {
            node: node.clone(),
            group: state.groups[group.at()].id.clone(),
            node_type,
            gpu_type,
            amount: state.cluster.named(&amount).collect(),
            status,
        }))
    }

    fn declare(&mut self, create: &CreateCluster) -> Result<(), Rejection> {
        self.session = Session::at(BEGINNING);
        self.session.stage(&Command::CreateCluster(create.clone()), BEGINNING)?;
        Ok(())
    }

    fn run(&mut self, job: &SubmitJob, placing: &Placing) -> Result<(), Trouble> {
        let started = self.session.now - placing.since.unwrap_or(SINCE);
        self.session.stage(&Command::SubmitJob(job.clone()), started)?;
        let no = self.session.state.jobs.find(&job.job);
        let no = no.ok_or_else(|| Trouble::Impossible(format!("there is no job {}", job.job)))?;
        if placing.charge.is_none() {
            self.holds(no)?;
        }
        let nodes: Vec<Option<&str>> = placing.nodes.iter().map(|node| Some(node.as_str())).collect();
        place::start(&mut self.session, no, placing.charge.unwrap_or(Charge::InQuota), &nodes, started)
            .map_err(Trouble::Impossible)
    }

    /// What runs in a quota is no more than the quota has; what is lent is `idle`.
    fn holds(&self, no: JobNo) -> Result<(), Trouble> {
        let state = &self.session.state;
        let spec = &state.jobs[no].spec;
        let (quota, used) = (&state.quotas[spec.quota.at()], &state.ledger.quotas[spec.quota.at()].used);
        let (asked, min) = (spec.shape.gang_amount(), &quota.min.amount);
        let over = asked.dimensions().find(|&at| asked[at] > 0 && used[at].saturating_add(asked[at]) > min[at]);
        let Some(at) = over.filter(|&at| quota.min.states(at)) else { return Ok(()) };
        Err(Trouble::Impossible(
            Rejection::DoesNotAddUp {
                quota: spec.id.to_string(),
                dimension: state.cluster.dimensions[at].clone(),
                needed: asked[at],
                from: quota.id.to_string(),
                left: min[at].saturating_sub(used[at]).max(0),
            }
            .to_string(),
        ))
    }

    fn put_machines(&mut self, pool: Option<AmountByName>) -> Result<(), Trouble> {
        self.send(&Command::PutGroup(PutGroup {
            group: machines()?,
            resource_type: ResourceType::Lingjun,
            pool,
            on_silence: None,
        }))
    }

    fn send(&mut self, command: &Command) -> Result<(), Trouble> {
        let now = self.session.now;
        self.session.stage(command, now)?;
        Ok(())
    }
}

/// The resource group of what names none.
fn machines() -> Result<GroupId, Trouble> {
    GroupId::new("machines").map_err(|bad| Trouble::Impossible(bad.to_string()))
}

#[cfg(test)]
mod tests {
    use super::Stage;
    use crate::line::Line;

    /// What is wrong with the first of these lines that is.
    fn trouble(lines: &[&str]) -> String {
        let mut stage = Stage::new().unwrap();
        for text in lines {
            match stage.read(text) {
                Ok(Some(Line::Scene(scene))) => match stage.set(&scene) {
                    Ok(()) => {}
                    Err(trouble) => return trouble.to_string(),
                },
                Ok(_) => {}
                Err(fault) => return fault.reason,
            }
        }
        panic!("nothing is wrong")
    }

    #[test]
    fn a_name_is_given_once() {
        assert_eq!(trouble(&["quota A 8", "quota A 4"]), "there is a quota A already; scale or update it");
        assert_eq!(trouble(&["node n 8", "node n 8"]), "there is a node n already; cordon or uncordon it");
        let named = "there is a job a already; give this one another name";
        assert_eq!(trouble(&["quota A 8", "run a A DLC p1 1", "submit a A DLC p2 1"]), named);
        assert_eq!(trouble(&["submit a A DLC p1 1", "bid a gn7 1"]), named);
    }

    #[test]
    fn children_have_no_more_than_their_parent_in_every_dimension() {
        assert_eq!(
            trouble(&["cluster gpu cpu", "quota R 8,cpu=64", "quota A 4,cpu=65 in R"]),
            "A would need 65 CPUs, R has 64 left"
        );
    }

    #[test]
    fn the_cluster_is_declared_first_and_once() {
        for lines in [["quota A 8", "cluster h100"], ["cluster h100", "cluster a100"]] {
            assert_eq!(trouble(&lines), "cluster stands once, before everything else");
        }
    }

    #[test]
    fn a_root_draws_on_the_groups_that_it_names() {
        let lines = ["group old 8", "group new general 8", "quota A 16 from old", "quota B 8 from new"];
        assert_eq!(trouble(&lines), "A would need 16 GPUs, resource group old has 8 left");
    }

    #[test]
    fn a_node_is_cordoned_by_its_name() {
        let mut stage = Stage::new().unwrap();
        let Ok(Some(Line::Cordon(node, status))) = stage.read("cordon n1") else { panic!("no node is named") };
        assert_eq!(stage.cordon(&node, status).unwrap_err(), "there is no node n1");
    }
}
