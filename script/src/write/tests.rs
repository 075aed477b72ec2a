//! What is written is read as what it was.

use engine::message::command::Command;

use super::acts;
use super::advance;
use super::quota;
use crate::line::Line;
use crate::line::Scene;
use crate::line::read;

/// Lines that say everything that can be written, as the writer writes them.
const ACTS: [&str; 15] = [
    "submit a Q DLC p5 16",
    "submit a Q EAS p9 2x8+4",
    "submit a Q DSW p1 0.5 acceptable",
    "submit a Q DLC p1 8 only fault-tolerance for 2h checkpoint 90s",
    "submit a Q EAS p1 8x1 for 1.5s min 2",
    "submit a Q DLC p1 8 only-on n0,n1 not-on n2",
    "cancel a",
    "priority a 7",
    "update Q",
    "update Q child-level 1-3 DLC,DSW grace 30s",
    "update Q self-level 6-9 over 4 DLC,DSW,EAS",
    "update Q self-level 9 over 1,3-5 EAS scope own min-runtime 15m strategy strict-fifo no-lending",
    "update Q self-level 9 over 1 DLC scope siblings-idle strategy balance",
    "scale Q=16 Quota1.1=0.5",
    "scale Q=0 evict",
];

#[test]
fn an_act_that_is_read_and_written_is_the_same_line() {
    for text in ACTS {
        let Ok(Some(Line::Act(command))) = read(text) else { panic!("{text} is no act") };
        assert_eq!(acts(&command), Ok(vec![text.to_owned()]));
    }
    assert_eq!(acts(&Command::Round(engine::message::command::Round::default())), Ok(vec!["round".to_owned()]));
}

#[test]
fn what_is_written_is_read_as_what_it_was() {
    for text in ACTS {
        let Ok(Some(Line::Act(command))) = read(text) else { panic!("{text} is no act") };
        let lines = acts(&command).unwrap();
        assert_eq!(lines.iter().map(|line| read(line)).collect::<Vec<_>>(), [Ok(Some(Line::Act(command)))]);
    }
}

#[test]
fn a_quota_of_a_scene_keeps_its_amount_and_settings() {
    let written = "quota Quota1.1 48 in Quota1 child-level 1-3 DLC grace 1m strategy round-robin";
    let Ok(Some(Line::Act(Command::UpdateQuota(update)))) =
        read("update Quota1.1 child-level 1-3 DLC grace 1m strategy round-robin")
    else {
        panic!("no update")
    };
    let create = engine::message::command::CreateQuota {
        quota: update.quota,
        parent: Some(crate::words::quota("Quota1").unwrap()),
        groups: Vec::new(),
        min: engine::message::command::AmountByName::from([("gpu".to_owned(), 48_000)]),
        settings: update.settings,
    };
    assert_eq!(quota(&create), Ok(written.to_owned()));
    let Ok(Some(Line::Scene(Scene::Quota { quota, min, .. }))) = read(written) else { panic!("no quota") };
    assert_eq!((quota, min), (create.quota, create.min));
}

#[test]
fn time_goes_on_in_the_largest_whole_unit() {
    for (text, millis) in [("advance 1d", 86_400_000), ("advance 90m", 5_400_000), ("advance 0.5s", 500)] {
        let Ok(Some(Line::Advance(period))) = read(text) else { panic!("{text} is no line") };
        assert_eq!((period.0, advance(period).as_str()), (millis, text));
    }
    assert!(
        matches!(read(&advance(engine::unit::time::Millis::ZERO)), Ok(Some(Line::Advance(period))) if period.0 == 0)
    );
}

#[test]
fn what_has_no_line_is_said() {
    let Ok(Some(Line::Act(mut command))) = read("submit a Q DLC p5 16") else { panic!("no act") };
    if let Command::SubmitJob(job) = &mut command {
        job.pods[0].amount.insert("cpu".to_owned(), 1000);
    }
    assert_eq!(acts(&command), Err("there is no line for an amount of several dimensions".to_owned()));
    let Ok(Some(Line::Act(Command::SubmitJob(mut job)))) = read("submit a Q DLC p5 16") else { panic!("no act") };
    job.name = Some("shown".into());
    assert_eq!(acts(&Command::SubmitJob(job)), Err("there is no line for all that a asks for".to_owned()));
}
