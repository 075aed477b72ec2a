//! Two runs beside each other: who wins and who loses.
//!
//! Whoever does their work, wins over whoever is stopped for good; of two alike in that, whoever waits less; at equal
//! waiting whoever loses less work to evictions; at equal loss whoever pays less. A job that has started in the end wins
//! over itself waiting.

use std::cmp::Ordering;

use serde::Deserialize;
use serde::Serialize;

use crate::host::plan::account::Account;
use crate::host::plan::outcome::name;
use crate::host::plan::record::Party;
use crate::host::plan::record::Record;
use crate::host::plan::run::Run;
use crate::unit::id::JobId;
use crate::unit::ordered::Map;
use crate::unit::sort;
use crate::unit::time::Millis;
use crate::unit::time::Timestamp;

/// How somebody fares in the second run, compared with the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Better.
    Wins,
    /// Worse.
    Loses,
    /// Neither.
    Same,
    /// Only the second run has them.
    New,
    /// Only the first run has them.
    Gone,
}

impl Verdict {
    /// Of a job.
    fn of_job(before: Option<&Record>, after: Option<&Record>) -> Self {
        let weight = |Record { account, .. }: &Record| (account.undone(), account.waiting, burden(account));
        Self::of(before.map(weight), after.map(weight))
    }

    /// Of a quota or an offer.
    fn of_party(before: Option<&Account>, after: Option<&Account>) -> Self {
        let weight = |account: &Account| (account.undone(), burden(account));
        Self::of(before.map(weight), after.map(weight))
    }

    /// Of what was and what would be; less is better.
    fn of<T: Ord>(before: Option<T>, after: Option<T>) -> Self {
        match (before, after) {
            (None, None) => Self::Same,
            (None, Some(_)) => Self::New,
            (Some(_), None) => Self::Gone,
            (Some(before), Some(after)) => match after.cmp(&before) {
                Ordering::Less => Self::Wins,
                Ordering::Equal => Self::Same,
                Ordering::Greater => Self::Loses,
            },
        }
    }
}

fn burden(account: &Account) -> (Millis, i64, i64) {
    (account.waited, account.lost_gpu_ms, account.cost_micros)
}

/// A quota or an offer in both runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartyDifference {
    /// The quota or the offer.
    pub name: String,
    /// Whether it is an offer of the spot market; a quota may have the same name.
    pub is_offer: bool,
    /// How it fares.
    pub verdict: Verdict,
    /// In the first run.
    pub before: Account,
    /// In the second run.
    pub after: Account,
}

/// How a job fares in one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobFate {
    /// How long it waited for its first start, or waits so far.
    #[serde(rename = "wait_ms")]
    pub wait: Option<Millis>,
    /// When it started in this run.
    pub started: Option<Timestamp>,
    /// When it ended.
    pub ended: Option<Timestamp>,
    /// In numbers.
    pub account: Account,
}

impl JobFate {
    fn of(record: &Record, until: Timestamp) -> Self {
        let Record { started, ended, account, .. } = record;
        Self { wait: record.first_wait(until), started: *started, ended: *ended, account: *account }
    }
}

/// A job that fares differently.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobDifference {
    /// The job.
    pub job: JobId,
    /// What it draws on.
    pub party: String,
    /// Whether that is an offer of the spot market; a quota may have the same name.
    pub is_offer: bool,
    /// How it fares.
    pub verdict: Verdict,
    /// In the first run.
    pub before: Option<JobFate>,
    /// In the second run.
    pub after: Option<JobFate>,
}

/// What is different.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Difference {
    /// Every quota and offer with jobs in one of the runs.
    pub parties: Vec<PartyDifference>,
    /// How many jobs win.
    pub winners: u64,
    /// How many jobs lose.
    pub losers: u64,
    /// How many jobs fare differently, new ones and those that are gone included.
    pub changed: u64,
    /// The jobs that fare the most differently, the largest difference of waiting first.
    pub jobs: Vec<JobDifference>,
}

