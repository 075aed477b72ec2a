//! What a command would do, ready to be shown. The decision and its sentences are the engine's.

use engine::explain;
use engine::explain::Cost;
use engine::explain::Turn;
use engine::host::planner;
use engine::message::command::ApplyPlan;
use engine::message::command::CancelJob;
use engine::message::command::Command;
use engine::message::command::SubmitJob;
use engine::message::rejection::Rejection;
use engine::state::world::State;
use engine::unit::id::JobId;
use engine::unit::time::Timestamp;

use crate::explained;

mod stopped;

/// What it comes to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Verdict {
    /// The form is not complete.
    #[default]
    Unfinished,
    /// It would be refused.
    Refused,
    /// The job starts at once and nobody is evicted.
    Starts,
    /// The job starts in the place of so many others.
    Evicts(usize),
    /// The job waits.
    Waits,
    /// A change that evicts so many jobs, starts so many, and has so many consequences in all.
    Changes(usize, usize, usize),
    /// A change of quotas that moves no job.
    Quiet,
}

impl Verdict {
    /// In words.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Unfinished => "The form is not complete".to_owned(),
            Self::Refused => "Would be refused".to_owned(),
            Self::Starts => "Starts at once".to_owned(),
            Self::Evicts(n_jobs) => format!("Starts, and evicts {}", jobs(*n_jobs)),
            Self::Waits => "Waits".to_owned(),
            Self::Changes(0, 0, 1) => "Has 1 consequence".to_owned(),
            Self::Changes(0, 0, n_lines) => format!("Has {n_lines} consequences"),
            Self::Changes(0, n_started, _) => format!("Starts {}, and evicts nobody", jobs(*n_started)),
            Self::Changes(n_evicted, 0, _) => format!("Evicts {}, and starts nobody", jobs(*n_evicted)),
            Self::Changes(n_evicted, n_started, _) => {
                format!("Evicts {}, and starts {}", jobs(*n_evicted), jobs(*n_started))
            }
            Self::Quiet => "Moves no job".to_owned(),
        }
    }

    /// For the stylesheet.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Unfinished => "unfinished",
            Self::Refused => "refused",
            Self::Starts | Self::Quiet => "good",
            Self::Evicts(_) | Self::Changes(..) => "costly",
            Self::Waits => "waits",
        }
    }

    /// A mark beside the words.
    #[must_use]
    pub fn mark(&self) -> &'static str {
        match self {
            Self::Unfinished => "·",
            Self::Refused => "✕",
            Self::Starts | Self::Quiet => "✓",
            Self::Evicts(_) | Self::Changes(..) => "!",
            Self::Waits => "…",
        }
    }
}

/// A sentence about a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The job that it leads to.
    pub job: Option<String>,
    /// The sentence.
    pub text: String,
}

/// The titles of what stands in a preview: of who is evicted.
pub const VICTIMS: &str = "Would be evicted";
/// Of who would start.
pub const STARTERS: &str = "Would start";
/// Of what else would happen.
pub const OTHERS: &str = "Other consequences";
/// Of what would start a job that waits.
pub const HELP: &str = "What would start it now";

/// What a command would do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preview {
    /// What it comes to.
    pub verdict: Verdict,
    /// Why.
    pub reason: Option<String>,
    /// Who would be evicted.
    pub victims: Vec<Line>,
    /// Who else would start.
    pub starters: Vec<Line>,
    /// What else would happen.
    pub others: Vec<Line>,
    /// What would start a job that waits.
    pub help: Option<String>,
    /// When it would start by itself.
    pub estimate: Option<String>,
    /// Of a bid: how often it would have done.
    pub past: Option<String>,
    /// Of a job on idle resources: that it ends for good when they are taken back.
    pub for_good: Option<&'static str>,
    /// What it takes from jobs.
    pub cost: Cost,
}

impl Preview {
    /// What is wrong with a form that makes no command yet.
    #[must_use]
    pub fn unfinished(fault: Option<String>) -> Self {
        Self { verdict: Verdict::Unfinished, reason: fault, ..Self::default() }
    }

    /// That one may not do it, and why.
    #[must_use]
    pub fn denied(reason: &str) -> Self {
        Self { verdict: Verdict::Refused, reason: Some(explained::sentence(reason)), ..Self::default() }
    }

