//! Files of a reader's computer as the beginning of a plan: a plan that was saved, or the tables of a trace.
//!
//! A table is known by its columns, whatever its file is called.

use std::collections::BTreeMap;
use std::fmt::Write;

use engine::host::plan::base::Base;
use engine::message::command::Command;
use engine::message::command::SubmitJob;
use engine::state::world::State;
use engine::transition;
use engine::unit::amount::GPU;
use engine::unit::id::QuotaId;
use engine::unit::limit;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use trace::jobs::Supply;
use trace::jobs::Trace;
use trace::machines::Machines;
use trace::machines::Setting;
use trace::offers::Offers;
use trace::offers::Reading;
use trace::sheet::Sheet;
use trace::sheet::Source;

/// Lines of a table that a page reads: its memory is limited, and whoever waits should see an end.
pub const LINES_MAX: usize = 300_000;

/// What files come to.
#[derive(Debug)]
pub struct Imported {
    /// Where the plan begins, with what follows.
    pub base: Base,
    /// What people call it.
    pub title: String,
    /// What of the files is not used, or was made up.
    pub remarks: Vec<String>,
}

/// The tables of a trace.
#[derive(Default)]
struct Tables {
    jobs: Option<Source>,
    quotas: Option<Source>,
    nodes: Option<Source>,
    offers: Option<Source>,
}

/// Reads the tables of a trace.
///
/// # Errors
/// In words: file, line, column, value and what to do; or which table is missing, or too long.
pub fn tables(files: &[(String, Vec<u8>)]) -> Result<Imported, String> {
    let Tables { jobs, quotas, nodes, offers } = sorted(files)?;
    let jobs = jobs.ok_or("there is no table of jobs; its columns are job_id, submit_s, duration_s, gpus and group")?;
    let (quotas, mut remarks) = match quotas {
        Some(quotas) => (quotas, Vec::new()),
        None => made_to_measure(&jobs)?,
    };
    let setting = Setting { quotas: &quotas, nodes: nodes.as_ref(), gpus_per_node: None, has_preemption: false };
    let offers = offers.map(|offers| Offers::read(&offers, Reading::default())).transpose()?;
    let mut imported = trace(&setting, offers.as_ref(), &jobs)?;
    remarks.append(&mut imported.remarks);
    Ok(Imported { remarks, ..imported })
}

/// A trace on these machines as the beginning of a plan.
///
/// # Errors
/// In words: file, line, column, value and what to do.
pub fn trace(setting: &Setting<'_>, offers: Option<&Offers>, jobs: &Source) -> Result<Imported, String> {
    let Staged { state, begin, trace, .. } = staged(setting, offers, jobs)?;
    let Trace { arrivals, changes, mut remarks } = trace;
    let changes = changes.into_iter().map(|change| (change.at, change.command));
    // Of one moment a price comes before the jobs that bid on it.
    let jobs_ahead = arrivals.into_iter().map(|arrival| (arrival.at, Command::SubmitJob(arrival.job)));
    let mut ahead: Vec<(Timestamp, Command)> = changes.chain(jobs_ahead).collect();
    let from = begin.max(first_minute(&ahead));
    remarks.extend(cut(&mut ahead, from));
    let base = Base::new(state, from, ahead).map_err(|rejection| rejection.to_string())?;
    Ok(Imported { base, title: jobs.name.clone(), remarks })
}

/// The cluster of a trace before its first job, and what happens then.
#[derive(Debug)]
pub struct Staged {
    /// The cluster.
    pub state: State,
    /// When it is made.
    pub begin: Timestamp,
    /// All GPUs that jobs may start on, in thousandths.
    pub gpus: i64,
    /// What happens then.
    pub trace: Trace,
}

/// Sets up the cluster of a trace, and refuses what the engine would refuse before anything has happened.
///
/// # Errors
/// In words: file, line, column, value and what to do.
pub fn staged(setting: &Setting<'_>, offers: Option<&Offers>, jobs: &Source) -> Result<Staged, String> {
    let mut machines = Machines::read(setting)?;
    if let Some(offers) = offers {
        machines.add_offers(offers);
    }
    let Machines { setup, begin, quotas, node_gpus, gpus } = machines;
    let mut state = State::default();
    for setup in &setup {
        let events = transition::decide(&state, &setup.command, begin);
        transition::apply_all(&mut state, &events.map_err(|rejection| setup.complaint(&rejection))?);
    }
    state.settle();
    let supply = Supply { node_gpus, quotas: &quotas, offers };
    let trace = Trace::read(jobs, &supply)?;
    for arrival in &trace.arrivals {
        let command = Command::SubmitJob(SubmitJob::clone(&arrival.job));
        transition::decide(&state, &command, begin).map_err(|rejection| format!("{}: {rejection}", arrival.place))?;
    }
    Ok(Staged { state, begin, gpus, trace })
}

