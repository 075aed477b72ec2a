//! What follows from what is wanted and what is there.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use crate::act::Act;
use crate::act::Instead;
use crate::act::Stop;
use crate::exit::shorten;
use crate::message::BadMessage;
use crate::message::FORMAT;
use crate::message::NodeReport;
use crate::message::NodeStatus;
use crate::message::Pod;
use crate::message::SyncAnswer;
use crate::message::SyncRequest;
use crate::message::Want;
use crate::pods::Change;
use crate::pods::LeaveOrder;
use crate::pods::Leaving;
use crate::pods::Pods;
use crate::run::RunId;
use crate::run::Version;
use crate::seen::Listing;
use crate::seen::Phase;
use crate::seen::Seen;
use crate::silence;
use crate::silence::SILENCE_GRACE_MS;

/// How long a run, or a pod, that nobody wants may take to stop.
pub const UNWANTED_GRACE_MS: u64 = 30_000;

/// What a living agent remembers. A restarted one begins with nothing but its number and the time of its last answer.
#[derive(Clone, Debug)]
pub struct Agent {
    incarnation: u64,
    /// When the last request that was answered was sent.
    heard: Option<u64>,
    /// The newest answer.
    newest: Option<SyncAnswer>,
    /// Runs that were told to stop: whose, and when what is left of them is killed, which only comes nearer.
    told: BTreeMap<RunId, (String, u64)>,
    /// Orders to pods to leave: when what is left of these is killed, which only comes nearer.
    leaving: BTreeMap<RunId, u64>,
}

/// What became of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// It is acted on.
    Newest,
    /// It is older than one that is acted on, or was made for somebody else.
    Dropped,
}

impl Agent {
    /// An agent that has just been welcomed. `heard` is what the runner kept of the time of the last answer.
    #[must_use]
    pub fn new(incarnation: u64, heard: Option<u64>) -> Self {
        Self { incarnation, heard, newest: None, told: BTreeMap::new(), leaving: BTreeMap::new() }
    }

    /// The number of this process.
    #[must_use]
    pub fn incarnation(&self) -> u64 {
        self.incarnation
    }

    /// When the last request that was answered was sent.
    #[must_use]
    pub fn heard(&self) -> Option<u64> {
        self.heard
    }

    /// The run as it is wanted.
    #[must_use]
    pub fn want(&self, run: RunId) -> Option<&Want> {
        self.newest.iter().flat_map(|answer| &answer.want).find(|want| want.run == run)
    }

    /// Whether a wanted run may go on only so long when the service is silent.
    #[must_use]
    pub fn wants_lease(&self) -> bool {
        self.newest.iter().flat_map(|answer| &answer.want).any(|want| want.stop_after_ms.is_some())
    }

    /// What to tell the service.
    #[must_use]
    pub fn request(&self, listing: &Listing, now: u64) -> SyncRequest {
        let kept: BTreeSet<RunId> = self.newest.iter().flat_map(|answer| answer.keep.iter().copied()).collect();
        let only_lives = |(run, seen): &(&RunId, &Seen)| seen.only_goes_on() && kept.contains(run);
        let (lives, others): (Vec<_>, Vec<_>) = listing.runs.iter().partition(only_lives);
        SyncRequest {
            format: FORMAT,
            incarnation: self.incarnation,
            answered: self.newest.as_ref().map(|answer| answer.version),
            nodes: listing.nodes.clone(),
            runs: others.into_iter().map(|(run, seen)| seen.report(*run, now)).collect(),
            lives: lives.into_iter().map(|(run, _)| *run).collect(),
            keeps: true,
            changes: listing.changes,
            offered: listing.offered.clone(),
        }
    }

