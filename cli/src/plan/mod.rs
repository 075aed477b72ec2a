//! `tidegate plan`: what changes would come to, in the figures of the console's planner page and by its own session.

mod asked;

pub mod figures;
pub mod print;

pub use asked::Plan;

use std::path::Path;

use engine::host::plan::base::Base;
use engine::message::plan::Variant;
use engine::unit::time::Millis;
use planner::acts;
use planner::page::import;
use planner::page::message::LookAhead;
use planner::page::source;
use planner::page::source::Read;
use trace::machines::Setting;
use trace::offers::Offers;
use trace::offers::Reading;
use trace::sheet::Source;

use crate::plan::figures::Figures;
use crate::service::time;
use crate::shell::person::Person;

/// Reads what is asked for, runs it, and says what it comes to: as a table, or as JSON.
///
/// # Errors
/// In words: what cannot be read, and where.
pub fn plan(asked: &Plan) -> Result<String, String> {
    let mut read = read(asked)?;
    read.is_measured &= !asked.once;
    let variants = asked.change.iter().map(|file| variant(file, &read.base)).collect::<Result<Vec<_>, _>>()?;
    let look = match asked.length.as_deref() {
        None => LookAhead::Usual,
        Some("end") => LookAhead::End,
        Some(text) => LookAhead::For(period(text)?),
    };
    let figures = Figures::of(read, look, variants)?;
    if asked.json {
        return serde_json::to_string_pretty(&figures).map_err(|error| error.to_string());
    }
    Ok(print::text(&figures))
}

fn read(asked: &Plan) -> Result<Read, String> {
    if let Some(cluster) = &asked.cluster {
        let mut person = Person::of(Some(cluster)).map_err(|failure| failure.text)?;
        let state = person.state().map_err(|failure| failure.text)?;
        return source::live(cluster.clone(), state, time::now());
    }
    let (Some(trace), Some(quotas)) = (&asked.trace, &asked.quotas) else {
        return Err("name a table of jobs with its --quotas, or a cluster with --cluster".to_owned());
    };
    let (trace, quotas) = (Source::open(trace)?, Source::open(quotas)?);
    let nodes = asked.nodes.as_deref().map(Source::open).transpose()?;
    let offers = asked.offers.as_deref().map(Source::open).transpose()?;
    let offers = offers.map(|offers| Offers::read(&offers, Reading::default())).transpose()?;
    let gpus_per_node = asked.gpus_per_node;
    let setting = Setting { quotas: &quotas, nodes: nodes.as_ref(), gpus_per_node, has_preemption: asked.preemption };
    import::trace(&setting, offers.as_ref(), &trace).map(Read::from)
}

/// A file of changes, by the name of the file.
fn variant(file: &Path, base: &Base) -> Result<Variant, String> {
    let place = file.display();
    let text = std::fs::read_to_string(file).map_err(|error| format!("{place} cannot be read: {error}"))?;
    let changes = acts::changes(&text, base).map_err(|problem| format!("{place}, {problem}"))?;
    if changes.is_empty() {
        return Err(format!("{place} changes nothing; write for example: scale team-a=16 team-b=48"));
    }
    let name = file.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(Variant { name, changes })
}

fn period(text: &str) -> Result<Millis, String> {
    let length = console_model::duration::parse(text)?.filter(|length| length.0 > 0);
    length.ok_or_else(|| format!("{text:?} is no period; write for example 12h, 7d or end"))
}
