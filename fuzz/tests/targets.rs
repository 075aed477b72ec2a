//! A short run of each target; `cargo xtask soak fuzz-TARGET` makes long ones.

use fuzz::run::run;
use heap::Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How often each target is executed, if nobody says so.
const COUNT: u64 = 1_500;

fn fuzz(name: &str) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (from, count) = (number("TIDEGATE_FROM").unwrap_or(0), number("TIDEGATE_COUNT").unwrap_or(COUNT));
    let counts = run(name, from, count).unwrap_or_else(|found| panic!("{found}"));
    let (took, slowest) = counts.slowest;
    println!(
        "fuzz {name}: {} executions, {} read, {} accepted; at most {} KiB; the longest, {slowest}, took {} ms",
        counts.executed,
        counts.read,
        counts.accepted,
        counts.memory / 1024,
        took.as_millis()
    );
    assert!(counts.memory > 0, "memory is counted");
    let is_long = counts.executed >= COUNT;
    assert!(!is_long || counts.accepted > 0, "{name}: nothing is accepted, so nothing behind the reading is tried");
}

macro_rules! targets {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            fuzz(stringify!($name));
        })*
    };
}

targets! { commands snapshots segments notes bodies signatures scenarios traces links exchanges }
