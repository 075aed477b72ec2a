//! The second half of a round: what is left idle is lent (rules 3.4).

use std::sync::Arc;

use crate::job::hold::Blocker;
use crate::job::hold::Hold;
use crate::job::phase::Source;
use crate::job::spec::IdlePolicy;
use crate::ledger::Sign;
use crate::schedule::decision::Assignment;
use crate::schedule::judge;
use crate::schedule::judge::Refused;
use crate::schedule::leaving;
use crate::schedule::nobody;
use crate::schedule::nobody::Family;
use crate::schedule::open_round::OpenRound;
use crate::schedule::open_round::PutOff;
use crate::schedule::open_round::behind_head;
use crate::schedule::order;
use crate::schedule::order::Head;
use crate::schedule::order::Heads;
use crate::schedule::round::Anew;
use crate::schedule::round::Scope;
use crate::schedule::source;
use crate::state::waiting::Half;
use crate::unit::id::ClassNo;
use crate::unit::id::JobNo;
use crate::unit::sparse::Sparse;

impl OpenRound<'_> {
    /// Lends to those for whom somebody would have to go otherwise.
    ///
    /// # Errors
    /// Those for whom too little is idle.
    pub(in crate::schedule) fn lend_to_who_was_put_off(&mut self) -> Result<(), Vec<PutOff>> {
        let mut insisting = Vec::new();
        for put_off in std::mem::take(&mut self.put_off) {
            let no = put_off.job;
            if self.trial.is_served(no) {
                continue;
            }
            match source::assign(Source::Idle, &self.trial, &self.state.jobs[no].spec) {
                Ok(assignment) => self.give(no, assignment),
                Err(_) => insisting.push(put_off),
            }
        }
        if insisting.is_empty() { Ok(()) } else { Err(insisting) }
    }

    /// Lends to those who keep others out, before it lends to anybody else: whom they kept out may have a right to what
    /// would be lent.
    pub(in crate::schedule) fn lend_to_who_blocks(&mut self) {
        for no in self.blocking.clone() {
            let (spec, class) = (&self.state.jobs[no].spec, self.state.jobs[no].class);
            if let Some(class) = class {
                self.serve_ahead(class);
            }
            if spec.idle != IdlePolicy::Off
                && !self.trial.is_served(no)
                && let Ok(assignment) = source::assign(Source::Idle, &self.trial, spec)
            {
                self.give(no, assignment);
            }
        }
    }

    /// Keeps for those who wait for others to leave what is theirs then: they would take it back. What there is is kept
    /// once, for the first who was asked; the next needs another place, and room in its quota beside it.
    pub(in crate::schedule) fn keep_for_who_awaits(&mut self) {
        for no in std::mem::take(&mut self.awaiting) {
            let spec = &self.state.jobs[no].spec;
            if !self.trial.is_served(no)
                && leaving::fits_by_right(&self.trial, spec)
                && let Some((_, placed)) = judge::released_soon(&self.trial, spec)
            {
                self.trial.book_gang(no, &placed, Sign::Add);
            }
        }
    }

    /// Lends what is left idle, in the order of the queue.
    ///
    /// # Errors
    /// Somebody would be lent something that may be owed to others. Heads of strict queues may keep everybody out, so
    /// where there are such, this is not known before.
    pub(in crate::schedule) fn lend(&mut self, scope: &Scope, may_be_owed: impl Fn(&Self) -> bool) -> Result<(), Anew> {
        let classes = scope.unsettled(&self.trial, Half::Idle);
        // What families were told by right is not asked for any more, and what is in it is used for what they are told now.
        self.told = Sparse::default();
        if classes.is_empty() || self.refuses_all(&classes) {
            return Ok(());
        }
        if self.fronts.is_empty() && may_be_owed(self) {
            return Err(Anew::Everybody);
        }
        let mut heads = Heads::of(self.state, self.trial.now, &classes);
        let mut told: Sparse<(usize, Arc<Hold>)> = Sparse::default();
        while let Some(head) = heads.head(|class| self.is_settled(class, Half::Idle)) {
            if self.trial.is_served(head.job) {
                heads.pass(head);
                continue;
            }
            if let Some(front) = self.stands_behind(head.job) {
                *self.holds.slot(head.class.at()) = Some(behind_head(self.state, front));
                heads.close(head);
                continue;
            }
            let family = self.state.queue.classes[head.class.at()].family;
            let given = self.decisions.len();
            let is_kept_out = self.is_kept_out(head.class);
            let known = told.get(family.at()).filter(|(by, _)| *by == given && !is_kept_out);
            let answer = match known {
                Some((_, hold)) => Err(Arc::clone(hold)),
                None => self.ask_idle(head),
            };
            match answer {
                Ok(assignment) => {
                    self.give(head.job, assignment);
                    heads.pass(head);
                }
                Err(hold) => {
                    if !is_kept_out {
                        *told.slot(family.at()) = Some((given, Arc::clone(&hold)));
                    }
                    *self.holds.slot(head.class.at()) = Some(hold);
                    heads.close(head);
                }
            }
        }
        Ok(())
    }

    /// Refuses them all where there is nothing to lend to any.
    fn refuses_all(&mut self, classes: &[ClassNo]) -> bool {
        if !self.fronts.is_empty() {
            return false;
        }
        let Some(idle) = nobody::asked(&self.trial, classes) else { return false };
        for Family { classes, first: (_, job, class), blocker } in idle {
            if classes.iter().all(|class| self.is_told(*class, &blocker)) {
                continue;
            }
            let hold = self.hold_without_idle(class, job, blocker.clone());
            for class in classes {
                let own = self.is_kept_out(class).then(|| self.hold_without_idle(class, job, blocker.clone()));
                *self.holds.slot(class.at()) = Some(own.unwrap_or_else(|| Arc::clone(&hold)));
            }
        }
        true
    }

    /// Whether a class knows already that idle amounts refuse it so; what else it is told is always the same where it
    /// uses nothing but these.
    fn is_told(&self, class: ClassNo, blocker: &Blocker) -> bool {
        let told = self.told_of_idle(class).map(std::mem::discriminant);
        self.state.queue.classes[class.at()].key.idle == IdlePolicy::Only
            && told == Some(std::mem::discriminant(blocker))
    }

    /// Why the last round lent nothing to a class.
    fn told_of_idle(&self, class: ClassNo) -> Option<&Blocker> {
        let hold = self.state.queue.classes[class.at()].hold.as_ref()?;
        hold.attempts.iter().find(|it| it.source == Source::Idle).map(|it| &it.blocker)
    }

    /// Whether a reservation keeps a class out, which says nothing of others of its family.
    fn is_kept_out(&self, class: ClassNo) -> bool {
        self.refused.get(class.at()).is_some_and(|refused| refused.held_by.is_some())
    }

    /// Why a job of a class waits to which nothing is lent.
    fn hold_without_idle(&mut self, class: ClassNo, job: JobNo, blocker: Blocker) -> Arc<Hold> {
        let job = &self.state.jobs[job].spec;
        let refused = self.refused.take(class.at()).map(Refused::own);
        let known = || self.state.queue.classes[class.at()].hold.as_deref().map(Refused::known);
        let refused = match job.idle {
            IdlePolicy::Only => Refused::idle_only(),
            IdlePolicy::Off | IdlePolicy::Acceptable => refused.or_else(known).unwrap_or_default(),
        };
        Arc::new(refused.hold(self.state, job, blocker))
    }

    /// Tells those who were refused by right, and to whom plainly as little is idle as before, why they wait now.
    pub(in crate::schedule) fn tell_who_was_not_asked_again(&mut self) {
        for (at, refused) in std::mem::take(&mut self.refused).into_values() {
            let class = &self.state.queue.classes[at];
            if let (Some(idle), None) = (self.told_of_idle(ClassNo::from_index(at)), self.holds.get(at))
                && let Some(no) = class.waiting.iter().find(|no| !self.trial.is_served(*no))
            {
                let hold = Refused::own(refused).hold(self.state, &self.state.jobs[no].spec, idle.clone());
                *self.holds.slot(at) = Some(Arc::new(hold));
            }
        }
    }

    fn ask_idle(&mut self, head: Head) -> Result<Assignment, Arc<Hold>> {
        source::assign(Source::Idle, &self.trial, &self.state.jobs[head.job].spec)
            .map_err(|blocker| self.hold_without_idle(head.class, head.job, blocker))
    }

    /// The head of its strict queue that a job has to wait for.
    fn stands_behind(&self, job: JobNo) -> Option<JobNo> {
        let front = *self.fronts.get(&self.state.jobs[job].spec.quota)?;
        let is_behind = !self.trial.is_served(front) && order::turn(self.state, front) < order::turn(self.state, job);
        is_behind.then_some(front)
    }
}
