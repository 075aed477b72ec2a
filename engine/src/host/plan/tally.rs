//! Adds up what happens in a run: job by job, over time, and as spans of a timeline.

use std::sync::Arc;

use crate::host::plan::course::Course;
use crate::host::plan::record::FirstStart;
use crate::host::plan::record::Holding;
use crate::host::plan::record::Party;
use crate::host::plan::record::Record;
use crate::host::plan::supply::Supply;
use crate::job::cause::Cause;
use crate::job::phase::AfterStop;
use crate::job::phase::Charge;
use crate::job::phase::Outcome;
use crate::message::event::Event;
use crate::message::rejection::Rejection;
use crate::state::world::State;
use crate::transition::owed;
use crate::unit::amount::GPU;
use crate::unit::id::JobNo;
use crate::unit::ordered::Map;
use crate::unit::time::Millis;
use crate::unit::time::Timestamp;

/// Spans of a timeline that are kept; those that begin later are counted only.
pub const SPANS_MAX: usize = 20_000;
/// Refused commands of the base whose reasons are kept.
const REFUSALS_KEPT: usize = 20;

/// How a span ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpanEnd {
    /// It had not ended at the horizon.
    Open,
    /// The job ended by itself, or was cancelled.
    Ended,
    /// The job was told to stop.
    Evicted(Arc<Cause>),
    /// The job ran on with other GPUs or on another charge.
    Changed,
}

/// A stretch of time in which a job held the same.
#[derive(Clone, Debug)]
pub struct Span {
    /// The position of its record.
    pub record: usize,
    /// What it held.
    pub holding: Holding,
    /// Until when.
    pub until: Timestamp,
    /// Why not longer.
    pub end: SpanEnd,
}

/// How use and waiting of somebody went.
#[derive(Clone, Debug)]
pub struct Courses {
    /// GPUs that were held.
    pub used: Course,
    /// GPUs that were waited for.
    pub waited: Course,
}

impl Courses {
    /// Nothing yet.
    #[must_use]
    pub fn new(from: Timestamp) -> Self {
        Self { used: Course::new(from), waited: Course::new(from) }
    }
}

/// What a run has come to so far.
#[derive(Clone, Debug)]
pub struct Tally {
    /// When the run began.
    pub from: Timestamp,
    /// Events so far.
    pub events: u64,
    /// Scheduled rounds so far.
    pub rounds: u64,
    /// Jobs, in the order in which they were met.
    pub records: Vec<Record>,
    /// The timeline, by beginning.
    pub spans: Vec<Span>,
    /// Spans that are not kept.
    pub spans_left_out: u64,
    /// Over time, by what jobs draw on.
    pub courses: Map<Party, Courses>,
    /// Commands of the base that were refused.
    pub refused_ahead: u64,
    /// The first of them: positions and reasons.
    pub refusals_ahead: Vec<(usize, Rejection)>,
    /// GPUs that jobs may use or still hold, in thousandths.
    pub gpus: i64,
    /// Work for which there were GPUs, in GPU-milliseconds.
    pub offered_gpu_ms: i64,
    offered_until: Timestamp,
    /// Whether what jobs hold changes how many GPUs there are for them.
    is_shrinking: bool,
    /// Where the record of a job is, by the job's number.
    record_of: Vec<Option<usize>>,
    /// Where the open span of a record is.
    span_of: Map<usize, usize>,
}

impl Tally {
    /// Nothing yet.
    #[must_use]
    pub fn new(state: &State, from: Timestamp) -> Self {
        let mut tally = Self {
            from,
            events: 0,
            rounds: 0,
            records: Vec::new(),
            spans: Vec::new(),
            spans_left_out: 0,
            courses: Map::new(),
            refused_ahead: 0,
            refusals_ahead: Vec::new(),
            gpus: 0,
            offered_gpu_ms: 0,
            offered_until: from,
            is_shrinking: false,
            record_of: Vec::new(),
            span_of: Map::new(),
        };
        tally.count(state);
        for (no, job) in state.jobs.iter().filter(|(_, job)| !job.is_ended()) {
            let at = tally.add(no, Record::found(state, no, job, from));
            if let Some(holding) = tally.records[at].holding {
                tally.open(at, holding);
            }
        }
        tally
    }

    /// The record of a job.
    #[must_use]
    pub fn record(&self, no: JobNo) -> Option<&Record> {
        self.find(no).map(|at| &self.records[at])
    }

    fn find(&self, no: JobNo) -> Option<usize> {
        self.record_of.get(no.at()).copied().flatten()
    }

    fn add(&mut self, no: JobNo, record: Record) -> usize {
        let at = self.records.len();
        self.records.push(record);
        if self.record_of.len() <= no.at() {
            self.record_of.resize(no.at() + 1, None);
        }
        self.record_of[no.at()] = Some(at);
        at
    }

    /// Notes a command of the base that was refused.
    pub fn refuse(&mut self, ahead: usize, rejection: &Rejection) {
        self.refused_ahead += 1;
        if self.refusals_ahead.len() < REFUSALS_KEPT {
            self.refusals_ahead.push((ahead, rejection.clone()));
        }
    }

