//! What a cluster declares of itself (rules 1.1 and 7.4).

use crate::job::phase::Phase;
use crate::message::command::CreateCluster;
use crate::message::command::UpdateCluster;
use crate::message::event::Event;
use crate::message::rejection::Noun;
use crate::message::rejection::Rejection;
use crate::state::cluster::Cluster;
use crate::state::cluster::NodeStep;
use crate::state::jobs::Job;
use crate::state::world::State;
use crate::transition::halt;
use crate::transition::names;
use crate::unit::amount::DIMENSIONS_MAX;
use crate::unit::id::NodeNo;
use crate::unit::limit;
use crate::unit::time::Timestamp;

pub(super) fn create(state: &State, command: &CreateCluster) -> Result<Vec<Event>, Rejection> {
    let CreateCluster { dimensions, execution } = command;
    if !state.cluster.dimensions.is_empty() {
        let is_same = state.cluster.dimensions == *dimensions && state.cluster.execution == *execution;
        return if is_same {
            Ok(Vec::new())
        } else {
            Err(Rejection::Taken { noun: Noun::Cluster, name: String::new() })
        };
    }
    let count = dimensions.len();
    if count == 0 || count > DIMENSIONS_MAX {
        let value = i64::try_from(count).unwrap_or(i64::MAX);
        return Err(Rejection::OutOfRange { what: "the number of dimensions".to_owned(), value, min: 1, max: 8 });
    }
    let is_repeated = |at: usize| dimensions[..at].iter().any(|earlier| earlier.name == dimensions[at].name);
    if let Some(at) = (0..count).find(|&at| dimensions[at].name.is_empty() || is_repeated(at)) {
        return Err(Rejection::Taken { noun: Noun::Dimension, name: dimensions[at].name.clone() });
    }
    Ok(vec![Event::ClusterCreated { dimensions: dimensions.clone(), execution: *execution }])
}

/// How jobs are executed changes while nothing runs: what runs would be free by a timer, or wait for a report for ever.
pub(super) fn update(state: &State, command: UpdateCluster, now: Timestamp) -> Result<Vec<Event>, Rejection> {
    let UpdateCluster { execution, start_within_ms, is_restored } = command;
    let before = &state.cluster;
    let seconds = u64::try_from(now.0 / 1000).unwrap_or(0);
    let later = before.epoch.saturating_add(1).max(seconds);
    let cluster = Cluster {
        execution: execution.unwrap_or(before.execution),
        start_within: start_within_ms.unwrap_or(before.start_within),
        epoch: if is_restored { later } else { before.epoch },
        ..before.clone()
    };
    let wait = cluster.start_within.0;
    names::in_range(
        "the wait for a start in milliseconds",
        wait,
        limit::START_WITHIN_MS_MIN,
        limit::START_WITHIN_MS_MAX,
    )?;
    if cluster == *before {
        return Ok(Vec::new());
    }
    let mut events = Vec::new();
    if cluster.execution != before.execution {
        check_idle(state)?;
        if cluster.is_reported() {
            check_places(state)?;
        } else {
            // Nobody says any more that they are heard.
            let silent = state.nodes.iter().enumerate().filter(|(_, node)| node.silence.is_some());
            let heard = |(no, _)| Event::Node { no: NodeNo::from_index(no), at: now, step: NodeStep::Heard };
            events.extend(silent.map(heard).chain(halt::passed_over_no_more(state, now)));
        }
    }
    events.push(Event::ClusterUpdated { cluster: Box::new(cluster) });
    Ok(events)
}

fn check_idle(state: &State) -> Result<(), Rejection> {
    let count = |is_meant: fn(&Phase) -> bool| state.jobs.iter().filter(|(_, job)| is_meant(&job.phase)).count();
    let (running, stopping) =
        (count(|phase| matches!(phase, Phase::Running { .. })), count(|phase| matches!(phase, Phase::Stopping(_))));
    let starting = count(|phase| matches!(phase, Phase::Starting { .. }));
    if running + stopping + starting == 0 {
        return Ok(());
    }
    let reason = format!(
        "whether jobs are simulated changes while nothing runs: now {running} run, {starting} start and {stopping} stop; wait for them or cancel them"
    );
    Err(Rejection::Structure { reason })
}

