//! Keeps what this version stores of two clusters, so that every later version has to open it.
use crate::bundle::cargo_output_dir;
use crate::process::{Failure, output, root, show};
use std::fs;
use std::path::Path;

/// Where such clusters are kept, by the commit that stored them.
const KEPT: &str = "protocol/tests/stored";
/// The test that makes them, and opens what is kept.
const TESTS: [&str; 7] = ["test", "--locked", "--package", "protocol", "--test", "simulation", "stored::"];

pub(crate) fn keep() -> Result<(), Failure> {
    show("cargo", &TESTS, "a version is kept once it opens what it stores itself, and what earlier ones did")?;
    let commit = output("git", &["rev-parse", "--short", "HEAD"])
        .ok_or_else(|| Failure::new("the commit has no name", "run it in a working copy of the repository"))?;
    let kept = root().join(KEPT).join(&commit);
    if kept.exists() {
        return Err(Failure::new(format!("{} is there already", kept.display()), "what is kept is never changed"));
    }
    copy(&cargo_output_dir().join("tmp/stored"), &kept)?;
    println!("{KEPT}/{commit} is what every later version has to open");
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    fs::create_dir_all(to).map_err(|error| Failure::file(to, &error))?;
    for entry in fs::read_dir(from).map_err(|error| Failure::file(from, &error))? {
        let path = entry.map_err(|error| Failure::file(from, &error))?.path();
        let Some(name) = path.file_name() else { continue };
        if path.is_dir() {
            copy(&path, &to.join(name))?;
        } else {
            fs::copy(&path, to.join(name)).map_err(|error| Failure::file(&path, &error))?;
        }
    }
    Ok(())
}
