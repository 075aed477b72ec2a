//! Clusters of any size for figures and tests: the same numbers give the same cluster, everywhere.

use engine::job::spec::IdlePolicy;
use engine::message::command::AmountByName;
use engine::message::command::Command;
use engine::message::command::CreateCluster;
use engine::message::command::CreateQuota;
use engine::message::command::PodGroup;
use engine::message::command::PutGroup;
use engine::message::command::PutNode;
use engine::message::command::SubmitJob;
use engine::quota::policy::ChildLevelPreemption;
use engine::quota::policy::Scope;
use engine::quota::policy::SelfLevelPreemption;
use engine::quota::settings::QuotaSettings;
use engine::state::cluster::Execution;
use engine::state::cluster::NodeStatus;
use engine::unit::amount::Dimension;
use engine::unit::amount::DimensionKind;
use engine::unit::amount::GPU;
use engine::unit::id::GroupId;
use engine::unit::id::JobId;
use engine::unit::id::NodeId;
use engine::unit::id::QuotaId;
use engine::unit::priority::Module;
use engine::unit::priority::Priority;
use engine::unit::priority::PrioritySet;
use engine::unit::resource::ResourceType;
use engine::unit::time::Timestamp;

use script::session::Session;

/// Numbers that look random and are not: xorshift64*.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The sequence of a seed.
    #[must_use]
    pub fn of(seed: u64) -> Self {
        Self(seed.max(1))
    }

    /// The next number below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % limit.max(1)
    }
}

/// What a cluster is to be like.
#[derive(Clone, Copy, Debug)]
pub struct Workload {
    /// Quotas, the root included.
    pub quotas: u32,
    /// Levels of the tree, the root included.
    pub depth: u32,
    /// Nodes with 8 GPUs each; none for a pool.
    pub nodes: u32,
    /// GPUs of the pool if there are no nodes.
    pub pool_gpus: u32,
    /// The largest running job, in GPUs; running jobs fill every leaf quota.
    pub running_gpus_max: u64,
    /// Waiting jobs.
    pub queued: u32,
    /// Whether every quota has a preemption policy, and the waiting jobs are of high priority.
    pub has_preemption: bool,
    /// Where the numbers come from.
    pub seed: u64,
}

const NODE_GPUS: i64 = 8;
/// Sizes of waiting jobs, in GPUs; small ones are more frequent, as in real traces.
const SIZES: [i64; 10] = [1, 1, 1, 1, 2, 2, 4, 8, 16, 32];

/// A tree of quotas as parents and amounts in GPUs.
struct Tree {
    parents: Vec<Option<u32>>,
    amounts: Vec<i64>,
    leaves: Vec<u32>,
}

impl Workload {
    /// The cluster, full, with the waiting jobs submitted and not judged yet.
    pub fn build(&self) -> Result<Session, String> {
        let mut session = self.full()?;
        let now = session.now;
        for submit in self.submissions("waiting") {
            session.stage(&Command::SubmitJob(submit?), now).map_err(|rejection| rejection.to_string())?;
            session.log.clear();
        }
        Ok(session)
    }

    /// The waiting jobs, under names that begin so. They are made one by one, so that they are not in memory beside the
    /// jobs that are measured.
    pub fn submissions(self, name: &str) -> impl Iterator<Item = Result<SubmitJob, String>> {
        let mut random = Random::of(self.seed ^ 0x5EED);
        let tree = self.tree();
        (0..self.queued).map(move |at| self.waiting(&mut random, &tree, at, name))
    }

