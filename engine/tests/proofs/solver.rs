//! The cheapest victims, against all sets one by one (semantics section 5).
//!
//! Cost is compared class by class from the most valuable: in quota before idle, high priority before low, whole jobs
//! before pods that an elastic job can spare. Inside a class: unsaved work, number, newest start, name. Whoever takes
//! a gang takes all pods of the job.

use std::cmp::Ordering;
use std::cmp::Reverse;
use std::sync::Arc;

use engine::job::phase::Charge;
use engine::job::phase::Phase;
use engine::job::shape::Role;
use engine::job::shape::Shape;
use engine::message::command::Command;
use engine::message::event::Event;
use engine::schedule::decision::Victim;
use engine::schedule::trial::Trial;
use engine::schedule::victims::candidate::Candidate;
use engine::schedule::victims::cost::ValueClass;
use engine::schedule::victims::cost::Worth;
use engine::schedule::victims::need::Need;
use engine::schedule::victims::search;
use engine::schedule::work;
use engine::state::world::State;
use engine::unit::amount::Amount;
use engine::unit::id::DomainNo;
use engine::unit::id::JobId;
use engine::unit::id::JobNo;
use engine::unit::id::QuotaNo;
use engine::unit::priority::Priority;
use engine::unit::time::Timestamp;

use crate::policy::Serve;
use crate::policy::each_serve;
use crate::policy::is_legal;
use crate::policy::may_go;
use crate::random::Random;

/// A gang, or one pod above the minimum.
#[derive(Clone, Debug)]
struct Unit {
    job: JobNo,
    pod: Option<u32>,
    class: (Charge, Priority, bool),
    lost: i64,
    started: Timestamp,
    id: JobId,
    amount: Amount,
    shape: Arc<Shape>,
}

/// The most valuable class first; inside a class who is to go first.
fn sort(units: &mut [Unit]) {
    let key = |unit: &Unit| (Reverse(unit.class), Reverse(unit.started), unit.id.clone(), Reverse(unit.pod));
    units.sort_by_key(key);
}

/// Which of two sets costs less; sets are bits over sorted units.
fn by_cost(units: &[Unit], a: u32, b: u32) -> Ordering {
    let mut from = 0;
    while from < units.len() {
        let class = units[from].class;
        let to = (from..units.len()).find(|&at| units[at].class != class).unwrap_or(units.len());
        let cost = |set: u32| {
            let taken = (from..to).filter(|at| set & (1 << at) != 0);
            taken.fold((0, 0), |(lost, count), at| (lost + units[at].lost, count + 1))
        };
        let first_difference = (from..to).find(|at| (a ^ b) & (1 << at) != 0);
        let by_name = first_difference
            .map_or(Ordering::Equal, |at| if a & (1 << at) == 0 { Ordering::Greater } else { Ordering::Less });
        let order = cost(a).cmp(&cost(b)).then(by_name);
        if order != Ordering::Equal {
            return order;
        }
        from = to;
    }
    Ordering::Equal
}

/// The cheapest of all legal sets.
fn cheapest(units: &[Unit], is_legal: impl Fn(u32) -> bool) -> Option<u32> {
    let mut best: Option<u32> = None;
    for set in 0..1u32 << units.len() {
        let is_better = best.is_none_or(|best| by_cost(units, set, best) == Ordering::Less);
        if is_better && is_legal(set) {
            best = Some(set);
        }
    }
    best
}

#[test]
fn in_a_pool_the_victims_are_the_cheapest_of_all_sets() {
    let state = pool();
    let trial = Trial::new(&state, Timestamp(0));
    for seed in 0..100_000 {
        let mut random = Random::new(seed);
        let mut units = random_units(&mut random);
        sort(&mut units);
        let amount = |random: &mut Random, high: i64| {
            let mut amount = Amount::of(0, random.between(0, high) * 500);
            amount[1] = random.between(0, high / 3) * 1000;
            amount
        };
        let need = (amount(&mut random, 12), amount(&mut random, 16));
        let is_legal = |set: u32| {
            let sum = |in_quota_only: bool| {
                let counts = |unit: &Unit| !in_quota_only || unit.class.0 == Charge::InQuota;
                let taken = (0..units.len()).filter(|at| set & (1 << at) != 0).map(|at| &units[at]);
                taken.filter(|unit| counts(unit)).fold(Amount::ZERO, |sum, unit| sum.plus(&unit.amount))
            };
            need.0.fits_in(&sum(true)) && need.1.fits_in(&sum(false))
        };
        let expected = cheapest(&units, is_legal);
        let list = candidates(&units);
        let need = Need::of_amounts(DomainNo(0), need.0, need.1);
        let found = search::cheapest_cover(&trial, &need, &list).map(|victims| as_set(&units, &victims));
        assert_eq!(found, expected, "seed {seed}: {units:?}\nfor {need:?}");
    }
}

