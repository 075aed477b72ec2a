//! From three crates to what is deployed: dist/ (the console) and build/worker/ (the Worker).
use crate::parts;
use crate::prepare::{self, WASM};
use crate::process::{Failure, output, root, show};
use crate::silence;
use std::fs;
use std::path::{Path, PathBuf};
use wasm_bindgen_cli_support::Bindgen;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Profile {
    /// Quick to compile; not optimised.
    Dev,
    /// What is deployed.
    Release,
}

impl Profile {
    fn of_console(self) -> &'static str {
        match self {
            Self::Dev => "wasm-dev",
            Self::Release => "console",
        }
    }

    fn of_worker(self) -> &'static str {
        match self {
            Self::Dev => "wasm-dev",
            Self::Release => "wasm",
        }
    }
}

/// The features that rustc switches on for this target, as wasm-opt names them; exceptions come from
/// bindgen's abort handler in the Worker.
/// Naming them keeps newer encodings out, which `--all-features` would let in.
const WASM_FEATURES: [&str; 9] = [
    "--enable-bulk-memory",
    "--enable-bulk-memory-opt",
    "--enable-call-indirect-overlong",
    "--enable-exception-handling",
    "--enable-multivalue",
    "--enable-mutable-globals",
    "--enable-nontrapping-float-to-int",
    "--enable-reference-types",
    "--enable-sign-ext",
];

/// rustc has inlined what is worth it. Each further copy makes a module smaller to hold, but larger to send.
const NO_INLINING: [&str; 6] = [
    "--always-inline-max-function-size",
    "1",
    "--flexible-inline-max-function-size",
    "1",
    "--one-caller-inline-max-function-size",
    "1",
];

/// For a module that is sent more often than it is held: what is written twice in the same words costs less than a local
/// for it, so it is left where it is. The module becomes 2 in 100 larger and travels 1 in 100 lighter.
const TO_SEND: [&str; 3] = ["-Os", "--skip-pass=local-cse", "--skip-pass=simplify-locals"];

const CONSOLE_CRATES: [&str; 4] = ["frontend", "charts", "planner-embed", "planner-page"];
const WORKER_CRATE: &str = "edge";

const CONSOLE_WASM: &str = "dist/app/frontend_bg.wasm";
const CHARTS_WASM: &str = "dist/app/charts_bg.wasm";
const PLANNER_WASM: &str = "dist/embed/engine_bg.wasm";
const WORKBENCH_WASM: &str = "dist/workbench/engine_bg.wasm";
const WORKER_WASM: &str = "build/worker/edge_bg.wasm";

/// What is deployed, and such libraries for tests as are compiled the way the Worker is.
pub(crate) fn build(profile: Profile, libraries: &[&str]) -> Result<(), Failure> {
    prepare::wasm_target()?;
    prepare::node_modules()?;
    let pages = if profile.of_console() == profile.of_worker() {
        // In one go: two would resolve other feature sets and compile the shared bindings twice.
        cargo_build(profile.of_console(), &[&CONSOLE_CRATES[..], &[WORKER_CRATE]].concat(), &[])?;
        make_worker(profile)?;
        make_console(profile)?
    } else {
        // Each module is linked and optimised by one thread, so two of them are made at a time.
        std::thread::scope(|scope| {
            let console = scope.spawn(|| {
                cargo_build(profile.of_console(), &CONSOLE_CRATES, &[])?;
                make_console(profile)
            });
            // Together with the Worker they share what it is made of; alone they would have it compiled again.
            cargo_build(profile.of_worker(), &[&[WORKER_CRATE], libraries].concat(), &["--lib"])?;
            make_worker(profile)?;
            console.join().expect("what makes the console returns its failures")
        })?
    };
    copy_dir(&root().join("public"), &root().join("dist"))?;
    if profile == Profile::Release {
        print_sizes(&pages)?;
    }
    show("node", &["xtask/pictures.mjs", "dist/embed"], "correct the scenario that is named above")?;
    println!("built dist/ and build/worker/");
    Ok(())
}

/// All modules that browsers load, from what has been compiled. Returns the path of the pages' module.
fn make_console(profile: Profile) -> Result<String, Failure> {
    println!("generating the console's bindings");
    let parts = parts::cut(&cargo_output(profile.of_console(), "frontend.wasm")?)?;
    bind_page(&parts.first, "frontend", "dist/app")?;
    bind_page(&cargo_output(profile.of_console(), "charts.wasm")?, "charts", "dist/app")?;
    let planner = silence::silence(&cargo_output(profile.of_console(), "planner_embed.wasm")?)?;
    bind_page(&planner, "engine", "dist/embed")?;
    bind_page(&cargo_output(profile.of_console(), "planner_page.wasm")?, "engine", "dist/workbench")?;
    if profile == Profile::Release {
        for module in [CONSOLE_WASM, &parts.pages, CHARTS_WASM, PLANNER_WASM, WORKBENCH_WASM] {
            optimise(module, if module == PLANNER_WASM { &TO_SEND } else { &["-Oz"] })?;
        }
    }
    Ok(parts.pages)
}