    /// Takes an answer to the request that was sent then.
    pub fn hear(&mut self, answer: SyncAnswer, sent: u64, now: u64) -> Result<Heard, BadMessage> {
        answer.check()?;
        let is_older = self.newest.as_ref().is_some_and(|newest| answer.version < newest.version);
        if answer.incarnation != self.incarnation || is_older {
            return Ok(Heard::Dropped);
        }
        self.heard = self.heard.max(Some(sent));
        let before = std::mem::take(&mut self.told);
        for order in &answer.stop {
            let kill_at = now.saturating_add(order.kill_in_ms);
            let earlier = before.get(&order.run).map_or(kill_at, |(_, earlier)| kill_at.min(*earlier));
            self.told.insert(order.run, (order.job.clone(), earlier));
        }
        let before = std::mem::take(&mut self.leaving);
        for order in answer.change.iter().flat_map(|change| &change.leave) {
            let kill_at = now.saturating_add(order.kill_in_ms);
            self.leaving.insert(order.order, before.get(&order.order).map_or(kill_at, |earlier| kill_at.min(*earlier)));
        }
        self.newest = Some(answer);
        Ok(Heard::Newest)
    }

    /// What to do now. Stopping comes first, so that room appears before it is needed.
    #[must_use]
    pub fn decide(&self, listing: &Listing, now: u64) -> Vec<Act> {
        let mut acts = self.silenced(listing, now);
        if let Some(answer) = &self.newest {
            acts.extend(self.ended(answer, listing, now));
            acts.extend(self.changed(answer, listing));
            acts.extend(self.begun(answer, listing, now));
        }
        acts
    }

    /// What to do when the agent leaves its machine: everything ends by then, and nothing begins. The service hears of it from
    /// the next agent, as of runs that ended here without its word.
    #[must_use]
    pub fn leave(listing: &Listing, kill_at: u64) -> Vec<Act> {
        let living = listing.runs.iter().filter(|(_, seen)| must_be_told(seen, kill_at));
        let instead = |seen: &Seen| if seen.phase == Phase::Orphaned { Instead::Lost } else { Instead::Unstarted };
        living.map(|(run, seen)| stop(*run, &seen.job, kill_at, instead(seen))).collect()
    }

    /// Runs whose group lets them live only while the service is heard.
    fn silenced(&self, listing: &Listing, now: u64) -> Vec<Act> {
        let kill_at = now.saturating_add(SILENCE_GRACE_MS);
        let is_over = |seen: &Seen| silence::is_over(self.heard, seen.stop_after_ms, now);
        let silenced = listing.runs.iter().filter(|(_, seen)| must_be_told(seen, kill_at) && is_over(seen));
        silenced.map(|(run, seen)| stop(*run, &seen.job, kill_at, Instead::Unstarted)).collect()
    }

    /// What should not be there: told to stop, wanted by nobody, or left by somebody; and what may be forgotten.
    fn ended(&self, answer: &SyncAnswer, listing: &Listing, now: u64) -> Vec<Act> {
        let wanted = answer.want.iter().map(|want| want.run).chain(answer.keep.iter().copied());
        let wanted: BTreeSet<RunId> = wanted.collect();
        let mut acts = Vec::new();
        for (run, (job, kill_at)) in &self.told {
            if listing.runs.get(run).is_none_or(|seen| must_be_told(seen, *kill_at)) {
                acts.push(stop(*run, job, *kill_at, Instead::Unstarted));
            }
        }
        for (run, seen) in &listing.runs {
            match &seen.phase {
                Phase::Ended(_) if answer.forget.contains(run) => acts.push(Act::Forget(*run)),
                // Nobody would hear its end or stop it in time: what is left of it has to go, wanted or not.
                Phase::Orphaned => acts.push(stop(*run, &seen.job, now, Instead::Lost)),
                Phase::Prepared | Phase::Running { kill_at: None }
                    if !wanted.contains(run) && !self.told.contains_key(run) =>
                {
                    let kill_at = now.saturating_add(UNWANTED_GRACE_MS);
                    acts.push(stop(*run, &seen.job, kill_at, Instead::Unstarted));
                }
                Phase::Prepared | Phase::Running { .. } | Phase::Ended(_) => {}
            }
        }
        acts
    }

