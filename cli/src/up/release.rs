//! The built service: what `cargo xtask build` makes, and what runs it.

use std::path::Path;
use std::path::PathBuf;

/// What has to be there.
const PARTS: [&str; 4] = ["worker/up.mjs", "build/worker/edge_bg.wasm", "dist/index.html", "node_modules/miniflare"];

/// A folder with everything that runs.
#[derive(Debug)]
pub struct Release(PathBuf);

impl Release {
    /// In this folder.
    pub fn at(folder: &Path) -> Result<Self, String> {
        let folder = folder.canonicalize().map_err(|error| format!("--release {}: {error}", folder.display()))?;
        match missing(&folder) {
            None => Ok(Self(folder)),
            Some(part) => Err(format!("{} has no {part}: run `cargo xtask build` there", folder.display())),
        }
    }

    /// In the checkout in which this program was built.
    pub fn beside_program() -> Result<Self, String> {
        let program = std::env::current_exe().map_err(|error| format!("the place of this program: {error}"))?;
        let whole = program.ancestors().skip(1).find(|folder| missing(folder).is_none());
        whole.map(|folder| Self(folder.to_owned())).ok_or_else(|| {
            let place = program.display();
            format!("no built service is above {place}: run `cargo xtask build`, or name its folder with --release")
        })
    }

    /// What node runs.
    #[must_use]
    pub fn program(&self) -> PathBuf {
        self.0.join(PARTS[0])
    }
}

fn missing(folder: &Path) -> Option<&'static str> {
    PARTS.into_iter().find(|part| !folder.join(part).exists())
}
