//! The shortlist leaves out nobody who matters: the victims on it are those that are found among everybody.

use std::fmt::Write;

use engine::host::authority;
use engine::job::phase::Charge;
use engine::job::phase::Placed;
use engine::job::phase::Source;
use engine::job::spec::JobSpec;
use engine::message::command::Command;
use engine::schedule::trial::Trial;
use engine::schedule::victims;
use engine::schedule::victims::candidate::Candidates;
use engine::schedule::victims::field::Field;
use engine::schedule::victims::need::Freed;
use engine::schedule::victims::need::Need;
use engine::schedule::victims::preemptor::Preemptor;
use engine::schedule::victims::right::Right;
use engine::schedule::victims::rule::Rule;
use engine::schedule::victims::shortlist::shortlist;
use engine::state::world::State;
use engine::transition;
use engine::unit::amount::GPU;
use engine::unit::id::JobId;
use engine::unit::id::QuotaNo;
use engine::unit::time::Timestamp;

use crate::history::are_few;
use crate::history::seeds;
use crate::random::Random;

const MINUTE: i64 = 60_000;

#[test]
fn the_shortlist_has_the_same_victims_as_everybody() {
    let (mut n_found, mut n_shorter, mut n_nobody) = ([0, 0], 0, 0);
    for seed in seeds(3_000) {
        let mut random = Random::new(seed);
        let is_pool = random.chance(60);
        let (state, now) = busy(&mut random, is_pool);
        let spec = submitted(&state, &mut random, is_pool, now);
        let trial = Trial::new(&state, now);
        let preemptor = preemptor(&state, &spec, &mut random);
        let need = Need::of(&trial, &preemptor);
        if need.is_met_by_nothing(&trial) {
            continue;
        }
        let field = Field::of(&trial, &preemptor);
        let (everybody, _) = Candidates::of(&trial, &preemptor, &field, &need);
        let expected = victims::cheapest(&trial, &need, &everybody.list).ok();
        let list = shortlist(&trial, &preemptor, &&field, &need).unwrap_or_else(|freed| {
            // Nobody helps, and why is told without another look at what they free.
            let everything = Freed::all(&trial, &need, &everybody.list);
            if need.is_on_nodes() {
                assert_eq!((freed.first_short(), freed.room()), (everything.first_short(), everything.room()));
            }
            if need.is_counted() {
                let all = Candidates::all(&trial, &preemptor, &field);
                let count = |candidates: &Candidates<'_>| (candidates.considered, candidates.list.len());
                assert_eq!((count(&all), &expected), (count(&everybody), &None), "seed {seed}, for {spec:?}");
                n_nobody += 1;
            }
            Vec::new()
        });
        match (victims::cheapest(&trial, &need, &list).ok(), expected) {
            (Some(found), expected) => {
                assert_eq!(Some(found), expected, "seed {seed}, for {spec:?}");
                n_found[usize::from(is_pool)] += 1;
                n_shorter += usize::from(list.len() < everybody.list.len());
            }
            (None, expected) => assert_eq!(expected, None, "seed {seed}: nobody, for {spec:?}"),
        }
    }
    assert!(are_few() || n_nobody > 300, "{n_nobody} times nobody helps");
    assert!(
        are_few() || n_found[0] > 500 && n_found[1] > 500 && n_shorter > 500,
        "{n_found:?} found, {n_shorter} shorter lists"
    );
}

