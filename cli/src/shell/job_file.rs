//! `tidegate submit -f job.toml`: a file says what flags say, under their names. It becomes flags before the ones that were
//! typed, so that those win, and so that there is one list of them.

use std::ffi::OsString;
use std::path::Path;
use std::path::PathBuf;

use clap::Arg;
use clap::ArgAction;
use clap::ArgMatches;
use clap::Command;
use clap::Id;
use clap::builder::Resettable;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use toml::de::DeValue;

use crate::shell::failure::Failure;
use crate::shell::file::fault;
use crate::shell::file::fault::Fault;
use crate::shell::file::read;

/// The subcommand that reads such files.
const SUBMIT: &str = "submit";
/// Flags about how the command runs, which are not part of a job.
const NOT_OF_JOBS: [&str; 6] = ["file", "help", "yes", "dry-run", "context", "output"];
/// What stands behind `--`.
const COMMAND: &str = "command";

/// The words of the command line, with those of the file that they name before the others.
pub fn expanded(command: &Command, words: Vec<OsString>) -> Result<Vec<OsString>, Failure> {
    // What a flag needs may stand in the file.
    let alone = |flag: Arg| flag.requires(Resettable::<Id>::Reset);
    let lenient = command.clone().mut_subcommand(SUBMIT, |submit| submit.mut_args(alone));
    // What is wrong with the words themselves is said when they are read in earnest.
    let Ok(matches) = lenient.try_get_matches_from(&words) else { return Ok(words) };
    let Some((SUBMIT, given)) = matches.subcommand() else { return Ok(words) };
    let Ok(Some(path)) = given.try_get_one::<PathBuf>("file") else { return Ok(words) };
    let Some(submit) = command.find_subcommand(SUBMIT) else { return Ok(words) };
    let about = |problem: &str| Failure::usage(format!("{}: {problem}; nothing was sent", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| about(&error.to_string()))?;
    let job = Job { submit, given };
    let (flags, program) = job.words(&text).map_err(|problem| about(&problem))?;
    let Some(at) = words.iter().position(|word| word == SUBMIT) else { return Ok(words) };
    let (before, typed) = words.split_at(at + 1);
    let mut all: Vec<OsString> = before.to_vec();
    all.extend(flags.into_iter().map(OsString::from));
    all.extend_from_slice(typed);
    if given.value_source(COMMAND) != Some(ValueSource::CommandLine) && !program.is_empty() {
        all.push("--".into());
        all.extend(program.into_iter().map(OsString::from));
    }
    let together = command.clone().try_get_matches_from(&all).map_err(|error| about(&first_line(&error)));
    together.map(|_| all)
}

fn first_line(error: &clap::Error) -> String {
    let text = error.to_string();
    text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned()
}

/// What is wrong with what a flag says, with its place in the file; nothing if the file does not say that.
#[must_use]
pub fn located(path: &Path, flag: &str, said: &str, fault: &str) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let table = read::table(&text).ok()?;
    let (_, value) = table.iter().find(|(key, _)| **key.get_ref() == *flag)?;
    let is_that = scalar(value.get_ref()).is_ok_and(|own| own == said);
    is_that.then(|| format!("{}: {}", path.display(), Fault::new(fault).at(&value.span()).told(&text)))
}

/// A job as its file says, and what was typed besides.
struct Job<'a> {
    submit: &'a Command,
    given: &'a ArgMatches,
}

