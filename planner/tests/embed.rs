//! The project's scenarios as plans: what can be moved in them, links to them, and the session that plays them.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

use std::fs;
use std::path::Path;
use std::path::PathBuf;

use planner::address;
use planner::address::AddressFault;
use planner::embed::control::Kind;
use planner::embed::message::Ask;
use planner::embed::message::News;
use planner::embed::message::Source;
use planner::embed::message::Tell;
use planner::embed::scenario::Scenario;
use planner::embed::session::Session;
use planner::words::Language;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios")
}

fn text(name: &str) -> String {
    fs::read_to_string(folder().join(format!("{name}.md"))).unwrap()
}

fn names() -> Vec<String> {
    let files = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut names: Vec<String> = files.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn open(session: &mut Session, planner: u32, source: Source, language: Language) -> (String, String) {
    match session.ask(planner, Ask::Open { source, language }) {
        Some(Tell { news: News::Opened { controls, picture }, .. }) => (controls, picture),
        told => panic!("not opened: {told:?}"),
    }
}

fn open_named(session: &mut Session, planner: u32, name: &str) -> (String, String) {
    open(session, planner, Source::Scenario(text(name)), Language::En)
}

fn refusal(source: Source) -> String {
    match Session::default().ask(1, Ask::Open { source, language: Language::En }) {
        Some(Tell { news: News::Failed { message }, .. }) => message,
        told => panic!("not refused: {told:?}"),
    }
}

fn work(session: &mut Session) -> Vec<News> {
    let mut told = Vec::new();
    while session.is_busy() {
        told.extend(session.work(20).map(|tell| tell.news));
    }
    told
}

/// What a run tells in the end: the picture and the events of the scenario's end, and the result.
fn run(session: &mut Session, planner: u32, values: &[i64]) -> (String, String, String) {
    assert_eq!(session.ask(planner, Ask::Run { values: values.to_vec() }), None);
    let (mut played, mut ran) = (None, None);
    for news in work(session) {
        match news {
            News::Played { picture, events } => played = Some((picture, events)),
            News::Ran { result } => ran = Some(result),
            News::Opened { .. }
            | News::Progress { .. }
            | News::Cancelled
            | News::Linked { .. }
            | News::Failed { .. } => {}
        }
    }
    let (picture, events) = played.unwrap();
    (picture, events, ran.unwrap())
}

#[test]
fn every_scenario_opens_and_runs() {
    assert!(names().len() > 50);
    for name in names() {
        let mut session = Session::default();
        let (controls, picture) = open_named(&mut session, 1, &name);
        assert!(picture.starts_with("<svg") && picture.contains("<rect"), "{name}: {picture}");
        let scenario = Scenario::read(&text(&name)).unwrap();
        assert_eq!(controls.matches("data-control").count(), scenario.controls.len(), "{name}");
        let values: Vec<i64> = scenario.controls.iter().map(|control| control.value).collect();
        assert_eq!(scenario.variant(&values).changes, scenario.acts, "{name}");
        run(&mut session, 1, &values);
    }
}

/// A reader sees what the engine says in the scenario: whoever starts or is evicted there is named here.
#[test]
fn a_scenario_left_as_it_is_tells_what_it_says() {
    let mut told = 0;
    for name in names() {
        let mut session = Session::default();
        open_named(&mut session, 1, &name);
        let (_, events, _) = run(&mut session, 1, &[]);
        for line in text(&name).lines().filter_map(|line| line.strip_prefix("> ")) {
            let (job, rest) = line.split_once(' ').unwrap_or((line, ""));
            let is_told =
                rest.starts_with("started on") || rest.starts_with("preempted ") || rest.starts_with("released ");
            if is_told && !events.contains("more</li>") {
                assert!(events.contains(&format!("<b>{job}</b>")), "{name}: {line} is not in {events}");
                told += 1;
            }
        }
    }
    assert!(told > 50, "only {told} lines");
}

#[test]
fn what_is_wrong_as_it_is_written_is_refused() {
    for (name, job) in [("spot-discount-steps", "job e cannot bid"), ("spot-price-range", "job c cannot bid")] {
        let mut session = Session::default();
        open_named(&mut session, 1, name);
        let (_, events, _) = run(&mut session, 1, &[]);
        assert!(events.contains(job), "{name}: {events}");
    }
}

/// The blocks of a picture, each with its class and its title.
fn blocks(picture: &str) -> Vec<(&str, &str)> {
    let parts = picture.split("<g class=\"").skip(1).filter_map(|part| part.split_once("</title>"));
    parts.filter_map(|(head, _)| head.split_once("\"><title>")).collect()
}

#[test]
fn a_bar_shows_what_quotas_below_hold() {
    let scenario = "quota Top 16\nquota A 8 in Top\nquota B 8 in Top\nrun a A DLC p5 8\nrun b B DLC p5 4 idle";
    let (_, picture) = open(&mut Session::default(), 1, Source::Scenario(scenario.to_owned()), Language::En);
    let expected = [("below", "quotas below: 12 GPUs"), ("in-quota", "a: 8 GPUs"), ("idle", "b: 4 GPUs")];
    assert_eq!(blocks(&picture), expected);
}

#[test]
fn jobs_that_are_too_many_are_one_block_for_each_charge() {
    let run = |at: i64| format!("run j{at:02} A DLC p5 1{}\n", if at % 10 == 0 { " idle" } else { "" });
    let scenario = format!("quota Top 60\nquota A 45 in Top\n{}", (0..50).map(run).collect::<String>());
    let (_, picture) = open(&mut Session::default(), 1, Source::Scenario(scenario), Language::En);
    let of_a = &blocks(&picture)[1..];
    let more: Vec<_> = of_a.iter().filter(|(_, title)| title.contains("more jobs")).collect();
    assert_eq!(of_a.len(), 42);
    assert_eq!(more, [&("in-quota", "9 more jobs: 9 GPUs"), &("idle", "1 more jobs: 1 GPU")]);
}

#[test]
fn as_many_instances_as_anybody_asks_for_set_no_scale() {
    let scenario = "quota Q 8\nrun a Q DLC p5 8\noffer gn7 lingjun 8 x1000000 original 1";
    let (_, picture) = open(&mut Session::default(), 1, Source::Scenario(scenario.to_owned()), Language::En);
    assert!(picture.contains(r#"<title>a: 8 GPUs</title><rect x="150" y="4" width="481""#), "{picture}");
}

#[test]
fn a_control_for_each_line_that_acts() {
    let kinds = |name: &str| -> Vec<(Kind, i64, i64, i64, i64)> {
        let controls = Scenario::read(&text(name)).unwrap().controls;
        controls
            .iter()
            .map(|control| (control.kind, control.least, control.most, control.step, control.value))
            .collect()
    };
    assert_eq!(kinds("child-level"), [(Kind::Size, 0, 128_000, 16_000, 16_000)]);
    assert_eq!(
        kinds("scale-siblings"),
        [(Kind::Size, 0, 128_000, 8_000, 8_000), (Kind::Move, 0, 128_000, 8_000, 56_000)]
    );
    assert_eq!(
        kinds("spot-released-lingjun"),
        [(Kind::Discount, 0, 90, 10, 40), (Kind::Price, 1_000_000, 10_000_000, 200_000, 4_200_000)]
    );
    assert_eq!(kinds("spot-inventory")[1], (Kind::Inventory, 0, 8, 1, 3));
    assert_eq!(kinds("never-fits")[1].0, Kind::Switch);
}

#[test]
fn a_job_of_another_size_has_other_victims() {
    let mut session = Session::default();
    let (controls, picture) = open_named(&mut session, 1, "child-level");
    assert!(controls.contains(r#"data-per="1000" min="0" max="128000" step="16000" value="16000""#), "{controls}");
    assert!(picture.contains("dev-c1") && !picture.contains("infer-a"), "{picture}");
    let (picture, events, result) = run(&mut session, 1, &[16_000]);
    assert!(picture.contains("infer-a") && picture.contains("waits: dev-c1"), "{picture}");
    assert!(events.contains("<b>dev-c1</b> is evicted: child-level preemption; 16 GPU-hours lost"), "{events}");
    assert!(events.contains("<b>infer-a</b> starts on 16 GPUs"), "{events}");
    // As it is written it is compared with the scene, and not with itself.
    assert!(result.starts_with(r#"<p class="verdict">In 12 h: 0 better off, 1 worse off (jobs)"#), "{result}");
    assert!(result.contains("0 → 1 evictions"), "{result}");
    let (_, events, result) = run(&mut session, 1, &[64_000]);
    assert!(events.contains("<b>train-b</b> is evicted"), "{events}");
    assert!(result.contains("2 worse off") && result.contains("0 → 2 evictions"), "{result}");
    // At 0 it is not submitted, and at a size that cannot be it waits.
    assert_eq!(run(&mut session, 1, &[0]).1, "<p>Nothing happens.</p>");
    let (picture, events, _) = run(&mut session, 1, &[128_000]);
    assert!(picture.contains("waits: infer-a") && events.contains("Nothing happens"), "{events}");
}

#[test]
fn gpus_go_from_one_team_to_the_other() {
    let mut session = Session::default();
    open_named(&mut session, 1, "scale-siblings");
    let (picture, events, _) = run(&mut session, 1, &[8_000, 56_000]);
    assert!(picture.contains("56 GPUs") && picture.contains("72 GPUs"), "{picture}");
    assert!(events.contains("after 1 min: <b>more-b</b> starts on 8 GPUs"), "{events}");
    let (picture, events, _) = run(&mut session, 1, &[8_000, 48_000]);
    assert!(picture.contains("80 GPUs") && picture.contains("waits: more-b"), "{picture}");
    let waits = "<li><b>more-b</b> waits: it asks for 8 GPUs; Quota1.1 has 0 GPUs free</li>";
    assert_eq!(events, format!("<p>Nothing happens.</p><ul class=\"waits\">{waits}</ul>"));
}

#[test]
fn a_price_that_stays_releases_nobody() {
    let mut session = Session::default();
    open_named(&mut session, 1, "spot-released-lingjun");
    let (_, events, _) = run(&mut session, 1, &[40, 4_200_000]);
    assert!(events.contains("<b>train</b> is evicted: its bid is below the average price"), "{events}");
    let (picture, events, _) = run(&mut session, 1, &[50, 4_200_000]);
    assert!(picture.contains("train: 8 GPUs") && !events.contains("evicted"), "{events}");
}

#[test]
fn people_read_it_in_chinese() {
    let mut session = Session::default();
    let (controls, _) = open(&mut session, 1, Source::Scenario(text("child-level")), Language::Zh);
    assert!(controls.contains("infer-a 申请 <b>16 个 GPU</b>"), "{controls}");
    let (_, events, result) = run(&mut session, 1, &[]);
    assert!(events.contains("<b>dev-c1</b> 被抢占：子级抢占；损失 16 GPU 小时"), "{events}");
    assert!(result.contains("变更前后"), "{result}");
}

#[test]
fn the_last_move_counts() {
    let mut session = Session::default();
    open_named(&mut session, 1, "child-level");
    session.ask(1, Ask::Run { values: vec![16_000] });
    session.work(1);
    session.ask(1, Ask::Run { values: vec![0] });
    let told = work(&mut session);
    assert_eq!(told.iter().filter(|news| matches!(news, News::Ran { .. })).count(), 1);
    assert!(told.iter().any(|news| matches!(news, News::Played { events, .. } if events.contains("Nothing happens"))));
}

#[test]
fn a_run_can_be_given_up() {
    let mut session = Session::default();
    open_named(&mut session, 1, "child-level");
    session.ask(1, Ask::Run { values: Vec::new() });
    assert!(session.is_busy());
    assert_eq!(session.ask(1, Ask::Cancel), Some(Tell { planner: 1, news: News::Cancelled }));
    assert!(!session.is_busy());
    assert_eq!(session.ask(1, Ask::Cancel), None);
}

#[test]
fn planners_of_a_page_take_turns() {
    let mut session = Session::default();
    for (planner, name) in [(3, "idle-only"), (7, "scale-siblings"), (9, "child-level")] {
        open_named(&mut session, planner, name);
        session.ask(planner, Ask::Run { values: Vec::new() });
    }
    let done = |session: &Session| -> Vec<u32> { session.progress().iter().map(|tell| tell.planner).collect() };
    assert_eq!(done(&session), [3, 7, 9]);
    session.work(1);
    assert_eq!(done(&session), [7, 9, 3], "the next one's turn");
    let mut told = Vec::new();
    while session.is_busy() {
        told.extend(session.work(1).map(|tell| matches!(tell.news, News::Ran { .. })));
    }
    assert_eq!(told, [false, false, false, true, true, true], "all have played before one of them is compared");
    assert_eq!(session.progress(), []);
    session.ask(7, Ask::Close);
    let told = session.ask(7, Ask::Run { values: Vec::new() });
    assert!(matches!(told, Some(Tell { planner: 7, news: News::Failed { .. } })), "{told:?}");
}

#[test]
fn a_link_shows_what_was_shared() {
    let mut session = Session::default();
    open_named(&mut session, 1, "child-level");
    let Some(Tell { news: News::Linked { link }, .. }) = session.ask(1, Ask::Link { values: vec![32_000] }) else {
        panic!("no link")
    };
    assert!(link.len() < 600, "{}", link.len());
    let (controls, picture) = open(&mut session, 2, Source::Address(link), Language::En);
    assert!(controls.contains(r#"value="32000""#), "{controls}");
    assert_eq!(picture, open_named(&mut session, 3, "child-level").1);
    assert_eq!(run(&mut session, 2, &[32_000]), run(&mut session, 3, &[32_000]));
}

#[test]
fn a_link_that_cannot_be_opened_says_why() {
    let link = address::write(&["quota Q 8".to_owned()], &[1, -2]);
    assert_eq!(address::read(&link).unwrap().values, [1, -2]);
    for length in 2..link.len() {
        assert_eq!(address::read(&link[..length]), Err(AddressFault::CutOff), "{length} of {}", link.len());
    }
    assert_eq!(
        refusal(Source::Address(link[..link.len() / 2].to_owned())),
        "the end of the link is missing; copy it again, all of it"
    );
    let newer = refusal(Source::Address(link.replacen('1', "2", 1)));
    assert!(newer.starts_with("the link was made by a newer planner (version 2)"), "{newer}");
    for foreign in ["", "https://example.org/a.html", "0.a.b"] {
        assert_eq!(address::read(foreign), Err(AddressFault::Foreign), "{foreign}");
    }
    for at in 2..link.len() {
        let other = if &link[at..=at] == "A" { "B" } else { "A" };
        let changed = format!("{}{other}{}", &link[..at], &link[at + 1..]);
        assert!(address::read(&changed).is_err(), "{at}");
    }
}

#[test]
fn a_scenario_that_cannot_be_read_says_where() {
    let broken = |from: &str, to: &str| refusal(Source::Scenario(text("child-level").replace(from, to)));
    assert_eq!(
        broken("submit infer-a   Quota1    EAS p5", "submit infer-a   Quota1    EAS p12"),
        "line 13, column 32: priority 12 is not between 1 and 9"
    );
    assert!(broken("round", "rouund").starts_with("line 14, column 1: \"rouund\" is not known"));
    assert!(refusal(Source::Scenario("Just prose.".to_owned())).starts_with("line 1, column 1: \"Just\""));
    assert!(refusal(Source::Scenario(String::new())).starts_with("there is no scenario here"));
    assert!(refusal(Source::Scenario("round\n".repeat(2_000))).starts_with("the scenario has 2000 lines"));
}

#[test]
fn a_scene_that_does_not_add_up_says_so_and_the_rest_is_there() {
    let mut session = Session::default();
    open_named(&mut session, 1, "quota-does-not-add-up");
    let (picture, events, _) = run(&mut session, 1, &[]);
    assert!(events.contains(r#"<li class="refused">"#), "{events}");
    assert!(picture.contains("Quota1"), "{picture}");
    let nowhere = text("child-level").replace("run    train-b   Quota1.1", "run    train-b   Quota9");
    open(&mut session, 2, Source::Scenario(nowhere), Language::En);
    let (picture, events, _) = run(&mut session, 2, &[]);
    assert!(events.starts_with(r#"<ul><li class="refused">there is no quota Quota9</li>"#), "{events}");
    assert!(picture.contains("infer-a"), "{picture}");
}

#[test]
fn names_of_others_are_no_markup() {
    let evil = "quota <img/src=x> 8\nsubmit <b>&\" <img/src=x> DLC p5 8 for 1h\nround\ncancel <b>&\"\n";
    let mut session = Session::default();
    let (controls, picture) = open(&mut session, 1, Source::Scenario(evil.to_owned()), Language::En);
    let (after, events, result) = run(&mut session, 1, &[]);
    let html = [controls, picture, after, events, result].concat();
    assert!(html.contains("&lt;img") && !html.contains("<img") && !html.contains("<b>&\""), "{html}");
}
