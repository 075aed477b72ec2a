//! A run's result as a document: how everybody fared, and how it went over time.

use serde::Deserialize;
use serde::Serialize;

use crate::host::plan::account::Account;
use crate::host::plan::account::Wait;
use crate::host::plan::account::Waits;
use crate::host::plan::account::fairness;
use crate::host::plan::course::Course;
use crate::host::plan::record::FirstStart;
use crate::host::plan::record::Party;
use crate::host::plan::run::Run;
use crate::host::plan::tally::Courses;
use crate::host::plan::tally::SpanEnd;
use crate::job::cause::Cause;
use crate::job::phase::Charge;
use crate::message::rejection::Rejection;
use crate::state::world::State;
use crate::unit::id::JobId;
use crate::unit::sort;
use crate::unit::time::Millis;
use crate::unit::time::Timestamp;

/// Quotas and offers whose course is told; those with the most work come first.
pub const COURSES_MAX: usize = 32;

/// How the jobs of a quota or of an offer fared; those of a quota's descendants are not counted here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartyOutcome {
    /// The quota or the offer.
    pub name: String,
    /// Whether it is an offer of the spot market.
    pub is_offer: bool,
    /// In numbers that add up.
    pub account: Account,
    /// The waits.
    pub waits: Waits,
}

/// Averages over intervals, in thousandths of GPUs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CourseOutcome {
    /// The quota or the offer.
    pub name: String,
    /// Whether it is an offer of the spot market; a quota may have the same name.
    pub is_offer: bool,
    /// What its jobs held.
    pub used: Vec<i64>,
    /// What its jobs waited for.
    pub waited: Vec<i64>,
}

/// A change of the variant that was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RefusalOutcome {
    /// Its position in the variant.
    pub change: u64,
    /// Why.
    pub rejection: Rejection,
    /// The same as a sentence.
    pub reason: String,
}

/// A run's result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// When it began.
    pub from: Timestamp,
    /// How far it has come.
    pub until: Timestamp,
    /// GPUs for jobs at the end, in thousandths.
    pub gpus: i64,
    /// Work for which there were GPUs.
    pub offered_gpu_ms: i64,
    /// All jobs together.
    pub all: Account,
    /// The waits of all jobs.
    pub waits: Waits,
    /// Jain's index of how well the quotas and offers that wanted something were served, in thousandths.
    pub fairness: Option<i64>,
    /// Each quota and offer with jobs.
    pub parties: Vec<PartyOutcome>,
    /// The length of an interval of the courses.
    #[serde(rename = "interval_ms")]
    pub interval: Millis,
    /// How use and waiting went for all of them together; without a name.
    pub course: CourseOutcome,
    /// The same for each of those with the most work.
    pub courses: Vec<CourseOutcome>,
    /// Changes that were refused.
    pub refused: Vec<RefusalOutcome>,
    /// How many commands of the base were refused.
    pub refused_ahead: u64,
    /// The first of them, as sentences.
    pub reasons_ahead: Vec<String>,
    /// Events of the run.
    pub events: u64,
    /// Scheduled rounds of the run.
    pub rounds: u64,
}

impl Outcome {
    /// The result of a run that is over.
    #[must_use]
    pub fn of(run: &Run) -> Self {
        let (state, tally, now) = (run.state(), &run.tally, run.now());
        let parties = fared(run);
        let all = parties.iter().fold(Account::default(), |sum, (_, account, _)| sum.plus(account));
        let served: Vec<i64> = parties.iter().filter_map(|(_, account, _)| account.served()).collect();
        let waits = parties.iter().flat_map(|(.., waits)| waits.iter().copied()).collect();
        let interval = Course::width(tally.from, now);
        Self {
            from: tally.from,
            until: now,
            gpus: tally.gpus,
            offered_gpu_ms: tally.offered_gpu_ms,
            all,
            waits: Waits::of(waits),
            fairness: fairness(&served),
            course: together(run, interval),
            courses: courses(run, &parties, interval),
            parties: outcomes(state, parties),
            interval,
            refused: run
                .refused
                .iter()
                .map(|refusal| RefusalOutcome {
                    change: refusal.change as u64,
                    rejection: refusal.rejection.clone(),
                    reason: refusal.rejection.to_string(),
                })
                .collect(),
            refused_ahead: tally.refused_ahead,
            reasons_ahead: tally.refusals_ahead.iter().map(|(_, rejection)| rejection.to_string()).collect(),
            events: tally.events,
            rounds: tally.rounds,
        }
    }
}

impl PartyOutcome {
    /// How everybody fared in a run that is over: each quota and offer with jobs.
    #[must_use]
    pub fn all(run: &Run) -> Vec<Self> {
        outcomes(run.state(), fared(run))
    }
}

