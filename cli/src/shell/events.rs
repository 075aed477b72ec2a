//! `tidegate events`: what was decided lately, and what is decided now.

use clap::Args;
use console_model::explained;
use engine::message::envelope::CommandKind;
use engine::message::envelope::Entry;
use engine::state::world::State;
use serde_json::json;

use crate::service::socket::Hears;
use crate::shell::at::At;
use crate::shell::failure::Failure;
use crate::shell::follow::follow;
use crate::shell::person::Person;
use crate::shell::print;
use crate::shell::table::Output;
use crate::shell::table::shown;

/// What `tidegate events` is asked for.
#[derive(Debug, Args)]
pub struct Events {
    /// Those in whose sentences this is, such as a job's name.
    pub search: Option<String>,
    /// How many of the last ones.
    #[arg(long, short = 'n', default_value_t = 20)]
    pub count: usize,
    /// Goes on with what is decided now.
    #[arg(long, short)]
    pub follow: bool,
    #[command(flatten)]
    pub at: At,
}

/// How many revisions back is looked for each event that is asked for: a round has several.
const REVISIONS_EACH: u64 = 16;
/// The status of what is so far back that nothing can be read any more.
const GONE: u16 = 410;

/// Prints them, the oldest first.
pub fn events(asked: &Events) -> Result<(), Failure> {
    let mut person = Person::of(asked.at.context.as_deref())?;
    let state = person.state()?;
    let past = past(&mut person, &state, asked.count)?;
    let lines: Vec<String> = past.iter().filter_map(|entry| told(&state, entry, asked)).collect();
    let newest = lines.len().saturating_sub(asked.count);
    lines.iter().skip(newest).try_for_each(|line| print::line(line))?;
    if !asked.follow {
        return Ok(());
    }
    let mut last = past.last().map_or(state.revision, |entry| entry.revision);
    let look = |state: &State, news: Option<&Entry<CommandKind>>| {
        if let Some(entry) = news.filter(|entry| entry.revision > last) {
            last = entry.revision;
            told(state, entry, asked).map_or(Ok(()), |line| print::line(&line))?;
        }
        Ok(Hears::On)
    };
    follow(&mut person, None, look).map(drop)
}

/// The entries before a state. Where the log is short of that many, all that can be read.
fn past(person: &mut Person, state: &State, count: usize) -> Result<Vec<Entry<CommandKind>>, Failure> {
    let reach = REVISIONS_EACH.saturating_mul(count as u64);
    let after = state.revision.saturating_sub(reach);
    let answer = person.answer(&format!("entries?after={after}&min_revision={}", state.revision))?;
    let answer = match answer.status {
        200 => answer,
        // Rounds are kept longer than everything else at hand.
        GONE => person.get(&format!("rounds?count={}&min_revision={}", count.max(1), state.revision))?,
        _ => return Err(person.refused(&answer)),
    };
    let mut entries: Vec<Entry<CommandKind>> =
        serde_json::from_str(&answer.text).map_err(|error| person.unreadable(&error.to_string()))?;
    entries.sort_by_key(|entry| entry.revision);
    Ok(entries)
}

/// An entry as lines; nothing if it says nothing, or not what is looked for.
fn told(state: &State, entry: &Entry<CommandKind>, asked: &Events) -> Option<String> {
    let sentences = explained::sentences(state, &entry.events);
    let search = asked.search.as_deref().unwrap_or_default().to_lowercase();
    let is_wanted = search.is_empty() || sentences.iter().any(|(text, _)| text.to_lowercase().contains(&search));
    // A round in which nothing happened is none that anybody looks for.
    let is_quiet = sentences.is_empty() && entry.envelope.command.kind.as_deref() == Some("round");
    if !is_wanted || is_quiet {
        return None;
    }
    let by = entry.envelope.by.as_ref().map(engine::unit::id::UserId::as_str);
    if asked.at.output == Output::Json {
        let texts: Vec<&str> = sentences.iter().map(|(text, _)| text.as_str()).collect();
        let kind = &entry.envelope.command.kind;
        let told = json!({ "at": entry.at.0, "revision": entry.revision, "by": by, "kind": kind, "text": texts });
        return Some(told.to_string());
    }
    let by = by.map(|by| format!(", by {by}")).unwrap_or_default();
    let mut lines = vec![format!("{}  {}{by}", super::clock::text(entry.at), explained::title(entry))];
    lines.extend(sentences.iter().map(|(text, _)| format!("  {}", shown(text))));
    Some(lines.join("\n"))
}
