//! The documentation: pages with planners, made by mdBook into dist/docs/.
//!
//! mdBook is a program of its own beside cargo's target directory, and no dependency of this crate: as one it would be
//! compiled by everybody who builds anything.
use crate::bundle;
use crate::process::{Failure, output, root, show};

/// The version whose template `docs/book/theme/` replaces.
const MDBOOK: &str = "0.5.4";
const EMBED: &str = "dist/embed";

pub(crate) fn build() -> Result<(), Failure> {
    if let Some(picture) = missing_picture() {
        return Err(Failure::new(
            format!("{EMBED}/{picture} is missing"),
            "run `cargo xtask build` first, or `cargo xtask build --dev`: it draws what scenarios begin with",
        ));
    }
    let mdbook = mdbook()?;
    let target = bundle::cargo_output_dir();
    let pages = target.join("docs").display().to_string();
    show("node", &["xtask/docs.mjs", "docs/book", &pages, EMBED], "correct the page that is named above")?;
    let into = root().join("dist/docs").display().to_string();
    // The English book first: mdBook empties the folder that it builds into.
    for (pages, into) in [(pages.clone(), into.clone()), (format!("{pages}/zh"), format!("{into}/zh"))] {
        show(&mdbook, &["build", &pages, "--dest-dir", &into], "correct the page that mdBook names above")?;
    }
    println!("built dist/docs/; `cargo xtask dev` serves it at /docs/");
    Ok(())
}

/// A scenario's picture that the build has not drawn, since it was made before the scenario was written or never.
fn missing_picture() -> Option<String> {
    let files = std::fs::read_dir(root().join("scenarios")).into_iter().flatten().flatten();
    let names = files.filter_map(|file| Some(file.file_name().to_str()?.strip_suffix(".md")?.to_owned()));
    names.map(|name| format!("scenarios/{name}.svg")).find(|picture| !root().join(EMBED).join(picture).is_file())
}

/// What readers wait for, on this machine; needs a release build and the book.
pub(crate) fn figures(options: &[&str]) -> Result<(), Failure> {
    let mut arguments = vec!["e2e/pages.mjs"];
    arguments.extend(options);
    show("node", &arguments, "run `cargo xtask build` and `cargo xtask docs` first")
}

/// The program, installed once for each version.
fn mdbook() -> Result<String, Failure> {
    let tools = bundle::cargo_output_dir().join("tools");
    let program = tools.join("bin/mdbook").display().to_string();
    if output(&program, &["--version"]).is_some_and(|version| version.ends_with(MDBOOK)) {
        return Ok(program);
    }
    println!("installing mdBook {MDBOOK}");
    let (package, tools) = (format!("mdbook@{MDBOOK}"), tools.display().to_string());
    let mut arguments = vec!["install", "--locked", "--quiet", "--debug", "--no-default-features"];
    arguments.extend(["--root", &tools, &package]);
    show("cargo", &arguments, "the first build of the documentation needs the network")?;
    Ok(program)
}
