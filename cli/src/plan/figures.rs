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
            if let Tell::Failed { message, .. } = tell {
                return Err(message);
            }
            if let Tell::Opened { facts, .. } = tell {
                (title, from, remarks) = (facts.title.clone(), facts.from, facts.remarks.clone());
            }
        }
        let mut columns = vec![Awaited::of(None, "as it is".to_owned())];
        for (variant, Variant { name, changes }) in (0..).zip(variants) {
            session.ask(Ask::Run { plan: PLAN, variant, ticket: 0, changes });
            columns.push(Awaited::of(Some(variant), name));
        }
        while session.is_busy() {
            for tell in session.work(PORTION) {
                for column in &mut columns {
                    column.hear(&tell);
                }
            }
        }
        Ok(Self { title, from, remarks, columns: columns.into_iter().filter_map(Awaited::column).collect() })
    }
}

/// A column of which the session has not told everything yet.
struct Awaited {
    /// The variant; nothing for the base.
    whose: Option<u32>,
    name: String,
    ended: Option<Ended>,
    ranges: Vec<Range>,
}

impl Awaited {
    fn of(whose: Option<u32>, name: String) -> Self {
        Self { whose, name, ended: None, ranges: Vec::new() }
    }

    fn hear(&mut self, tell: &Tell) {
        if let Tell::Ran { variant, ended, .. } = tell
            && *variant == self.whose
        {
            self.ended = Some(*ended.clone());
        } else if let Tell::Ranges { variant, ranges, .. } = tell
            && *variant == self.whose
        {
            self.ranges.clone_from(ranges);
        }
    }

    fn column(self) -> Option<Column> {
        Some(Column { name: self.name, ended: self.ended?, ranges: self.ranges })
    }
}
