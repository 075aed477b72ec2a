//! Agents that fall silent.

use agent::message::RunState;
use engine::state::cluster::Silence;
use engine::unit::id::NodeId;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use protocol::agents::silence::MISSED_AFTER;
use serde_json::json;

use crate::desk::Desk;
use crate::desk::exited;
use crate::desk::run;

impl Desk {
    /// Two agents that have been heard.
    fn heard() -> Self {
        let mut desk = Self::new();
        for agent in ["of-n1", "of-n2"] {
            desk.hello(agent, agent).expect("it is welcome");
            desk.sync(agent, Vec::new());
        }
        desk
    }

    /// Lets time pass while nobody is known to be heard but those that are named, and looks; how many rows that added.
    fn pass(&mut self, time: Millis, heard: &[&str]) -> u64 {
        self.now = self.now + time;
        let (now, before) = (self.now, self.cluster.mark().expect("it is read").seq);
        let heard = |agent: &str| heard.contains(&agent).then_some(now);
        self.cluster.look_for_silence(&mut self.contacts, &heard, MISSED_AFTER, now).expect("it is kept");
        self.cluster.mark().expect("it is read").seq - before
    }

    /// Nobody is heard until they are silent, but for those that are named.
    fn fall_silent(&mut self, heard: &[&str]) -> u64 {
        self.pass(Millis::MINUTE, heard) + self.pass(Millis::MINUTE, heard)
    }

    fn silence(&mut self, node: &str) -> Option<Silence> {
        let id = NodeId::new(node).expect("it is a name");
        let read =
            |state: &engine::state::world::State| state.nodes[state.node_no(&id).expect("it is there").at()].silence;
        self.cluster.with_state(read).expect("it is read")
    }

    fn stop_after(&mut self, after: Option<i64>) {
        let on_silence = after.map_or(json!("keep"), |after| json!({ "stop_after": after }));
        self.send(&json!({ "put_group": { "group": "a", "resource_type": "lingjun", "on_silence": on_silence } }));
    }
}

#[test]
fn who_is_not_heard_is_silent_and_only_changes_are_written() {
    let mut desk = Desk::heard();
    assert_eq!(desk.pass(Millis::MINUTE, &["of-n2"]), 0, "the service may have slept, and know of nobody");
    let missed = desk.now;
    assert_eq!(desk.pass(Millis(2 * MISSED_AFTER.0 - 1), &["of-n2"]), 0);
    assert_eq!(desk.pass(Millis(1), &["of-n2"]), 1);
    assert_eq!(desk.silence("n1"), Some(Silence { since: missed, stop_after: None, is_lost: false }));
    assert_eq!(desk.silence("n2"), None);
    assert_eq!(desk.pass(Millis::MINUTE, &["of-n2"]), 0, "it is silent still");
    desk.submit("both", 2);
    assert_eq!(desk.phase("both"), "queued");
    assert_eq!(desk.sync("of-n1", Vec::new()).1, 1);
    assert_eq!(desk.silence("n1"), None);
    desk.round();
    assert_eq!(desk.phase("both"), "starting");
}

#[test]
fn who_is_heard_in_between_is_missed_anew() {
    let mut desk = Desk::heard();
    desk.pass(Millis::MINUTE, &["of-n2"]);
    desk.sync("of-n1", Vec::new());
    assert_eq!(desk.pass(Millis::MINUTE, &["of-n2"]), 0);
    assert_eq!(desk.pass(Millis::MINUTE, &["of-n1", "of-n2"]), 0, "its socket stands");
    assert_eq!(desk.pass(Millis::MINUTE, &["of-n2"]), 0);
    assert_eq!(desk.pass(Millis::MINUTE, &["of-n2"]), 1);
}

#[test]
fn a_lost_agent_is_silent_within_150_seconds_however_its_last_word_lies_to_the_minutes() {
    const WITHIN_MS: i64 = 150_000;
    let mut worst = 0;
    // Up to some look it is remembered when the agent was last heard; after that the service has slept.
    for (remembered, phase_ms) in (0..4).flat_map(|looks| (0..=60_000).step_by(500).map(move |phase| (looks, phase))) {
        let mut desk = Desk::heard();
        let word = desk.now;
        for look in 0_i64.. {
            desk.now = word + Millis(phase_ms + look * Millis::MINUTE.0);
            let (now, is_remembered) = (desk.now, look < remembered);
            let heard = |agent: &str| if agent == "of-n2" { Some(now) } else { is_remembered.then_some(word) };
            desk.cluster.look_for_silence(&mut desk.contacts, &heard, MISSED_AFTER, now).expect("it is kept");
            if desk.silence("n1").is_some() {
                break;
            }
            assert!(now - word < Millis(WITHIN_MS), "{remembered} looks remember it, the first after {phase_ms} ms");
        }
        worst = worst.max((desk.now - word).0);
    }
    assert!((120_000..=WITHIN_MS).contains(&worst), "{worst}");
}

