//! The plans that come with the project, links to them, and the desk that runs them.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

use std::fs;
use std::path::Path;
use std::path::PathBuf;

use planner::desk::Desk;
use planner::document::Document;
use planner::link;
use planner::link::LinkFault;
use planner::message::Ask;
use planner::message::Source;
use planner::message::Tell;
use planner::picture;
use planner::words::Language;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../public/embed/plans")
}

fn text(name: &str) -> String {
    fs::read_to_string(folder().join(format!("{name}.json"))).unwrap()
}

fn document(name: &str) -> Document {
    Document::read(&text(name)).unwrap_or_else(|problem| panic!("{name}: {problem}"))
}

fn names() -> Vec<String> {
    let files = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let plans = files.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    let mut names: Vec<String> = plans.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// The picture that is there before any engine is the engine's own. `UPDATE_EXPECT=1` draws it anew.
#[test]
fn every_plan_opens_and_has_its_picture() {
    assert!(names().len() >= 3);
    for name in names() {
        let base = document(&name).base().unwrap_or_else(|problem| panic!("{name}: {problem}"));
        let drawn = picture::svg(&base.state, Language::En) + "\n";
        let path = folder().join(format!("{name}.svg"));
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(&path, &drawn).unwrap();
        }
        assert_eq!(fs::read_to_string(&path).unwrap_or_default(), drawn, "{name}: run with UPDATE_EXPECT=1");
    }
}

#[test]
fn a_link_holds_the_whole_plan() {
    for name in names() {
        let document = document(&name);
        let link = link::write(&document);
        assert!(link.len() < 2000, "{name}: {}", link.len());
        assert_eq!(link::read(&link), Ok(document), "{name}");
    }
}

#[test]
fn a_link_that_was_cut_off_says_so() {
    let link = link::write(&document("idle"));
    for length in 2..link.len() {
        assert_eq!(link::read(&link[..length]), Err(LinkFault::CutOff), "{length} of {}", link.len());
    }
    let told = link::read(&link[..link.len() / 2]).unwrap_err().to_string();
    assert_eq!(told, "the end of the link is missing; copy it again, all of it");
}

#[test]
fn a_link_of_another_kind_says_so() {
    let link = link::write(&document("idle"));
    assert_eq!(link::read(""), Err(LinkFault::Foreign));
    assert_eq!(link::read("https://example.org/a.html"), Err(LinkFault::Foreign));
    assert_eq!(link::read(&link.replacen('1', "0", 1)), Err(LinkFault::Foreign));
    let future = link::read(&link.replacen('1', "2", 1)).unwrap_err();
    assert!(future.to_string().contains("newer planner (version 2)"), "{future}");
    let at = link.len() / 2;
    let other = if &link[at..=at] == "A" { "B" } else { "A" };
    let changed = format!("{}{other}{}", &link[..at], &link[at + 1..]);
    assert!(link::read(&changed).is_err());
    assert_eq!(link::read(&format!("{}!{}", &link[..at], &link[at + 1..])), Err(LinkFault::Damaged));
}

#[test]
fn a_document_from_the_future_says_so() {
    let newer = text("idle").replacen("\"format\": 1", "\"format\": 2, \"colours\": []", 1);
    let told = Document::read(&newer).unwrap_err();
    assert!(told.starts_with("the plan has format 2"), "{told}");
    let endless = text("idle").replacen("\"for_ms\": ", "\"for_ms\": 99999", 1);
    assert!(Document::read(&endless).unwrap_err().contains("366 days"));
}

#[test]
fn a_base_that_does_not_add_up_says_which_command() {
    let broken = text("idle").replacen("\"gpu\": 16000", "\"gpu\": 15000", 1);
    let told = Document::read(&broken).unwrap().base().unwrap_err();
    assert_eq!(told, "command 3 of the plan is refused: Root would need 16 GPUs, resource group pool has 15 left");
}

fn open(desk: &mut Desk, planner: u32, name: &str, language: Language) -> Tell {
    let source = Source::Document(text(name));
    desk.ask(Ask::Open { planner, source, language }).pop().unwrap()
}

fn work(desk: &mut Desk) -> Vec<Tell> {
    let mut told = Vec::new();
    while desk.is_busy() {
        told.extend(desk.work(20));
    }
    told
}

