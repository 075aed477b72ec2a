//! What requests of the vendor's SDKs cost in instructions: who sends one, and what is answered, in clusters of several
//! sizes. What the runtime and its storage add, `e2e/cost.mjs` measures.
use crate::bundle::cargo_output_dir;
use crate::count;
use crate::prepare::{self, WASM};
use crate::process::{Failure, output, show};

/// How many jobs there are in the clusters.
const JOBS: [u32; 3] = [100, 1_000, 10_000];
const ANSWER: &str = "answer_only";
const VERIFY_AND_ANSWER: &str = "verify_and_answer";

pub(crate) fn run() -> Result<(), Failure> {
    prepare::wasm_target()?;
    let remedy = "correct what the compiler says above";
    show("cargo", &["build", "--locked", "--release", "--package", "requests", "--package", "fuel"], remedy)?;
    let module = ["build", "--locked", "--target", WASM, "--profile", "wasm", "--package", "requests", "--lib"];
    show("cargo", &module, remedy)?;
    let counter = Counter {
        fuel: cargo_output_dir().join("release/fuel").display().to_string(),
        program: cargo_output_dir().join("release/requests").display().to_string(),
        module: cargo_output_dir().join(WASM).join("wasm/requests.wasm").display().to_string(),
        has_native: count::is_native_possible(),
    };
    let names = output(&counter.program, &[]).unwrap_or_default();
    println!(
        "\nrequests of the SDKs in instructions, with so many jobs in the cluster, and a signed one to one whose sender is known"
    );
    for (number, name) in (0..).zip(names.lines()) {
        for place in [Place::Native, Place::Wasm] {
            counter.print(place, number, name)?;
        }
    }
    show("node", &["e2e/cost.mjs"], "build first: `cargo xtask build`")
}

#[derive(Clone, Copy)]
enum Place {
    Native,
    Wasm,
}

struct Counter {
    fuel: String,
    program: String,
    module: String,
    has_native: bool,
}

impl Counter {
    fn print(&self, place: Place, number: u32, name: &str) -> Result<(), Failure> {
        let word = match place {
            Place::Native if self.has_native => "native",
            Place::Native => return Ok(()),
            Place::Wasm => "Wasm",
        };
        let mut cells = Vec::new();
        for jobs in JOBS {
            let (known, signed) =
                (self.count(place, number, jobs, ANSWER)?, self.count(place, number, jobs, VERIFY_AND_ANSWER)?);
            cells.push(format!("{jobs}: {known}, signed x{}.{:02}", signed / known, signed % known * 100 / known));
        }
        println!("{word:<6} {name:<28} {}", cells.join("  "));
        Ok(())
    }

    fn count(&self, place: Place, number: u32, jobs: u32, call: &str) -> Result<u64, Failure> {
        match place {
            Place::Native => {
                let words = [number.to_string(), jobs.to_string(), call.to_owned()];
                count::native(&self.program, &words.each_ref().map(String::as_str), call).map(|(count, _)| count)
            }
            Place::Wasm => count::wasm(&self.fuel, &self.module, "prepare", [number, jobs], call),
        }
    }
}
