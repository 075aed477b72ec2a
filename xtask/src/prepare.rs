//! What a build needs beside cargo: the Wasm target, and the packages of package-lock.json.
//!
//! Each is brought in explicitly, because an environment may have switched automatic installs off.
use crate::process::{Failure, output, root, show};
use std::path::Path;
use std::time::SystemTime;

pub(crate) const WASM: &str = "wasm32-unknown-unknown";
const OLDEST_NODE: u32 = 20;

pub(crate) fn wasm_target() -> Result<(), Failure> {
    let sysroot = output("rustc", &["--print", "sysroot"]).ok_or_else(|| {
        Failure::new("rustc does not run", "install Rust with rustup; rust-toolchain.toml names the version")
    })?;
    // Looking at the files works without rustup too, where a distribution brings the target.
    if Path::new(&sysroot).join("lib/rustlib").join(WASM).is_dir() {
        return Ok(());
    }
    println!("adding the target {WASM}");
    show("rustup", &["target", "add", WASM], "install Rust with rustup, or bring the target with your Rust")
}

pub(crate) fn cargo_components() -> Result<(), Failure> {
    let is_missing = ["fmt", "clippy"].iter().any(|tool| output("cargo", &[tool, "--version"]).is_none());
    if is_missing {
        println!("adding rustfmt and clippy");
        show("rustup", &["component", "add", "rustfmt", "clippy"], "install Rust with rustup")?;
    }
    Ok(())
}

pub(crate) fn node_modules() -> Result<(), Failure> {
    let version = output("node", &["--version"]).unwrap_or_default();
    let major: Option<u32> =
        version.strip_prefix('v').and_then(|rest| rest.split('.').next()).and_then(|number| number.parse().ok());
    if major.is_none_or(|major| major < OLDEST_NODE) {
        return Err(Failure::new(
            format!("Node {OLDEST_NODE} or later is needed, found: {version:?}"),
            "install Node from your system's packages or from nodejs.org",
        ));
    }
    // npm writes this file last, so an interrupted install is repeated.
    let installed = modified(&root().join("node_modules/.package-lock.json"));
    let locked = modified(&root().join("package-lock.json"));
    if installed.is_some() && installed >= locked {
        return Ok(());
    }
    // npm empties the folder before it installs, also one that is reached through a link and belongs to somebody else.
    if root().join("node_modules").is_symlink() {
        return Err(Failure::new(
            "node_modules is a link, and the packages that it leads to are older than package-lock.json",
            "remove the link, and they are installed here; what it leads to stays",
        ));
    }
    println!("installing the packages of package-lock.json");
    show(
        "npm",
        &["ci", "--no-audit", "--no-fund", "--loglevel=error"],
        "see npm's message above; the first install needs the network",
    )
}

fn modified(path: &Path) -> Option<SystemTime> {
    path.metadata().and_then(|data| data.modified()).ok()
}