/// A cluster in which many jobs of few sizes run, started one after the other.
fn busy(random: &mut Random, is_pool: bool) -> (State, Timestamp) {
    let mut lines = String::from(r#"{"create_cluster":{"dimensions":[{"name":"gpu","kind":"gpu"}]}}"#);
    let pool = if is_pool { r#"{"gpu":120000}"# } else { "null" };
    write!(lines, "\n{{\"put_group\":{{\"group\":\"g\",\"resource_type\":\"lingjun\",\"pool\":{pool}}}}}").unwrap();
    for node in 0..if is_pool { 0 } else { 15 } {
        write!(lines, "\n{{\"put_node\":{{\"node\":\"n{node}\",\"group\":\"g\",\"amount\":{{\"gpu\":8000}}}}}}")
            .unwrap();
    }
    lines.push_str("\n{\"create_quota\":{\"quota\":\"root\",\"groups\":[\"g\"],\"min\":{\"gpu\":120000}}}");
    let low = random.pick(&["[1,2,3,4]", "[1,2]"]);
    for quota in ["a", "b", "c"] {
        let protection = random.pick(&[0, 0, 0, 10 * MINUTE]);
        let policy = format!(r#"{{"high":[6,7,8,9],"low":{low},"modules":["DLC","EAS"]}}"#);
        let settings = format!(r#"{{"min_runtime_ms":{protection},"self_level":{policy}}}"#);
        let place = r#""parent":"root","min":{"gpu":40000}"#;
        write!(lines, "\n{{\"create_quota\":{{\"quota\":\"{quota}\",{place},\"settings\":{settings}}}}}").unwrap();
    }
    let mut state = State::default();
    for line in lines.lines() {
        step(&mut state, line, Timestamp(0));
    }
    let mut now = 0;
    for at in 0..random.between(40, 110) {
        now += random.pick(&[0, MINUTE, 7 * MINUTE]);
        let gpus = random.pick(&[1, 1, 1, 2, 4]) * GPU;
        let quota = random.pick(&["a", "b", "c"]);
        let priority = random.pick(&[1, 1, 2, 3, 5]);
        let idle = random.pick(&["off", "acceptable", "only"]);
        let module = random.pick(&["DLC", "DLC", "DLC", "DSW"]);
        let checkpoint = random.pick(&["null", "null", "null", "240000"]);
        let pods = if random.chance(10) {
            format!(r#""pods":[{{"count":3,"amount":{{"gpu":{gpus}}}}}],"min_pods":1"#)
        } else {
            format!(r#""pods":[{{"count":1,"amount":{{"gpu":{gpus}}}}}]"#)
        };
        let rest = format!(r#""priority":{priority},"module":"{module}","idle":"{idle}","checkpoint_ms":{checkpoint}"#);
        let job = format!(r#"{{"submit_job":{{"job":"j{}","quota":"{quota}",{rest},{pods}}}}}"#, at * 17 % 113);
        step(&mut state, &job, Timestamp(now));
    }
    (state, Timestamp(now + random.pick(&[0, MINUTE, 60 * MINUTE])))
}

fn step(state: &mut State, command: &str, now: Timestamp) {
    let command: Command = serde_json::from_str(command).unwrap_or_else(|error| panic!("{error}: {command}"));
    authority::step(state, &command, now).unwrap();
}

/// A job of quota `a` that has been submitted and not judged.
fn submitted(state: &State, random: &mut Random, is_pool: bool, now: Timestamp) -> JobSpec {
    let (count, gpus) =
        if is_pool { (1, random.between(1, 12)) } else { (random.between(1, 2), random.pick(&[1, 2, 4, 8])) };
    let pods = format!(r#""pods":[{{"count":{count},"amount":{{"gpu":{}}}}}]"#, gpus * GPU);
    let submit = format!(r#"{{"submit_job":{{"job":"preemptor","quota":"a","priority":7,{pods}}}}}"#);
    let mut after = state.clone();
    let events = transition::decide(state, &serde_json::from_str(&submit).unwrap(), now).unwrap();
    transition::apply_all(&mut after, &events);
    let no = after.jobs.find(&JobId::new("preemptor").unwrap()).unwrap();
    after.jobs[no].spec.clone()
}

fn preemptor<'a>(state: &'a State, job: &'a JobSpec, random: &mut Random) -> Preemptor<'a> {
    let home = state.domains.list[0].home;
    let placed = |source| Placed { source, charge: Charge::InQuota, home, pods: Box::default() };
    let policy = state.quotas[job.quota.at()].settings.self_level.as_ref().unwrap();
    let (rule, source, right) = match (random.below(3), state.quotas[job.quota.at()].parent) {
        (0, Some(parent)) => (
            Rule::SelfLevel(policy),
            Source::SelfLevel,
            Right::to_level(&Trial::new(state, Timestamp(0)), job.quota, parent),
        ),
        (1, _) => (Rule::SelfLevel(policy), Source::SelfLevel, Right::Own),
        (_, _) => (Rule::Reclaim, Source::Reclaim, Right::Own),
    };
    Preemptor { job, placed: placed(source), rule, right, policy_quota: QuotaNo(job.quota.0) }
}
