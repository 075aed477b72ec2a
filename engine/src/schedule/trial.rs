//! A trial: the books as they would be, over a state that stays as it is.
//!
//! A round decides on a trial. What it concludes becomes events, and `apply` does to the state what the trial did to
//! the drafts, with the same arithmetic.

mod giving;

use crate::job::phase::Charge;
use crate::job::phase::ExtraPod;
use crate::job::phase::Placed;
use crate::job::phase::PodAt;
use crate::job::phase::Source;
use crate::job::shape::Shape;
use crate::ledger;
use crate::ledger::DomainUse;
use crate::ledger::QuotaUse;
use crate::ledger::Sign;
use crate::placement::NodeUse;
use crate::schedule::decision::Assignment;
use crate::state::world::State;
use crate::unit::amount::Amount;
use crate::unit::id::DomainNo;
use crate::unit::id::JobNo;
use crate::unit::id::NodeNo;
use crate::unit::id::QuotaNo;
use crate::unit::ordered::Map;
use crate::unit::ordered::Set;
use crate::unit::priority::PrioritySet;
use crate::unit::slots::Draft;
use crate::unit::slots::Slots;
use crate::unit::time::Timestamp;

/// What becomes of a victim's machines.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Machines {
    /// They are free at once.
    Free,
    /// It keeps them until it has stopped.
    Kept,
}

/// The books of a round in progress.
pub struct Trial<'s> {
    /// The trial that this one continues; it stays as it is.
    parent: Option<&'s Trial<'s>>,
    /// The state at the beginning of the round.
    pub state: &'s State,
    /// The time of the round.
    pub now: Timestamp,
    /// Quotas as they would be.
    pub quotas: Draft<'s, QuotaUse>,
    /// Domains as they would be.
    pub domains: Draft<'s, DomainUse>,
    /// Nodes as they would be.
    pub nodes: Draft<'s, NodeUse>,
    /// What would be free in pools.
    pub pools: Draft<'s, Amount>,
    /// Waiting jobs served in this round, with where they run; nothing while somebody has to stop first.
    served: Map<JobNo, Option<Placed>>,
    /// Jobs evicted in this round, and served ones that were withdrawn.
    gone: Set<JobNo>,
    /// Extra pods taken in this round.
    taken: Map<JobNo, Set<u32>>,
    /// Idle jobs promoted in this round.
    promoted: Set<JobNo>,
    /// Jobs that self-level preemption serves in this round, with their quotas.
    preemptors: Vec<(QuotaNo, JobNo)>,
    /// The priorities of the jobs that were served in this round.
    pub starting: PrioritySet,
    /// Whether anything was lent in this round.
    pub has_lent: bool,
    /// Nodes reserved for jobs that have waited too long, sorted.
    pub forbidden: Vec<NodeNo>,
    /// Whether only those may be taken who stop at once.
    pub only_at_once: bool,
}

impl<'s> Trial<'s> {
    /// A trial that has changed nothing yet.
    #[must_use]
    pub fn new(state: &'s State, now: Timestamp) -> Self {
        Self {
            parent: None,
            state,
            now,
            quotas: Draft::over(&state.ledger.quotas),
            domains: Draft::over(&state.ledger.domains),
            nodes: Draft::over(&state.floor.nodes),
            pools: Draft::over(&state.floor.pools),
            served: Map::new(),
            gone: Set::new(),
            taken: Map::new(),
            promoted: Set::new(),
            preemptors: Vec::new(),
            starting: PrioritySet::default(),
            has_lent: false,
            forbidden: Vec::new(),
            only_at_once: false,
        }
    }

    /// A further trial that starts where this one is. It costs what it changes.
    #[must_use]
    pub fn fork(&'s self) -> Self {
        Self {
            parent: Some(self),
            state: self.state,
            now: self.now,
            quotas: self.quotas.fork(),
            domains: self.domains.fork(),
            nodes: self.nodes.fork(),
            pools: self.pools.fork(),
            served: Map::new(),
            gone: Set::new(),
            taken: Map::new(),
            promoted: Set::new(),
            preemptors: self.preemptors.clone(),
            starting: self.starting,
            has_lent: self.has_lent,
            forbidden: self.forbidden.clone(),
            only_at_once: self.only_at_once,
        }
    }

