//! Many commands on small clusters that are always short of GPUs: what must hold holds after each of them.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

use engine::job::spec::FaultTolerance;
use engine::job::spec::IdlePolicy;
use engine::ledger::check;
use engine::message::command::AmountByName;
use engine::message::command::CancelJob;
use engine::message::command::Command;
use engine::message::command::PodGroup;
use engine::message::command::ScaleMode;
use engine::message::command::ScaleQuotas;
use engine::message::command::ScaleTarget;
use engine::message::command::SetPriority;
use engine::message::command::SubmitJob;
use engine::message::command::UpdateQuota;
use engine::message::event::Event;
use engine::message::snapshot::Snapshot;
use engine::state::world::State;
use engine::transition;
use engine::unit::id::JobId;
use engine::unit::id::JobNo;
use engine::unit::ordered::Map;
use engine::unit::priority::Priority;
use engine::unit::time::Millis;
use script::session::Session;
use tidegate::workload::Random;
use tidegate::workload::Workload;

const SMALL: Workload = Workload {
    quotas: 10,
    depth: 3,
    nodes: 6,
    pool_gpus: 0,
    running_gpus_max: 4,
    queued: 40,
    has_preemption: true,
    seed: 1,
};

/// A random command about a random job or quota.
fn command(session: &Session, random: &mut Random) -> Command {
    let names: Vec<JobId> = session.state.jobs.iter().map(|(_, job)| job.spec.id.clone()).collect();
    let job = names[usize::try_from(random.below(names.len() as u64)).unwrap()].clone();
    let priority = Priority::new(i64::try_from(1 + random.below(9)).unwrap()).unwrap();
    match random.below(4) {
        0 | 1 => Command::CancelJob(CancelJob { job }),
        2 => Command::SetPriority(SetPriority { job, priority }),
        _ => {
            let quotas: Vec<_> = session.state.live_quotas().collect();
            let (_, quota) = quotas[usize::try_from(random.below(quotas.len() as u64)).unwrap()];
            let gpus = i64::try_from(random.below(20)).unwrap() * 1000;
            let target = ScaleTarget { quota: quota.id.clone(), min: AmountByName::from([("gpu".to_owned(), gpus)]) };
            let mode = if random.below(2) == 0 { ScaleMode::Drain } else { ScaleMode::Evict };
            Command::ScaleQuotas(ScaleQuotas { targets: vec![target], mode })
        }
    }
}

/// The submission with whatever else a job can ask for.
fn varied(mut job: SubmitJob, random: &mut Random) -> SubmitJob {
    let minutes = |random: &mut Random| Some(Millis(60_000 * i64::try_from(1 + random.below(90)).unwrap()));
    job.idle = [IdlePolicy::Off, IdlePolicy::Acceptable, IdlePolicy::Only][usize::try_from(random.below(3)).unwrap()];
    job.duration_ms = minutes(random).filter(|_| random.below(3) > 0);
    job.checkpoint_ms = minutes(random).filter(|_| random.below(2) > 0);
    job.fault_tolerance = (random.below(2) > 0).then(FaultTolerance::default);
    job.priority = Priority::new(i64::try_from(1 + random.below(9)).unwrap()).unwrap();
    if random.below(3) == 0 {
        job.pods = vec![PodGroup { count: 4, amount: AmountByName::from([("gpu".to_owned(), 1000)]) }];
        job.min_pods = Some(1);
    } else if random.below(4) == 0 {
        job.pods = vec![PodGroup { count: 1, amount: AmountByName::from([("gpu".to_owned(), 460)]) }];
    }
    job
}

/// Grace periods and minimum run times on every quota.
fn slow_down(session: &mut Session) {
    let quotas: Vec<_> = session.state.live_quotas().map(|(_, quota)| quota.clone()).collect();
    for quota in quotas {
        let mut settings = quota.settings;
        settings.grace_period = Millis(120_000);
        settings.min_runtime = Millis(300_000);
        session.send(&Command::UpdateQuota(UpdateQuota { quota: quota.id, settings })).unwrap();
    }
}

