//! What is wrong with a line, and where in it.

use std::fmt;

/// A complaint about a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where the word begins that is wrong, or where one is missing: letters from the line's beginning, from 1; nothing if
    /// it is about the whole line.
    pub column: Option<usize>,
    /// What is wrong, and what should stand there.
    pub reason: String,
}

impl Fault {
    /// About the word of a line that begins with this letter of it.
    #[must_use]
    pub fn at(line: &str, byte: usize, reason: String) -> Self {
        let column = line.get(..byte).map(|before| before.chars().count() + 1);
        Self { column, reason }
    }

    /// About a word of a line by its number, from 0.
    #[must_use]
    pub fn of_word(line: &str, number: usize, reason: String) -> Self {
        let word = line.split_whitespace().nth(number);
        Self::at(line, word.map_or(0, |word| offset(line, word)), reason)
    }

    /// With the number of its line.
    #[must_use]
    pub fn in_line(&self, line: usize) -> String {
        let Self { column, reason } = self;
        match column {
            Some(column) => format!("line {line}, column {column}: {reason}"),
            None => format!("line {line}: {reason}"),
        }
    }
}

/// Where a word of a line begins, in bytes.
pub(crate) fn offset(line: &str, word: &str) -> usize {
    (word.as_ptr() as usize).saturating_sub(line.as_ptr() as usize)
}

impl From<String> for Fault {
    fn from(reason: String) -> Self {
        Self { column: None, reason }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.column {
            Some(column) => write!(f, "column {column}: {}", self.reason),
            None => f.write_str(&self.reason),
        }
    }
}
