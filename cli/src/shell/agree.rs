//! Commands that may cost something: what they would come to is said first, then somebody agrees, then they are sent.

use agent::script::Script;
use clap::Args;
use console_model::explained;
use console_model::preview;
use console_model::preview::Line;
use console_model::preview::Preview;
use console_model::preview::Verdict;
use engine::message::command::Command;
use engine::state::world::State;
use engine::transition::authorise;
use engine::unit::time::Timestamp;
use serde_json::Value;
use serde_json::json;

use crate::service::time;
use crate::shell::at::At;
use crate::shell::failure::Failure;
use crate::shell::person::Person;
use crate::shell::print;
use crate::shell::prompt;
use crate::shell::table::Output;
use crate::shell::table::shown;

/// How somebody agrees to what a command costs.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct Agree {
    /// Agrees to what it costs without being asked; that is said all the same.
    #[arg(long, short)]
    pub yes: bool,
    /// Says what it would come to, and sends nothing.
    #[arg(long)]
    pub dry_run: bool,
}

/// A command that somebody wants to send.
pub struct Wanted<'a> {
    /// The command.
    pub command: Command,
    /// What the job executes that it submits.
    pub script: Option<&'a Script>,
    /// The revision after which it is refused, if anything has happened since.
    pub base: Option<u64>,
    /// What it would come to in a state.
    pub foresee: &'a dyn Fn(&State, Timestamp) -> Preview,
}

/// Says what it would come to, asks where that costs something, and sends it.
pub fn send(person: &mut Person, state: &State, wanted: &Wanted, agree: Agree, at: &At) -> Result<(), Failure> {
    let sender = person.sender()?;
    authorise(state, &sender, &wanted.command).map_err(|denied| person.refused_since(&denied.to_string()))?;
    let mut seen = (wanted.foresee)(state, time::now());
    if agree.dry_run {
        return said(&seen, at.output);
    }
    loop {
        if seen.verdict == Verdict::Refused {
            return Err(person.refused_since(seen.reason.as_deref().unwrap_or_default()));
        }
        if seen.cost.is_nothing() {
            if let Some(warning) = warned(&seen) {
                prompt::say(&format!("tidegate: {warning}\n"));
            }
            break;
        }
        prompt::say(&format!("{}\n", lines(&seen).join("\n")));
        if agree.yes {
            break;
        }
        prompt::agree(&seen.cost.question())?;
        // While somebody thought about it, it may have come to more.
        let now = (wanted.foresee)(&person.state()?, time::now());
        if now.is_within(&seen) {
            break;
        }
        seen = now;
    }
    let receipt = person.send(wanted.command.clone(), wanted.script, wanted.base)?;
    let after = person.state_since(receipt.revision)?;
    let sentences = explained::sentences(&after, &receipt.events);
    let texts: Vec<String> = sentences.iter().map(|(text, _)| shown(text)).collect();
    if at.output == Output::Json {
        let told = json!({ "revision": receipt.revision, "at": receipt.at.0, "text": texts });
        return print::line(&told.to_string());
    }
    texts.iter().try_for_each(|text| print::line(text))
}

/// What it would come to, as a result.
fn said(preview: &Preview, output: Output) -> Result<(), Failure> {
    let is_refused = preview.verdict == Verdict::Refused;
    if output == Output::Json {
        print::line(&json_of(preview).to_string())?;
    } else {
        print::line(&lines(preview).join("\n"))?;
    }
    if is_refused { Err(Failure::refused(String::new())) } else { Ok(()) }
}

fn json_of(preview: &Preview) -> Value {
    let told =
        |lines: &[Line]| -> Value { lines.iter().map(|line| json!({ "job": line.job, "text": line.text })).collect() };
    json!({
        "verdict": preview.verdict.as_str(),
        "words": preview.verdict.words(),
        "reason": preview.reason,
        "help": preview.help,
        "estimate": preview.estimate,
        "for_good": preview.for_good,
        "evicted": told(&preview.victims),
        "started": told(&preview.starters),
        "others": told(&preview.others),
        "lost_gpu_ms": preview.cost.lost_gpu_ms,
    })
}

/// That the job would end for good, and how it does not.
fn warned(preview: &Preview) -> Option<String> {
    preview.for_good.map(|reason| format!("{reason} With --again it is."))
}

/// What it would come to, for people: what the console's preview shows, in the same order.
fn lines(preview: &Preview) -> Vec<String> {
    let mut lines = vec![format!("{} {}", preview.verdict.mark(), preview.verdict.words())];
    let sentences = [&preview.reason, &preview.past, &preview.estimate];
    lines.extend(sentences.into_iter().flatten().map(|text| shown(text)));
    lines.extend(preview.help.iter().map(|help| format!("{}: {}", preview::HELP, shown(help))));
    lines.extend(warned(preview));
    lines.extend(preview.cost.lost());
    let lists = [
        (preview::VICTIMS, &preview.victims),
        (preview::STARTERS, &preview.starters),
        (preview::OTHERS, &preview.others),
    ];
    for (title, about) in lists {
        if !about.is_empty() {
            lines.push(format!("{title}:"));
            lines.extend(about.iter().map(|line| format!("  {}", shown(&line.text))));
        }
    }
    lines
}
