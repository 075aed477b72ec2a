//! A service that is resized has the size that was asked for, and what runs of it stays (rules 1.6).

use engine::host::authority;
use engine::job::phase::Phase;
use engine::job::phase::PodAt;
use engine::job::phase::Source;
use engine::message::command::Command;
use engine::message::command::ResizeJob;
use engine::state::jobs::Job;
use engine::state::world::State;
use engine::transition;
use engine::unit::id::JobId;
use engine::unit::id::JobNo;
use engine::unit::priority::Module;

use crate::history::are_few;
use crate::history::seeds;
use crate::run::Run;
use crate::run::note;

/// What a service and its parts are, from the jobs alone.
#[derive(Debug, Default)]
struct Service {
    /// How many pods are owed.
    owed: u32,
    /// How many are accepted above those.
    above: u32,
    /// How many of the owed ones are in parts that do not run.
    waiting: u32,
    /// Whether its own gang is one pod, which it keeps even if it waits, or is there by a right that extra pods do not
    /// have.
    is_bare: bool,
    /// Whether a pod above the minimum counts against something else than the gang.
    is_mixed: bool,
    /// The places of owed pods that run, and how many of them are in a pool.
    gang: (Vec<PodAt>, usize),
    /// The same of extra pods.
    extra: (Vec<PodAt>, usize),
}

impl Service {
    fn of(state: &State, service: JobNo) -> Self {
        let mut seen = Self::default();
        let members = state.jobs.iter().filter(|(no, job)| *no == service || job.spec.part_of == service);
        for (no, job) in members.filter(|(_, job)| !matches!(job.phase, Phase::Ended { .. }) && !job.is_going()) {
            seen.add(no == service, job);
        }
        // What really runs does not go from one run to another: a pod that would be a part of its own leaves.
        seen.is_bare |= state.cluster.is_reported() && seen.is_mixed;
        seen
    }

    fn add(&mut self, is_service: bool, job: &Job) {
        let role = &job.spec.shape.roles()[0];
        let owed = job.spec.shape.min_pods().unwrap_or(role.count);
        self.owed += owed;
        self.above += role.count - owed;
        self.is_bare |= is_service && owed == 1;
        let Phase::Running { placed, extra, .. } = &job.phase else {
            self.waiting += if is_service { 0 } else { owed };
            return;
        };
        self.is_bare |= is_service && placed.source == Source::SelfLevel;
        self.is_mixed |= is_service && extra.iter().any(|pod| pod.charge != placed.charge);
        self.gang.0.extend(&placed.pods[..]);
        self.gang.1 += if placed.pods.is_empty() { owed as usize } else { 0 };
        self.extra.0.extend(extra.iter().filter_map(|pod| pod.at));
        self.extra.1 += extra.iter().filter(|pod| pod.at.is_none()).count();
    }

    fn held(&self) -> (Vec<PodAt>, usize) {
        ([&self.gang.0[..], &self.extra.0].concat(), self.gang.1 + self.extra.1)
    }
}

/// What is wrong with a resizing, if anything.
fn fault(before: &Service, after: &Service, asked: &ResizeJob) -> Option<String> {
    let owed = asked.min_pods.unwrap_or(asked.pods);
    if (after.owed, after.owed + after.above) != (owed, asked.pods) {
        return Some("it has another size than was asked for".to_owned());
    }
    let (was, is) = (before.held(), after.held());
    if !is.0.iter().all(|place| was.0.contains(place)) || is.1 > was.1 {
        return Some("something has started or moved".to_owned());
    }
    let (lost, ran) = (was.0.len() + was.1 - is.0.len() - is.1, was.0.len() + was.1);
    let above = ran.saturating_sub(asked.pods as usize);
    let is_bare = after.is_bare || before.is_bare && before.is_mixed;
    if lost > above && !is_bare {
        return Some(format!("{lost} pods are lost of {ran}"));
    }
    (lost > 0 && after.waiting > 0 && lost > above && !is_bare)
        .then(|| format!("{lost} are lost while {} wait", after.waiting))
}

/// Services that can be resized.
fn services(state: &State) -> Vec<JobNo> {
    let holds = |job: &Job| matches!(job.phase, Phase::Queued { .. } | Phase::Starting { .. } | Phase::Running { .. });
    let is_service = |job: &Job| job.spec.module == Module::Eas && !job.bids() && job.spec.part_of.is_none();
    let sized = |job: &Job| is_service(job) && holds(job) && job.spec.shape.roles().len() == 1;
    state.jobs.iter().filter(|(_, job)| sized(job)).map(|(no, _)| no).collect()
}

/// Sizes from one pod to seven, with and without a minimum.
fn sizes(job: &JobId) -> impl Iterator<Item = ResizeJob> + '_ {
    let of = |pods: u32| [None, Some(1), Some(2)].map(|min_pods| ResizeJob { job: job.clone(), pods, min_pods });
    (1..=7).flat_map(of).filter(|size| size.min_pods.is_none_or(|min| min <= size.pods))
}

#[test]
fn what_runs_of_a_resized_service_stays() {
    let (mut more, mut fewer, mut in_parts, mut elastic) = (0, 0, 0, 0);
    for seed in seeds(400) {
        let mut run = Run::after(seed, 60);
        for turn in 0..8 {
            let state = run.state.clone();
            let services = services(&state);
            for no in &services {
                let before = Service::of(&state, *no);
                for asked in sizes(&state.jobs[*no].spec.id) {
                    let command = Command::ResizeJob(asked.clone());
                    let Ok(events) = transition::decide(&state, &command, run.now) else { continue };
                    let mut after = state.clone();
                    transition::apply_all(&mut after, &events);
                    let after = Service::of(&after, *no);
                    if let Some(fault) = fault(&before, &after, &asked) {
                        panic!("{fault}\n{}\n{before:?}\n{after:?}\n{events:?}", note(&run, &command));
                    }
                    more += u32::from(after.owed > before.owed);
                    fewer += u32::from(after.owed < before.owed);
                    in_parts += u32::from(state.jobs.iter().any(|(_, job)| job.spec.part_of == *no));
                    elastic += u32::from(before.extra.0.len() + before.extra.1 > 0);
                }
            }
            // One of them is made, so that services come in parts.
            let mixed = (seed + turn).wrapping_mul(2_654_435_761) >> 7;
            let pick = |count: usize| usize::try_from(mixed % count.max(1) as u64).unwrap();
            if let Some(no) = services.get(pick(services.len())) {
                let all: Vec<ResizeJob> = sizes(&state.jobs[*no].spec.id).collect();
                let _ = authority::step(&mut run.state, &Command::ResizeJob(all[pick(all.len())].clone()), run.now);
            }
            let _ = run.step();
        }
    }
    let seen = format!("{more} times more, {fewer} times fewer, {in_parts} in parts, {elastic} with extra pods");
    println!("{seen}");
    assert!(are_few() || more > 5_000 && fewer > 5_000 && in_parts > 3_000 && elastic > 500, "{seen}");
}