    /// Whether nothing that would happen to running jobs is missing in an earlier look.
    #[must_use]
    pub fn is_within(&self, seen: &Self) -> bool {
        let is_seen = |line: &Line| seen.victims.iter().any(|other| other.job == line.job);
        self.victims.len() <= seen.victims.len()
            && self.cost.ended <= seen.cost.ended
            && self.victims.iter().all(is_seen)
    }
}

/// What submitting a job would do.
#[must_use]
pub fn of_job(state: &State, submit: &SubmitJob, now: Timestamp) -> Preview {
    let preview = match planner::preview(state, &Command::SubmitJob(submit.clone()), now) {
        Ok(preview) => preview,
        Err(rejection) => return refused(&rejection),
    };
    let Some(no) = preview.after.jobs.find(&submit.job) else { return Preview::default() };
    let (own, mut shown) = consequences(state, &preview, Some(&submit.job), now);
    if let Some(why) = explained::why(&preview.after, no, now) {
        shown.verdict = Verdict::Waits;
        shown.reason = Some(why.binding);
        shown.help = why.help;
        shown.estimate = why.estimate;
    } else {
        shown.verdict = if shown.victims.is_empty() { Verdict::Starts } else { Verdict::Evicts(shown.victims.len()) };
        shown.reason = own.into_iter().next_back();
    }
    shown.for_good = explain::for_good(&preview.after, no);
    let is_told = |past: &String| shown.reason.as_ref().is_some_and(|reason| reason.contains(past.as_str()));
    shown.past = explain::past_of_bid(&preview.after, no, now).filter(|past| !is_told(past));
    shown
}

/// What changing quotas would do.
#[must_use]
pub fn of_change(state: &State, command: &Command, now: Timestamp) -> Preview {
    match planner::preview(state, command, now) {
        Ok(preview) => {
            let preview = stopped::followed(preview, now);
            let (_, mut shown) = consequences(state, &preview, None, now);
            let (n_evicted, n_started) = (shown.victims.len(), shown.starters.len());
            let n_lines = n_evicted + n_started + shown.others.len();
            shown.verdict = if n_lines == 0 { Verdict::Quiet } else { Verdict::Changes(n_evicted, n_started, n_lines) };
            shown
        }
        Err(rejection) => refused(&rejection),
    }
}

/// What cancelling jobs would cost, in sentences; empty where it costs nothing.
#[must_use]
pub fn of_cancelling(state: &State, jobs: &[JobId], now: Timestamp) -> String {
    let cancel = |job: &JobId| Command::CancelJob(CancelJob { job: job.clone() });
    let commands = jobs.iter().map(cancel).collect();
    let Cost { evicted, shrunk, ended: _, lost_gpu_ms } =
        of_change(state, &Command::ApplyPlan(ApplyPlan { commands }), now).cost;
    let lost = Cost { lost_gpu_ms, ..Cost::default() }.lost();
    let others = Cost { evicted, shrunk, ..Cost::default() };
    let taken = (!others.is_nothing()).then(|| format!("It would {}.", others.taken().join(", ")));
    lost.into_iter().chain(taken).collect::<Vec<_>>().join(" ")
}

fn jobs(count: usize) -> String {
    if count == 1 { "1 job".to_owned() } else { format!("{count} jobs") }
}

fn refused(rejection: &Rejection) -> Preview {
    Preview::denied(&rejection.to_string())
}

/// What happens to the job in question, and what happens to others.
fn consequences(
    before: &State,
    preview: &planner::Preview,
    about: Option<&JobId>,
    now: Timestamp,
) -> (Vec<String>, Preview) {
    let mut own = Vec::new();
    let mut shown = Preview { cost: Cost::of(before, &preview.events, now), ..Preview::default() };
    for consequence in explain::consequences(&preview.after, &preview.events) {
        let text = explained::sentence(&consequence.sentence);
        let job = consequence.job.as_ref().map(|job| job.as_str().to_owned());
        if about.is_some() && consequence.job.as_ref() == about {
            own.push(text);
            continue;
        }
        let owner = consequence.owner.map_or_else(String::new, |owner| format!(" Owner: {owner}."));
        let list = match consequence.turn {
            Turn::Loses => &mut shown.victims,
            Turn::Starts => &mut shown.starters,
            Turn::Other => &mut shown.others,
        };
        list.push(Line { job, text: format!("{text}{owner}") });
    }
    (own, shown)
}

