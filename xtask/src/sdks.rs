//! The vendor's SDKs, as their users install them, against a Worker in its runtime.
use crate::bundle::cargo_output_dir;
use crate::process::{Failure, output, root, show};
use std::fs;
use std::path::Path;

/// Where the virtual environments are made, in cargo's target directory.
const FOLDER: &str = "sdks";
/// What tells that an environment is complete, and what of.
const INSTALLED: &str = "installed";
/// The contract's own walk through the SDKs, where the project's companion folder is there.
const SMOKE: &str = "../shared/pai/sdk_smoke.py";
const OWN: [&str; 2] = ["e2e/sdk/preemptible_job.py", "e2e/sdk/asynchronous.py"];
/// What needs to be done with one version of the SDKs only, or has its own.
const ONCE: [&str; 2] = ["e2e/sdk/typescript.mjs", "e2e/sdk/load.py --seconds 10"];
const HIGH_LEVEL: &str = "e2e/sdk/high_level.py";
const LOAD: &str = "e2e/sdk/load.py";
/// The examples of the product's pages, which wait for many rounds.
const EXAMPLES: &str = "e2e/sdk/examples.py";
/// How many minutes the clients work if nobody says so.
const MINUTES: u32 = 5;
/// The product's page with the two scripts that submit a preemptible job, where it is there.
const SEED: &str = "../shared/seeds/preemptible-jobs.txt";
const OLDEST_PYTHON: &str = "3.8";

/// The versions that the product's documentation names; whatever is newest otherwise.
const PINNED: [&str; 2] = ["alibabacloud_pai_dlc20201203==1.4.17", "alibabacloud_aiworkspace20210204==3.0.1"];
const NEWEST: [&str; 2] = ["alibabacloud_pai_dlc20201203", "alibabacloud_aiworkspace20210204"];
/// The high-level SDK has copies of the others inside, so its version says which.
const HIGH_LEVEL_PINNED: [&str; 1] = ["alipai==0.4.13"];
const BOTH: [&str; 4] = [
    "alibabacloud_paistudio20220112",
    "alibabacloud_eas20210701",
    "alibabacloud_pai_dsw20220101",
    "alibabacloud_credentials",
];

pub(crate) fn test() -> Result<(), Failure> {
    let mut scripts = OWN.map(str::to_owned).to_vec();
    if root().join(SMOKE).is_file() {
        scripts.push(format!("{SMOKE} --extended"));
    } else {
        println!("{SMOKE} is not there: only {} are run", OWN.join(" and "));
    }
    let has_seed = root().join(SEED).is_file();
    for (name, packages) in [("pinned", PINNED), ("newest", NEWEST)] {
        let python = environment(name, &[packages.as_slice(), BOTH.as_slice()].concat())?;
        drive(&python, scripts.iter().map(String::as_str))?;
        if has_seed {
            show("node", &["e2e/sdk/seed.mjs", &python, SEED], "see what the script printed above")?;
        }
    }
    drive(&newest()?, ONCE)?;
    drive(&environment("high-level", &HIGH_LEVEL_PINNED)?, [HIGH_LEVEL])
}

/// Runs scripts against a Worker of their own.
fn drive<'s>(python: &'s str, scripts: impl IntoIterator<Item = &'s str>) -> Result<(), Failure> {
    let mut arguments = vec!["e2e/sdk/run.mjs", python];
    arguments.extend(scripts);
    show("node", &arguments, "see which step of the script failed above")
}

fn newest() -> Result<String, Failure> {
    environment("newest", &[NEWEST.as_slice(), BOTH.as_slice()].concat())
}

/// What the gate has no time for: the examples, and many clients at once for some minutes. Needs what `build` makes.
pub(crate) fn load(options: &[&str]) -> Result<(), Failure> {
    let minutes = match options {
        [] => Some(MINUTES),
        ["--minutes", count] => count.parse().ok(),
        _ => None,
    };
    let wrong = || Failure::new(format!("clients {} is not understood", options.join(" ")), "use --minutes N");
    let script = format!("{LOAD} --seconds {}", minutes.ok_or_else(wrong)? * 60);
    // Each has a cluster of its own: the examples take all that there is.
    let python = newest()?;
    drive(&python, [EXAMPLES])?;
    drive(&python, [script.as_str()])
}

/// The interpreter of a virtual environment with these packages.
pub(crate) fn environment(name: &str, packages: &[&str]) -> Result<String, Failure> {
    let folder = cargo_output_dir().join(FOLDER).join(name);
    let python = folder.join("bin/python").display().to_string();
    let marker = folder.join(INSTALLED);
    let wanted = packages.join("\n");
    if fs::read_to_string(&marker).is_ok_and(|installed| installed == wanted) {
        return Ok(python);
    }
    create(&folder)?;
    let mut arguments = vec!["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade"];
    arguments.extend(packages);
    show(&python, &arguments, "pip must reach PyPI or a mirror of it (PIP_INDEX_URL); then run this step again")?;
    fs::write(&marker, wanted).map_err(|error| Failure::file(&marker, &error))?;
    Ok(python)
}

/// A fresh environment; the system brings the interpreter, and on Debian the module in a package of its own.
fn create(folder: &Path) -> Result<(), Failure> {
    let remedy = format!("install Python {OLDEST_PYTHON} or later with its venv module (Debian: python3-venv)");
    if output("python3", &["--version"]).is_none() {
        return Err(Failure::new("there is no python3 on PATH", remedy));
    }
    let folder = folder.display().to_string();
    show("python3", &["-m", "venv", "--clear", &folder], &remedy)
}
