//! Counting instructions, which come out the same on every machine.
use crate::process::{Failure, command, output};

/// Whether natively executed instructions can be counted here.
pub(crate) fn is_native_possible() -> bool {
    let is_possible = output("valgrind", &["--version"]).is_some();
    if !is_possible {
        println!("native: left out; install valgrind to count them");
    }
    is_possible
}

/// What a program executes inside of the function of this name, and what it says.
pub(crate) fn native(program: &str, arguments: &[&str], function: &str) -> Result<(u64, String), Failure> {
    let only = format!("--toggle-collect=*{function}*");
    let mut words = vec!["--tool=callgrind", &only, "--callgrind-out-file=/dev/null", program];
    words.extend(arguments);
    let remedy = format!("run `valgrind {}` and read what it says", words.join(" "));
    let failure = || Failure::new("valgrind did not count", remedy.clone());
    let result = command("valgrind", &words).output().map_err(|_| failure())?;
    let said = String::from_utf8_lossy(&result.stderr);
    let collected = said.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok());
    let collected = collected.filter(|_| result.status.success()).ok_or_else(failure)?;
    Ok((collected, String::from_utf8_lossy(&result.stdout).into_owned()))
}

/// What a module uses up in the function `call`, after `prepare` has been called with two numbers.
pub(crate) fn wasm(fuel: &str, module: &str, prepare: &str, numbers: [u32; 2], call: &str) -> Result<u64, Failure> {
    let [first, second] = numbers.map(|number| number.to_string());
    let words = [module, prepare, &first, &second, call];
    output(fuel, &words).and_then(|text| text.parse().ok()).ok_or_else(|| {
        Failure::new("the Wasm instructions were not counted", format!("run `{fuel} {}`", words.join(" ")))
    })
}