#[cfg(test)]
mod tests {
    use engine::job::halt::Halt;
    use engine::job::phase::AfterStop;
    use engine::job::phase::Outcome;
    use engine::job::run::RunStep;
    use engine::job::spec::FaultTolerance;
    use engine::job::spec::IdlePolicy;
    use engine::message::command::ScaleMode;
    use engine::message::command::ScaleQuotas;
    use engine::message::command::UpdateQuota;
    use engine::message::event::Event;
    use engine::unit::priority::Module;
    use engine::unit::time::Millis;

    use super::*;
    use crate::example::START;
    use crate::example::decide;
    use crate::example::job;
    use crate::example::quota;
    use crate::example::three_teams;
    use crate::policy_draft::PolicyDraft;
    use crate::scale_draft::ScaleDraft;

    /// A little later: two development instances of 16 GPUs have 0.75 GPU-hours that no checkpoint keeps.
    const LATER: Timestamp = Timestamp(START.0 + Millis::HOUR.0 * 3 / 128);

    fn names(lines: &[Line]) -> Vec<&str> {
        lines.iter().filter_map(|line| line.job.as_deref()).collect()
    }

    /// Child-level preemption of `Quota1` switched on or off.
    fn child_level(state: &State, is_child_on: bool) -> Command {
        let quota = &state.quotas[quota(state, "Quota1").at()];
        let draft = PolicyDraft { is_child_on, ..PolicyDraft::of(&quota.settings) };
        Command::UpdateQuota(UpdateQuota { quota: quota.id.clone(), settings: draft.apply(&quota.settings) })
    }

    fn cancel(name: &str) -> (JobId, Command) {
        let job = JobId::new(name).expect("a name");
        (job.clone(), Command::CancelJob(CancelJob { job }))
    }

    #[test]
    fn who_really_runs_and_is_told_to_stop_for_good_ends_with_the_same_loss() {
        let state = three_teams();
        let (_, command) = cancel("development-a");
        let pretended = of_change(&state, &command, LATER).cost;
        assert!(pretended.ended == 1 && pretended.lost_gpu_ms > 0, "{pretended:?}");
        let no = state.jobs.find(&JobId::new("development-a").unwrap()).unwrap();
        let cost = |then: AfterStop| {
            let step =
                RunStep::Halted { until: LATER, halt: Halt::Cancelled, then, saved_ms: Millis(0), counts: false };
            Cost::of(&state, &[Event::Run { job: no, at: LATER, step: Box::new(step) }], LATER)
        };
        assert_eq!(cost(AfterStop::End(Outcome::Cancelled)), pretended);
        assert!(cost(AfterStop::Requeue).is_nothing());
    }

    #[test]
    fn a_job_of_the_parent_takes_development_before_training() {
        let state = three_teams();
        let preview = of_job(&state, &job(&state, "inference", "Quota1", 32), START);
        assert_eq!(preview.verdict, Verdict::Evicts(2));
        let victims: Vec<&str> = preview.victims.iter().filter_map(|line| line.job.as_deref()).collect();
        assert!(victims.iter().all(|victim| victim.starts_with("development-")), "{victims:?}");
    }

    #[test]
    fn a_job_of_a_full_child_waits_with_a_reason() {
        let state = three_teams();
        let preview = of_job(&state, &job(&state, "more", "Quota1.1", 16), START);
        assert_eq!(preview.verdict, Verdict::Waits);
        assert!(preview.reason.is_some_and(|reason| reason.contains("Quota1.1")));
    }

    #[test]
    fn a_job_that_would_end_for_good_when_it_is_taken_back_says_so() {
        let state = three_teams();
        let at_risk = |change: fn(&mut SubmitJob)| {
            let mut submit = job(&state, "borrower", "Quota1.1", 16);
            submit.idle = IdlePolicy::Only;
            change(&mut submit);
            of_job(&state, &submit, START).for_good.is_some()
        };
        assert!(at_risk(|_| {}), "it waits for idle resources");
        assert!(!at_risk(|submit| submit.fault_tolerance = Some(FaultTolerance { max_restarts: 3 })));
        assert!(at_risk(|submit| submit.fault_tolerance = Some(FaultTolerance { max_restarts: 0 })));
        assert!(!at_risk(|submit| submit.idle = IdlePolicy::Off));
        assert!(!at_risk(|submit| submit.module = Module::Dsw));
    }

