//! Figures of a cluster in Prometheus' text format.

use std::fmt::Write;

use engine::job::phase::Phase;
use engine::state::world::State;
use engine::unit::amount::Amount;
use engine::unit::amount::DimensionKind;
use engine::unit::quantity::bare;
use engine::unit::time::Timestamp;
use protocol::health::Condition;

/// The content type of the format.
pub(crate) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// How far what is published is behind, which no state says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Publishing {
    /// The last entry of the log.
    pub(crate) seq: u64,
    /// The last entry that is published, and when that was.
    pub(crate) published: Option<(u64, Timestamp)>,
    /// Since when news are not published.
    pub(crate) unpublished_since: Option<Timestamp>,
    /// How many publications have failed since one did not.
    pub(crate) failures: u64,
    /// Who watches.
    pub(crate) sockets: usize,
    /// What has happened since the instance began.
    pub(crate) rounds: u64,
    pub(crate) refusals: u64,
    pub(crate) sign_ins: u64,
    pub(crate) sign_ins_refused: u64,
    /// How the cluster does.
    pub(crate) condition: Condition,
    /// Bytes of the newest snapshot.
    pub(crate) snapshot_bytes: u64,
    /// The memory that the instance has taken.
    pub(crate) memory_bytes: u64,
    /// What the object stores.
    pub(crate) stored_bytes: u64,
}

/// All figures.
pub(crate) fn text(state: &State, publishing: Publishing, now: Timestamp) -> String {
    let Publishing { seq, published, unpublished_since, failures, sockets, rounds, refusals, .. } = publishing;
    let Publishing { sign_ins, sign_ins_refused, condition, snapshot_bytes, memory_bytes, stored_bytes, .. } =
        publishing;
    let mut lines = Lines::default();
    let condition = match condition {
        Condition::Ok => 0,
        Condition::Degraded => 1,
        Condition::Lost => 2,
    };
    lines.figure("tidegate_condition", "gauge", "How the cluster does: 0 is ok, 1 degraded, 2 lost", condition);
    lines.figure("tidegate_revision", "counter", "Events since the beginning", state.revision);
    lines.figure("tidegate_entries_total", "counter", "Accepted commands and rounds since the beginning", seq);
    lines.figure(
        "tidegate_last_slot",
        "gauge",
        "The last decided slot, in minutes since 1970",
        state.last_slot.unwrap_or_default(),
    );
    lines.figure("tidegate_missed_slots_total", "counter", "Slots that nobody decided", state.missed_slots);
    let (last, at) = published.map_or((0, None), |(last, at)| (last, Some(at)));
    let behind = seq.saturating_sub(last);
    lines.figure("tidegate_unpublished_entries", "gauge", "Entries that KV does not show yet", behind);
    let late = unpublished_since.map_or(0, |since| (now - since).0.max(0) / 1_000);
    lines.figure("tidegate_unpublished_seconds", "gauge", "Since the oldest news that KV does not show yet", late);
    if let Some(at) = at {
        let age = (now - at).0.max(0) / 1_000;
        lines.figure("tidegate_published_age_seconds", "gauge", "Since the last publication", age);
    }
    lines.figure(
        "tidegate_publication_failures",
        "gauge",
        "Publications that have failed since the last one that did not",
        failures,
    );
    lines.figure("tidegate_sockets", "gauge", "Consoles and programs that watch", sockets);
    lines.figure("tidegate_rounds_total", "counter", "Rounds since the instance began", rounds);
    lines.figure("tidegate_refusals_total", "counter", "Commands refused since the instance began", refusals);
    let help = "Sessions opened since the instance began";
    lines.figure("tidegate_sign_ins_total", "counter", help, sign_ins);
    let help = "Wrong secrets, signatures and keys since the instance began";
    lines.figure("tidegate_sign_ins_refused_total", "counter", help, sign_ins_refused);
    lines.figure("tidegate_stored_bytes", "gauge", "Bytes that the object stores, of 10 GiB", stored_bytes);
    lines.figure("tidegate_snapshot_bytes", "gauge", "Bytes of the newest snapshot", snapshot_bytes);
    let help = "Memory of the instance that has the cluster, which never gives any back";
    lines.figure("tidegate_memory_bytes", "gauge", help, memory_bytes);
    let waiting: usize = state.queue.classes.iter().map(|class| class.waiting.len()).sum();
    lines.figure("tidegate_queue_depth", "gauge", "Jobs that wait to be judged", waiting);
    jobs(&mut lines, state);
    amounts(&mut lines, state);
    quotas(&mut lines, state);
    lines.0
}

