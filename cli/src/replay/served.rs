//! How jobs were served, by classes of them, and how fair that was to their quotas.

use std::collections::BTreeMap;

use engine::job::spec::IdlePolicy;
use engine::job::spec::JobSpec;
use engine::unit::id::JobNo;
use engine::unit::id::QuotaNo;
use engine::unit::priority::Priority;
use engine::unit::sparse::Sparse;
use engine::unit::time::Timestamp;
use serde::Serialize;

use crate::replay::number::ratio;
use crate::replay::waits::Waits;

/// Shorter jobs count as this long where times are compared with durations, in milliseconds: a wait of a minute is a
/// large multiple of a second, and nobody minds.
const SHORTEST_MS: i64 = 10_000;

/// Jobs that may use the same and are as important.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Class {
    idle: IdlePolicy,
    priority: Priority,
    is_bid: bool,
}

impl Class {
    fn of(spec: &JobSpec) -> Self {
        Self { idle: spec.idle, priority: spec.priority, is_bid: spec.spot.is_some() }
    }

    /// What people call it.
    fn name(self) -> String {
        let Self { idle, priority, is_bid } = self;
        match (is_bid, idle) {
            (true, _) => format!("bids, priority {priority}"),
            (false, IdlePolicy::Off) => format!("own quota, priority {priority}"),
            (false, IdlePolicy::Acceptable) => format!("accepts idle, priority {priority}"),
            (false, IdlePolicy::Only) => format!("idle only, priority {priority}"),
        }
    }
}

/// How the jobs of a class were served.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ClassFigures {
    /// From submission to the first start.
    pub wait: Waits,
    /// What jobs that finished took beyond their durations, in the mean: all waits, and work that was done twice.
    pub delay_mean_ms: i64,
    #[serde(skip)]
    delays_ms: (i128, u64),
}

/// A job that was submitted.
#[derive(Clone, Copy, Debug)]
struct Submission {
    at: Timestamp,
    class: Class,
    quota: QuotaNo,
    duration_ms: Option<i64>,
    has_started: bool,
}

/// How everybody was served.
#[derive(Clone, Debug, Default)]
pub struct Served {
    submissions: Sparse<Submission>,
    classes: BTreeMap<Class, ClassFigures>,
    /// By quota: slowdowns added up, and of how many jobs.
    slowdowns: BTreeMap<QuotaNo, (f64, i64)>,
}

impl Served {
    /// A job is submitted.
    pub fn submit(&mut self, no: JobNo, at: Timestamp, spec: &JobSpec) {
        let class = Class::of(spec);
        let duration_ms = spec.duration.map(|duration| duration.get().0);
        *self.submissions.slot(no.at()) =
            Some(Submission { at, class, quota: spec.quota, duration_ms, has_started: false });
    }

    /// A job starts; how long it has waited if this is its first start, and nothing if it has run before.
    pub fn start(&mut self, no: JobNo, at: Timestamp) -> Option<i64> {
        let submission = self.submissions.slot(no.at()).as_mut()?;
        if std::mem::replace(&mut submission.has_started, true) {
            return None;
        }
        let wait = (at - submission.at).0;
        self.classes.entry(submission.class).or_default().wait.add(wait);
        Some(wait)
    }

    /// How long a job has waited that has never started, which it goes on to do; nothing if it has run before.
    pub fn wait_on(&mut self, no: JobNo, until: Timestamp) -> Option<i64> {
        let submission = (*self.submissions.slot(no.at())).filter(|submission| !submission.has_started)?;
        let wait = (until - submission.at).0;
        self.classes.entry(submission.class).or_default().wait.add_open(wait);
        Some(wait)
    }

    /// A job has done its work.
    pub fn finish(&mut self, no: JobNo, at: Timestamp) {
        let Some(Submission { at: submitted, class, quota, duration_ms: Some(duration), .. }) =
            *self.submissions.slot(no.at())
        else {
            return;
        };
        let all = (at - submitted).0;
        let (delay, count) = &mut self.classes.entry(class).or_default().delays_ms;
        *delay += i128::from(all - duration);
        *count += 1;
        if !quota.is_none() {
            let (sum, count) = self.slowdowns.entry(quota).or_default();
            *sum += ratio(all.max(SHORTEST_MS), duration.max(SHORTEST_MS));
            *count += 1;
        }
    }

    /// The figures of each class, by its name.
    #[must_use]
    pub fn classes(&self) -> BTreeMap<String, ClassFigures> {
        let closed = |(class, figures): (&Class, &ClassFigures)| {
            let mut figures = figures.clone();
            figures.wait.close();
            let (sum, count) = figures.delays_ms;
            figures.delay_mean_ms =
                if count > 0 { i64::try_from(sum / i128::from(count)).unwrap_or(i64::MAX) } else { 0 };
            (class.name(), figures)
        };
        self.classes.iter().map(closed).collect()
    }

    /// Jain's index of the quotas' mean slowdowns (how many times its duration a job takes, its waits included): 1 if
    /// all are the same, less the more they differ. Nothing where no job of a quota has finished.
    #[must_use]
    pub fn fairness(&self) -> Option<f64> {
        let means: Vec<f64> = self.slowdowns.values().map(|(sum, count)| sum / ratio(*count, 1)).collect();
        let (sum, squares) = means.iter().fold((0.0, 0.0), |(sum, squares), it| (sum + it, squares + it * it));
        let parties = ratio(i64::try_from(means.len()).unwrap_or(0), 1);
        (squares > 0.0).then(|| sum * sum / (parties * squares))
    }
}