impl Job<'_> {
    /// The flags, and the words of the program.
    fn words(&self, text: &str) -> Result<(Vec<String>, Vec<String>), String> {
        let (mut flags, mut program) = (Vec::new(), Vec::new());
        let table = read::table(text)?;
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        for (key, value) in entries {
            let told = |fault: String| Fault::new(fault).at(&value.span()).told(text);
            if key.get_ref() == COMMAND {
                program = words(value.get_ref()).map_err(told)?;
                continue;
            }
            let flag = self.flag(key.get_ref()).map_err(|fault| Fault::new(fault).at(&key.span()).told(text))?;
            if self.is_overridden(flag) {
                continue;
            }
            let own = said(flag, value.get_ref()).map_err(told)?;
            self.check(&own).map_err(told)?;
            flags.extend(own);
        }
        Ok((flags, program))
    }

    fn flag(&self, name: &str) -> Result<&Arg, String> {
        let of_jobs = |flag: &&Arg| flag.get_long().is_some_and(|long| !NOT_OF_JOBS.contains(&long));
        let known = || self.submit.get_arguments().filter(of_jobs);
        known().find(|flag| flag.get_long() == Some(name)).ok_or_else(|| {
            let names: Vec<&str> = known().filter_map(Arg::get_long).chain([COMMAND]).collect();
            fault::unknown("field", name, &names)
        })
    }

    /// Whether something was typed that does not go together with it; of the same flag, what is typed later wins by itself.
    fn is_overridden(&self, flag: &Arg) -> bool {
        let is_typed = |other: &Arg| self.given.value_source(other.get_id().as_str()) == Some(ValueSource::CommandLine);
        let excludes = |one: &Arg, other: &Arg| {
            self.submit.get_arg_conflicts_with(one).iter().any(|excluded| excluded.get_id() == other.get_id())
        };
        let known = self.submit.get_arguments();
        known.filter(|other| is_typed(other)).any(|other| excludes(flag, other) || excludes(other, flag))
    }

    /// Whether the flag can have this value. What it needs besides is judged with the others.
    fn check(&self, words: &[String]) -> Result<(), String> {
        let alone = std::iter::once(SUBMIT).chain(words.iter().map(String::as_str));
        match self.submit.clone().try_get_matches_from(alone) {
            Err(error) if error.kind() != ErrorKind::MissingRequiredArgument => Err(first_line(&error)),
            Err(_) | Ok(_) => Ok(()),
        }
    }
}

/// A flag as it would be typed.
fn said(flag: &Arg, value: &DeValue<'_>) -> Result<Vec<String>, String> {
    let name = flag.get_long().unwrap_or_default();
    match (flag.get_action(), value) {
        (ArgAction::SetTrue, DeValue::Boolean(is_so)) => Ok(is_so.then(|| format!("--{name}")).into_iter().collect()),
        (ArgAction::SetTrue, _) => Err(format!("“{name}” is true or false")),
        (ArgAction::Append, DeValue::Table(parts)) => {
            let each =
                parts.iter().map(|(key, part)| Ok(format!("--{name}={}={}", key.get_ref(), scalar(part.get_ref())?)));
            each.collect()
        }
        (ArgAction::Append, DeValue::Array(items)) => {
            items.iter().map(|item| Ok(format!("--{name}={}", scalar(item.get_ref())?))).collect()
        }
        (ArgAction::Append, _) => Err(format!("“{name}” is a table, such as {{ NAME = \"VALUE\" }}")),
        (_, value) => Ok(vec![format!("--{name}={}", scalar(value)?)]),
    }
}

fn scalar(value: &DeValue<'_>) -> Result<String, String> {
    match value {
        DeValue::String(text) => Ok(text.to_string()),
        DeValue::Integer(number) if number.radix() == 10 => Ok(number.as_str().to_owned()),
        DeValue::Float(number) => Ok(number.as_str().to_owned()),
        DeValue::Integer(_) | DeValue::Boolean(_) | DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => {
            Err(format!("{} stands where a text or a number is expected", value.type_str()))
        }
    }
}

