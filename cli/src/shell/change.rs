//! `tidegate cancel`, `prio` and `scale`: what is there is changed, after it was said what that costs.

use clap::Args;
use console_model::preview;
use console_model::preview::Preview;
use console_model::preview::Verdict;
use console_model::scale_draft::ScaleDraft;
use console_model::scale_draft::given_away;
use engine::message::command::ApplyPlan;
use engine::message::command::CancelJob;
use engine::message::command::Command;
use engine::message::command::ScaleQuotas;
use engine::message::command::SetPriority;
use engine::state::world::State;
use engine::unit::id::JobId;
use engine::unit::id::QuotaNo;
use engine::unit::priority::Priority;
use engine::unit::quantity::bare;
use engine::unit::time::Timestamp;

use crate::service::time;
use crate::shell::agree;
use crate::shell::agree::Agree;
use crate::shell::agree::Wanted;
use crate::shell::at::At;
use crate::shell::failure::Failure;
use crate::shell::named;
use crate::shell::person::Person;
use crate::shell::prompt;

/// What `tidegate cancel` is asked for.
#[derive(Debug, Args)]
pub struct Cancel {
    /// The jobs.
    #[arg(required = true)]
    pub jobs: Vec<String>,
    #[command(flatten)]
    pub agree: Agree,
    #[command(flatten)]
    pub at: At,
}

/// Cancels jobs: all of them, or none where one cannot be.
pub fn cancel(asked: &Cancel) -> Result<(), Failure> {
    let mut person = Person::of(asked.at.context.as_deref())?;
    let state = person.state()?;
    let mut jobs: Vec<JobId> = Vec::new();
    for name in &asked.jobs {
        let job = &state.jobs[named::job(&state, name, &person.place())?];
        if job.is_ended() {
            prompt::say(&format!("tidegate: {name} has ended already\n"));
        } else if !jobs.contains(&job.spec.id) {
            jobs.push(job.spec.id.clone());
        }
    }
    if jobs.is_empty() {
        return Ok(());
    }
    let mut commands: Vec<Command> = jobs.into_iter().map(|job| Command::CancelJob(CancelJob { job })).collect();
    let command = match commands.pop() {
        Some(only) if commands.is_empty() => only,
        last => Command::ApplyPlan(ApplyPlan { commands: commands.into_iter().chain(last).collect() }),
    };
    let foresee = |state: &State, now: Timestamp| ended(preview::of_change(state, &command, now), state, &command);
    agree::send(
        &mut person,
        &state,
        &Wanted { command: command.clone(), script: None, base: None, foresee: &foresee },
        asked.agree,
        &asked.at,
    )
}

/// Of jobs that hold nothing, nobody loses anything by their end.
fn ended(mut preview: Preview, state: &State, command: &Command) -> Preview {
    let holds = |command: &Command| {
        let Command::CancelJob(CancelJob { job }) = command else { return false };
        state.jobs.find(job).is_some_and(|no| state.jobs[no].placed().is_some())
    };
    let commands =
        if let Command::ApplyPlan(plan) = command { plan.commands.as_slice() } else { std::slice::from_ref(command) };
    let waiting = commands.iter().filter(|command| !holds(command)).count() as u64;
    preview.cost.ended = preview.cost.ended.saturating_sub(waiting);
    preview
}

/// What `tidegate prio` is asked for.
#[derive(Debug, Args)]
pub struct Prio {
    /// The job.
    pub job: String,
    #[arg(help = about("priority"), value_parser = priority)]
    pub priority: Priority,
    #[command(flatten)]
    pub agree: Agree,
    #[command(flatten)]
    pub at: At,
}

/// What a field of a job means.
#[must_use]
pub fn about(key: &str) -> &'static str {
    fields::change::about_job(key).unwrap_or_default()
}

/// A priority that people type.
pub fn priority(text: &str) -> Result<Priority, String> {
    let number: i64 = text.parse().map_err(|_| "write a number from 1 to 9".to_owned())?;
    Priority::new(number).map_err(|bad| bad.to_string())
}

/// Changes a job's priority.
pub fn prio(asked: &Prio) -> Result<(), Failure> {
    let mut person = Person::of(asked.at.context.as_deref())?;
    let state = person.state()?;
    let job = state.jobs[named::job(&state, &asked.job, &person.place())?].spec.id.clone();
    let command = Command::SetPriority(SetPriority { job, priority: asked.priority });
    let foresee = |state: &State, now: Timestamp| preview::of_change(state, &command, now);
    let wanted = Wanted { command: command.clone(), script: None, base: None, foresee: &foresee };
    agree::send(&mut person, &state, &wanted, asked.agree, &asked.at)
}

