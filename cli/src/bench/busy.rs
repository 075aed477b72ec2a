//! Clusters on which something comes and goes: what ends makes room, and new machines and quotas are registered.

use engine::message::command::AmountByName;
use engine::message::command::CancelJob;
use engine::message::command::Command;
use engine::message::command::CreateCluster;
use engine::message::command::CreateQuota;
use engine::message::command::Observation;
use engine::message::command::PutGroup;
use engine::message::command::PutNode;
use engine::message::command::Report;
use engine::quota::settings::QuotaSettings;
use engine::state::cluster::Execution;
use engine::state::cluster::NodeStatus;
use engine::state::world::State;
use engine::unit::amount::Dimension;
use engine::unit::amount::DimensionKind;
use engine::unit::amount::GPU;
use engine::unit::id::GroupId;
use engine::unit::id::JobId;
use engine::unit::id::NodeId;
use engine::unit::id::QuotaId;
use engine::unit::resource::ResourceType;

use crate::workload::Random;
use crate::workload::Workload;

/// GPUs of a node.
const NODE_GPUS: i64 = 8;
/// Children of each quota that has any.
const CHILDREN: u32 = 16;

/// A command with whether it lets go of what a job holds.
pub type Step = (Command, bool);

/// So many ends of running jobs, by somebody's wish and by themselves in turn, with a submission after each.
pub fn releases(state: &State, count: usize, more: Workload) -> Result<Vec<Step>, String> {
    let running = state.jobs.iter().filter(|(_, job)| job.is_running());
    let mut running: Vec<JobId> = running.map(|(_, job)| job.spec.id.clone()).collect();
    let mut random = Random::of(17);
    let mut steps = Vec::new();
    let mut submissions = more.submissions("more");
    for at in 0..count.min(running.len()) {
        let job = running.swap_remove(usize::try_from(random.below(running.len() as u64)).unwrap_or(0));
        let end = if at % 2 == 0 {
            Command::CancelJob(CancelJob { job })
        } else {
            Command::Report(Report { job, run: None, observed: Observation::Finished })
        };
        steps.push((end, true));
        if let Some(submit) = submissions.next().transpose()? {
            steps.push((Command::SubmitJob(submit), false));
        }
    }
    Ok(steps)
}

/// The commands that make a cluster of a group without nodes.
pub fn empty_group() -> Result<Vec<Command>, String> {
    let gpu = Dimension { name: "gpu".to_owned(), kind: DimensionKind::Gpu };
    Ok(vec![
        Command::CreateCluster(CreateCluster { dimensions: vec![gpu], execution: Execution::Simulated }),
        Command::PutGroup(PutGroup {
            group: group()?,
            resource_type: ResourceType::Lingjun,
            pool: None,
            on_silence: None,
        }),
    ])
}

/// The commands that register so many nodes.
pub fn nodes(count: u32) -> Result<Vec<Command>, String> {
    let node = |at: u32| {
        Ok(Command::PutNode(PutNode {
            node: NodeId::new(&format!("node-{at:05}")).map_err(|bad| bad.to_string())?,
            group: group()?,
            node_type: None,
            gpu_type: None,
            amount: amount(NODE_GPUS),
            status: NodeStatus::Ready,
        }))
    };
    (0..count).map(node).collect()
}

/// The commands that make so many quotas, the root with one GPU for each of them included.
pub fn quotas(count: u32) -> Result<Vec<Command>, String> {
    let below = |at: u32| {
        // What a subtree has is what its quotas have together.
        let (mut first, mut last, mut sum) = (at, at, 0);
        while first < count {
            sum += i64::from(last.min(count - 1) - first + 1);
            (first, last) = (first * CHILDREN + 1, last * CHILDREN + CHILDREN);
        }
        sum
    };
    let quota = |at: u32| {
        let id = |at: u32| QuotaId::new(&format!("q{at}")).map_err(|bad| bad.to_string());
        let parent = at.checked_sub(1).map(|before| id(before / CHILDREN)).transpose()?;
        let groups = if parent.is_none() { vec![group()?] } else { Vec::new() };
        let settings = QuotaSettings::default();
        Ok(Command::CreateQuota(CreateQuota { quota: id(at)?, parent, groups, min: amount(below(at)), settings }))
    };
    (0..count).map(quota).collect()
}

fn group() -> Result<GroupId, String> {
    GroupId::new("machines").map_err(|bad| bad.to_string())
}

fn amount(gpus: i64) -> AmountByName {
    AmountByName::from([("gpu".to_owned(), gpus * GPU)])
}

#[cfg(test)]
mod tests {
    use super::empty_group;
    use super::nodes;
    use super::quotas;
    use engine::unit::amount::GPU;
    use engine::unit::time::Timestamp;
    use script::session::Session;

    #[test]
    fn what_is_registered_is_there() {
        let mut session = Session::at(Timestamp(0));
        let all = [empty_group().unwrap(), nodes(50).unwrap(), quotas(300).unwrap()];
        for command in all.iter().flatten() {
            session.act(command).unwrap();
        }
        assert_eq!((session.state.nodes.len(), session.state.live_quotas().count()), (50, 300));
        let root = session.state.quotas[0].min.amount[0];
        assert_eq!(root, 300 * GPU, "every quota has a GPU of its own");
    }
}