    /// Whether something is true of this trial or of one that it continues.
    fn any(&self, is_true: impl Fn(&Trial<'_>) -> bool) -> bool {
        self.layers().any(is_true)
    }

    /// This trial, the one that it continues, and so on.
    fn layers(&self) -> impl Iterator<Item = &Trial<'_>> {
        std::iter::successors(Some(self), |trial| trial.parent)
    }

    /// Whether a waiting job has been served in this round.
    #[must_use]
    pub fn is_served(&self, no: JobNo) -> bool {
        self.any(|trial| trial.served.contains_key(&no))
    }

    /// Who starts at once in this round, and where.
    pub fn started(&self) -> impl Iterator<Item = (JobNo, &Placed)> {
        let started = self.layers().flat_map(|trial| trial.served.iter());
        started.filter_map(|(no, placed)| Some((*no, placed.as_ref()?))).filter(|(no, _)| !self.is_gone(*no))
    }

    /// Whether anybody has been served in this round who starts when others have stopped.
    #[must_use]
    pub fn has_granted(&self) -> bool {
        self.any(|trial| trial.served.values().any(Option::is_none))
    }

    /// Where a job runs that starts at once in this round.
    #[must_use]
    pub fn start_of(&self, no: JobNo) -> Option<&Placed> {
        let placed = self.layers().find_map(|trial| trial.served.get(&no))?.as_ref();
        placed.filter(|_| !self.is_gone(no))
    }

    /// Whether a job that runs at the beginning of the round still does.
    #[must_use]
    pub fn is_gone(&self, no: JobNo) -> bool {
        self.any(|trial| trial.gone.contains(&no))
    }

    /// What the gang of a running job counts against by now.
    #[must_use]
    pub fn charge_of(&self, no: JobNo, placed: &Placed) -> Charge {
        if self.is_promoted(no) { Charge::InQuota } else { placed.charge }
    }

    /// Whether an idle job goes in quota in this round.
    #[must_use]
    pub fn is_promoted(&self, no: JobNo) -> bool {
        self.any(|trial| trial.promoted.contains(&no))
    }

