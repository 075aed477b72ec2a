//! Mutation tests: the engine with one small change at a time, and whether a test notices.
//!
//! There are too many changes for one sitting. Each run goes on where the last one ended, in an order that is random but
//! always the same, so that those reached at any time are a fair sample of all.
mod ground;
mod record;
mod stage;
mod tree;

use crate::process::{Failure, root};
use ground::Ground;
use record::{Listed, Mutant, Outcome, Record};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Survivors that are no gap in the tests.
const LISTED: &str = "engine/tests/mutants.md";
/// What has become of each mutant, in the repository: runs on other days and computers add to it.
const OUTCOMES: &str = "engine/tests/mutants.tsv";

/// What a run is asked for.
struct Options {
    minutes: u64,
    /// Whether it is those that survived which are tried, after new tests.
    is_again: bool,
}

impl Options {
    fn parse(words: &[&str]) -> Result<Self, Failure> {
        let wrong = |what: String| Failure::new(what, "cargo xtask mutants [--again] [--minutes N]");
        let mut options = Self { minutes: 30, is_again: false };
        let mut rest = words;
        loop {
            rest = match rest {
                [] => return Ok(options),
                ["--again", others @ ..] => {
                    options.is_again = true;
                    others
                }
                ["--minutes", number, others @ ..] => {
                    options.minutes =
                        number.parse().map_err(|_| wrong(format!("--minutes needs a number, not {number}")))?;
                    others
                }
                [other, ..] => return Err(wrong(format!("mutants has no option {other}, or it lacks its number"))),
            };
        }
    }

    fn wants(&self, outcome: Option<Outcome>, is_listed: bool) -> bool {
        if self.is_again { outcome == Some(Outcome::Survived) && !is_listed } else { outcome.is_none() }
    }
}

pub(crate) fn run(options: &[&str]) -> Result<(), Failure> {
    let options = Options::parse(options)?;
    let until = Instant::now() + Duration::from_secs(60 * options.minutes);
    let ground = Ground::prepare()?;
    let mut mutants = ground.list()?;
    mutants.sort_by(|a, b| a.key.cmp(&b.key));
    let listed = Listed::read(&root().join(LISTED))?;
    let mut record = Record::read(&root().join(OUTCOMES));
    for mutant in &mutants {
        if !options.wants(record.of(mutant), listed.holds(mutant)) {
            continue;
        }
        if Instant::now() >= until {
            break;
        }
        let start = Instant::now();
        let (outcome, stage) = ground.judge(mutant, mutants.len())?;
        record.add(mutant, outcome, stage)?;
        println!("{:>7.1} s  {:<9}{stage:<15}{}", start.elapsed().as_secs_f64(), outcome.word(), mutant.name);
    }
    report(&mutants, &record, &listed);
    Ok(())
}

fn report(mutants: &[Mutant], record: &Record, listed: &Listed) {
    let mut by_stage: BTreeMap<(Outcome, &str), usize> = BTreeMap::new();
    for mutant in mutants {
        if let Some(entry) = record.entry(mutant) {
            *by_stage.entry(entry).or_default() += 1;
        }
    }
    let of = |wanted: Outcome| by_stage.iter().filter(|((outcome, _), _)| *outcome == wanted).map(|(_, n)| n).sum();
    let [caught, late, survived, unviable]: [usize; 4] = Outcome::ALL.map(of);
    let survivors: Vec<&Mutant> =
        mutants.iter().filter(|mutant| record.of(mutant) == Some(Outcome::Survived)).collect();
    let (known, open): (Vec<&Mutant>, Vec<&Mutant>) = survivors.into_iter().partition(|mutant| listed.holds(mutant));
    println!("\n{} mutants, {} of them reached", mutants.len(), caught + late + survived + unviable);
    println!("{caught} caught, {late} never ended, {survived} survived, {unviable} do not compile");
    for ((outcome, stage), count) in &by_stage {
        println!("  {count:>5} {} at the stage {stage}", outcome.word());
    }
    let noticed = caught + late;
    println!("score: {} of those that compile", percent(noticed, noticed + survived));
    println!(
        "       {} without the {} that {LISTED} gives reasons for",
        percent(noticed, noticed + open.len()),
        known.len()
    );
    println!("\n{} survivors without a reason", open.len());
    for mutant in open {
        println!("- `{}` `{}` `{}`", mutant.name, mutant.change, mutant.line);
    }
}

/// In tenths, rounded down.
fn percent(part: usize, whole: usize) -> String {
    let tenths = (part * 1000).checked_div(whole).unwrap_or(1000);
    format!("{}.{} %", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::{Options, percent};

    #[test]
    fn a_share_is_rounded_down() {
        assert_eq!(percent(2, 3), "66.6 %");
        assert_eq!(percent(0, 0), "100.0 %");
    }

    #[test]
    fn options_come_in_any_order() {
        let options = Options::parse(&["--minutes", "5", "--again"]).ok();
        assert!(options.is_some_and(|options| options.minutes == 5 && options.is_again));
        assert!(Options::parse(&["--minutes"]).is_err());
        assert!(Options::parse(&["--minutes", "many"]).is_err());
    }
}
