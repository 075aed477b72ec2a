//! The queue, by classes.
//!
//! Between two waiting jobs of one class the rules see no difference but the time: same quota, same pods, same
//! priority, same module, same use of idle amounts. So the head of a class speaks for all of it, and a round costs
//! as much as there are classes, not jobs. Ageing keeps the order inside a class: who waits longer stays ahead.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::job::hold::Hold;
use crate::job::shape::Shape;
use crate::job::spec::IdlePolicy;
use crate::job::spec::JobSpec;
use crate::unit::id::ClassNo;
use crate::unit::id::JobId;
use crate::unit::id::JobNo;
use crate::unit::id::QuotaNo;
use crate::unit::priority::Module;
use crate::unit::priority::Priority;
use crate::unit::time::Timestamp;

/// All that the rules see of a waiting job beside its times.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClassKey {
    /// Its quota.
    pub quota: QuotaNo,
    /// Its declared priority.
    pub priority: Priority,
    /// Its module.
    pub module: Module,
    /// Its use of idle amounts.
    pub idle: IdlePolicy,
    /// Its pods.
    pub shape: Arc<Shape>,
}

impl ClassKey {
    /// The class of a job.
    #[must_use]
    pub fn of(spec: &JobSpec) -> Self {
        Self {
            quota: spec.quota,
            priority: spec.priority,
            module: spec.module,
            idle: spec.idle,
            shape: Arc::clone(&spec.shape),
        }
    }
}

/// A waiting job's place: since when, then by name.
pub type Place = (Timestamp, JobId, JobNo);

/// A class and its queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    /// What its jobs have in common.
    pub key: ClassKey,
    /// Waiting jobs that may be judged, the first first.
    pub waiting: BTreeSet<Place>,
    /// Why they wait, as last said; nothing before they are first judged, or when none waits.
    pub hold: Option<Arc<Hold>>,
}

/// Waiting jobs by class, and what has changed since they were judged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Queue {
    /// By class number. Classes are kept when they are empty: there are as many as kinds of jobs.
    pub classes: Vec<Class>,
    by_key: BTreeMap<ClassKey, ClassNo>,
    /// Classes with waiting jobs, by quota.
    pub of_quota: BTreeMap<QuotaNo, BTreeSet<ClassNo>>,
    /// Whether anything has happened that could let any class start.
    pub is_released: bool,
    /// Whether anybody has started or gone since the last scheduled round began: what that left over, and why others
    /// wait since then, is for the next scheduled round to say. A ground fact, unlike the rest.
    pub is_stale: bool,
    /// Classes that have to be judged even if nothing was released.
    pub fresh: BTreeSet<ClassNo>,
    /// Classes that wait for a time, with that time.
    pub restless: BTreeSet<ClassNo>,
}

impl Queue {
    /// The number of a job's class.
    pub fn class_of(&mut self, spec: &JobSpec) -> ClassNo {
        let key = ClassKey::of(spec);
        if let Some(no) = self.by_key.get(&key) {
            return *no;
        }
        let no = ClassNo::from_index(self.classes.len());
        self.by_key.insert(key.clone(), no);
        self.classes.push(Class { key, waiting: BTreeSet::new(), hold: None });
        no
    }

    /// Adds a waiting job to its class.
    pub fn enter(&mut self, class: ClassNo, place: Place) {
        let entered = &mut self.classes[class.at()];
        let quota = entered.key.quota;
        entered.waiting.insert(place);
        self.of_quota.entry(quota).or_default().insert(class);
        self.fresh.insert(class);
    }

    /// Takes a waiting job out of its class.
    pub fn leave(&mut self, class: ClassNo, place: &Place) {
        let left = &mut self.classes[class.at()];
        left.waiting.remove(place);
        // Who stood behind it in a strict queue may be the head now, and the class may have a new head.
        self.fresh.insert(class);
        if left.waiting.is_empty() {
            left.hold = None;
            self.restless.remove(&class);
            let quota = left.key.quota;
            if let Some(classes) = self.of_quota.get_mut(&quota) {
                classes.remove(&class);
                self.fresh.extend(classes.iter().copied());
                if classes.is_empty() {
                    self.of_quota.remove(&quota);
                }
            }
        }
    }

    /// Notes why a class waits.
    pub fn set_hold(&mut self, class: ClassNo, hold: Arc<Hold>) {
        if hold.attempts.iter().any(|attempt| attempt.blocker.passes_with_time().is_some()) {
            self.restless.insert(class);
        } else {
            self.restless.remove(&class);
        }
        self.classes[class.at()].hold = Some(hold);
    }

    /// Forgets why classes wait, so that they are told anew.
    pub fn forget_holds(&mut self) {
        self.restless.clear();
        for class in &mut self.classes {
            class.hold = None;
        }
        self.is_released = true;
    }

    /// Whether a round has anything to judge.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        !self.is_released && self.fresh.is_empty() && self.restless.is_empty()
    }

    /// Notes that everything has been judged.
    pub fn settle(&mut self) {
        self.is_released = false;
        self.fresh.clear();
    }
}
