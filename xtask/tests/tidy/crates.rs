//! The workspace's crates, as cargo knows them: a crate uses crates of lower rows, never one of its own row or above.
use std::process::Command;

use serde_json::Value;

use crate::source::root;

/// All crates, lowest layer first.
const LAYERS: [&[&str]; 5] = [
    &["engine", "agent", "fuel", "heap"],
    &["fields", "script", "trace", "protocol", "pai", "runner", "console-model", "bytes-of-runs"],
    &["planner"],
    &["cases", "tidegate", "edge", "charts", "openapi", "requests"],
    &["planner-embed", "planner-page", "figures-in-wasm", "frontend", "xtask", "fuzz"],
];

/// A crate: its name, its folder, and the crates of the workspace that its code uses.
pub(crate) struct Crate {
    pub(crate) name: String,
    pub(crate) folder: String,
    uses: Vec<String>,
}

/// Every member of the workspace.
pub(crate) fn members() -> Vec<Crate> {
    let cargo = std::env::var_os("CARGO").expect("cargo runs the tests");
    let words = ["metadata", "--no-deps", "--offline", "--format-version", "1"];
    let output = Command::new(cargo).args(words).current_dir(root()).output().expect("cargo starts");
    assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo metadata is JSON");
    let packages = metadata["packages"].as_array().expect("there are packages");
    packages.iter().map(member).collect()
}

fn member(package: &Value) -> Crate {
    let text = |value: &Value| value.as_str().expect("it is a text").to_owned();
    let root = root().canonicalize().expect("the repository is there");
    let manifest = text(&package["manifest_path"]);
    let folder =
        manifest.strip_prefix(&format!("{}/", root.display())).and_then(|path| path.strip_suffix("/Cargo.toml"));
    let dependencies = package["dependencies"].as_array().expect("there is a list of dependencies");
    let is_member = |dependency: &&Value| dependency["path"].is_string() && dependency["kind"].is_null();
    Crate {
        name: text(&package["name"]),
        folder: folder.unwrap_or_else(|| panic!("{manifest} lies inside {}", root.display())).to_owned(),
        uses: dependencies.iter().filter(is_member).map(|dependency| text(&dependency["name"])).collect(),
    }
}

/// What breaks the layers.
pub(crate) fn check(crates: &[Crate]) -> Vec<String> {
    crates.iter().flat_map(faults_of).collect()
}

fn faults_of(of: &Crate) -> Vec<String> {
    let Some(own) = row_of(&of.name) else {
        return vec![format!("{}: crate {} has no row: give it one in LAYERS", of.folder, of.name)];
    };
    let is_above = |used: &&String| row_of(used).is_none_or(|row| row >= own);
    let wrong = of.uses.iter().filter(is_above);
    wrong.map(|used| format!("{}: {} may not use {used}, which is not of a lower row", of.folder, of.name)).collect()
}

fn row_of(name: &str) -> Option<usize> {
    LAYERS.iter().position(|row| row.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::{Crate, check};

    fn faults(name: &str, uses: &[&str]) -> Vec<String> {
        let uses = uses.iter().map(|used| (*used).to_owned()).collect();
        check(&[Crate { name: name.to_owned(), folder: "x".to_owned(), uses }])
    }

    #[test]
    fn an_arrow_up_fires() {
        assert_eq!(
            faults("planner", &["engine", "frontend"]),
            ["x: planner may not use frontend, which is not of a lower row"]
        );
    }

    #[test]
    fn an_arrow_within_a_row_fires() {
        assert_eq!(faults("protocol", &["pai"]).len(), 1);
    }

    #[test]
    fn a_crate_without_a_row_fires_whether_it_uses_or_is_used() {
        assert_eq!(faults("helpers", &[]).len(), 1);
        assert_eq!(faults("planner", &["helpers"]).len(), 1);
    }

    #[test]
    fn lower_rows_are_free() {
        assert!(faults("frontend", &["engine", "console-model", "planner"]).is_empty());
    }
}
