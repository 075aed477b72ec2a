//! The whole gate: what must hold before a change is taken.
use crate::bundle;
use crate::clients;
use crate::docs;
use crate::prepare;
use crate::process::{Failure, command, output, root, show};
use crate::sdks;
use std::process::{Command, Output};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// A step of the gate. It may take the name of one of its tests; without, all of them run.
struct Step {
    /// What it is called on the command line.
    word: &'static str,
    name: &'static str,
    run: fn(Option<&str>) -> Result<(), Failure>,
    takes_name: bool,
}

const fn step(word: &'static str, name: &'static str, run: fn(Option<&str>) -> Result<(), Failure>) -> Step {
    Step { word, name, run, takes_name: false }
}

impl Step {
    const fn with_names(self) -> Self {
        Self { takes_name: true, ..self }
    }
}

/// Cheapest first, so that a slip of the pen is told within seconds.
const STEPS: [Step; 9] = [
    step("format", "format", |_| format()),
    step("lints", "lints", |_| lints()),
    step("native", "native tests", native_tests).with_names(),
    step("wasm", "build for Wasm", |_| build()),
    step("docs", "documentation", |_| docs::build()),
    step("node", "node tests", node_tests).with_names(),
    step("clients", "generated clients", |_| clients::test()),
    step("sdk", "SDK tests", |_| sdks::test()),
    step("browser", "browser tests", browser_tests).with_names(),
];

/// The whole gate, or the step of this name, or one test of it.
pub(crate) fn run(words: &[&str]) -> Result<(), Failure> {
    match words {
        [] => all(),
        [word] => (of(word)?.run)(None),
        [word, name] => {
            let step = of(word)?;
            if step.takes_name {
                return (step.run)(Some(name));
            }
            Err(Failure::new(format!("{word} has no tests with names"), "leave the name out"))
        }
        [..] => Err(Failure::new("that is more than one test", "use `cargo xtask test [STEP [NAME]]`")),
    }
}

fn of(word: &str) -> Result<&'static Step, Failure> {
    let known = || STEPS.each_ref().map(|step| step.word).join(", ");
    STEPS
        .iter()
        .find(|step| step.word == word)
        .ok_or_else(|| Failure::new(format!("no step is called {word}"), format!("use one of {}", known())))
}

fn all() -> Result<(), Failure> {
    let mut done: Vec<(&str, Duration)> = Vec::new();
    let result = std::thread::scope(|scope| {
        let mut beside = None;
        for (index, Step { word, name, run, .. }) in STEPS.iter().enumerate() {
            println!("\n=== {}/{} {name}", index + 1, STEPS.len());
            let start = Instant::now();
            // Both kinds of tests wait most of their time, these for pages and those for processes.
            if *word == "node" {
                let browser = browser().map_err(|failure| failure.in_step("browser tests"))?;
                println!("  the browser tests run beside this step and the next ones; what they say comes in its turn");
                beside = Some(scope.spawn(move || playwright(&browser, None).output()));
            }
            let ran_beside = if *word == "browser" { beside.take() } else { None };
            let result = ran_beside.map_or_else(|| run(None), tell);
            done.push((name, start.elapsed()));
            if let Err(failure) = result {
                // What failed beside this is said as well.
                let _ = beside.map(tell);
                return Err(failure.in_step(name));
            }
        }
        Ok(())
    });
    print_durations(&done);
    result.inspect(|()| println!("all steps passed"))
}

fn print_durations(done: &[(&str, Duration)]) {
    println!("\n=== durations");
    for (name, duration) in done {
        println!("{name:<16}{:>8.1} s", duration.as_secs_f64());
    }
}

fn format() -> Result<(), Failure> {
    prepare::cargo_components()?;
    show("cargo", &["fmt", "--all", "--check"], "run `cargo fmt --all`")
}

fn lints() -> Result<(), Failure> {
    show(
        "cargo",
        &["clippy", "--locked", "--workspace", "--all-targets", "--", "--deny", "warnings"],
        "follow clippy's advice above, or `#[expect(lint, reason = \"...\")]` with a good reason",
    )
}

