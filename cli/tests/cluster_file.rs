//! A cluster as a file: what is written down says the same when it is read, and makes the same cluster elsewhere.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

use engine::host::authority;
use engine::message::command::Command;
use engine::message::command::ScaleMode;
use engine::state::world::State;
use engine::unit::time::Timestamp;
use serde_json::Value;
use serde_json::json;
use tidegate::shell::document::Document;

const STATES: u64 = 300;

/// Numbers that look drawn, and are the same each time.
struct Drawn(u64);

impl Drawn {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn of<T: Clone>(&mut self, all: &[T]) -> T {
        all[usize::try_from(self.below(all.len() as u64)).unwrap()].clone()
    }

    fn maybe(&mut self, value: Value) -> Value {
        if self.below(2) == 0 { Value::Null } else { value }
    }
}

/// What is refused changes nothing; of what is drawn, much is.
fn send(state: &mut State, command: Value) -> bool {
    let command: Command = serde_json::from_value(command).unwrap();
    authority::step(state, &command, Timestamp(0)).is_ok()
}

fn founded() -> State {
    let dimensions = ["gpu", "cpu", "memory", "disk"].map(|name| json!({ "name": name, "kind": kind(name) }));
    let mut state = State::default();
    assert!(send(&mut state, json!({ "create_cluster": { "dimensions": dimensions } })));
    state
}

fn kind(name: &str) -> &str {
    if name == "disk" { "other" } else { name }
}

fn amount(drawn: &mut Drawn, most: u64) -> Value {
    let gpus = drawn.below(most) * 1_000;
    match drawn.below(4) {
        0 => json!({ "gpu": gpus }),
        1 => json!({ "gpu": gpus, "memory": drawn.below(5) * 512 + drawn.below(2) }),
        2 => json!({ "gpu": gpus, "cpu": drawn.below(8_000), "memory": drawn.below(9) * 1024, "disk": drawn.below(3) }),
        _ => json!({ "cpu": drawn.below(8) * 250 }),
    }
}

fn settings(drawn: &mut Drawn) -> Value {
    let high_low = [(json!([7, 8, 9]), json!([1, 4])), (json!([9]), json!([]))];
    let (high, low) = drawn.of(&high_low);
    let scope = if low == json!([]) { "siblings-idle" } else { drawn.of(&["same-level", "own"]) };
    let self_level = json!({ "high": high, "low": low, "modules": ["DLC", "EAS"], "scope": scope });
    let child_level = json!({ "preemptible": [1, 2], "modules": ["DSW"] });
    json!({
        "strategy": drawn.of(&["intelligent", "strict-fifo", "round-robin", "balance"]),
        "lends": drawn.below(2) == 0,
        "self_level": drawn.maybe(self_level),
        "child_level": drawn.maybe(child_level),
        "grace_period_ms": drawn.of(&[0, 30_000, 90_000, 1_234]),
        "min_runtime_ms": drawn.of(&[0, 3_600_000, 5_400_000]),
        "starvation_after_ms": drawn.of(&[21_600_000, 86_400_000, 61_001]),
    })
}

