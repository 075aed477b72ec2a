//! Searches for the smallest change that reaches a goal.

use engine::host::plan::goal;
use engine::host::plan::goal::Goal;
use engine::host::plan::run::Horizon;
use engine::host::plan::run::Run as Plan;
use engine::host::plan::search::Family;
use engine::host::plan::search::Found;
use engine::host::plan::search::Search;
use engine::message::command::Command;
use engine::message::plan::Change;
use engine::message::plan::Variant;
use engine::unit::id::JobId;
use engine::unit::time::Millis;

use crate::history::are_few;
use crate::history::seeds;

use super::CASES;
use super::Case;
use super::case;

/// What a search finds works, and nothing smaller of its family does.
#[test]
fn a_search_finds_the_smallest_change() {
    let (mut n_found, mut n_nothing, mut n_already) = (0, 0, 0);
    for seed in seeds(CASES) {
        let Case { base, until, .. } = case(seed);
        let waiting = base.state.jobs.iter().find(|(_, job)| job.is_queued() && !job.bids());
        let Some((_, job)) = waiting else { continue };
        let quota = base.state.quotas[job.spec.quota.at()].id.clone();
        let dimension = base.state.cluster.dimensions[0].name.clone();
        let family = if seed % 2 == 0 {
            Family::Amount { quota, from: None, dimension, step: 1_000, at_most: 12_000 }
        } else {
            Family::Priority { job: job.spec.id.clone() }
        };
        let goal = Goal::StartsBy { job: job.spec.id.clone(), by: base.from + Millis(600_000) };
        let none = Variant::default();
        let horizon = Horizon::Until(until);
        let Ok(mut search) = Search::new(&base, &none, horizon, goal.clone(), family) else { continue };
        let mut tried = Vec::new();
        while search.found().is_none() {
            search.advance(50);
            tried.extend(search.member(i64::from(search.tried())));
        }
        tried.dedup();
        let reaches = |command: Option<&Command>| {
            let changes = command.map(|command| Change { at: base.from, command: command.clone(), is_off: false });
            let variant = Variant { name: String::new(), changes: changes.into_iter().collect() };
            let mut plan = Plan::new(&base, &variant, horizon);
            plan.finish();
            goal.verdict(&plan) == goal::Verdict::Met && plan.refused.is_empty()
        };
        match search.found().unwrap() {
            Found::Already => {
                assert!(reaches(None), "seed {seed}");
                n_already += 1;
            }
            Found::Change { command, .. } => {
                assert!(!reaches(None) && reaches(Some(command)), "seed {seed}");
                assert_eq!(tried.last(), Some(command), "seed {seed}");
                let smaller = &tried[..tried.len() - 1];
                assert!(smaller.iter().all(|command| !reaches(Some(command))), "seed {seed}");
                n_found += 1;
            }
            Found::Nothing { .. } => {
                assert!(!reaches(None) && tried.iter().all(|command| !reaches(Some(command))), "seed {seed}");
                n_nothing += 1;
            }
        }
    }
    assert!(are_few() || n_found > 20 && n_nothing > 20 && n_already > 20, "{n_found} {n_nothing} {n_already}");
}

#[test]
fn what_a_search_cannot_look_for_is_refused() {
    let Case { base, until, .. } = case(1);
    let nobody = JobId::new("nobody").unwrap();
    let quota = base.state.live_quotas().next().unwrap().1.id.clone();
    let new = |goal: Goal, family: Family| {
        Search::new(&base, &Variant::default(), Horizon::Until(until), goal, family).err().map(|it| it.to_string())
    };
    let waits = || Goal::WaitsAtMost { quota: quota.clone(), at_most: Millis::HOUR };
    let more = |dimension: &str, step| Family::Amount {
        quota: quota.clone(),
        from: None,
        dimension: dimension.to_owned(),
        step,
        at_most: 10,
    };
    let starts = Goal::StartsBy { job: nobody.clone(), by: until };
    assert_eq!(new(starts, more("gpu", 1)).as_deref(), Some("there is no job nobody"));
    assert_eq!(new(waits(), more("tpu", 1)).as_deref(), Some("there is no dimension tpu"));
    assert_eq!(new(waits(), Family::Priority { job: nobody }).as_deref(), Some("there is no job nobody"));
    let step = new(waits(), more(&base.state.cluster.dimensions[0].name, 0)).unwrap();
    assert!(step.starts_with("the step of the search is 0"), "{step}");
    let largest = new(waits(), more(&base.state.cluster.dimensions[0].name, 11)).unwrap();
    assert!(largest.starts_with("the largest change of the search is 10"), "{largest}");
}
