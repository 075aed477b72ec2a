//! Where a plan comes from, read: a live state, an example, a link, or files.

use engine::host::plan::base::Base;
use engine::message::plan::Variant;
use engine::message::snapshot::Snapshot;
use engine::unit::time::Millis;

use crate::page::example::Example;
use crate::page::import;
use crate::page::import::Imported;
use crate::page::message::Source;
use crate::page::sheet::Sheet;
use fields::facts::Place;

/// A plan as it is read: its base, what people call it, its cluster, how far it looks by itself, and its variants.
pub(crate) struct Read {
    pub(crate) base: Base,
    pub(crate) title: String,
    pub(crate) place: Option<Place>,
    pub(crate) usual: Option<Millis>,
    pub(crate) variants: Vec<Variant>,
    pub(crate) remarks: Vec<String>,
}

impl From<Sheet> for Result<Read, String> {
    fn from(sheet: Sheet) -> Self {
        let base = sheet.base()?;
        let Sheet { title, place, length: usual, variants, .. } = sheet;
        Ok(Read { base, title, place, usual, variants, remarks: Vec::new() })
    }
}

/// Reads what a plan comes from.
///
/// # Errors
/// In words: what is wrong, and what to do.
pub(crate) fn read(source: Source, files: &[(String, Vec<u8>)]) -> Result<Read, String> {
    let text = || {
        let (name, bytes) = files.first().ok_or("no file has come with the question")?;
        std::str::from_utf8(bytes).map_err(|error| format!("{name} is no text: {error}"))
    };
    match source {
        Source::Live { cluster, at } => {
            let snapshot: Snapshot = serde_json::from_str(text()?)
                .map_err(|error| format!("the state of {cluster} cannot be read: {error}; reload the page"))?;
            let state = snapshot
                .restore()
                .map_err(|rejection| format!("the state of {cluster} does not fit together: {rejection}"))?;
            let place = Some(Place { cluster: cluster.clone(), revision: state.revision });
            let base = Base::new(state, at, Vec::new()).map_err(|rejection| rejection.to_string())?;
            let title = format!("{cluster} as it is");
            Ok(Read { base, title, place, usual: Some(Millis::DAY), variants: Vec::new(), remarks: Vec::new() })
        }
        Source::Example => {
            let example = Example::read(text()?)?;
            let (base, usual, title) = (example.base()?, Some(example.length), example.title);
            Ok(Read { base, title, place: None, usual, variants: Vec::new(), remarks: Vec::new() })
        }
        Source::Link(link) => Sheet::read_link(&link)?.into(),
        Source::Files if import::is_plan(files) => Sheet::read(text()?)?.into(),
        Source::Files => {
            let Imported { base, title, remarks } = import::tables(files)?;
            // A trace is run to its end.
            Ok(Read { base, title, place: None, usual: None, variants: Vec::new(), remarks })
        }
    }
}
