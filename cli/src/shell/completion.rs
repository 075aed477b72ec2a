//! `tidegate completion`: what a shell needs to complete the words of this command. One table, made from the command as it
//! is, and three ways to write it down.

use std::fmt::Write;

use clap::ArgAction;
use clap::Command;
use clap::ValueEnum;

/// A shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    /// The Bourne again shell.
    Bash,
    /// The Z shell.
    Zsh,
    /// The friendly interactive shell.
    Fish,
}

/// A subcommand as it is completed.
struct Row {
    /// Its words, such as `agent join`.
    path: Vec<String>,
    /// What it does, in a line.
    about: String,
    /// Its flags, each with what it means and whether a value follows.
    flags: Vec<Flag>,
    /// Its subcommands.
    children: Vec<String>,
    /// Whether it names jobs.
    names_jobs: bool,
}

struct Flag {
    long: String,
    about: String,
    takes_value: bool,
    values: Vec<String>,
}

/// What completes the names of jobs: this command itself.
const JOBS: &str = "tidegate jobs --all --output name 2>/dev/null";

/// The script for a shell.
#[must_use]
pub fn script(mut command: Command, shell: Shell) -> String {
    command.build();
    let mut rows = Vec::new();
    collect(&command, &[], &mut rows);
    match shell {
        Shell::Bash => bash(&rows),
        Shell::Zsh => zsh(&rows),
        Shell::Fish => fish(&rows),
    }
}

fn collect(command: &Command, path: &[String], rows: &mut Vec<Row>) {
    let shown = || command.get_subcommands().filter(|child| !child.is_hide_set() && child.get_name() != "help");
    let names_jobs = command.get_positionals().any(|argument| matches!(argument.get_id().as_str(), "job" | "jobs"));
    rows.push(Row {
        path: path.to_vec(),
        about: first_line(command.get_about().map(ToString::to_string)),
        flags: command.get_arguments().filter_map(flag).collect(),
        children: shown().map(|child| child.get_name().to_owned()).collect(),
        names_jobs,
    });
    for child in shown() {
        let path: Vec<String> = path.iter().cloned().chain([child.get_name().to_owned()]).collect();
        collect(child, &path, rows);
    }
}

fn flag(argument: &clap::Arg) -> Option<Flag> {
    let long = argument.get_long()?;
    let values = argument.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
    Some(Flag {
        long: long.to_owned(),
        about: first_line(argument.get_help().map(ToString::to_string)),
        takes_value: matches!(argument.get_action(), ArgAction::Set | ArgAction::Append),
        values,
    })
}

fn first_line(text: Option<String>) -> String {
    text.and_then(|text| text.lines().next().map(str::to_owned)).unwrap_or_default()
}

impl Row {
    /// Its words, each after a space.
    fn spaced(&self) -> String {
        self.path.iter().flat_map(|word| [" ", word.as_str()]).collect()
    }

    fn words(&self) -> String {
        let flags = self.flags.iter().map(|flag| format!("--{}", flag.long));
        self.children.iter().cloned().chain(flags).collect::<Vec<_>>().join(" ")
    }
}

/// The flags after which something stands that is not a flag or a subcommand.
fn with_values(rows: &[Row]) -> Vec<&Flag> {
    let mut flags: Vec<&Flag> = rows.iter().flat_map(|row| &row.flags).filter(|flag| flag.takes_value).collect();
    flags.sort_by(|one, other| one.long.cmp(&other.long));
    flags.dedup_by(|one, other| one.long == other.long);
    flags
}

fn bash(rows: &[Row]) -> String {
    let mut text = "# Words of `tidegate` for bash: source <(tidegate completion bash)\n_tidegate() {\n".to_owned();
    text += "    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} path= word\n";
    text += "    COMPREPLY=()\n    case $before in\n";
    for flag in with_values(rows) {
        let reply = if flag.values.is_empty() {
            "COMPREPLY=($(compgen -f -- \"$current\"))".to_owned()
        } else {
            format!("COMPREPLY=($(compgen -W '{}' -- \"$current\"))", flag.values.join(" "))
        };
        let _ = writeln!(text, "        --{}) {reply}; return ;;", flag.long);
    }
    text += "    esac\n    for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n        [[ $word == -- ]] && return\n";
    text += "        [[ $word == -* ]] || path=\"$path $word\"\n    done\n    case \"$path \" in\n";
    for row in rows.iter().rev() {
        let names = if row.names_jobs { format!(" $({JOBS})") } else { String::new() };
        let path = row.spaced();
        let (path, words) = (format!("'{path} '*"), row.words());
        let _ = writeln!(text, "        {path}) COMPREPLY=($(compgen -W \"{words}{names}\" -- \"$current\")) ;;");
    }
    text + "    esac\n}\ncomplete -o default -F _tidegate tidegate\n"
}

