//! More for the quota of a job, out of what others leave unused, or else out of what a sibling uses: a tip that moves an
//! amount names who gives it.

use crate::explain::help::Help;
use crate::explain::tip::Proposal;
use crate::explain::tip::Search;
use crate::explain::words::amount as amount_words;
use crate::job::phase::Source;
use crate::message::command::AmountByName;
use crate::message::command::Command;
use crate::message::command::ScaleMode;
use crate::message::command::ScaleQuotas;
use crate::message::command::ScaleTarget;
use crate::schedule::order;
use crate::state::world::State;
use crate::unit::amount::Amount;
use crate::unit::amount::GPU;
use crate::unit::id::QuotaNo;
use crate::unit::ordered::Map;
use crate::unit::sort;

/// How many of the jobs in front of it are counted in.
const AHEAD_MAX: usize = 8;

/// How many GPUs are gone through one by one.
const GPUS_MAX: i64 = 16;

/// A quota on the way from the job's own to its root, and what it is short of for the job alone.
struct Level {
    quota: QuotaNo,
    short: Amount,
}

/// An amount that is moved to a level, and from whom.
struct Move<'l> {
    /// The quotas that get it: the last is the donor's sibling, or the one whose parent gives.
    to: &'l [Level],
    /// The amount for each of them.
    amounts: Vec<Amount>,
    /// The sibling that gives it; none if the parent does, or if no quota has it.
    donor: Option<QuotaNo>,
    mode: ScaleMode,
}

/// More for its quota, or for an ancestor, as little as possible, out of what nobody uses.
pub(super) fn unused(search: &mut Search<'_>) -> Option<Help> {
    more(search, ScaleMode::Drain)
}

/// The same out of what a sibling uses, whose jobs are evicted for it.
pub(super) fn used(search: &mut Search<'_>) -> Option<Help> {
    more(search, ScaleMode::Evict)
}

fn more(search: &mut Search<'_>, mode: ScaleMode) -> Option<Help> {
    let (state, spec) = (search.state, search.spec());
    let levels = levels(state, spec.quota, &spec.shape.gang_amount());
    let wanted = match mode {
        ScaleMode::Drain => wanted(search, &levels[0].short),
        ScaleMode::Evict => missing(&levels),
    };
    let moves: Vec<Move<'_>> = wanted
        .iter()
        .flat_map(|(wanted, reach)| moves(state, &levels[..(*reach).min(levels.len())], wanted, mode))
        .collect();
    search.within_share(moves).into_iter().find_map(|moved| {
        let proposal = Proposal::send(moved.words(state), moved.command(state));
        search.try_out(proposal, |_: Source| ".")
    })
}

/// The quotas from the job's own to its root.
fn levels(state: &State, quota: QuotaNo, asked: &Amount) -> Vec<Level> {
    let mut levels = Vec::new();
    let mut next = Some(quota);
    while let Some(no) = next {
        let (tree, book) = (&state.quotas[no.at()], &state.ledger.quotas[no.at()]);
        let used = if levels.is_empty() { book.own_jobs.plus(&book.claimed) } else { book.used };
        let short = tree.min.masked(&used.plus(asked).minus(&tree.min.amount)).positive();
        levels.push(Level { quota: no, short });
        next = tree.parent;
    }
    levels
}

/// What its quota may want more, the least first, each with how many levels are tried: what it is short of for the
/// job; that, and what those in front of it ask for; GPUs one by one, and beside what it is short of. Less than that
/// may do, since there are other sources than the quota's own amount.
fn wanted(search: &Search<'_>, short: &Amount) -> Map<Amount, usize> {
    let (state, spec) = (search.state, search.spec());
    let mut wanted: Map<Amount, usize> = Map::new();
    if let Some(at) = state.cluster.gpu_dimension(&spec.shape.gang_amount()) {
        for gpus in (1..=GPUS_MAX).map(|gpus| Amount::of(at, gpus * GPU)) {
            wanted.insert(gpus, 1);
            wanted.insert(short.plus(&gpus), 1);
        }
    }
    let mut sum = *short;
    wanted.insert(sum, usize::MAX);
    let ahead = order::positions(state, spec.quota, search.now).into_iter().take_while(|no| *no != search.no);
    for no in ahead.take(AHEAD_MAX) {
        sum += state.jobs[no].spec.shape.gang_amount();
        wanted.insert(sum, usize::MAX);
    }
    wanted
}

/// What is missing for the job, in its quota or above. Of what others use no less is asked for, and no more: one GPU less
/// may evict a job of many, which would do as well and would be a trick.
fn missing(levels: &[Level]) -> Map<Amount, usize> {
    let missing = levels.iter().fold(Amount::ZERO, |most, level| most.greater(&level.short));
    std::iter::once((missing, usize::MAX)).collect()
}