/// The Worker's module, from what has been compiled.
fn make_worker(profile: Profile) -> Result<(), Failure> {
    println!("generating the Worker's bindings");
    bind_worker(&cargo_output(profile.of_worker(), "edge.wasm")?)?;
    if profile == Profile::Release { optimise(WORKER_WASM, &["-Oz"]) } else { Ok(()) }
}

fn cargo_build(profile: &str, packages: &[&str], targets: &[&str]) -> Result<(), Failure> {
    println!("compiling {} ({profile})", packages.join(" and "));
    let mut arguments = vec!["build", "--locked", "--target", WASM, "--profile", profile];
    arguments.extend(targets);
    arguments.extend(packages.iter().flat_map(|package| ["--package", package]));
    show("cargo", &arguments, "correct what the compiler says above")
}

/// Where cargo puts what it builds.
pub(crate) fn cargo_output_dir() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |dir| root().join(dir))
}

fn cargo_output(profile: &str, file: &str) -> Result<PathBuf, Failure> {
    let path = cargo_output_dir().join(WASM).join(profile).join(file);
    if path.is_file() {
        return Ok(path);
    }
    Err(Failure::new(
        format!("{} is missing", path.display()),
        "keep the target directory at target/ or in CARGO_TARGET_DIR",
    ))
}

/// A module that the browser loads, under this name from this folder.
fn bind_page(module: &Path, name: &str, folder: &str) -> Result<(), Failure> {
    let mut bindgen = lean_bindgen(module);
    bindgen
        .out_name(name)
        // The pages that are loaded later use them.
        .keep_lld_exports(true)
        .web(true)
        .and_then(|bindgen| bindgen.generate(root().join(folder)))
        .map_err(bindgen_failure)
}

fn bind_worker(module: &Path) -> Result<(), Failure> {
    let out = root().join("build/worker");
    let mut bindgen = lean_bindgen(module);
    bindgen
        .module(true)
        // The shim gives the next request a new instance after a panic has aborted this one.
        .map(|bindgen| bindgen.reset_state_function(true))
        .map(|bindgen| bindgen.force_enable_abort_handler(true))
        .and_then(|bindgen| bindgen.generate(&out))
        .map_err(bindgen_failure)?;
    // The runtime hands out compiled modules on a plain import, and does not know `import source`.
    let glue = out.join("edge.js");
    let text = fs::read_to_string(&glue).map_err(|error| Failure::file(&glue, &error))?;
    write(&glue, &text.replace("import source ", "import "))?;
    // Overwritten in place, because a watching server would miss a file that is gone for a moment.
    let shim = root().join("worker/shim.js");
    fs::copy(&shim, out.join("shim.js")).map_err(|error| Failure::file(&shim, &error))?;
    Ok(())
}

fn lean_bindgen(module: &Path) -> Bindgen {
    let mut bindgen = Bindgen::new();
    bindgen
        .input_path(module)
        .typescript(false)
        .omit_default_module_path(false)
        .remove_name_section(true)
        .remove_producers_section(true);
    bindgen
}

fn bindgen_failure(error: impl std::fmt::Display) -> Failure {
    Failure::new(format!("wasm-bindgen: {error:#}"), "keep wasm-bindgen and wasm-bindgen-cli-support at one version")
}

fn optimise(wasm: &str, how: &[&'static str]) -> Result<(), Failure> {
    let mut arguments = vec!["node_modules/binaryen/bin/wasm-opt", wasm, "-o", wasm];
    arguments.extend(how);
    arguments.extend(WASM_FEATURES);
    arguments.extend(NO_INLINING);
    show("node", &arguments, "if the compiler has begun to use a new feature, name it in WASM_FEATURES")
}

fn print_sizes(pages: &str) -> Result<(), Failure> {
    let console = [CONSOLE_WASM, "dist/app/frontend.js", "dist/app/split.js", pages, CHARTS_WASM, "dist/app/charts.js"];
    let scripts = ["dist/embed/engine.js", "dist/embed/worker.js", "dist/embed/portions.js", "dist/embed/planner.js"];
    let planner = [PLANNER_WASM].into_iter().chain(scripts);
    let workbench = [WORKBENCH_WASM, "dist/workbench/engine.js", "dist/workbench/worker.js"];
    let files = console.into_iter().chain(planner).chain(workbench).chain([WORKER_WASM, "build/worker/edge.js"]);
    let mut arguments = vec!["xtask/sizes.mjs"];
    arguments.extend(files);
    let table = output("node", &arguments)
        .ok_or_else(|| Failure::new("the sizes could not be measured", "check that node runs"))?;
    println!("{table}");
    Ok(())
}

fn copy_dir(from: &Path, to: &Path) -> Result<(), Failure> {
    fs::create_dir_all(to).map_err(|error| Failure::file(to, &error))?;
    let entries = fs::read_dir(from).map_err(|error| Failure::file(from, &error))?;
    for entry in entries {
        let path = entry.map_err(|error| Failure::file(from, &error))?.path();
        let target = to.join(path.file_name().expect("a directory's entry has a name"));
        if path.is_dir() {
            copy_dir(&path, &target)?;
        } else {
            fs::copy(&path, &target).map_err(|error| Failure::file(&path, &error))?;
        }
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    fs::write(path, text).map_err(|error| Failure::file(path, &error))
}
