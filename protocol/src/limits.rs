//! How many unfinished jobs there may be at once: of one user, of one workspace, and in the cluster. What may stand in
//! notes beside them is in [`crate::noted`].
//!
//! They protect the memory of the object that holds a cluster, and each user from the others. So they are no part of the
//! rules: the engine knows nothing of them, plans and replays go beyond them, and what is over a limit that was lowered
//! stays. Every way in which a job can come is a command, and each is looked at before it is decided.
//!
//! A job that asks for much counts for several ([`engine::job::weight`]).

use std::collections::BTreeMap;

use engine::job::weight;
use engine::message::command::Command;
use engine::message::command::ResizeJob;
use engine::message::command::SubmitJob;
use engine::message::event::Event;
use engine::message::rejection::Rejection;
use engine::state::jobs::Job;
use engine::state::world::State;
use engine::unit::id::UserId;
use engine::unit::id::WorkspaceId;

/// Of how many users and workspaces it is remembered how many jobs they have.
const REMEMBERED_MAX: usize = 10_000;

/// How many unfinished jobs there may be, and how much may be kept beside them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Of one user.
    pub jobs_of_user: u64,
    /// Of one workspace.
    pub jobs_of_workspace: u64,
    /// In the cluster.
    pub jobs_of_cluster: u64,
    /// What the notes of one user may count for, in bytes ([`crate::note::weight`]).
    pub note_bytes_of_user: u64,
    /// What those of one user may count for in one bucket.
    pub note_bytes_in_bucket: u64,
}

impl Limits {
    /// What there may be if nothing else is said.
    pub const USUAL: Self = Self {
        jobs_of_user: 2_000,
        jobs_of_workspace: 5_000,
        jobs_of_cluster: 10_000,
        note_bytes_of_user: 64 * 1024 * 1024,
        note_bytes_in_bucket: 1024 * 1024,
    };
}

/// Whose jobs are counted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum LimitScope {
    Cluster,
    Workspace(WorkspaceId),
    User(UserId),
}

impl LimitScope {
    /// Everybody whose a job is.
    fn all(user: Option<&UserId>, workspace: Option<&WorkspaceId>) -> impl Iterator<Item = Self> {
        let workspace = workspace.cloned().map(Self::Workspace);
        user.cloned().map(Self::User).into_iter().chain(workspace).chain([Self::Cluster])
    }

    fn has(&self, job: &Job) -> bool {
        match self {
            Self::Cluster => true,
            Self::Workspace(workspace) => job.spec.workspace.as_ref() == Some(workspace),
            Self::User(user) => job.spec.user.as_ref() == Some(user),
        }
    }

    fn limit(&self, limits: &Limits) -> u64 {
        match self {
            Self::Cluster => limits.jobs_of_cluster,
            Self::Workspace(_) => limits.jobs_of_workspace,
            Self::User(_) => limits.jobs_of_user,
        }
    }

    fn rejection(&self, count: u64, limit: u64) -> Rejection {
        let scope = match self {
            Self::Cluster => "in this cluster".to_owned(),
            Self::Workspace(workspace) => format!("of workspace {workspace}"),
            Self::User(user) => format!("of user {user}"),
        };
        let what =
            format!("unfinished jobs {scope} (wait until some have ended, or cancel some; large ones count more)");
        Rejection::Limit { what, count, limit }
    }
}

/// How many jobs somebody had when they were counted, with those that have come since.
#[derive(Clone, Copy, Debug)]
struct Known {
    count: u64,
    /// How many ends there had been.
    ends: u64,
}

/// How many unfinished jobs there are, as far as it is known. Jobs are counted when somebody seems to have too many and
/// some may have ended since: whoever stays below the limits costs a look into a map.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counted {
    known: BTreeMap<LimitScope, Known>,
    /// How many jobs may have ended since the memory was rebuilt.
    ends: u64,
}

impl Counted {
    /// Whether a command brings no more jobs than there may be.
    pub(crate) fn admit(&mut self, state: &State, limits: &Limits, command: &Command) -> Result<(), Rejection> {
        let mut more = BTreeMap::new();
        add(state, command, &mut more);
        for (scope, more) in more {
            let limit = scope.limit(limits);
            let count = self.count(state, &scope, limit.saturating_sub(more)).saturating_add(more);
            if count > limit {
                return Err(scope.rejection(count, limit));
            }
        }
        Ok(())
    }

    /// How many jobs somebody has: exactly, if it is more than enough to ask for.
    fn count(&mut self, state: &State, scope: &LimitScope, enough: u64) -> u64 {
        let known = self.known.get(scope).filter(|known| known.count <= enough || known.ends == self.ends);
        if let Some(known) = known {
            return known.count;
        }
        let jobs = state.jobs.iter().filter(|(_, job)| !job.is_ended() && scope.has(job));
        let count = jobs.map(|(_, job)| weight::of(&job.spec)).sum();
        if self.known.len() >= REMEMBERED_MAX {
            self.known.clear();
        }
        self.known.insert(scope.clone(), Known { count, ends: self.ends });
        count
    }

    /// Takes into account what has happened.
    pub(crate) fn follow(&mut self, events: &[Event]) {
        for event in events {
            if let Event::JobSubmitted { spec, .. } = event {
                for scope in LimitScope::all(spec.user.as_ref(), spec.workspace.as_ref()) {
                    if let Some(known) = self.known.get_mut(&scope) {
                        known.count = known.count.saturating_add(weight::of(spec));
                    }
                }
            } else if matches!(event, Event::Ended { .. } | Event::Stopped { .. }) {
                self.ends += 1;
            }
        }
    }
}

/// What all unfinished jobs count for.
pub(crate) fn weight_of_all(state: &State) -> u64 {
    state.jobs.iter().filter(|(_, job)| !job.is_ended()).map(|(_, job)| weight::of(&job.spec)).sum()
}

/// The jobs that a command brings, by whose they are.
fn add(state: &State, command: &Command, more: &mut BTreeMap<LimitScope, u64>) {
    if let Command::SubmitJob(command) = command {
        // Who submits it a second time brings none.
        if state.jobs.find(&command.job).is_none() {
            note(more, command.user.as_ref(), command.workspace.as_ref(), weight_of(command));
        }
    } else if let Command::ResizeJob(ResizeJob { job, pods, min_pods }) = command {
        let Some(no) = state.jobs.find(job) else { return };
        let (spec, is_queued) = (&state.jobs[no].spec, state.jobs[no].is_queued());
        // The missing pods of a service that runs may be a job of their own.
        if !is_queued && min_pods.unwrap_or(*pods) > state.owed(no) {
            note(more, spec.user.as_ref(), spec.workspace.as_ref(), weight::of(spec));
        }
    } else if let Command::ApplyPlan(plan) = command {
        for command in &plan.commands {
            add(state, command, more);
        }
    }
}

fn note(more: &mut BTreeMap<LimitScope, u64>, user: Option<&UserId>, workspace: Option<&WorkspaceId>, weight: u64) {
    for scope in LimitScope::all(user, workspace) {
        *more.entry(scope).or_default() += weight;
    }
}

/// What a job counts for that is about to come.
fn weight_of(command: &SubmitJob) -> u64 {
    let SubmitJob { job, workspace, user, name, pods, nodes, .. } = command;
    let [workspace, user] = [workspace.as_ref().map(WorkspaceId::as_str), user.as_ref().map(UserId::as_str)];
    let texts = [workspace, user, name.as_deref(), nodes.gpu_type.as_deref()];
    weight::of_parts(job, texts, pods.len(), nodes.only.len() + nodes.without.len())
}
