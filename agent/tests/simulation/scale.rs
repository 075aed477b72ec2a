//! Pods that join and leave runs, in the books.
use std::collections::BTreeSet;

use agent::message::Pod;
use agent::pods::Place;
use agent::run::RunId;

use crate::authority::Authority;
use crate::authority::NODES;
use crate::books::Part;
use crate::flaw::Flaw;

impl Authority {
    /// A service gives up one of its pods. It keeps its GPUs until it is reported that it has gone.
    pub(crate) fn shrink(&mut self, at: u64, now: u64) {
        let Some(id) = self.nth(at) else { return };
        let order = RunId::new(self.next());
        let Some(run) = self.facts.runs.get_mut(&id) else { return };
        if run.parts.values().map(|part| part.pods.len()).sum::<usize>() < 2 {
            return;
        }
        let is_last = |part: &&mut Part| !part.has_ended && !part.pods.is_empty();
        let Some(part) = run.parts.values_mut().rfind(is_last) else { return };
        let Some(pod) = part.pods.pop() else { return };
        if self.flaw == Some(Flaw::FreesOnShrink) {
            self.facts.booked.retain(|(node, gpu), _| *node != pod.node || !pod.gpus.contains(gpu));
        }
        part.leaving.push((order, pod, now + at * 50));
    }

    /// It takes one more pod, where there is room.
    pub(crate) fn grow(&mut self, at: u64) {
        let Some(id) = self.nth(at) else { return };
        let Some(run) = self.facts.runs.get(&id).filter(|run| run.kill_at.is_none()) else { return };
        let (gpus, rank) = (self.gpus_of_a_pod(id), run.n_pods);
        let takes = |agent: usize| run.parts.get(&agent).is_none_or(|part| !part.has_ended);
        let nodes = NODES.iter().cycle().skip(usize::try_from(at).unwrap_or_default()).take(NODES.len());
        let found = nodes.filter(|(_, agent)| takes(*agent)).find_map(|(node, agent)| {
            let free: Vec<u16> = self.free_on(node, &BTreeSet::new()).take(gpus).collect();
            (free.len() == gpus).then_some((*node, *agent, free))
        });
        let Some((node, agent, gpus)) = found.filter(|_| self.is_clear()) else { return };
        self.next();
        self.facts.booked.extend(gpus.iter().map(|gpu| ((node, *gpu), id)));
        if let Some(run) = self.facts.runs.get_mut(&id) {
            run.n_pods += 1;
            // Its first pod may come to its end, and another one fail: then it is queued again.
            self.given_up.push(run.job.clone());
            run.parts.entry(agent).or_default().pods.push(Pod { rank, node: node.to_owned(), gpus });
        }
    }

    /// Pods that were told to leave have gone.
    pub(crate) fn vacate(&mut self, id: RunId, agent: usize, gone: &[RunId]) {
        let Some(part) = self.facts.runs.get_mut(&id).and_then(|run| run.parts.get_mut(&agent)) else { return };
        let (left, stay): (Vec<_>, Vec<_>) = part.leaving.drain(..).partition(|(order, ..)| gone.contains(order));
        part.leaving = stay;
        for (_, pod, _) in left {
            self.next();
            self.facts
                .booked
                .retain(|(node, gpu), holder| *holder != id || *node != pod.node || !pod.gpus.contains(gpu));
        }
    }

    /// Whether the books have a pod of a run at a place, be it one that leaves.
    pub(crate) fn has(&self, id: RunId, agent: usize, place: &Place) -> bool {
        let part = self.facts.runs.get(&id).and_then(|run| run.parts.get(&agent));
        let pods = part.into_iter().flat_map(|part| part.pods.iter().chain(part.leaving.iter().map(|(_, pod, _)| pod)));
        pods.map(Place::of).any(|other| other == *place)
    }
}
