//! The cheapest victims, against all sets one by one (rules 5.4).
//!
//! Cost is compared class by class from the most valuable: in quota before idle, high priority before low, whole jobs
//! before pods that an elastic job can spare. Inside a class: unsaved work, number, newest start, name. Whoever takes
//! a gang takes all pods of the job.

use std::cmp::Ordering;
use std::cmp::Reverse;
use std::collections::BTreeSet;

use engine::host::authority;
use engine::job::phase::Charge;
use engine::job::shape::Role;
use engine::job::shape::Shape;
use engine::message::command::Command;
use engine::message::event::Event;
use engine::schedule::victims::candidate::Candidate;
use engine::schedule::victims::cost::Standing;
use engine::schedule::victims::cost::ValueClass;
use engine::schedule::victims::cost::Worth;
use engine::schedule::victims::cover;
use engine::schedule::victims::search::EXACT_ON_NODES_MAX;
use engine::state::world::State;
use engine::unit::amount::Amount;
use engine::unit::id::JobId;
use engine::unit::id::JobNo;
use engine::unit::id::QuotaNo;
use engine::unit::priority::Priority;
use engine::unit::time::Timestamp;

use crate::ground::Ground;
use crate::ground::Part;
use crate::history::are_few;
use crate::history::seeds;
use crate::parts::LENT;
use crate::parts::Unit;
use crate::parts::by_cost;
use crate::parts::cheapest;
use crate::parts::is_closed;
use crate::parts::parts;
use crate::parts::sort;
use crate::policy::each_serve;
use crate::policy::is_anybody_starving;
use crate::policy::serves;
use crate::random::Random;

/// Amounts of what is in quota, and of everything, have to come free.
#[test]
fn in_a_pool_the_victims_are_the_cheapest_of_all_sets() {
    for seed in seeds(100_000) {
        let mut random = Random::new(seed);
        let mut units = random_units(&mut random);
        sort(&mut units);
        let amount = |random: &mut Random, high: i64| {
            let mut amount = Amount::of(0, random.between(0, high) * 500);
            amount[1] = random.between(0, high / 3) * 1000;
            amount
        };
        let needs = [amount(&mut random, 12), amount(&mut random, 16)];
        let is_legal = |set: u32| {
            let sum = |in_quota_only: bool| {
                let counts = |unit: &Unit| !in_quota_only || unit.charge == Charge::InQuota;
                let taken = (0..units.len()).filter(|at| set & (1 << at) != 0).map(|at| &units[at]);
                taken.filter(|unit| counts(unit)).fold(Amount::ZERO, |sum, unit| sum.plus(&unit.amount))
            };
            needs[0].fits_in(&sum(true)) && needs[1].fits_in(&sum(false))
        };
        let expected = cheapest(&units, None, is_legal);
        let shapes: Vec<Shape> =
            units.iter().map(|unit| Shape::new(vec![Role { count: 1, amount: unit.amount }], None)).collect();
        let list = candidates(&units, &shapes);
        let counts_for =
            |candidate: &Candidate<'_>| if candidate.charge == Charge::InQuota { vec![0, 1] } else { vec![1] };
        let marks = cover::cheapest(&list, &needs, counts_for);
        let found = marks.map(|marks| {
            let taken = list.iter().zip(marks).filter(|(_, is_taken)| *is_taken).map(|(it, _)| (it.job, it.pod));
            as_set(&units, &taken.collect())
        });
        assert_eq!(found, expected, "seed {seed}: {units:?}\nfor {needs:?}");
    }
}

fn random_units(random: &mut Random) -> Vec<Unit> {
    let count = if random.chance(1) { random.between(10, 14) } else { random.between(1, 9) };
    let priorities = random.between(1, 3);
    let unit = |at: i64| {
        let charge = if random.chance(60) { Charge::InQuota } else { Charge::Idle };
        let mut amount = Amount::of(0, random.pick(&[250, 500, 1000, 1000, 2000, 4000]));
        amount[1] = random.pick(&[0, 1000, 2000]);
        let standing = if charge == Charge::Idle { LENT } else { u8::try_from(random.pick(&[1, 2, 2, 3])).unwrap() };
        Unit {
            part: (JobNo(u32::try_from(at).unwrap()), None),
            class: (standing, Priority::new(random.between(1, priorities)).unwrap(), true),
            lost: random.pick(&[0, 0, 10, 20, 30, 500]),
            started: Timestamp(random.between(0, 2)),
            id: JobId::new(&format!("job-{}", (at * 7) % 15)).unwrap(),
            amount,
            charge,
        }
    };
    (0..count).map(unit).collect()
}