fn random_units(random: &mut Random) -> Vec<Unit> {
    let count = if random.chance(1) { random.between(10, 14) } else { random.between(1, 9) };
    let priorities = random.between(1, 3);
    let unit = |at: i64| {
        let no = JobNo(u32::try_from(at).unwrap());
        let charge = if random.chance(60) { Charge::InQuota } else { Charge::Idle };
        let mut amount = Amount::of(0, random.pick(&[250, 500, 1000, 1000, 2000, 4000]));
        amount[1] = random.pick(&[0, 1000, 2000]);
        let shape = Arc::new(Shape::new(vec![Role { count: 1, amount }], None));
        Unit {
            job: no,
            pod: None,
            class: (charge, Priority::new(random.between(1, priorities)).unwrap(), true),
            lost: random.pick(&[0, 0, 10, 20, 30, 500]),
            started: Timestamp(random.between(0, 2)),
            id: JobId::new(&format!("job-{}", (at * 7) % 15)).unwrap(),
            amount,
            shape,
        }
    };
    (0..count).map(unit).collect()
}

/// As the engine wants them: the least valuable first.
fn candidates<'a>(units: &'a [Unit]) -> Vec<Candidate<'a>> {
    let candidate = |unit: &'a Unit| Candidate {
        job: unit.job,
        pod: unit.pod,
        quota: QuotaNo(0),
        class: ValueClass::of(unit.class.0, unit.class.1, unit.class.2),
        worth: Worth { lost: unit.lost, started: Reverse(unit.started), id: &unit.id, pod: Reverse(unit.pod) },
        charge: unit.class.0,
        shape: &unit.shape,
        places: &[],
    };
    let mut list: Vec<Candidate<'a>> = units.iter().map(candidate).collect();
    list.sort_by(|a, b| (a.class, &a.worth).cmp(&(b.class, &b.worth)));
    list
}

fn pool() -> State {
    let mut state = State::default();
    for command in [
        r#"{"create_cluster":{"dimensions":[{"name":"gpu","kind":"gpu"},{"name":"cpu","kind":"cpu"}]}}"#,
        r#"{"put_group":{"group":"pool","resource_type":"lingjun","pool":{"gpu":8000,"cpu":8000}}}"#,
        r#"{"create_quota":{"quota":"q","groups":["pool"],"min":{"gpu":8000,"cpu":8000}}}"#,
    ] {
        let command: Command = serde_json::from_str(command).unwrap();
        engine::host::authority::step(&mut state, &command, Timestamp(0)).unwrap();
    }
    state
}

/// Victims as bits over the units.
fn as_set(units: &[Unit], victims: &[Victim]) -> u32 {
    let is_taken = |unit: &Unit| {
        victims.iter().any(|victim| match victim {
            Victim::Job(no) => *no == unit.job,
            Victim::Pods(no, pods) => *no == unit.job && unit.pod.is_some_and(|pod| pods.contains(&pod)),
        })
    };
    (0..units.len()).filter(|&at| is_taken(&units[at])).fold(0, |set, at| set | 1 << at)
}