    /// The cluster with running jobs that fill it.
    pub fn full(&self) -> Result<Session, String> {
        let mut session = Session::at(Timestamp(0));
        let tree = self.tree();
        self.machines(&mut session)?;
        for at in 0..tree.parents.len() {
            let create = self.quota(&tree, at)?;
            session.stage(&Command::CreateQuota(create), Timestamp(0)).map_err(|rejection| rejection.to_string())?;
        }
        let mut random = Random::of(self.seed);
        let mut count = 0;
        for leaf in &tree.leaves {
            let mut left = tree.amounts[usize::try_from(*leaf).unwrap_or(0)];
            while left > 0 {
                let largest = left.min(NODE_GPUS).min(i64::try_from(self.running_gpus_max).unwrap_or(NODE_GPUS));
                let gpus = 1 + i64::try_from(random.below(u64::try_from(largest).unwrap_or(1))).unwrap_or(0);
                let priority = 1 + random.below(5);
                let submit = job(&format!("running-{count}"), *leaf, priority, gpus, IdlePolicy::Off)?;
                session.stage(&Command::SubmitJob(submit), Timestamp(0)).map_err(|rejection| rejection.to_string())?;
                left -= gpus;
                count += 1;
            }
        }
        session.round().map_err(|rejection| rejection.to_string())?;
        session.now = Timestamp(3_600_000);
        session.log = Vec::new();
        Ok(session)
    }

    fn gpus(&self) -> i64 {
        if self.nodes > 0 { i64::from(self.nodes) * NODE_GPUS } else { i64::from(self.pool_gpus) }
    }

    fn machines(&self, session: &mut Session) -> Result<(), String> {
        let gpu = Dimension { name: "gpu".to_owned(), kind: DimensionKind::Gpu };
        let group = GroupId::new("machines").map_err(|bad| bad.to_string())?;
        let pool = (self.nodes == 0).then(|| amount(self.gpus()));
        let mut commands = vec![
            Command::CreateCluster(CreateCluster { dimensions: vec![gpu], execution: Execution::Simulated }),
            Command::PutGroup(PutGroup {
                group: group.clone(),
                resource_type: ResourceType::Lingjun,
                pool,
                on_silence: None,
            }),
        ];
        for at in 0..self.nodes {
            let node = NodeId::new(&format!("node-{at:05}")).map_err(|bad| bad.to_string())?;
            commands.push(Command::PutNode(PutNode {
                node,
                group: group.clone(),
                node_type: None,
                gpu_type: None,
                amount: amount(NODE_GPUS),
                status: NodeStatus::Ready,
            }));
        }
        for command in &commands {
            session.stage(command, Timestamp(0)).map_err(|rejection| rejection.to_string())?;
        }
        Ok(())
    }

    /// The narrowest tree of this many quotas and levels; the leaves share the GPUs, inner quotas keep none.
    fn tree(&self) -> Tree {
        let count = self.quotas.max(1);
        let holds =
            |width: u32| (0..self.depth.max(1)).fold(0u64, |sum, _| sum * u64::from(width) + 1) >= u64::from(count);
        let width = (1..=count).find(|width| holds(*width)).unwrap_or(count);
        let parents: Vec<Option<u32>> = (0..count).map(|at| at.checked_sub(1).map(|before| before / width)).collect();
        let is_inner = |at: u32| parents.contains(&Some(at));
        let first_leaf = (0..count).find(|at| !is_inner(*at)).unwrap_or(0);
        let leaves: Vec<u32> = (first_leaf..count).collect();
        let mut amounts = vec![0; parents.len()];
        let shares = i64::try_from(leaves.len()).unwrap_or(1);
        for (at, leaf) in (0i64..).zip(&leaves) {
            let share = self.gpus() / shares + i64::from(at < self.gpus() % shares);
            let mut next = Some(*leaf);
            while let Some(quota) = next {
                let quota = usize::try_from(quota).unwrap_or(0);
                amounts[quota] += share;
                next = parents[quota];
            }
        }
        Tree { parents, amounts, leaves }
    }

