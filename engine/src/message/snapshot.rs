//! The whole state as a document: ground facts, and the reasons that waiting jobs were last given.

use std::sync::Arc;

use serde::Deserialize;
use serde::Serialize;

use crate::job::hold::Hold;
use crate::market::bill::Account;
use crate::market::offer::SpotOffer;
use crate::message::FORMAT;
use crate::message::rejection::Rejection;
use crate::quota::tree::Quota;
use crate::state::cluster::Cluster;
use crate::state::cluster::Group;
use crate::state::cluster::Node;
use crate::state::job_list::JobList;
use crate::state::world::State;
use crate::unit::id::JobNo;
use crate::unit::id::QuotaNo;
use crate::unit::id::WorkspaceId;
use crate::unit::ordered::Map;
use crate::unit::sort;
use crate::workspace::key::AccessKey;
use crate::workspace::key::KeyId;
use crate::workspace::space::Workspace;

pub mod pieces;
mod sharing;

/// Of so many things one is written to learn how long they are.
const SAMPLED: usize = 64;
/// Room for everything else.
const ROOM: usize = 4_096;

/// A state on its way. Equal states have equal snapshots, and these equal bytes, on every target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Snapshot {
    /// The message format.
    pub format: u32,
    /// How many events made the state.
    pub revision: u64,
    /// What the cluster declares.
    pub cluster: Cluster,
    /// Resource groups by number.
    pub groups: Vec<Group>,
    /// Nodes by number, deleted ones included.
    pub nodes: Vec<Node>,
    /// Quotas by number, deleted ones included.
    pub quotas: Vec<Quota>,
    /// Workspaces by name.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub workspaces: Map<WorkspaceId, Workspace>,
    /// Access keys by name.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub keys: Map<KeyId, AccessKey>,
    /// The highest generation of a key that has been forgotten.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forgotten_generation: Option<u32>,
    /// Jobs with their numbers.
    #[serde(deserialize_with = "sharing::jobs")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<(JobNo, crate::state::jobs::Job)>"))]
    pub jobs: JobList,
    /// Free job numbers, the next one last.
    pub free_jobs: Vec<JobNo>,
    /// The spot market, if there ever was an offer.
    #[serde(default, skip_serializing_if = "MarketFacts::is_empty")]
    pub market: MarketFacts,
    /// The last slot whose round was decided.
    pub last_slot: Option<i64>,
    /// Slots that nobody decided.
    pub missed_slots: i64,
    /// Whether the next scheduled round has to judge everybody.
    pub is_stale: bool,
    /// For each class of waiting jobs its first job, and why they wait.
    pub holds: Vec<(JobNo, Arc<Hold>)>,
}

/// The ground facts of the spot market.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MarketFacts {
    /// Offers by number, removed ones included.
    pub offers: Vec<SpotOffer>,
    /// Jobs that hold or have held instances, with what they hold and have paid.
    pub accounts: Vec<(JobNo, Account)>,
    /// The day of the last scheduled round.
    pub day: i64,
}

impl MarketFacts {
    fn is_empty(&self) -> bool {
        self.offers.is_empty()
    }
}

impl Snapshot {
    /// The snapshot of a state.
    #[must_use]
    pub fn of(state: &State) -> Self {
        let mut holds: Vec<(JobNo, Arc<Hold>)> = state
            .queue
            .classes
            .iter()
            .filter_map(|class| Some((class.waiting.first()?, class.hold.clone()?)))
            .collect();
        sort::by_key(&mut holds, |(job, _)| *job);
        Self {
            format: FORMAT,
            revision: state.revision,
            cluster: state.cluster.clone(),
            groups: state.groups.clone(),
            nodes: state.nodes.clone(),
            quotas: state.quotas.clone(),
            workspaces: state.workspaces.clone(),
            keys: state.keys.clone(),
            forgotten_generation: state.forgotten_generation,
            jobs: JobList::of(&state.jobs),
            free_jobs: state.jobs.free().to_vec(),
            market: MarketFacts {
                offers: state.market.offers.clone(),
                accounts: state.market.accounts.iter().map(|(no, account)| (*no, *account)).collect(),
                day: state.market.day,
            },
            last_slot: state.last_slot,
            missed_slots: state.missed_slots,
            is_stale: state.queue.is_stale,
            holds,
        }
    }