/// The minute in which the first of these happens: times of a trace may count from anything.
fn first_minute(ahead: &[(Timestamp, Command)]) -> Timestamp {
    let first = ahead.iter().map(|(at, _)| at.0).min().unwrap_or(0);
    Timestamp(first - first.rem_euclid(Millis::MINUTE.0))
}

/// Leaves out what no plan reaches, and says so.
fn cut(ahead: &mut Vec<(Timestamp, Command)>, from: Timestamp) -> Option<String> {
    let before = ahead.len();
    ahead.retain(|(at, _)| (*at - from).0 <= limit::PLAN_MS_MAX);
    let (late, days) = (before - ahead.len(), limit::PLAN_MS_MAX / Millis::DAY.0);
    (late > 0).then(|| {
        format!("{late} lines are more than {days} days after the first one, which is as far as a plan goes; they are left out")
    })
}

fn sorted(files: &[(String, Vec<u8>)]) -> Result<Tables, String> {
    let mut tables = Tables::default();
    for (name, bytes) in files {
        let lines = bytes.split(|byte| *byte == b'\n').count() - 1;
        if lines > LINES_MAX {
            return Err(format!(
                "{name} has {lines} lines, a page reads at most {LINES_MAX}; take a shorter time of it, or replay it with the command tidegate"
            ));
        }
        let head = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let head = String::from_utf8_lossy(head);
        let columns: Vec<&str> = head.trim_start_matches('\u{feff}').split(',').map(str::trim).collect();
        let has = |column: &str| columns.contains(&column);
        let (slot, what) = if has("job_id") {
            (&mut tables.jobs, "jobs")
        } else if has("sn") || has("node_name") {
            (&mut tables.nodes, "nodes")
        } else if has("offer") {
            (&mut tables.offers, "offers")
        } else if has("group") {
            (&mut tables.quotas, "quotas")
        } else {
            return Err(format!(
                "{name}, line 1: no table of a trace has these columns ({}); jobs have job_id, quotas have group and parent, nodes have sn or node_name, offers have offer",
                columns.join(", ")
            ));
        };
        if let Some(first) = slot.replace(Source { name: name.clone(), bytes: bytes.clone() }) {
            return Err(format!("{} and {name} are both tables of {what}; leave out one of them", first.name));
        }
    }
    Ok(tables)
}

/// Quotas for a trace that comes without: each group is guaranteed what its jobs would use on average, and enough for
/// the largest of them.
fn made_to_measure(jobs: &Source) -> Result<(Source, Vec<String>), String> {
    let sheet = Sheet::read(jobs, &["submit_s", "duration_s", "gpus", "group"])?;
    let mut groups: BTreeMap<QuotaId, (i128, i128)> = BTreeMap::new();
    let (mut first, mut last) = (i64::MAX, 0);
    for line in sheet.lines() {
        let (submitted, duration) = (line.need_decimal("submit_s")?, line.need_decimal("duration_s")?);
        let gpus = i128::from(line.need_decimal("gpus")?);
        first = first.min(submitted);
        last = last.max(submitted.saturating_add(duration));
        let name = line.need("group")?;
        let group = QuotaId::new(name).map_err(|bad| line.complaint("group", name, &bad.to_string()))?;
        let (work, largest) = groups.entry(group).or_default();
        *work += i128::from(duration) * gpus;
        *largest = gpus.max(*largest);
    }
    let span = i128::from(last.saturating_sub(first).max(1));
    let node = i128::from(8 * GPU);
    let guaranteed = |(work, largest): &(i128, i128)| ((work / span).max(*largest).max(1) + node - 1) / node * 8;
    let all: i128 = groups.values().map(guaranteed).sum();
    let mut root = "all".to_owned();
    while groups.keys().any(|group| group.as_str() == root) {
        root.push('-');
    }
    let mut text = format!("group,parent,gpus\n{root},,{all}\n");
    for (group, jobs) in &groups {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "\"{}\",{root},{}", group.as_str().replace('"', "\"\""), guaranteed(jobs));
    }
    let remark = format!(
        "No table of quotas has come with the jobs: each of the {} groups is guaranteed what its jobs use on average, or its largest job if that is more; {all} GPUs in all.",
        groups.len()
    );
    Ok((Source { name: "quotas".to_owned(), bytes: text.into_bytes() }, vec![remark]))
}

/// Whether files are a plan that was saved, and not tables.
#[must_use]
pub fn is_plan(files: &[(String, Vec<u8>)]) -> bool {
    files.first().is_some_and(|(_, bytes)| bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{'))
}
