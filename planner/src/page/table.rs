//! What is read of results: lines for tables, with every number as people write it.

use crate::words::Language;
use console_model::explained::sentence;
use engine::host::plan::account::Account;
use engine::host::plan::account::Wait;
use engine::host::plan::account::Waits;
use engine::host::plan::difference::Difference;
use engine::host::plan::difference::JobDifference;
use engine::host::plan::difference::JobFate;
use engine::host::plan::difference::PartyDifference;
use engine::host::plan::outcome::Outcome;
use engine::unit::ordered::Map;
use engine::unit::quantity;
use serde::Deserialize;
use serde::Serialize;

use crate::page::whose;

/// A figure of a run, and whether more of it is better; nothing if it is neither.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// What it is.
    pub label: String,
    /// As people read it.
    pub text: String,
    /// As it is compared.
    pub value: i64,
    /// Whether more is better; nothing: neither is.
    pub better: Option<Better>,
}

/// Which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// More.
    More,
    /// Less.
    Less,
}

/// How a figure compares with the base's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It is the same, or neither better nor worse.
    Same,
    /// It is better.
    Better,
    /// It is worse.
    Worse,
}

impl Figure {
    /// Compared with the same figure of the base.
    #[must_use]
    pub fn against(&self, base: &Self) -> Change {
        let is_more = match self.value.cmp(&base.value) {
            std::cmp::Ordering::Equal => return Change::Same,
            std::cmp::Ordering::Greater => true,
            std::cmp::Ordering::Less => false,
        };
        match self.better {
            None => Change::Same,
            Some(Better::More) if is_more => Change::Better,
            Some(Better::Less) if !is_more => Change::Better,
            Some(Better::More | Better::Less) => Change::Worse,
        }
    }
}

/// The figures of a run, in the order in which they are shown.
#[must_use]
pub fn figures(outcome: &Outcome) -> Vec<Figure> {
    let Outcome { all, waits, offered_gpu_ms, fairness, .. } = outcome;
    let say = Language::En;
    let count = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    let figure = |label: &str, text: String, value: i64, better| Figure {
        label: label.to_owned(),
        text,
        value,
        better: Some(better),
    };
    let number = |label, value: u64, better| figure(label, value.to_string(), count(value), better);
    let period = |label, wait: Wait| figure(label, say.wait(wait), wait.length.0, Better::Less);
    let work = |label, value: i64, better| figure(label, hours(value), value, better);
    let used = share(all.used_gpu_ms, *offered_gpu_ms);
    let cost = quantity::price(all.cost_micros / 10_000 * 10_000);
    let index = fairness.map_or_else(|| "–".to_owned(), |index| format!("{}.{:03}", index / 1000, index % 1000));
    vec![
        period("Wait, half of the jobs at most", waits.p50),
        period("Wait, 95 of 100 at most", waits.p95),
        period("Longest wait", waits.longest),
        number("Jobs started", all.started, Better::More),
        number("Jobs waiting at the end", all.waiting, Better::Less),
        number("Jobs finished", all.finished, Better::More),
        figure("GPU use", tenths(used, " %"), used, Better::More),
        number("Evictions", all.evictions, Better::Less),
        work("GPU-hours lost", all.lost_gpu_ms, Better::Less),
        work("GPU-hours saved by checkpoints", all.saved_gpu_ms, Better::More),
        figure("Cost on the market", cost, all.cost_micros, Better::Less),
        figure("Fairness (1 is all alike)", index, fairness.unwrap_or(1000), Better::More),
    ]
}

/// The columns of a quota's line: before and after where they differ.
pub const PARTY_COLUMNS: [&str; 9] = [
    "Quota or offer",
    "Verdict",
    "Wait, half",
    "Wait, 95 of 100",
    "GPU-hours used",
    "Evictions",
    "GPU-hours lost",
    "GPU-hours saved",
    "Cost",
];

