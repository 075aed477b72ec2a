//! What people drag, type and choose in a change becomes a command, and what cannot says why.

#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

use engine::host::authority;
use engine::host::plan::base::Base;
use engine::message::command::Command;
use engine::message::envelope::Envelope;
use engine::state::world::State;
use engine::unit::time::Timestamp;
use fields::change;
use fields::change::ChangeKind;
use fields::facts::Facts;
use fields::field::Input;
use fields::field::Shown;
use fields::field::Value;
use fields::list::List;
use fields::list::Suggestions;
use fields::number::Number;

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

/// A fresh change of a kind, with another text in a field.
fn chosen(kind: ChangeKind, key: &str, text: &str) -> Result<serde_json::Value, String> {
    let facts = facts();
    let command = kind.begin(&facts, &[]).unwrap();
    change::with(&command, &facts, key, &Value::Text(text.to_owned())).map(|command| json(&command))
}

/// The number of a field.
fn number(command: &Command, facts: &Facts, key: &str) -> Number {
    let shown = change::shown(command, facts).into_iter().find(|shown| shown.key == key).unwrap();
    match shown.input {
        Input::Number(number) => number,
        Input::Text(list) => panic!("{list:?}"),
    }
}

#[test]
fn every_field_writes_what_it_reads_and_nothing_else() {
    let facts = facts();
    for command in every_command(&facts) {
        for Shown { key, label, about, input, value } in change::shown(&command, &facts) {
            assert!(!label.is_empty() && about.ends_with('.'), "{command:?} {key}: {label:?}, {about:?}");
            assert_eq!(change::with(&command, &facts, &key, &value), Ok(command.clone()), "{command:?} {key}");
            for other in others(&input, &value, &facts) {
                let Ok(written) = change::with(&command, &facts, &key, &other) else { continue };
                let again = change::shown(&written, &facts).into_iter().find(|shown| shown.key == key).unwrap();
                assert_eq!(again.value, other, "{command:?} {key}");
                let back = change::with(&written, &facts, &key, &value).unwrap();
                let shown = change::shown(&back, &facts).into_iter().find(|shown| shown.key == key).unwrap();
                assert_eq!(shown.value, value, "{command:?} {key}");
            }
        }
    }
}

