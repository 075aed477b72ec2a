//! "Never" is said where it is true, and nowhere else (rules 3).
//!
//! The oracle knows nothing of bounds: it tries to put every pod on every machine and every GPU, one after the other.
//! Whom it can place in an empty cluster starts there; of everybody else it is said that he never will. Where others
//! run, it tells who starts beside them.

use std::collections::BTreeMap;
use std::fmt::Write;

use engine::host::authority;
use engine::job::hold::Attempt;
use engine::job::hold::Blocker;
use engine::job::phase::Phase;
use engine::message::command::Command;
use engine::message::event::Event;
use engine::state::world::State;
use engine::unit::id::JobId;
use engine::unit::id::JobNo;
use engine::unit::time::Timestamp;

use crate::history::are_few;
use crate::history::seeds;
use crate::random::Random;

/// GPUs one by one in thousandths, CPU and memory.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Machine {
    gpus: Vec<i64>,
    cpu: i64,
    memory: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Pod {
    gpu: i64,
    cpu: i64,
    memory: i64,
}

/// Whether all pods find a place, by trying every one.
fn can_place(machines: &mut [Machine], pods: &[Pod]) -> bool {
    let Some((pod, rest)) = pods.split_first() else { return true };
    for at in 0..machines.len() {
        if machines[..at].contains(&machines[at]) {
            continue;
        }
        for after in ways(&machines[at], *pod) {
            let before = std::mem::replace(&mut machines[at], after);
            let is_placed = can_place(machines, rest);
            machines[at] = before;
            if is_placed {
                return true;
            }
        }
    }
    false
}

/// What may be left of a machine that takes a pod.
fn ways(machine: &Machine, pod: Pod) -> Vec<Machine> {
    let mut rest = machine.clone();
    rest.cpu -= pod.cpu;
    rest.memory -= pod.memory;
    if (pod.cpu > 0 && rest.cpu < 0) || (pod.memory > 0 && rest.memory < 0) {
        return Vec::new();
    }
    if pod.gpu >= 1000 {
        let mut whole = pod.gpu / 1000;
        for gpu in &mut rest.gpus {
            if *gpu == 1000 && whole > 0 {
                (*gpu, whole) = (0, whole - 1);
            }
        }
        return if whole == 0 { vec![rest] } else { Vec::new() };
    }
    if pod.gpu == 0 {
        return vec![rest];
    }
    let fitting = (0..rest.gpus.len()).filter(|&at| rest.gpus[at] >= pod.gpu);
    let on = |at: usize| {
        let mut shared = rest.clone();
        shared.gpus[at] -= pod.gpu;
        shared
    };
    fitting.map(on).collect()
}

fn step(state: &mut State, command: &str) -> Vec<Event> {
    let parsed: Command = serde_json::from_str(command).unwrap_or_else(|error| panic!("{error}: {command}"));
    authority::step(state, &parsed, Timestamp(0)).unwrap_or_else(|error| panic!("{error}: {command}"))
}

fn job(state: &State, id: &str) -> JobNo {
    state.jobs.find(&JobId::new(id).unwrap()).unwrap()
}

/// Why a job waits, as it was told; nothing if it runs.
fn told(state: &State, no: JobNo) -> Option<Vec<Attempt>> {
    match &state.jobs[no].phase {
        Phase::Running { .. } => None,
        Phase::Queued { .. } => {
            let class = state.jobs[no].class.unwrap();
            Some(state.queue.classes[class.at()].hold.as_ref().unwrap().attempts.clone())
        }
        phase => panic!("{phase:?}"),
    }
}

/// A name for a reason: of a proof, which one it is.
fn name(blocker: &Blocker) -> String {
    let text = serde_json::to_string(blocker).unwrap();
    let mut words = text.split('"').skip(1).step_by(2);
    let first = words.next().unwrap().to_owned();
    if first == "never" { words.next().unwrap().to_owned() } else { first }
}

