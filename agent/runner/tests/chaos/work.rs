//! A job of the chaos test. It writes down itself when it starts and ends, and holds its GPUs in its own way: nothing that
//! agent or supervisor say is believed.
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use rustix::fs::FlockOperation;
use rustix::fs::flock;
use rustix::io::FdFlags;
use rustix::io::fcntl_setfd;

fn told(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

/// Lives for a moment; how long and how it ends depends on its run.
pub(crate) fn run(folder: &Path) -> u8 {
    let (run, rank) = (told("TIDEGATE_RUN"), told("RANK"));
    let number: u64 = run.split('-').next_back().and_then(|number| number.parse().ok()).unwrap_or_default();
    note(folder, &format!("start {run} {rank}"));
    let held: Vec<Option<File>> = told("CUDA_VISIBLE_DEVICES").split(',').map(|gpu| hold(folder, gpu, &run)).collect();
    if number.is_multiple_of(5) {
        // A child that leaves its parent and its group, and would live much longer.
        let child = Command::new("setsid").args(["sleep", "600"]).spawn();
        drop(child);
    }
    // Some live for long enough to see others come and go.
    let more = if number.is_multiple_of(2) { 800 } else { 0 };
    std::thread::sleep(Duration::from_millis(5 + number * 37 % 150 + more));
    note(folder, &format!("end {run} {rank}"));
    drop(held);
    u8::from(number.is_multiple_of(7))
}

/// Holds a GPU in the name of this process and of all that come of it.
fn hold(folder: &Path, gpu: &str, run: &str) -> Option<File> {
    let name = format!("{}-{gpu}", told("TIDEGATE_NODE"));
    let file = File::options().write(true).create(true).truncate(false).open(folder.join(name)).ok()?;
    fcntl_setfd(&file, FdFlags::empty()).ok()?;
    if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
        note(folder, &format!("double {run} {gpu}"));
    }
    Some(file)
}

fn note(folder: &Path, line: &str) {
    let file = File::options().append(true).create(true).open(folder.join("notes"));
    drop(file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes())));
}