fn grow(state: &mut State, drawn: &mut Drawn) {
    for nth in 0..4 {
        let pool = amount(drawn, 64);
        let after = 90_000 + drawn.below(3);
        let on_silence = drawn.of(&[json!("keep"), json!({ "stop_after": after })]);
        let resource_type = drawn.of(&["lingjun", "general"]);
        let group = json!({ "group": format!("g-{nth}"), "resource_type": resource_type, "on_silence": on_silence, "pool": drawn.maybe(pool) });
        send(state, json!({ "put_group": group }));
        for node in 0..drawn.below(3) {
            let status = drawn.of(&["ready", "cordoned", "dead"]);
            let node_type = drawn.maybe(json!("ml.gu7xf \"8x\" \u{7f}"));
            let node = json!({ "node": format!("n.{nth}.{node}"), "group": format!("g-{nth}"), "node_type": node_type, "amount": amount(drawn, 9), "status": status });
            send(state, json!({ "put_node": node }));
        }
    }
    for nth in 0..8 {
        let parent = json!(format!("q{}", drawn.below(nth.max(1))));
        let parent = drawn.maybe(parent);
        let groups = if parent.is_null() { json!([format!("g-{}", drawn.below(4))]) } else { json!([]) };
        let quota = json!({ "quota": format!("q{nth}"), "parent": parent, "groups": groups, "min": amount(drawn, 6), "settings": settings(drawn) });
        send(state, json!({ "create_quota": quota }));
    }
    for nth in 0..3 {
        let workspace = format!("w{nth}");
        let space = json!({ "workspace": workspace, "name": drawn.maybe(json!("研究 = \"x\"\nzwei")), "description": drawn.maybe(json!("")) });
        send(state, json!({ "put_workspace": space }));
        for quota in 0..drawn.below(4) {
            send(state, json!({ "attach_quota": { "workspace": workspace, "quota": format!("q{quota}") } }));
        }
        for user in 0..drawn.below(3) {
            let roles = drawn.of(&[json!(["developer"]), json!(["guest", "operator"])]);
            send(
                state,
                json!({ "put_member": { "workspace": workspace, "user": format!("u{user}.x"), "roles": roles } }),
            );
        }
    }
    for nth in 0..2 {
        let terms = json!({ "original_price": 1_000_000 + drawn.below(9), "protection_ms": drawn.of(&[0, 3_600_000]), "price_source": drawn.of(&["published", "auction"]) });
        let offer = json!({ "offer": format!("o{nth}"), "resource_type": drawn.of(&["lingjun", "general"]), "instance": amount(drawn, 9), "inventory": drawn.below(4), "price": 150_000 + drawn.below(5), "terms": terms });
        send(state, json!({ "create_offer": offer }));
    }
}

/// The clusters that are drawn, and how many of each thing they have together.
fn states() -> impl Iterator<Item = (u64, State)> {
    (0..STATES).map(|seed| {
        let (mut state, mut drawn) = (founded(), Drawn(seed));
        grow(&mut state, &mut drawn);
        (seed, state)
    })
}

#[test]
fn what_is_written_down_reads_back_as_the_same_and_changes_nothing() {
    let mut n_of = [0; 5];
    for (seed, state) in states() {
        let document = Document::of(&state);
        let text = document.written(&state.cluster).unwrap();
        let read = Document::read(&text, &state.cluster).unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}\n{text}"));
        assert_eq!(read, document, "seed {seed}:\n{text}");
        assert_eq!(read.commands(&state, ScaleMode::Drain).unwrap(), [], "seed {seed}:\n{text}");
        let Document { groups, nodes, quotas, workspaces, offers, .. } = document;
        let counts = [groups.len(), nodes.len(), quotas.len(), workspaces.len(), offers.len()];
        n_of.iter_mut().zip(counts).for_each(|(n, count)| *n += count);
    }
    assert!(n_of.iter().all(|n| *n as u64 > STATES), "hardly anything was drawn: {n_of:?}");
}

#[test]
fn a_file_makes_the_same_cluster_elsewhere() {
    for (seed, state) in states() {
        let document = Document::of(&state);
        let text = document.written(&state.cluster).unwrap();
        // By what the file declares, and by nothing else.
        let mut other = State::default();
        let read = Document::read(&text, &other.cluster).unwrap();
        authority::step(&mut other, &read.cluster.as_ref().unwrap().founding(), Timestamp(0)).unwrap();
        for command in read.commands(&other, ScaleMode::Drain).unwrap() {
            let made = authority::step(&mut other, &command, Timestamp(0));
            made.unwrap_or_else(|refused| panic!("seed {seed}: {command:?}: {refused}\n{text}"));
        }
        assert_eq!(Document::of(&other), document, "seed {seed}:\n{text}");
    }
}

/// As somebody writes it by hand.
const LAB: &str = r#"
[[groups]]
group = "machines"
resource_type = "lingjun"
pool = { gpu = 16, cpu = 128, memory = 1024 }
on_silence = { stop_after = "30m" }

[[quotas]]
quota = "all"
groups = ["machines"]
min = { gpu = 16 }

[[quotas]]
quota = "team"
parent = "all"
min = { gpu = 0.5, memory = "1536 MiB" }

[quotas.settings]
grace_period = "2m"
self_level = { high = [7, 8, 9], low = [1, 2], modules = ["DLC"] }

[[workspaces]]
workspace = "lab"
quotas = ["team"]
members.ann = ["owner"]

[[offers]]
offer = "gn8"
resource_type = "lingjun"
instance = { gpu = 8 }
inventory = 4
price = 0.3
terms = { original_price = 1, protection = "1h" }
"#;

