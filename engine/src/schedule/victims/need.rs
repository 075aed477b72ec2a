//! What has to be freed for a job, and whether a set of victims frees it.

use std::cell::OnceCell;
use std::sync::Arc;

use crate::job::hold::Blocker;
use crate::job::nodes::NodeChoice;
use crate::job::phase::Charge;
use crate::job::phase::PodAt;
use crate::job::shape::Role;
use crate::job::shape::Shape;
use crate::job::spec::JobSpec;
use crate::ledger;
use crate::ledger::DomainUse;
use crate::ledger::QuotaUse;
use crate::placement::NodeUse;
use crate::placement::gang::Room;
use crate::schedule::source::closed;
use crate::schedule::source::place_on;
use crate::schedule::trial::Trial;
use crate::schedule::victims::candidate::Candidate;
use crate::schedule::victims::preemptor::Preemptor;
use crate::schedule::victims::right::Right;
use crate::unit::amount::Amount;
use crate::unit::amount::DIMENSIONS_MAX;
use crate::unit::id::DomainNo;
use crate::unit::id::NodeNo;
use crate::unit::id::QuotaNo;
use crate::unit::slots::Draft;
use crate::unit::slots::Slots;

/// What has to be freed, after free amounts are counted.
#[derive(Clone, Debug)]
pub struct Need {
    /// By victims in quota, at least.
    pub quota: Amount,
    /// By any victims, at least: machines of a pool, and loans that what is idle no longer covers.
    pub floor: Amount,
    domain: DomainNo,
    /// Whose need it is, and what of it the amounts do not tell: where quotas lend or are above their amounts, what a
    /// victim frees is not all at the job's disposal.
    claim: Claim,
    is_held_against_books: bool,
    /// On nodes.
    pub(super) shape: Option<Arc<Shape>>,
    /// Of a gang of equal pods on nodes: its only role.
    pub(super) role: Option<Role>,
    /// How many of these pods have no room yet, once somebody has asked: often amounts alone tell that nobody helps.
    pods_short: OnceCell<i64>,
}

impl Need {
    /// The need of a job.
    #[must_use]
    pub fn of(trial: &Trial<'_>, preemptor: &Preemptor<'_>) -> Self {
        let domain = trial.state.domains.of_group(preemptor.placed.home);
        let claim = Claim::of(preemptor.job, preemptor.right);
        let asked = claim.asked;
        let is_on_nodes = !trial.state.domains.list[domain.at()].is_pool;
        let pool = if is_on_nodes { Amount::ZERO } else { asked.minus(trial.pools.get(domain.at())).positive() };
        let loans = trial.loan_excess(preemptor.job.quota, domain, &asked);
        let floor = masked_to(&pool, &asked).greater(&loans);
        let quota = preemptor.right.shortage(trial.state, &trial.quotas, preemptor.job.quota, &asked);
        let is_held_against_books = trial.lends_in(domain) || !trial.state.over.is_empty();
        let shape = is_on_nodes.then(|| Arc::clone(&preemptor.job.shape));
        let role = shape.as_ref().and_then(|shape| shape.only_role());
        let pods_short = OnceCell::new();
        Self { quota, floor, domain, claim, is_held_against_books, shape, role, pods_short }
    }

    /// How many pods of a role have no room without victims; negative where there is room for more.
    pub(super) fn pods_short(&self, trial: &Trial<'_>, role: &Role) -> i64 {
        *self.pods_short.get_or_init(|| {
            let state = trial.state;
            let forbidden = match &self.shape {
                Some(shape) => &closed(trial, self.domain, shape.nodes()),
                None => &trial.forbidden[..],
            };
            let room = Room { floor: &state.floor, cluster: &state.cluster, domain: self.domain, forbidden };
            i64::from(role.count) - room.slots(&trial.nodes, &role.amount)
        })
    }

