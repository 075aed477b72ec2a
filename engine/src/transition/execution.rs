//! What time alone does to jobs (rules 3.1 and 7).

use crate::job::phase::Outcome;
use crate::job::phase::Phase;
use crate::message::event::Event;
use crate::state::world::State;
use crate::transition::bill;
use crate::transition::halt;
use crate::transition::heirs;
use crate::transition::nodes;
use crate::transition::stop;
use crate::unit::id::JobNo;
use crate::unit::time::Timestamp;

/// What time alone changes at the earliest time up to `now` at which it changes anything: finished simulated jobs, ended
/// grace periods and backoffs, days that have to be billed. Nothing if nothing is due.
///
/// What happens at one time may be why something happens at the next, such as the end of a job that started when its
/// victim had stopped: a host applies what this returns and asks again, until nothing is due.
#[must_use]
pub fn elapse(state: &State, now: Timestamp) -> Vec<Event> {
    let timer = state.timers.first().map(|(due, _)| *due).filter(|due| *due <= now);
    let silence = state.silences.first().map(|(due, _)| *due).filter(|due| *due <= now);
    let day = bill::next_day(state, now);
    let Some(at) = timer.into_iter().chain(silence).chain(day).min() else { return Vec::new() };
    let events = if timer == Some(at) {
        due(state, at)
    } else if silence == Some(at) {
        nodes::by_silence(state, at)
    } else {
        Vec::new()
    };
    let events = bill::with_bills(state, events);
    if day == Some(at) { bill::with_ended_days(state, events, at) } else { events }
}

/// Whether time alone has changed anything until `now`.
#[must_use]
pub fn is_due(state: &State, now: Timestamp) -> bool {
    state.next_timer().is_some_and(|due| due <= now) || bill::next_day(state, now).is_some()
}

/// What the timers of this time, which are the first, come to.
fn due(state: &State, at: Timestamp) -> Vec<Event> {
    let mut events = Vec::new();
    let (mut ended, mut stopped) = (Vec::new(), Vec::new());
    for (_, no) in state.timers.iter().copied().take_while(|(due, _)| *due == at) {
        match &state.jobs[no].phase {
            Phase::Running { .. } if has_done_its_work(state, no, at) => ended.push(no),
            Phase::Running { .. } if state.cluster.is_reported() => events.extend(halt::by_time(state, no, at)),
            Phase::Running { .. } => events.extend(stop::left(state, no, at)),
            Phase::Stopping { .. } => stopped.push(no),
            Phase::Queued { .. } => events.push(Event::Returned { job: no, at }),
            Phase::Starting { .. } | Phase::Ended { .. } => {}
        }
    }
    // Nothing is left of a service that has ended.
    let parts: Vec<JobNo> = ended.iter().flat_map(|no| state.parts_of(*no)).collect();
    stopped.retain(|no| !parts.contains(no));
    events.extend(ended.into_iter().map(|job| Event::Ended { job, at, outcome: Outcome::Succeeded }));
    events.extend(parts.iter().map(|job| Event::Ended { job: *job, at, outcome: Outcome::Cancelled }));
    events.extend(stop::returns(state, &stopped, at));
    events.extend(heirs::start_after(state, &[parts, stopped].concat(), at));
    events
}

/// Whether a simulated job ends now; otherwise its timer is about pods of it.
fn has_done_its_work(state: &State, no: JobNo, at: Timestamp) -> bool {
    let job = &state.jobs[no];
    let Phase::Running { started, .. } = &job.phase else { return false };
    !state.cluster.is_reported() && job.left().is_some_and(|left| *started + left <= at)
}
