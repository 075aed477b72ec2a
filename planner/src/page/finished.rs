//! A run that is over: what is told of it at once, and what is cut from it when somebody looks.

use engine::host::plan::difference::Difference;
use engine::host::plan::outcome::Outcome;
use engine::host::plan::run::Run;

use crate::page::course;
use crate::page::course::Courses;
use crate::page::lanes::Lanes;
use crate::page::message::Ended;
use crate::page::table;
use crate::page::timeline;
use crate::page::timeline::Frame;
use crate::page::timeline::View;
use crate::page::whose::Whose;

/// A run that is over.
pub(crate) struct Finished {
    outcome: Outcome,
    lanes: Lanes,
}

impl Finished {
    /// Of a run.
    pub(crate) fn of(run: &Run) -> Self {
        Self { outcome: Outcome::of(run), lanes: Lanes::of(run) }
    }

    /// What is told of the base.
    pub(crate) fn base(&self) -> Ended {
        self.ended(self, None)
    }

    /// What is told of a variant.
    pub(crate) fn variant(&self, base: &Self, difference: &Difference) -> Ended {
        self.ended(base, Some(difference))
    }

    fn ended(&self, base: &Self, difference: Option<&Difference>) -> Ended {
        Ended {
            from: self.outcome.from,
            until: self.outcome.until,
            figures: table::figures(&self.outcome),
            fortunes: difference.map(|difference| (difference.winners, difference.losers)),
            refusals: table::refusals(&self.outcome),
            parties: difference
                .map(|difference| table::parties(&base.outcome, &self.outcome, difference))
                .unwrap_or_default(),
            jobs: difference.map(table::jobs).unwrap_or_default(),
            whose: course::parties(&base.outcome, &self.outcome),
        }
    }

    /// How use and waiting go, beside the base.
    pub(crate) fn courses(&self, base: &Self, whose: Option<&Whose>) -> Courses {
        course::courses(&base.outcome, &self.outcome, whose)
    }

    /// A part of the timeline.
    pub(crate) fn timeline(&self, frame: &Frame) -> View {
        timeline::view(&self.lanes, frame)
    }
}