    /// The idle jobs that go in quota in this round.
    pub fn promoted(&self) -> impl Iterator<Item = JobNo> + '_ {
        self.layers().flat_map(|trial| trial.promoted.iter().copied())
    }

    /// Whether idle amounts of a domain are lent.
    #[must_use]
    pub fn lends_in(&self, domain: DomainNo) -> bool {
        !self.domains.get(domain.at()).idle.is_zero()
    }

    /// By how much loans would exceed what is idle in a domain if a job of `quota` took `asked` in quota.
    #[must_use]
    pub fn loan_excess(&self, quota: QuotaNo, domain: DomainNo, asked: &Amount) -> Amount {
        ledger::loan_excess(&self.state.quotas, &self.quotas, self.domains.get(domain.at()), quota, asked)
    }

    /// The extra pods that a running job still has, with their positions.
    pub fn extra_of<'a>(&'a self, no: JobNo, extra: &'a [ExtraPod]) -> impl Iterator<Item = (u32, &'a ExtraPod)> {
        let is_taken = move |at: &u32| self.any(|trial| trial.taken.get(&no).is_some_and(|taken| taken.contains(at)));
        (0u32..).zip(extra).filter(move |(at, _)| !is_taken(at))
    }

    /// Books an amount of a job of quota `quota`.
    pub fn book(&mut self, quota: QuotaNo, home: DomainNo, charge: Charge, amount: Amount, sign: Sign) {
        match charge {
            Charge::InQuota => {
                let domain = self.state.domains.of_quota(quota);
                let book = self.domains.get_mut(domain.at());
                ledger::book_in_quota(&self.state.quotas, &mut self.quotas, book, quota, amount, sign);
            }
            Charge::Idle => ledger::book_idle(&mut self.domains, home, amount, sign),
            Charge::Spot => {}
        }
    }

    /// Takes or gives back machines for pods; without places it is a pool.
    pub fn occupy(&mut self, home: DomainNo, place: Option<PodAt>, amount: Amount, sign: Sign) {
        match (place, sign) {
            (Some(pod), Sign::Add) => self.nodes.get_mut(pod.node.at()).take(&amount, pod.gpus),
            (Some(pod), Sign::Remove) => self.nodes.get_mut(pod.node.at()).give(&amount, pod.gpus),
            (None, Sign::Add) => *self.pools.get_mut(home.at()) -= amount,
            (None, Sign::Remove) => *self.pools.get_mut(home.at()) += amount,
        }
    }

    /// The pods of a gang with their places; one entry in a pool.
    pub fn gang_pods<'a>(shape: &'a Shape, placed: &'a Placed) -> impl Iterator<Item = (Option<PodAt>, Amount)> + 'a {
        let pool = placed.pods.is_empty().then(|| (None, shape.gang_amount()));
        pool.into_iter().chain(placed.pods.iter().map(|pod| Some(*pod)).zip(shape.gang_pod_amounts()))
    }

    /// Does to the books what an accepted assignment does.
    pub fn accept(&mut self, job: JobNo, assignment: &Assignment) {
        let is_at_once = assignment.victims.iter().all(|victim| self.takes_time(victim).is_none());
        self.served.insert(job, is_at_once.then(|| assignment.placed.clone()));
        let spec = &self.state.jobs[job].spec;
        self.starting.insert(spec.priority);
        self.has_lent |= assignment.placed.charge == Charge::Idle;
        for promoted in &assignment.promoted {
            self.promote(*promoted);
        }
        for victim in &assignment.victims {
            self.tell_to_stop(victim);
        }
        let home = self.state.domains.of_group(assignment.placed.home);
        self.book(spec.quota, home, assignment.placed.charge, spec.shape.gang_amount(), Sign::Add);
        if assignment.placed.source == Source::SelfLevel {
            self.preemptors.push((spec.quota, job));
        }
        self.occupy_assigned(&spec.shape, home, assignment);
    }

    /// Takes back what a job was given that starts at once in this round.
    pub fn withdraw(&mut self, no: JobNo, placed: &Placed) {
        self.book_gang(no, placed, Sign::Remove);
        self.gone.insert(no);
    }

    /// Books the gang of a job that waits, with its machines.
    pub fn book_gang(&mut self, no: JobNo, placed: &Placed, sign: Sign) {
        let spec = &self.state.jobs[no].spec;
        let home = self.state.domains.of_group(placed.home);
        self.book(spec.quota, home, placed.charge, spec.shape.gang_amount(), sign);
        for (place, amount) in Self::gang_pods(&spec.shape, placed) {
            self.occupy(home, place, amount, sign);
        }
    }

    /// Takes the machines of an assignment. Victims with a grace period keep theirs until they have stopped;
    /// on nodes the job takes its place on top of them, in a pool it takes what they do not hold.
    fn occupy_assigned(&mut self, shape: &Shape, home: DomainNo, assignment: &Assignment) {
        if assignment.placed.pods.is_empty() {
            let leaving = assignment.victims.iter().filter_map(|victim| self.takes_time(victim));
            let held = leaving.fold(Amount::ZERO, |sum, no| sum.plus(&self.state.held_by(no)));
            self.occupy(home, None, shape.gang_amount().minus(&held).positive(), Sign::Add);
            return;
        }
        for (place, amount) in Self::gang_pods(shape, &assignment.placed) {
            self.occupy(home, place, amount, Sign::Add);
        }
    }

    /// What jobs of a quota hold by self-level preemption, which may be above the quota's amount.
    #[must_use]
    pub fn held_by_right(&self, quota: QuotaNo) -> Amount {
        let before = self.state.running[quota.at()].iter().map(|(_, no)| *no).filter(|no| {
            let is_preemptor = self.state.jobs[*no].placed().is_some_and(|placed| placed.source == Source::SelfLevel);
            is_preemptor && !self.is_gone(*no)
        });
        let now = self.preemptors.iter().filter(|(of, no)| *of == quota && !self.is_gone(*no)).map(|(_, no)| *no);
        before.chain(now).fold(Amount::ZERO, |sum, no| sum.plus(&self.state.jobs[no].spec.shape.gang_amount()))
    }
}