    /// The state of this snapshot, with everything that is kept beside the ground facts.
    pub fn restore(self) -> Result<State, Rejection> {
        let Self {
            format,
            revision,
            cluster,
            groups,
            nodes,
            quotas,
            workspaces,
            keys,
            forgotten_generation,
            jobs,
            free_jobs,
            market,
            last_slot,
            missed_slots,
            is_stale,
            holds,
        } = self;
        if format != FORMAT {
            return Err(Rejection::UnknownFormat { format });
        }
        check_references(&groups, &nodes, &quotas, &jobs, &market)?;
        check_numbers(&jobs, &free_jobs)?;
        check_workspaces(&workspaces, &quotas)?;
        let mut state = State::default();
        state.revision = revision;
        state.cluster = cluster;
        state.groups = groups;
        state.nodes = nodes;
        state.quotas = quotas;
        state.workspaces = workspaces;
        state.keys = keys;
        state.forgotten_generation = forgotten_generation;
        state.jobs = jobs.into_jobs(free_jobs);
        state.market.offers = market.offers;
        state.market.accounts = market.accounts.into_iter().collect();
        state.market.day = market.day;
        state.last_slot = last_slot;
        state.missed_slots = missed_slots;
        state.rebuild();
        for (job, hold) in holds {
            if let Some(class) = state.jobs.get(job).and_then(|job| job.class) {
                state.queue.set_hold(class, hold, &state.jobs);
            }
        }
        // A state is stored between two rounds, so everybody who waits has been judged.
        state.settle();
        state.queue.is_stale = is_stale;
        Ok(state)
    }

    /// The canonical bytes.
    ///
    /// # Panics
    /// Never: a snapshot has no map keys but strings.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        // What outgrows its room is there three times while it moves.
        let room = room(self.jobs.iter(), self.jobs.len()) + room(self.holds.iter(), self.holds.len()) + ROOM;
        let mut bytes = Vec::with_capacity(room);
        serde_json::to_writer(&mut bytes, self).expect("a snapshot has string keys only, so it can always be written");
        bytes
    }
}

/// How many bytes a list takes, by a few of it and with a little more.
fn room<T: Serialize>(list: impl Iterator<Item = T>, len: usize) -> usize {
    let mut sample = Vec::new();
    for one in list.step_by(SAMPLED) {
        // What cannot be written is found when all of it is.
        let _ = serde_json::to_writer(&mut sample, &one);
    }
    let each = sample.len() / len.div_ceil(SAMPLED).max(1);
    len * (each + each / 16 + 1)
}

/// A snapshot that was damaged on its way is refused before anything is computed from it.
fn check_references(
    groups: &[Group],
    nodes: &[Node],
    quotas: &[Quota],
    jobs: &JobList,
    market: &MarketFacts,
) -> Result<(), Rejection> {
    let damaged = |what: String| Err(Rejection::Malformed { reason: format!("the snapshot is damaged: {what}") });
    if let Some(node) = nodes.iter().find(|node| node.group.at() >= groups.len()) {
        return damaged(format!("node {} names a resource group that is not there", node.id));
    }
    for (at, quota) in quotas.iter().enumerate() {
        let is_dangling = quota.parent.is_some_and(|parent| parent.at() >= at)
            || quota.groups.iter().any(|group| group.at() >= groups.len());
        if is_dangling || (quota.parent.is_none() && quota.groups.is_empty()) {
            return damaged(format!("quota {} names a parent or resource group that is not there", quota.id));
        }
    }
    for (_, job) in jobs.iter() {
        if let Some(spot) = &job.spec.spot {
            if spot.offer.at() >= market.offers.len() {
                return damaged(format!("job {} names an offer that is not there", job.spec.id));
            }
            continue;
        }
        let places = job.placed().map_or(&[][..], |placed| &placed.pods);
        let leaving = job.run.iter().flat_map(|run| &run.leaving).flat_map(|leaving| &leaving.pods);
        let home = job.placed().map(|placed| placed.home);
        if job.spec.quota.at() >= quotas.len()
            || places.iter().chain(leaving).any(|pod| nodes.get(pod.node.at()).is_none_or(|node| node.is_deleted))
            || home.is_some_and(|home| home.at() >= groups.len())
        {
            return damaged(format!("job {} names a quota or node that is not there", job.spec.id));
        }
    }
    Ok(())
}

/// Jobs and free numbers share the numbers from 0 on: a number beyond them would make room for all below it.
fn check_numbers(jobs: &JobList, free: &[JobNo]) -> Result<(), Rejection> {
    let mut is_taken = vec![false; jobs.len() + free.len()];
    for no in jobs.iter().map(|(no, _)| no).chain(free.iter().copied()) {
        match is_taken.get_mut(no.at()) {
            Some(is_known) if !*is_known => *is_known = true,
            Some(_) | None => {
                let (no, last) = (no.at(), is_taken.len() - 1);
                let reason = format!("the snapshot is damaged: job number {no} stands twice or is above {last}");
                return Err(Rejection::Malformed { reason });
            }
        }
    }
    Ok(())
}

fn check_workspaces(workspaces: &Map<WorkspaceId, Workspace>, quotas: &[Quota]) -> Result<(), Rejection> {
    let is_there = |quota: &QuotaNo| quotas.get(quota.at()).is_some_and(|quota| !quota.is_deleted);
    match workspaces.iter().find(|(_, workspace)| !workspace.quotas.iter().all(is_there)) {
        Some((id, _)) => Err(Rejection::Malformed {
            reason: format!("the snapshot is damaged: workspace {id} names a quota that is not there"),
        }),
        None => Ok(()),
    }
}
