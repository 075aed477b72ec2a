//! Pods that join and leave a run that goes on: what its supervisor has is compared with what it should have.

use std::collections::BTreeMap;

use agent::agent::UNWANTED_GRACE_MS;
use agent::exit::Exit;
use agent::exit::shorten;
use agent::message::Pod;
use agent::pods::Leaving;
use agent::pods::Place;
use agent::pods::Pods;

use crate::cgroup::Cgroup;
use crate::folder::Held;
use crate::gpus::Gpus;
use crate::processes::Mark;
use crate::watch::running::Ground;
use crate::watch::running::Running;
use crate::watch::running::Started;
use crate::watch::running::Stay;

/// When to look again for what is about to be gone.
const AGAIN_MS: u64 = 200;
/// How often what is left of a pod is killed in one go.
const KILLS_AT_ONCE: u32 = 20;

impl Running {
    /// Has pods leave and join as the run was told; when to look again, or how the run ends if one cannot join.
    pub(super) fn turn_over(&mut self, ground: &Ground, now: u64) -> Result<u64, Exit> {
        let Some(told) = ground.folder.told_pods().ok().flatten() else { return Ok(u64::MAX) };
        for leaving in &told.leave {
            self.tell_to_leave(leaving);
        }
        self.tell_unwanted(&told, now);
        let mut next = self.drive_out(ground, now);
        if !self.join(ground, &told)? {
            next = next.min(now + AGAIN_MS);
        }
        self.note(ground, &told);
        Ok(next)
    }

    /// Tells the pods of an order to end, the newest first where several are at one place.
    fn tell_to_leave(&mut self, leaving: &Leaving) {
        let Leaving { order, places, kill_at } = leaving;
        for pod in &mut self.pods {
            if let Stay::Leaves { order: Some(other), kill_at: earlier } = &mut pod.stay
                && other == order
            {
                *earlier = (*earlier).min(*kill_at);
            }
        }
        for (place, wanted) in counted(places.iter().cloned()) {
            let is_here = |pod: &&mut Started| Place::of(&pod.pod) == place;
            let told = self.pods.iter_mut().filter(is_here).filter(|pod| pod.stay.order() == Some(*order)).count();
            let staying = self.pods.iter_mut().rev().filter(is_here).filter(|pod| pod.stay == Stay::Stays);
            for pod in staying.take(wanted.saturating_sub(told)) {
                pod.leave(Some(*order), *kill_at);
            }
        }
    }

    /// Tells pods to end that nobody says should be there: they joined before a restore to an earlier time.
    fn tell_unwanted(&mut self, told: &Pods, now: u64) {
        let mut wanted = counted(told.pods.iter().map(Place::of));
        for pod in self.pods.iter_mut().filter(|pod| pod.stay == Stay::Stays) {
            match wanted.get_mut(&Place::of(&pod.pod)) {
                Some(count) if *count > 0 => *count -= 1,
                Some(_) | None => pod.leave(None, now + UNWANTED_GRACE_MS),
            }
        }
    }

    /// Kills pods that have not ended in time, and gives back the GPUs of those that have ended.
    fn drive_out(&mut self, ground: &Ground, now: u64) -> u64 {
        let mut next = u64::MAX;
        for at in 0..self.pods.len() {
            let pod = &self.pods[at];
            let Stay::Leaves { order, kill_at } = pod.stay else { continue };
            if pod.status.is_none() && now < kill_at {
                next = next.min(kill_at);
                continue;
            }
            let mark = Mark {
                run: ground.folder.run.to_string(),
                store: &ground.order.store,
                cgroup: ground.cgroup.and_then(|group| Cgroup::of_pod(group, at).ok()),
                ancestor: Some(pod.pid),
                pod: Some(at),
            };
            let is_clear = mark.kill(KILLS_AT_ONCE, || self.reap()) && self.give_back(ground, at).is_ok();
            if is_clear {
                self.pods[at].stay = Stay::Gone(order);
            } else {
                next = next.min(now + AGAIN_MS);
            }
        }
        next
    }

    /// Gives back the GPUs of a pod that no other pod of the run has.
    fn give_back(&self, ground: &Ground, at: usize) -> std::io::Result<()> {
        let Started { pod, .. } = &self.pods[at];
        let others = self.pods.iter().enumerate().filter(|(other, pod)| *other != at && pod.holds());
        let others: Vec<&Pod> = others.map(|(_, other)| &other.pod).collect();
        let is_shared = |gpu: u16| others.iter().any(|other| other.node == pod.node && other.gpus.contains(&gpu));
        let free = pod.gpus.iter().copied().filter(|gpu| !is_shared(*gpu));
        Gpus::of(ground.state).release_of(ground.folder.run, &pod.node, free)
    }

    /// Starts the pods that are missing; whether there is none left that waits for a GPU.
    fn join(&mut self, ground: &Ground, told: &Pods) -> Result<bool, Exit> {
        let mut here = counted(self.pods.iter().filter(|pod| pod.stay == Stay::Stays).map(|pod| Place::of(&pod.pod)));
        let mut all = true;
        for pod in &told.pods {
            match here.get_mut(&Place::of(pod)) {
                Some(count) if *count > 0 => *count -= 1,
                Some(_) | None => all &= self.join_one(ground, pod)?,
            }
        }
        Ok(all)
    }

    fn join_one(&mut self, ground: &Ground, pod: &Pod) -> Result<bool, Exit> {
        let taken = Gpus::of(ground.state).take(ground.folder.run, std::slice::from_ref(pod));
        match taken {
            Ok(Ok(())) => self.start_pod(ground, pod).map(|()| true),
            // The run that holds it is about to end.
            Ok(Err(_)) => Ok(false),
            Err(error) => Err(Exit::Start(shorten(&error.to_string()))),
        }
    }

    /// Writes down which pods there are, and which orders have been followed, when that has changed.
    fn note(&mut self, ground: &Ground, told: &Pods) {
        let has_gone = |leaving: &&Leaving| {
            let mut pods = self.pods.iter().filter(|pod| pod.stay.order() == Some(leaving.order));
            pods.all(|pod| matches!(pod.stay, Stay::Gone(_)))
        };
        let gone = told.leave.iter().filter(has_gone).map(|leaving| leaving.order).collect();
        let pods = self.pods.iter().filter(|pod| pod.holds()).map(|pod| pod.pod.clone()).collect();
        let held = Held { pods, gone };
        if self.noted.as_ref() != Some(&held) && ground.folder.note_held(&held).is_ok() {
            self.noted = Some(held);
            crate::store::ring(&ground.state.join("changed"));
        }
    }
}

/// How many there are of each.
fn counted(places: impl Iterator<Item = Place>) -> BTreeMap<Place, usize> {
    let mut counts = BTreeMap::new();
    for place in places {
        *counts.entry(place).or_default() += 1;
    }
    counts
}
