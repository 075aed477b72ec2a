//! Says whether an example shows what its finding claims, from its quotas, its acts and the events alone.

use std::collections::BTreeMap;

use engine::check::BEGINNING;
use engine::check::finding::Act;
use engine::check::finding::Example;
use engine::check::finding::Flaw;
use engine::check::finding::Policy;
use engine::check::finding::Right;
use engine::check::play;
use engine::job::cause::Cause;
use engine::message::command::Command;
use engine::message::command::PodGroup;
use engine::message::command::SubmitJob;
use engine::message::event::Event;
use engine::quota::settings::QueueStrategy;
use engine::unit::id::JobId;
use engine::unit::id::QuotaId;
use engine::unit::limit::GPU_SHARE_MIN;
use engine::unit::priority::Priority;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;

/// A job as its act and its events tell of it.
#[derive(Clone, Debug)]
struct Told {
    quota: QuotaId,
    priority: Priority,
    size: i64,
    submitted: Timestamp,
    started: Option<Timestamp>,
    is_running: bool,
}

/// One job that had to go for another.
#[derive(Clone, Debug)]
struct Eviction {
    victim: JobId,
    by: JobId,
    policy: Option<Policy>,
}

/// What happened in an example.
#[derive(Clone, Debug, Default)]
struct Story {
    jobs: BTreeMap<JobId, Told>,
    evictions: Vec<Eviction>,
    end: i64,
}

fn story(example: &Example) -> Story {
    let played = play(example).unwrap();
    let asked: BTreeMap<JobId, SubmitJob> = submissions(example);
    let mut names: BTreeMap<u32, JobId> = BTreeMap::new();
    let mut story = Story { end: played.now.0, ..Story::default() };
    for event in &played.log {
        match event {
            Event::JobSubmitted { no, at, spec } => {
                let submit = &asked[&spec.id];
                names.insert(no.0, spec.id.clone());
                let told = Told {
                    quota: submit.quota.clone().unwrap(),
                    priority: submit.priority,
                    size: size(submit),
                    submitted: *at,
                    started: None,
                    is_running: false,
                };
                story.jobs.insert(spec.id.clone(), told);
            }
            Event::Started { job, at, .. } => {
                let told = story.jobs.get_mut(&names[&job.0]).unwrap();
                (told.started, told.is_running) = (Some(told.started.unwrap_or(*at)), true);
            }
            Event::Evicted { job, cause, .. } => {
                let (by, policy) = match cause.as_ref() {
                    Cause::SelfLevel { by, .. } => (by, Some(Policy::SelfLevel)),
                    Cause::ChildLevel { by, .. } => (by, Some(Policy::ChildLevel)),
                    Cause::Reclaimed { by, .. } => (by, None),
                    other => panic!("{other:?}"),
                };
                story.evictions.push(Eviction { victim: names[&job.0].clone(), by: by.clone(), policy });
                story.jobs.get_mut(&names[&job.0]).unwrap().is_running = false;
            }
            Event::Ended { job, .. } => story.jobs.get_mut(&names[&job.0]).unwrap().is_running = false,
            _ => {}
        }
    }
    story
}

fn submissions(example: &Example) -> BTreeMap<JobId, SubmitJob> {
    let submit = |act: &Act| match act {
        Act::Send(Command::SubmitJob(submit)) => Some((submit.job.clone(), submit.clone())),
        Act::Send(_) | Act::Wait(_) => None,
    };
    example.acts.iter().filter_map(submit).collect()
}

impl Story {
    /// Jobs that have never started.
    fn waiting(&self) -> impl Iterator<Item = (&JobId, &Told)> {
        self.jobs.iter().filter(|(_, told)| told.started.is_none())
    }

    fn running_in(&self, quota: &QuotaId) -> i64 {
        self.jobs.values().filter(|told| told.is_running && told.quota == *quota).map(|told| told.size).sum()
    }

    fn running(&self) -> i64 {
        self.jobs.values().filter(|told| told.is_running).map(|told| told.size).sum()
    }

    fn quota_of(&self, job: &JobId) -> &QuotaId {
        &self.jobs[job].quota
    }
}

fn min(example: &Example, quota: &QuotaId) -> i64 {
    example.quotas.iter().find(|create| create.quota == *quota).unwrap().min["gpu"]
}