fn jobs(lines: &mut Lines, state: &State) {
    let phases = ["queued", "starting", "running", "stopping", "ended"];
    let mut counts = [0u64; 5];
    for (_, job) in state.jobs.iter() {
        let at = match &job.phase {
            Phase::Queued { .. } => 0,
            Phase::Starting { .. } => 1,
            Phase::Running { .. } => 2,
            Phase::Stopping { .. } => 3,
            Phase::Ended { .. } => 4,
        };
        counts[at] += 1;
    }
    lines.head("tidegate_jobs", "gauge", "Jobs by phase");
    for (phase, count) in phases.iter().zip(counts) {
        lines.line("tidegate_jobs", &format!("phase=\"{phase}\""), count);
    }
}

fn amounts(lines: &mut Lines, state: &State) {
    let sum = |amounts: &mut dyn Iterator<Item = Amount>| amounts.fold(Amount::ZERO, |sum, amount| sum.plus(&amount));
    let roots: Vec<_> = state.live_quotas().filter(|(_, quota)| quota.parent.is_none()).collect();
    let figures = [
        ("capacity", "what the machines have", sum(&mut state.domains.list.iter().map(|domain| domain.amount))),
        ("guaranteed", "what root quotas are guaranteed", sum(&mut roots.iter().map(|(_, quota)| quota.min.amount))),
        (
            "used",
            "what jobs hold in their quotas",
            sum(&mut roots.iter().map(|(no, _)| state.ledger.quotas[no.at()].used)),
        ),
        (
            "idle",
            "what jobs hold of amounts that others leave idle",
            sum(&mut state.ledger.domains.iter().map(|domain| domain.idle)),
        ),
    ];
    for (name, help, amount) in figures {
        let metric = format!("tidegate_gpus_{name}");
        lines.head(&metric, "gauge", &format!("GPUs: {help}"));
        let dimensions = state.cluster.dimensions.iter().enumerate();
        for (at, dimension) in dimensions.filter(|(_, dimension)| dimension.kind == DimensionKind::Gpu) {
            let label = format!("dimension=\"{}\"", escape(&dimension.name));
            lines.line(&metric, &label, bare(dimension, amount[at]));
        }
    }
}

/// What each quota is guaranteed, and what its jobs and those below it hold of it.
fn quotas(lines: &mut Lines, state: &State) {
    let gpus = || {
        let dimensions = state.cluster.dimensions.iter().enumerate();
        dimensions.filter(|(_, dimension)| dimension.kind == DimensionKind::Gpu)
    };
    for (name, help) in [("guaranteed", "a quota is guaranteed"), ("used", "jobs hold in a quota")] {
        let metric = format!("tidegate_quota_gpus_{name}");
        lines.head(&metric, "gauge", &format!("GPUs: what {help}"));
        for (no, quota) in state.live_quotas() {
            let used = &state.ledger.quotas[no.at()].used;
            let amount = if name == "used" { used } else { &quota.min.amount };
            for (at, dimension) in gpus() {
                let (quota, of) = (escape(quota.id.as_str()), escape(&dimension.name));
                lines.line(&metric, &format!("quota=\"{quota}\",dimension=\"{of}\""), bare(dimension, amount[at]));
            }
        }
    }
}

/// A label's value, in which these three characters mean something.
fn escape(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[derive(Default)]
struct Lines(String);

impl Lines {
    fn head(&mut self, name: &str, kind: &str, help: &str) {
        self.push(format_args!("# HELP {name} {help}\n# TYPE {name} {kind}\n"));
    }

    fn line(&mut self, name: &str, labels: &str, value: impl std::fmt::Display) {
        self.push(format_args!("{name}{{{labels}}} {value}\n"));
    }

    fn figure(&mut self, name: &str, kind: &str, help: &str, value: impl std::fmt::Display) {
        self.head(name, kind, help);
        self.push(format_args!("{name} {value}\n"));
    }

    fn push(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.0.write_fmt(text);
    }
}
