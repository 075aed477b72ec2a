//! A table of comma-separated values whose complaints name file, line, column, value and what to do.

use std::path::Path;

use engine::unit::decimal::thousandths;

/// A file's name and what is in it. Whoever runs a replay reads the files: in Wasm there are none.
#[derive(Clone, Debug)]
pub struct Source {
    /// Its name, for complaints.
    pub name: String,
    pub bytes: Vec<u8>,
}

impl Source {
    /// Reads a file.
    pub fn open(path: &Path) -> Result<Self, String> {
        let name = path.display().to_string();
        let bytes = std::fs::read(path).map_err(|error| format!("{name} cannot be read: {error}; check the name"))?;
        Ok(Self { name, bytes })
    }
}

/// A table in memory.
#[derive(Clone, Debug)]
pub struct Sheet {
    file: String,
    columns: Vec<String>,
    records: Vec<(u64, csv::StringRecord)>,
}

/// One line of it.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    sheet: &'a Sheet,
    /// Its number in the file, counted from 1.
    pub number: u64,
    record: &'a csv::StringRecord,
}

impl Sheet {
    /// Reads a file that must have these columns.
    pub fn read(source: &Source, required: &[&str]) -> Result<Self, String> {
        let file = source.name.clone();
        let bad = |error: csv::Error| {
            format!("{file} cannot be read: {error}; check that every line has as many values as the first")
        };
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(source.bytes.as_slice());
        let columns: Vec<String> =
            reader.headers().map_err(bad)?.iter().map(|name| name.trim_start_matches('\u{feff}').to_owned()).collect();
        if let Some(missing) = required.iter().find(|name| !columns.iter().any(|column| column == *name)) {
            return Err(format!(
                "{file}, line 1: there is no column {missing}; the columns are {}",
                columns.join(", ")
            ));
        }
        let mut records = Vec::new();
        for record in reader.records() {
            let record = record.map_err(bad)?;
            records.push((record.position().map_or(0, csv::Position::line), record));
        }
        Ok(Self { file, columns, records })
    }

    /// Whether it has this column.
    #[must_use]
    pub fn has(&self, column: &str) -> bool {
        self.columns.iter().any(|known| known == column)
    }

    /// Its columns that are none of these.
    #[must_use]
    pub fn unknown(&self, known: &[&str]) -> Vec<&str> {
        self.columns.iter().map(String::as_str).filter(|column| !known.contains(column)).collect()
    }

    /// Its lines, the heading left out.
    pub fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        self.records.iter().map(|(number, record)| Line { sheet: self, number: *number, record })
    }
}

impl<'a> Line<'a> {
    /// The file and its number.
    #[must_use]
    pub fn place(&self) -> String {
        format!("{}, line {}", self.sheet.file, self.number)
    }

    /// Whether the table has this column.
    #[must_use]
    pub fn has(&self, column: &str) -> bool {
        self.sheet.has(column)
    }

    /// The value in a column; nothing if there is no such column, or nothing in it.
    #[must_use]
    pub fn text(&self, column: &str) -> Option<&'a str> {
        let at = self.sheet.columns.iter().position(|known| known == column)?;
        self.record.get(at).filter(|value| !value.is_empty())
    }

    /// The value in a column that must have one.
    pub fn need(&self, column: &str) -> Result<&'a str, String> {
        self.text(column).ok_or_else(|| self.complaint(column, "", "write a value"))
    }

    /// The value as thousandths of a decimal number that is not negative.
    pub fn decimal(&self, column: &str) -> Result<Option<i64>, String> {
        let Some(text) = self.text(column) else { return Ok(None) };
        match thousandths(text) {
            Some(value) if value >= 0 => Ok(Some(value)),
            Some(_) => Err(self.complaint(column, text, "write a number that is not negative")),
            None => {
                Err(self.complaint(column, text, "write a decimal number with at most three digits after the point"))
            }
        }
    }

    /// The value as a decimal number that must be there.
    pub fn need_decimal(&self, column: &str) -> Result<i64, String> {
        self.decimal(column)?.ok_or_else(|| self.complaint(column, "", "write a number"))
    }

    /// One of some words.
    pub fn word<T: Copy>(&self, column: &str, words: &[(&str, T)]) -> Result<Option<T>, String> {
        let Some(text) = self.text(column) else { return Ok(None) };
        let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        match words.iter().find(|(word, _)| word.eq_ignore_ascii_case(text)) {
            Some((_, value)) => Ok(Some(*value)),
            None => Err(self.complaint(column, text, &format!("write one of {}", known.join(", ")))),
        }
    }

    /// What is wrong with a value, where, and what to do.
    #[must_use]
    pub fn complaint(&self, column: &str, value: &str, remedy: &str) -> String {
        format!("{}, column {column}: the value {value:?} cannot be used; {remedy}", self.place())
    }
}
