//! Where a plan comes from, read: a live state, an example, a link, or files.

use engine::host::plan::base::Base;
use engine::message::plan::Variant;
use engine::message::snapshot::Snapshot;
use engine::state::world::State;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;

use crate::page::example::Example;
use crate::page::import;
use crate::page::import::Imported;
use crate::page::message::Source;
use crate::page::sheet::Sheet;
use fields::facts::Place;

/// A plan as it is read: its base, what people call it, its cluster, how far it looks by itself, and its variants.
pub struct Read {
    /// Where its variants begin.
    pub base: Base,
    /// What people call it.
    pub title: String,
    /// Its cluster, if it has one.
    pub place: Option<Place>,
    /// How far it looks by itself; nothing: until nothing happens any more.
    pub usual: Option<Millis>,
    /// The variants that come with it.
    pub variants: Vec<Variant>,
    /// What of it is not used, or was made up.
    pub remarks: Vec<String>,
    /// Whether it comes from what has happened, and was not written: then chance is told apart from change.
    pub is_measured: bool,
}

impl From<Imported> for Read {
    fn from(imported: Imported) -> Self {
        let Imported { base, title, remarks } = imported;
        // A trace is run to its end.
        Self { base, title, place: None, usual: None, variants: Vec::new(), remarks, is_measured: true }
    }
}

impl From<Sheet> for Result<Read, String> {
    fn from(sheet: Sheet) -> Self {
        let base = sheet.base()?;
        let Sheet { title, place, length: usual, variants, is_measured, .. } = sheet;
        // Links of before say nothing of it but by the cluster that they were taken from.
        let is_measured = is_measured || place.is_some();
        Ok(Read { base, title, place, usual, variants, remarks: Vec::new(), is_measured })
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
            live(cluster, state, at)
        }
        Source::Example => {
            let example = Example::read(text()?)?;
            let (base, usual) = (example.base()?, Some(example.length));
            let Example { title, variants, .. } = example;
            Ok(Read { base, title, place: None, usual, variants, remarks: Vec::new(), is_measured: false })
        }
        Source::Link(link) => Sheet::read_link(&link)?.into(),
        Source::Files if import::is_plan(files) => Sheet::read(text()?)?.into(),
        Source::Files => import::tables(files).map(Read::from),
    }
}

/// The plan of a cluster as it is at this time.
///
/// # Errors
/// Never for a state that commands have made.
pub fn live(cluster: String, state: State, at: Timestamp) -> Result<Read, String> {
    let title = format!("{cluster} as it is");
    let place = Some(Place { cluster, revision: state.revision });
    let base = Base::new(state, at, Vec::new()).map_err(|rejection| rejection.to_string())?;
    Ok(Read {
        base,
        title,
        place,
        usual: Some(Millis::DAY),
        variants: Vec::new(),
        remarks: Vec::new(),
        is_measured: true,
    })
}
