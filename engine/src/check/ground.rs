//! What the checker looks at: quotas with nobody in them.

use crate::check::play::BEGINNING;
use crate::host::authority;
use crate::ledger;
use crate::message::command::AmountByName;
use crate::message::command::ApplyPlan;
use crate::message::command::Command;
use crate::message::command::ScaleTarget;
use crate::message::command::UpdateQuota;
use crate::quota::settings::QuotaSettings;
use crate::state::world::State;
use crate::unit::id::QuotaId;
use crate::unit::id::QuotaNo;

/// The quotas of a state, without its jobs.
pub(super) struct Ground {
    pub(super) state: State,
    /// About which of them findings are looked for.
    keys: Vec<QuotaNo>,
}

impl Ground {
    pub(super) fn of(state: &State) -> Self {
        Self { state: without_jobs(state), keys: state.live_quotas().map(|(no, _)| no).collect() }
    }

    /// The same, with a look at nothing but a quota and its relatives.
    pub(super) fn around(state: &State, no: QuotaNo) -> Self {
        let mut ground = Self { state: without_jobs(state), keys: state.subtree(no) };
        let siblings = ground.siblings(no);
        ground.keys.extend(siblings);
        ground.keys.extend(state.quotas[no.at()].parent);
        ground
    }

    /// The same after a change, if it is accepted.
    pub(super) fn after(&self, change: &Command) -> Option<Self> {
        let mut state = self.state.clone();
        authority::step(&mut state, change, BEGINNING).ok()?;
        Some(Self { state, keys: self.keys.clone() })
    }

    /// The first of these changes with which `is_gone` holds.
    pub(super) fn first_that(
        &self,
        changes: impl IntoIterator<Item = Command>,
        is_gone: impl Fn(&Self) -> bool,
    ) -> Option<Command> {
        changes.into_iter().find(|change| self.after(change).is_some_and(|after| is_gone(&after)))
    }

    /// The dimensions in which examples are looked for: GPUs of each type, or everything where there are none.
    pub(super) fn dimensions(&self) -> Vec<usize> {
        let gpus: Vec<usize> = self.state.cluster.gpu_dimensions().collect();
        if gpus.is_empty() { (0..self.state.cluster.dimensions.len()).collect() } else { gpus }
    }

    pub(super) fn quotas(&self) -> impl Iterator<Item = QuotaNo> + '_ {
        self.keys.iter().copied()
    }

    pub(super) fn id(&self, no: QuotaNo) -> QuotaId {
        self.state.quotas[no.at()].id.clone()
    }

    pub(super) fn settings(&self, no: QuotaNo) -> &QuotaSettings {
        &self.state.quotas[no.at()].settings
    }

    /// What a quota guarantees to its own jobs.
    pub(super) fn own(&self, no: QuotaNo, dimension: usize) -> i64 {
        ledger::own_min(&self.state.quotas[no.at()], &self.state.ledger.quotas[no.at()], dimension)
    }

    /// What is guaranteed to jobs of a quota: with child-level preemption what its descendants have as well.
    pub(super) fn guaranteed(&self, no: QuotaNo, dimension: usize) -> i64 {
        let has_all = self.settings(no).child_level.is_some();
        if has_all { self.state.quotas[no.at()].min.amount[dimension] } else { self.own(no, dimension) }
    }

    /// Whether any job of a quota has anything guaranteed to it. What is not stated is not constrained.
    pub(super) fn is_guaranteed_anything(&self, no: QuotaNo) -> bool {
        let is_stated = |at: usize| self.state.quotas[no.at()].min.states(at);
        self.dimensions().into_iter().any(|at| !is_stated(at) || self.guaranteed(no, at) > 0)
    }

    /// Whether a quota or one below it would lend something.
    pub(super) fn lends(&self, no: QuotaNo) -> bool {
        let lends =
            |no: QuotaNo| self.settings(no).lends && self.dimensions().into_iter().any(|at| self.own(no, at) > 0);
        self.state.subtree(no).into_iter().any(lends)
    }

    /// Quotas with the same parent; a root has none.
    pub(super) fn siblings(&self, no: QuotaNo) -> Vec<QuotaNo> {
        let parent = self.state.quotas[no.at()].parent;
        let level = parent.into_iter().flat_map(|parent| self.state.children(parent)).map(|(no, _)| no);
        level.filter(|sibling| *sibling != no).collect()
    }

    /// The descendants of a quota.
    pub(super) fn below(&self, no: QuotaNo) -> Vec<QuotaNo> {
        self.state.subtree(no).split_off(1)
    }

    /// The command that changes some of a quota's settings.
    pub(super) fn update(&self, no: QuotaNo, change: impl FnOnce(&mut QuotaSettings)) -> Command {
        let mut settings = self.settings(no).clone();
        change(&mut settings);
        Command::UpdateQuota(UpdateQuota { quota: self.id(no), settings })
    }

    /// A quota with so much more of a dimension.
    pub(super) fn target(&self, no: QuotaNo, dimension: usize, more: i64) -> ScaleTarget {
        let quota = &self.state.quotas[no.at()];
        let named = self.state.cluster.dimensions.iter().enumerate().filter(|(at, _)| quota.min.states(*at));
        let value = |at: usize| quota.min.amount[at].saturating_add(if at == dimension { more } else { 0 });
        let min: AmountByName = named.map(|(at, known)| (known.name.clone(), value(at))).collect();
        ScaleTarget { quota: quota.id.clone(), min }
    }
}

/// Several commands as one.
pub(super) fn together(mut commands: Vec<Command>) -> Option<Command> {
    match commands.len() {
        0 | 1 => commands.pop(),
        _ => Some(Command::ApplyPlan(ApplyPlan { commands })),
    }
}

/// The quotas of a state and what they stand on.
fn without_jobs(state: &State) -> State {
    let mut empty = State::default();
    empty.cluster = state.cluster.clone();
    empty.groups.clone_from(&state.groups);
    empty.nodes.clone_from(&state.nodes);
    empty.quotas.clone_from(&state.quotas);
    empty.rebuild();
    empty.settle();
    empty
}