    /// Takes in what happened in a step; the state is the one after it.
    pub fn take(&mut self, state: &State, events: &[Event], now: Timestamp) {
        self.events += events.len() as u64;
        for event in events {
            self.event(state, event, now);
        }
        if self.is_shrinking && !events.is_empty() {
            self.offer(now);
            self.count(state);
        }
    }

    fn event(&mut self, state: &State, event: &Event, now: Timestamp) {
        match event {
            Event::JobSubmitted { no, at, spec } => {
                self.add(*no, Record::submitted(state, spec, *at));
            }
            Event::Started { job, at, placed, .. } => self.start(*job, *at, placed.charge),
            Event::Promoted { job, at } => self.change(*job, *at, |_, held| held.charge = Charge::InQuota),
            Event::Grown { job, at, pods, .. } => self.change(*job, *at, |record, held| {
                held.gpus = held.gpus.saturating_add(record.extra_gpus.saturating_mul(count(pods.len())));
            }),
            Event::Resized { job, at, resize } => {
                let without = i64::from(resize.without());
                self.change(*job, *at, |record, held| {
                    held.gpus = held.gpus.saturating_sub(record.extra_gpus.saturating_mul(without));
                });
                let Some(at) = self.find(*job) else { return };
                self.records[at].gang_gpus = state.cluster.gpus(&resize.shape.gang_amount());
            }
            Event::Shrunk { job, at, pods, .. } => self.change(*job, *at, |record, held| {
                held.gpus = held.gpus.saturating_sub(record.extra_gpus.saturating_mul(count(pods.len())));
            }),
            Event::Evicted { job, cause, then, lost_gpu_ms, saved_gpu_ms, .. } => {
                let Some(at) = self.find(*job) else { return };
                let record = &mut self.records[at];
                record.stops_for = Some(Arc::new((**cause).clone()));
                record.comes_back = *then == AfterStop::Requeue;
                let account = &mut record.account;
                account.evictions += 1;
                account.lost_gpu_ms = account.lost_gpu_ms.saturating_add(*lost_gpu_ms);
                account.saved_gpu_ms = account.saved_gpu_ms.saturating_add(*saved_gpu_ms);
            }
            Event::Stopped { job, at, .. } => self.stop(*job, *at),
            Event::Ended { job, at, outcome } => self.finish(*job, *at, outcome),
            Event::Billed { job, bill, .. } => {
                let Some(at) = self.find(*job) else { return };
                let account = &mut self.records[at].account;
                account.cost_micros = account.cost_micros.saturating_add(bill.charges.micros);
            }
            Event::Forgotten { jobs } => {
                for no in jobs {
                    if let Some(slot) = self.record_of.get_mut(no.at()) {
                        *slot = None;
                    }
                }
            }
            Event::GroupPut { .. }
            | Event::NodePut { .. }
            | Event::Node { .. }
            | Event::OfferCreated { .. }
            | Event::OfferDeleted { .. }
            | Event::InventorySet { .. } => {
                self.offer(now);
                self.count(state);
            }
            Event::Rounded { .. } => self.rounds += 1,
            // In a plan nobody reports, so that nothing comes of a run.
            Event::Run { .. }
            | Event::ClusterCreated { .. }
            | Event::ClusterUpdated { .. }
            | Event::QuotaCreated { .. }
            | Event::QuotaUpdated { .. }
            | Event::QuotasScaled { .. }
            | Event::QuotaDeleted { .. }
            | Event::CancelledBy { .. }
            | Event::PriorityChanged { .. }
            | Event::Granted { .. }
            | Event::Returned { .. }
            | Event::Checkpointed { .. }
            | Event::Held { .. }
            | Event::OfferUpdated { .. }
            | Event::Priced { .. }
            | Event::WorkspacePut { .. }
            | Event::WorkspaceDeleted { .. }
            | Event::QuotaAttached { .. }
            | Event::QuotaDetached { .. }
            | Event::MemberPut { .. }
            | Event::MemberRemoved { .. }
            | Event::KeyPut { .. }
            | Event::KeyForgotten { .. }
            | Event::Redacted => {}
        }
    }

    fn start(&mut self, job: JobNo, at: Timestamp, charge: Charge) {
        let Some(no) = self.find(job) else { return };
        self.end_wait(no, at);
        let record = &mut self.records[no];
        if record.first_start == FirstStart::Never {
            record.first_start = FirstStart::After((at - record.submitted).max(Millis::ZERO));
            record.account.started += 1;
        }
        record.started.get_or_insert(at);
        // Whose victims had stopped before the run began started then, and is counted from the beginning on.
        let holding = Holding { since: at.max(self.from), gpus: record.gang_gpus, charge };
        record.holding = Some(holding);
        self.open(no, holding);
    }