#[test]
fn amounts_periods_and_prices_stand_as_they_are_said() {
    let read = Document::read(LAB, &founded().cluster).unwrap();
    let told = serde_json::to_value(&read).unwrap();
    assert_eq!(told["groups"][0]["pool"], json!({ "gpu": 16_000, "cpu": 128_000, "memory": 1_048_576 }));
    assert_eq!(told["groups"][0]["on_silence"], json!({ "stop_after": 1_800_000 }));
    assert_eq!(told["quotas"][1]["min"], json!({ "gpu": 500, "memory": 1_536 }));
    assert_eq!(told["quotas"][1]["settings"]["grace_period_ms"], 120_000);
    assert_eq!([&told["offers"][0]["price"], &told["offers"][0]["terms"]["original_price"]], [300_000, 1_000_000]);
}

#[test]
fn mistakes_are_told_with_line_and_column_and_what_was_meant() {
    let cluster = founded().cluster;
    let wrong = |from: &str, to: &str| Document::read(&LAB.replacen(from, to, 1), &cluster).unwrap_err();
    for (from, to, told) in [
        ("[[quotas]]", "[[qoutas]]", "line 8, column 3: there is no field “qoutas”; did you mean “quotas”?"),
        (
            "grace_period",
            "grace_perod",
            "line 19, column 1: there is no field “grace_perod”; did you mean “grace_period”?",
        ),
        ("\"2m\"", "120", "line 19, column 16: write a period with its unit, such as \"120s\" or \"2h 30m\""),
        ("\"2m\"", "\"soon\"", "line 19, column 16: “soon” is no period; write for example 90m, 2h 30m or 1d"),
        ("{ gpu = 16, cpu", "{ gpus = 16, cpu", "line 5, column 10: there is no dimension “gpus”; did you mean “gpu”?"),
        ("gpu = 0.5", "gpu = \"half\"", "line 16, column 15: “half” is not an amount; write a number such as 8 or 0.5"),
        ("gpu = 0.5", "gpu = -1", "line 16, column 15: “-1” is not an amount; write a number such as 8 or 0.5"),
        ("\"lingjun\"", "\"lingjum\"", "line 4, column 17: there is no value “lingjum”; did you mean “lingjun”?"),
        (
            "[\"owner\"]",
            "[\"boss\"]",
            "line 25, column 16: there is no value “boss”; write one of guest, developer, operator, administrator, owner, cluster_administrator",
        ),
        ("[7, 8, 9]", "[7, 8, 10]", "line 20, column 30: priority 10 is not between 1 and 9"),
        ("inventory = 4", "inventory = \"four\"", "line 31, column 13: “four” is not a whole number"),
        ("quota = \"all\"", "quota = \"\"", "line 9, column 9: "),
        ("parent = \"all\"\n", "", ""),
        ("min = { gpu = 16 }\n", "", "line 8, column 1: “min” is missing here"),
        ("members.ann = [\"owner\"]", "members.ann = \"owner\"", "line 25, column 15: "),
        ("pool = { gpu", "pool = gpu", "line 5, column "),
        ("quota = \"team\"", "quota = \"all\"", "quota all stands in it twice; write it once"),
    ] {
        if told.is_empty() {
            assert!(Document::read(&LAB.replacen(from, to, 1), &cluster).is_ok(), "that is for the cluster to judge");
            continue;
        }
        let said = wrong(from, to);
        assert!(said.starts_with(told), "{to}: {said}");
    }
}

