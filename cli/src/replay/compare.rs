//! Strategies side by side: the same trace under each of them, several times with its submissions a little moved.

use std::collections::BTreeSet;
use std::fmt;
use std::fmt::Write;

use clap::ValueEnum;
use engine::quota::settings::QueueStrategy;
use serde::Serialize;
use trace::jobs::Trace;

use crate::meter::Meter;
use crate::replay::figures::Figures;
use crate::replay::jitter::JITTER_MS;
use crate::replay::jitter::jittered;
use crate::replay::run::Stage;
use crate::replay::run::replay;

/// How many strategies stand beside each other in a terminal of 80 columns.
const BESIDE: usize = 2;
/// The width of a strategy's column.
const WIDTH: usize = 25;
/// The width of what rows are about.
const LABEL: usize = 28;

/// How all quotas order their queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Strategy {
    /// Priority with ageing; the default of a quota.
    Intelligent,
    /// Priority, then submission.
    Balance,
    /// Submission; who cannot start is passed over.
    RoundRobin,
    /// Submission; the first blocks the rest.
    StrictFifo,
}

impl Strategy {
    fn of_quotas(self) -> (QueueStrategy, &'static str) {
        match self {
            Self::Intelligent => (QueueStrategy::Intelligent, "Intelligent"),
            Self::Balance => (QueueStrategy::Balance, "Balance"),
            Self::RoundRobin => (QueueStrategy::RoundRobin, "Round robin"),
            Self::StrictFifo => (QueueStrategy::StrictFifo, "Strict FIFO"),
        }
    }
}

/// What is compared: the strategies, and how often each of them is tried.
#[derive(Clone, Debug)]
pub struct Asked {
    pub strategies: Vec<Strategy>,
    pub seeds: u64,
}

/// Some runs' values of one figure, from the least to the most.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Range {
    pub median: f64,
    pub least: f64,
    pub most: f64,
}

impl Range {
    /// Nothing of no values.
    #[must_use]
    pub fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let middle = values.len() / 2;
        let upper = *values.get(middle)?;
        let median = if values.len() % 2 == 1 { upper } else { f64::midpoint(values[middle - 1], upper) };
        Some(Self { median, least: values[0], most: values[values.len() - 1] })
    }
}

/// What a figure is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Milliseconds.
    Ms,
    /// A number of things.
    Count,
    GpuHours,
    /// A part of 1.
    Share,
    /// From 0 to 1, as it is.
    Index,
}

/// A figure of every strategy, in their order; nothing where a strategy has no value.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// What it is about; several rows in a sequence may be about the same.
    pub about: &'static str,
    /// Whom it is about: a class of jobs; empty for all.
    pub whose: String,
    pub unit: Unit,
    pub values: Vec<Option<Range>>,
}

/// All figures of all strategies.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    pub strategies: Vec<&'static str>,
    pub seeds: u64,
    pub moved_by_ms: u64,
    pub rows: Vec<Row>,
    pub remarks: Vec<String>,
}

/// Replays a trace under each strategy with each seed.
pub fn compare(stage: &Stage, trace: &Trace, asked: &Asked, meter: &dyn Meter) -> Result<Comparison, String> {
    let mut runs: Vec<Vec<Figures>> = Vec::new();
    for strategy in &asked.strategies {
        let stage = stage.with_strategy(strategy.of_quotas().0)?;
        let run = |seed| replay(stage.clone(), jittered(trace, seed), meter, true);
        runs.push((0..asked.seeds).map(run).collect::<Result<_, _>>()?);
    }
    Ok(Comparison {
        strategies: asked.strategies.iter().map(|strategy| strategy.of_quotas().1).collect(),
        seeds: asked.seeds,
        moved_by_ms: JITTER_MS,
        rows: rows(&runs),
        remarks: trace.remarks.clone(),
    })
}