/// Without the two Wasm crates: what they have to test is tested in node and in the browser.
///
/// xtask apart from the others: together they would agree on other features of their dependencies, and the
/// bindings generator, which this very program has just been built with, would be compiled again. The others agree on
/// the schemas that only the documents need, so that nothing is compiled once with them and once without.
fn native_tests(name: Option<&str>) -> Result<(), Failure> {
    let remedy = "correct the failing test named above; `cargo xtask test native NAME` runs it alone";
    for package in [&[][..], &["--package", "xtask"]] {
        let words: Vec<&str> = ["test", "--locked"].into_iter().chain(package.iter().copied()).chain(name).collect();
        show("cargo", &words, remedy)?;
    }
    Ok(())
}

fn build() -> Result<(), Failure> {
    bundle::build(bundle::Profile::Release, &["bytes-of-runs", "requests"])
}

/// A file that has not ended after a quarter of an hour, many times what the longest one takes, fails instead of waiting for ever.
const HANGS: &str = "--test-timeout=900000";

/// A name is that of a file, without its end.
fn node_tests(name: Option<&str>) -> Result<(), Failure> {
    let mut tests: Vec<String> = std::fs::read_dir(root().join("e2e"))
        .map_err(|error| Failure::file(&root().join("e2e"), &error))?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|file| file.strip_suffix(".test.mjs").is_some_and(|file| name.is_none_or(|name| name == file)))
        .map(|file| format!("e2e/{file}"))
        .collect();
    if tests.is_empty() {
        let file = name.unwrap_or("NAME");
        return Err(Failure::new(format!("there is no e2e/{file}.test.mjs"), "name a file of e2e/ without its end"));
    }
    tests.sort();
    // Each has a service and folders of its own, and waits for processes most of its time.
    let at_once = format!("--test-concurrency={}", std::thread::available_parallelism().map_or(2, usize::from).max(2));
    let mut arguments = vec!["--test", HANGS, &at_once];
    arguments.extend(tests.iter().map(String::as_str));
    show("node", &arguments, "correct the failing test named above")
}

/// The native surface under requests that are made up; needs Python, and what `build` makes.
pub(crate) fn fuzz() -> Result<(), Failure> {
    let status = command("node", &["--test", "e2e/schemathesis.test.mjs"]).env("TIDEGATE_EXAMPLES", "250").status();
    if status.is_ok_and(|status| status.success()) {
        return Ok(());
    }
    Err(Failure::new("a made-up request failed", "see the request above; `curl` shows it alone"))
}

/// A name is a part of a file's name.
fn browser_tests(name: Option<&str>) -> Result<(), Failure> {
    let browser = browser()?;
    println!("  $ npx playwright test {}  (in {browser})", name.unwrap_or_default());
    passed(playwright(&browser, name).status().is_ok_and(|status| status.success()))
}

fn playwright(browser: &str, name: Option<&str>) -> Command {
    let mut tests = command("npx", &["--no-install", "playwright", "test", "--config", "e2e/playwright.config.mjs"]);
    tests.args(name).env("CHROMIUM", browser);
    tests
}

/// What browser tests have said that ran beside others.
fn tell(beside: ScopedJoinHandle<'_, std::io::Result<Output>>) -> Result<(), Failure> {
    let Ok(ran) = beside.join().expect("it returns its failures") else { return passed(false) };
    println!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    passed(ran.status.success())
}

fn passed(is_passed: bool) -> Result<(), Failure> {
    if is_passed {
        return Ok(());
    }
    Err(Failure::new(
        "a browser test failed",
        "see the message above; `npx playwright test --config e2e/playwright.config.mjs --trace on NAME` records one alone",
    ))
}

/// The Chromium to test in; where the system lets us, it is installed.
fn browser() -> Result<String, Failure> {
    if let Some(path) = find_browser() {
        return Ok(path);
    }
    let is_root = output("id", &["-u"]).as_deref() == Some("0");
    if is_root && output("apt-get", &["--version"]).is_some() {
        println!("installing Chromium with apt-get");
        let remedy = "install Chromium by hand";
        show("apt-get", &["update", "-qq"], remedy)?;
        show("apt-get", &["install", "-y", "-qq", "--no-install-recommends", "chromium"], remedy)?;
    }
    find_browser().ok_or_else(|| {
        Failure::new(
            "there is no Chromium or Chrome on PATH",
            "install one from your system's packages, or name its path in CHROMIUM",
        )
    })
}

fn find_browser() -> Option<String> {
    let named = std::env::var("CHROMIUM").ok();
    named.or_else(|| {
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path)
            .flat_map(|dir| BROWSERS.map(|name| dir.join(name)))
            .find(|candidate| candidate.is_file())
            .map(|found| found.display().to_string())
    })
}