#[test]
fn a_file_declares_what_its_cluster_counts_and_says_so_where_it_does_not() {
    let nobody = State::default().cluster;
    let declared = "[cluster]\ndimensions = [{ name = \"gpu\", kind = \"gpu\" }, { name = \"memory\", kind = \"memory\" }]\n\
                    execution = \"reported\"\nstart_within = \"20m\"\n\n[[groups]]\ngroup = \"g\"\nresource_type = \"lingjun\"\n\
                    \n[[nodes]]\nnode = \"n\"\ngroup = \"g\"\namount = { gpu = 8, memory = 64 }\n";
    let read = Document::read(declared, &nobody).unwrap();
    let mut state = State::default();
    authority::step(&mut state, &read.cluster.as_ref().unwrap().founding(), Timestamp(0)).unwrap();
    let told = serde_json::to_value(read.commands(&state, ScaleMode::Drain).unwrap()).unwrap();
    assert_eq!(
        told[0],
        json!({ "update_cluster": { "start_within_ms": 1_200_000 } }),
        "the founding command has no wait"
    );
    assert_eq!(told[2]["put_node"]["amount"], json!({ "gpu": 8_000, "memory": 65_536 }));
    let same = "[cluster]\nexecution = \"reported\"\n";
    assert_eq!(Document::read(same, &state.cluster).unwrap().commands(&state, ScaleMode::Drain).unwrap(), []);
    for (text, cluster, told) in [
        (
            LAB,
            &nobody,
            "line 5, column 10: nothing says what the cluster counts; to create a cluster, write [cluster] with",
        ),
        ("", &nobody, "there is no such cluster yet, and the file does not declare one; to create a cluster, write"),
        ("[clutser]\n", &nobody, "line 1, column 2: there is no field “clutser”; did you mean “cluster”?"),
        (same, &nobody, "line 1, column 2: “dimensions” is missing here; to create a cluster, write [cluster] with"),
        (
            "[cluster]\nexecuton = 1",
            &nobody,
            "line 2, column 1: there is no field “executon”; did you mean “execution”?",
        ),
        (
            "[cluster]\nexecution = \"reportd\"",
            &nobody,
            "line 2, column 13: there is no value “reportd”; did you mean “reported”?",
        ),
        (
            "[cluster]\ndimensions = [{ name = \"gpu\", kind = \"gpus\" }]",
            &nobody,
            "line 2, column 38: there is no value “gpus”; did you mean “gpu”?",
        ),
        (
            declared,
            &founded().cluster,
            "line 2, column 1: the cluster counts gpu, cpu, memory, disk, and that cannot change",
        ),
        ("{}", &nobody, "there is no such cluster yet, and the file does not declare one"),
        ("{\"cluster\":{\"execution\":\"reported\"}}", &nobody, "“dimensions” is missing here"),
    ] {
        let said = Document::read(text, cluster).unwrap_err();
        assert!(said.starts_with(told), "{text}: {said}");
    }
}

/// What the console's guided set-up shows as files makes the same as its buttons.
#[test]
fn the_files_of_the_guided_set_up_make_what_its_steps_make() {
    use console_model::set_up;
    use console_model::set_up::Machines;
    use console_model::set_up::Made;
    use console_model::set_up::Person;
    use console_model::set_up::Policies;
    use console_model::set_up::Quotas;

    let machines = Machines::default();
    let mut state = State::default();
    let first = Document::read(&machines.made(None, true).unwrap().file, &state.cluster).unwrap();
    assert_eq!(first.cluster.unwrap().founding(), set_up::declaration(true), "the first file declares the cluster too");
    authority::step(&mut state, &set_up::declaration(false), Timestamp(0)).unwrap();
    let apply = |state: &mut State, made: Made| {
        let document = Document::read(&made.file, &state.cluster).unwrap();
        let mut of_file = document.commands(state, ScaleMode::Drain).unwrap();
        assert_eq!(of_file, made.commands, "{}", made.file);
        assert!(!of_file.is_empty());
        of_file.drain(..).for_each(|command| drop(authority::step(state, &command, Timestamp(0)).unwrap()));
    };
    let too_early = Policies { lends: true, grace: "30s".into(), urgent_first: false };
    assert_eq!(too_early.made(&state).unwrap_err(), "There are no quotas yet: make them first");
    let made = machines.made(Some(&state), true).unwrap();
    apply(&mut state, made);
    assert_eq!(machines.made(Some(&state), true).unwrap().commands, [], "what is there stays");
    let quotas = Quotas { root: "all".into(), teams: "a \"b\" 40\n\nlanguage 24".into() };
    let made = quotas.made(&state).unwrap();
    apply(&mut state, made);
    let policies = Policies { lends: false, grace: "2m".into(), urgent_first: true };
    let made = policies.made(&state).unwrap();
    apply(&mut state, made);
    for (user, role) in [("ann", "owner"), ("bob@example.org", "developer")] {
        let person = Person { user: user.into(), team: "language".into(), role: role.into() };
        let made = person.made(&state).unwrap();
        apply(&mut state, made);
    }
    assert_eq!(set_up::done(&state), [true; 4]);
    let too_much = Quotas { root: "all".into(), teams: "a 60\nb 8".into() };
    assert_eq!(too_much.made(&state).unwrap_err(), "The teams have 68 GPUs, and all machines 64: give less");
    let unread = Quotas { root: "all".into(), teams: "a 60\n\nb".into() };
    assert!(unread.made(&state).unwrap_err().starts_with("Line 3 of the teams, “b”: write a name and its GPUs"));
}
