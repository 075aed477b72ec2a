//! The queue, by classes and families.
//!
//! Between two waiting jobs of one class the rules see no difference but the time: same quota, same pods, same
//! priority, same module, same use of idle amounts. So the head of a class speaks for all of it, and a round costs
//! as much as there are classes, not jobs. Ageing keeps the order inside a class: who waits longer stays ahead.
//!
//! Between two classes of one family there is no difference but the order: the same question to the same books gets
//! the same answer. So a round asks once for a family, as long as the books stay as they are.

use std::sync::Arc;

use crate::job::hold::Blocker;
use crate::job::hold::Hold;
use crate::job::hold::Lasting;
use crate::job::shape::Shape;
use crate::job::spec::JobSpec;
use crate::quota::tree::Quota;
use crate::state::class::ClassKey;
use crate::state::jobs::Jobs;
use crate::state::waiting::Family;
use crate::state::waiting::Standing;
use crate::state::waiting::Waiting;
use crate::state::waiting_line::WaitingLine;
use crate::state::watch::Watch;
use crate::unit::id::ClassNo;
use crate::unit::id::FamilyNo;
use crate::unit::id::JobNo;
use crate::unit::id::QuotaNo;
use crate::unit::id::ShapeNo;
use crate::unit::ordered::Map;
use crate::unit::ordered::Set;
use crate::unit::time::Millis;
use crate::unit::time::Timestamp;

/// A class and its queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    /// What its jobs have in common.
    pub key: ClassKey,
    /// The family to which it belongs.
    pub family: FamilyNo,
    /// Waiting jobs that may be judged.
    pub waiting: WaitingLine,
    /// Why they wait, as last said; nothing before they are first judged, or when none waits.
    pub hold: Option<Arc<Hold>>,
    /// Whether that names a job for which they wait.
    names_anybody: bool,
    /// How long they wait before the first may hold a reservation, as its quota says.
    patience: Millis,
}

impl Class {
    /// How long the reasons that it was given last.
    #[must_use]
    pub fn lasting(&self) -> Lasting {
        self.hold.as_ref().map_or(Lasting::Open, |hold| hold.lasting())
    }
}

/// Whose answers may have changed. What a class was told is kept until one of these says otherwise; after a release
/// [`crate::schedule::recheck`] looks whether it plainly holds still.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Open {
    /// Something has been released that could let any class start.
    pub everybody: bool,
    /// Classes in which somebody has come or gone, and those that waited for somebody who has gone.
    pub classes: Set<ClassNo>,
    /// Classes whose reasons end at a time.
    pub expiring: Set<(Timestamp, ClassNo)>,
}

impl Open {
    /// Classes whose reasons have ended by now.
    pub fn expired(&self, now: Timestamp) -> impl Iterator<Item = ClassNo> + '_ {
        self.expiring.iter().take_while(move |(at, _)| *at <= now).map(|(_, class)| *class)
    }
}

/// Whether those who are stopping already make room.
fn awaits_release(hold: &Hold) -> bool {
    hold.attempts.iter().any(|attempt| matches!(attempt.blocker, Blocker::WaitingForRelease { .. }))
}

/// Until when the first job of a class has patience.
fn patient_until(class: &Class, jobs: &Jobs) -> Option<Timestamp> {
    class.waiting.first().map(|no| jobs[no].waiting_since + class.patience)
}

/// Waiting jobs by class, and what has changed since they were judged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Queue {
    /// By class number. Classes are kept when they are empty: there are as many as kinds of jobs.
    pub classes: Vec<Class>,
    /// By family number, kept like the classes.
    pub families: Vec<Family>,
    /// Quotas with waiting jobs.
    pub quotas: Set<QuotaNo>,
    /// Who waits, by quota number, as far as anybody ever has.
    waiting: Vec<Waiting>,
    /// Where somebody may start after a release.
    pub watch: Watch,
    /// Whose answers are not kept.
    pub open: Open,
    /// Whether anybody has started or gone since the last scheduled round began: what that left over, and why others
    /// wait since then, is for the next scheduled round to say. A ground fact, unlike the rest.
    pub is_stale: bool,
    /// Classes with waiting jobs by the time until which the first of these has patience.
    pub patience: Set<(Timestamp, ClassNo)>,
    /// How many classes were told to wait for somebody who is stopping: what they start on then is lent to nobody.
    pub awaiting: usize,
    /// Classes that were told to wait for a job that waits itself.
    waits_for: Map<JobNo, Set<ClassNo>>,
    shapes: Map<Arc<Shape>, ShapeNo>,
    family_numbers: Map<ClassKey, FamilyNo>,
}