    /// A running job holds something else from now on.
    fn change(&mut self, job: JobNo, at: Timestamp, change: impl FnOnce(&Record, &mut Holding)) {
        let Some(no) = self.find(job) else { return };
        let Some(mut holding) = self.release(no, at, &SpanEnd::Changed) else { return };
        holding.since = at;
        let record = &mut self.records[no];
        change(record, &mut holding);
        record.holding = Some(holding);
        self.open(no, holding);
    }

    fn stop(&mut self, job: JobNo, at: Timestamp) {
        let Some(no) = self.find(job) else { return };
        let cause = self.records[no].stops_for.take();
        self.release(no, at, &cause.map_or(SpanEnd::Ended, SpanEnd::Evicted));
        let record = &mut self.records[no];
        if record.comes_back {
            record.waits_since = Some(at.max(self.from));
        } else {
            record.ended = Some(at);
            record.account.preempted += 1;
        }
    }

    fn finish(&mut self, job: JobNo, at: Timestamp, outcome: &Outcome) {
        let Some(no) = self.find(job) else { return };
        self.end_wait(no, at);
        self.release(no, at, &SpanEnd::Ended);
        let record = &mut self.records[no];
        record.ended = Some(at);
        match outcome {
            Outcome::Succeeded => record.account.finished += 1,
            Outcome::Preempted => record.account.preempted += 1,
            Outcome::Failed { .. } | Outcome::Cancelled => record.account.cancelled += 1,
        }
    }

    fn end_wait(&mut self, no: usize, at: Timestamp) {
        let record = &mut self.records[no];
        let Some(since) = record.waits_since.take() else { return };
        let at = at.max(since);
        let waited = at - since;
        record.account.waited.0 = record.account.waited.0.saturating_add(waited.0);
        let work = Record::work(record.gang_gpus, waited);
        record.account.waited_gpu_ms = record.account.waited_gpu_ms.saturating_add(work);
        let (party, gpus) = (record.party, record.gang_gpus);
        self.course(party).waited.add(gpus, since, at);
    }

    fn course(&mut self, party: Party) -> &mut Courses {
        self.courses.or_insert_with(party, || Courses::new(self.from))
    }

    fn release(&mut self, no: usize, at: Timestamp, end: &SpanEnd) -> Option<Holding> {
        let record = &mut self.records[no];
        let holding = record.holding.take()?;
        // A job whose time was over before the run began ends when it should have.
        let at = at.max(holding.since);
        let work = Record::work(holding.gpus, at - holding.since);
        record.account.used_gpu_ms = record.account.used_gpu_ms.saturating_add(work);
        let party = record.party;
        self.course(party).used.add(holding.gpus, holding.since, at);
        match self.span_of.remove(&no) {
            // A stretch without length would only take the place of one that can be seen.
            Some(span) if at == holding.since && span + 1 == self.spans.len() => drop(self.spans.pop()),
            Some(span) => {
                let span = &mut self.spans[span];
                (span.until, span.end) = (at, end.clone());
            }
            None => {}
        }
        Some(holding)
    }

    fn open(&mut self, no: usize, holding: Holding) {
        if self.spans.len() >= SPANS_MAX {
            self.spans_left_out += 1;
            return;
        }
        self.span_of.insert(no, self.spans.len());
        self.spans.push(Span { record: no, holding, until: holding.since, end: SpanEnd::Open });
    }

    /// Counts the GPUs that there are for jobs by now.
    fn count(&mut self, state: &State) {
        let Supply { gpus, is_shrinking } = Supply::of(state);
        (self.gpus, self.is_shrinking) = (gpus, is_shrinking);
    }

    fn offer(&mut self, until: Timestamp) {
        let time = until - self.offered_until;
        let work = i128::from(self.gpus) * i128::from(time.0) / i128::from(GPU);
        self.offered_gpu_ms = self.offered_gpu_ms.saturating_add(i64::try_from(work).unwrap_or(i64::MAX));
        self.offered_until = until;
    }

    /// The run has ended: counts what still waits, until then, what runs, and what is owed.
    pub fn close(&mut self, state: &State, now: Timestamp, waits_until: Timestamp) {
        self.offer(now);
        for no in 0..self.records.len() {
            let waits = self.records[no].waits_since;
            self.end_wait(no, waits_until);
            if let Some(since) = waits {
                let Record { gang_gpus, party, .. } = self.records[no];
                self.course(party).waited.add(gang_gpus, since.max(waits_until), now);
            }
            self.records[no].waits_since = waits;
            self.records[no].account.waiting = u64::from(waits.is_some());
            self.release(no, now, &SpanEnd::Open);
        }
        for no in state.market.accounts.keys() {
            let owed: i64 = owed(state, *no, now).iter().map(|bill| bill.charges.micros).sum();
            if let Some(at) = self.find(*no) {
                let account = &mut self.records[at].account;
                account.cost_micros = account.cost_micros.saturating_add(owed);
            }
        }
    }
}

fn count(len: usize) -> i64 {
    i64::try_from(len).unwrap_or(i64::MAX)
}
