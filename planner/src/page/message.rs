//! What the page asks of the session and what it is told, as JSON. Each plan has a number, so that what is still on its
//! way for an older one is known as that; each run of a variant has a ticket for the same reason.

use engine::host::plan::goal::Goal;
use engine::host::plan::search::Family;
use engine::message::command::Command;
use engine::message::envelope::Envelope;
use engine::message::plan::Change;
use engine::message::plan::Variant;
use engine::unit::id::CommandId;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use serde::Deserialize;
use serde::Serialize;

use crate::page::course::Courses;
use crate::page::range::Range;
use crate::page::table::Figure;
use crate::page::timeline::Frame;
use crate::page::timeline::View;
use crate::page::whose::Whose;
use fields::facts::Facts;

/// A moment of the past.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Since {
    /// Before anything that was decided at this time.
    Time(Timestamp),
    /// With this revision.
    Revision(u64),
}

/// Where a plan comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// A cluster's snapshot, attached as `state`.
    Live {
        /// The cluster.
        cluster: String,
        /// Now.
        at: Timestamp,
    },
    /// An example, attached.
    Example,
    /// What stands in a link.
    Link(String),
    /// The attached files: a plan that was saved, or the tables of a trace.
    Files,
}

/// How far somebody asks to look ahead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LookAhead {
    /// As far as the source says itself, or else as far as is usual.
    #[default]
    Usual,
    /// Until nothing happens any more.
    End,
    /// So far.
    For(Millis),
}

impl LookAhead {
    /// The length that it comes to; nothing: until nothing happens any more.
    #[must_use]
    pub fn length(self, usual: Option<Millis>) -> Option<Millis> {
        match self {
            Self::Usual => usual,
            Self::End => None,
            Self::For(length) => Some(length),
        }
    }
}

/// What the page asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Ask {
    /// Opens a plan in place of the one that was open.
    Open {
        /// Its number.
        plan: u32,
        /// Where it comes from.
        source: Source,
        /// How far to look.
        look: LookAhead,
    },
    /// Opens a plan that begins with what happened in a cluster since a moment, or since its first job if that was later.
    /// Its log is asked for a portion at a time.
    OpenPast {
        /// Its number.
        plan: u32,
        /// The cluster.
        cluster: String,
        /// Since when.
        since: Since,
        /// How far to look; nothing: until now.
        length: Option<Millis>,
        /// Now.
        now: Timestamp,
    },
    /// Looks further, or less far.
    Look {
        /// The plan.
        plan: u32,
        /// How far.
        length: Option<Millis>,
    },
    /// Runs a variant; what it did before is given up.
    Run {
        /// The plan.
        plan: u32,
        /// The variant.
        variant: u32,
        /// The run.
        ticket: u32,
        /// What is different from the base.
        changes: Vec<Change>,
    },
    /// Forgets a variant.
    Forget {
        /// The plan.
        plan: u32,
        /// The variant.
        variant: u32,
    },
    /// Looks for the smallest change that reaches a goal, beside what a variant changes.
    Search {
        /// The plan.
        plan: u32,
        /// The variant's changes.
        changes: Vec<Change>,
        /// The goal.
        goal: Goal,
        /// What may be changed.
        family: Family,
    },
    /// Gives up everything that is under way.
    Cancel {
        /// The plan.
        plan: u32,
    },
    /// Makes the command that makes a variant real.
    Apply {
        /// The plan.
        plan: u32,
        /// The variant's changes.
        changes: Vec<Change>,
        /// The command's name.
        id: CommandId,
    },
    /// Makes a link to the plan.
    Link {
        /// The plan.
        plan: u32,
        /// Its variants.
        variants: Vec<Variant>,
    },
    /// Makes a file of the plan, which [`crate::page::session::Session::file`] then has.
    File {
        /// The plan.
        plan: u32,
        /// Its variants.
        variants: Vec<Variant>,
    },
    /// Looks at how use and waiting go in a variant that has been run.
    Courses {
        /// The plan.
        plan: u32,
        /// The variant.
        variant: u32,
        /// Whose; nothing: all together.
        whose: Option<Whose>,
    },
    /// Looks at a part of the timeline of what has been run.
    Timeline {
        /// The plan.
        plan: u32,
        /// The variant; nothing for the base.
        variant: Option<u32>,
        /// What of it.
        frame: Frame,
    },
}

