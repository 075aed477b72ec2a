//! The batch script of a part of a run: its pods on one node.

use agent::message::Pod;
use agent::script::Script;
use agent::script::Signal;

use crate::folder::Folder;
use crate::folder::Work;
use crate::processes::RUN;
use crate::processes::STORE;
use crate::slurm::portion::Portion;

/// What every batch script does, after what is its own.
const REST: &str = include_str!("batch.bash");

/// What people have submitted themselves stands below its first lines in the very script that runs.
const OWN: &str = r#"$tidegate_with <(tail -n "+$tidegate_from" "$0") "${arguments[@]}""#;

/// The batch script of a part. Its first line is the claim: who comes later, be it a second job that was
/// submitted for the same part, ends there.
pub(super) fn text(folder: &Folder, work: &Work, store: &str, portion: &Portion) -> String {
    let Work { want, script } = work;
    let Portion { name: part, node, pods, .. } = portion;
    let path = folder.path.display().to_string();
    let claim = quoted(&format!("claim-{part}"));
    let is_adopted = script.adopted.is_some();
    let mut lines = vec!["#!/bin/bash".to_owned()];
    if is_adopted {
        // It is read by the first line of what its user has submitted, on whatever node Slurm has chosen.
        lines.push(format!("[ \"$SLURMD_NODENAME\" = {} ] || exit 0", quoted(node)));
        lines.push("directory=$PWD program=${tidegate_with%% *} arguments=(\"$@\")".to_owned());
    }
    lines.push(format!("cd {} && (set -C; echo \"$SLURM_JOB_ID\" > {claim}) 2> /dev/null || exit 0", quoted(&path)));
    let set = |name: &str, value: &str| format!("{name}={}", quoted(value));
    let work_folder = folder.file("work").display().to_string();
    let directory = script.directory.as_deref().unwrap_or(&work_folder);
    lines.extend([
        set("folder", &path),
        set("node", node),
        set("part", part),
        set("checkpoint_signal", script.checkpoint.map_or("", name)),
        set("stop_after", &want.stop_after_ms.map_or_else(String::new, |after| after.to_string())),
        format!("gpus=({})", pods.iter().map(|pod| pod.gpus.len().to_string()).collect::<Vec<_>>().join(" ")),
    ]);
    let is_alone = |pod: &Pod| want.world == 1 && pod.rank == 0;
    let tag = |pod: &Pod| if is_alone(pod) { "''".to_owned() } else { quoted(&format!("[{}] ", pod.rank)) };
    lines.push(format!("tags=({})", pods.iter().map(tag).collect::<Vec<_>>().join(" ")));
    if !is_adopted {
        let program = script.command.first().map_or("", String::as_str);
        lines.extend([set("directory", directory), set("program", program)]);
    }
    let exports = script.environment.iter().filter(|(name, _)| is_name(name));
    lines.push("surroundings() {".to_owned());
    lines.extend(exports.map(|(name, value)| format!("export {name}={}", quoted(value))));
    lines.push(":; }".to_owned());
    let command = if is_adopted { OWN.to_owned() } else { command(script) };
    for (local_rank, pod) in pods.iter().enumerate() {
        lines.push(format!("pod_{local_rank}() {{ surroundings"));
        let told = [
            (RUN, folder.run.to_string()),
            (STORE, store.to_owned()),
            ("TIDEGATE_JOB", want.job.clone()),
            ("TIDEGATE_NODE", node.clone()),
            ("TIDEGATE_CHECKPOINT", folder.file("checkpoint").display().to_string()),
            ("RANK", pod.rank.to_string()),
            ("WORLD_SIZE", want.world.to_string()),
            ("LOCAL_RANK", local_rank.to_string()),
            ("MASTER_ADDR", want.leader.clone()),
            ("MASTER_PORT", want.port.to_string()),
        ];
        lines.extend(told.iter().map(|(name, value)| format!("export {name}={}", quoted(value))));
        lines.push(format!("cd -- \"$directory\" && exec {command}; }}"));
    }
    lines.push(REST.to_owned());
    lines.join("\n")
}

fn command(script: &Script) -> String {
    script.command.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

fn name(signal: Signal) -> &'static str {
    match signal {
        Signal::Usr1 => "USR1",
        Signal::Usr2 => "USR2",
        Signal::Int => "INT",
        Signal::Hup => "HUP",
    }
}

/// A shell takes no other names of variables, and would read them as commands.
fn is_name(name: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    name.chars().all(is_letter) && !name.starts_with(|letter: char| letter.is_ascii_digit())
}

/// A word that a shell takes as it stands.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::quoted;

    #[test]
    fn a_shell_takes_every_word_as_it_stands() {
        for word in ["", "a b", "it's", "$HOME `id` \"x\" \\", "a\nb", "'"] {
            let output = Command::new("bash").arg("-c").arg(format!("printf %s {}", quoted(word))).output();
            assert_eq!(output.expect("there is a shell").stdout, word.as_bytes());
        }
    }
}
