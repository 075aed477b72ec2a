//! Where mutants are tried: a copy of the repository, what has been built of it, and the tool that makes the changes.
use super::record::{Mutant, Outcome};
use super::stage::{HISTORIES, STAGES, Stage};
use super::tree;
use crate::bundle::cargo_output_dir;
use crate::process::{Failure, output, root, show};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const VERSION: &str = "27.1.0";

/// What is changed.
const FILES: [&str; 4] =
    ["engine/src/schedule/**", "engine/src/ledger/**", "engine/src/market/**", "engine/src/transition/**"];

/// Where seeds and scenarios from the field stand, beside the checkout.
const COMPANION: &str = "../shared";

/// Runs a program with 12 GB of memory and two minutes of a processor at most, as each that it starts: a loop may have
/// no end, and take memory in every turn. How long that is on the clock depends on what else a machine has to do.
const LIMITED: [&str; 3] = ["-c", "ulimit -v 12000000 && ulimit -t 120 && exec \"$@\"", "sh"];

/// After how many seconds on the clock a test counts as without an end: only those that wait do not use up their time.
const TIMEOUT: &str = "3600";

pub(crate) struct Ground {
    folder: PathBuf,
    program: String,
}

impl Ground {
    /// Brings the copy up to date.
    pub(crate) fn prepare() -> Result<Self, Failure> {
        let ground = Self { folder: cargo_output_dir().join("mutants"), program: cargo_mutants()? };
        tree::refresh(&ground.tree())?;
        let (companion, link) = (root().join(COMPANION), ground.folder.join("shared"));
        if companion.is_dir() && !link.exists() {
            std::os::unix::fs::symlink(&companion, &link).map_err(|error| Failure::file(&link, &error))?;
        }
        Ok(ground)
    }

    fn tree(&self) -> PathBuf {
        self.folder.join("tree")
    }

    /// All mutants, in the tool's order.
    pub(crate) fn list(&self) -> Result<Vec<Mutant>, Failure> {
        let failure = || Failure::new("the mutants are not listed", format!("run `{} mutants --list`", self.program));
        let said = self.command().args(["--list", "--json"]).output().map_err(|_| failure())?;
        let list: Vec<Value> = serde_json::from_slice(&said.stdout).map_err(|_| failure())?;
        let mut texts: BTreeMap<String, String> = BTreeMap::new();
        let mut mutants = Vec::new();
        for (at, listed) in list.iter().enumerate() {
            let file = listed["file"].as_str().ok_or_else(failure)?;
            if !texts.contains_key(file) {
                let path = self.tree().join(file);
                let text = fs::read_to_string(&path).map_err(|error| Failure::file(&path, &error))?;
                texts.insert(file.to_owned(), text);
            }
            mutants.push(Mutant::of(at, listed, &texts[file]).ok_or_else(failure)?);
        }
        Ok(mutants)
    }

    /// What becomes of a mutant, and the stage that decides it.
    pub(crate) fn judge(&self, mutant: &Mutant, count: usize) -> Result<(Outcome, &'static str), Failure> {
        let mut last = "";
        for stage in &STAGES {
            last = stage.name;
            let outcome = self.pass(stage, mutant, count)?;
            if outcome != Outcome::Survived {
                return Ok((outcome, stage.name));
            }
        }
        Ok((Outcome::Survived, last))
    }

    fn pass(&self, stage: &Stage, mutant: &Mutant, count: usize) -> Result<Outcome, Failure> {
        let mut command = self.command();
        // As many shards as mutants make one of each; the tool's patterns do not hold for mutants of every kind.
        command.args(["--shard", &format!("{}/{count}", mutant.at), "--sharding", "round-robin"]);
        command.args(["--in-place", "--baseline", "skip", "--timeout", TIMEOUT]);
        command.args(stage.packages.iter().flat_map(|package| ["--test-package", package]));
        command.args(stage.targets.iter().map(|target| format!("--cargo-arg={target}")));
        command.args(["--", "--"]).args(stage.arguments).stdout(Stdio::null());
        let status = command.status();
        let lists = self.folder.join("mutants.out");
        let is_in = |list: &str| fs::read_to_string(lists.join(list)).is_ok_and(|text| text.trim_end() == mutant.name);
        let outcome = Outcome::ALL.into_iter().find(|outcome| is_in(outcome.list()));
        outcome.filter(|_| status.is_ok()).ok_or_else(|| {
            Failure::new(
                format!("nothing is known of {}", mutant.name),
                format!("see {}", lists.join("debug.log").display()),
            )
        })
    }

    fn command(&self) -> Command {
        let mut command = Command::new("sh");
        command.args(LIMITED).args([&self.program, "mutants", "--package", "engine", "--output"]).arg(&self.folder);
        command.args(FILES.iter().flat_map(|files| ["--file", files]));
        command.current_dir(self.tree()).env("CARGO_TARGET_DIR", self.folder.join("build"));
        command.env("CARGO_PROFILE_DEV_DEBUG", "0").env("CARGO_PROFILE_TEST_DEBUG", "0");
        command.env("TIDEGATE_COUNT", HISTORIES);
        command
    }
}

/// The program, installed once for each version.
fn cargo_mutants() -> Result<String, Failure> {
    let tools: &Path = &cargo_output_dir().join("tools");
    let program = tools.join("bin/cargo-mutants").display().to_string();
    if output(&program, &["mutants", "--version"]).is_some_and(|version| version.ends_with(VERSION)) {
        return Ok(program);
    }
    println!("installing cargo-mutants {VERSION}");
    let (package, tools) = (format!("cargo-mutants@{VERSION}"), tools.display().to_string());
    let arguments = ["install", "--locked", "--quiet", "--root", &tools, &package];
    show("cargo", &arguments, "the first run needs the network")?;
    Ok(program)
}
