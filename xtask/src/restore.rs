//! What it takes to restore a large cluster from KV alone, invocation by invocation.
use crate::process::{Failure, command};

/// How many entries, if nobody says so: with a tenth as many jobs.
const ENTRIES: &str = "1000000";

pub(crate) fn run(entries: &[&str]) -> Result<(), Failure> {
    let entries = match entries {
        [] => ENTRIES,
        [entries] if entries.parse::<u64>().is_ok() => entries,
        [..] => {
            let said = format!("bench restore takes a number of entries, not {}", entries.join(" "));
            return Err(Failure::new(said, "cargo xtask bench restore [ENTRIES]"));
        }
    };
    let words = ["test", "--locked", "--release", "--package", "protocol", "--test", "simulation"];
    let mut test = command("cargo", &words);
    test.args(["--", "--nocapture", "large::"]).env("TIDEGATE_COUNT", entries);
    if test.status().is_ok_and(|status| status.success()) {
        return Ok(());
    }
    Err(Failure::new("the restore did not keep its limits", "see the message above: it says which"))
}