fn zsh(rows: &[Row]) -> String {
    let mut text = "#compdef tidegate\n# Words of `tidegate` for zsh: source <(tidegate completion zsh)\n".to_owned();
    text += "_tidegate() {\n    local path= word\n    local -a told\n    case ${words[CURRENT-1]} in\n";
    for flag in with_values(rows) {
        let reply =
            if flag.values.is_empty() { "_files".to_owned() } else { format!("compadd {}", flag.values.join(" ")) };
        let _ = writeln!(text, "        --{}) {reply}; return ;;", flag.long);
    }
    text += "    esac\n    for word in ${words[2,CURRENT-1]}; do\n        [[ $word == -- ]] && { _files; return }\n";
    text += "        [[ $word == -* ]] || path=\"$path $word\"\n    done\n    case \"$path \" in\n";
    for row in rows.iter().rev() {
        let path = row.spaced();
        let _ = writeln!(text, "        '{path} '*)");
        let children = row.children.iter().map(|child| {
            let of = |other: &&Row| other.path.last() == Some(child) && other.path.len() == row.path.len() + 1;
            format!("'{child}:{}'", quoted(rows.iter().find(of).map_or("", |row| &row.about)))
        });
        let flags = row.flags.iter().map(|flag| format!("'--{}:{}'", flag.long, quoted(&flag.about)));
        let told: Vec<String> = children.chain(flags).collect();
        let _ = writeln!(text, "            told=({})\n            _describe tidegate told", told.join(" "));
        if row.names_jobs {
            let _ = writeln!(text, "            compadd -- ${{(f)\"$({JOBS})\"}}");
        }
        text += "            ;;\n";
    }
    text + "    esac\n}\ncompdef _tidegate tidegate\n"
}

fn fish(rows: &[Row]) -> String {
    let mut text = "# Words of `tidegate` for fish: tidegate completion fish | source\n".to_owned();
    for row in rows {
        let seen: Vec<String> =
            row.path.iter().map(|word| format!("__fish_seen_subcommand_from {word}; and ")).collect();
        let seen = seen.concat();
        let none = if row.children.is_empty() {
            "true".to_owned()
        } else {
            format!("not __fish_seen_subcommand_from {}", row.children.join(" "))
        };
        let when = format!("{seen}{none}");
        for child in &row.children {
            let of = |other: &&Row| other.path.last() == Some(child) && other.path.len() == row.path.len() + 1;
            let about = quoted(rows.iter().find(of).map_or("", |row| &row.about));
            let _ = writeln!(text, "complete -c tidegate -n '{when}' -f -a {child} -d '{about}'");
        }
        for Flag { long, about, takes_value, values } in &row.flags {
            let value = match (takes_value, values.is_empty()) {
                (false, _) => String::new(),
                (true, true) => " -r".to_owned(),
                (true, false) => format!(" -x -a '{}'", values.join(" ")),
            };
            let _ = writeln!(text, "complete -c tidegate -n '{when}' -l {long}{value} -d '{}'", quoted(about));
        }
        if row.names_jobs {
            let _ = writeln!(text, "complete -c tidegate -n '{when}' -f -a '({JOBS})'");
        }
    }
    text
}

/// Words between single quotes, and before a colon's next part.
fn quoted(text: &str) -> String {
    text.replace('\'', "’").replace(':', " -")
}

#[cfg(test)]
mod tests {
    use clap::Arg;
    use clap::Command;

    use super::Shell;
    use super::script;

    fn command() -> Command {
        let job = Command::new("job").about("One job: what it's like").arg(Arg::new("job"));
        let join = Command::new("join").about("Makes a key").arg(Arg::new("groups").long("groups"));
        Command::new("tidegate").subcommand(job).subcommand(Command::new("agent").subcommand(join))
    }

    #[test]
    fn every_shell_is_told_every_word() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let text = script(command(), shell);
            for word in ["job", "agent", "join", "groups", "tidegate jobs --all --output name"] {
                assert!(text.contains(word), "{shell:?}: {word}");
            }
            assert!(!text.contains("it's"), "{shell:?}: a quote would end the quotes");
        }
    }

    #[test]
    fn bash_completes_by_it() {
        let script = script(command(), Shell::Bash);
        let complete = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
            let ask = format!(
                "tidegate() {{ echo train-1; }}\n{script}\nCOMP_WORDS=({}); COMP_CWORD={}; _tidegate; echo ${{COMPREPLY[*]}}",
                words.join(" "),
                words.len() - 1
            );
            let output = std::process::Command::new("bash").args(["-c", &ask]).output().unwrap();
            assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).unwrap().trim().to_owned()
        };
        assert_eq!(complete(&["tidegate", "a"]), "agent");
        assert_eq!(complete(&["tidegate", "agent", ""]), "join --help");
        assert_eq!(complete(&["tidegate", "agent", "join", "--g"]), "--groups");
        assert_eq!(complete(&["tidegate", "job", "tr"]), "train-1");
        assert_eq!(complete(&["tidegate", "job", "--", "tr"]), "");
    }
}