/// How the jobs of one fared, and their waits.
type Fared = (Party, Account, Vec<Wait>);

fn fared(run: &Run) -> Vec<Fared> {
    let mut parties: Vec<Fared> = Vec::new();
    for record in &run.tally.records {
        let at = match parties.binary_search_by_key(&record.party, |(party, ..)| *party) {
            Ok(at) => at,
            Err(at) => {
                parties.insert(at, (record.party, Account::default(), Vec::new()));
                at
            }
        };
        let (_, account, waits) = &mut parties[at];
        *account = account.plus(&record.account);
        let is_open = record.first_start == FirstStart::Never;
        waits.extend(record.first_wait(run.waits_until()).map(|length| Wait { length, is_open }));
    }
    parties
}

fn outcomes(state: &State, parties: Vec<Fared>) -> Vec<PartyOutcome> {
    let outcome = |(party, account, waits): Fared| {
        let is_offer = matches!(party, Party::Offer(_));
        PartyOutcome { name: name(state, party).to_owned(), is_offer, account, waits: Waits::of(waits) }
    };
    parties.into_iter().map(outcome).collect()
}

/// What people call it.
pub(super) fn name(state: &State, party: Party) -> &str {
    match party {
        Party::Quota(no) => state.quotas[no.at()].id.as_str(),
        Party::Offer(no) => state.market.offers[no.at()].id.as_str(),
    }
}

fn courses(run: &Run, parties: &[Fared], interval: Millis) -> Vec<CourseOutcome> {
    let mut order: Vec<(Party, i64)> = parties
        .iter()
        .map(|(party, account, _)| (*party, account.used_gpu_ms.saturating_add(account.waited_gpu_ms)))
        .collect();
    sort::by_key(&mut order, |(_, work)| std::cmp::Reverse(*work));
    order.truncate(COURSES_MAX);
    let told = |(party, _): (Party, i64)| {
        let courses = run.tally.courses.get(&party)?;
        let is_offer = matches!(party, Party::Offer(_));
        Some(course((name(run.state(), party), is_offer), courses.clone(), interval, run.now()))
    };
    order.into_iter().filter_map(told).collect()
}

fn together(run: &Run, interval: Millis) -> CourseOutcome {
    let mut all = Courses::new(run.tally.from);
    for Courses { used, waited } in run.tally.courses.values() {
        all.used.add_course(used);
        all.waited.add_course(waited);
    }
    course(("", false), all, interval, run.now())
}

fn course((name, is_offer): (&str, bool), courses: Courses, interval: Millis, until: Timestamp) -> CourseOutcome {
    let Courses { used, waited } = courses;
    CourseOutcome {
        name: name.to_owned(),
        is_offer,
        used: used.averages(interval, until),
        waited: waited.averages(interval, until),
    }
}

/// A stretch of the timeline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpanOutcome {
    /// Who ran.
    pub job: JobId,
    /// The quota or the offer.
    pub party: String,
    /// Whether it is an offer of the spot market; a quota may have the same name.
    pub is_offer: bool,
    /// What it held, in thousandths of GPUs.
    pub gpus: i64,
    /// What it counted against.
    pub charge: Charge,
    /// From when.
    pub from: Timestamp,
    /// Until when.
    pub until: Timestamp,
    /// Whether it went on after the horizon.
    pub is_open: bool,
    /// Why it was told to stop, if it was.
    pub evicted: Option<Cause>,
}

/// Who ran when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timeline {
    /// The first stretches, by beginning.
    pub spans: Vec<SpanOutcome>,
    /// How many more there are.
    pub left_out: u64,
}

impl Timeline {
    /// The first stretches of a run, at most so many.
    #[must_use]
    pub fn of(run: &Run, limit: usize) -> Self {
        let tally = &run.tally;
        let told = tally.spans.iter().take(limit).map(|span| {
            let record = &tally.records[span.record];
            SpanOutcome {
                job: record.id.clone(),
                party: name(run.state(), record.party).to_owned(),
                is_offer: matches!(record.party, Party::Offer(_)),
                gpus: span.holding.gpus,
                charge: span.holding.charge,
                from: span.holding.since,
                until: span.until,
                is_open: span.end == SpanEnd::Open,
                evicted: match &span.end {
                    SpanEnd::Evicted(cause) => Some(Cause::clone(cause)),
                    SpanEnd::Open | SpanEnd::Ended | SpanEnd::Changed => None,
                },
            }
        });
        let spans: Vec<SpanOutcome> = told.collect();
        let left_out = tally.spans_left_out + (tally.spans.len() - spans.len()) as u64;
        Self { spans, left_out }
    }
}
