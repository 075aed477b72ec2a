//! What the session of the planner page tells of a plan.

use engine::message::plan::Variant;
use engine::unit::time::Timestamp;
use planner::page::message::Ask;
use planner::page::message::Ended;
use planner::page::message::LookAhead;
use planner::page::message::Tell;
use planner::page::range::Range;
use planner::page::session::Session;
use planner::page::source::Read;
use serde::Serialize;

/// The only plan of the session.
const PLAN: u32 = 1;
/// Events between two looks at what is over.
const PORTION: u64 = 100_000;

/// A plan that has been run.
#[derive(Debug, Serialize)]
pub struct Figures {
    /// What its beginning is called.
    pub title: String,
    /// When it begins.
    pub from: Timestamp,
    /// What of the files is not used, or was made up.
    pub remarks: Vec<String>,
    /// As it is, and then each file of changes.
    pub columns: Vec<Column>,
}

/// A run.
#[derive(Debug, Serialize)]
pub struct Column {
    /// What people call it.
    pub name: String,
    /// What it came to.
    #[serde(flatten)]
    pub ended: Ended,
    /// How far each figure may go by chance, if that was looked at.
    pub ranges: Vec<Range>,
}

impl Figures {
    /// Runs the base and these variants to their ends.
    ///
    /// # Errors
    /// In words: what the session could not read.
    pub fn of(read: Read, look: LookAhead, variants: Vec<Variant>) -> Result<Self, String> {
        let mut session = Session::default();
        let (mut title, mut from, mut remarks) = (String::new(), read.base.from, Vec::new());
        for tell in session.open(PLAN, look, Ok(read)) {
            match tell {
                Tell::Opened { facts, .. } => {
                    (title, from, remarks) = (facts.title.clone(), facts.from, facts.remarks.clone());
                }
                Tell::Failed { message, .. } => return Err(message),
                _ => {}
            }
        }
        let mut columns: Vec<(Option<u32>, String, Option<Ended>, Vec<Range>)> =
            vec![(None, "as it is".to_owned(), None, Vec::new())];
        for (variant, Variant { name, changes }) in (0..).zip(variants) {
            session.ask(Ask::Run { plan: PLAN, variant, ticket: 0, changes });
            columns.push((Some(variant), name, None, Vec::new()));
        }
        while session.is_busy() {
            for tell in session.work(PORTION) {
                match tell {
                    Tell::Ran { variant: of, ended, .. } => {
                        columns
                            .iter_mut()
                            .filter(|known| known.0 == of)
                            .for_each(|known| known.2 = Some(*ended.clone()));
                    }
                    Tell::Ranges { variant: of, ranges, .. } => {
                        columns.iter_mut().filter(|known| known.0 == of).for_each(|known| known.3.clone_from(&ranges));
                    }
                    _ => {}
                }
            }
        }
        let column = |(_, name, ended, ranges): (_, _, Option<Ended>, _)| Some(Column { name, ended: ended?, ranges });
        Ok(Self { title, from, remarks, columns: columns.into_iter().filter_map(column).collect() })
    }
}