/// One of each kind, a bid with a limit, and a service that is resized.
fn every_command(facts: &Facts) -> Vec<Command> {
    let mut commands: Vec<Command> = ChangeKind::ALL.iter().map(|kind| kind.begin(facts, &[]).unwrap()).collect();
    let bid = ChangeKind::Bid.begin(facts, &[]).unwrap();
    commands.push(change::with(&bid, facts, "offer", &Value::Text("general".to_owned())).unwrap());
    commands.push(serde_json::from_str(r#"{"resize_job":{"job":"waiting","pods":3}}"#).unwrap());
    commands
}

/// Other values that a field may hold.
fn others(input: &Input, value: &Value, facts: &Facts) -> Vec<Value> {
    match input {
        Input::Number(number) => [number.least, number.most].map(Value::Number).into(),
        Input::Text(List::Typed) => vec![Value::Text("other".to_owned())],
        Input::Text(list) => {
            let options = list.options(facts).into_iter().map(|(option, _)| Value::Text(option));
            options.filter(|option| option != value).collect()
        }
    }
}

#[test]
fn a_field_that_is_not_there_or_of_another_kind_is_refused() {
    let facts = facts();
    let bid = ChangeKind::Bid.begin(&facts, &[]).unwrap();
    let with = |key: &str, value: Value| change::with(&bid, &facts, key, &value);
    assert_eq!(with("price", Value::Number(900_000)), Err("there is no field price".to_owned()));
    assert_eq!(with("limit", Value::Number(900_000)), Err("there is no field limit".to_owned()));
    assert_eq!(with("pods", Value::Text("two".to_owned())), Err("“two” is not a number".to_owned()));
    assert_eq!(with("offer", Value::Number(3)), Err("Offer is a text, not the number 3".to_owned()));
    let round: Command = serde_json::from_str(r#"{"round":{}}"#).unwrap();
    assert!(change::shown(&round, &facts).is_empty());
    assert_eq!(
        change::with(&round, &facts, "job", &Value::Number(3)),
        Err("this command is taken as it is".to_owned())
    );
}

#[test]
fn a_number_stays_in_its_range_and_reads_what_it_writes() {
    let facts = facts();
    let fresh = ChangeKind::Amounts.begin(&facts, &[]).unwrap();
    let line =
        |value: i64| change::line(&change::with(&fresh, &facts, "min.gpu", &Value::Number(value)).unwrap(), &facts);
    assert_eq!(line(500_000), "Quota1.1 48 → 128 GPUs, Quota1.2 80 → 0 GPUs");
    assert_eq!(line(-5_000), "Quota1.1 48 → 0 GPUs, Quota1.2 80 → 128 GPUs");
    assert_eq!(line(48_000), "Quota1.1 keeps its amounts");
    let gpus = number(&fresh, &facts, "min.gpu");
    let read = ["56.125", "56.1255", "56,5", "-3", "", "+5", ".5", "5."].map(|text| gpus.parse(text));
    assert_eq!(read, [Some(56_125), None, None, None, None, None, None, Some(5_000)]);
    assert_eq!((gpus.text(56_500), gpus.text(56_000)), ("56.5".to_owned(), "56".to_owned()));
    let pods = number(&ChangeKind::Job.begin(&facts, &[]).unwrap(), &facts, "pods");
    assert_eq!((pods.parse("3"), pods.parse("2.5")), (Some(3), None), "there are no half pods");
    let price = number(&ChangeKind::Price.begin(&facts, &[]).unwrap(), &facts, "price");
    assert_eq!((price.text(300_001).as_str(), price.parse("0.300001")), ("0.300001", Some(300_001)));
}

#[test]
fn another_quota_comes_with_a_sibling_and_only_a_sibling_gives() {
    let targets = |chosen: Result<serde_json::Value, String>| {
        let command = chosen.unwrap();
        let targets = command["scale_quotas"]["targets"].as_array().unwrap().clone();
        targets.iter().map(|target| target["quota"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let amounts = |key: &str, text: &str| chosen(ChangeKind::Amounts, key, text);
    assert_eq!(targets(amounts("quota", "Quota1.2")), ["Quota1.2", "Quota1.1"]);
    assert_eq!(targets(amounts("quota", "Quota1")), ["Quota1"]);
    assert_eq!(targets(amounts("with", "")), ["Quota1.1"]);
    assert_eq!(amounts("with", "Quota1"), Err("Quota1 has not the same parent as Quota1.1".to_owned()));
    for (kind, key) in [
        (ChangeKind::Amounts, "quota"),
        (ChangeKind::Amounts, "with"),
        (ChangeKind::Settings, "quota"),
        (ChangeKind::Job, "quota"),
    ] {
        assert_eq!(chosen(kind, key, "nobody"), Err("there is no quota “nobody”".to_owned()), "{kind:?}");
    }
    assert_eq!(amounts("mode", "evict").unwrap()["scale_quotas"]["mode"], "evict");
    assert_eq!(amounts("mode", "drain"), Ok(json(&ChangeKind::Amounts.begin(&facts(), &[]).unwrap())));
}

#[test]
fn another_offer_comes_with_what_it_has() {
    let publish = &chosen(ChangeKind::Price, "offer", "general").unwrap()["publish_price"];
    assert_eq!((&publish["offer"], &publish["price"]), (&"general".into(), &700_000.into()));
    assert_eq!(chosen(ChangeKind::Inventory, "offer", "general").unwrap()["set_inventory"]["inventory"], 3);
    // One bids a discount on Lingjun and a price elsewhere.
    let bid = |offer: &str| chosen(ChangeKind::Bid, "offer", offer).unwrap()["submit_job"]["spot"].clone();
    let limits = |bid: &serde_json::Value| (bid["discount_percent"].as_i64(), bid["price_limit"].as_i64());
    assert_eq!((limits(&bid("lingjun")), limits(&bid("general"))), ((Some(30), None), (None, Some(700_000))));
    for kind in [ChangeKind::Price, ChangeKind::Inventory] {
        assert_eq!(chosen(kind, "offer", "nobody"), Err("there is no offer “nobody”".to_owned()));
    }
}

#[test]
fn another_node_stays_cordoned() {
    let node = &chosen(ChangeKind::Node, "node", "n1").unwrap()["put_node"];
    assert_eq!((&node["node"], &node["status"]), (&"n1".into(), &"cordoned".into()));
    assert_ne!(chosen(ChangeKind::Node, "status", "ready").unwrap()["put_node"]["status"], "cordoned");
    assert_eq!(chosen(ChangeKind::Node, "node", "n7"), Err("there is no node “n7”".to_owned()));
}

#[test]
fn a_job_has_the_policy_and_the_tolerance_that_are_chosen() {
    let job = |key: &str, text: &str| chosen(ChangeKind::Job, key, text).unwrap()["submit_job"].clone();
    assert_eq!(
        (job("idle", "only")["idle"].as_str(), job("idle", "acceptable")["idle"].as_str()),
        (Some("only"), Some("acceptable"))
    );
    assert!(job("again", "yes")["fault_tolerance"].is_object() && !job("again", "no")["fault_tolerance"].is_object());
    assert_eq!(
        (job("module", "DSW")["module"].as_str(), job("quota", "Quota1.1")["quota"].as_str()),
        (Some("DSW"), Some("Quota1.1"))
    );
}

#[test]
fn every_setting_of_a_quota_can_be_changed_and_is_told() {
    let facts = facts();
    let mut command = ChangeKind::Settings.begin(&facts, &[]).unwrap();
    assert_eq!(change::line(&command, &facts), "Quota1 keeps its settings");
    let text = |text: &str| Value::Text(text.to_owned());
    for (key, value) in [
        ("strategy", text("strict-fifo")),
        ("lends", text("no")),
        ("grace", Value::Number(60_000)),
        ("min_runtime", Value::Number(600_000)),
        ("starvation", Value::Number(3_600_000)),
    ] {
        command = change::with(&command, &facts, key, &value).unwrap();
    }
    let settings = &json(&command)["update_quota"]["settings"];
    assert_eq!((&settings["strategy"], &settings["lends"]), (&"strict-fifo".into(), &false.into()));
    let periods = ["grace_period_ms", "min_runtime_ms", "starvation_after_ms"].map(|name| settings[name].as_i64());
    assert_eq!(periods, [Some(60_000), Some(600_000), Some(3_600_000)]);
    assert_eq!(
        change::line(&command, &facts),
        "Quota1: grace period 30 s → 60 s, minimum run time 0 min → 10 min, reserves after 6 h → 1 h, \
         queue strategy Intelligent → Strict FIFO, what it leaves idle may be borrowed → is never lent"
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