/// The words of a program: a list as they are, and a text as a line for a shell.
fn words(value: &DeValue<'_>) -> Result<Vec<String>, String> {
    if let DeValue::String(line) = value {
        return Ok(["sh", "-c", line].map(str::to_owned).into());
    }
    let wanted = "the words of a program are expected, such as [\"python\", \"train.py\"]";
    let items = value.as_array().ok_or_else(|| format!("{} stands where {wanted}", value.type_str()))?;
    items.iter().map(|item| scalar(item.get_ref())).collect()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use clap::CommandFactory;
    use clap::FromArgMatches;
    use clap::Parser;

    use super::expanded;
    use crate::shell::failure::Failure;
    use crate::shell::submit::Submit;

    #[derive(Debug, Parser)]
    struct Program {
        #[command(subcommand)]
        task: Task,
    }

    #[derive(Debug, clap::Subcommand)]
    enum Task {
        Submit(Box<Submit>),
    }

    const JOB: &str = "name = \"train\"\ngpus = 8\namount = { cpu = 16 }\npriority = 5\nagain = true\n\
                       duration = \"2h\"\nenv = { SEED = 7, WORD = \"a b\" }\ncommand = [\"python\", \"train.py\"]\n";

    /// What is submitted by a file of this text and these words.
    fn submitted(text: &str, typed: &[&str]) -> Result<Submit, Failure> {
        let thread = std::thread::current();
        let name = format!("tidegate-{}-{}.toml", std::process::id(), thread.name().unwrap().replace("::", "-"));
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, text).unwrap();
        let file = [OsString::from("tidegate"), "submit".into(), "-f".into(), path.clone().into()];
        let words = expanded(&Program::command(), file.into_iter().chain(typed.iter().map(OsString::from)).collect());
        std::fs::remove_file(path).unwrap();
        let matches =
            Program::command().try_get_matches_from(words?).map_err(|error| Failure::usage(error.to_string()))?;
        let Task::Submit(submit) = Program::from_arg_matches(&matches).unwrap().task;
        Ok(*submit)
    }

    #[test]
    fn a_file_says_what_flags_say() {
        let job = submitted(JOB, &[]).unwrap();
        assert_eq!((job.name.as_deref(), job.gpus.as_deref(), job.priority.get()), (Some("train"), Some("8"), 5));
        assert_eq!((job.again, job.duration.as_str(), job.amounts), (true, "2h", vec!["cpu=16".to_owned()]));
        assert_eq!(job.environment, ["SEED=7", "WORD=a b"]);
        assert_eq!(job.command, ["python", "train.py"]);
        assert_eq!(submitted("command = \"echo $HOME\"", &[]).unwrap().command, ["sh", "-c", "echo $HOME"]);
    }

    #[test]
    fn what_is_typed_wins() {
        let job = submitted(JOB, &["--gpus", "2", "--name", "other", "--env", "SEED=8", "--", "true"]).unwrap();
        assert_eq!((job.name.as_deref(), job.gpus.as_deref()), (Some("other"), Some("2")));
        assert_eq!(job.environment.last().map(String::as_str), Some("SEED=8"), "the last one of a name counts");
        assert_eq!((job.command, job.priority.get()), (vec!["true".to_owned()], 5));
        let bid = submitted("offer = \"gn8\"\ndiscount = 40\n", &["--price", "0.3"]).unwrap();
        assert_eq!((bid.discount, bid.price.as_deref()), (None, Some("0.3")), "a price excludes the file's discount");
        let bid = submitted(JOB, &["--offer", "gn8"]).unwrap();
        assert_eq!((bid.offer.as_deref(), bid.gpus), (Some("gn8"), None));
        assert_eq!(submitted("offer = \"gn8\"", &["--discount", "40"]).unwrap().discount, Some(40));
    }

    #[test]
    fn mistakes_are_told_with_line_and_column_and_what_was_meant() {
        for (text, told) in [
            ("gpus = 8\nprioritty = 3\n", "line 2, column 1: there is no field “prioritty”; did you mean “priority”?"),
            ("priority = 12", "line 1, column 12: invalid value '12' for '--priority"),
            ("idle = \"often\"", "line 1, column 8: invalid value 'often' for '--idle"),
            ("again = 1", "line 1, column 9: “again” is true or false"),
            ("env = \"SEED=7\"", "line 1, column 7: “env” is a table, such as { NAME = \"VALUE\" }"),
            ("command = 5", "line 1, column 11: integer stands where the words of a program are expected"),
            ("gpus = [1]", "line 1, column 8: array stands where a text or a number is expected"),
            ("gpus = \n", "line 1, column "),
            ("dry-run = true", "line 1, column 1: there is no field “dry-run”"),
            ("gpus = 1\noffer = \"gn8\"", "the argument '--"),
            ("discount = 40", "the following required arguments were not provided"),
        ] {
            let said = submitted(text, &[]).unwrap_err().text;
            let (_, said) = said.split_once(".toml: ").unwrap_or_else(|| panic!("{said}"));
            assert!(said.starts_with(told) && said.ends_with("; nothing was sent"), "{text}: {said}");
        }
    }
}
