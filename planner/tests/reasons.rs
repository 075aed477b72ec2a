//! Why jobs of a scenario wait and changes of it are refused, in the words of the planner.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

use std::fs;
use std::path::Path;

use engine::host::plan::run::Horizon;
use engine::host::plan::run::Run;
use planner::embed::reason;
use planner::embed::scenario::Scenario;
use planner::words::Language;

/// The scenario, played to its end with its controls at these values.
fn played(text: &str, values: &[i64]) -> Run {
    let scenario = Scenario::read(text).unwrap();
    let mut run = Run::new(&scenario.base, &scenario.variant(values), Horizon::Until(scenario.end));
    run.finish();
    run
}

/// Who waits, and why.
fn waiting(run: &Run, language: Language) -> Vec<(String, String)> {
    let queued = run.state().jobs.iter().filter(|(_, job)| job.is_queued());
    queued
        .map(|(no, job)| (job.spec.id.to_string(), reason::wait(run.state(), no, run.now(), language).unwrap()))
        .collect()
}

fn scenarios() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios");
    fs::read_dir(folder).unwrap().map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap()).collect()
}

#[test]
fn every_reason_of_the_scenarios_has_words_in_both_languages() {
    let mut told = 0;
    for text in scenarios() {
        let run = played(&text, &[]);
        for ((job, en), (_, zh)) in waiting(&run, Language::En).into_iter().zip(waiting(&run, Language::Zh)) {
            assert!(!en.contains('$') && en != "nothing is free for it", "{job} {en}");
            assert!(!zh.contains('$') && zh.contains(|letter: char| !letter.is_ascii()), "{job} {zh}");
            told += 1;
        }
    }
    assert!(told > 15, "{told}");
}

#[test]
fn a_reason_has_the_numbers_of_the_moment() {
    let text = "quota A&B 8\nrun a A&B DLC p5 6\nsubmit b A&B DLC p5 4\nround";
    let reason = |size: i64, language| waiting(&played(text, &[size]), language).pop().unwrap().1;
    assert_eq!(reason(4_000, Language::En), "it asks for 4 GPUs; A&amp;B has 2 GPUs free");
    assert_eq!(reason(8_000, Language::En), "it asks for 8 GPUs; A&amp;B has 2 GPUs free");
    assert_eq!(reason(4_000, Language::Zh), "申请 4 个 GPU；A&amp;B 空闲 2 个 GPU");
    assert_eq!(waiting(&played(text, &[2_000]), Language::En), []);
}

#[test]
fn what_is_refused_is_told_in_the_language_of_the_reader() {
    let refused = |text: &str, values: &[i64], language| {
        let run = played(text, values);
        run.refused.iter().map(|refusal| reason::refusal(&refusal.rejection, language)).collect::<Vec<_>>()
    };
    let cancelled = "quota Q 8\nsubmit a Q DLC p5 8\nround\ncancel a\nround";
    assert_eq!(refused(cancelled, &[8_000], Language::Zh), [""; 0]);
    assert_eq!(refused(cancelled, &[0], Language::En), ["there is no job a"]);
    assert_eq!(refused(cancelled, &[0], Language::Zh), ["没有作业 a"]);

    let moved = "quota R 32\nquota P 16 in R\nquota C 8 in P\nquota S 16 in R\nscale P=16 S=16";
    assert_eq!(refused(moved, &[8_000], Language::Zh), [""; 0]);
    assert_eq!(refused(moved, &[0], Language::En), ["C would need 8 GPUs, P has 0 left"]);
    assert_eq!(refused(moved, &[0], Language::Zh), ["C 需要 8 个 GPU，P 只剩 0 个 GPU"]);

    let twice = "quota Q 8\nsubmit a Q DLC p5 8\nround\nfinish a\nround\npriority a p6\nround";
    let told = refused(twice, &[8_000], Language::En).pop().unwrap();
    assert!(told.contains("has ended; its priority cannot be changed"), "{told}");
    assert_eq!(refused(twice, &[8_000], Language::Zh), [format!("<span lang=\"en\">{told}</span>")]);
}
