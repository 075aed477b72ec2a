//! Which jobs the table shows, and in which order.

use std::cmp::Reverse;

use engine::ledger::is_within;
use engine::state::jobs::Job;
use engine::state::world::State;
use engine::unit::id::JobNo;
use engine::unit::id::QuotaId;
use engine::unit::id::QuotaNo;
use engine::unit::priority::Module;
use engine::unit::sort;

use crate::job_state::JobState;

/// By what jobs are ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JobSort {
    /// The latest submission first.
    #[default]
    Newest,
    /// The earliest submission first.
    Oldest,
    /// By name.
    Name,
    /// The most important first.
    Priority,
    /// The largest first.
    Gpus,
    /// By state.
    State,
}

impl JobSort {
    /// All orders.
    pub const ALL: [Self; 6] = [Self::Newest, Self::Oldest, Self::Name, Self::Priority, Self::Gpus, Self::State];

    /// In the URL.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Newest => "newest",
            Self::Oldest => "oldest",
            Self::Name => "name",
            Self::Priority => "priority",
            Self::Gpus => "gpus",
            Self::State => "state",
        }
    }

    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Newest => "Newest first",
            Self::Oldest => "Oldest first",
            Self::Name => "Name",
            Self::Priority => "Priority",
            Self::Gpus => "GPUs",
            Self::State => "State",
        }
    }

    /// From the URL.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        Self::ALL.into_iter().find(|sort| sort.as_str() == text).unwrap_or_default()
    }
}

/// What the person has chosen to see.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobFilter {
    /// Part of the job's name, workspace or user.
    pub search: String,
    /// Jobs of this quota and those below it.
    pub quota: String,
    /// Jobs in this state.
    pub state: Option<JobState>,
    /// Jobs of this module.
    pub module: Option<Module>,
    /// The order.
    pub sort: JobSort,
}

/// The jobs to show, in order.
#[must_use]
pub fn select(state: &State, filter: &JobFilter) -> Vec<JobNo> {
    let search = filter.search.trim().to_lowercase();
    let quota = match filter.quota.as_str() {
        "" => None,
        name => match QuotaId::new(name).ok().and_then(|id| state.quota_no(&id)) {
            Some(no) => Some(no),
            None => return Vec::new(),
        },
    };
    let mut found: Vec<(JobNo, &Job)> =
        state.jobs.iter().filter(|(_, job)| matches(state, job, filter, &search, quota)).collect();
    match filter.sort {
        JobSort::Newest => sort::by_key(&mut found, |(no, job)| (Reverse(job.submitted), Reverse(*no))),
        JobSort::Oldest => sort::by_key(&mut found, |(no, job)| (job.submitted, *no)),
        JobSort::Name => sort::by(&mut found, |a, b| a.1.spec.id.cmp(&b.1.spec.id)),
        JobSort::Priority => sort::by_key(&mut found, |(no, job)| (Reverse(job.spec.priority), *no)),
        JobSort::Gpus => {
            sort::by_key(&mut found, |(no, job)| (Reverse(state.cluster.gpus(&job.spec.shape.gang_amount())), *no));
        }
        JobSort::State => sort::by_key(&mut found, |(no, job)| (JobState::of(job), *no)),
    }
    found.into_iter().map(|(no, _)| no).collect()
}

fn matches(state: &State, job: &Job, filter: &JobFilter, search: &str, quota: Option<QuotaNo>) -> bool {
    // Of a job of another workspace there is nothing to show but its amount, which the quotas' pages do.
    !job.spec.id.is_elsewhere()
        && filter.module.is_none_or(|module| job.spec.module == module)
        && filter.state.is_none_or(|wanted| JobState::of(job) == wanted)
        && quota.is_none_or(|ancestor| is_within(&state.quotas, job.spec.quota, ancestor))
        && (search.is_empty() || names(job).any(|name| name.to_lowercase().contains(search)))
}

fn names(job: &Job) -> impl Iterator<Item = &str> {
    let spec = &job.spec;
    std::iter::once(spec.id.as_str())
        .chain(spec.name.as_deref())
        .chain(spec.workspace.as_ref().map(engine::unit::id::WorkspaceId::as_str))
        .chain(spec.user.as_ref().map(engine::unit::id::UserId::as_str))
}

/// A module by its abbreviation.
#[must_use]
pub fn module(text: &str) -> Option<Module> {
    Module::ALL.into_iter().find(|module| module.as_str().eq_ignore_ascii_case(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::three_teams;

    fn found(filter: &JobFilter) -> Vec<String> {
        let state = three_teams();
        select(&state, filter).into_iter().map(|no| state.jobs[no].spec.id.to_string()).collect()
    }

    #[test]
    fn nothing_chosen_shows_everything_the_newest_first() {
        let found = found(&JobFilter::default());
        assert_eq!((found.len(), found[0].as_str()), (8, "development-e"));
    }

    #[test]
    fn a_quota_stands_for_those_below_it() {
        let of_quota = |quota: &str| found(&JobFilter { quota: quota.to_owned(), ..JobFilter::default() }).len();
        assert_eq!((of_quota("Quota1"), of_quota("Quota1.1"), of_quota("nowhere")), (8, 3, 0));
    }

    #[test]
    fn words_match_names_and_workspaces() {
        let of_words = |search: &str| found(&JobFilter { search: search.to_owned(), ..JobFilter::default() }).len();
        assert_eq!((of_words("TRAINING"), of_words("workspace-c"), of_words("x")), (3, 5, 0));
    }

    #[test]
    fn filters_add_up() {
        let filter = JobFilter { module: Some(Module::Dlc), state: Some(JobState::Queued), ..JobFilter::default() };
        assert_eq!(found(&filter), Vec::<String>::new());
    }

    #[test]
    fn importance_sorts_before_age() {
        let filter = JobFilter { sort: JobSort::Priority, ..JobFilter::default() };
        assert_eq!(found(&filter)[0], "training-a");
    }
}
