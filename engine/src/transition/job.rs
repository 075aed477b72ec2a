//! Submitting, cancelling and re-prioritising jobs.

use std::fmt::Display;
use std::sync::Arc;

use crate::job::nodes::NodeChoice;
use crate::job::shape::Role;
use crate::job::shape::Shape;
use crate::job::spec::IdlePolicy;
use crate::job::spec::JobSpec;
use crate::message::command::CancelJob;
use crate::message::command::NodesByName;
use crate::message::command::PodGroup;
use crate::message::command::SetPriority;
use crate::message::command::SubmitJob;
use crate::message::event::Event;
use crate::message::rejection::Noun;
use crate::message::rejection::Rejection;
use crate::state::world::State;
use crate::transition::bid;
use crate::transition::names;
use crate::transition::resize;
use crate::transition::stop;
use crate::transition::workspace;
use crate::unit::amount::Amount;
use crate::unit::amount::GPU;
use crate::unit::id::JobNo;
use crate::unit::id::NodeId;
use crate::unit::id::NodeNo;
use crate::unit::id::QuotaNo;
use crate::unit::limit;
use crate::unit::priority::Module;
use crate::unit::sort;
use crate::unit::time::Period;
use crate::unit::time::Timestamp;

pub(super) fn submit(state: &State, command: &SubmitJob, now: Timestamp) -> Result<Vec<Event>, Rejection> {
    let spec = spec(state, command)?;
    if let Some(no) = state.jobs.find(&spec.id) {
        let job = &state.jobs[no];
        let passed_over = &job.spec.shape.nodes().passed_over;
        let shape = Shape::clone(&spec.shape).on(spec.shape.nodes().passing_over(passed_over));
        let asked = JobSpec { priority: job.spec.priority, shape: Arc::new(shape), ..spec.clone() };
        let is_same = asked == job.spec;
        return if is_same {
            Ok(Vec::new())
        } else {
            Err(Rejection::Taken { noun: Noun::Job, name: spec.id.to_string() })
        };
    }
    names::within_limit("jobs", state.jobs.len() + 1, limit::JOBS_MAX)?;
    Ok(vec![Event::JobSubmitted { no: state.jobs.next_no(), at: now, spec: Box::new(spec) }])
}

fn spec(state: &State, command: &SubmitJob) -> Result<JobSpec, Rejection> {
    let SubmitJob {
        job,
        quota,
        spot,
        workspace,
        user,
        name,
        module,
        priority,
        pods,
        min_pods,
        nodes,
        idle,
        fault_tolerance,
        duration_ms,
        checkpoint_ms,
    } = command;
    let what = format_args!("job {job}");
    if job.is_elsewhere() {
        return Err(Rejection::Structure {
            reason: format!("{what} has a name that stands for jobs of other workspaces; choose another one"),
        });
    }
    if *module == Module::Eas && *idle == IdlePolicy::Only {
        return Err(Rejection::Structure {
            reason: format!("{what} is an inference service; services do not run on idle amounts only"),
        });
    }
    for (period, name) in [(duration_ms, "duration"), (checkpoint_ms, "checkpoint interval")] {
        if let Some(period) = period {
            names::in_range(format_args!("the {name} of {what} in milliseconds"), period.0, 1, limit::PERIOD_MS_MAX)?;
        }
    }
    if let Some(text) = name {
        names::within_limit(format_args!("bytes in the name of {what}"), text.len(), limit::TEXT_BYTES_MAX)?;
    }
    if spot.is_some() && state.cluster.is_reported() {
        return Err(Rejection::Structure {
            reason: format!(
                "{what} has a bid, and jobs of this cluster really run; instances of the spot market have no nodes to run on"
            ),
        });
    }
    let spot = spot.as_ref().map(|request| bid::bid(state, command, request)).transpose()?;
    let quota = match (quota, &spot) {
        (Some(quota), _) => names::quota(state, quota)?,
        (None, Some(_)) => QuotaNo::NONE,
        (None, None) => return Err(Rejection::NoSource { job: job.to_string() }),
    };
    if let Some(workspace) = workspace {
        workspace::check_submission(state, workspace, quota)?;
    }
    let instance = spot.as_ref().map(|spot| &state.market.offers[spot.offer.at()].instance);
    let shape = shape(state, what, pods, *min_pods, instance)?.on(chosen(state, what, nodes, spot.is_some())?);
    if let (Some(request), Some(instance)) = (&command.spot, instance) {
        bid::check_pods(state, command, request, instance, &shape)?;
    }
    if shape.gang_amount().is_zero() {
        return Err(Rejection::EmptyJob { job: job.to_string() });
    }
    Ok(JobSpec {
        id: job.clone(),
        quota,
        workspace: workspace.clone(),
        user: user.clone(),
        name: name.clone(),
        module: *module,
        priority: *priority,
        shape: Arc::new(shape),
        idle: *idle,
        fault_tolerance: *fault_tolerance,
        duration: duration_ms.and_then(Period::new),
        checkpoint: checkpoint_ms.and_then(Period::new),
        spot: spot.map(Box::new),
        part_of: JobNo::NONE,
    })
}