    fn quota(&self, tree: &Tree, at: usize) -> Result<CreateQuota, String> {
        let no = u32::try_from(at).unwrap_or(u32::MAX);
        let parent = tree.parents[at].map(quota_id).transpose()?;
        let mut settings = QuotaSettings { grace_period: engine::unit::time::Millis::ZERO, ..QuotaSettings::default() };
        if self.has_preemption && tree.leaves.contains(&no) {
            let (high, low, modules) = (range(6, 9), range(1, 4), Module::ALL.into_iter().collect());
            settings.self_level = Some(SelfLevelPreemption { high, low, modules, scope: Scope::SameLevel });
        } else if self.has_preemption {
            settings.child_level =
                Some(ChildLevelPreemption { preemptible: range(1, 3), modules: Module::ALL.into_iter().collect() });
        }
        let groups =
            if parent.is_none() { vec![GroupId::new("machines").map_err(|bad| bad.to_string())?] } else { Vec::new() };
        Ok(CreateQuota { quota: quota_id(no)?, parent, groups, min: amount(tree.amounts[at]), settings })
    }

    fn waiting(&self, random: &mut Random, tree: &Tree, at: u32, name: &str) -> Result<SubmitJob, String> {
        let leaf =
            |random: &mut Random| tree.leaves[usize::try_from(random.below(tree.leaves.len() as u64)).unwrap_or(0)];
        let size = SIZES[usize::try_from(random.below(SIZES.len() as u64)).unwrap_or(0)];
        if self.has_preemption {
            let inner = tree.leaves.first().map_or(1, |first| u64::from((*first).max(1)));
            let quota =
                if at.is_multiple_of(4) { u32::try_from(random.below(inner)).unwrap_or(0) } else { leaf(random) };
            return job(&format!("{name}-{at:06}"), quota, 6 + random.below(4), size.min(NODE_GPUS), IdlePolicy::Off);
        }
        let idle = [IdlePolicy::Off, IdlePolicy::Off, IdlePolicy::Acceptable, IdlePolicy::Only];
        let idle = idle[usize::try_from(random.below(4)).unwrap_or(0)];
        let quota = leaf(random);
        job(&format!("{name}-{at:06}"), quota, 1 + random.below(9), size, idle)
    }
}

/// A job of pods with at most 8 GPUs.
fn job(name: &str, quota: u32, priority: u64, gpus: i64, idle: IdlePolicy) -> Result<SubmitJob, String> {
    let count = u32::try_from((gpus / NODE_GPUS).max(1)).unwrap_or(1);
    let pods = vec![PodGroup { count, amount: amount(gpus.min(NODE_GPUS)) }];
    Ok(SubmitJob {
        quota: Some(quota_id(quota)?),
        priority: Priority::new(i64::try_from(priority).unwrap_or(1)).map_err(|bad| bad.to_string())?,
        idle,
        ..SubmitJob::new(JobId::new(name).map_err(|bad| bad.to_string())?, pods)
    })
}

fn amount(gpus: i64) -> AmountByName {
    AmountByName::from([("gpu".to_owned(), gpus * GPU)])
}

fn quota_id(no: u32) -> Result<QuotaId, String> {
    QuotaId::new(&format!("q{no}")).map_err(|bad| bad.to_string())
}

fn range(low: i64, high: i64) -> PrioritySet {
    (low..=high).filter_map(|value| Priority::new(value).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::Workload;

    const SMALL: Workload = Workload {
        quotas: 16,
        depth: 3,
        nodes: 8,
        pool_gpus: 0,
        running_gpus_max: 4,
        queued: 50,
        has_preemption: true,
        seed: 7,
    };

    #[test]
    fn the_same_numbers_give_the_same_cluster() {
        assert_eq!(SMALL.build().unwrap().state, SMALL.build().unwrap().state);
    }

    #[test]
    fn a_full_cluster_is_full() {
        let session = SMALL.full().unwrap();
        let root = session.state.domains.list[0].roots[0];
        let used = session.state.ledger.quotas[root.at()].used;
        assert_eq!(used, session.state.quotas[root.at()].min.amount);
    }

    #[test]
    fn it_has_what_was_asked_for() {
        let session = SMALL.build().unwrap();
        assert_eq!(session.state.live_quotas().count(), 16);
        assert_eq!(session.state.jobs.iter().filter(|(_, job)| job.is_queued()).count(), 50);
    }
}
