//! `tidegate jobs`: which jobs there are, and how they do.

use std::collections::BTreeSet;

use clap::Args;
use console_model::duration;
use console_model::explained;
use console_model::gpus;
use console_model::job_filter;
use console_model::job_filter::JobFilter;
use console_model::job_filter::JobSort;
use console_model::job_state::JobState;
use engine::state::jobs::Job;
use engine::state::world::State;
use engine::unit::id::JobNo;
use engine::unit::ordered::Map;
use engine::unit::priority::Module;
use engine::unit::time::Timestamp;

use crate::service::socket::Hears;
use crate::service::time;
use crate::shell::at::At;
use crate::shell::failure::Failure;
use crate::shell::follow::follow;
use crate::shell::named;
use crate::shell::person::Person;
use crate::shell::print;
use crate::shell::table::Cell;
use crate::shell::table::Column;
use crate::shell::table::Output;
use crate::shell::table::Table;
use crate::shell::table::Tone;
use crate::shell::table::thousandths;

/// What `tidegate jobs` is asked for.
#[derive(Debug, Args)]
pub struct Jobs {
    /// Part of the job's name, workspace or user.
    pub search: Option<String>,
    /// Jobs of this quota and those below it.
    #[arg(long)]
    pub quota: Option<String>,
    /// Jobs in this state: queued, bidding, preempted, starting, in-quota, not-in-quota, spot, stopping, succeeded,
    /// failed, ended-preempted, cancelled.
    #[arg(long, value_parser = state)]
    pub state: Option<JobState>,
    /// Jobs of this module: DLC, DSW or EAS.
    #[arg(long, value_parser = module)]
    pub module: Option<Module>,
    /// By what they are ordered: newest, oldest, name, priority, gpus, state.
    #[arg(long, default_value = "newest", value_parser = sort)]
    pub sort: JobSort,
    /// Also those that have ended.
    #[arg(long, short)]
    pub all: bool,
    /// Goes on, and shows them again with each change.
    #[arg(long, short)]
    pub watch: bool,
    #[command(flatten)]
    pub at: At,
}

const COLUMNS: [Column; 11] = [
    Column::words("job", "JOB"),
    Column::words("state", "STATE"),
    Column::words("quota", "QUOTA"),
    Column::words("workspace", "WORKSPACE"),
    Column::words("module", "MODULE"),
    Column::number("priority", "PRIO"),
    Column::number("gpus", "GPUS"),
    Column::number("submitted", "AGE"),
    Column::words("user", "USER").wide(),
    Column::words("nodes", "NODES").wide(),
    Column::words("reason", "REASON").wide(),
];

/// Prints them, once or again and again.
pub fn jobs(asked: &Jobs) -> Result<(), Failure> {
    let mut person = Person::of(asked.at.context.as_deref())?;
    if !asked.watch {
        let state = person.state()?;
        return print::table(&table(&state, asked, &person.place())?, asked.at.output);
    }
    let place = person.place();
    let look = |state: &State, _: Option<&_>| {
        print::again(&table(state, asked, &place)?, asked.at.output)?;
        Ok(Hears::On)
    };
    follow(&mut person, None, look).map(drop)
}

fn table(state: &State, asked: &Jobs, place: &str) -> Result<Table, Failure> {
    let now = time::now();
    if let Some(quota) = &asked.quota {
        named::quota(state, quota, place)?;
    }
    let filter = JobFilter {
        search: asked.search.clone().unwrap_or_default(),
        quota: asked.quota.clone().unwrap_or_default(),
        state: asked.state,
        module: asked.module,
        sort: asked.sort,
    };
    let is_shown = |job: &Job| asked.all || asked.state.is_some() || !job.is_ended();
    let places = explained::places(state, now);
    let found = job_filter::select(state, &filter).into_iter().map(|no| (no, &state.jobs[no]));
    let is_wide = matches!(asked.at.output, Output::Wide | Output::Json);
    let rows = found.filter(|(_, job)| is_shown(job)).map(|(no, job)| row(state, no, job, &places, is_wide, now));
    let is_filtered =
        asked.search.is_some() || asked.quota.is_some() || asked.state.is_some() || asked.module.is_some();
    let empty = match (is_filtered, asked.all) {
        (true, _) => "No matches.",
        (false, true) => "No jobs.",
        (false, false) => "No jobs run or wait; --all lists those that have ended.",
    };
    Ok(Table { columns: &COLUMNS, rows: rows.collect(), empty })
}

fn row(state: &State, no: JobNo, job: &Job, places: &Map<JobNo, usize>, is_wide: bool, now: Timestamp) -> Vec<Cell> {
    let (spec, shown) = (&job.spec, JobState::of(job));
    let place = places.get(&no).map(|place| format!(" (#{place})")).unwrap_or_default();
    let gpus = state.cluster.gpus(&spec.shape.gang_amount());
    let nodes: BTreeSet<&str> = job.nodes().map(|node| state.nodes[node.at()].id.as_str()).collect();
    let nodes: Vec<&str> = nodes.into_iter().collect();
    // Asking every waiting job why takes a while; only who wants to see it waits.
    let reason = (is_wide && job.is_queued()).then(|| explained::binding(state, no, now));
    vec![
        Cell::of(spec.id.as_str()),
        Cell::with(format!("{}{place}", shown.words()), shown.as_str()).in_tone(tone(shown)),
        Cell::of(state.drawn_on(spec)),
        Cell::maybe(spec.workspace.as_ref().map(engine::unit::id::WorkspaceId::as_str)),
        Cell::of(spec.module.as_str()),
        Cell::with(spec.priority.to_string(), spec.priority.get()),
        Cell::with(gpus::bare(gpus), thousandths(gpus)),
        Cell::with(duration::rough(now - job.submitted), job.submitted.0),
        Cell::maybe(spec.user.as_ref().map(engine::unit::id::UserId::as_str)),
        Cell::with(nodes.join(","), nodes),
        Cell::maybe(reason.as_deref()),
    ]
}

/// How a state looks on a terminal.
#[must_use]
pub fn tone(state: JobState) -> Tone {
    match state {
        JobState::Queued | JobState::Bidding | JobState::Preempted | JobState::Starting | JobState::Stopping => {
            Tone::Waits
        }
        JobState::InQuota | JobState::NotInQuota | JobState::Spot => Tone::Good,
        JobState::Failed | JobState::EndedPreempted => Tone::Bad,
        JobState::Succeeded | JobState::Cancelled => Tone::Past,
    }
}

fn state(text: &str) -> Result<JobState, String> {
    named::one_of(JobState::ALL, JobState::as_str, text)
}

/// A module by its abbreviation.
pub fn module(text: &str) -> Result<Module, String> {
    let known = Module::ALL.map(Module::as_str).join(", ");
    job_filter::module(text).ok_or_else(|| format!("write one of {known}"))
}

fn sort(text: &str) -> Result<JobSort, String> {
    named::one_of(JobSort::ALL, JobSort::as_str, text)
}
