//! What is due: the next times at which somebody has to look.

use crate::job::phase::Phase;
use crate::state::world::State;
use crate::unit::id::JobNo;
use crate::unit::time::Timestamp;

impl State {
    /// The next time at which time alone changes something.
    #[must_use]
    pub fn next_wakeup(&self) -> Option<Timestamp> {
        self.timers.first().map(|(at, _)| *at).into_iter().chain(self.ends_of_protection().next()).min()
    }

    /// The same after all that happened at `now`: what is overdue comes at once, and a protection that has ended is none.
    #[must_use]
    pub fn next_due(&self, now: Timestamp) -> Option<Timestamp> {
        let timer = self.timers.first().map(|(at, _)| (*at).max(now));
        timer.into_iter().chain(self.ends_of_protection().find(|end| *end > now)).min()
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
        let stopping = |no: &JobNo| {
            let job = self.jobs.get(*no)?;
            if let Phase::Stopping(stopping) = &job.phase { Some((job, stopping)) } else { None }
        };
        let heirs = self.stopping.iter().filter_map(|no| stopping(no)?.1.evicted_for);
        let last = |heir: JobNo| {
            let Phase::Starting { waits_for, .. } = &self.jobs.get(heir)?.phase else { return None };
            let ends = waits_for.iter().filter_map(stopping).map(|(victim, _)| self.timer_of(victim));
            ends.collect::<Option<Vec<Timestamp>>>()?.into_iter().max()
        };
        heirs.filter_map(last).min()
    }
}
