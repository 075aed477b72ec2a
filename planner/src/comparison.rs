//! A base and what is compared with it, as runs that go on in portions. The caller decides how long a portion is, and looks
//! in between whether somebody has asked for something else.

use engine::host::plan::base::Base;
use engine::host::plan::run::Horizon;
use engine::host::plan::run::Run;
use engine::message::plan::Variant;

/// The runs of one plan.
pub(crate) struct Comparison {
    /// What the variants are compared with.
    pub(crate) baseline: Box<Run>,
    horizon: Horizon,
    /// Whether anybody waits for the base.
    is_wanted: bool,
    /// By variant.
    under_way: Vec<UnderWay>,
    /// Events of variants whose runs are over.
    events: u64,
}

/// A variant whose run has begun.
pub(crate) struct UnderWay {
    /// The variant's number.
    pub(crate) variant: u32,
    /// The run's number.
    pub(crate) ticket: u32,
    /// The run.
    pub(crate) run: Box<Run>,
}

/// What is over.
pub(crate) enum Over {
    /// The base.
    Base,
    /// A variant.
    Variant(UnderWay),
}

impl Comparison {
    /// Nothing is under way, and nobody waits for the base.
    pub(crate) fn new(base: &Base, baseline: &Variant, horizon: Horizon) -> Self {
        let baseline = Box::new(Run::new(base, baseline, horizon));
        Self { baseline, horizon, is_wanted: false, under_way: Vec::new(), events: 0 }
    }

    /// How far each run goes.
    pub(crate) fn horizon(&self) -> Horizon {
        self.horizon
    }

    /// Somebody waits for the base.
    pub(crate) fn want(&mut self) {
        self.is_wanted = true;
    }

    /// Adds a run of a variant; the run that the variant had before is cancelled.
    pub(crate) fn add(&mut self, added: UnderWay) {
        self.forget(added.variant);
        let at = self.under_way.iter().take_while(|known| known.variant < added.variant).count();
        self.under_way.insert(at, added);
        self.is_wanted = true;
    }

    /// Gives up what a variant does.
    pub(crate) fn forget(&mut self, variant: u32) {
        self.under_way.retain(|known| known.variant != variant);
    }

    /// Gives up everything. How far the base has come is kept.
    pub(crate) fn cancel(&mut self) {
        self.under_way.clear();
        self.is_wanted = false;
    }

    /// Whether there is work left.
    pub(crate) fn is_busy(&self) -> bool {
        !self.under_way.is_empty() || (self.is_wanted && !self.baseline.is_over())
    }

    /// Works for about so many events, and says what is over: the base first, since everything is compared with it.
    pub(crate) fn work(&mut self, events: u64) -> Option<Over> {
        if self.is_wanted && !self.baseline.is_over() {
            self.baseline.advance(events);
            return self.baseline.is_over().then_some(Over::Base);
        }
        let run = &mut self.under_way.first_mut()?.run;
        run.compare_with(&self.baseline);
        run.advance(events);
        if !run.is_over() {
            return None;
        }
        self.events += run.tally.events;
        Some(Over::Variant(self.under_way.remove(0)))
    }

    /// How far all of them have come, in thousandths.
    pub(crate) fn done(&self) -> i64 {
        let done = self.under_way.iter().fold(self.baseline.done(), |sum, known| sum + known.run.done());
        done / i64::try_from(self.under_way.len() + 1).unwrap_or(1)
    }

    /// What has happened in all of them.
    pub(crate) fn events(&self) -> u64 {
        self.under_way.iter().fold(self.events + self.baseline.tally.events, |sum, known| sum + known.run.tally.events)
    }
}