fn rows(runs: &[Vec<Figures>]) -> Vec<Row> {
    let row = |about, whose: &str, unit, value: &dyn Fn(&Figures) -> Option<f64>| Row {
        about,
        whose: whose.to_owned(),
        unit,
        values: runs.iter().map(|runs| Range::of(runs.iter().filter_map(value).collect())).collect(),
    };
    let classes: BTreeSet<&String> = runs.iter().flatten().flat_map(|figures| figures.classes.keys()).collect();
    let mut rows = Vec::new();
    for class in &classes {
        let wait = |figures: &Figures| figures.classes.get(*class).map(|class| ms(class.wait.mean_ms));
        rows.push(row("Mean wait for the first start", class, Unit::Ms, &wait));
    }
    for class in &classes {
        let wait = |figures: &Figures| figures.classes.get(*class).map(|class| ms(class.wait.p95_ms));
        rows.push(row("Wait that 95 of 100 jobs do not exceed", class, Unit::Ms, &wait));
    }
    for class in &classes {
        let delay = |figures: &Figures| figures.classes.get(*class).map(|class| ms(class.delay_mean_ms));
        rows.push(row("Mean time beyond the duration, restarts included", class, Unit::Ms, &delay));
    }
    rows.push(row("Evictions", "", Unit::Count, &|figures| Some(count(figures.all_rules().evictions))));
    rows.push(row("GPU-hours lost", "", Unit::GpuHours, &|figures| Some(figures.all_rules().lost_gpu_hours)));
    rows.push(row("GPU use", "", Unit::Share, &|figures| Some(figures.gpu_use)));
    rows.push(row("GPU use without lost work", "", Unit::Share, &|figures| Some(figures.gpu_use_kept)));
    rows.push(row("Fairness of slowdowns", "", Unit::Index, &|figures| figures.fairness));
    rows
}

#[expect(clippy::cast_precision_loss, reason = "for people to read")]
fn ms(value: i64) -> f64 {
    value as f64
}

#[expect(clippy::cast_precision_loss, reason = "for people to read")]
fn count(value: u64) -> f64 {
    value as f64
}

impl Unit {
    /// A range as people read it: its median, then its ends in the same unit.
    fn told(self, range: Range) -> String {
        let (by, digits, unit) = match self {
            Self::Ms if range.median < 120_000.0 => (1_000.0, 0, " s"),
            Self::Ms if range.median < 7_200_000.0 => (60_000.0, 1, " min"),
            Self::Ms => (3_600_000.0, 1, " h"),
            Self::Count | Self::GpuHours => (1.0, 0, ""),
            Self::Share => (0.01, 1, " %"),
            Self::Index => (1.0, 3, ""),
        };
        let Range { median, least, most } = range;
        format!("{:.digits$} ({:.digits$}-{:.digits$}){unit}", median / by, least / by, most / by)
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for remark in &self.remarks {
            writeln!(f, "note: {remark}")?;
        }
        let Self { seeds, moved_by_ms, .. } = self;
        write!(f, "{seeds} runs of each, with submissions moved by up to {} s. ", moved_by_ms / 1000)?;
        writeln!(f, "Medians (least-most).")?;
        for from in (0..self.strategies.len()).step_by(BESIDE) {
            self.beside(f, from)?;
        }
        Ok(())
    }
}

impl Comparison {
    /// A table of some strategies, from this one on.
    fn beside(&self, f: &mut fmt::Formatter<'_>, from: usize) -> fmt::Result {
        let to = self.strategies.len().min(from + BESIDE);
        let mut line = |label: &str, cells: Vec<String>| {
            let mut line = format!("{label:<LABEL$}");
            for cell in cells {
                let _ = write!(line, "{cell:<WIDTH$}");
            }
            writeln!(f, "{}", line.trim_end())
        };
        line("", Vec::new())?;
        line("", self.strategies[from..to].iter().map(|name| (*name).to_owned()).collect())?;
        let mut about = "";
        for row in &self.rows {
            let told = |range: &Option<Range>| range.map_or_else(|| "-".to_owned(), |range| row.unit.told(range));
            let cells = row.values[from..to].iter().map(told).collect();
            if row.whose.is_empty() {
                line(row.about, cells)?;
                continue;
            }
            if about != row.about {
                about = row.about;
                line(about, Vec::new())?;
            }
            line(&format!("  {}", row.whose), cells)?;
        }
        Ok(())
    }
}
