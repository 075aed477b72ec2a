//! Plays examples: the authority's own steps in a cluster without anything else.

use crate::check::finding::Act;
use crate::check::finding::Example;
use crate::host::authority;
use crate::job::phase::Phase;
use crate::message::command::AmountByName;
use crate::message::command::Command;
use crate::message::command::CreateCluster;
use crate::message::command::CreateQuota;
use crate::message::command::PutGroup;
use crate::message::command::Round;
use crate::message::event::Event;
use crate::message::rejection::Rejection;
use crate::state::cluster::Execution;
use crate::state::world::State;
use crate::transition;
use crate::unit::amount::Dimension;
use crate::unit::amount::DimensionKind;
use crate::unit::id::GroupId;
use crate::unit::id::JobId;
use crate::unit::id::JobNo;
use crate::unit::resource::ResourceType;
use crate::unit::time::Millis;
use crate::unit::time::Timestamp;

/// When examples begin: a day after zero, as scenarios do.
pub const BEGINNING: Timestamp = Timestamp(86_400_000);
/// The one dimension of an example.
pub(super) const DIMENSION: &str = "gpu";

/// An example that has been played.
#[derive(Clone, Debug)]
pub struct Played {
    /// The state at its end.
    pub state: State,
    /// The time at its end.
    pub now: Timestamp,
    /// What has happened since the quotas were there.
    pub log: Vec<Event>,
}

/// Plays an example.
///
/// # Errors
/// The first rejection: what is refused shows nothing.
pub fn play(example: &Example) -> Result<Played, Rejection> {
    let mut played = Played { state: State::default(), now: BEGINNING, log: Vec::new() };
    played.set(&example.quotas)?;
    for act in &example.acts {
        match act {
            Act::Send(command) => played.send(command)?,
            Act::Wait(period) => played.wait(*period)?,
        }
    }
    Ok(played)
}

impl Played {
    fn set(&mut self, quotas: &[CreateQuota]) -> Result<(), Rejection> {
        let gpu = Dimension { name: DIMENSION.to_owned(), kind: DimensionKind::Gpu };
        let create = CreateCluster { dimensions: vec![gpu], execution: Execution::Simulated };
        self.stage(&Command::CreateCluster(create))?;
        let roots = quotas.iter().filter(|quota| quota.parent.is_none());
        let total =
            roots.filter_map(|quota| quota.min.get(DIMENSION)).fold(0i64, |sum, gpus| sum.saturating_add(*gpus));
        let group = GroupId::new("machines").map_err(|bad| Rejection::Malformed { reason: bad.to_string() })?;
        let pool = Some(AmountByName::from([(DIMENSION.to_owned(), total)]));
        let put = PutGroup { group: group.clone(), resource_type: ResourceType::Lingjun, pool, on_silence: None };
        self.stage(&Command::PutGroup(put))?;
        for quota in quotas {
            let groups = if quota.parent.is_none() { vec![group.clone()] } else { Vec::new() };
            self.stage(&Command::CreateQuota(CreateQuota { groups, ..quota.clone() }))?;
        }
        self.state.settle();
        Ok(())
    }

    fn stage(&mut self, command: &Command) -> Result<(), Rejection> {
        let events = transition::decide(&self.state, command, self.now)?;
        transition::apply_all(&mut self.state, &events);
        Ok(())
    }

    fn send(&mut self, command: &Command) -> Result<(), Rejection> {
        self.log.extend(authority::step(&mut self.state, command, self.now)?);
        Ok(())
    }

    fn wait(&mut self, period: Millis) -> Result<(), Rejection> {
        let to = self.now + period;
        while let Some(at) = self.state.next_wakeup().filter(|at| *at <= to) {
            self.now = at.max(self.now);
            self.send(&Command::Round(Round::default()))?;
            if self.state.next_wakeup() == Some(at) {
                break;
            }
        }
        self.now = to;
        self.send(&Command::Round(Round::default()))
    }

    fn job(&self, name: &str) -> Option<JobNo> {
        self.state.jobs.find(&JobId::new(name).ok()?)
    }

    /// Whether a job runs at the end.
    #[must_use]
    pub(super) fn runs(&self, name: &str) -> bool {
        self.job(name).is_some_and(|no| matches!(self.state.jobs[no].phase, Phase::Running { .. }))
    }

    /// Whether a job has been submitted and has not started at the end.
    #[must_use]
    pub(super) fn waits(&self, name: &str) -> bool {
        let is_waiting = |no: JobNo| matches!(self.state.jobs[no].phase, Phase::Queued { .. } | Phase::Starting { .. });
        self.job(name).is_some_and(is_waiting)
    }

    /// When, in the order of what has happened, a job was evicted for another one.
    #[must_use]
    pub(super) fn evicted(&self, victim: &str, by: &str) -> Option<usize> {
        let (victim, by) = (self.job(victim)?, self.job(by)?);
        self.log.iter().position(
            |event| matches!(event, Event::Evicted { job, evicted_for, .. } if *job == victim && *evicted_for == Some(by)),
        )
    }

    /// Whether anybody was evicted.
    #[must_use]
    pub(super) fn has_evictions(&self) -> bool {
        self.log.iter().any(|event| matches!(event, Event::Evicted { .. }))
    }
}
