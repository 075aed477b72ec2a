//! The submit form as a value: what has been typed, what is wrong with it, and the command it makes.

use agent::script::Script;
use engine::job::spec::FaultTolerance;
use engine::job::spec::IdlePolicy;
use engine::message::command::AmountByName;
use engine::message::command::NodesByName;
use engine::message::command::PodGroup;
use engine::message::command::SubmitJob;
use engine::state::cluster::Cluster;
use engine::unit::id::JobId;
use engine::unit::id::QuotaId;
use engine::unit::id::WorkspaceId;
use engine::unit::priority::Module;
use engine::unit::priority::Priority;

use crate::amount::value;
use crate::duration;
use crate::job_field::Field;
use crate::script_draft::ScriptDraft;
use crate::spot_draft::SpotDraft;

/// What has been typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobDraft {
    /// The job's name.
    pub job: String,
    /// The quota's name.
    pub quota: String,
    /// The workspace's name, if any.
    pub workspace: String,
    /// The module.
    pub module: Module,
    /// The number of pods.
    pub pods: String,
    /// What each pod needs, by dimension.
    pub amounts: Vec<String>,
    /// 1 to 9.
    pub priority: u8,
    /// Idle resources.
    pub idle: IdlePolicy,
    /// Automatic fault tolerance.
    pub is_tolerant: bool,
    /// How often it is restarted at most.
    pub max_restarts: String,
    /// The checkpoint interval.
    pub checkpoint: String,
    /// The declared duration.
    pub duration: String,
    /// The bid, if it runs on the spot market.
    pub spot: SpotDraft,
    /// What it executes, where jobs really run.
    pub script: ScriptDraft,
}

impl JobDraft {
    /// An empty form for a cluster with these dimensions.
    #[must_use]
    pub fn new(cluster: &Cluster, job: String, quota: String) -> Self {
        let first_gpu = cluster.gpu_dimensions().next();
        let amounts = (0..cluster.dimensions.len()).map(|at| if first_gpu == Some(at) { "8" } else { "0" }.to_owned());
        Self {
            job,
            quota,
            workspace: String::new(),
            module: Module::Dlc,
            pods: "1".to_owned(),
            amounts: amounts.collect(),
            priority: 1,
            idle: IdlePolicy::Off,
            is_tolerant: false,
            max_restarts: "3".to_owned(),
            checkpoint: String::new(),
            duration: String::new(),
            spot: SpotDraft::default(),
            script: ScriptDraft::default(),
        }
    }

    /// Has it queued again when it is evicted.
    pub fn queue_again(&mut self) {
        self.is_tolerant = true;
        if self.max_restarts.trim() == "0" {
            "3".clone_into(&mut self.max_restarts);
        }
    }

    /// Whether the job runs on the spot market.
    #[must_use]
    pub fn bids(&self) -> bool {
        !self.spot.offer.is_empty()
    }

    /// What the job executes; none where jobs are simulated.
    pub fn script(&self, cluster: &Cluster) -> Result<Option<Script>, Vec<(Field, String)>> {
        if cluster.is_reported() { self.script.script().map(Some) } else { Ok(None) }
    }

    /// The command, or each fault with the field that has it.
    pub fn command(&self, cluster: &Cluster) -> Result<SubmitJob, Vec<(Field, String)>> {
        let mut faults = Vec::new();
        let mut keep = |field: Field, fault: String| faults.push((field, fault));
        let job = JobId::new(self.job.trim()).map_err(|fault| keep(Field::Job, fault.to_string())).ok();
        let spot = self.spot.request().map_err(|fault| keep(Field::Price, fault)).ok().flatten();
        let quota = QuotaId::new(&self.quota).ok().filter(|_| !self.bids());
        if quota.is_none() && !self.bids() {
            keep(Field::Quota, "choose a quota".to_owned());
        }
        let workspace = match self.workspace.trim() {
            "" => None,
            name => WorkspaceId::new(name).map_err(|fault| keep(Field::Workspace, fault.to_string())).ok(),
        };
        let count = whole(&self.pods, "pods").map_err(|fault| keep(Field::Pods, fault)).unwrap_or(1);
        let mut amount = AmountByName::new();
        // With a bid each pod takes a whole instance.
        for (at, dimension) in cluster.dimensions.iter().enumerate().filter(|_| !self.bids()) {
            let asked = |unit: &str| format!("Enter the {unit} that each pod needs; 0 for none");
            match self.amounts.get(at).map_or(Ok(0), |text| value(dimension, text, asked)) {
                Ok(0) => {}
                Ok(value) => drop(amount.insert(dimension.name.clone(), value)),
                Err(fault) => keep(Field::Amount(at), fault),
            }
        }
        let max_restarts = if self.is_tolerant { whole(&self.max_restarts, "restarts") } else { Ok(0) };
        let max_restarts = max_restarts.map_err(|fault| keep(Field::Restarts, fault)).unwrap_or(0);
        let checkpoint_ms =
            duration::parse(&self.checkpoint).map_err(|fault| keep(Field::Checkpoint, fault)).ok().flatten();
        let duration_ms = duration::parse(&self.duration).map_err(|fault| keep(Field::Duration, fault)).ok().flatten();
        let priority =
            Priority::new(i64::from(self.priority)).map_err(|fault| keep(Field::Priority, fault.to_string())).ok();
        match (job, priority) {
            (Some(job), Some(priority)) if faults.is_empty() => Ok(SubmitJob {
                job,
                quota,
                spot,
                workspace,
                user: None,
                name: None,
                module: self.module,
                priority,
                pods: vec![PodGroup { count, amount }],
                min_pods: None,
                nodes: NodesByName::default(),
                idle: if self.bids() { IdlePolicy::Off } else { self.idle },
                fault_tolerance: self.is_tolerant.then_some(FaultTolerance { max_restarts }),
                duration_ms,
                checkpoint_ms,
            }),
            _ => Err(faults),
        }
    }
}