fn submit(id: &str, pods: &[Pod], rest: &str) -> String {
    let mut roles: Vec<(Pod, u32)> = Vec::new();
    for pod in pods {
        match roles.iter_mut().find(|(known, _)| known == pod) {
            Some((_, count)) => *count += 1,
            None => roles.push((*pod, 1)),
        }
    }
    let amount = |pod: &Pod| format!(r#"{{"gpu":{},"cpu":{},"memory":{}}}"#, pod.gpu, pod.cpu, pod.memory);
    let roles: Vec<String> =
        roles.iter().map(|(pod, count)| format!(r#"{{"count":{count},"amount":{}}}"#, amount(pod))).collect();
    format!(r#"{{"submit_job":{{"job":"{id}","quota":"root",{rest}"pods":[{}]}}}}"#, roles.join(","))
}

/// A cluster of few small machines, with those that are ready.
fn cluster(random: &mut Random) -> (State, Vec<Machine>) {
    let mut state = State::default();
    let dimensions = r#"[{"name":"gpu","kind":"gpu"},{"name":"cpu","kind":"cpu"},{"name":"memory","kind":"memory"}]"#;
    step(&mut state, &format!(r#"{{"create_cluster":{{"dimensions":{dimensions}}}}}"#));
    step(&mut state, r#"{"put_group":{"group":"g","resource_type":"lingjun"}}"#);
    let mut machines = Vec::new();
    let mut gpus_in_all = 0;
    let are_alike = random.chance(50);
    let mut size = (0, 0, 0);
    for node in 0..random.between(1, 3) {
        if node == 0 || !are_alike {
            let gpus = if random.chance(10) { 0 } else { random.between(1, 4) };
            size = (gpus, random.between(3, 12), random.between(3, 12));
        }
        let (gpus, cpu, memory) = size;
        let status = if random.chance(5) { "cordoned" } else { "ready" };
        let amount = format!(r#"{{"gpu":{},"cpu":{cpu},"memory":{memory}}}"#, gpus * 1000);
        let node = format!(r#""node":"n{node}","group":"g","amount":{amount},"status":"{status}""#);
        step(&mut state, &format!(r#"{{"put_node":{{{node}}}}}"#));
        gpus_in_all += gpus * 1000;
        if status == "ready" {
            machines.push(Machine { gpus: vec![1000; usize::try_from(gpus).unwrap()], cpu, memory });
        } else {
            // Nothing starts there; its place in the list is kept.
            machines.push(Machine { gpus: Vec::new(), cpu: -1, memory: -1 });
        }
    }
    step(&mut state, &format!(r#"{{"create_quota":{{"quota":"root","groups":["g"],"min":{{"gpu":{gpus_in_all}}}}}}}"#));
    (state, machines)
}

/// Up to six pods that together need about as much as there is.
fn gang(random: &mut Random, machines: &[Machine], many: i64) -> Vec<Pod> {
    let (has_cpu, has_memory) = (random.chance(60), random.chance(30));
    let largest = machines.iter().map(|machine| machine.gpus.len()).max().unwrap_or(0);
    let kinds: Vec<Pod> = (0..random.between(1, 4))
        .map(|_| {
            let gpu = match random.below(10) {
                0 => 0,
                1..=5 => random.between(1, i64::try_from(largest).unwrap().max(1)) * 1000,
                _ => random.pick(&[250, 300, 334, 400, 500, 600, 700]),
            };
            let cpu = if has_cpu || gpu == 0 { random.between(1, 6) } else { 0 };
            Pod { gpu, cpu, memory: if has_memory { random.between(1, 6) } else { 0 } }
        })
        .collect();
    let mut pods: Vec<Pod> = (0..random.between(1, many)).map(|_| random.pick(&kinds)).collect();
    pods.sort_by_key(|pod| kinds.iter().position(|kind| kind == pod));
    pods
}

/// What is left of the machines, by the places that the engine gave; it must not be less than nothing.
fn occupy(machines: &mut [Machine], state: &State, no: JobNo, pods: &[Pod]) {
    let placed = state.jobs[no].placed().unwrap();
    assert_eq!(placed.pods.len(), pods.len());
    for (at, pod) in placed.pods.iter().zip(pods) {
        let machine = &mut machines[at.node.at()];
        machine.cpu -= pod.cpu;
        machine.memory -= pod.memory;
        let gpus: Vec<usize> = (0..16).filter(|gpu| at.gpus & (1 << gpu) != 0).collect();
        assert_eq!(gpus.len(), usize::try_from((pod.gpu + 999) / 1000).unwrap());
        for gpu in gpus {
            machine.gpus[gpu] -= pod.gpu.min(1000);
            assert!(machine.gpus[gpu] >= 0);
        }
        assert!((pod.cpu == 0 || machine.cpu >= 0) && (pod.memory == 0 || machine.memory >= 0));
    }
}

#[test]
fn never_is_said_of_gangs_that_do_not_fit_on_empty_machines_and_of_no_others() {
    let (mut fits, mut proofs) = (0, BTreeMap::new());
    for seed in seeds(30_000) {
        let mut random = Random::new(seed);
        let (mut state, mut machines) = cluster(&mut random);
        let pods = gang(&mut random, &machines, 6);
        let idle = random.pick(&["", "", r#""idle":"acceptable","#, r#""idle":"only","#]);
        step(&mut state, &submit("gang", &pods, idle));
        let no = job(&state, "gang");
        let told = told(&state, no);
        let can = can_place(&mut machines, &pods);
        match told {
            None => {
                assert!(can, "seed {seed}: {pods:?} was placed on {machines:?}");
                occupy(&mut machines, &state, no, &pods);
                fits += 1;
            }
            Some(attempts) => {
                assert!(!can, "seed {seed}: {pods:?} fits on {machines:?}, but {attempts:?}");
                let proof = attempts.iter().find(|attempt| attempt.blocker.is_for_ever());
                let proof = proof.unwrap_or_else(|| panic!("seed {seed}: {pods:?} on {machines:?}: {attempts:?}"));
                *proofs.entry(name(&proof.blocker)).or_insert(0) += 1;
            }
        }
    }
    println!("{fits} fit, {proofs:?}");
    let rarest = ["pod", "count", "sum", "tried", "larger_than_nodes"].map(|proof| proofs.get(proof).copied());
    assert!(
        are_few() || fits > 8_000 && rarest.iter().all(|count| count.is_some_and(|count| count > 50)),
        "{fits}, {proofs:?}"
    );
}

#[test]
fn a_gang_starts_beside_others_wherever_there_is_a_way_to_place_it() {
    let (mut starts, mut waits) = (0, 0);
    for seed in seeds(30_000) {
        let mut random = Random::new(!seed);
        let (mut state, mut machines) = cluster(&mut random);
        for at in 0..random.between(1, 3) {
            let pods = gang(&mut random, &machines, 2);
            let id = format!("before-{at}");
            step(&mut state, &submit(&id, &pods, ""));
            let no = job(&state, &id);
            if told(&state, no).is_none() {
                occupy(&mut machines, &state, no, &pods);
            }
        }
        let pods = gang(&mut random, &machines, 6);
        let used: i64 = state.ledger.quotas[0].used[0];
        let asked: i64 = pods.iter().map(|pod| pod.gpu).sum();
        if asked > 0 && used + asked > state.quotas[0].min.amount[0] {
            continue;
        }
        step(&mut state, &submit("gang", &pods, ""));
        let told = told(&state, job(&state, "gang"));
        let can = can_place(&mut machines, &pods);
        assert_eq!(told.is_none(), can, "seed {seed}: {pods:?} on {machines:?}: {told:?}");
        for attempt in told.iter().flatten() {
            let is_unsolved = matches!(attempt.blocker, Blocker::NoRoom { unsolved: Some(_), .. });
            assert!(!is_unsolved, "seed {seed}: {pods:?} on {machines:?}");
        }
        if can { starts += 1 } else { waits += 1 }
    }
    println!("{starts} start, {waits} wait");
    assert!(are_few() || starts > 3_000 && waits > 3_000, "{starts} start, {waits} wait");
}

/// A quota of the random tree.
struct Quota {
    parent: Option<usize>,
    domain: usize,
    min: i64,
    lends: bool,
    child_level: bool,
    self_level: Option<&'static str>,
}

/// What jobs of a quota may use, by the words of the rules: nothing else runs.
fn reach(quotas: &[Quota], at: usize, is_high: bool) -> i64 {
    let quota = &quotas[at];
    let has_children = quotas.iter().any(|child| child.parent == Some(at));
    let level = quota.self_level.filter(|scope| *scope != "own" && is_high);
    let here = if quota.child_level && has_children { quota.min } else { own(quotas, at) };
    if level.is_none() || quota.parent.is_none() {
        return here;
    }
    // Its own children keep what they are guaranteed.
    let siblings = (0..quotas.len()).filter(|other| *other != at && quotas[*other].parent == quota.parent);
    let level = siblings.map(|other| quotas[other].min).sum::<i64>() + own(quotas, at);
    here.max(level)
}

fn own(quotas: &[Quota], at: usize) -> i64 {
    quotas[at].min - quotas.iter().filter(|child| child.parent == Some(at)).map(|child| child.min).sum::<i64>()
}

/// Two domains of one resource type and trees of three levels, with one sibling more on each level.
fn trees(random: &mut Random) -> (State, Vec<Quota>) {
    let mut quotas: Vec<Quota> = Vec::new();
    let mut lines = vec![r#"{"create_cluster":{"dimensions":[{"name":"gpu","kind":"gpu"}]}}"#.to_owned()];
    for domain in 0..2 {
        lines.push(format!(
            r#"{{"put_group":{{"group":"g{domain}","resource_type":"lingjun","pool":{{"gpu":20000}}}}}}"#
        ));
        let first = quotas.len();
        for at in 0..random.between(1, 5) {
            let parent = (at > 0).then(|| first + random.index(quotas.len() - first));
            let most = parent.map_or(20, |parent| own(&quotas, parent));
            let self_level = random.chance(30).then(|| random.pick(&["same-level", "own", "siblings-idle"]));
            quotas.push(Quota {
                parent,
                domain,
                min: random.between(0, most),
                lends: random.chance(70),
                child_level: random.chance(30),
                self_level,
            });
        }
    }
    // What self-level preemption finds idle is asked elsewhere; here everybody lends in trees where it is on.
    let with_level =
        [0, 1].map(|domain| quotas.iter().any(|quota| quota.domain == domain && quota.self_level.is_some()));
    for quota in &mut quotas {
        quota.lends |= with_level[quota.domain];
    }
    for (at, quota) in quotas.iter().enumerate() {
        let place = match quota.parent {
            Some(parent) => format!(r#""parent":"q{parent}""#),
            None => format!(r#""groups":["g{}"]"#, quota.domain),
        };
        let mut settings = format!(r#""lends":{}"#, quota.lends);
        if quota.child_level {
            settings.push_str(r#","child_level":{"preemptible":[1,2],"modules":["DLC"]}"#);
        }
        if let Some(scope) = quota.self_level {
            let sets = r#""high":[6,7],"low":[1,2],"modules":["DLC"]"#;
            write!(settings, r#","self_level":{{{sets},"scope":"{scope}"}}"#).unwrap();
        }
        lines.push(format!(
            r#"{{"create_quota":{{"quota":"q{at}",{place},"min":{{"gpu":{}}},"settings":{{{settings}}}}}}}"#,
            quota.min * 1000
        ));
    }
    let mut state = State::default();
    for line in lines {
        step(&mut state, &line);
    }
    (state, quotas)
}

#[test]
fn never_is_said_of_jobs_that_no_quota_will_ever_allow_and_of_no_others() {
    let (mut starts, mut proofs) = (0, BTreeMap::new());
    for seed in seeds(30_000) {
        let mut random = Random::new(seed);
        let (mut state, quotas) = trees(&mut random);
        let at = random.index(quotas.len());
        let asked = random.between(1, 22);
        let priority = random.pick(&[1, 5, 6]);
        let idle = random.pick(&["off", "off", "acceptable", "only"]);
        let pods = format!(r#""pods":[{{"count":1,"amount":{{"gpu":{}}}}}]"#, asked * 1000);
        let rest = format!(r#""quota":"q{at}","priority":{priority},"idle":"{idle}",{pods}"#);
        step(&mut state, &format!(r#"{{"submit_job":{{"job":"alone",{rest}}}}}"#));
        let lent = |domain: usize| -> i64 {
            let lending = (0..quotas.len()).filter(|other| quotas[*other].domain == domain && quotas[*other].lends);
            lending.map(|other| own(&quotas, other)).sum()
        };
        let may_own = idle != "only" && asked <= reach(&quotas, at, priority == 6);
        let may_borrow = idle != "off" && (asked <= lent(0) || asked <= lent(1));
        match told(&state, job(&state, "alone")) {
            None => {
                assert!(may_own || may_borrow, "seed {seed}: {asked} at q{at} started");
                starts += 1;
            }
            Some(attempts) => {
                assert!(!may_own && !may_borrow, "seed {seed}: {asked} at q{at} could start, but {attempts:?}");
                let proof = attempts.iter().find(|attempt| attempt.blocker.is_for_ever());
                let proof = proof.unwrap_or_else(|| panic!("seed {seed}: {asked} at q{at}, {idle}: {attempts:?}"));
                *proofs.entry(name(&proof.blocker)).or_insert(0) += 1;
            }
        }
    }
    println!("{starts} start, {proofs:?}");
    let rarest = ["own", "level", "lent", "larger_than_quota"].map(|proof| proofs.get(proof).copied());
    assert!(
        are_few() || starts > 5_000 && rarest.iter().all(|count| count.is_some_and(|count| count > 50)),
        "{starts}, {proofs:?}"
    );
}
