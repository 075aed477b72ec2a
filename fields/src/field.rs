//! A field: one thing of a command that can be set.

use engine::message::command::Command;

use crate::facts::Facts;
use crate::list::List;
use crate::number::Number;

/// One thing of the command `C`.
#[derive(Debug)]
pub(crate) struct Field<C: 'static> {
    /// Its name in documents and flags; never changed once it is used.
    pub(crate) key: &'static str,
    /// What people call it.
    pub(crate) label: &'static str,
    /// What it means, in a sentence.
    pub(crate) about: &'static str,
    /// What it holds.
    pub(crate) holds: Holds<C>,
}

/// What a field holds, how it is read from a command, and how it is written to it.
pub(crate) enum Holds<C: 'static> {
    /// A number.
    Number { range: fn(&C, &Facts) -> Number, read: fn(&C) -> i64, write: fn(&mut C, i64) },
    /// A number for each dimension of an amount.
    Amounts(Amounts<C>),
    /// One of several, or a text.
    Text { list: fn(&C) -> List, read: fn(&C) -> String, write: fn(&mut C, &Facts, &str) -> Result<(), String> },
}

impl<C> std::fmt::Debug for Holds<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Number { .. } => "Number",
            Self::Amounts(_) => "Amounts",
            Self::Text { .. } => "Text",
        })
    }
}

/// Numbers by the name of their dimension.
pub(crate) struct Amounts<C: 'static> {
    /// The dimensions.
    pub(crate) names: fn(&C) -> Vec<String>,
    /// What the number of one of them is called.
    pub(crate) label: fn(&C, &Number) -> String,
    /// What the number may be.
    pub(crate) range: fn(&C, &Facts, &str) -> Number,
    /// Reads it.
    pub(crate) read: fn(&C, &str) -> i64,
    /// Writes it.
    pub(crate) write: fn(&mut C, &Facts, &str, i64),
}

/// What a field holds now, or is to hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A number.
    Number(i64),
    /// What was chosen or typed.
    Text(String),
}

/// How a value is entered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// As a number.
    Number(Number),
    /// From a list, or as a text.
    Text(List),
}

/// A field as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// Its name: the field's, with the dimension behind a point where there is one for each.
    pub key: String,
    /// What people call it.
    pub label: String,
    /// What it means, in a sentence.
    pub about: &'static str,
    /// How it is entered.
    pub input: Input,
    /// What it holds.
    pub value: Value,
}

impl<C> Field<C> {
    fn shown(&self, command: &C, facts: &Facts) -> Vec<Shown> {
        let one = |key: String, label: String, input: Input, value: Value| Shown {
            key,
            label,
            about: self.about,
            input,
            value,
        };
        let key = || self.key.to_owned();
        match &self.holds {
            Holds::Number { range, read, .. } => {
                let now = read(command);
                let input = Input::Number(range(command, facts).including(now));
                vec![one(key(), self.label.to_owned(), input, Value::Number(now))]
            }
            Holds::Text { list, read, .. } => {
                let input = Input::Text(list(command));
                vec![one(key(), self.label.to_owned(), input, Value::Text(read(command)))]
            }
            Holds::Amounts(amounts) => {
                let each = |name: &String| {
                    let now = (amounts.read)(command, name);
                    let number = (amounts.range)(command, facts, name).including(now);
                    let label = (amounts.label)(command, &number);
                    one(format!("{}.{name}", self.key), label, Input::Number(number), Value::Number(now))
                };
                (amounts.names)(command).iter().map(each).collect()
            }
        }
    }

    /// Writes the value if the key is this field's; nothing if it is another's.
    fn write(&self, command: &mut C, facts: &Facts, key: &str, value: &Value) -> Option<Result<(), String>> {
        let rest = key.strip_prefix(self.key)?;
        let written = match (&self.holds, value) {
            (Holds::Number { range, read, write }, Value::Number(value)) if rest.is_empty() => {
                let range = range(command, facts).including(read(command));
                write(command, range.nearest(*value));
                Ok(())
            }
            (Holds::Text { write, .. }, Value::Text(text)) if rest.is_empty() => write(command, facts, text.trim()),
            (Holds::Amounts(amounts), Value::Number(value)) => {
                let name = rest.strip_prefix('.')?;
                let range = (amounts.range)(command, facts, name).including((amounts.read)(command, name));
                (amounts.write)(command, facts, name, range.nearest(*value));
                Ok(())
            }
            (Holds::Number { .. } | Holds::Amounts(_), Value::Text(text)) => Err(format!("“{text}” is not a number")),
            (Holds::Text { .. }, Value::Number(number)) if rest.is_empty() => {
                Err(format!("{} is a text, not the number {number}", self.label))
            }
            (Holds::Number { .. } | Holds::Text { .. }, _) => return None,
        };
        Some(written)
    }
}

/// A command with fields.
pub(crate) trait Described: Clone + Sized + 'static {
    /// Its fields, in the order in which they are shown.
    fn fields(&self) -> &'static [Field<Self>];
    /// What it changes, in one line.
    fn line(&self, facts: &Facts) -> String;
    /// As a command among others.
    fn command(self) -> Command;
}

/// A command whose fields can be read and written.
pub trait Edit {
    /// Its fields as they are.
    fn shown(&self, facts: &Facts) -> Vec<Shown>;
    /// The command with another value in one field.
    ///
    /// # Errors
    /// There is no such field, or why it cannot hold that.
    fn with(&self, facts: &Facts, key: &str, value: &Value) -> Result<Command, String>;
    /// What it changes, in one line.
    fn line(&self, facts: &Facts) -> String;
}

impl<C: Described> Edit for C {
    fn shown(&self, facts: &Facts) -> Vec<Shown> {
        self.fields().iter().flat_map(|field| field.shown(self, facts)).collect()
    }

    fn with(&self, facts: &Facts, key: &str, value: &Value) -> Result<Command, String> {
        let mut command = self.clone();
        let written = self.fields().iter().find_map(|field| field.write(&mut command, facts, key, value));
        written.unwrap_or_else(|| Err(format!("there is no field {key}")))?;
        Ok(command.command())
    }

    fn line(&self, facts: &Facts) -> String {
        Described::line(self, facts)
    }
}
