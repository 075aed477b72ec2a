//! The whole state: what is true, and what is kept beside it.
//!
//! Ground facts are what the events say. Everything else here can be recomputed from them by [`State::rebuild`]
//! and is kept so that a round costs only what changed; it never changes what is decided.

use std::sync::Arc;

use crate::job::phase::Phase;
use crate::job::spec::JobSpec;
use crate::job::weight;
use crate::ledger;
use crate::ledger::DomainUse;
use crate::ledger::Ledger;
use crate::ledger::Sign;
use crate::placement::floor::Floor;
use crate::quota::settings::QueueStrategy;
use crate::quota::tree::Quota;
use crate::state::cluster::Cluster;
use crate::state::cluster::Group;
use crate::state::cluster::Node;
use crate::state::domain::Domains;
use crate::state::jobs::Job;
use crate::state::jobs::Jobs;
use crate::state::market::Market;
use crate::state::preemption_order::Entitled;
use crate::state::preemption_order::PreemptionOrder;
use crate::state::queue::Queue;
use crate::state::waiting::Half;
use crate::state::watch::Openings;
use crate::unit::amount::Amount;
use crate::unit::id::DomainNo;
use crate::unit::id::GroupId;
use crate::unit::id::GroupNo;
use crate::unit::id::JobNo;
use crate::unit::id::NodeId;
use crate::unit::id::NodeNo;
use crate::unit::id::QuotaId;
use crate::unit::id::QuotaNo;
use crate::unit::id::WorkspaceId;
use crate::unit::ordered::Map;
use crate::unit::ordered::Set;
use crate::unit::priority::Priority;
use crate::unit::time::Millis;
use crate::unit::time::Timestamp;
use crate::workspace::key::AccessKey;
use crate::workspace::key::KeyId;
use crate::workspace::space::Workspace;

/// The state of one cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// How many events made it.
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
    pub workspaces: Map<WorkspaceId, Workspace>,
    /// Access keys by name. Those that serve no more are kept while there is room.
    pub keys: Map<KeyId, AccessKey>,
    /// The highest generation of a key that has been forgotten. New keys begin above it, so that a name that comes again
    /// does not bring its old secret back.
    pub forgotten_generation: Option<u32>,
    /// Jobs.
    pub jobs: Jobs,
    /// Offers, and what jobs with a bid hold and have paid.
    pub market: Market,
    /// The last slot whose round was decided.
    pub last_slot: Option<i64>,
    /// Slots that nobody decided.
    pub missed_slots: i64,

    /// Kept: groups, roots and nodes that belong together.
    pub domains: Domains,
    /// Kept: who uses what.
    pub ledger: Ledger,
    /// Kept: what is free where.
    pub floor: Floor,
    /// Kept: what each domain could lend if nobody used anything, by domain number.
    pub lendable: Vec<DomainUse>,
    /// Kept: who waits.
    pub queue: Queue,
    /// Kept: when time alone changes something, and for which job.
    pub timers: Set<(Timestamp, JobNo)>,
    /// Kept: those of these that are about jobs that wait for their next turn.
    pub returning: Set<(Timestamp, JobNo)>,
    /// Kept: jobs with a charge, running or about to, by quota, the least important first.
    pub running: Vec<Set<(Priority, JobNo)>>,
    /// Kept: running jobs in quota, by quota.
    pub in_quota: Vec<PreemptionOrder>,
    /// Kept: running jobs whose gang or pods are on idle amounts, by domain.
    pub on_idle: Vec<PreemptionOrder>,
    /// Kept: who of these would rather be in quota, where their quota has machines of their own.
    pub entitled: Entitled,
    /// Kept: running elastic jobs that could have more pods.
    pub growing: Set<JobNo>,
    /// Kept: services with each of their parts that has not ended.
    pub(super) parts: Set<(JobNo, JobNo)>,
    /// Kept: ended jobs, the earliest first.
    pub ended: Set<(Timestamp, JobNo)>,
    /// Kept: what ended jobs count for.
    pub ended_weight: u64,
    /// Kept: jobs that have been told to stop.
    pub stopping: Set<JobNo>,
    /// Kept: jobs of which pods have been told to leave.
    pub shedding: Set<JobNo>,
    /// Kept: when what ran on silent nodes is lost.
    pub silences: Set<(Timestamp, NodeNo)>,
    /// Kept: quotas that use more than their amount.
    pub over: Set<QuotaNo>,
    pub(super) children: Vec<Vec<QuotaNo>>,
    pub(super) quota_names: Map<QuotaId, QuotaNo>,
    pub(super) group_names: Map<GroupId, GroupNo>,
    pub(super) node_names: Map<NodeId, NodeNo>,
}