/// A job in both runs, as far as it is there.
pub type Pair<'a> = (Option<&'a Record>, Option<&'a Record>);

impl Difference {
    /// Compares two runs that are over, and names at most so many jobs.
    #[must_use]
    pub fn of(before: &Run, after: &Run, jobs_max: usize) -> Self {
        let mut changed = changed(before, after);
        let count = |wanted: Verdict| changed.iter().filter(|(.., verdict)| *verdict == wanted).count() as u64;
        let mut difference = Self {
            parties: parties(before, after),
            winners: count(Verdict::Wins),
            losers: count(Verdict::Loses),
            changed: changed.len() as u64,
            jobs: Vec::new(),
        };
        // Stable: of equal distances the order of the names stays.
        sort::by_cached_key(&mut changed, |(_, pair, _)| std::cmp::Reverse(distance(*pair)));
        changed.truncate(jobs_max);
        let told = changed.into_iter().map(|(job, pair, verdict)| job_difference(before, after, job, pair, verdict));
        difference.jobs = told.collect();
        difference
    }
}

/// How each job that fares differently does so, by their names.
#[must_use]
pub fn changed<'a>(before: &'a Run, after: &'a Run) -> Vec<(&'a JobId, Pair<'a>, Verdict)> {
    let mut pairs: Map<&JobId, Pair<'_>> = Map::new();
    for record in &before.tally.records {
        pairs.or_default(&record.id).0 = Some(record);
    }
    for record in &after.tally.records {
        pairs.or_default(&record.id).1 = Some(record);
    }
    let verdict = |(job, pair): (&'a JobId, Pair<'a>)| (job, pair, Verdict::of_job(pair.0, pair.1));
    pairs.into_iter().map(verdict).filter(|(.., verdict)| *verdict != Verdict::Same).collect()
}

/// Every quota and offer with jobs in one of the runs, by their names: what has a number in one run may have another
/// one in the other.
#[must_use]
pub fn parties(before: &Run, after: &Run) -> Vec<PartyDifference> {
    let mut parties: Map<(bool, &str), [Option<Account>; 2]> = Map::new();
    for (side, run) in [before, after].into_iter().enumerate() {
        for record in &run.tally.records {
            let is_offer = matches!(record.party, Party::Offer(_));
            let sides = parties.or_default((is_offer, name(run.state(), record.party)));
            sides[side] = Some(sides[side].unwrap_or_default().plus(&record.account));
        }
    }
    let told = parties.into_iter().map(|((is_offer, name), [was, is])| PartyDifference {
        name: name.to_owned(),
        is_offer,
        verdict: Verdict::of_party(was.as_ref(), is.as_ref()),
        before: was.unwrap_or_default(),
        after: is.unwrap_or_default(),
    });
    told.collect()
}

/// How much a job's waiting and its lost work differ.
fn distance((before, after): Pair<'_>) -> (i64, i64) {
    let of =
        |record: Option<&Record>| record.map_or((0, 0), |record| (record.account.waited.0, record.account.lost_gpu_ms));
    let (was, is) = (of(before), of(after));
    (is.0.saturating_sub(was.0).saturating_abs(), is.1.saturating_sub(was.1).saturating_abs())
}

fn job_difference(before: &Run, after: &Run, job: &JobId, pair: Pair<'_>, verdict: Verdict) -> JobDifference {
    let party = |run: &Run, record: Option<&Record>| record.map(|it| name(run.state(), it.party).to_owned());
    JobDifference {
        job: job.clone(),
        party: party(after, pair.1).or_else(|| party(before, pair.0)).unwrap_or_default(),
        is_offer: pair.1.or(pair.0).is_some_and(|record| matches!(record.party, Party::Offer(_))),
        verdict,
        before: pair.0.map(|record| JobFate::of(record, before.waits_until())),
        after: pair.1.map(|record| JobFate::of(record, after.waits_until())),
    }
}
