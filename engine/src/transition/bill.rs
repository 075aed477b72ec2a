//! Bills are written when a grant ends and when a day does (rules 6.6), so that the log holds the history
//! and the state only what is owed since.

use crate::job::phase::Phase;
use crate::market::bill::Bill;
use crate::market::bill::Grant;
use crate::market::bill::begin_of;
use crate::market::bill::day_of;
use crate::message::event::Event;
use crate::state::market::Desk;
use crate::state::world::State;
use crate::unit::id::JobNo;
use crate::unit::id::OfferNo;
use crate::unit::ordered::Set;
use crate::unit::time::Timestamp;

/// Puts the bill before each event by which a job gives its instances back.
pub(super) fn with_bills(state: &State, events: Vec<Event>) -> Vec<Event> {
    if state.market.accounts.is_empty() {
        return events;
    }
    let mut billed = Vec::with_capacity(events.len());
    for event in events {
        if let Event::Stopped { job, at, .. } | Event::Ended { job, at, .. } = &event {
            billed.extend(bills(state, *job, *at));
        }
        billed.push(event);
    }
    billed
}

/// When the next day ends for which anybody has to be billed, if that is not after `now`. Once the bills of a day are
/// written nobody is looked at again before the next.
pub(super) fn next_day(state: &State, now: Timestamp) -> Option<Timestamp> {
    if state.market.accounts.is_empty() || state.market.billed_day() >= day_of(now) {
        return None;
    }
    let grants = holders(state).filter_map(|no| state.market.accounts.get(&no)?.grant);
    grants.map(|grant| begin_of(grant.open_day() + 1)).min().filter(|end| *end <= now)
}

/// Adds the bills for the days that have ended at this time, of everybody who goes on holding instances after `events`.
pub(super) fn with_ended_days(state: &State, mut events: Vec<Event>, at: Timestamp) -> Vec<Event> {
    let end = |event: &Event| {
        if let Event::Stopped { job, .. } | Event::Ended { job, .. } = event { Some(*job) } else { None }
    };
    let ended: Set<JobNo> = events.iter().filter_map(end).collect();
    let staying = holders(state).filter(|no| !ended.contains(no));
    events.extend(staying.flat_map(|no| bills(state, no, at)));
    events
}

fn holders(state: &State) -> impl Iterator<Item = JobNo> + '_ {
    state.market.desks.iter().flat_map(Desk::holders)
}

/// The bills for what a job owes until a time.
fn bills(state: &State, no: JobNo, until: Timestamp) -> Vec<Event> {
    let at = end_of_billing(state, no, until);
    owed(state, no, until).into_iter().map(|bill| Event::Billed { job: no, at, bill: Box::new(bill) }).collect()
}

/// What a job with a bid owes until a time and has not been billed for, by day.
#[must_use]
pub fn owed(state: &State, no: JobNo, until: Timestamp) -> Vec<Bill> {
    let Some(grant) = state.market.accounts.get(&no).and_then(|account| account.grant) else { return Vec::new() };
    let Some((offer, _, instances)) = state.bid_of(no) else { return Vec::new() };
    let (spec, offer) = (&state.jobs[no].spec, &state.market.offers[offer.at()]);
    let bill = |(day, charges)| Bill {
        job: spec.id.clone(),
        workspace: spec.workspace.clone(),
        offer: offer.id.clone(),
        instances,
        day,
        charges,
    };
    let minute = offer.course.price().saturating_mul(instances);
    grant.bills(end_of_billing(state, no, until), minute).into_iter().map(bill).collect()
}

/// A simulated job that has done its work by then, or whose grace period is over, owes nothing after that, even if
/// nobody has noticed yet.
fn end_of_billing(state: &State, no: JobNo, at: Timestamp) -> Timestamp {
    state.timer_of(&state.jobs[no]).map_or(at, |due| due.min(at))
}

/// A price holds until now: counts what it has cost everybody who holds instances of the offer.
pub(super) fn count_minutes(state: &mut State, offer: OfferNo, now: Timestamp) {
    let price = state.market.offers[offer.at()].course.price();
    let holders: Vec<JobNo> = state.market.desks[offer.at()].holders().collect();
    for no in holders {
        // Nobody is overdue in what is written today. In old logs some were, and were counted so: what is folded from
        // them stays what it was.
        let is_stopping = matches!(state.jobs[no].phase, Phase::Stopping { .. });
        let until = if is_stopping { now } else { end_of_billing(state, no, now) };
        let instances = i64::from(state.jobs[no].spec.shape.gang_pods());
        if let Some(grant) = state.market.accounts.get_mut(&no).and_then(|account| account.grant.as_mut()) {
            grant.count(until, price.saturating_mul(instances));
        }
    }
}

/// What a job's event does to its account: a grant begins when it starts and ends when it gives its instances back.
pub(super) fn keep_account(state: &mut State, event: &Event) {
    if let Event::Started { job, at, .. } = event
        && let Some((offer, _, _)) = state.bid_of(*job)
    {
        let protection = state.market.offers[offer.at()].terms.protection;
        state.market.accounts.or_default(*job).grant = Some(Grant::new(*at, protection));
    } else if let Event::Stopped { job, .. } | Event::Ended { job, .. } = event
        && let Some(account) = state.market.accounts.get_mut(job)
    {
        account.grant = None;
    } else if let Event::Billed { job, at, bill } = event
        && let Some(account) = state.market.accounts.get_mut(job)
    {
        account.billed = account.billed.plus(bill.charges);
        if let Some(grant) = &mut account.grant {
            grant.billed(bill.charges);
        }
        if bill.day < day_of(*at) {
            state.market.note_billed_day(day_of(*at));
        }
    }
}
