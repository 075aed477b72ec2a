//! Pods that join and leave a run that its supervisor watches over.
use agent::message::Pod;
use agent::message::Want;
use agent::pods::Leaving;
use agent::pods::Place;
use agent::run::RunId;

use crate::flaw::Flaw;
use crate::machine::Machine;
use crate::oracle::Oracle;
use crate::random::Random;

/// How long pods that are wanted nowhere may take to end.
const UNWANTED_GRACE_MS: u64 = 5_000;

/// Why a pod leaves.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leave {
    Stays,
    Told(RunId),
    /// Nobody says that it should be there; it is killed then.
    Unwanted(u64),
}

impl Machine {
    /// The pods that a run holds, as its files of GPUs say.
    pub(crate) fn held(&self, run: RunId) -> Vec<Pod> {
        let supervisor = self.supervisors.iter().find(|one| one.run == run && !one.pods.is_empty());
        let pods = supervisor.map(|one| &one.pods[..]).unwrap_or_default().iter().filter(|(place, leave)| {
            let is_held = |gpu: &u16| self.files.get(&(place.node.clone(), *gpu)) == Some(&run);
            *leave == Leave::Stays || place.gpus.iter().all(is_held)
        });
        let pod = |(place, _): &(Place, Leave)| Pod { rank: 0, node: place.node.clone(), gpus: place.gpus.clone() };
        let mut pods: Vec<Pod> = pods.map(pod).collect();
        // One that has left, and one that came there later, are one.
        pods.sort_by_key(Place::of);
        pods.dedup();
        pods
    }

    /// A supervisor compares the pods that it has with those that it should have.
    pub(crate) fn reconcile(&mut self, at: usize, want: &Want, now: u64, random: &mut Random, oracle: &mut Oracle) {
        let run = want.run;
        let Some(folder) = self.folders.get(&run) else { return };
        let (Some(told), None) = (folder.told_pods.clone(), folder.kill_at) else { return };
        for Leaving { order, places, kill_at } in &told.leave {
            for (place, leave) in &mut self.supervisors[at].pods {
                if *leave == Leave::Stays && places.contains(place) {
                    *leave = Leave::Told(*order);
                }
            }
            let is_gone = self.drive_out(at, Leave::Told(*order), *kill_at, now, random);
            if let Some(folder) = self.folders.get_mut(&run).filter(|folder| is_gone && !folder.gone.contains(order)) {
                folder.gone.push(*order);
            }
        }
        for (place, leave) in &mut self.supervisors[at].pods {
            let stays = self.flaw == Some(Flaw::UnwantedStay);
            if !stays && *leave == Leave::Stays && !told.pods.iter().any(|pod| Place::of(pod) == *place) {
                *leave = Leave::Unwanted(now + UNWANTED_GRACE_MS);
            }
        }
        for leave in self.supervisors[at].pods.iter().map(|(_, leave)| *leave).collect::<Vec<_>>() {
            if let Leave::Unwanted(kill_at) = leave {
                self.drive_out(at, leave, kill_at, now, random);
            }
        }
        for pod in &told.pods {
            let place = Place::of(pod);
            let file = |gpu: &u16| (place.node.clone(), *gpu);
            // A pod that leaves has its place until its process is gone.
            let is_there = |(other, leave): &(Place, Leave)| {
                let has_left = *leave != Leave::Stays && !self.files.contains_key(&file(&place.gpus[0]));
                *other == place && !has_left
            };
            if self.supervisors[at].pods.iter().any(is_there) {
                continue;
            }
            if place.gpus.iter().all(|gpu| self.files.get(&file(gpu)).is_none_or(|holder| *holder == run)) {
                self.files.extend(place.gpus.iter().map(|gpu| (file(gpu), run)));
                self.begin(at, want, &place, now, random, oracle);
            }
        }
    }

    /// Ends the pods that leave for this reason; whether nothing of them is left.
    fn drive_out(&mut self, at: usize, why: Leave, kill_at: u64, now: u64, random: &mut Random) -> bool {
        let run = self.supervisors[at].run;
        let leaving = |(_, (_, leave)): &(u32, &(Place, Leave))| *leave == why;
        let pods: Vec<(u32, Place)> = (0..)
            .zip(&self.supervisors[at].pods)
            .filter(leaving)
            .map(|(rank, (place, _))| (rank, place.clone()))
            .collect();
        let mut is_gone = true;
        let is_its = |rank| pods.iter().any(|(other, _)| *other == rank);
        for process in self.processes.iter_mut().filter(|it| it.run == run && is_its(it.life.rank)) {
            is_gone = false;
            if kill_at <= now || process.life.is_child {
                process.kill(now);
            } else if !process.ignores_term && process.dies_at.is_none() {
                process.dies_at = Some(now + random.below(4_000));
                process.is_killed = true;
            }
        }
        is_gone |= self.flaw == Some(Flaw::GoneBeforeGone);
        if is_gone {
            let is_left =
                |node: &str, gpu| pods.iter().any(|(_, place)| place.node == node && place.gpus.contains(&gpu));
            let stays = |node: &str, gpu| {
                let mut others = self.supervisors[at].pods.iter().filter(|(_, leave)| *leave != why);
                others.any(|(place, leave)| *leave == Leave::Stays && place.node == node && place.gpus.contains(&gpu))
            };
            let freed: Vec<(String, u16)> = self
                .files
                .iter()
                .filter(|((node, gpu), holder)| **holder == run && is_left(node, *gpu) && !stays(node, *gpu))
                .map(|(file, _)| file.clone())
                .collect();
            self.files.retain(|file, _| !freed.contains(file));
        }
        is_gone
    }
}
