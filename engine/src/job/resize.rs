//! What becomes of a job's pods when it is resized (rules 1.6).

use std::sync::Arc;

use serde::Deserialize;
use serde::Serialize;

use crate::job::phase::ExtraPod;
use crate::job::phase::Phase;
use crate::job::phase::PodAt;
use crate::job::shape::Shape;
use crate::unit::time::Timestamp;

/// A job keeps running with more or fewer pods.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Resize {
    /// What it asks for from now on.
    pub shape: Arc<Shape>,
    /// How many pods are owed to it and its parts together.
    pub owed: u32,
    /// Positions in its list of extra pods that belong to the gang from now on, ascending.
    pub join: Vec<u32>,
    /// Positions in its list of extra pods that are a part of their own from now on, ascending.
    pub apart: Vec<u32>,
    /// How many of the gang's last pods leave.
    pub gone: u32,
    /// How many of the gang's last pods before these are extra pods from now on.
    pub stay: u32,
    /// Positions in its list of extra pods that leave, ascending.
    pub leave: Vec<u32>,
    /// When those that leave are killed, if they hold their GPUs until it is reported that they have gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
}

impl Resize {
    /// How many pods end.
    #[must_use]
    pub fn leaving(&self) -> u32 {
        self.gone.saturating_add(u32::try_from(self.leave.len()).unwrap_or(u32::MAX))
    }

    /// How many pods it has no more: they end, or are a part of their own.
    #[must_use]
    pub fn without(&self) -> u32 {
        self.leaving().saturating_add(u32::try_from(self.apart.len()).unwrap_or(u32::MAX))
    }

    /// Where the pods are that end, if the job runs.
    #[must_use]
    pub fn vacated(&self, phase: &Phase) -> Vec<PodAt> {
        let Phase::Running { placed, extra, .. } = phase else { return Vec::new() };
        let places =
            |list: &[u32]| -> Vec<PodAt> { list.iter().filter_map(|at| extra.get(*at as usize)?.at).collect() };
        let mut gang = [placed.pods.to_vec(), places(&self.join)].concat();
        let mut gone = gang.split_off(gang.len().saturating_sub(self.gone as usize));
        gone.extend(places(&self.leave));
        gone
    }

    /// Does it to what a job holds.
    pub fn apply(&self, phase: &mut Phase) {
        match phase {
            Phase::Running { placed, started, extra, .. } => {
                let joining: Vec<ExtraPod> =
                    self.join.iter().filter_map(|at| extra.get(*at as usize).copied()).collect();
                let has_gone =
                    |at: &u32| [&self.join, &self.apart, &self.leave].iter().any(|list| list.binary_search(at).is_ok());
                let mut at = 0..;
                extra.retain(|_| at.next().is_some_and(|at| !has_gone(&at)));
                let staying = cut(&mut placed.pods, &joining, self.gone, self.stay);
                for at in staying {
                    extra.push(ExtraPod { charge: placed.charge, at, started: *started });
                }
            }
            Phase::Starting { placed, .. } => drop(cut(&mut placed.pods, &[], self.gone, self.stay)),
            Phase::Queued { .. } | Phase::Stopping(_) | Phase::Ended { .. } => {}
        }
    }
}

/// Changes the places of a gang: some join at its end, then the last ones go, and those before them are given back.
/// In a pool there are no places.
fn cut(gang: &mut Box<[PodAt]>, joining: &[ExtraPod], gone: u32, stay: u32) -> Vec<Option<PodAt>> {
    let in_pool = gang.is_empty();
    let mut pods = std::mem::take(gang).into_vec();
    pods.extend(joining.iter().filter_map(|pod| pod.at));
    pods.truncate(pods.len().saturating_sub(gone as usize));
    let staying = pods.split_off(pods.len().saturating_sub(stay as usize));
    *gang = pods.into_boxed_slice();
    if in_pool { vec![None; stay as usize] } else { staying.into_iter().map(Some).collect() }
}