/// The nodes that a job may run on (rules 1.4). Instances of the spot market are not nodes.
fn chosen(state: &State, what: impl Display, nodes: &NodesByName, bids: bool) -> Result<NodeChoice, Rejection> {
    if bids && !nodes.is_any() {
        return Err(Rejection::Structure { reason: format!("{what} has a bid; instances cannot be chosen by node") });
    }
    let NodesByName { gpu_type, only, without } = nodes;
    if let Some(text) = gpu_type {
        names::within_limit(format_args!("bytes in the GPU type of {what}"), text.len(), limit::TEXT_BYTES_MAX)?;
    }
    let sorted = |ids: &[NodeId]| {
        names::within_limit(format_args!("nodes that {what} names"), ids.len(), limit::NODES_MAX)?;
        let mut numbers = ids.iter().map(|id| names::node(state, id)).collect::<Result<Vec<NodeNo>, Rejection>>()?;
        sort::by_key(&mut numbers, |no| *no);
        numbers.dedup();
        Ok::<_, Rejection>(numbers)
    };
    Ok(NodeChoice {
        gpu_type: gpu_type.clone(),
        only: sorted(only)?,
        without: sorted(without)?,
        passed_over: Vec::new(),
    })
}

/// The pods; with an instance of the spot market, an empty amount stands for all of it.
fn shape(
    state: &State,
    what: impl Display,
    pods: &[PodGroup],
    min_pods: Option<u32>,
    instance: Option<&Amount>,
) -> Result<Shape, Rejection> {
    names::within_limit(format_args!("kinds of pods of {what}"), pods.len(), limit::ROLES_MAX)?;
    let total: i64 = pods.iter().map(|group| i64::from(group.count)).sum();
    names::in_range(format_args!("the number of pods of {what}"), total, 1, i64::from(limit::PODS_MAX))?;
    let mut roles = Vec::with_capacity(pods.len());
    for PodGroup { count, amount } in pods {
        names::in_range(
            format_args!("the number of pods of one kind of {what}"),
            i64::from(*count),
            1,
            i64::from(limit::PODS_MAX),
        )?;
        let amount = match instance {
            Some(instance) if amount.is_empty() => *instance,
            Some(_) | None => names::amount(state, format_args!("a pod of {what}"), amount)?,
        };
        let mut gpus = state.cluster.gpu_dimensions().filter(|&at| amount[at] > 0);
        let leading = gpus.next();
        if gpus.next().is_some() {
            return Err(Rejection::Structure {
                reason: format!("a pod of {what} asks for GPUs of two types; ask for one type in each kind of pods"),
            });
        }
        if let Some(at) = leading.filter(|&at| amount[at] > GPU && amount[at] % GPU != 0) {
            let asked = amount[at];
            return Err(Rejection::Structure {
                reason: format!(
                    "a pod of {what} asks for {asked} thousandths of a GPU; above one GPU it must be whole GPUs"
                ),
            });
        }
        roles.push(Role { count: *count, amount });
    }
    if let Some(min_pods) = min_pods {
        if roles.len() > 1 {
            return Err(Rejection::Structure {
                reason: format!("{what} is elastic and has {} kinds of pods; an elastic job has one", roles.len()),
            });
        }
        names::in_range(format_args!("the minimum number of pods of {what}"), i64::from(min_pods), 1, total)?;
    }
    Ok(Shape::new(roles, min_pods.filter(|min| i64::from(*min) < total)))
}

pub(super) fn cancel(state: &State, command: &CancelJob, now: Timestamp) -> Result<Vec<Event>, Rejection> {
    let no = names::job(state, &command.job)?;
    if state.jobs[no].is_ended() || stop::is_cancelled(&state.jobs[no]) {
        return Ok(Vec::new());
    }
    let gone: Vec<JobNo> = [no].into_iter().chain(state.parts_of(no)).collect();
    let mut events = stop::cancelled(state, &gone, now);
    events.extend(resize::given_up(state, no, now));
    Ok(events)
}

pub(super) fn set_priority(state: &State, command: &SetPriority, now: Timestamp) -> Result<Vec<Event>, Rejection> {
    let no = names::job(state, &command.job)?;
    let job = &state.jobs[no];
    if job.is_ended() {
        let reason = "has ended; its priority cannot be changed".to_owned();
        return Err(Rejection::NotNow { noun: Noun::Job, name: command.job.to_string(), reason });
    }
    if let Some(service) = state.jobs.get(job.spec.part_of) {
        let service = &service.spec.id;
        let reason = format!("is a part of service {service} and has its priority; change that of {service}");
        return Err(Rejection::NotNow { noun: Noun::Job, name: command.job.to_string(), reason });
    }
    if job.spec.priority == command.priority {
        return Ok(Vec::new());
    }
    let members = [no].into_iter().chain(state.parts_of(no));
    Ok(members.map(|job| Event::PriorityChanged { job, at: now, priority: command.priority }).collect())
}