    /// Runs that should have other pods than they were told last.
    fn changed(&self, answer: &SyncAnswer, listing: &Listing) -> Vec<Act> {
        let act = |change: &Change| {
            let seen = listing.runs.get(&change.run)?;
            let (Phase::Prepared | Phase::Running { kill_at: None }) = seen.phase else { return None };
            let pods = self.pods(change);
            pods.is_news(seen.told_pods.as_ref()).then_some(Act::Change(change.run, pods))
        };
        answer.change.iter().filter_map(act).collect()
    }

    /// What a runner is told of a run's pods.
    fn pods(&self, change: &Change) -> Pods {
        let leaving = |order: &LeaveOrder| Leaving {
            order: order.order,
            places: order.places.clone(),
            kill_at: self.leaving.get(&order.order).copied().unwrap_or_default(),
        };
        Pods { pods: change.pods.clone(), leave: change.leave.iter().map(leaving).collect() }
    }

    /// What should be there and is not yet.
    fn begun(&self, answer: &SyncAnswer, listing: &Listing, now: u64) -> Vec<Act> {
        let live = || listing.runs.iter().filter(|(_, seen)| seen.phase.is_live());
        let mut jobs: BTreeSet<&str> = live().map(|(_, seen)| seen.job.as_str()).collect();
        let mut held: BTreeSet<(&str, u16)> = live().flat_map(|(_, seen)| gpus(&seen.pods)).collect();
        let mut acts = Vec::new();
        for want in &answer.want {
            let is_prepared = match listing.runs.get(&want.run).map(|seen| &seen.phase) {
                None => false,
                Some(Phase::Prepared) => true,
                Some(Phase::Running { .. } | Phase::Orphaned | Phase::Ended(_)) => continue,
            };
            if let Some(instead) = hindrance(want, is_prepared, answer.version, &listing.nodes) {
                acts.push(stop(want.run, &want.job, now, instead));
                continue;
            }
            // An answer from long ago starts nothing that would have to end for silence at once.
            let is_silent = silence::is_over(self.heard, want.stop_after_ms, now);
            if !is_prepared {
                acts.push(Act::Prepare(want.run));
            } else if !is_silent
                && !jobs.contains(want.job.as_str())
                && gpus(&want.pods).all(|gpu| !held.contains(&gpu))
            {
                jobs.insert(&want.job);
                held.extend(gpus(&want.pods));
                acts.push(Act::Start(want.run));
            }
        }
        acts
    }
}

/// Why a run will never start here, if that is known.
fn hindrance(want: &Want, is_prepared: bool, version: Version, nodes: &[NodeReport]) -> Option<Instead> {
    // A restore may have gone back to before the run's end was heard, and the runner has forgotten it since.
    if !is_prepared && want.run.epoch() < version.epoch {
        return Some(Instead::Lost);
    }
    want.pods.iter().find_map(|pod| {
        let Some(node) = nodes.iter().find(|node| node.node == pod.node) else {
            return Some(Instead::Start(shorten(&format!("there is no node {} here", pod.node))));
        };
        if let (NodeStatus::Unfit, Some(reason)) = (node.status, &node.reason) {
            return Some(Instead::Start(shorten(&format!("node {}: {reason}", pod.node))));
        }
        let gpu = pod.gpus.iter().find(|gpu| **gpu >= node.gpus)?;
        let what = format!("node {} has {} GPUs now; GPU {gpu} is not one of them", pod.node, node.gpus);
        Some(Instead::Start(shorten(&what)))
    })
}

fn stop(run: RunId, job: &str, kill_at: u64, instead: Instead) -> Act {
    Act::Stop(run, Stop { job: job.to_owned(), kill_at, instead })
}

/// Whether a stop order says something new to a run.
fn must_be_told(seen: &Seen, kill_at: u64) -> bool {
    match &seen.phase {
        Phase::Prepared | Phase::Orphaned | Phase::Running { kill_at: None } => true,
        Phase::Running { kill_at: Some(earlier) } => kill_at < *earlier,
        Phase::Ended(_) => false,
    }
}

fn gpus(pods: &[Pod]) -> impl Iterator<Item = (&str, u16)> {
    pods.iter().flat_map(|pod| pod.gpus.iter().map(|gpu| (pod.node.as_str(), *gpu)))
}
