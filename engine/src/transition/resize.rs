//! A service changes its number of pods (rules 1.6): what runs stays, and the missing pods wait as a part of it.

use std::cmp::Reverse;
use std::sync::Arc;

use crate::job::phase::Charge;
use crate::job::phase::ExtraPod;
use crate::job::phase::Phase;
use crate::job::phase::Placed;
use crate::job::phase::Source;
use crate::job::resize::Resize;
use crate::job::shape::Role;
use crate::job::shape::Shape;
use crate::job::spec::JobSpec;
use crate::message::command::ResizeJob;
use crate::message::event::Event;
use crate::message::rejection::Noun;
use crate::message::rejection::Rejection;
use crate::state::jobs::Job;
use crate::state::world::State;
use crate::transition::names;
use crate::transition::stop;
use crate::transition::workspace;
use crate::unit::id::JobId;
use crate::unit::id::JobNo;
use crate::unit::id::with_room;
use crate::unit::limit;
use crate::unit::priority::Module;
use crate::unit::sort;
use crate::unit::time::Timestamp;

pub(super) fn resize(state: &State, command: &ResizeJob, now: Timestamp) -> Result<Vec<Event>, Rejection> {
    let no = names::job(state, &command.job)?;
    check_resizable(state, no)?;
    check_size(command)?;
    let size = Size { owed: command.min_pods.unwrap_or(command.pods), accepted: command.pods };
    if size == Size::of(state, no) {
        return Ok(Vec::new());
    }
    if size.owed > state.owed(no)
        && let Some(workspace) = &state.jobs[no].spec.workspace
    {
        workspace::check_submission(state, workspace, state.jobs[no].spec.quota)?;
    }
    change(state, no, size, now)
}

/// How many pods a service has, with its parts.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Size {
    /// How many are owed to it.
    owed: u32,
    /// How many it accepts.
    accepted: u32,
}

impl Size {
    fn of(state: &State, no: JobNo) -> Self {
        let owed = state.owed(no);
        Self { owed, accepted: owed.saturating_add(state.jobs[no].spec.shape.extra_pods()) }
    }

    /// So many, and no more.
    fn fixed(pods: u32) -> Self {
        Self { owed: pods, accepted: pods }
    }

    /// How many it accepts above those.
    fn extra(self) -> u32 {
        self.accepted - self.owed
    }
}

/// Whether this is a service that can be resized now (rules 1.6).
///
/// # Errors
/// [`Rejection::NotNow`], with what it is instead.
pub fn check_resizable(state: &State, no: JobNo) -> Result<(), Rejection> {
    let job = &state.jobs[no];
    let wrong = |reason: String| Err(Rejection::NotNow { noun: Noun::Job, name: job.spec.id.to_string(), reason });
    if let Some(service) = state.jobs.get(job.spec.part_of) {
        let service = &service.spec.id;
        return wrong(format!("is a part of service {service}; resize {service}"));
    }
    if job.spec.module != Module::Eas || job.bids() {
        return wrong("is no service of a quota; only such services are resized while they run".to_owned());
    }
    if job.spec.shape.roles().len() > 1 {
        return wrong("has several kinds of pods; only services of one kind are resized".to_owned());
    }
    match &job.phase {
        Phase::Ended { .. } => wrong("has ended; it cannot be resized".to_owned()),
        Phase::Stopping(_) => wrong("is being stopped; resize it once it is queued again".to_owned()),
        Phase::Queued { .. } | Phase::Starting { .. } | Phase::Running { .. } => Ok(()),
    }
}

/// Whether there can be so many pods.
fn check_size(command: &ResizeJob) -> Result<(), Rejection> {
    let pods = i64::from(command.pods);
    names::in_range(format_args!("the number of pods of job {}", command.job), pods, 1, i64::from(limit::PODS_MAX))?;
    let min = i64::from(command.min_pods.unwrap_or(command.pods));
    names::in_range(format_args!("the minimum number of pods of job {}", command.job), min, 1, pods)
}

