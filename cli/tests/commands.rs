//! The book's page of commands is what `--help` says. `UPDATE_EXPECT=1` writes the page anew.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

const HEAD: &str = "# The command line

What `tidegate --help` says, and `--help` of each of its commands. [From a shell](shell.md) explains those that speak to a
cluster, with their statuses; [Coming from Slurm](from-slurm.md) has them beside Slurm's.
";

#[test]
fn the_book_has_what_help_says() {
    let mut page = HEAD.to_owned();
    add(&[], &mut page);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/book/src/commands.md");
    if std::env::var_os("UPDATE_EXPECT").is_some_and(|value| value == "1") {
        fs::write(&path, &page).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == page, "write it anew: UPDATE_EXPECT=1 cargo test -p tidegate --test commands");
    assert!(page.contains("\n### tidegate backup save\n"), "commands of commands are there, too");
}

/// Adds the help of a command, and that of the commands that it lists.
fn add(words: &[&str], page: &mut String) {
    let help = help(words);
    let (level, name) = ("#".repeat(words.len().max(1) + 1), [&["tidegate"], words].concat().join(" "));
    writeln!(page, "\n{level} {name}\n\n```text\n{}\n```", help.trim_end()).unwrap();
    for command in listed(&help) {
        add(&[words, &[command]].concat(), page);
    }
}

fn help(words: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_tidegate")).args(words).arg("--help").output().unwrap();
    assert!(output.status.success(), "tidegate {} --help fails", words.join(" "));
    String::from_utf8(output.stdout).unwrap()
}

/// The commands that a help lists, without the one that prints help.
fn listed(help: &str) -> Vec<&str> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names.filter(|name| !name.is_empty() && *name != "help").collect()
}
