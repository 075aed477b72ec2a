//! The engine's figures, native and in Wasm, and how a round's cost grows, counted in instructions.
use crate::bundle::cargo_output_dir;
use crate::count;
use crate::prepare::{self, WASM};
use crate::process::{Failure, output, root, show};
use crate::requests;
use std::fs;
use std::path::{Path, PathBuf};

/// A size as the counters take it.
type Sizes = [(&'static str, u32); 2];

/// What grows, and its sizes.
const GROWTH: [(&str, [Sizes; 3]); 6] = [
    (
        "jobs",
        [
            [("jobs", 1_000), ("quotas", 1_000)],
            [("jobs", 10_000), ("quotas", 1_000)],
            [("jobs", 100_000), ("quotas", 1_000)],
        ],
    ),
    (
        "quotas",
        [
            [("jobs", 10_000), ("quotas", 16)],
            [("jobs", 10_000), ("quotas", 256)],
            [("jobs", 10_000), ("quotas", 4_096)],
        ],
    ),
    (
        "nodes",
        [
            [("nodes", 125), ("jobs", 10_000)],
            [("nodes", 1_250), ("jobs", 10_000)],
            [("nodes", 12_500), ("jobs", 10_000)],
        ],
    ),
    (
        "backlog",
        [
            [("backlog", 1_000), ("quotas", 64)],
            [("backlog", 10_000), ("quotas", 64)],
            [("backlog", 100_000), ("quotas", 64)],
        ],
    ),
    (
        "bids",
        [[("bids", 1_000), ("offers", 50)], [("bids", 10_000), ("offers", 50)], [("bids", 100_000), ("offers", 50)]],
    ),
    (
        "offers",
        [[("bids", 10_000), ("offers", 5)], [("bids", 10_000), ("offers", 50)], [("bids", 10_000), ("offers", 500)]],
    ),
];
const SLOPE_MAX: f64 = 1.1;

/// Where the traces are.
const TRACES: &str = "../shared/traces";

pub(crate) fn run() -> Result<(), Failure> {
    prepare::wasm_target()?;
    let bench = Bench::build()?;
    bench.figures()?;
    bench.growth()?;
    requests::run()
}

/// The instructions of each case: they come out the same on a busy machine, so that one version is compared with another.
pub(crate) fn count_instructions(names: &[&str]) -> Result<(), Failure> {
    let tidegate = build_native()?;
    if !count::is_native_possible() {
        return Ok(());
    }
    let remedy = format!("run `{tidegate} bench --list` and read what it says");
    let known = output(&tidegate, &["bench", "--list"]).ok_or_else(|| Failure::new("nothing is listed", remedy))?;
    for name in known.lines().filter(|name| names.is_empty() || names.contains(name)) {
        let (all, said) = count::native(&tidegate, &["bench", "--once", "--traces", TRACES, name], "measured_work")?;
        // Figures of one case are of the same work, but for registrations: there each has its own.
        let work: Vec<u64> = said.lines().filter_map(|line| line.parse().ok()).collect();
        let work = if name == "registration" { work.iter().sum() } else { work.iter().copied().max().unwrap_or(0) };
        let each = all.checked_div(work).unwrap_or(0);
        println!("{name:<16}{all:>16} instructions for {work:>6}, {each:>12} each");
    }
    Ok(())
}

fn build_native() -> Result<String, Failure> {
    let build = ["build", "--locked", "--release", "--package", "tidegate"];
    show("cargo", &build, "correct what the compiler says above")?;
    Ok(cargo_output_dir().join("release/tidegate").display().to_string())
}

/// What has been built, as paths from the root.
struct Bench {
    tidegate: String,
    fuel: String,
    module: String,
}

impl Bench {
    fn build() -> Result<Self, Failure> {
        let remedy = "correct what the compiler says above";
        show("cargo", &["build", "--locked", "--release", "--package", "tidegate", "--package", "fuel"], remedy)?;
        let module = ["build", "--locked", "--target", WASM, "--profile", "wasm", "--package", "figures-in-wasm"];
        show("cargo", &module, remedy)?;
        let text = |path: PathBuf| path.display().to_string();
        let target = cargo_output_dir();
        Ok(Self {
            tidegate: text(target.join("release/tidegate")),
            fuel: text(target.join("release/fuel")),
            module: text(target.join(WASM).join("wasm/figures_in_wasm.wasm")),
        })
    }

    fn figures(&self) -> Result<(), Failure> {
        println!("measuring natively");
        let native = keep("native.json", &self.tidegate, &["bench", "--json", "--traces", TRACES])?;
        println!("measuring in Wasm");
        let wasm = keep("wasm.json", "node", &["e2e/figures/run.mjs", &self.module, TRACES])?;
        println!();
        let table = ["xtask/table.mjs", &native, &wasm];
        show("node", &table, "see the message above")?;
        if !root().join(TRACES).is_dir() {
            println!("the replays are left out: there is no {TRACES}");
        }
        Ok(())
    }

    fn growth(&self) -> Result<(), Failure> {
        println!("\ngrowth of a round that judges every job for the first time, or moves every price, in instructions");
        let has_counter = count::is_native_possible();
        for (what, steps) in GROWTH {
            if has_counter {
                print_growth("native", what, &points(what, steps, |sizes| self.counted_natively(sizes))?);
            }
            print_growth("Wasm", what, &points(what, steps, |sizes| self.counted_in_wasm(sizes))?);
        }
        Ok(())
    }

    fn counted_natively(&self, sizes: Sizes) -> Result<u64, Failure> {
        let [first, second] = sizes.map(|(name, size)| format!("{name}={size}"));
        let step = ["bench", "--growth-step", &first, &second];
        count::native(&self.tidegate, &step, "one_full_round").map(|(count, _)| count)
    }

    fn counted_in_wasm(&self, sizes: Sizes) -> Result<u64, Failure> {
        let [(what, _), _] = sizes;
        count::wasm(&self.fuel, &self.module, &format!("prepare_{what}"), sizes.map(|(_, size)| size), "round")
    }
}

/// Sizes of what grows, with their counts.
fn points(
    what: &str,
    steps: [Sizes; 3],
    count: impl Fn(Sizes) -> Result<u64, Failure>,
) -> Result<Vec<(u32, u64)>, Failure> {
    let point = |sizes: Sizes| {
        let size = sizes.iter().find(|(name, _)| *name == what).map_or(0, |(_, size)| *size);
        Ok((size, count(sizes)?))
    };
    steps.into_iter().map(point).collect()
}

fn print_growth(place: &str, what: &str, points: &[(u32, u64)]) {
    let slope = slope(points);
    let counts: Vec<String> = points.iter().map(|(size, count)| format!("{size}: {count}")).collect();
    let mark = if slope <= SLOPE_MAX { "reached" } else { "missed" };
    println!("{place:<6} in {what:<6} {}  log-log slope {slope:.2} <= {SLOPE_MAX} {mark}", counts.join(", "));
}

/// The slope of the straight line nearest to the points' logarithms.
#[expect(clippy::cast_precision_loss, reason = "for people to read")]
fn slope(points: &[(u32, u64)]) -> f64 {
    let logs: Vec<(f64, f64)> =
        points.iter().map(|(size, count)| (f64::from(*size).ln(), (*count as f64).max(1.0).ln())).collect();
    let mean = |of: fn(&(f64, f64)) -> f64| logs.iter().map(of).sum::<f64>() / logs.len() as f64;
    let (x, y) = (mean(|log| log.0), mean(|log| log.1));
    let along: f64 = logs.iter().map(|log| (log.0 - x) * (log.0 - x)).sum();
    logs.iter().map(|log| (log.0 - x) * (log.1 - y)).sum::<f64>() / along
}

/// Runs a program and keeps what it prints, beside what cargo builds.
fn keep(name: &str, program: &str, arguments: &[&str]) -> Result<String, Failure> {
    let remedy = format!("run `{program} {}` and read what it says", arguments.join(" "));
    let text = output(program, arguments).ok_or_else(|| Failure::new("nothing was measured", remedy))?;
    let path: &Path = &cargo_output_dir().join(name);
    fs::write(path, text).map_err(|error| Failure::file(path, &error))?;
    Ok(path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::slope;

    #[test]
    fn the_slope_is_the_exponent() {
        assert!((slope(&[(10, 100), (100, 10_000), (1000, 1_000_000)]) - 2.0).abs() < 1e-9);
        assert!((slope(&[(10, 7), (100, 7)])).abs() < 1e-9);
    }
}
