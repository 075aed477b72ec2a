//! The mistakes that people make in a scenario, and what each of them is told.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

use script::line::Line;
use script::stage::Stage;

/// What is told of the first of these lines that is wrong.
fn told(text: &str) -> String {
    let mut stage = Stage::new().unwrap();
    for (at, line) in text.lines().enumerate() {
        match stage.read(line) {
            Ok(Some(Line::Scene(scene))) => {
                if let Err(trouble) = stage.set(&scene) {
                    return format!("line {}: {trouble}", at + 1);
                }
            }
            Ok(_) => {}
            Err(fault) => return fault.in_line(at + 1),
        }
    }
    "nothing is wrong".to_owned()
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(told(text), expected, "{text}");
}

#[test]
fn a_repeated_quota_is_named() {
    check("quota A 8\nquota B 8\nquota A 4", "line 3, column 7: there is a quota A already; scale or update it");
}

#[test]
fn a_number_in_words_is_named() {
    check("quota A 8\nsubmit x A DLC p5 8x1 min four", "line 2, column 27: \"four\" is no number of pods");
}

#[test]
fn more_than_a_quota_holds_is_named() {
    check("quota A 8\nrun x A DLC p5 16", "line 2: x would need 16 GPUs, A has 8 left");
    check("quota A 8\nrun x A DLC p5 6\nrun y A DLC p5 4", "line 3: y would need 4 GPUs, A has 2 left");
    check("quota R 8\nquota A 9 in R", "line 2: A would need 9 GPUs, R has 8 left");
    // What is lent is no part of the quota.
    check("quota R 16\nquota A 8 in R\nrun x A DLC p5 12 only idle", "nothing is wrong");
}

#[test]
fn a_repeated_job_is_named() {
    check(
        "quota A 8\nrun x A DLC p5 4\nsubmit x A DLC p5 4",
        "line 3, column 8: there is a job x already; give this one another name",
    );
}

#[test]
fn a_remark_behind_a_line_is_none_of_its_words() {
    check("quota A 8 # of ours\nrun x A DLC p5 4 # since yesterday", "nothing is wrong");
    check("quota A # eight", "line 1, column 9: here should be a number of GPUs");
}

#[test]
fn types_of_gpus_are_declared_or_refused() {
    check("cluster h100 a100\nquota A h100=8,a100=4\nrun x A DLC p5 h100=2", "nothing is wrong");
    check("quota A h100=8", "line 1: there is no dimension h100");
}

#[test]
fn a_misspelt_verb_is_named() {
    check(
        "quota A 8\n  submitt x A DLC p5 4",
        "line 2, column 3: \"submitt\" is not known; a line begins with a verb such as quota, run or submit",
    );
}

#[test]
fn a_priority_that_is_none_is_named() {
    check("quota A 8\nsubmit x A DLC high 4", "line 2, column 16: \"high\" is no priority; write p1 to p9");
    check("quota A 8\nsubmit x A DLC p12 4", "line 2, column 16: priority 12 is not between 1 and 9");
}

#[test]
fn what_is_left_out_is_asked_for_where_it_should_stand() {
    check("quota A 8\nsubmit x A DLC p5", "line 2, column 19: here should be pods such as 16 or 2x8");
    check("quota A 8\nadvance", "line 2, column 9: here should be a period such as 30s, 5m or 2h");
    check("quota A 8\nadvance 90", "line 2, column 9: \"90\" is no period; write for example 30s, 5m or 2h");
}

#[test]
fn a_word_that_belongs_elsewhere_is_named_with_what_may_stand_there() {
    check(
        "quota A 8 acceptable",
        "line 1, column 11: \"acceptable\" is not known here; write in, from, child-level, self-level, scope, grace, min-runtime, starvation, strategy or no-lending",
    );
    check("quota A 8 in", "line 1, column 14: here should be the name of a quota");
}

#[test]
fn a_parent_that_is_not_there_is_named() {
    check("quota A 8 in Root", "line 1: there is no quota Root");
}