/// Every way to give so much to the lowest of some levels, and to those above it what they are short of as well:
/// nearer donors first, and of these who has the most to spare.
fn moves<'l>(state: &State, levels: &'l [Level], wanted: &Amount, mode: ScaleMode) -> Vec<Move<'l>> {
    let mut moves = Vec::new();
    for (at, level) in levels.iter().enumerate() {
        let mut needed = *wanted;
        let amounts: Vec<Amount> = (levels[..=at].iter().enumerate())
            .map(|(at, below)| {
                needed = if at == 0 { needed } else { needed.greater(&below.short) };
                state.quotas[below.quota.at()].min.masked(&needed)
            })
            .collect();
        let (given, first) = (amounts[at], amounts.iter().position(|amount| !amount.is_zero()));
        let Some(first) = first.filter(|_| !given.is_zero()) else { continue };
        let donors = match mode {
            ScaleMode::Drain => donors(state, level.quota, &given),
            ScaleMode::Evict => users(state, level.quota, &given),
        };
        for donor in donors {
            moves.push(Move { to: &levels[first..=at], amounts: amounts[first..].to_vec(), donor, mode });
        }
    }
    moves
}

/// Who can give an amount to a quota out of what nobody uses: its siblings, or nobody in particular, if its parent has
/// it for itself, or if no root has it.
fn donors(state: &State, to: QuotaNo, moved: &Amount) -> Vec<Option<QuotaNo>> {
    let Some(parent) = state.quotas[to.at()].parent else {
        let domain = &state.domains.list[state.domains.of_quota(to).at()];
        let given = domain.roots.iter().fold(Amount::ZERO, |sum, root| sum.plus(&state.quotas[root.at()].min.amount));
        return if moved.fits_in(&domain.amount.minus(&given)) { vec![None] } else { Vec::new() };
    };
    let siblings = siblings(state, to, moved, |no| moved.fits_in(&spare(state, no)));
    let above = &state.quotas[parent.at()].min;
    let is_above = moved.fits_in(&above.amount.minus(&state.ledger.quotas[parent.at()].children_min));
    siblings.into_iter().map(Some).chain(is_above.then_some(None)).collect()
}

/// Its siblings that have an amount for themselves and use it.
fn users(state: &State, to: QuotaNo, moved: &Amount) -> Vec<Option<QuotaNo>> {
    let uses = |no: QuotaNo| moved.fits_in(&own(state, no)) && !moved.fits_in(&spare(state, no));
    siblings(state, to, moved, uses).into_iter().map(Some).collect()
}

/// The siblings of a quota that can give an amount: who has the most to spare first.
fn siblings(state: &State, to: QuotaNo, moved: &Amount, can_give: impl Fn(QuotaNo) -> bool) -> Vec<QuotaNo> {
    let Some(parent) = state.quotas[to.at()].parent else { return Vec::new() };
    let mut siblings: Vec<QuotaNo> =
        state.children(parent).map(|(no, _)| no).filter(|no| *no != to && can_give(*no)).collect();
    let leading = moved.dimensions().next().unwrap_or(0);
    sort::by_key(&mut siblings, |no| (std::cmp::Reverse(spare(state, *no)[leading]), *no));
    siblings
}

/// What a quota has for itself.
fn own(state: &State, no: QuotaNo) -> Amount {
    let quota = &state.quotas[no.at()];
    quota.min.masked(&quota.min.amount.minus(&state.ledger.quotas[no.at()].children_min))
}

/// What of it nobody uses.
fn spare(state: &State, no: QuotaNo) -> Amount {
    let quota = &state.quotas[no.at()];
    own(state, no).lesser(&quota.min.masked(&quota.min.amount.minus(&state.ledger.quotas[no.at()].used)))
}

impl Move<'_> {
    fn words(&self, state: &State) -> String {
        let (Some(last), Some(moved)) = (self.to.last(), self.amounts.last()) else { return String::new() };
        let id = |no: QuotaNo| state.quotas[no.at()].id.as_str();
        let amount = amount_words(state, moved);
        let to = id(self.to[0].quota);
        let through: Vec<&str> = self.to.iter().skip(1).map(|level| id(level.quota)).collect();
        let through = if through.is_empty() { String::new() } else { format!(" (and to {})", through.join(" and ")) };
        match (self.donor, state.quotas[last.quota.at()].parent) {
            (Some(donor), _) => format!("Move {amount} from {} to {to}{through}", id(donor)),
            (None, Some(parent)) => {
                format!("Give {to}{through} {amount} more, which {} has for itself", id(parent))
            }
            (None, None) => format!("Give {to}{through} {amount} more, which no quota has"),
        }
    }

    fn command(&self, state: &State) -> Command {
        let target = |no: QuotaNo, min: Amount| {
            let quota = &state.quotas[no.at()];
            let mut by_name: AmountByName = Map::new();
            for (at, dimension) in state.cluster.dimensions.iter().enumerate().filter(|(at, _)| quota.min.states(*at)) {
                by_name.insert(dimension.name.clone(), min[at]);
            }
            ScaleTarget { quota: quota.id.clone(), min: by_name }
        };
        let min = |no: QuotaNo| state.quotas[no.at()].min.amount;
        let mut targets: Vec<ScaleTarget> = self
            .to
            .iter()
            .zip(&self.amounts)
            .map(|(level, more)| target(level.quota, min(level.quota).plus(more)))
            .collect();
        if let (Some(donor), Some(moved)) = (self.donor, self.amounts.last()) {
            targets.push(target(donor, min(donor).minus(moved)));
        }
        Command::ScaleQuotas(ScaleQuotas { targets, mode: self.mode })
    }
}
