//! From an event to the state after it. No judgement: whatever is to happen stands in the event.

use std::sync::Arc;

use crate::job::phase::AfterStop;
use crate::job::phase::Charge;
use crate::job::phase::ExtraPod;
use crate::job::phase::Outcome;
use crate::job::phase::Phase;
use crate::job::phase::Progress;
use crate::job::run::Leaving;
use crate::job::run::RunNo;
use crate::job::run::RunStep;
use crate::job::story::Episode;
use crate::job::story::Story;
use crate::ledger::Sign;
use crate::message::event::Event;
use crate::state::cluster::Cluster;
use crate::state::cluster::NodeStep;
use crate::state::cluster::Silence;
use crate::state::jobs::Job;
use crate::state::world::State;
use crate::transition::bill;
use crate::transition::heirs;
use crate::transition::turn;
use crate::transition::workspace;
use crate::unit::id::JobNo;
use crate::unit::time::Timestamp;
use crate::workspace::key::KeyId;

/// Applies all of what has happened, one after the other.
pub fn apply_all(state: &mut State, events: &[Event]) {
    for event in events {
        apply(state, event);
    }
}

/// Applies what has happened; the only mutation of a state.
pub fn apply(state: &mut State, event: &Event) {
    state.revision += 1;
    if let Event::Rounded { at, slot, missed } = event {
        // Most of what happens is a round, and does not come through the code of everything else (as in `decide`).
        state.last_slot = slot.or(state.last_slot);
        state.missed_slots += missed;
        state.settle();
        state.queue.is_stale = false;
        if slot.is_some() {
            state.look_ahead(*at);
        }
    } else {
        apply_change(state, event);
    }
}

#[inline(never)]
fn apply_change(state: &mut State, event: &Event) {
    match event {
        Event::ClusterCreated { dimensions, execution } => {
            state.cluster = Cluster { dimensions: dimensions.clone(), execution: *execution, ..Cluster::default() };
        }
        Event::ClusterUpdated { cluster } => state.change_cluster(cluster),
        Event::GroupPut { no, group } => {
            set(&mut state.groups, no.at(), (**group).clone());
            state.restructure();
        }
        Event::NodePut { no, node } if no.at() == state.nodes.len() => state.add_node((**node).clone()),
        Event::NodePut { no, node } => {
            state.nodes[no.at()] = (**node).clone();
            state.restructure();
        }
        Event::Node { no, step, .. } => {
            let node = &mut state.nodes[no.at()];
            node.silence = silence_after(node.silence, step);
            node.is_deleted |= *step == NodeStep::Deleted;
            state.restructure();
        }
        Event::QuotaCreated { no: _, quota } => state.add_quota((**quota).clone()),
        Event::QuotaUpdated { no, settings } => {
            state.quotas[no.at()].settings = (**settings).clone();
            state.restructure();
        }
        Event::QuotasScaled { targets } => {
            for (no, min) in targets {
                state.quotas[no.at()].min = *min;
            }
            state.restructure();
        }
        Event::QuotaDeleted { no } => {
            state.quotas[no.at()].is_deleted = true;
            state.restructure();
        }
        Event::JobSubmitted { no, at, spec } => {
            let job = Job {
                spec: (**spec).clone(),
                submitted: *at,
                waiting_since: *at,
                phase: Phase::Queued { not_before: None },
                run: None,
                progress: Progress::default(),
                story: Story::new(),
                class: None,
            };
            state.jobs.insert(*no, job);
            state.join_service(*no);
            state.enter_queue(*no);
        }
        Event::OfferCreated { .. }
        | Event::OfferUpdated { .. }
        | Event::OfferDeleted { .. }
        | Event::InventorySet { .. }
        | Event::Priced { .. } => apply_to_offer(state, event),
        Event::Billed { .. } => bill::keep_account(state, event),
        Event::Forgotten { jobs } => jobs.iter().for_each(|no| forget(state, *no)),
        Event::Held { job, hold, .. } => {
            if let Some(class) = state.jobs[*job].class {
                state.queue.set_hold(class, hold.clone(), &state.jobs);
            }
        }
        Event::WorkspacePut { .. }
        | Event::WorkspaceDeleted { .. }
        | Event::QuotaAttached { .. }
        | Event::QuotaDetached { .. }
        | Event::MemberPut { .. }
        | Event::MemberRemoved { .. } => workspace::apply(state, event),
        Event::Rounded { .. } | Event::Redacted => {}
        Event::KeyPut { key, is_now, .. } => {
            state.keys.insert(key.clone(), is_now.clone());
        }
        Event::KeyForgotten { key } => forget_key(state, key),
        Event::CancelledBy { .. }
        | Event::PriorityChanged { .. }
        | Event::Resized { .. }
        | Event::Promoted { .. }
        | Event::Evicted { .. }
        | Event::Shrunk { .. }
        | Event::Granted { .. }
        | Event::Started { .. }
        | Event::Run { .. }
        | Event::Grown { .. }
        | Event::Stopped { .. }
        | Event::Returned { .. }
        | Event::Checkpointed { .. }
        | Event::Ended { .. } => {
            apply_to_job(state, event);
            bill::keep_account(state, event);
        }
    }
}