    /// Whether the pods have room on these nodes, where `slots` more of them fit than without victims.
    fn has_room(&self, trial: &Trial<'_>, nodes: &Draft<'_, NodeUse>, slots: i64) -> bool {
        match (&self.role, &self.shape) {
            (Some(role), _) => slots >= self.pods_short(trial, role),
            (None, Some(shape)) => place_on(trial, &mut nodes.fork(), self.domain, shape).is_ok(),
            (None, None) => true,
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
        self.shape.is_none() || self.role.is_some()
    }

    /// Whether a set has to be held against the books, since amounts do not tell all.
    #[must_use]
    pub fn is_held_against_books(&self) -> bool {
        self.is_held_against_books
    }

    /// How many victims that each free `amount` are ever needed, wherever it is: so many of them free all of it that
    /// they can free. Of what quotas hold above their amounts the first part frees nothing that could be lent.
    #[must_use]
    pub fn most_of(&self, trial: &Trial<'_>, amount: &Amount, charge: Charge) -> usize {
        if charge == Charge::InQuota && trial.lends_in(self.domain) && !trial.state.over.is_empty() {
            return usize::MAX;
        }
        let asked = match charge {
            Charge::Idle => self.floor,
            Charge::InQuota | Charge::Spot => self.quota.greater(&self.floor),
        };
        times(amount, &asked)
    }

    /// Whether the job fits without any victim.
    #[must_use]
    pub fn is_met_by_nothing(&self, trial: &Trial<'_>) -> bool {
        self.quota.is_zero() && self.floor.is_zero() && self.has_room(trial, &trial.nodes, 0)
    }
}

/// Who asks for how much, and what it may count on.
#[derive(Clone, Copy, Debug)]
struct Claim {
    quota: QuotaNo,
    asked: Amount,
    right: Right,
}

impl Claim {
    fn of(job: &JobSpec, right: Right) -> Self {
        Self { quota: job.quota, asked: job.shape.gang_amount(), right }
    }
}

/// How many times an amount it takes to cover another one, wherever it helps at all.
pub(super) fn times(amount: &Amount, asked: &Amount) -> usize {
    let helps = (0..DIMENSIONS_MAX).filter(|&at| amount[at] > 0 && asked[at] > 0);
    let most = helps.map(|at| asked[at].unsigned_abs().div_ceil(amount[at].unsigned_abs())).max().unwrap_or(0);
    usize::try_from(most).unwrap_or(usize::MAX)
}

/// Pool dimensions in which nothing is asked for never block.
fn masked_to(short: &Amount, asked: &Amount) -> Amount {
    let mut masked = *short;
    for at in (0..DIMENSIONS_MAX).filter(|&at| asked[at] == 0) {
        masked[at] = 0;
    }
    masked
}

/// Whether pods that may run on these nodes may start on one.
pub(super) fn is_open(trial: &Trial<'_>, choice: &NodeChoice, no: NodeNo) -> bool {
    let node = &trial.state.nodes[no.at()];
    let domain = trial.state.domains.of_group(node.group);
    trial.state.floor.is_open(no, domain)
        && trial.forbidden.binary_search(&no).is_err()
        && choice.allows(no, node.gpu_type.as_deref())
}

/// What a set of victims frees, kept while victims are added and spared.
pub struct Freed<'t> {
    pub(super) trial: &'t Trial<'t>,
    pub(super) need: &'t Need,
    pub(super) quota: Amount,
    pub(super) floor: Amount,
    pub(super) nodes: Draft<'t, NodeUse>,
    pub(super) slots: i64,
    /// The books without the victims, where amounts do not tell all.
    pub(super) books: Option<(Draft<'t, QuotaUse>, DomainUse)>,
    n_in_quota: u32,
}

impl<'t> Freed<'t> {
    /// Nothing yet.
    #[must_use]
    pub fn nothing(trial: &'t Trial<'t>, need: &'t Need) -> Self {
        let books = || (trial.quotas.fork(), trial.domains.get(need.domain.at()).clone());
        Self {
            trial,
            need,
            quota: Amount::ZERO,
            floor: Amount::ZERO,
            nodes: trial.nodes.fork(),
            slots: 0,
            books: need.is_held_against_books.then(books),
            n_in_quota: 0,
        }
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
        self.book(victim, sign);
        let Self { trial, need, nodes, slots: all_slots, .. } = self;
        victim.for_each_pod(|place, amount| {
            let is_open = |shape: &&Arc<Shape>| is_open(trial, shape.nodes(), place.node);
            let counted = need.role.as_ref().filter(|_| need.shape.as_ref().is_some_and(|shape| is_open(&shape)));
            let node = nodes.get_mut(place.node.at());
            let slots = |node: &NodeUse| counted.map_or(0, |role| node.slots(&role.amount));
            let before = slots(node);
            match sign {
                ledger::Sign::Add => node.give(amount, place.gpus),
                ledger::Sign::Remove => node.take(amount, place.gpus),
            }
            *all_slots += slots(node) - before;
        });
    }

