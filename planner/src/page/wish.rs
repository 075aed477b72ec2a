//! A goal and what may be changed for it, as they are typed.

use engine::host::plan::goal::Goal;
use engine::host::plan::search::Family;
use engine::unit::amount::DimensionKind;
use engine::unit::amount::GPU;
use engine::unit::id::JobId;
use engine::unit::id::QuotaId;

use console_model::duration;

use fields::facts::Facts;

/// The steps of an amount that are tried reach from nothing to everything.
const MEMBERS: i64 = 64;

/// What is typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wish {
    /// `starts` or `waits`.
    pub goal: String,
    /// The job that should start.
    pub job: String,
    /// The quota in which nobody should wait.
    pub quota: String,
    /// Within which time.
    pub within: String,
    /// `amount` or `priority`.
    pub means: String,
    /// The quota that may get more.
    pub gets: String,
    /// Its sibling that gives.
    pub gives: String,
}

impl Wish {
    /// The first one that makes sense.
    #[must_use]
    pub fn of(facts: &Facts) -> Self {
        let quota = facts.quotas.iter().find(|quota| quota.parent.is_some()).or_else(|| facts.quotas.first());
        let quota = quota.map(|quota| quota.quota.to_string()).unwrap_or_default();
        Self {
            goal: "starts".to_owned(),
            job: facts.jobs.iter().find(|job| job.waits).map(|job| job.job.to_string()).unwrap_or_default(),
            quota: quota.clone(),
            within: "2h".to_owned(),
            means: "amount".to_owned(),
            gives: facts.siblings(&quota).into_iter().next().unwrap_or_default(),
            gets: quota,
        }
    }

    /// As a question.
    ///
    /// # Errors
    /// What is missing or wrong.
    pub fn ask(&self, facts: &Facts) -> Result<(Goal, Family), String> {
        let within = duration::parse(&self.within)?.ok_or("say within which time, such as 2h")?;
        let job = || JobId::new(self.job.trim()).map_err(|bad| format!("name a job: {bad}"));
        let quota = |name: &str| QuotaId::new(name).map_err(|bad| format!("choose a quota: {bad}"));
        let goal = match self.goal.as_str() {
            "starts" => Goal::StartsBy { job: job()?, by: facts.from + within },
            _ => Goal::WaitsAtMost { quota: quota(&self.quota)?, at_most: within },
        };
        if self.means == "priority" {
            return Ok((goal, Family::Priority { job: job()? }));
        }
        let gets = quota(&self.gets)?;
        let from = if self.gives.is_empty() { None } else { Some(quota(&self.gives)?) };
        let gpus = facts.dimensions.iter().find(|known| known.kind == DimensionKind::Gpu);
        let dimension = gpus.ok_or("this cluster has no GPUs")?.name.clone();
        let parent = facts.quota(&gets).and_then(|known| known.parent.clone());
        let at_most = match (&from, parent) {
            (Some(from), _) => facts.min(from, &dimension),
            (None, Some(parent)) => facts.min(&parent, &dimension),
            (None, None) => facts.min(&gets, &dimension),
        };
        if at_most < GPU {
            let giver = from.as_ref().map_or("its parent", QuotaId::as_str);
            return Err(format!("{giver} has no whole GPU that {gets} could get; choose somebody else who gives"));
        }
        // Whole GPUs, and not more steps than can be waited for.
        let step = (at_most / MEMBERS / GPU).max(1) * GPU;
        Ok((goal, Family::Amount { quota: gets, from, dimension, step, at_most }))
    }
}