#[test]
fn in_random_runs_the_victims_are_the_cheapest_of_all_sets() {
    let (mut n_pools, mut n_nodes, mut n_dearer) = (0, 0, 0);
    each_serve(4_000, |run, serve, note| {
        let Some(job) = serve.by.filter(|_| run.layout.offers.is_empty()) else { return };
        let (Some(Event::Started { placed, .. } | Event::Granted { placed, .. }), false) =
            (&serve.served, run.layout.is_impatient)
        else {
            return;
        };
        let units = units_of(serve);
        // Victims are jobs that ran when the round began.
        let is_new = units.iter().any(|unit| serve.started.contains(&unit.job));
        if units.len() > 9 || is_new {
            return;
        }
        let spec = &serve.before.jobs[job].spec;
        let works = |set: u32| {
            if !is_closed(&units, set) {
                return false;
            }
            let mut trial = Trial::new(&serve.before, serve.now);
            for victim in victims(&units, set) {
                trial.evict(&victim);
            }
            is_legal(&trial, spec, placed.source)
        };
        let victims: Vec<Victim> = serve.victims.iter().map(|(victim, _)| victim.clone()).collect();
        let found = as_set(&units, &victims);
        let best = cheapest(&units, works).unwrap_or_else(|| panic!("no set is legal\n{note}"));
        if placed.pods.is_empty() {
            n_pools += 1;
            assert_eq!(found, best, "{units:?}\n{note}");
            return;
        }
        n_nodes += 1;
        n_dearer += i32::from(found != best);
        let simple = spare_the_most_valuable(&units, works);
        assert_ne!(by_cost(&units, found, simple), Ordering::Greater, "{found:b} for {simple:b}: {units:?}\n{note}");
    });
    assert!(n_pools > 500 && n_nodes > 500, "only {n_pools} pools and {n_nodes} nodes");
    // The search on nodes counts room by pods and is exact wherever its steps suffice.
    assert!(n_dearer * 100 <= n_nodes, "{n_dearer} of {n_nodes} are not the cheapest");
}

/// Everybody whom the rule allows to take, as the definition says.
fn units_of(serve: &Serve) -> Vec<Unit> {
    let state = &serve.before;
    let cause = &serve.victims[0].1;
    let home = |placed: &engine::job::phase::Placed| state.domains.of_group(placed.home);
    let domain = serve.by.map(|by| state.domains.of_quota(state.jobs[by].spec.quota));
    let mut units = Vec::new();
    for (no, job) in state.jobs.iter() {
        let Phase::Running { placed, extra, started, .. } = &job.phase else { continue };
        if job.bids() || Some(home(placed)) != domain {
            continue;
        }
        let takes_gang = may_go(state, serve.now, &Victim::Job(no), cause);
        let run = work::unsaved_run(state, job, serve.now);
        let mut add = |pod: Option<u32>, charge, amount: Amount, since: Timestamp| {
            let run = if pod.is_some() { run.min(serve.now - since) } else { run };
            units.push(Unit {
                job: no,
                pod,
                class: (charge, job.spec.priority, pod.is_none()),
                lost: work::gpu_ms(state, &amount, run),
                started: since,
                id: job.spec.id.clone(),
                amount,
                shape: Arc::clone(&job.spec.shape),
            });
        };
        if takes_gang {
            add(None, placed.charge, job.spec.shape.gang_amount(), *started);
        }
        for (at, pod) in (0u32..).zip(extra) {
            if takes_gang || may_go(state, serve.now, &Victim::Pods(no, vec![at]), cause) {
                add(Some(at), pod.charge, job.spec.shape.extra_amount(), pod.started);
            }
        }
    }
    sort(&mut units);
    units
}

/// Whether all pods of each gang that goes go with it.
fn is_closed(units: &[Unit], set: u32) -> bool {
    let is_in = |at: usize| set & (1 << at) != 0;
    let gang = |job: JobNo| (0..units.len()).any(|at| units[at].job == job && units[at].pod.is_none() && is_in(at));
    (0..units.len()).all(|at| is_in(at) || units[at].pod.is_none() || !gang(units[at].job))
}

fn victims(units: &[Unit], set: u32) -> Vec<Victim> {
    let taken: Vec<&Unit> = (0..units.len()).filter(|at| set & (1 << at) != 0).map(|at| &units[at]).collect();
    let is_whole = |job: JobNo| taken.iter().any(|unit| unit.job == job && unit.pod.is_none());
    let pods = taken.iter().filter(|unit| !is_whole(unit.job));
    let whole = taken.iter().filter(|unit| unit.pod.is_none()).map(|unit| Victim::Job(unit.job));
    whole.chain(pods.filter_map(|unit| Some(Victim::Pods(unit.job, vec![unit.pod?])))).collect()
}

/// Everybody goes, but the most valuable are spared first, as long as the rest is enough.
fn spare_the_most_valuable(units: &[Unit], works: impl Fn(u32) -> bool) -> u32 {
    let mut set = (1u32 << units.len()) - 1;
    for at in 0..units.len() {
        if works(set & !(1 << at)) {
            set &= !(1 << at);
        }
    }
    set
}