impl Queue {
    /// The number of a job's class.
    pub fn class_of(&mut self, spec: &JobSpec, quotas: &[Quota]) -> ClassNo {
        let next = ShapeNo::from_index(self.shapes.len());
        let shape = *self.shapes.or_insert_with(Arc::clone(&spec.shape), || next);
        let key = ClassKey::of(spec, shape);
        let family = self.family_of(key, &spec.shape, &quotas[key.quota.at()]);
        let members = &mut self.families[family.at()].classes;
        members.iter().copied().find(|no| self.classes[no.at()].key == key).unwrap_or_else(|| {
            let no = ClassNo::from_index(self.classes.len());
            members.push(no);
            let patience = quotas[key.quota.at()].settings.starvation_after;
            self.classes.push(Class {
                key,
                family,
                waiting: WaitingLine::default(),
                hold: None,
                names_anybody: false,
                patience,
            });
            no
        })
    }

    fn family_of(&mut self, class: ClassKey, shape: &Arc<Shape>, quota: &Quota) -> FamilyNo {
        let key = class.seen_in(quota);
        *self.family_numbers.or_insert_with(key, || {
            let shape = self.shapes.get_key_value(shape).map_or(shape, |(known, _)| known);
            let (shape, classes) = (Arc::clone(shape), Vec::new());
            self.families.push(Family { key, shape, classes, waiting: 0, plain: 0, hopeless: 0 });
            FamilyNo::from_index(self.families.len() - 1)
        })
    }

    /// The family of a class.
    #[must_use]
    pub fn family(&self, class: ClassNo) -> &Family {
        &self.families[self.classes[class.at()].family.at()]
    }

