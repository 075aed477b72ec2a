//! A round in progress: what has been given, to whom, and why the others wait.

mod conclude;
mod lend;
mod unlisted;

use std::sync::Arc;

use crate::job::hold::Attempt;
use crate::job::hold::Blocker;
use crate::job::hold::Hold;
use crate::job::phase::Charge;
use crate::job::phase::Source;
use crate::job::spec::IdlePolicy;
use crate::schedule::backfill::Reservations;
use crate::schedule::decision::Assignment;
use crate::schedule::decision::Decision;
use crate::schedule::decision::Victim;
use crate::schedule::grow::Growth;
use crate::schedule::judge;
use crate::schedule::judge::Refused;
use crate::schedule::open_round::unlisted::Unlisted;
use crate::schedule::order::Head;
use crate::schedule::order::Heads;
use crate::schedule::order::is_strict;
use crate::schedule::precedence::Ahead;
use crate::schedule::precedence::Precedence;
use crate::schedule::recheck;
use crate::schedule::trial::Trial;
use crate::state::waiting::Half;
use crate::state::world::State;
use crate::unit::amount::Amount;
use crate::unit::id::ClassNo;
use crate::unit::id::JobNo;
use crate::unit::id::QuotaNo;
use crate::unit::ordered::Map;
use crate::unit::ordered::Set;
use crate::unit::sparse::Sparse;

/// A job gets nothing by right.
#[derive(Clone)]
struct Refusal {
    /// Whose reservation keeps it out.
    held_by: Option<JobNo>,
    told: Reasons,
}

/// What a job was told that gets nothing by right.
#[derive(Clone)]
enum Reasons {
    /// Why it waits: it may use nothing else.
    All(Arc<Hold>),
    /// Why no source by right serves. Idle amounts have not been asked for.
    ByRight(Arc<Refused>),
}

/// What a family was told, by what had been given by then: the same question to the same books gets the same answer.
enum Told {
    Refused(Refusal),
    /// Somebody would have to go.
    PutOff,
}

/// What a job would be given for which somebody would have to go, and how much had been decided by then.
pub(super) struct PutOff {
    pub(super) job: JobNo,
    given: usize,
    /// Nothing if another one of its family was asked.
    assignment: Option<Assignment>,
}

/// What becomes of a job's claim by right.
enum Answer {
    Gets(Assignment),
    /// An *Acceptable* job for which somebody would have to go waits until it is known what is left idle.
    PutOff(Option<Assignment>),
    Refused(Refusal),
}

/// A round in progress.
pub(super) struct OpenRound<'s> {
    state: &'s State,
    trial: Trial<'s>,
    reservations: Reservations<'s>,
    growth: Growth,
    /// *Acceptable* jobs that take what they have a right to though somebody has to go: idle amounts do not suffice.
    firm: &'s Set<JobNo>,
    /// What the first of these that insisted was assigned when this round was held last: up to its turn nothing is different.
    foreseen: Option<&'s PutOff>,
    /// Who is asked before whose turn.
    precedence: &'s Precedence,
    /// The other ones for which somebody would have to go, in their order.
    put_off: Vec<PutOff>,
    /// Whether what was given by right leaves anything over for those refused before.
    is_left_over: bool,
    /// In the order in which they take effect.
    decisions: Vec<Decision>,
    /// What families were told by right, and how much had been decided by then.
    told: Sparse<(usize, Told)>,
    /// What those were told by right who may still use idle amounts, by class.
    refused: Sparse<Arc<Refused>>,
    /// Why classes wait.
    holds: Sparse<Arc<Hold>>,
    /// The heads that strict queues wait for.
    fronts: Map<QuotaNo, JobNo>,
    /// Who starts as soon as others have left, in the order in which they were asked.
    awaiting: Vec<JobNo>,
    /// Heads of strict queues, and holders of reservations that have kept somebody out.
    blocking: Set<JobNo>,
}

impl<'s> OpenRound<'s> {
    /// A round in which nothing has been decided yet but that loans end.
    pub(super) fn begin(
        trial: Trial<'s>,
        ended_loans: Vec<Decision>,
        firm: &'s Set<JobNo>,
        foreseen: Option<&'s PutOff>,
        precedence: &'s Precedence,
    ) -> Self {
        Self {
            state: trial.state,
            trial,
            reservations: Reservations::of(precedence),
            growth: Growth::default(),
            firm,
            foreseen,
            precedence,
            put_off: Vec::new(),
            is_left_over: false,
            decisions: ended_loans,
            told: Sparse::default(),
            refused: Sparse::default(),
            holds: Sparse::default(),
            fronts: Map::new(),
            awaiting: Vec::new(),
            blocking: Set::new(),
        }
    }