#[test]
fn moving_gpus_tells_at_once_and_in_the_end() {
    let mut desk = Desk::default();
    let Tell::Opened { controls, picture, .. } = open(&mut desk, 1, "move-gpus", Language::En) else {
        panic!("closed")
    };
    assert!(controls.contains(r#"data-control="0" min="32000" max="72000" step="8000" value="48000""#), "{controls}");
    assert!(picture.contains("waits: more-b"), "{picture}");
    let began = desk.ask(Ask::Run { planner: 1, values: vec![56_000] });
    let [Tell::Began { picture, events, .. }] = &began[..] else { panic!("{began:?}") };
    assert_eq!(events, r#"<ul><li class="starts"><b>more-b</b> starts on 8 GPUs</li></ul>"#);
    assert!(!picture.contains("waits: more-b"), "{picture}");
    let told = work(&mut desk);
    let progress: Vec<i64> = told
        .iter()
        .filter_map(|tell| if let Tell::Progress { done, .. } = tell { Some(*done) } else { None })
        .collect();
    assert!(progress.len() > 3 && progress.is_sorted(), "{progress:?}");
    let Some(Tell::Ran { result, difference, .. }) = told.last() else { panic!("{told:?}") };
    assert!(result.contains("In 12 h: 1 better off, 2 worse off (jobs)"), "{result}");
    assert_eq!((difference.winners, difference.losers), (1, 2));
    // The other way round the job of team B waits for ever, and the base need not be run again.
    desk.ask(Ask::Run { planner: 1, values: vec![40_000] });
    assert!(matches!(work(&mut desk).last(), Some(Tell::Ran { .. })));
}

#[test]
fn the_last_move_counts() {
    let mut desk = Desk::default();
    open(&mut desk, 1, "move-gpus", Language::Zh);
    desk.ask(Ask::Run { planner: 1, values: vec![72_000] });
    desk.work(20);
    desk.ask(Ask::Run { planner: 1, values: vec![48_000] });
    let told = work(&mut desk);
    let ran: Vec<&Tell> = told.iter().filter(|tell| matches!(tell, Tell::Ran { .. })).collect();
    let [Tell::Ran { result, difference, .. }] = &ran[..] else { panic!("{ran:?}") };
    assert_eq!(difference.changed, 0);
    assert!(result.contains("0 个作业受益"), "{result}");
}

#[test]
fn a_run_can_be_given_up() {
    let mut desk = Desk::default();
    open(&mut desk, 1, "idle", Language::En);
    desk.ask(Ask::Run { planner: 1, values: vec![4_000, 0] });
    assert!(desk.is_busy());
    assert_eq!(desk.ask(Ask::Cancel { planner: 1 }), [Tell::Cancelled { planner: 1 }]);
    assert!(!desk.is_busy());
    assert_eq!(desk.ask(Ask::Cancel { planner: 1 }), []);
}

#[test]
fn planners_of_a_page_take_turns() {
    let mut desk = Desk::default();
    for (planner, name) in [(3, "idle"), (7, "move-gpus"), (9, "child-level")] {
        open(&mut desk, planner, name, Language::En);
        desk.ask(Ask::Run { planner, values: vec![40_000, 0] });
    }
    let turns: Vec<u32> = (0..4)
        .flat_map(|_| desk.work(1))
        .filter_map(|tell| if let Tell::Progress { planner, .. } = tell { Some(planner) } else { None })
        .collect();
    assert_eq!(turns, [3, 7, 9, 3]);
    let ran = work(&mut desk).into_iter().filter(|tell| matches!(tell, Tell::Ran { .. })).count();
    assert_eq!(ran, 3);
    desk.ask(Ask::Close { planner: 7 });
    let told = desk.ask(Ask::Run { planner: 7, values: Vec::new() });
    assert!(matches!(&told[..], [Tell::Failed { planner: 7, .. }]), "{told:?}");
}

#[test]
fn a_shared_link_shows_what_was_shared() {
    let mut desk = Desk::default();
    open(&mut desk, 1, "child-level", Language::En);
    let told = desk.ask(Ask::Link { planner: 1, values: vec![32_000, 0] });
    let [Tell::Linked { link, .. }] = &told[..] else { panic!("{told:?}") };
    let source = Source::Link(link.clone());
    let opened = desk.ask(Ask::Open { planner: 2, source, language: Language::En });
    let [Tell::Opened { controls, .. }] = &opened[..] else { panic!("{opened:?}") };
    assert!(controls.contains(r#"value="32000""#), "{controls}");
    let outcome = |desk: &mut Desk, planner: u32| {
        desk.ask(Ask::Run { planner, values: vec![32_000, 0] });
        let Some(Tell::Ran { outcome, result, .. }) = work(desk).pop() else { panic!("not over") };
        (outcome, result)
    };
    let first = outcome(&mut desk, 1);
    assert_eq!(outcome(&mut desk, 2), first);
    assert!(first.0.all.evictions > 0);
}

#[test]
fn names_of_others_are_no_markup() {
    let evil = text("idle").replace("borrower", "<img src=x onerror=alert(1)>");
    let mut desk = Desk::default();
    let source = Source::Document(evil);
    let mut told = desk.ask(Ask::Open { planner: 1, source, language: Language::En });
    told.extend(desk.ask(Ask::Run { planner: 1, values: vec![8_000, 0] }));
    told.extend(work(&mut desk));
    let html: String = told
        .iter()
        .map(|tell| match tell {
            Tell::Opened { picture, controls, .. } => format!("{picture}{controls}"),
            Tell::Began { picture, events, .. } => format!("{picture}{events}"),
            Tell::Ran { result, .. } => result.clone(),
            Tell::Progress { .. }
            | Tell::Searched { .. }
            | Tell::Cancelled { .. }
            | Tell::Linked { .. }
            | Tell::Failed { .. } => String::new(),
        })
        .collect();
    assert!(html.contains("&lt;img") && !html.contains("<img"), "{html}");
}
