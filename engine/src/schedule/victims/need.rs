//! What has to be freed for a job, and whether a set of victims frees it.

use std::sync::Arc;

use crate::job::hold::Blocker;
use crate::job::phase::Charge;
use crate::job::phase::PodAt;
use crate::job::shape::Role;
use crate::job::shape::Shape;
use crate::ledger;
use crate::placement::NodeUse;
use crate::placement::gang::Room;
use crate::schedule::source::place_on;
use crate::schedule::source::reclaim::loan_excess;
use crate::schedule::trial::Trial;
use crate::schedule::victims::Quest;
use crate::schedule::victims::candidate::Candidate;
use crate::unit::amount::Amount;
use crate::unit::amount::DIMENSIONS_MAX;
use crate::unit::id::DomainNo;
use crate::unit::id::NodeNo;
use crate::unit::slots::Draft;
use crate::unit::slots::Slots;

/// What has to be freed, after free amounts are counted.
#[derive(Clone, Debug)]
pub struct Need {
    /// By victims in quota.
    pub quota: Amount,
    /// By any victims: machines of a pool, and loans that what is idle no longer covers.
    pub floor: Amount,
    domain: DomainNo,
    /// Of a gang of equal pods on nodes: the pods that have no room yet.
    pods_short: Option<(Role, i64)>,
    shape: Option<Arc<Shape>>,
    has_room: bool,
}

impl Need {
    /// The need of a job.
    #[must_use]
    pub fn of(trial: &Trial<'_>, quest: &Quest<'_>) -> Self {
        let domain = trial.state.domains.of_group(quest.placed.home);
        let asked = quest.job.shape.gang_amount();
        let is_on_nodes = !trial.state.domains.list[domain.at()].is_pool;
        let pool = if is_on_nodes { Amount::ZERO } else { asked.minus(trial.pools.get(domain.at())).positive() };
        let loans = loan_excess(trial, quest.job.quota, domain, &asked);
        let floor = masked_to(&pool, &asked).greater(&loans);
        let mut need = Self { quota: quest.quota_need, floor, domain, pods_short: None, shape: None, has_room: true };
        if is_on_nodes {
            need.look_for_room(trial, &quest.job.shape);
        }
        need
    }

    /// A need of nothing but amounts: in-quota use that has to go, or loans that have to end.
    #[must_use]
    pub fn of_amounts(domain: DomainNo, quota: Amount, floor: Amount) -> Self {
        Self { quota, floor, domain, pods_short: None, shape: None, has_room: true }
    }

    fn look_for_room(&mut self, trial: &Trial<'_>, shape: &Arc<Shape>) {
        self.shape = Some(Arc::clone(shape));
        let mut roles = shape.gang();
        if let (Some(role), None) = (roles.next(), roles.next()) {
            let state = trial.state;
            let room =
                Room { floor: &state.floor, cluster: &state.cluster, domain: self.domain, forbidden: &trial.forbidden };
            let slots = room.slots(&trial.nodes, &role.amount);
            self.has_room = slots >= i64::from(role.count);
            self.pods_short = Some((role.clone(), i64::from(role.count) - slots));
        } else {
            self.has_room = place_on(trial, &mut trial.nodes.fork(), self.domain, shape).is_ok();
        }
    }

    /// Whether machines are nodes, so that it matters what a victim frees where.
    #[must_use]
    pub fn is_on_nodes(&self) -> bool {
        self.shape.is_some()
    }

    /// Whether room is a matter of counting: pods that are all the same, or no pods at all.
    #[must_use]
    pub fn is_counted(&self) -> bool {
        self.shape.is_none() || self.pods_short.is_some()
    }

    /// How many victims that each free `amount` are ever needed, wherever it is: so many of them free all of it that
    /// they can free.
    #[must_use]
    pub fn most_of(&self, amount: &Amount, charge: Charge) -> usize {
        let asked = match charge {
            Charge::Idle => self.floor,
            Charge::InQuota | Charge::Spot => self.quota.greater(&self.floor),
        };
        let helps = (0..DIMENSIONS_MAX).filter(|&at| amount[at] > 0 && asked[at] > 0);
        let most = helps.map(|at| asked[at].unsigned_abs().div_ceil(amount[at].unsigned_abs())).max().unwrap_or(0);
        usize::try_from(most).unwrap_or(usize::MAX)
    }