fn whole(text: &str, things: &str) -> Result<u32, String> {
    match text.trim() {
        "" => Err(format!("Enter the number of {things}")),
        text => text.parse().map_err(|_| format!("“{text}” is not a whole number")),
    }
}

#[cfg(test)]
mod tests {
    use engine::unit::amount::Dimension;
    use engine::unit::amount::DimensionKind;

    use super::*;

    fn cluster() -> Cluster {
        Cluster {
            dimensions: vec![Dimension { name: "gpu".to_owned(), kind: DimensionKind::Gpu }],
            ..Cluster::default()
        }
    }

    fn draft() -> JobDraft {
        JobDraft::new(&cluster(), "train-1".to_owned(), "Quota1".to_owned())
    }

    #[test]
    fn a_new_form_is_a_command_already() {
        let command = draft().command(&cluster()).expect("nothing is missing");
        assert_eq!(command.pods, vec![PodGroup { count: 1, amount: AmountByName::from([("gpu".to_owned(), 8_000)]) }]);
    }

    #[test]
    fn every_fault_is_told_with_its_field() {
        let faults = JobDraft { job: String::new(), pods: "two".to_owned(), duration: "soon".to_owned(), ..draft() }
            .command(&cluster())
            .expect_err("three fields are wrong");
        assert_eq!(
            faults.iter().map(|(field, _)| *field).collect::<Vec<_>>(),
            [Field::Job, Field::Pods, Field::Duration]
        );
    }

    #[test]
    fn a_bid_stands_instead_of_a_quota_and_takes_whole_instances() {
        let mut bidding = draft();
        bidding.idle = IdlePolicy::Only;
        bidding.spot.choose("gn8".to_owned(), true);
        let SubmitJob { quota, spot, pods, idle, .. } = bidding.command(&cluster()).expect("nothing is missing");
        assert_eq!((quota, idle), (None, IdlePolicy::Off));
        assert_eq!(pods, [PodGroup { count: 1, amount: AmountByName::new() }]);
        assert_eq!(spot.and_then(|spot| spot.discount_percent), Some(40));
    }

    #[test]
    fn restarts_count_only_with_fault_tolerance() {
        assert!(JobDraft { max_restarts: "x".to_owned(), ..draft() }.command(&cluster()).is_ok());
        assert!(JobDraft { max_restarts: "x".to_owned(), is_tolerant: true, ..draft() }.command(&cluster()).is_err());
    }

    #[test]
    fn an_emptied_amount_is_asked_for() {
        let faults = JobDraft { amounts: vec![String::new()], pods: " ".to_owned(), ..draft() }.command(&cluster());
        let told = [
            (Field::Pods, "Enter the number of pods"),
            (Field::Amount(0), "Enter the GPUs that each pod needs; 0 for none"),
        ];
        assert_eq!(faults, Err(told.map(|(field, fault)| (field, fault.to_owned())).into()));
    }

    #[test]
    fn a_new_form_of_several_dimensions_is_a_command_already() {
        let dimensions = [("cpu", DimensionKind::Cpu), ("gpu", DimensionKind::Gpu), ("memory", DimensionKind::Memory)]
            .map(|(name, kind)| Dimension { name: name.to_owned(), kind });
        let cluster = Cluster { dimensions: dimensions.into(), ..Cluster::default() };
        let draft = JobDraft::new(&cluster, "train-1".to_owned(), "Quota1".to_owned());
        let command = draft.command(&cluster).expect("nothing is missing");
        assert_eq!(command.pods[0].amount, AmountByName::from([("gpu".to_owned(), 8_000)]));
    }
}
