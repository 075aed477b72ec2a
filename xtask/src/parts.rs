//! The console in two parts: what the first screen needs, and the pages that are loaded later.
use crate::process::{Failure, root};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use wasm_split_cli_support::{Options, transform};

/// Where the parts are put, for the server and for what the program imports.
const APP: &str = "dist/app";
const LOADER: &str = "split.js";

/// As the frontend's split point names its part.
const PAGES: &str = "split_pages";

/// A linked program, cut.
pub(crate) struct Parts {
    /// What is started with, without its bindings.
    pub(crate) first: PathBuf,
    /// The pages, where they are served, from the root.
    pub(crate) pages: String,
}

/// Cuts a linked program into its parts and writes the later one with its loader.
///
/// The later part's name tells what it was cut from: a console that is older than what is served finds nothing under
/// the name that it knows, instead of pages that do not fit.
pub(crate) fn cut(linked: &Path) -> Result<Parts, Failure> {
    let program = fs::read(linked).map_err(|error| Failure::file(linked, &error))?;
    let folder = linked.with_file_name("parts");
    let first = folder.join("first.wasm");
    let mut options = Options::new(&program);
    options.output_dir = &folder;
    options.main_out_path = &first;
    options.link_name = "./split.js";
    options.main_module = "./frontend.js";
    transform(options).map_err(|error| {
        Failure::new(
            format!("the console cannot be cut: {error:#}"),
            "keep wasm_split_cli_support and leptos' wasm_split_helpers at versions that fit",
        )
    })?;
    let name = format!("pages-{:016x}", digest(&program));
    let app = root().join(APP);
    fs::create_dir_all(&app).map_err(|error| Failure::file(&app, &error))?;
    copy(&folder.join(format!("{PAGES}.wasm")), &app.join(format!("{name}.wasm")))?;
    let loader = folder.join(LOADER);
    let text = fs::read_to_string(&loader).map_err(|error| Failure::file(&loader, &error))?;
    let path = app.join(LOADER);
    fs::write(&path, text.replace(PAGES, &name)).map_err(|error| Failure::file(&path, &error))?;
    forget_others(&app, &format!("{name}.wasm"))?;
    Ok(Parts { first, pages: format!("{APP}/{name}.wasm") })
}

/// Removes the pages of earlier builds.
fn forget_others(app: &Path, current: &str) -> Result<(), Failure> {
    let entries = fs::read_dir(app).map_err(|error| Failure::file(app, &error))?;
    for entry in entries.filter_map(Result::ok) {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with("pages-") && name != current {
            fs::remove_file(entry.path()).map_err(|error| Failure::file(&entry.path(), &error))?;
        }
    }
    Ok(())
}

fn digest(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}

fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    fs::copy(from, to).map_err(|error| Failure::file(from, &error))?;
    Ok(())
}