/// Whether nobody hears of a node after what has happened to it.
fn silence_after(before: Option<Silence>, step: &NodeStep) -> Option<Silence> {
    match step {
        NodeStep::Silent { since, stop_after } => {
            Some(Silence { since: *since, stop_after: *stop_after, is_lost: false })
        }
        NodeStep::Lost => before.map(|silence| Silence { is_lost: true, ..silence }),
        NodeStep::Heard | NodeStep::Deleted => None,
    }
}

/// Events of one offer.
fn apply_to_offer(state: &mut State, event: &Event) {
    if let Event::OfferCreated { no, offer } = event {
        set(&mut state.market.offers, no.at(), (**offer).clone());
        state.market.name(*no);
    } else if let Event::OfferUpdated { no, terms } = event {
        state.market.offers[no.at()].terms = terms.clone();
        state.rebook_offer(*no);
    } else if let Event::OfferDeleted { no } = event {
        state.market.offers[no.at()].is_removed = true;
        state.market.name(*no);
    } else if let Event::InventorySet { no, inventory, .. } = event {
        state.market.offers[no.at()].inventory = *inventory;
        state.market.touch(*no);
    } else if let Event::Priced { no, at, price } = event {
        bill::count_minutes(state, *no, *at);
        let offer = &mut state.market.offers[no.at()];
        offer.course.set(*at, *price, offer.terms.window);
        state.market.touch(*no);
    }
}

/// Numbers are given in order, so a new thing is the next one.
fn set<T>(list: &mut Vec<T>, at: usize, value: T) {
    if at < list.len() {
        list[at] = value;
    } else {
        list.push(value);
    }
}

/// Events of one job: it leaves everything that is kept about it, changes, and enters again.
fn apply_to_job(state: &mut State, event: &Event) {
    match event {
        Event::CancelledBy { job, at, by } => change(state, *job, |job| {
            job.tell(*at, Episode::CancelledBy(by.clone()));
        }),
        Event::PriorityChanged { job, at, priority } => change(state, *job, |job| {
            job.spec.priority = *priority;
            job.tell(*at, Episode::PriorityChanged);
        }),
        Event::Resized { job, at, resize } => {
            let order = state.order_no();
            change(state, *job, |job| {
                if let Some(until) = resize.until {
                    let pods = resize.vacated(&job.phase);
                    turn::tell_to_leave(job, Leaving { order, until, pods, evicted_for: None });
                }
                resize.apply(&mut job.phase);
                job.spec.shape = Arc::clone(&resize.shape);
                job.tell(*at, Episode::Resized { pods: resize.owed });
            });
        }
        Event::Promoted { job, at } => change(state, *job, |job| {
            if let Phase::Running { placed, .. } = &mut job.phase {
                placed.charge = Charge::InQuota;
            }
            job.tell(*at, Episode::Promoted);
        }),
        Event::Evicted { job, .. } => change(state, *job, |job| turn::evict(job, event)),
        Event::Shrunk { job, at, pods, cause, until, evicted_for } => {
            let order = until.map(|until| Leaving {
                order: state.order_no(),
                until,
                pods: Vec::new(),
                evicted_for: *evicted_for,
            });
            change(state, *job, |job| turn::shrink(job, *at, pods, cause, order));
        }
        Event::Granted { job, at, placed, waits_for } => change(state, *job, |job| {
            job.tell(*at, Episode::Granted(placed.source));
            job.phase = Phase::Starting { placed: placed.clone(), waits_for: waits_for.clone() };
        }),
        Event::Started { job, at, placed, is_run } => {
            let no = is_run.then(|| state.order_no());
            change(state, *job, |job| turn::start(job, *at, placed.clone(), no));
        }
        Event::Run { job, at, step } => match &**step {
            RunStep::Vacated { order } => vacate(state, *job, *order),
            step @ (RunStep::Confirmed
            | RunStep::Halted { .. }
            | RunStep::Saved { .. }
            | RunStep::Withdrawn
            | RunStep::PassedOver { .. }) => {
                change(state, *job, |job| turn::of_run(job, *at, step));
            }
        },
        Event::Grown { job, at, charge, pods } => change(state, *job, |job| {
            if let Phase::Running { extra, .. } = &mut job.phase {
                for place in pods {
                    extra.push(ExtraPod { charge: *charge, at: *place, started: *at });
                }
            }
            job.tell(*at, Episode::Grown { pods: u32::try_from(pods.len()).unwrap_or(u32::MAX), charge: *charge });
        }),
        Event::Stopped { job, at, not_before } => stop(state, *job, *at, *not_before),
        Event::Returned { job, .. } => change(state, *job, |job| job.phase = Phase::Queued { not_before: None }),
        Event::Checkpointed { job, at } => change(state, *job, |job| {
            if let Phase::Running { checkpointed, .. } = &mut job.phase {
                *checkpointed = Some(*at);
            }
        }),
        Event::Ended { job, at, outcome } => with_heir(state, *job, |state| end(state, *job, *at, outcome)),
        Event::ClusterCreated { .. }
        | Event::GroupPut { .. }
        | Event::NodePut { .. }
        | Event::Node { .. }
        | Event::ClusterUpdated { .. }
        | Event::QuotaCreated { .. }
        | Event::QuotaUpdated { .. }
        | Event::QuotasScaled { .. }
        | Event::QuotaDeleted { .. }
        | Event::JobSubmitted { .. }
        | Event::OfferCreated { .. }
        | Event::OfferUpdated { .. }
        | Event::OfferDeleted { .. }
        | Event::InventorySet { .. }
        | Event::Priced { .. }
        | Event::Billed { .. }
        | Event::Forgotten { .. }
        | Event::WorkspacePut { .. }
        | Event::WorkspaceDeleted { .. }
        | Event::QuotaAttached { .. }
        | Event::QuotaDetached { .. }
        | Event::MemberPut { .. }
        | Event::MemberRemoved { .. }
        | Event::KeyPut { .. }
        | Event::KeyForgotten { .. }
        | Event::Redacted
        | Event::Held { .. }
        | Event::Rounded { .. } => {}
    }
}