    /// The current books.
    pub(super) fn trial(&self) -> &Trial<'s> {
        &self.trial
    }

    /// Gives everybody what it has a right to, and says whether that leaves anything over for those refused before.
    ///
    /// # Errors
    /// Somebody who was refused would take, in the next round, what others have got.
    pub(super) fn serve_by_right(&mut self, classes: &[ClassNo]) -> Result<bool, Ahead> {
        self.is_left_over = false;
        self.reservations = Reservations::of(self.precedence);
        self.fronts.clear();
        self.blocking.clear();
        self.refused = Sparse::default();
        self.holds = Sparse::default();
        if classes.is_empty() {
            return Ok(false);
        }
        let mut told = std::mem::take(&mut self.told);
        let mut heads = Heads::of(self.state, self.trial.now, classes);
        let mut unlisted = Unlisted::beside(classes);
        while let Some(head) = heads.head(|class| self.is_settled(class, Half::ByRight)) {
            if self.trial.is_served(head.job) {
                heads.pass(head);
                continue;
            }
            let before = self.decisions.len();
            if self.serve_ahead(head.class) {
                heads.look_again(head, unlisted.unsettled(&self.trial, &self.decisions[before..]));
            }
            let family = self.state.queue.classes[head.class.at()].family;
            let given = self.decisions.len();
            let known = told.get(family.at()).filter(|(by, _)| *by == given).map(|(_, told)| told);
            let is_asked = known.is_none();
            match self.answer(known, head.job) {
                Answer::Gets(assignment) => {
                    if self.give_by_right(head.job, assignment) {
                        heads.look_again(head, unlisted.unsettled(&self.trial, &self.decisions[given..]));
                    }
                    heads.pass(head);
                }
                Answer::PutOff(assignment) => {
                    *told.slot(family.at()) = Some((given, Told::PutOff));
                    self.put_off(&mut heads, head, assignment);
                }
                Answer::Refused(refusal) => {
                    if is_asked
                        && let Some(ahead) =
                            Ahead::of(&self.trial, head.job).filter(|ahead| self.precedence.lacks(ahead))
                    {
                        return Err(ahead);
                    }
                    if refusal.held_by.is_none() {
                        *told.slot(family.at()) = Some((given, Told::Refused(refusal.clone())));
                    }
                    self.refuse(&mut heads, head, refusal);
                }
            }
        }
        self.told = told;
        Ok(self.is_left_over)
    }

    /// Serves those who are asked before a class has its turn; whether anybody was served.
    fn serve_ahead(&mut self, class: ClassNo) -> bool {
        let before = self.decisions.len();
        for ahead in self.precedence.ahead_of(class) {
            let waiting = &self.state.queue.classes[ahead.at()].waiting;
            for no in waiting.iter() {
                if self.trial.is_served(no) {
                    continue;
                }
                match self.answer(None, no) {
                    Answer::Gets(assignment) => self.give_by_right(no, assignment),
                    Answer::PutOff(assignment) => {
                        self.put_off.push(PutOff { job: no, given: self.decisions.len(), assignment });
                        break;
                    }
                    Answer::Refused(_) => break,
                };
            }
        }
        self.decisions.len() > before
    }

    /// A job gets what it was offered by right; whether that moves anybody.
    fn give_by_right(&mut self, job: JobNo, assignment: Assignment) -> bool {
        let moves_somebody = !assignment.victims.is_empty() || !assignment.promoted.is_empty();
        self.is_left_over |= moves_somebody && leaves_over(self.state, job, &assignment);
        self.give(job, assignment);
        moves_somebody
    }

    /// Whether somebody starts who has kept others out.
    pub(super) fn is_unblocked(&self) -> bool {
        self.blocking.iter().any(|no| self.trial.is_served(*no))
    }

    /// What a job gets by right.
    fn answer(&mut self, told: Option<&Told>, job: JobNo) -> Answer {
        let spec = &self.state.jobs[job].spec;
        let may_wait = spec.idle == IdlePolicy::Acceptable && !self.firm.contains(&job);
        match told {
            Some(Told::Refused(refusal)) => return Answer::Refused(refusal.clone()),
            Some(Told::PutOff) if may_wait => return Answer::PutOff(None),
            Some(Told::PutOff) | None => {}
        }
        self.awaiting.retain(|no| *no != job);
        let given = self.decisions.len();
        let foreseen = self.foreseen.filter(|foreseen| foreseen.job == job && foreseen.given == given);
        let foreseen = foreseen.and_then(|foreseen| foreseen.assignment.as_ref());
        match judge::by_right(&mut self.trial, &mut self.reservations, job, foreseen) {
            Ok(assignment) if may_wait && !assignment.victims.is_empty() => Answer::PutOff(Some(assignment)),
            Ok(assignment) => Answer::Gets(assignment),
            Err(refused) => {
                self.awaiting.extend(refused.awaits.then_some(job));
                let held_by = refused.held_by;
                let told = if spec.idle == IdlePolicy::Off {
                    Reasons::All(Arc::new(refused.hold(self.state, spec, Blocker::IdleOff)))
                } else {
                    Reasons::ByRight(Arc::new(refused))
                };
                Answer::Refused(Refusal { held_by, told })
            }
        }
    }

    /// Leaves it open what becomes of a job until it is known what is left idle.
    fn put_off(&mut self, heads: &mut Heads<'s>, head: Head, assignment: Option<Assignment>) {
        self.put_off.push(PutOff { job: head.job, given: self.decisions.len(), assignment });
        if self.is_front(head) {
            self.close_queue(heads, head);
        } else {
            heads.pass(head);
        }
    }

    /// Whether a job is the head for which a strict queue waits.
    fn is_front(&self, head: Head) -> bool {
        is_strict(self.state, self.state.queue.classes[head.class.at()].key.quota)
            && judge::may_block(&self.trial, head.job)
    }

    /// Whoever stands behind the head of a strict queue waits for it.
    fn close_queue(&mut self, heads: &mut Heads<'s>, head: Head) {
        self.fronts.insert(self.state.jobs[head.job].spec.quota, head.job);
        self.blocking.insert(head.job);
        for behind in heads.close_quota(head) {
            *self.holds.slot(behind.at()) = Some(behind_head(self.state, head.job));
        }
    }

    /// Notes that a job gets nothing by right, and what that means for those behind it.
    fn refuse(&mut self, heads: &mut Heads<'s>, head: Head, refusal: Refusal) {
        let Refusal { held_by, told } = refusal;
        self.blocking.extend(held_by);
        if self.is_front(head) {
            self.close_queue(heads, head);
        } else if held_by.is_some() {
            // Another job of the class may be short enough for the gap.
            heads.pass(head);
        } else {
            heads.close(head);
        }
        match told {
            Reasons::All(hold) => {
                self.holds.slot(head.class.at()).get_or_insert(hold);
            }
            Reasons::ByRight(by_right) => {
                self.refused.slot(head.class.at()).get_or_insert(by_right);
            }
        }
    }

    /// A job gets what it was offered.
    fn give(&mut self, job: JobNo, assignment: Assignment) {
        self.trial.accept(job, &assignment);
        self.growth.start(&self.trial, job, &assignment);
        self.decisions.push(Decision::Serve { job, assignment });
    }

    /// Lets elastic jobs grow within their quotas.
    ///
    /// # Errors
    /// A pod that gets nothing would take, in the next round, what others have been lent.
    pub(super) fn grow_within_quotas(&mut self) -> Result<(), Ahead> {
        let grown = self.growth.within_quotas(&mut self.trial, &mut self.reservations);
        self.decisions.extend(grown);
        let ahead = self.growth.ahead(&self.trial).find(|ahead| self.precedence.lacks(ahead));
        ahead.map_or(Ok(()), Err)
    }

    /// Lets elastic jobs grow on idle amounts.
    pub(super) fn grow_on_idle(&mut self) {
        let grown = self.growth.on_idle(&mut self.trial);
        self.decisions.extend(grown);
    }

    /// Whether somebody who is not asked may have a right to what is idle: something is left to the next scheduled
    /// round, or others who are stopping make room.
    pub(super) fn may_be_claimed(&self) -> bool {
        self.state.is_stale(self.trial.now) || self.state.queue.awaiting > 0
    }

    /// Whether anything is given although a reservation has passed on, or may have moved because somebody has started in
    /// this round: whom it kept out may come first.
    pub(super) fn gives_before_who_was_kept_out(&self) -> bool {
        let mut given = self.decisions.iter().filter(|decision| decision.gives());
        let (is_any, is_another) = (given.next().is_some(), given.next().is_some());
        is_any && self.state.is_taken_over(self.trial.now) || is_another && self.state.queue.is_starving(self.trial.now)
    }

    /// Whether anything has been lent.
    pub(super) fn has_lent(&self) -> bool {
        self.trial.has_lent
    }

    /// Whether the reasons of a class plainly hold still in this half of the judgement.
    fn is_settled(&self, class: ClassNo, half: Half) -> bool {
        let quota = self.state.queue.classes[class.at()].key.quota;
        !is_strict(self.state, quota) && recheck::holds_still(&self.trial, class, half)
    }
}

/// Whether an assignment leaves more than its job takes, in all or in another quota, or moves somebody: whoever was
/// refused before may start then.
fn leaves_over(state: &State, job: JobNo, assignment: &Assignment) -> bool {
    let spec = &state.jobs[job].spec;
    let freed = assignment.victims.iter().fold(Amount::ZERO, |sum, victim| sum.plus(&state.held_by(victim.job())));
    let is_elsewhere = |victim: &Victim| {
        let victim = &state.jobs[victim.job()];
        victim.spec.quota != spec.quota && victim.placed().is_some_and(|placed| placed.charge == Charge::InQuota)
    };
    !assignment.promoted.is_empty()
        || !freed.fits_in(&spec.shape.gang_amount())
        || assignment.victims.iter().any(is_elsewhere)
}

fn behind_head(state: &State, head: JobNo) -> Arc<Hold> {
    let blocker = Blocker::BehindHead { job: state.jobs[head].spec.id.clone() };
    Arc::new(Hold::of(vec![Attempt { source: Source::Own, blocker }]))
}