impl State {
    /// The quota named so, if it has not been deleted.
    #[must_use]
    pub fn quota_no(&self, id: &QuotaId) -> Option<QuotaNo> {
        self.quota_names.get(id).copied()
    }

    /// The resource group named so.
    #[must_use]
    pub fn group_no(&self, id: &GroupId) -> Option<GroupNo> {
        self.group_names.get(id).copied()
    }

    /// The node named so, if it has not been deleted.
    #[must_use]
    pub fn node_no(&self, id: &NodeId) -> Option<NodeNo> {
        self.node_no_ever(id).filter(|no| !self.nodes[no.at()].is_deleted)
    }

    /// The number that a node of this name has or had: one that comes again is the same to those who name it.
    #[must_use]
    pub fn node_no_ever(&self, id: &NodeId) -> Option<NodeNo> {
        self.node_names.get(id).copied()
    }

    /// Nodes that have not been deleted, by number.
    pub fn live_nodes(&self) -> impl Iterator<Item = (NodeNo, &Node)> {
        let nodes = self.nodes.iter().enumerate().filter(|(_, node)| !node.is_deleted);
        nodes.map(|(at, node)| (NodeNo::from_index(at), node))
    }

    /// Quotas that have not been deleted, by number.
    pub fn live_quotas(&self) -> impl Iterator<Item = (QuotaNo, &Quota)> {
        self.quotas
            .iter()
            .enumerate()
            .filter(|(_, quota)| !quota.is_deleted)
            .map(|(at, quota)| (QuotaNo::from_index(at), quota))
    }

    /// The children of a quota, by number.
    pub fn children(&self, parent: QuotaNo) -> impl Iterator<Item = (QuotaNo, &Quota)> {
        self.children[parent.at()].iter().map(|no| (*no, &self.quotas[no.at()]))
    }

    /// Whether a quota has children.
    #[must_use]
    pub fn has_children(&self, quota: QuotaNo) -> bool {
        !self.children[quota.at()].is_empty()
    }

    /// A quota and all its descendants, parents before their children.
    #[must_use]
    pub fn subtree(&self, quota: QuotaNo) -> Vec<QuotaNo> {
        let mut subtree = vec![quota];
        let mut at = 0;
        while at < subtree.len() {
            subtree.extend(&self.children[subtree[at].at()]);
            at += 1;
        }
        subtree
    }

    /// The name of what a job draws on: its quota or its offer.
    #[must_use]
    pub fn drawn_on(&self, spec: &JobSpec) -> &str {
        match &spec.spot {
            Some(spot) => self.market.offers[spot.offer.at()].id.as_str(),
            None => self.quotas[spec.quota.at()].id.as_str(),
        }
    }

    /// The workspace that a job belongs to. One that was deleted since is none, and another of its name is another.
    #[must_use]
    pub fn workspace_of(&self, job: &Job) -> Option<&Workspace> {
        let named = self.workspaces.get(job.spec.workspace.as_ref()?)?;
        (named.created <= job.submitted).then_some(named)
    }

    /// How long an evicted job may take to stop: its quota or its offer says so.
    #[must_use]
    pub fn grace_period(&self, spec: &JobSpec) -> Millis {
        match &spec.spot {
            Some(spot) => self.market.offers[spot.offer.at()].terms.grace_period,
            None => self.quotas[spec.quota.at()].settings.grace_period,
        }
    }