    /// The classes of a quota with waiting jobs.
    pub fn classes_of(&self, quota: QuotaNo) -> impl Iterator<Item = ClassNo> + '_ {
        let families = self.waiting.get(quota.at()).into_iter().flat_map(|waiting| &waiting.families);
        families.flat_map(|family| self.members(&self.families[family.at()]))
    }

    /// The classes of a family with waiting jobs.
    pub fn members<'a>(&'a self, family: &'a Family) -> impl Iterator<Item = ClassNo> + 'a {
        family.classes.iter().copied().filter(|class| !self.classes[class.at()].waiting.is_empty())
    }

    /// Adds a waiting job to its class.
    pub fn enter(&mut self, class: ClassNo, no: JobNo, jobs: &Jobs) {
        let entered = &mut self.classes[class.at()];
        let (family, is_first) = (entered.family, entered.waiting.is_empty());
        let before = patient_until(entered, jobs);
        entered.waiting.insert(no, jobs);
        let until = patient_until(entered, jobs);
        self.set_patience(class, before, until);
        self.open.classes.insert(class);
        if is_first {
            let before = self.families[family.at()].standing();
            self.families[family.at()].waiting += 1;
            self.list(family, before);
        }
    }

    /// Takes a waiting job out of its class.
    pub fn leave(&mut self, class: ClassNo, no: JobNo, jobs: &Jobs) {
        let left = &mut self.classes[class.at()];
        let before = patient_until(left, jobs);
        left.waiting.remove(no, jobs);
        let until = patient_until(left, jobs);
        self.set_patience(class, before, until);
        let left = &mut self.classes[class.at()];
        // What was kept for who waited for others to leave may be lent now.
        self.open.everybody |= left.hold.as_ref().is_some_and(|hold| awaits_release(hold));
        // The class may have a new head.
        self.open.classes.insert(class);
        self.open.classes.extend(self.waits_for.remove(&no).into_iter().flatten());
        if left.waiting.is_empty() {
            let family = left.family;
            let before = self.families[family.at()].standing();
            self.forget_hold(class);
            self.families[family.at()].waiting -= 1;
            self.list(family, before);
        }
    }

    /// Keeps what is asked for in the quota of a family that has changed.
    fn list(&mut self, no: FamilyNo, before: Standing) {
        let family = &self.families[no.at()];
        if before == family.standing() {
            return;
        }
        let quota = family.key.quota;
        if self.waiting.len() <= quota.at() {
            self.waiting.resize_with(quota.at() + 1, Waiting::default);
        }
        let waiting = &mut self.waiting[quota.at()];
        let was_empty = waiting.families.is_empty();
        waiting.list(no, &self.families, before);
        self.watch.note(quota);
        if was_empty {
            self.quotas.insert(quota);
        } else if waiting.families.is_empty() {
            self.quotas.remove(&quota);
        }
    }

    /// Who waits in a quota; nothing if nobody does.
    #[must_use]
    pub fn waiting_in(&self, quota: QuotaNo) -> Option<&Waiting> {
        self.waiting.get(quota.at()).filter(|waiting| !waiting.families.is_empty())
    }

    fn set_patience(&mut self, class: ClassNo, before: Option<Timestamp>, until: Option<Timestamp>) {
        if before == until {
            return;
        }
        if let Some(before) = before {
            self.patience.remove(&(before, class));
        }
        if let Some(until) = until {
            self.patience.insert((until, class));
        }
    }

    /// Whether anybody has waited too long, and so may hold a reservation.
    #[must_use]
    pub fn is_starving(&self, now: Timestamp) -> bool {
        self.patience.first().is_some_and(|(until, _)| *until < now)
    }

    /// When somebody first loses patience, from a time on, who takes a reservation over: somebody of a lower priority in
    /// its quota has waited longer. What that one kept from others may not be kept from them any more.
    #[must_use]
    pub fn next_takeover(&self, from: Timestamp, jobs: &Jobs) -> Option<Timestamp> {
        let later = self.patience.range_from(&(from, ClassNo(0)));
        later.copied().find(|(at, class)| self.takes_over(*at, *class, jobs)).map(|(at, _)| at)
    }

    /// Notes if somebody who comes had waited too long by a time already, and takes a reservation over: nobody will see
    /// that come with time.
    pub fn note_takeover(&mut self, class: ClassNo, seen: Timestamp, jobs: &Jobs) {
        let until = patient_until(&self.classes[class.at()], jobs);
        self.is_stale |= until.is_some_and(|until| until < seen && self.takes_over(until, class, jobs));
    }

    fn takes_over(&self, at: Timestamp, class: ClassNo, jobs: &Jobs) -> bool {
        let key = self.classes[class.at()].key;
        let mut others = self.classes_of(key.quota).map(|other| &self.classes[other.at()]);
        let is_earlier = |other: &Class| patient_until(other, jobs).is_some_and(|until| until < at);
        others.any(|other| other.key.priority < key.priority && is_earlier(other))
    }

    /// Notes why a class waits.
    pub fn set_hold(&mut self, class: ClassNo, hold: Arc<Hold>, jobs: &Jobs) {
        let family = self.classes[class.at()].family;
        let before = self.families[family.at()].standing();
        self.forget_hold(class);
        self.open.expiring.extend(hold.ends().map(|at| (at, class)));
        let names_anybody = Self::note_waits(&mut self.waits_for, class, &hold, jobs);
        let class = &mut self.classes[class.at()];
        class.names_anybody = names_anybody;
        let awaits = awaits_release(&hold);
        // What is coming free is kept for one of those who await it: somebody new may leave more for others to borrow.
        self.is_stale |= awaits;
        self.awaiting += usize::from(awaits);
        if let Some(count) = self.families[family.at()].count(&hold) {
            *count += 1;
        }
        class.hold = Some(hold);
        self.list(family, before);
    }

    /// Notes for whom a class waits; whether there is anybody.
    fn note_waits(waits_for: &mut Map<JobNo, Set<ClassNo>>, class: ClassNo, hold: &Hold, jobs: &Jobs) -> bool {
        let mut names_anybody = false;
        for job in hold.named() {
            names_anybody = true;
            if let Some(no) = jobs.find(job) {
                waits_for.or_default(no).insert(class);
            }
        }
        names_anybody
    }

    fn forget_hold(&mut self, class: ClassNo) {
        let told = &mut self.classes[class.at()];
        let Some(hold) = told.hold.take() else { return };
        self.awaiting -= usize::from(awaits_release(&hold));
        if let Some(count) = self.families[told.family.at()].count(&hold) {
            *count -= 1;
        }
        if let Some(at) = hold.ends() {
            self.open.expiring.remove(&(at, class));
        }
    }

    /// Takes new quotas and settings into account: they say what the sources see. Why classes wait is forgotten, so
    /// that it is told anew.
    pub fn restructure(&mut self, quotas: &[Quota], jobs: &Jobs) {
        self.open.expiring.clear();
        self.awaiting = 0;
        self.waits_for.clear();
        let families = std::mem::take(&mut self.families);
        self.family_numbers.clear();
        self.quotas.clear();
        self.waiting.clear();
        self.watch = Watch::default();
        self.patience.clear();
        for at in 0..self.classes.len() {
            let (key, shape) = (self.classes[at].key, &families[self.classes[at].family.at()].shape);
            let family = self.family_of(key, shape, &quotas[key.quota.at()]);
            let class = &mut self.classes[at];
            (class.family, class.hold) = (family, None);
            class.patience = quotas[key.quota.at()].settings.starvation_after;
            let until = patient_until(class, jobs);
            self.patience.extend(until.map(|until| (until, ClassNo::from_index(at))));
            let joined = &mut self.families[family.at()];
            joined.classes.push(ClassNo::from_index(at));
            if until.is_some() {
                let before = joined.standing();
                joined.waiting += 1;
                self.list(family, before);
            }
        }
        self.open.everybody = true;
    }

    /// Whether a round has anything to judge now.
    #[must_use]
    pub fn is_settled(&self, now: Timestamp) -> bool {
        !self.open.everybody && self.open.classes.is_empty() && self.open.expired(now).next().is_none()
    }

    /// Notes that everything has been judged.
    pub fn settle(&mut self, jobs: &Jobs) {
        self.open.everybody = false;
        // Whoever left the queue may be back in it, and still be the reason.
        for class in &self.open.classes {
            let told = &self.classes[class.at()];
            if let Some(hold) = told.hold.as_ref().filter(|_| told.names_anybody) {
                Self::note_waits(&mut self.waits_for, *class, hold, jobs);
            }
        }
        self.open.classes.clear();
    }
}
