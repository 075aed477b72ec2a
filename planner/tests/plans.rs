//! Plans on the session: opened, changed, compared, shared and applied.

#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

use engine::host::authority;
use engine::host::plan::base::Base;
use engine::message::command::Command;
use engine::message::envelope::Envelope;
use engine::message::plan::Change;
use engine::message::plan::Variant;
use engine::message::rejection::Rejection;
use engine::message::snapshot::Snapshot;
use engine::state::world::State;
use engine::unit::id::CommandId;
use engine::unit::id::JobId;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use fields::change;
use fields::change::ChangeKind;
use fields::facts::Facts;
use fields::field::Input;
use fields::field::Value;
use planner::page::link;
use planner::page::message::Ask;
use planner::page::message::Ended;
use planner::page::message::LookAhead;
use planner::page::message::Source;
use planner::page::message::Tell;
use planner::page::session::Session;
use planner::page::sheet::Sheet;
use planner::page::wish::Wish;

const NOW: Timestamp = Timestamp(600_000);
const DAY: Millis = Millis(24 * 3_600_000);

/// The three-team example, some minutes later.
fn state() -> State {
    let mut state = State::default();
    for line in include_str!("../../public/examples/three-teams.jsonl").lines() {
        let envelope: Envelope = serde_json::from_str(line).unwrap();
        authority::handle(&mut state, &envelope, Timestamp(60_000)).unwrap();
    }
    state
}

fn open(session: &mut Session, state: &State) -> Facts {
    session.attach("state".to_owned(), Snapshot::of(state).to_bytes());
    let source = Source::Live { cluster: "demo".to_owned(), at: NOW };
    opened(&session.ask(Ask::Open { plan: 1, source, look: LookAhead::Usual }))
}

fn opened(tells: &[Tell]) -> Facts {
    match tells {
        [Tell::Opened { facts, .. }] => Facts::clone(facts),
        other => panic!("{other:?}"),
    }
}

fn failed(tells: &[Tell]) -> &str {
    match tells {
        [Tell::Failed { message, .. }] => message,
        other => panic!("{other:?}"),
    }
}

/// All that is told until nothing is left to do.
/// What is told until nothing is left, but for ranges, which follow.
fn finish(session: &mut Session) -> Vec<Tell> {
    let mut told = Vec::new();
    while session.is_busy() {
        told.extend(session.work(50));
    }
    told.retain(|tell| !matches!(tell, Tell::Ranges { .. }));
    told
}

fn now(command: Command) -> Change {
    Change { at: NOW, command, is_off: false }
}

/// The first quota with a sibling gets so many GPUs.
fn scaled(facts: &Facts, gpus: i64) -> Command {
    change::with(&ChangeKind::Amounts.begin(facts, &[]).unwrap(), facts, "min.gpu", &Value::Number(gpus * 1000))
        .unwrap()
}

#[test]
fn a_moved_amount_gives_to_one_what_it_takes_from_the_other() {
    let facts = open(&mut Session::default(), &state());
    let command = scaled(&facts, 56);
    assert_eq!(change::line(&command, &facts), "Quota1.1 48 → 56 GPUs, Quota1.2 80 → 72 GPUs");
    let shown = &change::shown(&command, &facts)[0];
    let Input::Number(number) = &shown.input else { panic!("{shown:?}") };
    assert_eq!((number.least, &shown.value, number.most, number.step), (0, &Value::Number(56_000), 128_000, 1_000));
}