    /// Jobs with a gang or pods on idle amounts of a domain.
    pub fn idle_jobs(&self, domain: DomainNo) -> impl Iterator<Item = JobNo> + '_ {
        self.on_idle[domain.at()].jobs()
    }

    /// Whether anybody waits whom a round could serve: in the queue, or with a bid.
    #[must_use]
    pub fn is_waited_for(&self) -> bool {
        !self.queue.quotas.is_empty() || self.market.desks.iter().any(|desk| !desk.waiting.is_empty())
    }

    /// When somebody first takes a reservation over that a scheduled round has not seen; everybody is judged anew then,
    /// since nobody is told what such a one no longer keeps from them.
    #[must_use]
    pub fn next_takeover(&self) -> Option<Timestamp> {
        self.queue.next_takeover(self.last_scheduled(), &self.jobs)
    }

    /// The minute of the last scheduled round.
    fn last_scheduled(&self) -> Timestamp {
        self.last_slot.map_or(Timestamp(0), |slot| Timestamp(slot.saturating_mul(Millis::MINUTE.0)))
    }

    /// Whether the next scheduled round has to ask everybody: somebody has started or gone, or has taken a reservation
    /// over, since the last one.
    #[must_use]
    pub fn is_stale(&self, now: Timestamp) -> bool {
        self.queue.is_stale || self.is_taken_over(now)
    }

    /// Whether somebody has taken a reservation over since the last scheduled round.
    #[must_use]
    pub fn is_taken_over(&self, now: Timestamp) -> bool {
        self.next_takeover().is_some_and(|at| at < now)
    }

    /// Whether a round has anything to judge now.
    #[must_use]
    pub fn is_settled(&self, now: Timestamp) -> bool {
        self.queue.is_settled(now) && self.market.fresh.is_empty()
    }

    /// Notes that everything has been judged.
    pub fn settle(&mut self) {
        self.queue.settle(&self.jobs);
        if !self.queue.watch.is_settled() {
            let mut watch = std::mem::take(&mut self.queue.watch);
            watch.settle(|quota| self.openings(quota));
            self.queue.watch = watch;
        }
        self.market.settle();
    }

    /// What may let somebody in who waits in a quota. The head of a strict queue is asked for the others, always.
    #[must_use]
    pub fn openings(&self, no: QuotaNo) -> Openings {
        let Some(waiting) = self.queue.waiting_in(no) else { return Openings::default() };
        let (quota, domain) = (&self.quotas[no.at()], self.domains.of_quota(no));
        if quota.settings.strategy == QueueStrategy::StrictFifo {
            return Openings { by_right: true, idle: Some((domain, Amount::ZERO)) };
        }
        let is_short = |asked: &Amount| ledger::is_short_of_own(&quota.min, &self.ledger.quotas[no.at()], asked);
        Openings {
            by_right: !waiting.is_settled(Half::ByRight, is_short),
            idle: waiting.least_free(Half::Idle).map(|least| (domain, least)),
        }
    }

    /// Recomputes everything that is kept beside the ground facts. Why classes wait is not known then.
    pub fn rebuild(&mut self) {
        self.rebuild_structure();
        let is_stale = self.queue.is_stale;
        self.queue = Queue::default();
        self.market.rebuild();
        self.timers.clear();
        self.returning.clear();
        self.ended.clear();
        self.ended_weight = 0;
        self.parts.clear();
        let numbers: Vec<JobNo> = self.jobs.iter().map(|(no, _)| no).collect();
        for no in numbers {
            self.join_service(no);
            self.index(no);
        }
        self.queue.open.everybody = true;
        self.queue.is_stale = is_stale;
    }

    /// Takes a job into everything that is kept about its phase, but for what it holds.
    fn index(&mut self, no: JobNo) {
        let job = &self.jobs[no];
        match &job.phase {
            Phase::Queued { .. } => self.enter_queue(no),
            Phase::Running { .. } | Phase::Stopping { .. } | Phase::Starting { .. } => {
                self.set_timer(no);
                self.book_bid(no, Sign::Add);
            }
            Phase::Ended { .. } => self.list_ended(no, Sign::Add),
        }
    }

    /// Lists an ended job, or strikes it off the list before it is forgotten.
    pub fn list_ended(&mut self, no: JobNo, sign: Sign) {
        let job = &self.jobs[no];
        let Phase::Ended { at, .. } = job.phase else { return };
        let weight = weight::of(&job.spec);
        match sign {
            Sign::Add => {
                self.ended.insert((at, no));
                self.ended_weight += weight;
            }
            Sign::Remove => {
                self.ended.remove(&(at, no));
                self.ended_weight = self.ended_weight.saturating_sub(weight);
            }
        }
    }

    /// Puts a waiting job into the queue, or sets its timer while it is not to be judged.
    pub fn enter_queue(&mut self, no: JobNo) {
        let job = &self.jobs[no];
        let Phase::Queued { not_before } = &job.phase else { return };
        if job.bids() {
            self.book_bid(no, Sign::Add);
            return;
        }
        if let Some(until) = not_before {
            self.timers.insert((*until, no));
            self.returning.insert((*until, no));
            return;
        }
        let class = self.queue.class_of(&job.spec, &self.quotas);
        let shape = Arc::clone(&self.queue.family(class).shape);
        if let Some(job) = self.jobs.get_mut(no) {
            job.class = Some(class);
            // Jobs that ask for the same pods share their shape.
            job.spec.shape = shape;
        }
        self.queue.enter(class, no, &self.jobs);
        self.queue.note_takeover(class, self.last_scheduled(), &self.jobs);
    }

    /// Takes a waiting job out of the queue and its timer away.
    pub fn leave_queue(&mut self, no: JobNo) {
        let job = &self.jobs[no];
        let Phase::Queued { not_before } = &job.phase else { return };
        if job.bids() {
            self.book_bid(no, Sign::Remove);
            return;
        }
        if let Some(until) = not_before {
            self.timers.remove(&(*until, no));
            self.returning.remove(&(*until, no));
        } else if let Some(class) = job.class {
            self.queue.leave(class, no, &self.jobs);
        }
    }
}
