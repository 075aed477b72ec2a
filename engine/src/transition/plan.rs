//! Applying a plan: commands one after the other, as a single step.

use std::borrow::Cow;

use crate::message::command::ApplyPlan;
use crate::message::command::Command;
use crate::message::event::Event;
use crate::message::rejection::Rejection;
use crate::state::world::State;
use crate::transition::apply_all;
use crate::transition::names;
use crate::transition::single;
use crate::unit::limit;
use crate::unit::time::Timestamp;

/// What all the commands come to, each decided over what those before it have changed. No round runs in between, so
/// that nobody is evicted by half of a plan.
pub(super) fn apply_plan(state: &State, command: &ApplyPlan, now: Timestamp) -> Result<Vec<Event>, Rejection> {
    let ApplyPlan { commands } = command;
    let is_report =
        |command: &Command| matches!(command, Command::Report(_) | Command::NodeSilent(_) | Command::NodeHeard(_));
    let (what, limit) = if commands.iter().all(is_report) {
        ("reports", limit::REPORTS_MAX)
    } else {
        ("changes of a plan", limit::PLAN_COMMANDS_MAX)
    };
    names::within_limit(what, commands.len(), limit)?;
    let mut ahead = Cow::Borrowed(state);
    let mut events = Vec::new();
    for (at, command) in commands.iter().enumerate() {
        let in_plan = |rejection| Rejection::InPlan { at: number(at), rejection: Box::new(rejection) };
        let decided = allowed(command).and_then(|()| single::decide(&ahead, command, now)).map_err(in_plan)?;
        if at + 1 < commands.len() {
            apply_all(ahead.to_mut(), &decided);
        }
        events.extend(decided);
    }
    Ok(events)
}

fn allowed(command: &Command) -> Result<(), Rejection> {
    let what = if let Command::CreateCluster(_) = command {
        "the declaration of a cluster"
    } else if let Command::Round(_) = command {
        "a round"
    } else {
        return Ok(());
    };
    Err(Rejection::Structure { reason: format!("a plan does not contain {what}; leave it out") })
}

fn number(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use crate::host::authority;
    use crate::message;
    use crate::state::world::State;
    use crate::unit::limit;
    use crate::unit::time::Timestamp;

    #[test]
    fn what_agents_say_of_many_nodes_comes_together() {
        let mut state = State::default();
        let mut send = |text: &str| {
            let command = message::read(text.as_bytes()).unwrap();
            authority::step(&mut state, &command, Timestamp(0)).map(|events| events.len())
        };
        send(r#"{"create_cluster":{"dimensions":[{"name":"gpu","kind":"gpu"}],"execution":"reported"}}"#).unwrap();
        send(r#"{"put_group":{"group":"all","resource_type":"lingjun"}}"#).unwrap();
        let count = limit::PLAN_COMMANDS_MAX + 1;
        for node in 0..count {
            send(&format!(r#"{{"put_node":{{"node":"n{node}","group":"all","amount":{{"gpu":1000}}}}}}"#)).unwrap();
        }
        let silent: Vec<String> =
            (0..count).map(|no| format!(r#"{{"node_silent":{{"node":"n{no}","since":0}}}}"#)).collect();
        let plan = |commands: &[String]| format!(r#"{{"apply_plan":{{"commands":[{}]}}}}"#, commands.join(","));
        assert_eq!(send(&plan(&silent)), Ok(count));
        let mut heard: Vec<String> = (0..count).map(|no| format!(r#"{{"node_heard":{{"node":"n{no}"}}}}"#)).collect();
        heard.push(r#"{"report":{"job":"gone","run":"0-1","observed":"confirmed"}}"#.to_owned());
        assert_eq!(send(&plan(&heard)), Ok(count), "an agent that was silent has reports as well");
    }
}
