//! Draws the small cluster of an example and says what happens in it.

use crate::check::finding::Act;
use crate::check::finding::Example;
use crate::check::ground::Ground;
use crate::check::play::DIMENSION;
use crate::check::play::Played;
use crate::check::play::play;
use crate::job::spec::IdlePolicy;
use crate::message::command::AmountByName;
use crate::message::command::CancelJob;
use crate::message::command::Command;
use crate::message::command::CreateQuota;
use crate::message::command::PodGroup;
use crate::message::command::SubmitJob;
use crate::quota::settings::QuotaSettings;
use crate::unit::amount::GPU;
use crate::unit::id::JobId;
use crate::unit::id::QuotaId;
use crate::unit::id::QuotaNo;
use crate::unit::ordered::Map;
use crate::unit::ordered::Set;
use crate::unit::priority::Module;
use crate::unit::priority::Priority;
use crate::unit::time::Millis;

/// How many acts an example may have.
pub(super) const ACTS_MAX: usize = 10;

/// A job of an example.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) job: &'a str,
    pub(super) quota: QuotaNo,
    pub(super) module: Module,
    pub(super) priority: Priority,
    pub(super) size: i64,
    pub(super) idle: IdlePolicy,
}

impl<'a> Asked<'a> {
    pub(super) fn new(job: &'a str, quota: QuotaNo, priority: Priority, size: i64) -> Self {
        Self { job, quota, module: Module::default(), priority, size, idle: IdlePolicy::default() }
    }
}

/// An example that is being written.
#[derive(Clone)]
pub(super) struct Scene {
    example: Example,
    names: Map<QuotaNo, QuotaId>,
}

impl Scene {
    /// The quotas of the cast with their ancestors, in one dimension. Whoever takes no part is thought of as busy: the
    /// cast keeps what it has for its own jobs, and its ancestors have no more than they give to it.
    ///
    /// There is none where a quota does not state the dimension: it is constrained only by what is around it.
    pub(super) fn of(ground: &Ground, dimension: usize, cast: &[QuotaNo]) -> Option<Self> {
        let mut kept: Set<QuotaNo> = Set::new();
        for no in cast {
            let mut next = Some(*no);
            while let Some(no) = next {
                kept.insert(no);
                next = ground.state.quotas[no.at()].parent;
            }
        }
        let order: Vec<QuotaNo> = roots_first(ground, &kept);
        let mut names: Map<QuotaNo, QuotaId> = Map::new();
        let mut mins: Map<QuotaNo, i64> = Map::new();
        for no in order.iter().rev() {
            let quota = &ground.state.quotas[no.at()];
            if !quota.min.states(dimension) {
                return None;
            }
            let own = if cast.contains(no) { ground.own(*no, dimension) } else { 0 };
            *mins.or_default(*no) += own;
            let min = mins.get(no).copied().unwrap_or_default();
            if let Some(parent) = quota.parent {
                *mins.or_default(parent) += min;
            }
            names.insert(*no, plain(&quota.id, *no)?);
        }
        let quotas = order.iter().map(|no| {
            let quota = &ground.state.quotas[no.at()];
            CreateQuota {
                quota: names[no].clone(),
                parent: quota.parent.map(|parent| names[&parent].clone()),
                groups: Vec::new(),
                min: gpus(mins.get(no).copied().unwrap_or_default()),
                settings: settings(ground, *no, cast),
            }
        });
        Some(Self { example: Example { quotas: quotas.collect(), acts: Vec::new() }, names })
    }

    /// Submits a job; one that asks for nothing is left out.
    pub(super) fn submit(mut self, asked: Asked<'_>) -> Self {
        let Asked { job, quota, module, priority, size, idle } = asked;
        if size > 0
            && let (Ok(job), Some(quota)) = (JobId::new(job), self.names.get(&quota))
        {
            let pods = pods(size);
            let submit = SubmitJob { quota: Some(quota.clone()), module, priority, idle, ..SubmitJob::new(job, pods) };
            self.example.acts.push(Act::Send(Command::SubmitJob(submit)));
        }
        self
    }

    pub(super) fn cancel(mut self, job: &str) -> Self {
        if let Ok(job) = JobId::new(job) {
            self.example.acts.push(Act::Send(Command::CancelJob(CancelJob { job })));
        }
        self
    }

    pub(super) fn wait(mut self, period: Millis) -> Self {
        if period > Millis::ZERO {
            self.example.acts.push(Act::Wait(period));
        }
        self
    }

    /// The same with other settings of its quotas: what would happen without what is to be shown.
    pub(super) fn but(mut self, quota: QuotaNo, change: impl FnOnce(&mut QuotaSettings)) -> Self {
        if let Some(name) = self.names.get(&quota)
            && let Some(quota) = self.example.quotas.iter_mut().find(|create| create.quota == *name)
        {
            change(&mut quota.settings);
        }
        self
    }

    /// Whether it shows something when it is played.
    pub(super) fn holds(&self, claim: impl FnOnce(&Played) -> bool) -> bool {
        self.example.acts.len() <= ACTS_MAX && play(&self.example).is_ok_and(|played| claim(&played))
    }

    /// The example, if it shows what it should.
    pub(super) fn showing(self, claim: impl FnOnce(&Played) -> bool) -> Option<Example> {
        self.holds(claim).then_some(self.example)
    }
}

/// Parents before their children.
fn roots_first(ground: &Ground, kept: &Set<QuotaNo>) -> Vec<QuotaNo> {
    let roots = kept.iter().copied().filter(|no| ground.state.quotas[no.at()].parent.is_none());
    roots.flat_map(|root| ground.state.subtree(root)).filter(|no| kept.contains(no)).collect()
}

/// A name that can stand in a line: without spaces, and no remark.
fn plain(id: &QuotaId, no: QuotaNo) -> Option<QuotaId> {
    let name = id.as_str();
    if !name.contains(char::is_whitespace) && !name.starts_with('#') && !name.contains('=') {
        return Some(id.clone());
    }
    QuotaId::new(&format!("quota-{}", no.0)).ok()
}

/// Policies of quotas that only carry the cast do nothing here. Nobody waits so long that a reservation matters.
fn settings(ground: &Ground, no: QuotaNo, cast: &[QuotaNo]) -> QuotaSettings {
    let starvation_after = QuotaSettings::default().starvation_after;
    if cast.contains(&no) {
        return QuotaSettings { starvation_after, ..ground.settings(no).clone() };
    }
    QuotaSettings { grace_period: Millis::ZERO, ..QuotaSettings::default() }
}

/// A pod above one GPU asks for whole GPUs: what is left has a pod of its own.
fn pods(size: i64) -> Vec<PodGroup> {
    let parts = [size / GPU * GPU, size % GPU];
    parts.into_iter().filter(|part| *part > 0).map(|part| PodGroup { count: 1, amount: gpus(part) }).collect()
}

fn gpus(value: i64) -> AmountByName {
    AmountByName::from([(DIMENSION.to_owned(), value)])
}
