//! Who holds what a full quota lacks (rules 10.1): whoever uses more than is theirs on the way from a job's quota up to
//! the full one, and by which of their jobs, since when and by which rule.

use crate::explain::words::in_dimension;
use crate::explain::words::period;
use crate::explain::words::source;
use crate::job::hold::Blocker;
use crate::job::phase::Charge;
use crate::job::phase::Phase;
use crate::job::phase::Placed;
use crate::job::phase::Source;
use crate::ledger::own_min;
use crate::state::jobs::Job;
use crate::state::world::State;
use crate::unit::id::JobId;
use crate::unit::id::JobNo;
use crate::unit::id::QuotaNo;
use crate::unit::sort;
use crate::unit::time::Timestamp;

/// How many quotas are named, and how many jobs of each.
const NAMED_MAX: usize = 2;

/// Who holds more than is theirs.
struct Holder {
    /// The quota itself without its children, or a whole subtree.
    quotas: Vec<QuotaNo>,
    /// Whether only the quota's own jobs are meant.
    is_own: bool,
    /// How much more.
    more: i64,
}

/// What to say before and after a reason of a job; both are empty where everybody holds what is theirs. Jobs are
/// called as whoever reads it may know them.
pub(super) fn holders(
    state: &State,
    no: JobNo,
    blocker: &Blocker,
    now: Timestamp,
    known_as: &dyn Fn(&JobId) -> JobId,
) -> (String, String) {
    let nothing = || (String::new(), String::new());
    let Blocker::QuotaFull { quota, dimension, .. } = blocker else { return nothing() };
    let (from, at) = (state.jobs[no].spec.quota, usize::from(*dimension));
    let Some(full) = state.quota_no(quota) else { return nothing() };
    let mut holders = beyond_their_own(state, from, full, at);
    sort::by_key(&mut holders, |holder| (std::cmp::Reverse(holder.more), holder.quotas[0]));
    let told: Vec<String> =
        holders.iter().take(NAMED_MAX).map(|holder| in_words(state, holder, at, now, known_as)).collect();
    if told.is_empty() {
        return nothing();
    }
    (unused(state, from, full, at), told.concat())
}

/// What the job's own quota leaves unused, although it is one above that is full.
fn unused(state: &State, from: QuotaNo, full: QuotaNo, at: usize) -> String {
    let (quota, book) = (&state.quotas[from.at()], &state.ledger.quotas[from.at()]);
    let left = quota.min.amount[at].saturating_sub(book.used[at]);
    if from == full || left <= 0 {
        return String::new();
    }
    let amount = |value| in_dimension(state, u8::try_from(at).unwrap_or(0), value);
    format!("{} leaves {} of its {} unused, but ", quota.id, amount(left), amount(quota.min.amount[at]))
}

/// Everybody on the way up who uses more than is theirs: quotas above by their own jobs, and subtrees beside the way.
fn beyond_their_own(state: &State, from: QuotaNo, full: QuotaNo, at: usize) -> Vec<Holder> {
    let mut holders = Vec::new();
    let (mut below, mut next) = (None, Some(from));
    while let Some(no) = next {
        let (quota, book) = (&state.quotas[no.at()], &state.ledger.quotas[no.at()]);
        let more = book.own_jobs[at].saturating_sub(own_min(quota, book, at));
        if no != from {
            holders.push(Holder { quotas: vec![no], is_own: true, more });
        }
        for (child, tree) in state.children(no).filter(|(child, _)| Some(*child) != below) {
            let more = state.ledger.quotas[child.at()].used[at].saturating_sub(tree.min.amount[at]);
            holders.push(Holder { quotas: vec![child], is_own: false, more });
        }
        (below, next) = (Some(no), if no == full { None } else { quota.parent });
    }
    holders.retain(|holder| holder.more > 0);
    for holder in holders.iter_mut().filter(|holder| !holder.is_own) {
        holder.quotas = state.subtree(holder.quotas[0]);
    }
    holders
}

fn in_words(state: &State, holder: &Holder, at: usize, now: Timestamp, known_as: &dyn Fn(&JobId) -> JobId) -> String {
    let more = in_dimension(state, u8::try_from(at).unwrap_or(0), holder.more);
    let id = &state.quotas[holder.quotas[0].at()].id;
    let (who, than) = if holder.is_own { (" itself", "has of its own") } else { ("", "is guaranteed") };
    let jobs = takers(state, holder, at, now, known_as);
    format!(" {id}{who} holds {more} more than it {than}{jobs}.")
}

/// The jobs that have taken what is not theirs by a policy, the last one first, as many as hold so much.
fn takers(state: &State, holder: &Holder, at: usize, now: Timestamp, known_as: &dyn Fn(&JobId) -> JobId) -> String {
    let mut takers: Vec<(Option<Timestamp>, JobNo, Source)> = Vec::new();
    for (_, no) in holder.quotas.iter().flat_map(|quota| &state.running[quota.at()]) {
        if let Some((placed, since)) = in_quota(&state.jobs[*no])
            && matches!(placed.source, Source::ChildLevel | Source::SelfLevel)
            && state.jobs[*no].spec.shape.gang_amount()[at] > 0
        {
            takers.push((since, *no, placed.source));
        }
    }
    // Who has not started yet is the newest.
    sort::by_key(&mut takers, |(since, no, _)| std::cmp::Reverse((since.is_none(), *since, *no)));
    let mut held = 0;
    let counts = |no: &JobNo| state.jobs[*no].spec.shape.gang_amount()[at];
    takers.retain(|(_, no, _)| {
        let is_needed = held < holder.more;
        held += counts(no);
        is_needed
    });
    let told: Vec<String> = takers.iter().take(NAMED_MAX).map(|taker| taken(state, *taker, now, known_as)).collect();
    let others = takers.len() - told.len();
    let others = if others == 0 { String::new() } else { format!("; and {others} more") };
    if told.is_empty() { String::new() } else { format!(" ({}{others})", told.join("; ")) }
}

fn taken(
    state: &State,
    (since, no, by): (Option<Timestamp>, JobNo, Source),
    now: Timestamp,
    known_as: &dyn Fn(&JobId) -> JobId,
) -> String {
    let since = since.map_or_else(|| "about to start".to_owned(), |since| format!("for {}", period(now - since)));
    format!("{}, by {}, {since}", known_as(&state.jobs[no].spec.id), source(by))
}

/// What a job holds of quotas, and since when.
fn in_quota(job: &Job) -> Option<(&Placed, Option<Timestamp>)> {
    let (placed, since) = match &job.phase {
        Phase::Running { placed, started, .. } => (placed, Some(*started)),
        Phase::Starting { placed, .. } => (placed, None),
        Phase::Queued { .. } | Phase::Stopping(_) | Phase::Ended { .. } => return None,
    };
    (placed.charge == Charge::InQuota).then_some((placed, since))
}
