//! Rust files as the rules see them.
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// One file: its path from the repository's root, and its text.
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Source {
    /// Every Rust file under the `src` of these crates, but files of tests.
    pub(crate) fn tree(crates: &[String]) -> Vec<Self> {
        Self::files(crates, &["src"], |name| name != "tests" && name != "tests.rs")
    }

    /// Every Rust file of these crates, with those of tests.
    pub(crate) fn tree_with_tests(crates: &[String]) -> Vec<Self> {
        Self::files(crates, &["src", "tests"], |_| true)
    }

    /// A file of another kind.
    pub(crate) fn file(path: &str) -> Self {
        let text = fs::read_to_string(root().join(path)).expect("the file is there");
        Self { path: path.to_owned(), text }
    }

    fn files(crates: &[String], folders: &[&str], is_wanted: fn(&str) -> bool) -> Vec<Self> {
        let root = root();
        let mut sources = Vec::new();
        for name in crates {
            let before = sources.len();
            for folder in folders {
                collect(&root, &root.join(name).join(folder), is_wanted, &mut sources);
            }
            assert!(sources.len() > before, "{name}/src holds no Rust file");
        }
        sources.sort_by(|a: &Self, b: &Self| a.path.cmp(&b.path));
        sources
    }

    /// The numbered lines of code, without comments and without the test module that ends a file.
    pub(crate) fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let n_lines = self.tests_start().unwrap_or(usize::MAX);
        self.text
            .lines()
            .take(n_lines)
            .map(|line| line.split("//").next().unwrap_or_default())
            .enumerate()
            .map(|(index, line)| (index + 1, line))
    }

    /// The text up to the test module that ends a file.
    pub(crate) fn text_without_tests(&self) -> &str {
        let n_lines = self.tests_start().unwrap_or(usize::MAX);
        let length = self.text.split_inclusive('\n').take(n_lines).map(str::len).sum();
        &self.text[..length]
    }

    /// The attribute may also stand before `mod tests;` at the top, which ends nothing.
    fn tests_start(&self) -> Option<usize> {
        let lines: Vec<&str> = self.text.lines().map(str::trim).collect();
        lines
            .windows(2)
            .position(|pair| pair[0] == "#[cfg(test)]" && pair[1].starts_with("mod ") && pair[1].ends_with('{'))
    }

    pub(crate) fn fault(&self, line: usize, what: impl Into<String>) -> Fault {
        Fault { path: self.path.clone(), line, what: what.into() }
    }
}

/// The repository. Cargo's word at run time: the path of the compilation may be that of another working copy.
pub(crate) fn root() -> PathBuf {
    let manifest_dir = std::env::var("CARGO_MANIFEST_DIR").expect("cargo runs the tests");
    Path::new(&manifest_dir).parent().expect("xtask/ lies inside the repository").to_owned()
}

fn collect(root: &Path, dir: &Path, is_wanted: fn(&str) -> bool, sources: &mut Vec<Source>) {
    let Ok(entries) = fs::read_dir(dir) else {
        return;
    };
    for entry in entries {
        let path = entry.expect("the source tree can be read").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() && is_wanted(name) {
            collect(root, &path, is_wanted, sources);
        } else if Path::new(name).extension().is_some_and(|end| end == "rs") && is_wanted(name) {
            sources.push(Source {
                path: path.strip_prefix(root).unwrap_or(&path).display().to_string(),
                text: fs::read_to_string(&path).expect("a source file is text"),
            });
        }
    }
}

/// A place where a rule is broken, and what to do about it.
pub(crate) struct Fault {
    path: String,
    line: usize,
    what: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, what } = self;
        write!(f, "{path}:{line}: {what}")
    }
}