/// As the engine wants them: the least valuable first.
fn candidates<'a>(units: &'a [Unit], shapes: &'a [Shape]) -> Vec<Candidate<'a>> {
    let standings = [Standing::Lent, Standing::Above, Standing::InQuota, Standing::InSibling];
    let candidate = |(unit, shape): (&'a Unit, &'a Shape)| Candidate {
        job: unit.part.0,
        pod: None,
        quota: QuotaNo(0),
        class: ValueClass::of(standings[usize::from(unit.class.0)], unit.class.1, unit.class.2),
        worth: Worth { lost: unit.lost, started: Reverse(unit.started), id: &unit.id, pod: Reverse(None) },
        charge: unit.charge,
        shape,
        places: &[],
    };
    let mut list: Vec<Candidate<'a>> = units.iter().zip(shapes).map(candidate).collect();
    list.sort_by(|a, b| (a.class, &a.worth).cmp(&(b.class, &b.worth)));
    list
}

/// Victims as bits over the units.
fn as_set(units: &[Unit], taken: &BTreeSet<Part>) -> u32 {
    (0..units.len()).filter(|&at| taken.contains(&units[at].part)).fold(0, |set, at| set | 1 << at)
}

/// In pools and on nodes, whatever else waits and whoever holds a reservation: the machines that a reservation may keep
/// from the job are left out.
#[test]
fn in_random_runs_the_victims_are_the_cheapest_of_all_sets() {
    let (mut n_pools, mut n_nodes, mut n_reserved, mut n_packed, mut n_above, mut n_siblings) = (0, 0, 0, 0, 0, 0);
    each_serve(7_200, |_, serve, note| {
        let (Some(by), Some(Event::Started { placed, .. } | Event::Granted { placed, .. })) = (serve.by, &serve.served)
        else {
            return;
        };
        let ground = Ground::of(&serve.before);
        let Some(units) = serve.units(&ground).filter(|units| units.len() <= 8) else { return };
        let spec = &serve.before.jobs[by].spec;
        let kept = ground.kept_from(spec.quota.at());
        let is_kept = is_anybody_starving(&serve.before, serve.now);
        let open = |no: usize| !is_kept || placed.pods.iter().any(|pod| pod.node.at() == no);
        let works = |set: u32| {
            is_closed(&units, set) && ground.without(&parts(&units, set)).lets_in(spec, placed.source, &kept, open)
        };
        let taken: BTreeSet<Part> = serve.victims.iter().flat_map(|(victim, _)| serve.parts(victim)).collect();
        let found = as_set(&units, &taken);
        assert_eq!(parts(&units, found), taken, "somebody may not go\n{note}");
        assert!(works(found), "the victims are not enough\n{note}");
        n_above += i32::from(units.iter().any(|unit| unit.class.0 == crate::parts::ABOVE));
        n_siblings += i32::from(units.iter().any(|unit| unit.class.0 == crate::parts::IN_SIBLING));
        if !placed.pods.is_empty() && spec.shape.roles().len() > 1 {
            // How pods of several roles are packed is not judged here.
            n_packed += 1;
            return;
        }
        let best = cheapest(&units, Some(found), works);
        assert_eq!(best, Some(found), "{units:?}\n{note}");
        n_reserved += i32::from(is_kept);
        let count = if placed.pods.is_empty() { &mut n_pools } else { &mut n_nodes };
        *count += 1;
    });
    let counts = format!("{n_pools} pools, {n_nodes} on nodes, {n_packed} packed, {n_reserved} with reservations");
    println!("{counts}, {n_above} with over-use, {n_siblings} with siblings");
    assert!(
        are_few() || n_pools > 300 && n_nodes > 300 && n_reserved > 50 && n_above > 10 && n_siblings > 3,
        "only {counts}"
    );
}

/// A preemptor on few nodes, against all sets; with more jobs than the search is exact for, against sparing the most
/// valuable first.
#[test]
fn on_small_clusters_of_nodes_the_victims_are_the_cheapest_of_all_sets() {
    let (mut n_exact, mut n_large, mut n_dearer) = (0, 0, 0);
    for seed in seeds(1_200) {
        let mut random = Random::new(seed);
        let is_large = seed % 4 == 0;
        let (before, command, now) = crowd(&mut random, is_large);
        let mut state = before.clone();
        let events = authority::step(&mut state, &command, now).unwrap();
        for serve in serves(&before, &events, now) {
            let (Some(by), Some(source)) = (serve.by, serve.source()) else { continue };
            let ground = Ground::of(&serve.before);
            let Some(units) = serve.units(&ground) else { continue };
            let spec = &serve.before.jobs[by].spec;
            let kept = ground.kept_from(spec.quota.at());
            let works = |set: u32| {
                is_closed(&units, set) && ground.without(&parts(&units, set)).lets_in(spec, source, &kept, |_| true)
            };
            let taken: BTreeSet<Part> = serve.victims.iter().flat_map(|(victim, _)| serve.parts(victim)).collect();
            let found = as_set(&units, &taken);
            assert!(parts(&units, found) == taken && works(found), "seed {seed}: {taken:?} of {units:?}");
            let class_of = |at: usize| units.iter().filter(|unit| unit.class == units[at].class).count();
            let is_exact = (0..units.len()).all(|at| class_of(at) <= EXACT_ON_NODES_MAX);
            if units.len() <= 10 && is_exact {
                n_exact += 1;
                assert_eq!(cheapest(&units, Some(found), works), Some(found), "seed {seed}: {units:?}");
            } else if !is_exact {
                n_large += 1;
                let order = by_cost(&units, found, spare_the_most_valuable(&units, works));
                n_dearer += i32::from(order == Ordering::Greater);
            }
        }
    }
    assert!(
        n_dearer == 0 && (are_few() || n_exact > 200 && n_large > 50),
        "{n_exact} exact, {n_large} large, {n_dearer} dearer"
    );
}

