//! The job submitted differently: with idle resources, with fewer pods, or with smaller ones.

use crate::explain::help::Help;
use crate::explain::tip::Proposal;
use crate::explain::tip::Search;
use crate::explain::tip::submission;
use crate::explain::tip::submission::pods;
use crate::explain::words::amount as amount_words;
use crate::explain::words::count;
use crate::job::hold::Blocker;
use crate::job::phase::Source;
use crate::job::shape::Role;
use crate::job::spec::IdlePolicy;
use crate::message::command::Command;
use crate::message::command::ResizeJob;
use crate::message::command::SubmitJob;
use crate::state::world::State;
use crate::unit::amount::GPU;
use crate::unit::ordered::Set;

/// The job as it is, but allowed to use idle resources.
pub(super) fn idle(search: &mut Search<'_>) -> Option<Help> {
    if search.spec().idle == IdlePolicy::Acceptable {
        return None;
    }
    let submission = SubmitJob { idle: IdlePolicy::Acceptable, ..submission(search.state, search.no)? };
    let words = "Submit it with idle resources \"Acceptable\"".to_owned();
    search.try_out(Proposal::resubmit(words, submission), |source| match source {
        Source::Idle => ": enough is idle.",
        Source::Own | Source::Reclaim | Source::ChildLevel | Source::SelfLevel | Source::Spot => {
            ": that would start now."
        }
    })
}

fn starts_now(_: Source) -> &'static str {
    ": that would start now."
}

/// The job with fewer pods of one kind; of an elastic job, with a smaller minimum.
pub(in crate::explain) fn fewer_pods(search: &mut Search<'_>) -> Option<Help> {
    if search.state.is_in_parts(search.no) {
        return smaller_service(search);
    }
    let shape = &search.spec().shape;
    if let (Some(min_pods), [role]) = (shape.min_pods(), shape.roles()) {
        let fewer = candidates(search, u64::from(min_pods), role);
        return fewer.into_iter().find_map(|fewer| {
            let submission = SubmitJob { min_pods: u32::try_from(fewer).ok(), ..submission(search.state, search.no)? };
            let words = format!("Ask for at least {} instead of {min_pods}", count(fewer, "pod", "pods"));
            search.try_out(Proposal::resubmit(words, submission), starts_now)
        });
    }
    let smaller = |role: &Role, fewer: u64| Some(Role { count: u32::try_from(fewer).ok()?, ..role.clone() });
    each_role(search, |role| u64::from(role.count), smaller)
}

/// A service in parts, with fewer pods: those that wait are the first that it gives up.
fn smaller_service(search: &mut Search<'_>) -> Option<Help> {
    let state = search.state;
    let service = state.service_of(search.no);
    let (job, above) = (&state.jobs[service].spec.id, state.jobs[service].spec.shape.extra_pods());
    let role = search.spec().shape.only_role()?;
    let owed = state.owed(service);
    candidates(search, u64::from(role.count), &role).into_iter().find_map(|left| {
        let fewer = owed - role.count + u32::try_from(left).ok()?;
        let (pods, min_pods) = (fewer.saturating_add(above), (above > 0).then_some(fewer));
        let command = Command::ResizeJob(ResizeJob { job: job.clone(), pods, min_pods });
        let least = if above > 0 { "at least " } else { "" };
        let words = format!("Give {job} {least}{} instead of {owed}", count(u64::from(fewer), "pod", "pods"));
        search.try_out(Proposal::send(words, command), |_| ": then these would start now.")
    })
}

/// The job with fewer GPUs in each pod of one kind.
pub(super) fn fewer_gpus(search: &mut Search<'_>) -> Option<Help> {
    let cluster = &search.state.cluster;
    let gpus = |role: &Role| {
        let at = cluster.gpu_dimension(&role.amount)?;
        u64::try_from(role.amount[at] / GPU).ok()
    };
    let smaller = |role: &Role, fewer: u64| {
        let mut role = role.clone();
        let at = cluster.gpu_dimension(&role.amount)?;
        role.amount[at] = i64::try_from(fewer).ok()?.saturating_mul(GPU);
        Some(role)
    };
    each_role(search, |role| gpus(role).unwrap_or(0), smaller)
}