#[test]
fn who_asks_is_never_silent_though_nothing_is_remembered_and_its_socket_is_an_old_one() {
    let mut desk = Desk::heard();
    let old = desk.now;
    for _ in 0..10 {
        desk.now = desk.now + Millis::MINUTE;
        let now = desk.now;
        let rows = desk.cluster.look_for_silence(&mut desk.contacts, &|_| Some(old), MISSED_AFTER, now);
        assert!(rows.expect("it is kept").is_none());
        for agent in ["of-n1", "of-n2"] {
            desk.sync(agent, Vec::new());
        }
    }
}

#[test]
fn all_that_falls_silent_at_once_is_one_row() {
    let mut desk = Desk::heard();
    assert_eq!(desk.fall_silent(&[]), 1);
    assert!(desk.silence("n1").is_some() && desk.silence("n2").is_some());
}

#[test]
fn what_was_told_when_a_run_began_counts_as_long_as_it_lives() {
    let mut desk = Desk::heard();
    desk.submit("job", 1);
    let begun = desk.sync("of-n1", Vec::new()).0.want[0].run;
    let lives = || vec![run(begun, "job", RunState::Running)];
    desk.sync("of-n1", lives());
    desk.stop_after(Some(60_000));
    desk.sync("of-n1", lives());
    desk.sync("of-n1", lives());
    desk.fall_silent(&["of-n2"]);
    assert_eq!(desk.silence("n1").expect("it is silent").stop_after, None, "it was told to go on");

    desk.sync("of-n1", vec![exited(begun, "job", 0, false)]);
    desk.sync("of-n1", Vec::new());
    desk.fall_silent(&["of-n2"]);
    assert_eq!(desk.silence("n1").expect("it is silent").stop_after, Some(Millis(60_000)));
}

#[test]
fn the_longest_that_was_told_counts_until_the_agent_has_acted_on_less() {
    let mut desk = Desk::new();
    desk.stop_after(Some(600_000));
    desk.hello("of-n1", "of-n1").expect("it is welcome");
    desk.sync("of-n1", Vec::new());
    desk.stop_after(Some(60_000));
    desk.fall_silent(&[]);
    assert_eq!(desk.silence("n1").expect("it is silent").stop_after, Some(Millis(600_000)), "it has not heard of less");
    desk.sync("of-n1", Vec::new());
    desk.fall_silent(&[]);
    assert_eq!(
        desk.silence("n1").expect("it is silent").stop_after,
        Some(Millis(600_000)),
        "it may not have had the answer"
    );
    desk.sync("of-n1", Vec::new());
    desk.sync("of-n1", Vec::new());
    desk.fall_silent(&[]);
    assert_eq!(desk.silence("n1").expect("it is silent").stop_after, Some(Millis(60_000)));
}

#[test]
fn a_run_with_a_part_on_a_lost_node_is_over_when_the_rest_is() {
    let mut desk = Desk::new();
    desk.stop_after(Some(60_000));
    for agent in ["of-n1", "of-n2"] {
        desk.hello(agent, agent).expect("it is welcome");
        desk.sync(agent, Vec::new());
    }
    desk.submit("both", 2);
    let begun = desk.sync("of-n1", Vec::new()).0.want[0].run;
    for agent in ["of-n1", "of-n2"] {
        desk.sync(agent, vec![run(begun, "both", RunState::Running)]);
    }
    assert_eq!(desk.phase("both"), "running");
    desk.fall_silent(&["of-n2"]);
    desk.now = Timestamp(desk.now.0 + 10 * 60_000);
    desk.round();
    assert_eq!(desk.phase("both"), "stopping", "half of it is lost, and half of it lives");
    assert_eq!(desk.sync("of-n2", vec![run(begun, "both", RunState::Running)]).0.stop[0].run, begun);
    desk.sync("of-n2", vec![exited(begun, "both", 0, true)]);
    assert_eq!(desk.phase("both"), "queued");
}
