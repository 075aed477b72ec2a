//! What happened as the beginning of a plan: the state at a time is the fold of the log up to it, and what was asked for
//! since is what follows.

use engine::host::plan::base::Base;
use engine::message::command::Command;
use engine::message::envelope::Entry;
use engine::state::world::State;
use engine::transition;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;

/// What a log comes to.
#[derive(Debug)]
pub struct Past {
    /// The state at the beginning, with what was asked for since.
    pub base: Base,
    /// From the beginning until now.
    pub length: Millis,
    /// What of the log is not used.
    pub remarks: Vec<String>,
}

/// Reads a log from its first entry on.
///
/// # Errors
/// In words: what cannot be read, or that nothing has happened.
pub fn read(log: &str, since: Timestamp, now: Timestamp) -> Result<Past, String> {
    let entries: Vec<Entry> = serde_json::from_str(log)
        .map_err(|error| format!("the log cannot be read: {error}; only who may see all of it can plan from it"))?;
    let is_first_job = |entry: &&Entry| submits(&entry.envelope.command);
    let first = entries.iter().find(is_first_job).ok_or("no job has been submitted yet; there is nothing to vary")?;
    let from = since.max(first.at);
    let mut state = State::default();
    let mut ahead = Vec::new();
    let mut reports = 0;
    // What is decided after the beginning stays out of its state, also where the clock has stood still.
    let mut has_begun = false;
    for Entry { at, envelope, events, .. } in &entries {
        has_begun |= *at >= from;
        if !has_begun {
            for event in events {
                transition::apply(&mut state, event);
            }
            continue;
        }
        if matches!(envelope.command, Command::Report(_)) {
            reports += 1;
        } else if !matches!(envelope.command, Command::Round(_)) {
            ahead.push((*at, envelope.command.clone()));
        }
    }
    state.settle();
    let base = Base::new(state, from, ahead).map_err(|rejection| rejection.to_string())?;
    let mut remarks = vec![format!("{} commands of the log follow the beginning.", base.ahead.len())];
    if reports > 0 {
        remarks.push(format!(
            "{reports} reports of what jobs did are left out: in a plan a job ends after the duration that it declares."
        ));
    }
    Ok(Past { base, length: Millis((now - from).0.max(Millis::MINUTE.0)), remarks })
}

/// Whether a command submits a job, on its own or in a plan.
fn submits(command: &Command) -> bool {
    if let Command::ApplyPlan(plan) = command {
        return plan.commands.iter().any(submits);
    }
    matches!(command, Command::SubmitJob(_))
}
