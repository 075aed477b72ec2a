//! What is due: the timers of jobs, and the next times at which somebody has to look.

use crate::job::phase::Phase;
use crate::state::cluster::Execution;
use crate::state::jobs::Job;
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

    /// When the first of those starts who wait for their victims to stop.
    fn next_heir(&self) -> Option<Timestamp> {
        let stopping = |no: &JobNo| {
            if let Phase::Stopping(stopping) = &self.jobs.get(*no)?.phase { Some(stopping) } else { None }
        };
        let heirs = self.stopping.iter().filter_map(|no| stopping(no)?.evicted_for);
        let last = |heir: JobNo| {
            let Phase::Starting { waits_for, .. } = &self.jobs.get(heir)?.phase else { return None };
            waits_for.iter().filter_map(|victim| Some(stopping(victim)?.until)).max()
        };
        heirs.filter_map(last).min()
    }

    /// When time alone changes a job.
    #[must_use]
    pub fn timer_of(&self, job: &Job) -> Option<Timestamp> {
        match &job.phase {
            Phase::Queued { not_before } => *not_before,
            Phase::Running { started, .. } if self.cluster.execution == Execution::Simulated => {
                job.left().map(|left| *started + left)
            }
            Phase::Stopping(stopping) => Some(stopping.until),
            Phase::Running { .. } | Phase::Starting { .. } | Phase::Ended { .. } => None,
        }
    }

    /// Sets the timer of a job.
    pub fn set_timer(&mut self, no: JobNo) {
        if let Some(at) = self.timer_of(&self.jobs[no]) {
            self.timers.insert((at, no));
        }
    }

    /// Takes the timer of a job away.
    pub fn clear_timer(&mut self, no: JobNo) {
        if let Some(at) = self.timer_of(&self.jobs[no]) {
            self.timers.remove(&(at, no));
        }
    }
}