/// Something that happens at once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// The sentence.
    pub text: String,
    /// Whether somebody loses something.
    pub is_loss: bool,
}

/// What a run comes to. What is only seen when somebody looks there is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ended {
    /// When it began.
    pub from: Timestamp,
    /// How far it has come.
    pub until: Timestamp,
    /// In figures.
    pub figures: Vec<Figure>,
    /// How many jobs are better off than in the base, and how many are worse off; nothing for the base.
    pub fortunes: Option<(u64, u64)>,
    /// What was refused, as sentences.
    pub refusals: Vec<String>,
    /// Lines of the quotas and offers, in [`crate::page::table::PARTY_COLUMNS`].
    pub parties: Vec<[String; 9]>,
    /// Lines of the jobs that fare the most differently, in [`crate::page::table::JOB_COLUMNS`].
    pub jobs: Vec<[String; 6]>,
    /// Whose courses there are.
    pub whose: Vec<Whose>,
}

/// What the page is told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Tell {
    /// A plan is open.
    Opened {
        /// The plan.
        plan: u32,
        /// Where it begins.
        facts: Box<Facts>,
        /// How far it looks.
        length: Option<Millis>,
        /// How far it would look if nobody asked for anything else.
        usual: Option<Millis>,
        /// The variants that came with it.
        variants: Vec<Variant>,
    },
    /// What a variant comes to at once.
    Began {
        /// The plan.
        plan: u32,
        /// The variant.
        variant: u32,
        /// The run.
        ticket: u32,
        /// What happens.
        lines: Vec<Line>,
        /// How much more happens.
        left_out: u64,
        /// Changes that are refused at once: their positions, and why.
        refused: Vec<(u32, String)>,
        /// The cluster after them.
        picture: String,
    },
    /// How far the reading of a log has come.
    Reading {
        /// The plan that is going to be open.
        plan: u32,
        /// In thousandths.
        done: i64,
        /// Entries that have been read.
        entries: u64,
        /// When the last of them was decided.
        at: Option<Timestamp>,
    },
    /// How far everything that is under way has come.
    Progress {
        /// The plan.
        plan: u32,
        /// In thousandths.
        done: i64,
        /// Events since it began.
        events: u64,
    },
    /// A run is over.
    Ran {
        /// The plan.
        plan: u32,
        /// The variant; nothing for the base.
        variant: Option<u32>,
        /// The run.
        ticket: u32,
        /// How it ended.
        ended: Box<Ended>,
    },
    /// How far the figures of a run may go by chance, which is known some time after them.
    Ranges {
        /// The plan.
        plan: u32,
        /// The variant; nothing for the base.
        variant: Option<u32>,
        /// The run.
        ticket: u32,
        /// A range for each figure.
        ranges: Vec<Range>,
    },
    /// A search is over, or cannot begin.
    Searched {
        /// The plan.
        plan: u32,
        /// The change that was found.
        command: Option<Box<Command>>,
        /// What came of it.
        words: String,
    },
    /// The command that makes a variant real.
    Application {
        /// The plan.
        plan: u32,
        /// The command; the cluster refuses it when it has moved on from the plan's beginning.
        envelope: Box<Envelope>,
        /// How many changes are for later, and are not in it.
        later: u64,
    },
    /// Everything that was under way has been given up.
    Cancelled {
        /// The plan.
        plan: u32,
    },
    /// The plan for somebody else.
    Linked {
        /// The plan.
        plan: u32,
        /// What stands behind `#plan=`; nothing if it would be too long.
        link: Option<String>,
    },
    /// How use and waiting go.
    Courses {
        /// The plan.
        plan: u32,
        /// What is seen; nothing if that has not been run.
        courses: Option<Box<Courses>>,
    },
    /// A part of the timeline.
    Timeline {
        /// The plan.
        plan: u32,
        /// What is seen; nothing if that has not been run.
        view: Option<Box<View>>,
    },
    /// Something is wrong; what was there before is still there.
    Failed {
        /// The plan.
        plan: u32,
        /// What, and what to do.
        message: String,
    },
}
