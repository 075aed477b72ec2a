//! Who ran when, in lanes: stretches of a quota's or an offer's jobs beside each other where they overlap. They are laid
//! out once for a run, so that a lane stays where it is whatever part of the run's time is looked at.

use engine::host::plan::outcome::SpanOutcome;
use engine::host::plan::outcome::Timeline;
use engine::host::plan::run::Run;
use engine::host::plan::tally::SPANS_MAX;
use engine::unit::sort;
use engine::unit::time::Timestamp;

use crate::page::whose::Whose;

/// Lanes that are shown; where there are more, each quota has only its first ones, which are the fullest.
const LANES_MAX: usize = 48;
/// Lanes of a quota where there are too many.
const LANES_EACH: usize = 6;

/// A lane: stretches one after the other.
pub type Lane = Vec<SpanOutcome>;

/// The lanes of a run that is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lanes {
    /// When the run began.
    pub from: Timestamp,
    /// By quota or offer.
    pub parties: Vec<(Whose, Vec<Lane>)>,
    /// When the last stretch begins that is here, if later ones are missing.
    pub cut: Option<Timestamp>,
    /// How many are missing.
    pub left_out: u64,
}

impl Lanes {
    /// Of a run that is over.
    #[must_use]
    pub fn of(run: &Run) -> Self {
        Self::laid_out(Timeline::of(run, SPANS_MAX), run.tally.from)
    }

    /// Of a timeline that begins at a time.
    #[must_use]
    pub fn laid_out(timeline: Timeline, from: Timestamp) -> Self {
        let Timeline { mut spans, left_out } = timeline;
        let cut = spans.iter().map(|span| span.from).max().filter(|_| left_out > 0);
        spans.retain(|span| span.until > span.from);
        let key = |span: &SpanOutcome| Whose { name: span.party.clone(), is_offer: span.is_offer };
        sort::by(&mut spans, |a, b| a.party.cmp(&b.party).then(a.is_offer.cmp(&b.is_offer)).then(a.from.cmp(&b.from)));
        let mut parties: Vec<(Whose, Vec<Lane>)> = Vec::new();
        for span in spans {
            let is_next =
                parties.last().is_none_or(|(whose, _)| whose.name != span.party || whose.is_offer != span.is_offer);
            if is_next {
                parties.push((key(&span), Vec::new()));
            }
            if let Some((_, lanes)) = parties.last_mut() {
                place(lanes, span);
            }
        }
        Self { from, parties, cut, left_out }
    }

    /// The lanes of somebody, or of everybody.
    pub fn of_party<'a>(&'a self, whose: Option<&'a Whose>) -> impl Iterator<Item = &'a (Whose, Vec<Lane>)> {
        self.parties.iter().filter(move |(party, _)| whose.is_none_or(|whose| whose == party))
    }

    /// Those of them that are shown, and something of each quota.
    #[must_use]
    pub fn shown<'a>(&'a self, whose: Option<&'a Whose>) -> Vec<(&'a Whose, &'a [Lane])> {
        let count: usize = self.of_party(whose).map(|(_, lanes)| lanes.len()).sum();
        let each = match whose {
            _ if count <= LANES_MAX => LANES_MAX,
            Some(_) => 2 * LANES_MAX,
            None => LANES_EACH,
        };
        let mut room = 2 * LANES_MAX;
        let mut shown = Vec::new();
        for (party, lanes) in self.of_party(whose) {
            let taken = lanes.len().min(each).min(room);
            room -= taken;
            if taken > 0 {
                shown.push((party, &lanes[..taken]));
            }
        }
        shown
    }
}

/// A stretch takes the first lane that is free by then.
fn place(lanes: &mut Vec<Lane>, span: SpanOutcome) {
    let is_free = |lane: &Lane| lane.last().is_none_or(|last| last.until <= span.from);
    match lanes.iter().position(is_free) {
        Some(at) => lanes[at].push(span),
        None => lanes.push(vec![span]),
    }
}

/// What of a lane is there between two times.
#[must_use]
pub fn within(lane: &Lane, from: Timestamp, until: Timestamp) -> &[SpanOutcome] {
    let first = lane.partition_point(|span| span.until <= from);
    let end = lane.partition_point(|span| span.from < until);
    lane.get(first..end).unwrap_or_default()
}
