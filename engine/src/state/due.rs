//! What is due: the next times at which somebody has to look.

use crate::job::phase::Phase;
use crate::state::world::State;
use crate::unit::id::JobNo;
use crate::unit::time::Timestamp;

impl State {
    /// The next time at which time alone changes something.
    #[must_use]
    pub fn next_wakeup(&self) -> Option<Timestamp> {
        self.next_timer().into_iter().chain(self.ends_of_protection().next()).min()
    }

    /// The same after all that happened at `now`: what is overdue comes at once, and a protection that has ended is none.
    #[must_use]
    pub fn next_due(&self, now: Timestamp) -> Option<Timestamp> {
        let timer = self.next_timer().map(|at| at.max(now));
        timer.into_iter().chain(self.ends_of_protection().find(|end| *end > now)).min()
    }

    /// The next time at which time alone changes a job, or what is known of a node.
    #[must_use]
    pub fn next_timer(&self) -> Option<Timestamp> {
        let (job, node) = (self.timers.first().map(|(at, _)| *at), self.silences.first().map(|(at, _)| *at));
        job.into_iter().chain(node).min()
    }

    /// When those may be evicted who are still protected from jobs that wait, the first time first.
    fn ends_of_protection(&self) -> impl Iterator<Item = Timestamp> + '_ {
        self.queue.open.expiring.iter().map(|(at, _)| *at)
    }

    /// When something is due that could serve somebody who waits, be it for the last of its victims to stop, so that a
    /// round should look at once. Whatever is due while nobody waits can be left to the next look.
    #[must_use]
    pub fn next_chance(&self, now: Timestamp) -> Option<Timestamp> {
        if self.is_waited_for() {
            return self.next_due(now);
        }
        let returns = self.returning.first().map(|(at, _)| *at);
        returns.into_iter().chain(self.next_heir()).min().map(|at| at.max(now))
    }

    /// When the first of those starts who wait for their victims to stop, where time alone stops these.
    fn next_heir(&self) -> Option<Timestamp> {
        let of_job = self.stopping.iter().filter_map(|no| match &self.jobs.get(*no)?.phase {
            Phase::Stopping(stopping) => stopping.evicted_for,
            Phase::Queued { .. } | Phase::Starting { .. } | Phase::Running { .. } | Phase::Ended { .. } => None,
        });
        let of_pods = self.shedding.iter().filter_map(|no| self.jobs.get(*no)?.run.as_ref());
        let of_pods = of_pods.flat_map(|run| run.leaving.iter().filter_map(|leaving| leaving.evicted_for));
        let last = |heir: JobNo| {
            let Phase::Starting { waits_for, .. } = &self.jobs.get(heir)?.phase else { return None };
            let ends = waits_for.iter().map(|victim| self.makes_room_at(*victim, heir));
            ends.collect::<Option<Vec<Timestamp>>>()?.into_iter().max()
        };
        of_job.chain(of_pods).filter_map(last).min()
    }

    /// When time alone has taken from a job what another one waits for.
    fn makes_room_at(&self, victim: JobNo, heir: JobNo) -> Option<Timestamp> {
        let job = self.jobs.get(victim)?;
        if matches!(job.phase, Phase::Stopping(_)) {
            return self.timer_of(job);
        }
        if self.cluster.is_reported() {
            return None;
        }
        let orders = job.run.iter().flat_map(|run| &run.leaving);
        orders.filter(|leaving| leaving.evicted_for == Some(heir)).map(|leaving| leaving.until).max()
    }
}