/// What changes. The first extra pods become owed where they run: those that are like the gang join it, others are a
/// part. Pods that are still missing wait; pods that are no longer owed are given up.
fn change(state: &State, no: JobNo, size: Size, now: Timestamp) -> Result<Vec<Event>, Rejection> {
    let job = &state.jobs[no];
    let (join, mut apart): (Vec<u32>, Vec<u32>) =
        (0..newly_owed(state, no, size)).partition(|at| is_like_gang(job, &extra(job)[*at as usize]));
    if state.cluster.is_reported() {
        // What runs does not change the run that it belongs to.
        apart.clear();
    }
    let newly_owed = count(&join) + count(&apart);
    let owed = state.owed(no) + newly_owed;
    let missing = size.owed.saturating_sub(owed);
    let own = if job.is_queued() { missing } else { 0 };
    let cuts = Cuts::of(state, no, size, owed.saturating_sub(size.owed));
    let gang = job.spec.shape.gang_pods() + count(&join) + own - cuts.of_service;
    let gone = if job.placed().is_some() { cuts.of_service - cuts.stay } else { 0 };
    // The newest extra pods above what is accepted leave.
    let staying = (0..count(extra(job))).filter(|at| !join.contains(at) && !apart.contains(at));
    let (stay, leave) = (cuts.stay, staying.skip(size.extra() as usize).collect());
    let (pods_apart, placed_apart) = (count(&apart), placed(job, &apart));
    let mut events = vec![resized(state, no, now, Resize { join, apart, gone, stay, leave, ..into(job, size, gang) })];
    let mut parts = Parts { state, service: no, now, submitted: 0 };
    if placed_apart.is_some() {
        events.extend(parts.submit(pods_apart, placed_apart)?);
    }
    for (part, less) in cuts.of_parts {
        events.extend(cut(state, part, less, now));
    }
    if missing > own {
        events.extend(parts.wait_for(missing)?);
    }
    Ok(events)
}

/// How many extra pods are owed from now on: as many as are owed more, and of those above what is accepted as many as
/// can take the place of pods that wait.
fn newly_owed(state: &State, no: JobNo, size: Size) -> u32 {
    let extra = count(extra(&state.jobs[no]));
    let has = state.owed(no);
    let waiting = newest_first(state, no).into_iter().filter(|part| !state.jobs[*part].is_running());
    let waiting = waiting.fold(0, |sum, part| sum + state.jobs[part].spec.shape.gang_pods());
    let more = size.owed.saturating_sub(has);
    let instead = extra.saturating_sub(size.extra()).min(size.owed.saturating_sub(has - waiting));
    extra.min(more.max(instead))
}

/// Who gives up how many of the pods that are owed no more.
struct Cuts {
    /// Parts, with how many pods each of them gives up.
    of_parts: Vec<(JobNo, u32)>,
    /// How many the gang of the service gives up.
    of_service: u32,
    /// How many of these stay as extra pods.
    stay: u32,
}

impl Cuts {
    /// Those that wait are the first; then the service, as far as it goes on with them as extra pods; then the newest
    /// part; and last the service, which keeps one pod.
    fn of(state: &State, no: JobNo, size: Size, mut fewer: u32) -> Self {
        let mut cuts = Self { of_parts: Vec::new(), of_service: 0, stay: 0 };
        let (running, waiting): (Vec<JobNo>, Vec<JobNo>) =
            newest_first(state, no).into_iter().partition(|part| state.jobs[*part].is_running());
        let job = &state.jobs[no];
        let spare = job.spec.shape.gang_pods() - 1;
        let of_parts = |cuts: &mut Self, parts: &[JobNo], fewer: &mut u32| {
            for part in parts {
                let less = (*fewer).min(state.jobs[*part].spec.shape.gang_pods());
                *fewer -= less;
                cuts.of_parts.extend((less > 0).then_some((*part, less)));
            }
        };
        of_parts(&mut cuts, &waiting, &mut fewer);
        // What a gang holds by self-level preemption may be above the quota's amount; extra pods may not.
        let is_plain = job.is_running() && job.placed().is_some_and(|placed| placed.source != Source::SelfLevel);
        let room = if is_plain { size.extra().saturating_sub(count(extra(job))) } else { 0 };
        cuts.stay = fewer.min(spare).min(room);
        // A service that does not run waits, too.
        let first = if job.is_running() { cuts.stay } else { fewer.min(spare) };
        fewer -= first;
        of_parts(&mut cuts, &running, &mut fewer);
        cuts.of_service = first + fewer.min(spare - first);
        cuts
    }
}

/// A part gives up pods, or all that it is.
fn cut(state: &State, part: JobNo, less: u32, now: Timestamp) -> Vec<Event> {
    let job = &state.jobs[part];
    let left = job.spec.shape.gang_pods() - less;
    if left == 0 {
        return stop::cancelled(state, &[part], now);
    }
    let gone = if job.placed().is_some() { less } else { 0 };
    vec![resized(state, part, now, Resize { gone, ..into(job, Size::fixed(left), left) })]
}

/// New parts of a service.
struct Parts<'s> {
    state: &'s State,
    service: JobNo,
    now: Timestamp,
    submitted: usize,
}

