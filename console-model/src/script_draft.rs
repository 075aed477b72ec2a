//! What a job executes, as it is typed.

use std::collections::BTreeMap;

use agent::message::FORMAT;
use agent::script::Script;
use agent::script::Signal;

use crate::job_field::Field;

/// What has been typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScriptDraft {
    /// Lines for a shell.
    pub command: String,
    /// Where they run, if not in a folder of the run.
    pub directory: String,
    /// A line `NAME=VALUE` for each variable.
    pub environment: String,
    /// The signal that asks for a checkpoint.
    pub checkpoint: Option<Signal>,
}

/// The signals that may ask for a checkpoint, with their names.
pub const SIGNALS: [(&str, Signal); 4] =
    [("SIGUSR1", Signal::Usr1), ("SIGUSR2", Signal::Usr2), ("SIGINT", Signal::Int), ("SIGHUP", Signal::Hup)];

impl ScriptDraft {
    /// What is executed, or each fault with the field that has it.
    pub fn script(&self) -> Result<Script, Vec<(Field, String)>> {
        let mut faults = Vec::new();
        if self.command.trim().is_empty() {
            faults.push((Field::Command, "Enter the command that the job executes".to_owned()));
        }
        let mut environment = BTreeMap::new();
        for line in self.environment.lines().map(str::trim).filter(|line| !line.is_empty()) {
            match line.split_once('=') {
                Some((name, value)) if !name.trim().is_empty() => {
                    environment.insert(name.trim().to_owned(), value.to_owned());
                }
                Some(_) | None => {
                    faults.push((Field::Environment, format!("“{line}” is not NAME=VALUE, such as SEED=7")));
                }
            }
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let directory = Some(self.directory.trim()).filter(|directory| !directory.is_empty());
        Ok(Script {
            format: FORMAT,
            command: ["sh", "-c", self.command.trim()].map(str::to_owned).into(),
            directory: directory.map(str::to_owned),
            environment,
            checkpoint: self.checkpoint,
            adopted: None,
        })
    }

    /// The name of the signal that asks for a checkpoint; nothing without one.
    #[must_use]
    pub fn signal(&self) -> &'static str {
        SIGNALS.into_iter().find(|(_, signal)| Some(*signal) == self.checkpoint).map_or("", |(name, _)| name)
    }

    /// Chooses the signal with this name, or none.
    pub fn choose_signal(&mut self, name: &str) {
        self.checkpoint = SIGNALS.into_iter().find(|(known, _)| *known == name).map(|(_, signal)| signal);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use agent::script::Signal;

    use super::ScriptDraft;
    use crate::job_field::Field;

    #[test]
    fn lines_are_a_shells() {
        let mut draft = ScriptDraft {
            command: " python train.py --lr 0.1\necho done ".to_owned(),
            directory: " /data ".to_owned(),
            environment: "SEED=7\n\n WORD = a b=c\n".to_owned(),
            checkpoint: None,
        };
        draft.choose_signal("SIGUSR2");
        assert_eq!(draft.signal(), "SIGUSR2");
        let script = draft.script().unwrap();
        assert_eq!(script.command, ["sh", "-c", "python train.py --lr 0.1\necho done"]);
        assert_eq!(script.directory.as_deref(), Some("/data"));
        let known = [("SEED", "7"), ("WORD", " a b=c")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(script.environment, BTreeMap::from(known));
        assert_eq!(script.checkpoint, Some(Signal::Usr2));
        draft.choose_signal("");
        assert_eq!(draft.checkpoint, None);
    }

    #[test]
    fn a_command_is_needed_and_variables_have_names() {
        let draft = ScriptDraft { command: " \n".to_owned(), environment: "SEED\n=7".to_owned(), ..Default::default() };
        let faults = draft.script().unwrap_err();
        let told: Vec<_> = faults.iter().map(|(field, fault)| (*field, fault.as_str())).collect();
        assert_eq!(
            told,
            [
                (Field::Command, "Enter the command that the job executes"),
                (Field::Environment, "“SEED” is not NAME=VALUE, such as SEED=7"),
                (Field::Environment, "“=7” is not NAME=VALUE, such as SEED=7"),
            ]
        );
    }
}
