//! What people drag, type and choose in a change becomes a command, and what cannot says why.

#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

use engine::host::authority;
use engine::host::plan::base::Base;
use engine::message::command::Command;
use engine::message::command::ScaleMode;
use engine::message::envelope::Envelope;
use engine::state::world::State;
use engine::unit::time::Timestamp;
use workbench::chooser;
use workbench::chooser::List;
use workbench::chooser::Suggestions;
use workbench::edit;
use workbench::edit::Kind;
use workbench::facts::Facts;
use workbench::lever;

fn send(state: &mut State, command: &str) {
    authority::step(state, &serde_json::from_str(command).unwrap(), Timestamp(120_000)).unwrap();
}

/// The three-team example with a job that waits, two offers and two nodes.
fn facts() -> Facts {
    let mut state = State::default();
    for line in include_str!("../../public/examples/three-teams.jsonl").lines() {
        let envelope: Envelope = serde_json::from_str(line).unwrap();
        authority::handle(&mut state, &envelope, Timestamp(60_000)).unwrap();
    }
    for command in [
        r#"{"submit_job":{"job":"waiting","quota":"Quota1.1","pods":[{"amount":{"gpu":16000}}]}}"#,
        r#"{"put_group":{"group":"machines","resource_type":"lingjun"}}"#,
        r#"{"put_node":{"node":"n0","group":"machines","amount":{"gpu":8000}}}"#,
        r#"{"put_node":{"node":"n1","group":"machines","amount":{"gpu":8000}}}"#,
        r#"{"create_offer":{"offer":"lingjun","resource_type":"lingjun","instance":{"gpu":8000},"inventory":2,"price":300000,"terms":{"original_price":1000000}}}"#,
        r#"{"create_offer":{"offer":"general","resource_type":"general","instance":{"gpu":8000},"inventory":3,"price":700000,"terms":{"original_price":1000000}}}"#,
    ] {
        send(&mut state, command);
    }
    Facts::of(&Base::new(state, Timestamp(600_000), Vec::new()).unwrap(), "demo".to_owned(), None, Vec::new())
}

fn json(command: &Command) -> serde_json::Value {
    serde_json::to_value(command).unwrap()
}

/// A fresh change of a kind, with something else chosen.
fn chosen(kind: Kind, chooser: usize, value: &str) -> Result<serde_json::Value, String> {
    let facts = facts();
    chooser::chosen(&kind.command(&facts, 0).unwrap(), &facts, chooser, value).map(|command| json(&command))
}

#[test]
fn a_lever_stays_between_its_ends_and_reads_three_digits() {
    let facts = facts();
    let fresh = Kind::Amounts.command(&facts, 0).unwrap();
    let line = |value: i64| edit::line(&lever::pulled(&fresh, &facts, 0, value), &facts);
    assert_eq!(line(500_000), "Quota1.1 48 → 128 GPUs, Quota1.2 80 → 0 GPUs");
    assert_eq!(line(-5_000), "Quota1.1 48 → 0 GPUs, Quota1.2 80 → 128 GPUs");
    assert_eq!(line(48_000), "Quota1.1 keeps its amounts");
    let lever = &lever::levers(&fresh, &facts)[0];
    let read = ["56.125", "56.1255", "56,5", "-3", ""].map(|text| lever.parse(text));
    assert_eq!(read, [Some(56_125), None, None, None, None]);
}

