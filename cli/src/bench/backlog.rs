//! A deep backlog with preemption, made of a trace: its quotas are halved, and every eighth job is a service of the
//! parent, which may take what training below it holds.

use std::fmt::Write;
use std::time::Duration;

use trace::sheet::Line;
use trace::sheet::Sheet;
use trace::sheet::Source;

use crate::bench::figure::Figure;
use crate::bench::timing::Bench;
use crate::bench::timing::ENOUGH;
use crate::bench::timing::Philly;
use crate::replay;

/// Of so many jobs one is a service.
const SERVICE_EVERY: usize = 8;
/// Nodes that share what the halved quotas of the Philly week come to, 256 GPUs, have so many GPUs: that makes 64.
pub const GPUS_PER_NODE: i64 = 4;
/// Jobs of the backlog whose instructions are counted.
const BACKLOG_COUNTED: usize = 4000;

/// The trace with its quotas halved and services among its first `jobs_max` jobs; later ones are left out.
pub fn deepened(philly: &Philly, jobs_max: usize) -> Result<Philly, String> {
    let quotas = Sheet::read(&philly.quotas, &["group", "parent", "gpus"])?;
    let parents: Vec<(&str, &str)> =
        quotas.lines().filter_map(|line| Some((line.text("group")?, line.text("parent")?))).collect();
    let mut halves = "group,parent,gpus\n".to_owned();
    for line in quotas.lines() {
        let half = line.need_decimal("gpus")? / 2;
        let (whole, part) = (half / 1000, half % 1000);
        let (group, parent) = (line.need("group")?, line.text("parent").unwrap_or_default());
        writeln!(halves, "{group},{parent},{whole}.{part:03}").map_err(|error| error.to_string())?;
    }
    let jobs = Sheet::read(&philly.jobs, &["job_id", "submit_s", "duration_s", "gpus", "group"])?;
    let mut deep = "job_id,submit_s,duration_s,gpus,group,module,priority,idle,fault_tolerance\n".to_owned();
    for (at, line) in jobs.lines().take(jobs_max).enumerate() {
        let group = line.need("group")?;
        let parent = parents.iter().find(|(child, _)| *child == group).map(|(_, parent)| *parent);
        let service = parent.filter(|_| at % SERVICE_EVERY == SERVICE_EVERY - 1);
        add(&mut deep, line, service).map_err(|error| error.to_string())?;
    }
    let source = |name: &str, text: String| Source { name: name.to_owned(), bytes: text.into_bytes() };
    Ok(Philly { jobs: source("the deep backlog", deep), quotas: source("the halved quotas", halves) })
}

/// A job as it is, or as a service of this quota.
fn add(text: &mut String, line: Line<'_>, service: Option<&str>) -> std::fmt::Result {
    let column = |name: &str| line.text(name).unwrap_or_default();
    for name in ["job_id", "submit_s", "duration_s", "gpus"] {
        write!(text, "{},", column(name))?;
    }
    let (priority, tolerance) = (column("priority"), column("fault_tolerance"));
    match service {
        Some(parent) => writeln!(text, "{parent},EAS,{priority},off,{tolerance}"),
        None => writeln!(text, "{},DLC,{priority},{},{tolerance}", column("group"), column("idle")),
    }
}

/// What is replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trace {
    /// The Philly week as it is.
    Week,
    /// What [`deepened`] makes of it.
    Backlog,
}

/// Job events a second: in a pool, or on 64 nodes, which is what real clusters have.
pub(super) fn replayed(bench: Bench<'_>, trace: Trace, gpus_per_node: Option<i64>) -> Result<Vec<Figure>, String> {
    let Some(philly) = bench.philly else { return Ok(Vec::new()) };
    let place = if gpus_per_node.is_some() { "on 64 nodes" } else { "in a pool" };
    let (what, philly, target) = match trace {
        Trace::Week => ("replay of the Philly week with preemption", philly.clone(), 1_000_000.0),
        Trace::Backlog => {
            let jobs_max = if bench.is_once { BACKLOG_COUNTED } else { usize::MAX };
            let target = if gpus_per_node.is_some() { 250_000.0 } else { 500_000.0 };
            ("deep backlog with preemption", deepened(philly, jobs_max)?, target)
        }
    };
    let setting = trace::machines::Setting { quotas: &philly.quotas, nodes: None, gpus_per_node, has_preemption: true };
    let (machines, trace) = replay::run::prepare(&setting, None, &philly.jobs)?;
    let (mut speeds, mut events, mut spent) = (Vec::new(), 0, Duration::ZERO);
    while speeds.len() < bench.runs().min(3) && spent < ENOUGH {
        let (machines, trace) = (machines.clone(), trace.clone());
        let (figures, time) = bench.timed(|| replay::run::replay(machines, trace, bench.meter, false));
        let figures = figures?;
        (events, spent) = (figures.job_events, spent + time);
        speeds.push(figures.job_events_per_s);
    }
    speeds.sort_by(f64::total_cmp);
    let speed = speeds.get(speeds.len() / 2).copied().unwrap_or_default();
    let figure = Figure::at_least(&format!("{what}, {place}"), speed, bench.target(target, target / 2.0), "events/s");
    Ok(vec![figure.of(usize::try_from(events).unwrap_or(usize::MAX))])
}

#[cfg(test)]
mod tests {
    use super::deepened;
    use crate::bench::timing::Philly;
    use trace::sheet::Source;

    #[test]
    fn quotas_are_halved_and_every_eighth_job_serves_the_parent() {
        let source = |text: &str| Source { name: "test".to_owned(), bytes: text.as_bytes().to_vec() };
        let job = |at: usize| format!("j{at},{at},60,2,team,5,only,yes\n");
        let jobs: String = (0..12).map(job).collect();
        let philly = Philly {
            jobs: source(&format!("job_id,submit_s,duration_s,gpus,group,priority,idle,fault_tolerance\n{jobs}")),
            quotas: source("group,parent,gpus\nroot,,16\nteam,root,5\n"),
        };
        let deep = deepened(&philly, 10).unwrap();
        let lines = |source: &Source| -> Vec<String> {
            String::from_utf8(source.bytes.clone()).unwrap().lines().map(str::to_owned).collect()
        };
        assert_eq!(lines(&deep.quotas)[1..], ["root,,8.000", "team,root,2.500"]);
        let jobs = lines(&deep.jobs);
        assert_eq!((jobs.len(), jobs[7].as_str()), (11, "j6,6,60,2,team,DLC,5,only,yes"));
        assert_eq!(jobs[8], "j7,7,60,2,root,EAS,5,off,yes");
    }
}