/// The job with less of something in one of its roles, as much as possible.
fn each_role(
    search: &mut Search<'_>,
    has: impl Fn(&Role) -> u64,
    smaller: impl Fn(&Role, u64) -> Option<Role>,
) -> Option<Help> {
    let (state, shape) = (search.state, &search.spec().shape);
    for (at, role) in shape.roles().iter().enumerate() {
        for fewer in candidates(search, has(role), role) {
            let Some(changed) = smaller(role, fewer) else { continue };
            let mut submission = submission(state, search.no)?;
            submission.pods[at] = pods(state, &changed);
            let roles: Vec<&Role> = shape
                .roles()
                .iter()
                .enumerate()
                .map(|(other, role)| if other == at { &changed } else { role })
                .collect();
            let words = if search.spec().spot.is_some() { instances(&roles) } else { words(state, &roles) };
            let proposal = Proposal::resubmit(words, submission);
            if let Some(help) = search.try_out(proposal, starts_now) {
                return Some(help);
            }
        }
    }
    None
}

/// `Ask for 2 instances`: each pod of a bid takes one.
fn instances(roles: &[&Role]) -> String {
    let all = roles.iter().map(|role| u64::from(role.count)).sum();
    format!("Ask for {}", count(all, "instance", "instances"))
}

/// `Ask for 4 GPUs in all (2 pods of 2 GPUs)`.
fn words(state: &State, roles: &[&Role]) -> String {
    let sum =
        roles.iter().fold(crate::unit::amount::Amount::ZERO, |sum, role| sum.plus(&role.amount.times(role.count)));
    let kinds: Vec<String> = roles
        .iter()
        .map(|role| format!("{} of {}", count(u64::from(role.count), "pod", "pods"), amount_words(state, &role.amount)))
        .collect();
    format!("Ask for {} in all ({})", amount_words(state, &sum), kinds.join(" and "))
}

/// Smaller numbers that are tried, the largest first: all of them where there are few; otherwise those at which the
/// reasons hint, and some of the whole range.
fn candidates(search: &Search<'_>, has: u64, role: &Role) -> Vec<u64> {
    let all: Vec<u64> = (1..has).rev().collect();
    let spread = search.within_share(all.clone());
    if spread.len() == all.len() {
        return all;
    }
    let hinted = hints(search, role).into_iter().filter(|hint| (1..has).contains(hint));
    let both: Set<u64> = spread.into_iter().chain(hinted).collect();
    let mut both: Vec<u64> = both.into_iter().collect();
    both.reverse();
    both
}

/// How many pods of a kind the free amounts have room for, as far as the job's reasons tell.
fn hints(search: &Search<'_>, role: &Role) -> Vec<u64> {
    let Some(hold) = crate::explain::hold(search.state, search.no, search.now) else { return Vec::new() };
    let each = |dimension: u8| role.amount[usize::from(dimension)].max(1);
    let hint = |blocker: &Blocker| {
        if let Blocker::NoRoom { fit, .. } | Blocker::LargerThanNodes { fit, .. } = blocker {
            return Some(u64::from(*fit));
        }
        if let Blocker::VictimsTooFew { dimension, missing, could_free, .. } = blocker {
            let (each, short) = (each(*dimension), (missing - could_free).max(0));
            return u64::try_from(i64::from(role.count) - (short + each - 1) / each).ok();
        }
        if let Blocker::QuotaFull { dimension, free, .. }
        | Blocker::IdleShort { dimension, idle: free, .. }
        | Blocker::LargerThanQuota { dimension, min: free, .. } = blocker
        {
            return u64::try_from(free / each(*dimension)).ok();
        }
        None
    };
    hold.attempts.iter().filter_map(|attempt| hint(&attempt.blocker)).collect()
}
