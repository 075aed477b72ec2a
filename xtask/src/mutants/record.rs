//! What became of each mutant: a file to which every run adds a line, so that totals add up over runs.
use crate::process::Failure;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};

/// A change to one function of the engine, as the tool names it.
pub(crate) struct Mutant {
    /// Its place among all that the tool lists.
    pub(crate) at: usize,
    /// With file, line and column.
    pub(crate) name: String,
    pub(crate) file: String,
    /// What is changed, without the place.
    pub(crate) change: String,
    /// The line that is changed.
    pub(crate) line: String,
    /// The same as long as the function stays as it is, wherever it moves in its file.
    pub(crate) key: String,
}

impl Mutant {
    /// One of the tool's list, with the text of its file.
    pub(crate) fn of(at: usize, listed: &Value, text: &str) -> Option<Self> {
        let name = listed["name"].as_str()?.to_owned();
        let file = listed["file"].as_str()?.to_owned();
        let change = name.splitn(4, ':').nth(3)?.trim().to_owned();
        let line_of = |span: &Value, end: &str| usize::try_from(span[end]["line"].as_u64()?).ok();
        let own = line_of(&listed["span"], "start")?;
        let span = &listed["function"]["span"];
        let first = line_of(span, "start").unwrap_or(own);
        let last = line_of(span, "end").unwrap_or(own);
        let lines: Vec<&str> = text.lines().collect();
        let line = (*lines.get(own.checked_sub(1)?)?).trim().to_owned();
        let function = lines.get(first.checked_sub(1)?..last)?;
        let mut hasher = DefaultHasher::new();
        (&file, function, own - first, listed["span"]["start"]["column"].as_u64(), &change).hash(&mut hasher);
        Some(Self { at, name, file, change, line, key: format!("{:016x}", hasher.finish()) })
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// A test failed.
    Caught,
    /// It never came to an end, which nobody would overlook.
    TimedOut,
    Survived,
    /// It does not compile.
    Unviable,
}

impl Outcome {
    pub(crate) const ALL: [Self; 4] = [Self::Caught, Self::TimedOut, Self::Survived, Self::Unviable];

    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Caught => "caught",
            Self::TimedOut => "timeout",
            Self::Survived => "survived",
            Self::Unviable => "unviable",
        }
    }

    /// Where the tool names such mutants.
    pub(crate) const fn list(self) -> &'static str {
        match self {
            Self::Caught => "caught.txt",
            Self::TimedOut => "timeout.txt",
            Self::Survived => "missed.txt",
            Self::Unviable => "unviable.txt",
        }
    }
}

/// The outcomes of all runs so far, by the mutant's key.
pub(crate) struct Record {
    path: PathBuf,
    outcomes: BTreeMap<String, (Outcome, String)>,
}

impl Record {
    pub(crate) fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap_or_default();
        let outcomes = text.lines().filter_map(|line| {
            let [key, word, stage] = line.split('\t').take(3).collect::<Vec<_>>().try_into().ok()?;
            let outcome = Outcome::ALL.into_iter().find(|outcome| outcome.word() == word)?;
            Some((key.to_owned(), (outcome, stage.to_owned())))
        });
        Self { path: path.to_path_buf(), outcomes: outcomes.collect() }
    }

    /// What became of it, and at which stage.
    pub(crate) fn entry(&self, mutant: &Mutant) -> Option<(Outcome, &str)> {
        self.outcomes.get(&mutant.key).map(|(outcome, stage)| (*outcome, stage.as_str()))
    }

    pub(crate) fn of(&self, mutant: &Mutant) -> Option<Outcome> {
        self.entry(mutant).map(|(outcome, _)| outcome)
    }

    pub(crate) fn add(&mut self, mutant: &Mutant, outcome: Outcome, stage: &str) -> Result<(), Failure> {
        let line = format!("{}\t{}\t{stage}\t{}\n", mutant.key, outcome.word(), mutant.name);
        let mut file = fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.path)
            .map_err(|error| Failure::file(&self.path, &error))?;
        file.write_all(line.as_bytes()).map_err(|error| Failure::file(&self.path, &error))?;
        self.outcomes.insert(mutant.key.clone(), (outcome, stage.to_owned()));
        Ok(())
    }
}

/// The survivors that are no gap in the tests, each listed with its reason: file, change and line stand in backticks.
pub(crate) struct Listed(Vec<[String; 3]>);

impl Listed {
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let text = fs::read_to_string(path).map_err(|error| Failure::file(path, &error))?;
        let entry = |line: &str| {
            let mut quoted = line.strip_prefix("- ")?.split('`').skip(1).step_by(2).map(str::to_owned);
            Some([quoted.next()?, quoted.next()?, quoted.next()?])
        };
        Ok(Self(text.lines().filter_map(entry).collect()))
    }

    pub(crate) fn holds(&self, mutant: &Mutant) -> bool {
        self.0.iter().any(|[file, change, line]| {
            mutant.file.ends_with(file.as_str()) && mutant.change == *change && mutant.line == *line
        })
    }
}