fn parent<'a>(example: &'a Example, quota: &QuotaId) -> Option<&'a QuotaId> {
    example.quotas.iter().find(|create| create.quota == *quota).unwrap().parent.as_ref()
}

/// What a quota of an example has for its own jobs.
fn own(example: &Example, quota: &QuotaId) -> i64 {
    let children = example.quotas.iter().filter(|create| create.parent.as_ref() == Some(quota));
    min(example, quota) - children.map(|child| child.min["gpu"]).sum::<i64>()
}

/// Whether the example shows the flaw.
pub(crate) fn shows(flaw: &Flaw, example: &Example) -> bool {
    let story = story(example);
    if example.acts.len() > 10 {
        return false;
    }
    match flaw {
        Flaw::Turns { quotas, is_chain } => {
            let crosses = |eviction: &Eviction| {
                let (from, to) = (story.quota_of(&eviction.victim), story.quota_of(&eviction.by));
                let are_siblings = from != to && parent(example, from) == parent(example, to);
                let are_named = quotas.contains(from) && quotas.contains(to);
                (eviction.policy == Some(Policy::SelfLevel) && are_siblings && are_named).then_some((from, to))
            };
            let pairs =
                || story.evictions.iter().enumerate().filter_map(|(at, eviction)| Some((at, crosses(eviction)?)));
            let in_turns = pairs().any(|(first, (from, to))| {
                pairs().any(|(later, (other_from, other_to))| later > first && other_from == to && other_to == from)
            });
            let is_evicted_next = |eviction: &Eviction| story.evictions.iter().any(|later| later.victim == eviction.by);
            in_turns && (!is_chain || story.evictions.iter().any(is_evicted_next))
        }
        Flaw::Powerless { quota, policy, .. } => {
            let waits = story.waiting().any(|(_, told)| told.quota == *quota);
            waits && story.evictions.is_empty() && !can_ever_act(example, quota, *policy)
        }
        Flaw::Unusable { quota, priorities } => {
            let waits = |priority| waits_alone(example, quota, priority);
            story.waiting().any(|(_, told)| told.quota == *quota) && priorities.iter().all(waits)
        }
        Flaw::HeldOff { quota, right, protected, period, limit, .. } => {
            let is_late = |told: &Told| told.quota == *quota && story.end - told.submitted.0 >= limit.0;
            let waits = story.waiting().any(|(_, told)| is_late(told));
            waits && period > limit && starts_without_protection(example, quota, protected, *right)
        }
        Flaw::NothingLeft { quota, .. } => {
            let waits =
                story.waiting().any(|(_, told)| told.quota == *quota && told.size <= min(example, quota).max(1000));
            waits && story.running() == 0 && own(example, quota) == 0
        }
        Flaw::Blocked { quota } => {
            let free = own(example, quota) - story.running_in(quota);
            let fits = |(_, told): &(&JobId, &Told)| told.quota == *quota && told.size <= free;
            story.waiting().any(|waiting| fits(&waiting)) && starts_without_the_large(example, quota, free)
        }
        Flaw::Spared { quota, policy, named, spared } => story.evictions.iter().any(|eviction| {
            let (victim, by) = (&story.jobs[&eviction.victim], &story.jobs[&eviction.by]);
            let stays = |told: &Told| {
                let is_lower = told.priority < victim.priority && spared.contains(told.priority);
                told.is_running && told.quota == victim.quota && is_lower
            };
            let is_rule = eviction.policy == Some(*policy) && by.quota == *quota && named.contains(victim.priority);
            is_rule && !spared.contains(victim.priority) && story.jobs.values().any(stays)
        }),
        Flaw::Kept { quotas } => {
            let holds = |quota: &QuotaId| story.running_in(quota) > min(example, quota);
            let kept_out = |(_, told): (&JobId, &Told)| {
                story.running_in(&told.quota) + told.size <= min(example, &told.quota)
                    && quotas.iter().any(|quota| *quota != told.quota && holds(quota))
            };
            story.waiting().any(kept_out)
        }
        Flaw::Upward { quota, highest } => story.evictions.iter().any(|eviction| {
            let (victim, by) = (&story.jobs[&eviction.victim], &story.jobs[&eviction.by]);
            eviction.policy == Some(Policy::ChildLevel)
                && by.quota == *quota
                && victim.priority == *highest
                && victim.priority > by.priority
        }),
    }
}