    /// Whether the job fits without any victim.
    #[must_use]
    pub fn is_met_by_nothing(&self) -> bool {
        self.quota.is_zero() && self.floor.is_zero() && self.has_room
    }
}

/// Pool dimensions in which nothing is asked for never block.
fn masked_to(short: &Amount, asked: &Amount) -> Amount {
    let mut masked = *short;
    for at in (0..DIMENSIONS_MAX).filter(|&at| asked[at] == 0) {
        masked[at] = 0;
    }
    masked
}

/// Whether pods may start on a node.
fn is_open(trial: &Trial<'_>, no: NodeNo) -> bool {
    let domain = trial.state.domains.of_group(trial.state.nodes[no.at()].group);
    trial.state.floor.is_open(no, domain) && trial.forbidden.binary_search(&no).is_err()
}

/// What a set of victims frees, kept while victims are added and spared.
pub struct Freed<'t> {
    trial: &'t Trial<'t>,
    need: &'t Need,
    quota: Amount,
    floor: Amount,
    nodes: Draft<'t, NodeUse>,
    slots: i64,
}

impl<'t> Freed<'t> {
    /// Nothing yet.
    #[must_use]
    pub fn nothing(trial: &'t Trial<'t>, need: &'t Need) -> Self {
        Self { trial, need, quota: Amount::ZERO, floor: Amount::ZERO, nodes: trial.nodes.fork(), slots: 0 }
    }

    /// What all of them free.
    #[must_use]
    pub fn all(trial: &'t Trial<'t>, need: &'t Need, victims: &[Candidate<'_>]) -> Self {
        let mut freed = Self::nothing(trial, need);
        for victim in victims {
            freed.take(victim);
        }
        freed
    }

    /// Adds a victim.
    pub fn take(&mut self, victim: &Candidate<'_>) {
        self.shift(victim, ledger::Sign::Add);
    }

    /// Spares a victim.
    pub fn spare(&mut self, victim: &Candidate<'_>) {
        self.shift(victim, ledger::Sign::Remove);
    }

    fn shift(&mut self, victim: &Candidate<'_>, sign: ledger::Sign) {
        let amount = victim.amount();
        let by = |total: &mut Amount| match sign {
            ledger::Sign::Add => *total += amount,
            ledger::Sign::Remove => *total -= amount,
        };
        by(&mut self.floor);
        if victim.charge == Charge::InQuota {
            by(&mut self.quota);
        }
        for (place, amount) in victim.pods() {
            let counted = self.need.pods_short.as_ref().filter(|_| is_open(self.trial, place.node));
            let node = self.nodes.get_mut(place.node.at());
            let slots = |node: &NodeUse| counted.map_or(0, |(role, _)| node.slots(&role.amount));
            let before = slots(node);
            match sign {
                ledger::Sign::Add => node.give(&amount, place.gpus),
                ledger::Sign::Remove => node.take(&amount, place.gpus),
            }
            self.slots += slots(node) - before;
        }
    }

    /// Whether amounts suffice, wherever they are.
    #[must_use]
    pub fn is_enough_in_amount(&self) -> bool {
        self.need.quota.fits_in(&self.quota) && self.need.floor.fits_in(&self.floor)
    }

    /// Whether the job fits.
    #[must_use]
    pub fn is_enough(&self) -> bool {
        self.is_enough_in_amount() && self.has_room()
    }

    fn has_room(&self) -> bool {
        match (&self.need.pods_short, &self.need.shape) {
            (Some((_, short)), _) => self.slots >= *short,
            (None, Some(shape)) => place_on(self.trial, &mut self.nodes.fork(), self.need.domain, shape).is_ok(),
            (None, None) => true,
        }
    }

    /// Where the pods run once the amounts suffice; none in a pool.
    pub fn room(&self) -> Result<Box<[PodAt]>, Blocker> {
        let place = |shape| place_on(self.trial, &mut self.nodes.fork(), self.need.domain, shape);
        self.need.shape.as_deref().map_or_else(|| Ok(Box::default()), place)
    }

    /// The first dimension in which amounts do not suffice: what is missing, and what is freed.
    #[must_use]
    pub fn first_short(&self) -> Option<(usize, i64, i64)> {
        let quota = self.need.quota.first_over(&self.quota).map(|at| (at, self.need.quota[at], self.quota[at]));
        quota.or_else(|| self.need.floor.first_over(&self.floor).map(|at| (at, self.need.floor[at], self.floor[at])))
    }
}