    #[test]
    fn a_name_that_is_taken_is_refused() {
        let state = three_teams();
        assert_eq!(of_job(&state, &job(&state, "training-a", "Quota1", 1), START).verdict, Verdict::Refused);
    }

    #[test]
    fn moving_gpus_between_siblings_moves_no_job() {
        let state = three_teams();
        let draft = ScaleDraft { amounts: vec![(0, "56".to_owned())], with: "Quota1.2".to_owned(), is_evicting: false };
        let scale = draft.command(&state, quota(&state, "Quota1.1")).expect("the form is complete");
        assert_eq!(scale.targets.iter().map(|target| target.min["gpu"]).collect::<Vec<_>>(), [56_000, 72_000]);
        assert_eq!(of_change(&state, &Command::ScaleQuotas(scale.clone()), START).verdict, Verdict::Quiet);

        let evicting = ScaleQuotas { mode: ScaleMode::Evict, ..scale };
        assert_eq!(of_change(&state, &Command::ScaleQuotas(evicting), START).victims.len(), 1);
    }

    #[test]
    fn a_policy_that_evicts_says_whom_and_what_it_costs() {
        let mut state = three_teams();
        let off = child_level(&state, false);
        assert_eq!(of_change(&state, &off, LATER).cost, Cost::default());
        decide(&mut state, &off);
        let inference = job(&state, "inference", "Quota1", 32);
        decide(&mut state, &Command::SubmitJob(inference));

        let preview = of_change(&state, &child_level(&state, true), LATER);
        assert_eq!(names(&preview.victims).len(), 2);
        assert!(names(&preview.victims).iter().all(|name| name.starts_with("development-")));
        assert_eq!(preview.cost.button("Save"), "Save and evict 2 jobs, lose 0.75 GPU-hours");
        assert_eq!(preview.cost.lost().as_deref(), Some("Unsaved work lost: 0.75 GPU-hours."));
        assert_eq!(names(&preview.starters), ["inference"]);
        assert_eq!(preview.verdict.words(), "Evicts 2 jobs, and starts 1 job");
        assert!(preview.victims.iter().all(|line| line.text.ends_with(" Owner: workspace-c.")), "{preview:?}");
    }

    #[test]
    fn a_plan_that_cancels_ends_jobs_and_loses_their_work() {
        let state = three_teams();
        let plan = ApplyPlan { commands: vec![cancel("development-a").1, cancel("training-a").1] };
        let preview = of_change(&state, &Command::ApplyPlan(plan), LATER);
        // Neither has written a checkpoint yet.
        assert_eq!(preview.cost.button("Apply"), "Apply and end 2 jobs, lose 0.75 GPU-hours");
    }

    #[test]
    fn cancelling_says_what_is_lost() {
        let mut state = three_teams();
        let (development, _) = cancel("development-a");
        assert_eq!(of_cancelling(&state, &[development], LATER), "Unsaved work lost: 0.38 GPU-hours.");
        let waiting = job(&state, "waiting", "Quota1.2", 16);
        let name = waiting.job.clone();
        decide(&mut state, &Command::SubmitJob(waiting));
        assert_eq!(of_cancelling(&state, &[name], LATER), "");
    }

    #[test]
    fn more_victims_than_were_seen_are_another_question() {
        let line = |name: &str| Line { job: Some(name.to_owned()), text: String::new() };
        let evicting =
            |names: &[&str]| Preview { victims: names.iter().map(|name| line(name)).collect(), ..Preview::default() };
        let seen = evicting(&["a", "b"]);
        assert!([&["b", "a"][..], &["a"], &[]].iter().all(|names| evicting(names).is_within(&seen)));
        assert!([&["a", "c"][..], &["a", "b", "c"]].iter().all(|names| !evicting(names).is_within(&seen)));
        let ending = Preview { cost: Cost { ended: 1, ..Cost::default() }, ..Preview::default() };
        assert!(!ending.is_within(&seen));
    }
}
