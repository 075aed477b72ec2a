//! Every role, operation and relation against the table as it is meant.

use engine::workspace::may::Denied;
use engine::workspace::may::Operation;
use engine::workspace::may::Relation;
use engine::workspace::may::may;
use engine::workspace::may::may_change;
use engine::workspace::role::Role;
use engine::workspace::role::RoleSet;
use serde::de::DeserializeOwned;

/// How far each role reaches with each operation; `-` is nowhere.
const TABLE: &str = "
                   guest      developer  operator   administrator owner      cluster_administrator
see_amounts        elsewhere  elsewhere  elsewhere  elsewhere     elsewhere  elsewhere
see_job            workspace  workspace  workspace  workspace     workspace  elsewhere
see_workspace      workspace  workspace  workspace  workspace     workspace  elsewhere
submit_job         -          workspace  workspace  workspace     workspace  elsewhere
cancel_job         -          own        workspace  workspace     workspace  elsewhere
set_priority       -          own        workspace  workspace     workspace  elsewhere
resize_job         -          own        workspace  workspace     workspace  elsewhere
report_job         -          -          -          -             -          elsewhere
remove_member      own        own        own        workspace     workspace  elsewhere
put_member         -          -          -          workspace     workspace  elsewhere
update_workspace   -          -          -          workspace     workspace  elsewhere
delete_workspace   -          -          -          -             workspace  elsewhere
create_workspace   -          -          -          -             -          elsewhere
update_quota       -          -          -          workspace     workspace  elsewhere
shape_quota        -          -          -          -             -          elsewhere
attach_quota       -          -          -          -             -          elsewhere
see_log            -          -          -          -             -          elsewhere
manage_key         own        own        own        own           own        elsewhere
run_cluster        -          -          -          -             -          elsewhere
";

fn named<T: DeserializeOwned>(name: &str) -> T {
    serde_json::from_value(serde_json::Value::from(name)).unwrap()
}

#[test]
fn every_cell() {
    let mut lines = TABLE.lines().filter(|line| !line.is_empty());
    let roles: Vec<Role> = lines.next().unwrap().split_whitespace().map(named).collect();
    assert_eq!(roles, Role::ALL);
    let mut operations = Vec::new();
    for line in lines {
        let mut words = line.split_whitespace();
        let operation: Operation = named(words.next().unwrap());
        operations.push(operation);
        let reaches: Vec<Option<Relation>> = words.map(|word| (word != "-").then(|| named(word))).collect();
        assert_eq!(reaches.len(), roles.len(), "{line}");
        for (role, reach) in roles.iter().zip(reaches) {
            for relation in Relation::ALL {
                let expected = reach.is_some_and(|reach| relation <= reach);
                assert_eq!(may(*role, operation, relation).is_ok(), expected, "{role} {operation:?} {relation:?}");
            }
        }
    }
    assert_eq!(operations, Operation::ALL);
}

/// All sets of roles that somebody can have.
fn all_sets() -> Vec<RoleSet> {
    let members = |bits: u32| Role::ALL.into_iter().enumerate().filter(move |(at, _)| bits & (1 << at) != 0);
    (0..1 << Role::ALL.len()).map(|bits| members(bits).map(|(_, role)| role).collect()).collect()
}

#[test]
fn nobody_gives_or_takes_what_is_above_them_whoever_has_it() {
    for own in all_sets() {
        for before in all_sets() {
            for after in all_sets() {
                let changed: Vec<Role> =
                    Role::ALL.into_iter().filter(|role| before.contains(*role) != after.contains(*role)).collect();
                let is_above = |role: &Role| own.highest().is_none_or(|highest| *role > highest);
                let outcome = may_change(own, before, after);
                assert_eq!(outcome.is_err(), changed.iter().any(is_above), "{own}: {before} to {after}");
                if let Err(Denied::AboveOwn { role, .. }) = outcome {
                    assert!(is_above(&role) && changed.contains(&role));
                }
            }
        }
    }
}
