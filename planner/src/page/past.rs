//! What happened as the beginning of a plan: the state at a moment is a snapshot from before it with what the log adds,
//! and what was asked for since is what follows. The log is read in portions, so that a long one can be given up.

use console_model::path;
use engine::host::plan::base::Base;
use engine::message::command::Command;
use engine::message::envelope::Entry;
use engine::message::snapshot::Snapshot;
use engine::state::world::State;
use engine::transition;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;

use crate::page::message::Since;

/// Entries that are asked for at once.
const PORTION: usize = 500;
/// The most commands that a plan may follow.
pub const COMMANDS_MAX: usize = 300_000;

/// What a log comes to.
#[derive(Debug)]
pub struct Past {
    /// The state at the beginning, with what was asked for since.
    pub base: Base,
    /// From the beginning on, as far as it is looked at.
    pub length: Millis,
    /// What of the log is not used.
    pub remarks: Vec<String>,
}

/// A log that is being read.
#[derive(Debug)]
pub struct Reading {
    /// The cluster.
    pub cluster: String,
    since: Since,
    length: Option<Millis>,
    now: Timestamp,
    /// The state so far; nothing before the snapshot has come.
    state: Option<State>,
    /// The revision that has been read.
    revision: u64,
    /// When the first and the last entry so far were decided.
    read: Option<(Timestamp, Timestamp)>,
    /// How many entries have been read.
    pub entries: u64,
    /// When the plan begins, once that has been reached.
    from: Option<Timestamp>,
    ahead: Vec<(Timestamp, Command)>,
    reports: u64,
    is_over: bool,
}

impl Reading {
    /// Nothing has been read of a cluster's log.
    #[must_use]
    pub fn new(cluster: String, since: Since, length: Option<Millis>, now: Timestamp) -> Self {
        Self {
            cluster,
            since,
            length,
            now,
            state: None,
            revision: 0,
            read: None,
            entries: 0,
            from: None,
            ahead: Vec::new(),
            reports: 0,
            is_over: false,
        }
    }

    /// The address of what is to be read next; none if that was all.
    #[must_use]
    pub fn wanted(&self) -> Option<String> {
        let rest = match (&self.state, self.since) {
            (Some(_), _) => format!("entries?after={}&count={PORTION}", self.revision),
            (None, Since::Time(time)) => format!("past?time={}", time.0),
            (None, Since::Revision(revision)) => format!("past?revision={revision}"),
        };
        (!self.is_over).then(|| path::api(&self.cluster, &rest))
    }

    /// Takes in what was wanted.
    ///
    /// # Errors
    /// In words: what cannot be read, or is too much.
    pub fn take(&mut self, text: &str) -> Result<(), String> {
        let Some(state) = &mut self.state else {
            let snapshot: Snapshot = serde_json::from_str(text)
                .map_err(|error| format!("the snapshot of {} cannot be read: {error}", self.cluster))?;
            let state = snapshot
                .restore()
                .map_err(|rejection| format!("the snapshot of {} does not fit together: {rejection}", self.cluster))?;
            self.revision = state.revision;
            self.state = Some(state);
            return Ok(());
        };
        let entries: Vec<Entry<Option<Command>>> = serde_json::from_str(text)
            .map_err(|error| format!("the log of {} cannot be read: {error}", self.cluster))?;
        self.is_over = entries.is_empty();
        for Entry { format: _, revision, at, envelope, events } in entries {
            let command = envelope.command.ok_or(
                "the log has commands that you may not see; only administrators of the cluster can plan from it",
            )?;
            if self.from.is_none() && begins(self.since, revision, at, state, &command) {
                self.from = Some(begin(self.since, state, self.read.map_or(at, |(_, last)| last), at));
            }
            if self.from.is_some_and(|from| at > until(from, self.length, self.now)) {
                self.is_over = true;
                break;
            }
            self.read = Some((self.read.map_or(at, |(first, _)| first), at));
            self.revision = revision;
            self.entries += 1;
            if self.from.is_none() {
                transition::apply_all(state, &events);
            } else if matches!(command, Command::Report(_)) {
                self.reports += 1;
            } else if !matches!(command, Command::Round(_)) {
                self.ahead.push((at, command));
            }
        }
        if self.ahead.len() > COMMANDS_MAX {
            return Err(format!(
                "more than {COMMANDS_MAX} commands follow the beginning, which is more than a page can hold; look less far ahead"
            ));
        }
        Ok(())
    }

    /// How far it has come, in thousandths, and when the last entry so far was decided.
    #[must_use]
    pub fn progress(&self) -> (i64, Option<Timestamp>) {
        let Some((first, last)) = self.read else { return (0, None) };
        let end = match (self.from, self.since) {
            (Some(from), _) | (None, Since::Time(from)) => until(from, self.length, self.now),
            (None, Since::Revision(_)) => self.now,
        };
        ((last - first).0.saturating_mul(1000) / (end - first).0.max(1), Some(last))
    }

    /// What the log comes to, once all has been read.
    ///
    /// # Errors
    /// In words: that nothing has happened.
    pub fn finish(self) -> Result<Past, String> {
        let nothing = "no job has been submitted since; there is nothing to vary";
        let mut state = self.state.ok_or(nothing)?;
        let last = self.read.map_or(self.now, |(_, last)| last);
        let at_end = || (!state.jobs.is_empty()).then(|| begin(self.since, &state, last, last));
        let from = self.from.or_else(at_end).ok_or(nothing)?;
        state.settle();
        let length = until(from, self.length, self.now) - from;
        let base = Base::new(state, from, self.ahead).map_err(|rejection| rejection.to_string())?;
        let mut remarks = vec![format!("{} commands of the log follow the beginning.", base.ahead.len())];
        if self.reports > 0 {
            remarks.push(format!(
                "{} reports of what jobs did are left out: in a plan a job ends after the duration that it declares.",
                self.reports
            ));
        }
        Ok(Past { base, length: Millis(length.0.max(Millis::MINUTE.0)), remarks })
    }
}

/// How far the log is looked at.
fn until(from: Timestamp, length: Option<Millis>, now: Timestamp) -> Timestamp {
    length.map_or(now, |length| now.min(from + length))
}

/// Whether the plan begins before an entry. Before the first job there is nothing to vary.
fn begins(since: Since, revision: u64, at: Timestamp, state: &State, command: &Command) -> bool {
    let is_reached = match since {
        Since::Time(time) => at >= time,
        Since::Revision(wanted) => revision > wanted,
    };
    is_reached && (!state.jobs.is_empty() || submits(command))
}

/// When a plan begins that is `next` followed by an entry, and `last` preceded by one.
fn begin(since: Since, state: &State, last: Timestamp, next: Timestamp) -> Timestamp {
    match since {
        _ if state.jobs.is_empty() => next,
        Since::Time(time) => time,
        Since::Revision(_) => last,
    }
}

/// Whether a command submits a job, on its own or in a plan.
fn submits(command: &Command) -> bool {
    if let Command::ApplyPlan(plan) = command {
        return plan.commands.iter().any(submits);
    }
    matches!(command, Command::SubmitJob(_))
}
