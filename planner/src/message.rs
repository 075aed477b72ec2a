//! What a page asks of the planner and what it is told, as JSON. A page may hold several planners; each has a number.

use engine::host::plan::difference::Difference;
use engine::host::plan::goal::Goal;
use engine::host::plan::outcome::Outcome;
use engine::host::plan::search::Family;
use engine::host::plan::search::Found;
use serde::Deserialize;
use serde::Serialize;

use crate::words::Language;

/// Where a plan comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// A document, as JSON text.
    Document(String),
    /// What stands in a link.
    Link(String),
}

/// What a page asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Ask {
    /// Opens a plan; the planner of this number had nothing open, or forgets it.
    Open {
        /// The planner.
        planner: u32,
        /// The plan.
        source: Source,
        /// The language of all that it is told.
        #[serde(default)]
        language: Language,
    },
    /// Runs the plan with its controls at these values. What it did before is given up.
    Run {
        /// The planner.
        planner: u32,
        /// A value for each control.
        values: Vec<i64>,
    },
    /// Looks for the smallest change that reaches a goal, beside what the controls do.
    Search {
        /// The planner.
        planner: u32,
        /// A value for each control.
        values: Vec<i64>,
        /// The goal.
        goal: Goal,
        /// What may be changed.
        family: Family,
    },
    /// Gives up what the planner does.
    Cancel {
        /// The planner.
        planner: u32,
    },
    /// Makes a link to the plan with its controls at these values.
    Link {
        /// The planner.
        planner: u32,
        /// A value for each control.
        values: Vec<i64>,
    },
    /// Forgets the planner.
    Close {
        /// The planner.
        planner: u32,
    },
}

/// What a page is told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Tell {
    /// The plan is open.
    Opened {
        /// The planner.
        planner: u32,
        /// Its title.
        title: String,
        /// The controls, as HTML; each input has its number in `data-control`.
        controls: String,
        /// The cluster at the beginning, as SVG.
        picture: String,
    },
    /// What the changes come to at once.
    Began {
        /// The planner.
        planner: u32,
        /// The cluster after them, as SVG.
        picture: String,
        /// What happens, as HTML.
        events: String,
    },
    /// How far it has come.
    Progress {
        /// The planner.
        planner: u32,
        /// In thousandths.
        done: i64,
        /// Events so far.
        events: u64,
    },
    /// The run is over.
    Ran {
        /// The planner.
        planner: u32,
        /// The result, as HTML.
        result: String,
        /// How everybody fares.
        outcome: Box<Outcome>,
        /// What is different from the base.
        difference: Box<Difference>,
    },
    /// The search is over.
    Searched {
        /// The planner.
        planner: u32,
        /// What was found.
        found: Box<Found>,
    },
    /// What the planner did was given up.
    Cancelled {
        /// The planner.
        planner: u32,
    },
    /// The link.
    Linked {
        /// The planner.
        planner: u32,
        /// What stands behind `#plan=`.
        link: String,
    },
    /// Something is wrong; what was there before is still there.
    Failed {
        /// The planner.
        planner: u32,
        /// What, and what to do.
        message: String,
    },
}
