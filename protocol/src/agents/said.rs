//! What an agent says of its runs, as far as somebody has to look at it: most runs of most exchanges only go on.

use std::borrow::Cow;
use std::collections::BTreeSet;

use agent::message::RunReport;
use agent::message::SyncRequest;
use agent::run::RunId;
use engine::unit::sort;

use crate::agents::books::Runs;
use crate::agents::books::Standing;
use crate::agents::contact::Contacts;

/// What a request says of runs.
pub(super) struct Said<'a> {
    /// What has to be looked at.
    pub(super) reports: Cow<'a, [RunReport]>,
    /// Runs that only go on, as the agent says and the log knows, in the order of their numbers: they are kept.
    pub(super) settled: Vec<RunId>,
}

impl<'a> Said<'a> {
    /// What this one says, beside what is known of runs.
    pub(super) fn of(request: &'a SyncRequest, current: &Runs, contacts: &Contacts) -> Self {
        let ended = ended(contacts);
        let mut known = current.iter().peekable();
        let mut is_settled = |run: &RunId| {
            while known.next_if(|of| of.run < *run).is_some() {}
            let of = known.peek().filter(|of| of.run == *run);
            of.is_some_and(|of| of.n_pods == 1 && of.standing == Standing::GoesOn && !ended.contains(run))
        };
        let (mut settled, mut others) = (Vec::with_capacity(request.lives.len()), Vec::new());
        for run in in_order(&request.lives).iter() {
            // Who does not take runs by their numbers is told everything of them, however it says that they live.
            if request.keeps && is_settled(run) { settled.push(*run) } else { others.push(*run) }
        }
        let reports = if others.is_empty() {
            Cow::Borrowed(&request.runs[..])
        } else {
            Cow::Owned(request.runs.iter().cloned().chain(others.into_iter().map(RunReport::of_living)).collect())
        };
        Self { reports, settled }
    }
}

/// Runs of which some agent has said that they have ended on its nodes.
pub(super) fn ended(contacts: &Contacts) -> BTreeSet<RunId> {
    contacts.values().flat_map(|contact| contact.ended.keys().copied()).collect()
}

/// Agents name runs in order, so that most often nothing has to be sorted.
fn in_order(runs: &[RunId]) -> Cow<'_, [RunId]> {
    if runs.is_sorted() {
        return Cow::Borrowed(runs);
    }
    let mut sorted = runs.to_vec();
    sort::by_key(&mut sorted, |run| *run);
    Cow::Owned(sorted)
}
