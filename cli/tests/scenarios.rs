//! Every scenario holds.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

use std::fs;
use std::path::Path;
use std::path::PathBuf;

use tidegate::scenario::report::run_file;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|other| other == extension));
    files.sort();
    files
}

/// The lines of the scenarios that fail.
fn failures(files: &[PathBuf]) -> Vec<String> {
    let reports = files.iter().flat_map(|file| run_file(file));
    reports.filter_map(|report| Some(format!("{} {}: {}", report.id, report.title, report.difference?))).collect()
}

#[test]
fn our_scenarios_hold() {
    let files = files(&root().join("scenarios"), "md");
    assert!(files.len() > 10, "only {} scenarios were found", files.len());
    assert_eq!(failures(&files), Vec::<String>::new());
}

/// What a scenario says that the seed says, it says.
#[test]
fn scenarios_of_the_market_quote_their_seed() {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let seed = root().join("../shared/seeds/preemptible-jobs.txt");
    let Ok(seed) = fs::read_to_string(&seed) else {
        println!("no quotes are checked: {} is not there", seed.display());
        return;
    };
    let mut files = files(&root().join("scenarios"), "md");
    files.retain(|file| file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("spot-")));
    let texts = files.iter().map(|file| fs::read_to_string(file).unwrap()).collect::<String>();
    let said =
        texts.lines().filter(|line| line.contains("eed says") || line.contains("eed lists") || line.contains("seed:"));
    let quotes: Vec<&str> = said.flat_map(|line| line.split('"').skip(1).step_by(2)).collect();
    assert!(quotes.len() > 35, "only {} quotes", quotes.len());
    let wrong: Vec<&&str> = quotes.iter().filter(|quote| !words(&seed).contains(&words(quote))).collect();
    assert_eq!(wrong, Vec::<&&str>::new());
}
