//! The end of a round: every class that waits has a reason.

use crate::job::hold::Hold;
use crate::schedule::decision::Decision;
use crate::schedule::open_round::OpenRound;
use crate::state::world::State;
use crate::unit::id::ClassNo;
use crate::unit::sort;

impl OpenRound<'_> {
    /// Everything that was decided, and then why the others wait, as far as that is news.
    pub(in crate::schedule) fn conclude(&mut self) -> Vec<Decision> {
        self.tell_who_was_not_asked_again();
        let state = self.state;
        let first_of =
            |class: ClassNo| state.queue.classes[class.at()].waiting.first().map(|no| state.jobs[no].place());
        let mut news = Vec::new();
        // Not collected: pages of few values are gone through at a third of the cost from within.
        std::mem::take(&mut self.holds).into_values().for_each(|(at, hold)| {
            let class = ClassNo::from_index(at);
            news.extend(is_news(state, class, &hold).then(|| (first_of(class), class, hold)));
        });
        // In the order of who waits first: the numbers of classes differ after a restore.
        sort::by(&mut news, |a, b| a.0.cmp(&b.0));
        let mut decisions = std::mem::take(&mut self.decisions);
        decisions.extend(news.into_iter().map(|(_, class, hold)| Decision::Hold { class, hold }));
        decisions
    }
}

/// A hold is told once: again only when its reasons change, not when their numbers do.
fn is_news(state: &State, class: ClassNo, hold: &Hold) -> bool {
    let known = state.queue.classes[class.at()].hold.as_ref();
    known.is_none_or(|known| !known.is_same_kind(hold))
}
