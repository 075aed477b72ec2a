//! How far the figures of a run may go by chance, and what may honestly be said of two runs then.

use std::collections::BTreeMap;

use engine::host::plan::base::Base;
use engine::host::plan::outcome::Outcome;
use engine::host::plan::run::Horizon;
use engine::host::plan::run::Run;
use engine::message::plan::Change as PlanChange;
use engine::message::plan::Variant;
use engine::unit::time::Timestamp;
use serde::Deserialize;
use serde::Serialize;

use crate::noise;
use crate::page::table;
use crate::page::table::Change;
use crate::page::table::Figure;

/// A figure over several runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// The one in the middle.
    pub median: String,
    /// The smallest, if not all are alike.
    pub least: Option<String>,
    /// The largest.
    pub most: String,
    /// Compared with the base.
    pub verdict: Verdict,
}

/// What may be said of a figure and the base's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It is the same in all runs, or the base itself.
    Same,
    /// It is better in every run than in any run of the base.
    Better,
    /// It is worse in every run than in any run of the base.
    Worse,
    /// Some runs of one are like some runs of the other.
    Unclear,
}

impl Range {
    /// `8.2 h (7.9 h to 10.4 h)`; where all are alike, that one.
    #[must_use]
    pub fn text(&self) -> String {
        let Self { median, least, most, .. } = self;
        least.as_ref().map_or_else(|| median.clone(), |least| format!("{median} ({least} to {most})"))
    }

    fn of(mut figures: Vec<&Figure>, base: &[&Figure]) -> Option<Self> {
        figures.sort_by_key(|figure| figure.value);
        let (least, most) = (*figures.first()?, *figures.last()?);
        let median = figures[(figures.len() - 1) / 2];
        let lowest = base.iter().min_by_key(|figure| figure.value)?;
        let highest = base.iter().max_by_key(|figure| figure.value)?;
        let is_one = least.value == highest.value && most.value == lowest.value;
        let is_apart = most.value < lowest.value || least.value > highest.value;
        let verdict = match median.against(lowest) {
            _ if is_one => Verdict::Same,
            _ if !is_apart => Verdict::Unclear,
            Change::Same => Verdict::Same,
            Change::Better => Verdict::Better,
            Change::Worse => Verdict::Worse,
        };
        let least = (least.text != most.text).then(|| least.text.clone());
        Some(Self { median: median.text.clone(), least, most: most.text.clone(), verdict })
    }
}

/// What a range stands for.
#[must_use]
pub fn words() -> String {
    let (runs, seconds) = (noise::RUNS, noise::JITTER.0 / 1000);
    format!("Of {runs} runs in which jobs take up to {seconds} s longer: the middle one (the lowest to the highest).")
}

/// The figures of a number of runs, run by run.
type Runs = Vec<Vec<Figure>>;

/// Runs a base and its variants again with other durations: after all else, and only if somebody has a variant.
#[derive(Default)]
pub(crate) struct Ranges {
    /// The base's figures, and when each run was over.
    base: (Runs, Vec<Timestamp>),
    /// By variant, with the number of its run.
    variants: BTreeMap<u32, Wanted>,
    /// What is under way, for a variant or the base.
    under_way: Option<(Option<u32>, Box<Run>)>,
}

/// A variant whose ranges somebody waits for.
struct Wanted {
    ticket: u32,
    changes: Vec<PlanChange>,
    runs: Runs,
}

/// Whose ranges are known: the base's, or those of a variant with the number of its run.
pub(crate) type Known = (Option<(u32, u32)>, Vec<Range>);

impl Ranges {
    /// Somebody waits for a variant's.
    pub(crate) fn want(&mut self, variant: u32, ticket: u32, changes: Vec<PlanChange>) {
        self.forget(variant);
        self.variants.insert(variant, Wanted { ticket, changes, runs: Vec::new() });
    }

    /// Nobody does any more.
    pub(crate) fn forget(&mut self, variant: u32) {
        self.variants.remove(&variant);
        self.under_way.take_if(|(whose, _)| *whose == Some(variant));
    }

    /// Gives up what is not known yet.
    pub(crate) fn cancel(&mut self) {
        self.variants.clear();
        self.under_way = None;
    }

    /// Whether there is work left.
    pub(crate) fn is_busy(&self) -> bool {
        self.variants.values().any(|wanted| wanted.runs.len() < noise::RUNS as usize)
    }

    /// Whether any of them is under way.
    pub(crate) fn has_begun(&self) -> bool {
        self.under_way.is_some()
    }

    /// Works for about so many events; says whose ranges are known by that.
    pub(crate) fn work(&mut self, base: &Base, horizon: Horizon, events: u64) -> Option<Known> {
        let (whose, mut run) = match self.under_way.take() {
            Some(under_way) => under_way,
            None => self.next(base, horizon)?,
        };
        run.advance(events);
        if !run.is_over() {
            self.under_way = Some((whose, run));
            return None;
        }
        let figures = table::figures(&Outcome::of(&run));
        match whose {
            None => {
                self.base.0.push(figures);
                self.base.1.push(run.now());
            }
            Some(variant) => self.variants.get_mut(&variant)?.runs.push(figures),
        }
        self.known(whose)
    }

    fn next(&self, base: &Base, horizon: Horizon) -> Option<(Option<u32>, Box<Run>)> {
        let begin = |seed: usize, variant: &Variant| {
            let base = noise::jittered(base, u32::try_from(seed).unwrap_or(u32::MAX));
            Box::new(Run::new(&base, variant, horizon))
        };
        let n_base = self.base.0.len();
        if n_base < noise::RUNS as usize {
            return Some((None, begin(n_base, &Variant::default())));
        }
        let (variant, wanted) = self.variants.iter().find(|(_, wanted)| wanted.runs.len() < noise::RUNS as usize)?;
        let seed = wanted.runs.len();
        let mut run = begin(seed, &Variant { name: String::new(), changes: wanted.changes.clone() });
        run.compare_until(self.base.1[seed]);
        Some((Some(*variant), run))
    }

    fn known(&self, whose: Option<u32>) -> Option<Known> {
        let (of, runs) = match whose {
            None => (None, &self.base.0),
            Some(variant) => {
                let wanted = self.variants.get(&variant)?;
                (Some((variant, wanted.ticket)), &wanted.runs)
            }
        };
        if runs.len() < noise::RUNS as usize {
            return None;
        }
        let range = |at: usize| Range::of(column(runs, at), &column(&self.base.0, at));
        let mut ranges: Vec<Range> = (0..runs[0].len()).filter_map(range).collect();
        if whose.is_none() {
            for range in &mut ranges {
                range.verdict = Verdict::Same;
            }
        }
        Some((of, ranges))
    }
}

/// A figure of all runs.
fn column(runs: &Runs, at: usize) -> Vec<&Figure> {
    runs.iter().filter_map(|run| run.get(at)).collect()
}