impl Parts<'_> {
    /// Pods of a service, as a job of the same quota and priority that waits, or runs already.
    fn submit(&mut self, pods: u32, placed: Option<Placed>) -> Result<Vec<Event>, Rejection> {
        let (state, service, at) = (self.state, &self.state.jobs[self.service], self.now);
        let spec = JobSpec {
            id: self.name(&service.spec.id)?,
            shape: into(service, Size::fixed(pods), pods).shape,
            part_of: self.service,
            // It ends with its service.
            duration: None,
            ..service.spec.clone()
        };
        names::within_limit("jobs", state.jobs.len() + self.submitted + 1, limit::JOBS_MAX)?;
        let no = state.jobs.no_after(self.submitted);
        self.submitted += 1;
        let submitted = Event::JobSubmitted { no, at, spec: Box::new(spec) };
        Ok([submitted]
            .into_iter()
            .chain(placed.map(|placed| Event::Started { job: no, at, placed, is_run: false }))
            .collect())
    }

    /// Pods that are missing: they wait with the part that waits already, or as another one.
    fn wait_for(&mut self, pods: u32) -> Result<Vec<Event>, Rejection> {
        let state = self.state;
        let waiting = newest_first(state, self.service).into_iter().find(|part| state.jobs[*part].is_queued());
        let Some(part) = waiting else { return self.submit(pods, None) };
        let job = &state.jobs[part];
        let pods = job.spec.shape.gang_pods() + pods;
        Ok(vec![resized(state, part, self.now, into(job, Size::fixed(pods), pods))])
    }

    /// The next name of this kind that nobody has.
    fn name(&self, service: &JobId) -> Result<JobId, Rejection> {
        // The number with its sign has at most eight bytes: there are no more jobs than that.
        let base = with_room(service.as_str(), 8);
        let names = (1..=limit::JOBS_MAX).filter_map(|number| JobId::new(&format!("{base}+{number}")).ok());
        let mut free = names.filter(|name| self.state.jobs.find(name).is_none());
        free.nth(self.submitted).ok_or_else(|| Rejection::Taken { noun: Noun::Job, name: service.to_string() })
    }
}

/// What the extra pods at these positions hold, as a part of their own.
fn placed(job: &Job, apart: &[u32]) -> Option<Placed> {
    let first = extra(job).get(*apart.first()? as usize)?;
    let Placed { home, .. } = job.placed()?;
    let source = if first.charge == Charge::Idle { Source::Idle } else { Source::Own };
    let pods = apart.iter().filter_map(|at| extra(job).get(*at as usize)?.at).collect();
    Some(Placed { source, charge: first.charge, home: *home, pods })
}

/// What becomes of a service when a part of it is cancelled: it is owed less.
pub(super) fn given_up(state: &State, part: JobNo, now: Timestamp) -> Option<Event> {
    let no = state.jobs[part].spec.part_of;
    let job = state.jobs.get(no)?;
    let (size, pods) = (Size::of(state, no), state.jobs[part].spec.shape.gang_pods());
    let size = Size { owed: size.owed.saturating_sub(pods), accepted: size.accepted.saturating_sub(pods) };
    Some(resized(state, no, now, into(job, size, job.spec.shape.gang_pods())))
}

fn resized(state: &State, job: JobNo, at: Timestamp, resize: Resize) -> Event {
    let takes_time = state.cluster.is_reported() && !resize.vacated(&state.jobs[job].phase).is_empty();
    let until = takes_time.then(|| at + state.grace_period(&state.jobs[job].spec));
    Event::Resized { job, at, resize: Box::new(Resize { until, ..resize }) }
}

/// A gang of so many pods, with what it accepts above; nothing else is changed.
fn into(job: &Job, size: Size, gang: u32) -> Resize {
    let shape = &job.spec.shape;
    let roles = shape.roles().iter().map(|role| Role { count: gang.saturating_add(size.extra()), amount: role.amount });
    let shape = Shape::new(roles.collect(), (size.extra() > 0).then_some(gang)).on(shape.nodes().passing_over(&[]));
    let (join, apart, leave) = (Vec::new(), Vec::new(), Vec::new());
    Resize { shape: Arc::new(shape), owed: size.owed, join, apart, gone: 0, stay: 0, leave, until: None }
}

/// Whether an extra pod and the gang are the same to others: they have one charge, and the gang is not there by a
/// right that is the gang's alone.
fn is_like_gang(job: &Job, pod: &ExtraPod) -> bool {
    job.placed().is_some_and(|placed| placed.charge == pod.charge && placed.source != Source::SelfLevel)
}

/// The pods above its minimum that run.
fn extra(job: &Job) -> &[ExtraPod] {
    if let Phase::Running { extra, .. } = &job.phase { extra } else { &[] }
}

/// The parts of a service, but for those that are on their way out.
fn newest_first(state: &State, no: JobNo) -> Vec<JobNo> {
    let mut parts: Vec<JobNo> = state.parts_of(no).filter(|part| !state.jobs[*part].is_going()).collect();
    sort::by_key(&mut parts, |part| Reverse((state.jobs[*part].submitted, *part)));
    parts
}

fn count<T>(list: &[T]) -> u32 {
    u32::try_from(list.len()).unwrap_or(u32::MAX)
}
