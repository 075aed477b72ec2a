//! The policy checker on files: what it prints can be played, and its exit status tells faults from warnings.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

use std::fs;
use std::path::Path;
use std::path::PathBuf;

use engine::check;
use engine::check::finding::Finding;
use engine::message::event::Event;
use engine::message::snapshot::Snapshot;
use engine::state::world::State;
use script::line;
use script::line::Line;
use script::lines::Document;
use script::session::Session;
use script::stage::Stage;
use tidegate::check::run;
use tidegate::check::scenario;

fn file(name: &str, text: &[u8]) -> PathBuf {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&file, text).unwrap();
    file
}

fn checked(file: &Path, has_preemption: bool) -> (bool, String) {
    let mut out = Vec::new();
    let has_faults = run(file, has_preemption, &mut out).unwrap();
    (has_faults, String::from_utf8(out).unwrap())
}

fn complaint(file: &Path) -> String {
    run(file, false, &mut Vec::new()).unwrap_err()
}

/// Plays lines as scenarios are played: the state at their end, and what has happened since the scene was set.
fn played(lines: &[String]) -> (State, Vec<Event>) {
    let mut stage = Stage::new().unwrap();
    let mut log = Vec::new();
    // The checker holds no scheduled rounds; that one was held is all that they say beside what they decide.
    let keep = |session: &mut Session, log: &mut Vec<Event>, from: usize| {
        let new = session.log[from..].iter().filter(|event| !matches!(event, Event::Rounded { .. }));
        log.extend(new.cloned());
    };
    for text in lines {
        let Some(line) = line::read(text).unwrap() else { continue };
        let from = stage.session.log.len();
        match line {
            Line::Scene(scene) => {
                stage.set(&scene).unwrap();
                continue;
            }
            Line::Act(command) => stage.session.act(&command).unwrap(),
            Line::Advance(period) => {
                let to = stage.session.now + period;
                stage.session.advance(to).unwrap();
                stage.session.round().unwrap();
            }
            Line::Cordon(..)
            | Line::Price { .. }
            | Line::Round
            | Line::Pass(_)
            | Line::Skip(_)
            | Line::Ask(..)
            | Line::Overdue => {
                panic!("no example has such a line")
            }
        }
        keep(&mut stage.session, &mut log, from);
    }
    (stage.session.state, log)
}

#[test]
fn examples_are_scenarios() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios");
    let mut n_examples = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let file = entry.unwrap().path();
        let blocks = Document::read(&fs::read_to_string(&file).unwrap()).blocks;
        for block in blocks {
            let is_scene = |text: &&String| matches!(line::read(text), Ok(None | Some(Line::Scene(_))));
            let mut stage = Stage::new().unwrap();
            for text in block.lines.iter().take_while(is_scene) {
                if let Some(Line::Scene(scene)) = line::read(text).unwrap() {
                    let _ = stage.set(&scene);
                }
            }
            for Finding { flaw, example, fix: _ } in check::check(&stage.session.state) {
                // What the language has no words for is said to have none.
                let Ok(lines) = scenario(&example) else { continue };
                n_examples += 1;
                let ours = check::play(&example).unwrap();
                let (_, theirs) = played(&lines);
                assert_eq!(theirs, ours.log, "{}: {flaw:?} {lines:#?}", file.display());
            }
        }
    }
    assert!(n_examples > 10, "only {n_examples} examples");
}

const QUOTAS: &[u8] = b"group,parent,gpus\nroot,,16\na,root,8\nb,root,8\n";

#[test]
fn faults_and_warnings_are_counted() {
    let table = file("check_quotas.csv", QUOTAS);
    let (has_faults, text) = checked(&table, false);
    assert!(
        !has_faults && text.contains("0 faults, 1 warning\n\n1. Warning: Nothing is left for jobs of root itself"),
        "{text}"
    );
    let (has_faults, text) = checked(&table, true);
    assert!(has_faults && text.contains("1. Fault: a and b can evict each other's jobs in turns.\n"), "{text}");
    assert!(text.contains("\n     update b self-level 6-9 over 1-4 DLC,DSW,EAS scope own\n"), "{text}");
}

#[test]
fn a_scenario_counts_by_its_scene() {
    let text = "# Title\n\n```scenario\nquota Q 8 self-level 6-9 over 4 DLC scope own\nsubmit a Q DLC p1 8\n> x\n```\n";
    let (has_faults, said) = checked(&file("check_scene.md", text.as_bytes()), false);
    assert!(!has_faults && said.contains("Q may take priority exactly 4 and spares priority 1 to 3"), "{said}");
}

#[test]
fn a_snapshot_says_the_same_as_its_table() {
    let lines = ["quota root 16", "quota a 8 in root", "quota b 8 in root"].map(str::to_owned);
    let snapshot = Snapshot::of(&played(&lines).0).to_bytes();
    let (_, text) = checked(&file("check_snapshot.json", &snapshot), false);
    let (_, of_table) = checked(&file("check_same.csv", QUOTAS), false);
    let told = |text: &str| text.split_once(": ").map(|(_, rest)| rest.to_owned()).unwrap();
    // The table's quotas have no grace period, as those of a scenario.
    assert_eq!(told(&text), told(&of_table));
}

#[test]
fn what_cannot_be_read_is_named() {
    assert!(complaint(&file("check_empty.md", b"# Title\n")).ends_with("has no block that begins with ```scenario"));
    assert!(
        complaint(&file("check_bad.md", b"```scenario\nquota Q\n```\n"))
            .contains("check_bad.md, line 2, column 9: here should be")
    );
    assert!(complaint(&file("check_bad.json", b"{}")).contains("is not a snapshot"));
    assert!(complaint(&file("check.txt", b"")).ends_with("cannot be checked; give a .md, .csv or .json file"));
    assert!(complaint(Path::new("nowhere.csv")).contains("cannot be read"));
}