#[test]
fn every_kind_of_change_that_is_offered_runs() {
    let (mut session, mut state) = (Session::default(), state());
    for command in [
        r#"{"put_group":{"group":"machines","resource_type":"lingjun"}}"#,
        r#"{"put_node":{"node":"n0","group":"machines","amount":{"gpu":8000}}}"#,
        r#"{"create_offer":{"offer":"gn7","resource_type":"lingjun","instance":{"gpu":8000},"inventory":2,"terms":{"original_price":1000000}}}"#,
    ] {
        authority::step(&mut state, &serde_json::from_str(command).unwrap(), Timestamp(120_000)).unwrap();
    }
    let facts = open(&mut session, &state);
    let kinds = ChangeKind::offered(&facts);
    assert_eq!(kinds.len(), 10, "{kinds:?}");
    let changes = kinds.iter().fold(Vec::new(), |mut commands, kind| {
        commands.extend(kind.begin(&facts, &commands));
        commands
    });
    let changes = changes.into_iter().map(now).collect();
    let told = session.ask(Ask::Run { plan: 1, variant: 1, ticket: 1, changes });
    match told.as_slice() {
        [Tell::Began { refused, .. }] => assert_eq!(refused, &[]),
        other => panic!("{other:?}"),
    }
}

#[test]
fn new_jobs_have_names_of_their_own() {
    let facts = open(&mut Session::default(), &state());
    let mut commands: Vec<Command> = Vec::new();
    for _ in 0..3 {
        commands.extend(ChangeKind::Job.begin(&facts, &commands));
    }
    commands.remove(1);
    let name_in = |facts: &Facts| match ChangeKind::Job.begin(facts, &commands) {
        Some(Command::SubmitJob(job)) => job.job.to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!(name_in(&facts), "planned-2");
    let mut known = facts;
    known.jobs[0].job = JobId::new("planned-2").unwrap();
    assert_eq!(name_in(&known), "planned-4");
}

#[test]
fn a_variant_is_told_at_once_and_compared_at_its_end() {
    let (mut session, state) = (Session::default(), state());
    let facts = open(&mut session, &state);
    let cancel = ChangeKind::Cancel.begin(&facts, &[]).unwrap();
    let job = change::with(
        &ChangeKind::Job.begin(&facts, &[]).unwrap(),
        &facts,
        "quota",
        &Value::Text("Quota1.1".to_owned()),
    )
    .unwrap();
    let changes = vec![now(cancel), now(job)];
    let told = session.ask(Ask::Run { plan: 1, variant: 7, ticket: 3, changes });
    let [Tell::Began { variant: 7, ticket: 3, lines, picture, .. }] = told.as_slice() else { panic!("{told:?}") };
    assert!(lines.iter().any(|line| line.text.contains("planned-1 started")), "{lines:?}");
    assert!(picture.starts_with("<svg"));
    let told = finish(&mut session);
    let [Tell::Ran { variant: None, ended: base, .. }, Tell::Ran { variant: Some(7), ticket: 3, ended, .. }] =
        told.as_slice()
    else {
        panic!("{told:?}")
    };
    let labels = |ended: &Ended| ended.figures.iter().map(|figure| figure.label.clone()).collect::<Vec<_>>();
    assert_eq!(labels(ended), labels(base));
    assert!(ended.jobs.iter().any(|line| line[0] == "planned-1" && line[2] == "new"), "{ended:?}");
    assert_eq!((base.fortunes, base.jobs.len()), (None, 0), "the base is compared with nothing");
}

#[test]
fn a_plan_becomes_one_command_that_the_cluster_refuses_when_it_has_moved_on() {
    let (mut session, mut state) = (Session::default(), state());
    let facts = open(&mut session, &state);
    let later = Change { at: NOW + DAY, command: ChangeKind::Cancel.begin(&facts, &[]).unwrap(), is_off: false };
    let changes = vec![now(scaled(&facts, 56)), later];
    let id = CommandId::new("plan-1").unwrap();
    let told = session.ask(Ask::Apply { plan: 1, changes, id });
    let [Tell::Application { envelope, later: 1, .. }] = told.as_slice() else { panic!("{told:?}") };
    authority::handle(&mut state, envelope, NOW).unwrap();
    let again = authority::handle(&mut state, envelope, NOW);
    assert!(matches!(again, Err(Rejection::MovedOn { .. })), "{again:?}");
}

#[test]
fn a_link_opens_the_same_plan() {
    let (mut session, state) = (Session::default(), state());
    let facts = open(&mut session, &state);
    let variants = vec![Variant { name: "A".to_owned(), changes: vec![now(scaled(&facts, 56))] }];
    let told = session.ask(Ask::Link { plan: 1, variants: variants.clone() });
    let [Tell::Linked { link: Some(link), .. }] = told.as_slice() else { panic!("{told:?}") };
    assert!(link.len() < 4_000, "{}", link.len());
    let look_of = |look: LookAhead| {
        let told = Session::default().ask(Ask::Open { plan: 5, source: Source::Link(link.clone()), look });
        let [Tell::Opened { facts: theirs, variants: known, length, usual, .. }] = told.as_slice() else {
            panic!("{told:?}")
        };
        assert_eq!((theirs.as_ref(), known, *usual), (&facts, &variants, Some(DAY)));
        *length
    };
    assert_eq!(look_of(LookAhead::Usual), Some(DAY));
    // Whoever asks for something else gets it.
    assert_eq!(look_of(LookAhead::For(Millis::HOUR)), Some(Millis::HOUR));
    assert_eq!(look_of(LookAhead::End), None);
    assert_eq!(session.ask(Ask::File { plan: 1, variants }), []);
    let file = session.file().unwrap();
    assert_eq!(Sheet::read(&file), Sheet::read_link(link));
    assert_eq!(session.file(), None, "it is given once");
}

#[test]
fn a_link_that_cannot_be_opened_says_why_and_leaves_what_is_open() {
    let mut session = Session::default();
    let facts = open(&mut session, &state());
    let told = session.ask(Ask::Link { plan: 1, variants: Vec::new() });
    let [Tell::Linked { link: Some(good), .. }] = told.as_slice() else { panic!("{told:?}") };
    let text = link::unpack(good).unwrap();
    let other = |from: &str, to: &str| {
        let text: serde_json::Value = serde_json::from_str(&text.replacen(from, to, 1)).unwrap();
        link::pack(&text, 30_000).unwrap()
    };
    let (newer, odd) = (other("\"format\":1", "\"format\":9"), other("\"parent\":0", "\"parent\":77"));
    let mut fault = |link: &str| {
        let source = Source::Link(link.to_owned());
        failed(&session.ask(Ask::Open { plan: 2, source, look: LookAhead::Usual })).to_owned()
    };
    assert_eq!(fault(&good[..good.len() / 2]), "the end of the link is missing; copy it again, all of it");
    assert!(fault(&good.replacen("1.", "2.", 1)).starts_with("the link was made by a newer planner (version 2)"));
    assert!(fault(&newer).starts_with("the plan has format 9"));
    assert!(fault(&odd).starts_with("the plan's state does not fit together"), "{}", fault(&odd));
    assert!(fault("nonsense").starts_with("this is no link to a plan"));
    let changes = vec![now(scaled(&facts, 56))];
    assert_eq!(session.ask(Ask::Run { plan: 1, variant: 1, ticket: 1, changes }).len(), 1);
}

#[test]
fn what_is_cancelled_is_not_run_and_can_be_run_again() {
    let (mut session, state) = (Session::default(), state());
    open(&mut session, &state);
    session.ask(Ask::Run { plan: 1, variant: 1, ticket: 1, changes: Vec::new() });
    session.work(1);
    assert_eq!(session.ask(Ask::Cancel { plan: 1 }), [Tell::Cancelled { plan: 1 }]);
    assert!(!session.is_busy());
    session.ask(Ask::Run { plan: 1, variant: 1, ticket: 2, changes: Vec::new() });
    assert!(!finish(&mut session).is_empty());
}

#[test]
fn what_is_asked_of_a_plan_that_has_been_left_is_not_answered() {
    let (mut session, state) = (Session::default(), state());
    open(&mut session, &state);
    let left = 7;
    assert_eq!(session.ask(Ask::Run { plan: left, variant: 1, ticket: 1, changes: Vec::new() }), []);
    assert_eq!(session.ask(Ask::Cancel { plan: left }), []);
    assert!(session.is_busy(), "what is open goes on");
    session.ask(Ask::File { plan: left, variants: Vec::new() });
    assert_eq!(session.file(), None);
}

#[test]
fn a_change_ends_the_search_beside_what_was_before() {
    let mut state = state();
    let job = r#"{"submit_job":{"job":"waiting","quota":"Quota1.1","priority":9,"pods":[{"amount":{"gpu":16000}}]}}"#;
    authority::step(&mut state, &serde_json::from_str(job).unwrap(), Timestamp(120_000)).unwrap();
    let mut session = Session::default();
    let facts = open(&mut session, &state);
    let (goal, family) = Wish::of(&facts).ask(&facts).unwrap();
    session.ask(Ask::Search { plan: 1, changes: Vec::new(), goal, family });
    session.ask(Ask::Run { plan: 1, variant: 1, ticket: 1, changes: Vec::new() });
    assert!(finish(&mut session).iter().all(|tell| matches!(tell, Tell::Ran { .. })));
}

#[test]
fn a_shared_plan_names_no_keys() {
    let mut state = state();
    let key = r#"{"create_key":{"key":"demo.key","user":"somebody"}}"#;
    authority::step(&mut state, &serde_json::from_str(key).unwrap(), Timestamp(120_000)).unwrap();
    assert_eq!(Snapshot::of(&state).keys.len(), 1);
    let later = key.replace("demo.key", "demo.later");
    let cancel = r#"{"cancel_job":{"job":"training-a"}}"#;
    let all = [
        later.clone(),
        format!(r#"{{"apply_plan":{{"commands":[{later}]}}}}"#),
        format!(r#"{{"apply_plan":{{"commands":[{later},{cancel}]}}}}"#),
    ];
    let ahead = all.iter().map(|command| (NOW, serde_json::from_str(command).unwrap())).collect();
    let sheet = Sheet::of(&Base::new(state, NOW, ahead).unwrap(), String::new(), None, None, Vec::new());
    assert_eq!((sheet.state.keys.len(), sheet.ahead.len()), (0, 1));
    assert!(!sheet.text().contains("demo."), "{}", sheet.text());
}

#[test]
fn a_document_with_too_much_says_what_it_may_have() {
    let mut session = Session::default();
    open(&mut session, &state());
    session.ask(Ask::File { plan: 1, variants: Vec::new() });
    let sheet = Sheet::read(&session.file().unwrap()).unwrap();
    let fault = |sheet: &Sheet| Sheet::read(&sheet.text()).unwrap_err();
    let variants = vec![Variant::default(); 9];
    assert_eq!(fault(&Sheet { variants, ..sheet.clone() }), "the plan has 9 variants, which are more than 8");
    for length in [0, -5, 367 * DAY.0] {
        let told = fault(&Sheet { length: Some(Millis(length)), ..sheet.clone() });
        assert!(told.starts_with(&format!("the plan looks {length} ms ahead; it must be from 1 to ")), "{told}");
    }
}

#[test]
fn a_search_finds_the_smallest_change_and_says_it() {
    let mut state = state();
    let job = r#"{"submit_job":{"job":"waiting","quota":"Quota1.1","priority":9,"pods":[{"amount":{"gpu":16000}}]}}"#;
    authority::step(&mut state, &serde_json::from_str(job).unwrap(), Timestamp(120_000)).unwrap();
    let mut session = Session::default();
    let facts = open(&mut session, &state);
    let wish = Wish::of(&facts);
    assert_eq!((wish.job.as_str(), wish.gets.as_str(), wish.gives.as_str()), ("waiting", "Quota1.1", "Quota1.2"));
    let search = |session: &mut Session, wish: &Wish| {
        let (goal, family) = wish.ask(&facts).unwrap();
        let mut told = session.ask(Ask::Search { plan: 1, changes: Vec::new(), goal, family });
        told.extend(finish(session));
        let Some(Tell::Searched { words, command, .. }) = told.last() else { panic!("{told:?}") };
        (words.clone(), command.is_some())
    };
    let (found, is_there) = search(&mut session, &wish);
    assert_eq!(found, "The smallest change that does it: Quota1.1 48 → 64 GPUs, Quota1.2 80 → 64 GPUs. 16 were tried.");
    assert!(is_there);
    let told = |session: &mut Session, wish: &Wish| {
        let (words, is_there) = search(session, wish);
        assert!(!is_there, "{words}");
        words
    };
    let raised = Wish { means: "priority".to_owned(), ..wish.clone() };
    let highest = "waiting has priority 9 already, the highest; look for another change.";
    assert_eq!(told(&mut session, &raised), highest);
    // The example's other quota: nobody waits there.
    let nobody = Wish { goal: "waits".to_owned(), quota: "Quota1.2".to_owned(), ..wish.clone() };
    assert_eq!(told(&mut session, &nobody), "That is so already; nothing has to change.");
    let alone = Wish { gives: String::new(), ..wish.clone() };
    assert_eq!(
        told(&mut session, &alone),
        "Not even the smallest change is possible: Quota1.1 would need 50 GPUs, Quota1 has 48 left. As it is, waiting does not start as far as the plan looks."
    );
    // The plan looks a day ahead, the search as far as its goal.
    let long =
        Wish { goal: "waits".to_owned(), quota: "Quota1.1".to_owned(), within: "30h".to_owned(), ..alone.clone() };
    let words = told(&mut session, &long);
    assert!(words.contains("the longest wait in Quota1.1 is 30"), "{words}");
    let late =
        Wish { goal: "waits".to_owned(), quota: "Quota1.1".to_owned(), within: "1m".to_owned(), ..raised.clone() };
    let lower = r#"{"set_priority":{"job":"waiting","priority":8}}"#;
    authority::step(&mut state, &serde_json::from_str(lower).unwrap(), Timestamp(180_000)).unwrap();
    open(&mut session, &state);
    let words = told(&mut session, &late);
    assert!(words.starts_with("The one change that could be tried does not do it. With the largest, "), "{words}");
    assert!(words.contains("the longest wait in Quota1.1 is "), "{words}");
    assert!(words.ends_with(" too long."), "{words}");
    assert_eq!(
        Wish { within: String::new(), ..wish.clone() }.ask(&facts),
        Err("say within which time, such as 2h".to_owned())
    );
    let mut without = facts.clone();
    without.quotas.iter_mut().filter(|quota| quota.quota.as_str() == "Quota1.2").for_each(|quota| quota.min.clear());
    assert_eq!(
        wish.ask(&without).unwrap_err(),
        "Quota1.2 has no whole GPU that Quota1.1 could get; choose somebody else who gives"
    );
    let (goal, family) = Wish { job: "nobody".to_owned(), ..wish }.ask(&facts).unwrap();
    let told = session.ask(Ask::Search { plan: 1, changes: Vec::new(), goal, family });
    match told.as_slice() {
        [Tell::Searched { command: None, words, .. }] => assert_eq!(words, "there is no job nobody."),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_plan_to_the_end_is_looked_at_as_far_as_the_base_goes() {
    let mut state = state();
    for command in [
        r#"{"cancel_job":{"job":"training-a"}}"#,
        r#"{"submit_job":{"job":"long","quota":"Quota1.1","pods":[{"amount":{"gpu":8000}}],"duration_ms":7200000}}"#,
    ] {
        authority::step(&mut state, &serde_json::from_str(command).unwrap(), Timestamp(120_000)).unwrap();
    }
    let mut session = Session::default();
    open(&mut session, &state);
    session.ask(Ask::Look { plan: 1, length: None });
    let cancel = serde_json::from_str(r#"{"cancel_job":{"job":"long"}}"#).unwrap();
    session.ask(Ask::Run { plan: 1, variant: 1, ticket: 1, changes: vec![now(cancel)] });
    let told = finish(&mut session);
    let [Tell::Ran { ended: base, .. }, Tell::Ran { ended: variant, .. }] = told.as_slice() else { panic!("{told:?}") };
    // Nothing happens in the variant any more, and whoever waits in it waits as long as in the base.
    assert_eq!((variant.until, base.until > NOW + Millis::HOUR), (base.until, true));
}