    /// Takes a victim off the books, or puts it back.
    fn book(&mut self, victim: &Candidate<'_>, sign: ledger::Sign) {
        let Some((quotas, domain)) = &mut self.books else { return };
        let amount = victim.amount();
        match (victim.charge, sign) {
            (Charge::Idle, ledger::Sign::Add) => domain.idle -= amount,
            (Charge::Idle, ledger::Sign::Remove) => domain.idle += amount,
            (Charge::InQuota, _) => {
                let (back, n_in_quota) = match sign {
                    ledger::Sign::Add => (ledger::Sign::Remove, self.n_in_quota + 1),
                    ledger::Sign::Remove => (ledger::Sign::Add, self.n_in_quota - 1),
                };
                self.n_in_quota = n_in_quota;
                ledger::book_in_quota(&self.trial.state.quotas, quotas, domain, victim.quota, amount, back);
            }
            (Charge::Spot, _) => {}
        }
    }

    /// Whether amounts suffice, wherever they are.
    fn is_enough_in_amount(&self) -> bool {
        self.need.quota.fits_in(&self.quota) && self.need.floor.fits_in(&self.floor)
    }

    /// What is short on the books once the victims are gone and the job has its amount: of its right, or of what is idle
    /// and has to cover all loans. Idle jobs free what their amounts say.
    fn short_on_books(&self) -> Amount {
        let Some((quotas, domain)) = self.books.as_ref().filter(|_| self.n_in_quota > 0) else { return Amount::ZERO };
        let (state, Claim { quota, asked, right }) = (self.trial.state, &self.need.claim);
        let short = right.shortage(state, quotas, *quota, asked);
        short.greater(&ledger::loan_excess(&state.quotas, quotas, domain, *quota, asked))
    }

    /// Whether the job fits.
    #[must_use]
    pub fn is_enough(&self) -> bool {
        self.is_enough_in_amount()
            && self.short_on_books().is_zero()
            && self.need.has_room(self.trial, &self.nodes, self.slots)
    }

    /// Whether only the packing of several roles stands in the way: each of them alone would find room.
    pub(super) fn is_only_unpacked(&self) -> bool {
        let (Some(shape), false) = (&self.need.shape, self.need.is_counted()) else { return false };
        let (state, domain) = (self.trial.state, self.need.domain);
        let forbidden = &closed(self.trial, domain, shape.nodes());
        let room = Room { floor: &state.floor, cluster: &state.cluster, domain, forbidden };
        let has_room =
            |role: &Role| role.amount.is_zero() || room.slots(&self.nodes, &role.amount) >= i64::from(role.count);
        self.is_enough_in_amount() && self.short_on_books().is_zero() && shape.gang().all(|role| has_room(&role))
    }

    /// How many of these it takes at least for all pods to have room. Each pod of theirs makes room for one at most if it
    /// is not larger.
    pub(super) fn least_for_room<'a>(&self, among: impl Iterator<Item = &'a Candidate<'a>>) -> usize {
        let Some(role) = &self.need.role else { return 0 };
        let short = self.need.pods_short(self.trial, role) - self.slots;
        let (mut most, mut are_small) = (1i64, true);
        for candidate in among {
            let mut pods = 0;
            candidate.for_each_pod(|_, amount| {
                pods += 1;
                are_small &= role.amount.dimensions().all(|at| amount[at] <= role.amount[at]);
            });
            most = most.max(pods);
        }
        if are_small { times(&Amount::of(0, most), &Amount::of(0, short)) } else { 0 }
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
        let floor = || self.need.floor.first_over(&self.floor).map(|at| (at, self.need.floor[at], self.floor[at]));
        let on_books = || {
            let short = self.short_on_books();
            let at = short.values().position(|value| value > 0)?;
            let needed = self.need.quota[at].max(self.need.floor[at]).max(short[at]);
            Some((at, needed, needed - short[at]))
        };
        quota.or_else(floor).or_else(on_books)
    }
}