fn forget(state: &mut State, no: JobNo) {
    state.market.accounts.remove(&no);
    state.list_ended(no, Sign::Remove);
    state.jobs.remove(no);
}

fn forget_key(state: &mut State, key: &KeyId) {
    let generation = state.keys.remove(key).map(|key| key.generation);
    state.forgotten_generation = state.forgotten_generation.max(generation);
}

/// Changes a job between taking it off everything that is kept and putting it back.
fn change(state: &mut State, no: JobNo, change: impl FnOnce(&mut Job)) {
    let releases = state.jobs[no].placed().is_some();
    state.leave_queue(no);
    if !state.jobs[no].is_queued() {
        state.clear_timer(no);
    }
    state.book(no, Sign::Remove);
    if let Some(job) = state.jobs.get_mut(no) {
        change(job);
        if job.placed().is_none() {
            job.run = None;
        }
    }
    state.book(no, Sign::Add);
    if state.jobs[no].is_queued() {
        state.enter_queue(no);
    } else {
        state.set_timer(no);
    }
    if !state.jobs[no].bids() {
        state.queue.open.everybody |= releases;
        state.queue.is_stale |= releases || state.jobs[no].placed().is_some();
    }
}

/// Pods that were told to leave have gone; who waits for them waits for one less.
fn vacate(state: &mut State, no: JobNo, order: RunNo) {
    let heir = heirs::of_order(state, no, order);
    without_victim(state, no, heir.into_iter().collect(), |state| {
        change(state, no, |job| {
            if let Some(run) = &mut job.run {
                run.leaving.retain(|leaving| leaving.order != order);
            }
        });
    });
}

/// A job that was told to stop has stopped: it is queued again or ends.
fn stop(state: &mut State, no: JobNo, at: Timestamp, not_before: Option<Timestamp>) {
    let Phase::Stopping(stopping) = &state.jobs[no].phase else { return };
    let then = stopping.then.clone();
    with_heir(state, no, |state| match &then {
        AfterStop::Requeue => change(state, no, |job| {
            // The time that it ran does not count as waiting.
            let ran = job
                .story
                .iter()
                .rev()
                .find_map(|(when, episode)| matches!(episode, Episode::Started(..)).then_some(*when));
            job.waiting_since = job.waiting_since + (at - ran.unwrap_or(at));
            job.phase = Phase::Queued { not_before };
            job.tell(at, Episode::Requeued);
        }),
        AfterStop::End(outcome) => end(state, no, at, outcome),
    });
}

/// Changes a job; who waits for it to stop waits for one less.
fn with_heir(state: &mut State, no: JobNo, change: impl FnOnce(&mut State)) {
    without_victim(state, no, heirs::of_job(state, no), change);
}

/// Changes a job for which these wait no longer.
fn without_victim(state: &mut State, no: JobNo, heirs: Vec<JobNo>, change: impl FnOnce(&mut State)) {
    for heir in &heirs {
        state.book(*heir, Sign::Remove);
    }
    change(state);
    for heir in heirs {
        if let Some(Job { phase: Phase::Starting { waits_for, .. }, .. }) = state.jobs.get_mut(heir) {
            waits_for.retain(|victim| *victim != no);
        }
        state.book(heir, Sign::Add);
    }
}

fn end(state: &mut State, no: JobNo, at: Timestamp, outcome: &Outcome) {
    change(state, no, |job| {
        job.phase = Phase::Ended { at, outcome: outcome.clone() };
        job.tell(at, Episode::Ended(outcome.clone()));
    });
    state.leave_service(no);
    state.list_ended(no, Sign::Add);
}