#[test]
fn another_quota_comes_with_a_sibling_and_only_a_sibling_gives() {
    let targets = |chosen: Result<serde_json::Value, String>| {
        let command = chosen.unwrap();
        let targets = command["scale_quotas"]["targets"].as_array().unwrap().clone();
        targets.iter().map(|target| target["quota"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(targets(chosen(Kind::Amounts, 0, "Quota1.2")), ["Quota1.2", "Quota1.1"]);
    assert_eq!(targets(chosen(Kind::Amounts, 0, "Quota1")), ["Quota1"]);
    assert_eq!(targets(chosen(Kind::Amounts, 1, "")), ["Quota1.1"]);
    assert_eq!(chosen(Kind::Amounts, 1, "Quota1"), Err("Quota1 has not the same parent as Quota1.1".to_owned()));
    for (kind, chooser) in [(Kind::Amounts, 0), (Kind::Amounts, 1), (Kind::Policies, 0), (Kind::Job, 1)] {
        assert_eq!(chosen(kind, chooser, "nobody"), Err("there is no quota “nobody”".to_owned()), "{kind:?}");
    }
    assert_eq!(chosen(Kind::Amounts, 2, "evict").unwrap()["scale_quotas"]["mode"], "evict");
    assert_eq!(
        chosen(Kind::Amounts, 2, "drain").unwrap()["scale_quotas"],
        json(&Kind::Amounts.command(&facts(), 0).unwrap())["scale_quotas"]
    );
}

#[test]
fn another_offer_comes_with_what_it_has() {
    let publish = &chosen(Kind::Price, 0, "general").unwrap()["publish_price"];
    assert_eq!((&publish["offer"], &publish["price"]), (&"general".into(), &700_000.into()));
    assert_eq!(chosen(Kind::Inventory, 0, "general").unwrap()["set_inventory"]["inventory"], 3);
    // One bids a discount on Lingjun and a price elsewhere.
    let bid = |offer: &str| chosen(Kind::Bid, 1, offer).unwrap()["submit_job"]["spot"].clone();
    let limits = |bid: &serde_json::Value| (bid["discount_percent"].as_i64(), bid["price_limit"].as_i64());
    assert_eq!((limits(&bid("lingjun")), limits(&bid("general"))), ((Some(30), None), (None, Some(700_000))));
    for kind in [Kind::Price, Kind::Inventory] {
        assert_eq!(chosen(kind, 0, "nobody"), Err("there is no offer “nobody”".to_owned()));
    }
}

#[test]
fn another_node_stays_cordoned() {
    let node = &chosen(Kind::Node, 0, "n1").unwrap()["put_node"];
    assert_eq!((&node["node"], &node["status"]), (&"n1".into(), &"cordoned".into()));
    assert_ne!(chosen(Kind::Node, 1, "ready").unwrap()["put_node"]["status"], "cordoned");
    assert_eq!(chosen(Kind::Node, 0, "n7"), Err("there is no node of this name".to_owned()));
}

#[test]
fn a_job_has_the_policy_and_the_tolerance_that_are_chosen() {
    let job = |chooser: usize, value: &str| chosen(Kind::Job, chooser, value).unwrap()["submit_job"].clone();
    assert_eq!(
        (job(3, "only")["idle"].as_str(), job(3, "acceptable")["idle"].as_str()),
        (Some("only"), Some("acceptable"))
    );
    assert!(job(4, "yes")["fault_tolerance"].is_object() && !job(4, "no")["fault_tolerance"].is_object());
    assert_eq!(
        (job(2, "DSW")["module"].as_str(), job(1, "Quota1.1")["quota"].as_str()),
        (Some("DSW"), Some("Quota1.1"))
    );
}

#[test]
fn who_waits_comes_first_and_long_lists_are_typed() {
    let mut facts = facts();
    assert_eq!((facts.jobs[0].job.as_str(), facts.jobs[1].waits), ("waiting", false));
    let is_typed = |facts: &Facts| [List::Quotas, List::Offers, List::Jobs].map(|list| list.is_typed(facts));
    assert_eq!(is_typed(&facts), [false, false, true]);
    assert_eq!(Suggestions::Quotas.names(&facts), Vec::<String>::new(), "nobody types them");
    assert_eq!(List::Quotas.options(&facts).len(), 3);
    let quota = facts.quotas[1].clone();
    facts.quotas.resize(201, quota);
    assert_eq!(is_typed(&facts), [true, false, true]);
    assert_eq!(Suggestions::Quotas.names(&facts).len(), 201);
}

#[test]
fn what_is_not_covered_drains_or_is_evicted() {
    let facts = facts();
    let quota = &facts.quotas[1].quota;
    let scale = chooser::scaling(&facts, quota, None, ScaleMode::Evict);
    assert_eq!((scale.targets.len(), scale.mode), (1, ScaleMode::Evict));
}