/// How each quota and offer fares.
#[must_use]
pub fn parties(was: &Outcome, is: &Outcome, difference: &Difference) -> Vec<[String; 9]> {
    let (before, after) = (waits(was), waits(is));
    let line = |party: &PartyDifference| {
        let waits = |known: &Map<(&str, bool), Waits>| known.get(&(party.name.as_str(), party.is_offer)).copied();
        let (before, after) = (waits(&before).unwrap_or_default(), waits(&after).unwrap_or_default());
        let (a, b) = (&party.before, &party.after);
        let say = Language::En;
        [
            whose::label(&party.name, party.is_offer),
            verdict(say.verdict(party.verdict)),
            both(&say.wait(before.p50), &say.wait(after.p50)),
            both(&say.wait(before.p95), &say.wait(after.p95)),
            of(a, b, |account| hours(account.used_gpu_ms)),
            of(a, b, |account| account.evictions.to_string()),
            of(a, b, |account| hours(account.lost_gpu_ms)),
            of(a, b, |account| hours(account.saved_gpu_ms)),
            of(a, b, |account| quantity::price(account.cost_micros / 10_000 * 10_000)),
        ]
    };
    difference.parties.iter().map(line).collect()
}

fn waits(outcome: &Outcome) -> Map<(&str, bool), Waits> {
    outcome.parties.iter().map(|party| ((party.name.as_str(), party.is_offer), party.waits)).collect()
}

/// The columns of a job's line.
pub const JOB_COLUMNS: [&str; 6] = ["Job", "Draws on", "Verdict", "Waits in all", "Evictions", "GPU-hours lost"];

/// The jobs that fare the most differently.
#[must_use]
pub fn jobs(difference: &Difference) -> Vec<[String; 6]> {
    let line = |job: &JobDifference| {
        let say = Language::En;
        let told = |fate: Option<&JobFate>, part: fn(&Account) -> String| {
            fate.map_or_else(|| "–".to_owned(), |fate| part(&fate.account))
        };
        let cell =
            |part: fn(&Account) -> String| both(&told(job.before.as_ref(), part), &told(job.after.as_ref(), part));
        [
            job.job.to_string(),
            whose::label(&job.party, job.is_offer),
            verdict(say.verdict(job.verdict)),
            cell(|account| Language::En.wait(Wait { length: account.waited, is_open: account.waiting > 0 })),
            cell(|account| account.evictions.to_string()),
            cell(|account| hours(account.lost_gpu_ms)),
        ]
    };
    difference.jobs.iter().map(line).collect()
}

/// What was refused, as sentences.
#[must_use]
pub fn refusals(outcome: &Outcome) -> Vec<String> {
    let changes = outcome.refused.iter().map(|refusal| {
        format!("Change {} is refused, and the others are made: {}", refusal.change + 1, sentence(&refusal.reason))
    });
    let mut lines: Vec<String> = changes.collect();
    if outcome.refused_ahead > 0 {
        let first = outcome.reasons_ahead.first().map(|reason| sentence(reason)).unwrap_or_default();
        lines.push(format!(
            "{} commands of the beginning are refused, the first because: {first}",
            outcome.refused_ahead
        ));
    }
    lines
}

/// A sign and a word, so that colour is not needed.
fn verdict(word: &str) -> String {
    let sign = match word {
        "wins" => "▲ ",
        "loses" => "▼ ",
        _ => "",
    };
    format!("{sign}{word}")
}

fn of(before: &Account, after: &Account, part: impl Fn(&Account) -> String) -> String {
    both(&part(before), &part(after))
}

fn both(before: &str, after: &str) -> String {
    if before == after { after.to_owned() } else { format!("{before} → {after}") }
}

/// Work in GPU-hours, to a tenth.
#[must_use]
pub fn hours(gpu_ms: i64) -> String {
    tenths(gpu_ms / 360_000, "")
}

fn tenths(value: i64, unit: &str) -> String {
    let sign = if value < 0 { "-" } else { "" };
    let (whole, part) = (value.abs() / 10, value.abs() % 10);
    if part == 0 { format!("{sign}{whole}{unit}") } else { format!("{sign}{whole}.{part}{unit}") }
}

/// A share in thousandths.
fn share(part: i64, whole: i64) -> i64 {
    i64::try_from(i128::from(part) * 1000 / i128::from(whole.max(1))).unwrap_or(0)
}
