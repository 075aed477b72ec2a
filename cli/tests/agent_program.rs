//! The command `tidegate-agent`, which is all that a machine with an agent has: it is the agent, what watches over its runs,
//! and what becomes their pods.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

use std::path::Path;
use std::process::Command;
use std::process::Output;

fn called(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tidegate-agent")).args(words).output().unwrap()
}

#[test]
fn the_agents_program_has_the_calls_of_an_agent() {
    for (words, says) in [
        (vec!["join", "--help"], "--groups"),
        (vec!["run", "--help"], "--adopt-folder"),
        (vec!["slurm", "setup", "--help"], "--partition"),
        (vec!["slurm", "mirror", "--help"], "--groups"),
    ] {
        let Output { status, stdout, .. } = called(&words);
        assert!(status.success() && String::from_utf8_lossy(&stdout).contains(says), "{words:?}");
    }
    let state = Path::new(env!("CARGO_TARGET_TMPDIR")).join("nobody");
    let Output { status, stderr, .. } = called(&["run", "--allow-root", "--state", state.to_str().unwrap()]);
    let said = String::from_utf8_lossy(&stderr);
    assert!(
        !status.success() && said.starts_with("tidegate-agent: ") && said.contains("no agent has joined"),
        "{said}"
    );
}

#[test]
fn the_agents_program_supervises_and_becomes_pods() {
    assert_eq!(called(&["supervise"]).status.code(), Some(2), "it has to be told what");
    let refusal = Path::new(env!("CARGO_TARGET_TMPDIR")).join("refusal");
    let (parent, refusal) = (std::process::id().to_string(), refusal.to_str().unwrap());
    let pod = called(&["become-pod", &parent, refusal, "sh", "-c", "exit 7"]);
    assert_eq!(pod.status.code(), Some(7), "it has become the command");
}