/// What `tidegate scale` is asked for.
#[derive(Debug, Args)]
pub struct Scale {
    /// The quota.
    pub quota: String,
    /// The GPUs that it is guaranteed, such as 56; or how many more or less, such as +8 or -8. Of other things, and of one
    /// of several types of GPUs: NAME=AMOUNT, such as h100=+8.
    #[arg(required = true, allow_negative_numbers = true)]
    pub amounts: Vec<String>,
    /// The sibling that gives or takes the difference; otherwise the parent's own part does.
    #[arg(long)]
    pub with: Option<String>,
    /// Evicts jobs that are no longer covered; otherwise they run on until somebody needs the GPUs that they hold beyond it.
    #[arg(long)]
    pub evict: bool,
    #[command(flatten)]
    pub agree: Agree,
    #[command(flatten)]
    pub at: At,
}

/// Scales a quota.
pub fn scale(asked: &Scale) -> Result<(), Failure> {
    let mut person = Person::of(asked.at.context.as_deref())?;
    let state = person.state()?;
    let scale = scaling(&state, asked, &person.place())?;
    for sentence in given_away(&state, &scale) {
        prompt::say(&format!("{sentence}\n"));
    }
    let command = Command::ScaleQuotas(scale);
    let foresee = |state: &State, now: Timestamp| preview::of_change(state, &command, now);
    if foresee(&state, time::now()).verdict == Verdict::Quiet && !asked.agree.dry_run {
        prompt::say(&format!("{}\n", Verdict::Quiet.words()));
    }
    let wanted = Wanted { command: command.clone(), script: None, base: None, foresee: &foresee };
    agree::send(&mut person, &state, &wanted, asked.agree, &asked.at)
}

fn scaling(state: &State, asked: &Scale, place: &str) -> Result<ScaleQuotas, Failure> {
    let no = named::quota(state, &asked.quota, place)?;
    let mut draft = ScaleDraft::of(state, no);
    draft.is_evicting = asked.evict;
    if let Some(sibling) = &asked.with {
        let sibling_no = named::quota(state, sibling, place)?;
        if state.quotas[sibling_no.at()].parent != state.quotas[no.at()].parent || sibling_no == no {
            let text = format!(
                "--with {sibling}: it is not a sibling of {}; only those can give to it or take from it",
                asked.quota
            );
            return Err(Failure::usage(text));
        }
        draft.with.clone_from(sibling);
    }
    for text in &asked.amounts {
        set(state, no, &mut draft, text)?;
    }
    draft
        .command(state, no)
        .map_err(|faults| Failure::usage(faults.into_iter().map(|(_, fault)| fault).collect::<Vec<_>>().join("; ")))
}

/// Sets one amount of the form.
fn set(state: &State, no: QuotaNo, draft: &mut ScaleDraft, text: &str) -> Result<(), Failure> {
    let dimensions = &state.cluster.dimensions;
    let (name, amount) = match text.split_once('=') {
        Some((name, amount)) => (Some(name), amount),
        None => (None, text),
    };
    let at = match name {
        Some(name) => state.cluster.dimension(name),
        None => {
            Some(state.cluster.gpu_dimensions().filter(|at| state.quotas[no.at()].min.states(*at)).collect::<Vec<_>>())
                .filter(|stated| stated.len() == 1)
                .and_then(|stated| stated.first().copied())
        }
    };
    let field = at.and_then(|at| draft.amounts.iter_mut().find(|(field, _)| *field == at));
    let Some((at, field)) = field else {
        let known: Vec<&str> = draft.amounts.iter().map(|(at, _)| dimensions[*at].name.as_str()).collect();
        let text = format!(
            "“{text}” names nothing of {}: write NAME=AMOUNT with one of {}",
            state.quotas[no.at()].id,
            known.join(", ")
        );
        return Err(Failure::usage(text));
    };
    let now = state.quotas[no.at()].min.amount[*at];
    *field = match amount.chars().next() {
        Some(sign @ ('+' | '-')) => {
            let asked = |unit: &str| format!("write how many {unit} more or less");
            let by = console_model::amount::value(&dimensions[*at], &amount[1..], asked).map_err(Failure::usage)?;
            let then = if sign == '+' { now.saturating_add(by) } else { now.saturating_sub(by) };
            if then < 0 {
                let (id, has) = (&state.quotas[no.at()].id, bare(&dimensions[*at], now));
                return Err(Failure::usage(format!("{text}: {id} has {has}, and cannot give more than that")));
            }
            bare(&dimensions[*at], then)
        }
        Some(_) | None => amount.to_owned(),
    };
    Ok(())
}