/// What has no nodes cannot really run.
fn check_places(state: &State) -> Result<(), Rejection> {
    if let Some(pool) = state.groups.iter().find(|group| group.pool.is_some()) {
        let reason = format!("group {} is a pool, which has no nodes on which jobs could really run", pool.id);
        return Err(Rejection::Structure { reason });
    }
    let bids = |job: &Job| job.bids() && !job.is_ended();
    if let Some((_, bid)) = state.jobs.iter().find(|(_, job)| bids(job)) {
        let reason =
            format!("job {} bids on the spot market, which has no nodes on which it could really run", bid.spec.id);
        return Err(Rejection::Structure { reason });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::host::authority;
    use crate::message;
    use crate::state::world::State;
    use crate::unit::time::Timestamp;

    /// What becomes of the last of some commands, in words.
    fn last(commands: &[&str]) -> (State, String) {
        let (mut state, mut told) = (State::default(), String::new());
        for text in commands {
            let command = message::read(text.as_bytes()).unwrap();
            let answer = authority::step(&mut state, &command, Timestamp(7_000));
            told = answer.map_or_else(|rejection| rejection.to_string(), |events| format!("{} events", events.len()));
        }
        (state, told)
    }

    const CLUSTER: &str = r#"{"create_cluster":{"dimensions":[{"name":"gpu","kind":"gpu"}]}}"#;
    const REPORTED: &str = r#"{"update_cluster":{"execution":"reported"}}"#;

    #[test]
    fn what_has_no_nodes_does_not_really_run() {
        let pool = r#"{"put_group":{"group":"all","resource_type":"lingjun","pool":{"gpu":8000}}}"#;
        let (_, told) = last(&[CLUSTER, pool, REPORTED]);
        assert_eq!(told, "group all is a pool, which has no nodes on which jobs could really run");
        let offer = r#"{"create_offer":{"offer":"o","resource_type":"lingjun","instance":{"gpu":8000},"inventory":0,
            "price":200000,"terms":{"original_price":1000000,"protection_ms":0,"grace_period_ms":0}}}"#;
        let bid = r#"{"submit_job":{"job":"j","pods":[{"amount":{}}],"fault_tolerance":{},"spot":{"offer":"o",
            "discount_percent":40,"network":{"vpc":"vpc-1","vswitch":"vsw-1","security_group":"sg-1"}}}}"#;
        let (_, told) = last(&[CLUSTER, offer, bid, REPORTED]);
        assert_eq!(told, "job j bids on the spot market, which has no nodes on which it could really run");
        let (state, _) = last(&[CLUSTER, REPORTED]);
        assert!(state.cluster.is_reported());
    }

    #[test]
    fn a_restore_begins_an_epoch_that_is_later_than_every_other() {
        let restored = r#"{"update_cluster":{"is_restored":true}}"#;
        assert_eq!(last(&[CLUSTER, REPORTED]).0.order_no().epoch, 0);
        assert_eq!(last(&[CLUSTER, REPORTED, restored]).0.order_no().epoch, 7);
        assert_eq!(last(&[CLUSTER, REPORTED, restored, restored]).0.order_no().epoch, 8);
    }

    #[test]
    fn a_start_is_waited_for_a_while_and_not_for_ever() {
        let wait = |ms: &str| last(&[CLUSTER, &format!(r#"{{"update_cluster":{{"start_within_ms":{ms}}}}}"#)]).1;
        assert_eq!(wait("60000"), "1 events");
        assert_eq!(wait("600000"), "0 events", "it is so already");
        assert!(wait("9999").starts_with("the wait for a start in milliseconds"), "{}", wait("9999"));
        assert!(wait("86400001").starts_with("the wait for a start in milliseconds"), "{}", wait("86400001"));
    }
}