/// Few nodes of 4 GPUs full of jobs, and a job that asks for some of them.
fn crowd(random: &mut Random, is_large: bool) -> (State, Command, Timestamp) {
    let nodes = if is_large { 7 } else { random.between(2, 3) };
    let mut lines = vec![
        r#"{"create_cluster":{"dimensions":[{"name":"gpu","kind":"gpu"}]}}"#.to_owned(),
        r#"{"put_group":{"group":"g","resource_type":"lingjun","pool":null}}"#.to_owned(),
    ];
    for node in 0..nodes {
        lines.push(format!(r#"{{"put_node":{{"node":"n{node}","group":"g","amount":{{"gpu":4000}}}}}}"#));
    }
    let (whole, half) = (nodes * 4000, nodes * 2000);
    lines.push(format!(r#"{{"create_quota":{{"quota":"root","groups":["g"],"min":{{"gpu":{whole}}}}}}}"#));
    let scope = random.pick(&["same-level", "same-level", "own"]);
    let policy = format!(r#"{{"high":[7,8,9],"low":[1,2,3],"modules":["DLC"],"scope":"{scope}"}}"#);
    for quota in ["a", "b"] {
        let settings = format!(r#"{{"self_level":{policy},"lends":{},"grace_period_ms":0}}"#, random.chance(80));
        let place = format!(r#""parent":"root","min":{{"gpu":{half}}}"#);
        lines.push(format!(r#"{{"create_quota":{{"quota":"{quota}",{place},"settings":{settings}}}}}"#));
    }
    let mut state = State::default();
    let mut now = Timestamp(0);
    let sizes: &[i64] = if is_large { &[1000] } else { &[1000, 2000, 2000, 3000] };
    let count = if is_large { random.between(30, 40) } else { random.between(nodes * 2, nodes * 4 + 4) };
    for at in 0..count {
        let (quota, idle) = (random.pick(&["a", "b"]), random.pick(&["off", "off", "acceptable", "only"]));
        let priority = if is_large { 1 } else { random.between(1, 3) };
        let pods = format!(r#"[{{"count":1,"amount":{{"gpu":{}}}}}]"#, random.pick(sizes));
        let what = format!(r#""priority":{priority},"module":"DLC","idle":"{idle}","pods":{pods}"#);
        lines.push(format!(r#"{{"submit_job":{{"job":"j{}","quota":"{quota}",{what}}}}}"#, at * 7 % 41));
    }
    for line in lines {
        let command: Command = serde_json::from_str(&line).unwrap();
        authority::step(&mut state, &command, now).unwrap();
        now = Timestamp(now.0 + random.pick(&[0, 1_000, 60_000]));
    }
    let (count, gpus) = random.pick(&[(1, 4000), (1, 4000), (2, 2000), (1, 3000), (2, 3000), (3, 1000)]);
    let pods = format!(r#"[{{"count":{count},"amount":{{"gpu":{gpus}}}}}]"#);
    let submit = format!(r#"{{"submit_job":{{"job":"urgent","quota":"a","priority":9,"pods":{pods}}}}}"#);
    (state, serde_json::from_str(&submit).unwrap(), now)
}

/// Everybody goes, but the most valuable are spared first, as long as the rest is enough.
fn spare_the_most_valuable(units: &[Unit], works: impl Fn(u32) -> bool) -> u32 {
    let mut set = (1u32 << units.len()) - 1;
    let value = |at: usize| {
        (units[at].class, units[at].lost, Reverse(units[at].started), &units[at].id, Reverse(units[at].part.1))
    };
    let mut order: Vec<usize> = (0..units.len()).collect();
    order.sort_by(|a, b| value(*b).cmp(&value(*a)));
    for at in order {
        if works(set & !(1 << at)) {
            set &= !(1 << at);
        }
    }
    set
}