/// Nobody is told to stop for a job that is neither started nor given its amounts in the same step.
fn nobody_is_evicted_for_nothing(events: &[Event]) {
    let mut served: Vec<JobNo> = Vec::new();
    for event in events {
        if let Event::Started { job, .. } | Event::Granted { job, .. } = event {
            served.push(*job);
        }
    }
    for event in events {
        if let Event::Evicted { evicted_for: Some(job), .. } = event {
            assert!(served.contains(job), "evicted for {job:?}, which does not start: {events:?}");
        }
    }
}

/// Sends `count` commands and submissions, and checks the state after each.
fn run(workload: Workload, count: u32, is_varied: bool) -> Session {
    let mut session = workload.build().unwrap();
    if is_varied {
        slow_down(&mut session);
    }
    let mut random = Random::of(workload.seed);
    let mut submissions = Workload { queued: count, ..workload }.submissions("later").map(Result::unwrap);
    session.round().unwrap();
    for _ in 0..count {
        session.advance(session.now + Millis(i64::try_from(random.below(600_000)).unwrap())).unwrap();
        let next = if random.below(2) == 0 { submissions.next() } else { None };
        let next = next.map(|job| if is_varied { varied(job, &mut random) } else { job }).map(Command::SubmitJob);
        let command = next.unwrap_or_else(|| command(&session, &mut random));
        let before = session.log.len();
        // What is refused changes nothing.
        let _ = session.send(&command);
        nobody_is_evicted_for_nothing(&session.log[before..]);
        assert_eq!(check::difference(&session.state), None, "seed {}, after {command:?}", workload.seed);
    }
    session
}

#[track_caller]
fn check_seeds(workload: Workload, is_varied: bool) {
    for seed in 1..=5 {
        run(Workload { seed, ..workload }, 120, is_varied);
    }
}

#[test]
fn nodes_with_preemption() {
    check_seeds(SMALL, false);
}

#[test]
fn a_pool_with_preemption() {
    check_seeds(Workload { nodes: 0, pool_gpus: 48, ..SMALL }, false);
}

#[test]
fn nodes_with_idle_jobs() {
    check_seeds(Workload { has_preemption: false, ..SMALL }, false);
}

#[test]
fn a_deep_tree() {
    check_seeds(Workload { quotas: 12, depth: 8, ..SMALL }, false);
}

#[test]
fn elastic_shared_and_idle_jobs_with_grace_periods() {
    check_seeds(SMALL, true);
}

#[test]
fn the_same_in_a_pool() {
    check_seeds(Workload { nodes: 0, pool_gpus: 48, ..SMALL }, true);
}

#[test]
fn the_state_is_the_fold_of_its_events() {
    let start = SMALL.build().unwrap().state;
    let session = run(SMALL, 120, true);
    let mut folded: State = start;
    transition::apply_all(&mut folded, &session.log);
    assert_eq!(Snapshot::of(&folded).to_bytes(), Snapshot::of(&session.state).to_bytes());
}

#[test]
fn nobody_is_evicted_twice_while_nobody_sends_commands() {
    for seed in 1..=4 {
        let mut session = run(Workload { seed, ..SMALL }, 60, seed % 2 == 0);
        session.log.clear();
        for _ in 0..1000 {
            session.advance(session.now + Millis::MINUTE).unwrap();
            session.round().unwrap();
        }
        let mut evictions: Map<JobNo, u32> = Map::new();
        for event in &session.log {
            if let Event::Evicted { job, .. } = event {
                *evictions.or_default(*job) += 1;
            }
        }
        let twice: Vec<(&JobNo, &u32)> = evictions.iter().filter(|(_, count)| **count > 1).collect();
        assert!(twice.is_empty(), "seed {seed}: {twice:?}");
    }
}