fn size(submit: &SubmitJob) -> i64 {
    submit.pods.iter().map(|pod| i64::from(pod.count) * pod.amount["gpu"]).sum()
}

fn submit(job: &str, quota: &QuotaId, priority: Priority, size: i64) -> Act {
    let pod = |part: i64| PodGroup { count: 1, amount: [("gpu".to_owned(), part)].into_iter().collect() };
    let pods = [size / 1000 * 1000, size % 1000].into_iter().filter(|part| *part > 0).map(pod).collect();
    let job = SubmitJob { quota: Some(quota.clone()), priority, ..SubmitJob::new(JobId::new(job).unwrap(), pods) };
    Act::Send(Command::SubmitJob(job))
}

fn with(example: &Example, acts: Vec<Act>) -> Story {
    story(&Example { quotas: example.quotas.clone(), acts })
}

fn waits_alone(example: &Example, quota: &QuotaId, priority: Priority) -> bool {
    [GPU_SHARE_MIN, 1000]
        .into_iter()
        .all(|size| with(example, vec![submit("alone", quota, priority, size)]).waiting().count() == 1)
}

fn all_priorities() -> impl Iterator<Item = Priority> {
    (1..=9).map(|value| Priority::new(value).unwrap())
}

/// Brute force: whether a job of the quota evicts any by this policy, or starts with what only it reaches.
fn can_ever_act(example: &Example, quota: &QuotaId, policy: Policy) -> bool {
    let homes: Vec<&QuotaId> = example.quotas.iter().map(|create| &create.quota).collect();
    let off = |example: &Example| {
        let mut off = example.clone();
        for create in off.quotas.iter_mut().filter(|create| create.quota == *quota) {
            match policy {
                Policy::SelfLevel => create.settings.self_level = None,
                Policy::ChildLevel => create.settings.child_level = None,
            }
        }
        off
    };
    let total = min(example, &example.quotas[0].quota).max(1000);
    homes.into_iter().any(|home| {
        all_priorities().any(|running| {
            all_priorities().any(|urgent| {
                [own(example, home), total].into_iter().filter(|size| *size > 0).any(|size| {
                    let acts = vec![
                        submit("full", quota, Priority::HIGHEST, own(example, quota).max(GPU_SHARE_MIN)),
                        submit("running", home, running, own(example, home).max(GPU_SHARE_MIN)),
                        submit("urgent", quota, urgent, size),
                    ];
                    let on = with(example, acts.clone());
                    let off = with(&off(example), acts);
                    let started = |story: &Story| story.jobs.values().map(|told| told.started).collect::<Vec<_>>();
                    on.evictions.len() != off.evictions.len() || started(&on) != started(&off)
                })
            })
        })
    })
}

/// Whether whoever waits in the quota would have started at once without the protections.
fn starts_without_protection(example: &Example, quota: &QuotaId, protected: &QuotaId, right: Right) -> bool {
    let mut free = example.clone();
    for create in free.quotas.iter_mut().filter(|create| create.quota == *protected) {
        (create.settings.min_runtime, create.settings.grace_period) = (Millis::ZERO, Millis::ZERO);
    }
    free.acts.retain(|act| !matches!(act, Act::Wait(_)));
    let story = story(&free);
    let policy = match right {
        Right::Reclaim => None,
        Right::Policy(policy) => Some(policy),
    };
    let is_taken = |eviction: &Eviction| {
        let by = &story.jobs[&eviction.by];
        story.quota_of(&eviction.victim) == protected
            && by.quota == *quota
            && eviction.policy == policy
            && by.started == Some(BEGINNING)
    };
    story.evictions.iter().any(is_taken)
}

/// Whether the one that would fit starts when the one that does not is left out.
fn starts_without_the_large(example: &Example, quota: &QuotaId, free: i64) -> bool {
    let is_strict = example
        .quotas
        .iter()
        .any(|create| create.quota == *quota && create.settings.strategy == QueueStrategy::StrictFifo);
    let stays = |act: &Act| match act {
        Act::Send(Command::SubmitJob(submit)) => size(submit) <= free.max(own(example, quota) - free),
        Act::Send(_) | Act::Wait(_) => true,
    };
    let mut without = example.clone();
    without.acts.retain(stays);
    is_strict && without.acts.len() < example.acts.len() && story(&without).waiting().count() == 0
}
