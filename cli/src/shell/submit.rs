//! `tidegate submit`: a new job, after it was said what it would come to.

use std::collections::BTreeSet;
use std::path::Path;
use std::path::PathBuf;

use agent::script::Script;
use clap::Args;
use console_model::job_draft::JobDraft;
use console_model::job_field::Field;
use console_model::preview;
use console_model::script_draft::SIGNALS;
use console_model::script_draft::ScriptDraft;
use console_model::spot_draft::BidKind;
use engine::job::spec::IdlePolicy;
use engine::message::command::Command;
use engine::message::command::SubmitJob;
use engine::state::world::State;
use engine::unit::id::OfferId;
use engine::unit::id::QuotaId;
use engine::unit::id::QuotaNo;
use engine::unit::id::UserId;
use engine::unit::priority::Module;
use engine::unit::priority::Priority;
use engine::unit::resource::ResourceType;
use engine::unit::time::Timestamp;

use crate::service::drawn;
use crate::shell::agree;
use crate::shell::agree::Agree;
use crate::shell::agree::Wanted;
use crate::shell::at::At;
use crate::shell::change::about;
use crate::shell::change::priority;
use crate::shell::failure::Failure;
use crate::shell::job_file;
use crate::shell::jobs::module;
use crate::shell::named;
use crate::shell::person::Person;

/// What `tidegate submit` is asked for.
#[derive(Debug, Args)]
#[command(args_override_self = true)]
pub struct Submit {
    /// A file (.toml) that says what these flags say, under their names, and the program under `command`; a flag that is
    /// typed wins.
    #[arg(long, short = 'f')]
    pub file: Option<PathBuf>,
    #[arg(long, value_name = "JOB", help = about("job"))]
    pub name: Option<String>,
    #[arg(long, help = about("quota"))]
    pub quota: Option<String>,
    /// The workspace that the job belongs to [default: the only one that has the quota].
    #[arg(long)]
    pub workspace: Option<String>,
    #[arg(long, default_value = "DLC", value_parser = module, help = about("module"))]
    pub module: Module,
    #[arg(long, default_value = "1", help = about("pods"))]
    pub pods: String,
    /// The GPUs that each pod needs, such as 8 or 0.5 [default: 1].
    #[arg(long)]
    pub gpus: Option<String>,
    /// What else each pod needs: NAME=AMOUNT, such as cpu=16, memory=64 (GiB) or, of several types of GPUs, h100=8.
    #[arg(long = "amount", value_name = "NAME=AMOUNT")]
    pub amounts: Vec<String>,
    #[arg(long, default_value = "1", value_parser = priority, help = about("priority"))]
    pub priority: Priority,
    #[arg(long, default_value = "off", value_name = "off|acceptable|only", value_parser = idle, help = about("idle"))]
    pub idle: IdlePolicy,
    #[arg(long, help = about("again"))]
    pub again: bool,
    /// How often it is queued again at most.
    #[arg(long, default_value = "3", requires = "again")]
    pub restarts: String,
    #[arg(long, value_name = "PERIOD", default_value = "", hide_default_value = true, help = about("duration"))]
    pub duration: String,
    /// How often it writes a checkpoint, such as 30m: what it loses at most.
    #[arg(long, value_name = "PERIOD", default_value = "", hide_default_value = true)]
    pub checkpoint: String,
    /// The signal that asks it for a checkpoint before it is stopped: SIGUSR1, SIGUSR2, SIGINT or SIGHUP.
    #[arg(long, value_name = "SIGNAL", value_parser = signal)]
    pub checkpoint_signal: Option<&'static str>,
    #[arg(long, conflicts_with_all = ["quota", "gpus", "amounts", "idle"], help = about("offer"))]
    pub offer: Option<String>,
    #[arg(long, requires = "offer", value_name = "PERCENT", conflicts_with = "price", help = about("discount"))]
    pub discount: Option<i64>,
    #[arg(long, requires = "offer", help = about("limit"))]
    pub price: Option<String>,
    #[arg(long, requires = "offer", help = about("vpc"))]
    pub vpc: Option<String>,
    #[arg(long, requires = "offer", help = about("vswitch"))]
    pub vswitch: Option<String>,
    #[arg(long, requires = "offer", help = about("security_group"))]
    pub security_group: Option<String>,
    /// Where it runs, on the machine that it gets; otherwise in a folder of its own.
    #[arg(long, value_name = "DIRECTORY")]
    pub dir: Option<String>,
    /// A variable that it is given; may be said several times.
    #[arg(long = "env", value_name = "NAME=VALUE")]
    pub environment: Vec<String>,
    #[command(flatten)]
    pub agree: Agree,
    #[command(flatten)]
    pub at: At,
    /// The program that it runs, and its arguments, after `--`.
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// Submits it.
pub fn submit(asked: &Submit) -> Result<(), Failure> {
    let mut person = Person::of(asked.at.context.as_deref())?;
    let state = person.state()?;
    let sender = person.sender()?;
    let user = (!sender.administers).then_some(&sender.user);
    let job = command(&state, asked, user, &person.place())?;
    let script = script(&state, asked)?;
    let foresee = |state: &State, now: Timestamp| preview::of_job(state, &job, now);
    let command = Command::SubmitJob(job.clone());
    let wanted = Wanted { command, script: script.as_ref(), base: None, foresee: &foresee };
    agree::send(&mut person, &state, &wanted, asked.agree, &asked.at)
}

/// The command; the console's form reads what was typed.
fn command(state: &State, asked: &Submit, user: Option<&UserId>, place: &str) -> Result<SubmitJob, Failure> {
    let cluster = &state.cluster;
    let name = asked.name.clone().map_or_else(|| name_of(&asked.command), Ok)?;
    let mut draft = JobDraft::new(cluster, name, String::new());
    if let Some(offer) = &asked.offer {
        bid(state, asked, (offer, place), &mut draft)?;
    } else {
        draft.quota = quota(state, asked, user, place)?;
        amounts(state, asked, &mut draft)?;
    }
    draft.workspace = workspace(state, asked, &draft.quota, user)?;
    draft.module = asked.module;
    draft.pods.clone_from(&asked.pods);
    draft.priority = asked.priority.get();
    draft.idle = asked.idle;
    draft.is_tolerant = asked.again;
    draft.max_restarts.clone_from(&asked.restarts);
    draft.duration.clone_from(&asked.duration);
    draft.checkpoint.clone_from(&asked.checkpoint);
    draft.command(cluster).map_err(|faults| usage(asked, faults))
}

/// Each fault with the flag that has it, or its place in the file.
fn usage(asked: &Submit, faults: Vec<(Field, String)>) -> Failure {
    let told = faults.into_iter().map(|(field, fault)| {
        let Some((flag, said)) = flag(asked, field) else { return fault };
        let located = asked.file.as_ref().and_then(|file| job_file::located(file, flag, said, &fault));
        located.unwrap_or_else(|| format!("--{flag}: {fault}"))
    });
    Failure::usage(told.collect::<Vec<_>>().join("; "))
}

/// The flag of a field of the form, and what it says.
fn flag(asked: &Submit, field: Field) -> Option<(&'static str, &str)> {
    match field {
        Field::Job => Some(("name", text_of(asked.name.as_ref()))),
        Field::Pods => Some(("pods", &asked.pods)),
        Field::Amount(_) if asked.amounts.is_empty() => Some(("gpus", text_of(asked.gpus.as_ref()))),
        Field::Restarts => Some(("restarts", &asked.restarts)),
        Field::Checkpoint => Some(("checkpoint", &asked.checkpoint)),
        Field::Duration => Some(("duration", &asked.duration)),
        Field::Price => Some(("price", text_of(asked.price.as_ref()))),
        Field::Workspace => Some(("workspace", text_of(asked.workspace.as_ref()))),
        Field::Amount(_) | Field::Quota | Field::Priority | Field::Command | Field::Environment => None,
    }
}

fn text_of(said: Option<&String>) -> &str {
    said.map(String::as_str).unwrap_or_default()
}

/// What the job executes; nothing where jobs are simulated.
fn script(state: &State, asked: &Submit) -> Result<Option<Script>, Failure> {
    if !state.cluster.is_reported() {
        return Ok(None);
    }
    if asked.command.is_empty() {
        return Err(Failure::usage("jobs really run in this cluster: write the command of the job after --"));
    }
    let mut draft = ScriptDraft {
        command: asked.command.join(" "),
        directory: asked.dir.clone().unwrap_or_default(),
        environment: asked.environment.join("\n"),
        checkpoint: None,
    };
    draft.choose_signal(asked.checkpoint_signal.unwrap_or_default());
    let script = draft.script().map_err(|faults| usage(asked, faults))?;
    // Words are words: no shell takes them apart again.
    Ok(Some(Script { command: asked.command.clone(), ..script }))
}

/// A name that is free: the program's, and something drawn.
fn name_of(command: &[String]) -> Result<String, Failure> {
    let program = command.first().and_then(|program| Path::new(program).file_stem()).and_then(|stem| stem.to_str());
    let program = program.filter(|program| !program.is_empty() && program.len() <= 64).unwrap_or("job");
    let drawn = drawn::drawn()?;
    Ok(format!("{program}-{}", drawn.get(..6).unwrap_or(&drawn)))
}

/// The quota that is named, or the only one of the workspaces in which the job may be submitted.
fn quota(state: &State, asked: &Submit, user: Option<&UserId>, place: &str) -> Result<String, Failure> {
    if let Some(name) = &asked.quota {
        named::quota(state, name, place)?;
        return Ok(name.clone());
    }
    let is_meant = |name: &str| asked.workspace.as_deref().is_none_or(|asked| asked == name);
    let spaces = state
        .workspaces
        .iter()
        .filter(|(id, space)| is_meant(id.as_str()) && user.is_none_or(|user| space.members.contains_key(user)));
    let attached: BTreeSet<QuotaNo> = spaces.flat_map(|(_, space)| space.quotas.iter().copied()).collect();
    let of_spaces = |no: &QuotaNo| attached.is_empty() || attached.contains(no);
    let all = state.live_quotas().filter(|(no, _)| of_spaces(no)).map(|(_, quota)| quota.id.as_str());
    match all.collect::<Vec<_>>().as_slice() {
        [only] => Ok((*only).to_owned()),
        [] => Err(Failure::usage("there are no quotas yet: an administrator creates them")),
        several => Err(Failure::usage(format!("choose a quota with --quota: {}", listed(several)))),
    }
}

/// How many names are listed; of more, their number.
const NAMES_LISTED: usize = 12;

fn listed(names: &[&str]) -> String {
    let more = names.len().saturating_sub(NAMES_LISTED);
    let first = names.iter().take(NAMES_LISTED).copied().collect::<Vec<_>>().join(", ");
    if more == 0 { first } else { format!("{first}, {more} more") }
}

/// The workspace that is named, or the only one in which this job may be submitted.
fn workspace(state: &State, asked: &Submit, quota: &str, user: Option<&UserId>) -> Result<String, Failure> {
    if let Some(name) = &asked.workspace {
        return Ok(name.clone());
    }
    let quota = QuotaId::new(quota).ok().and_then(|id| state.quota_no(&id));
    let may = state.workspaces.iter().filter(|(_, space)| {
        quota.is_none_or(|quota| space.quotas.contains(&quota))
            && user.is_none_or(|user| space.members.contains_key(user))
    });
    let names: Vec<&str> = may.map(|(id, _)| id.as_str()).collect();
    match names.as_slice() {
        [] => Ok(String::new()),
        [only] => Ok((*only).to_owned()),
        several => Err(Failure::usage(format!("choose a workspace with --workspace: {}", listed(several)))),
    }
}

/// What each pod needs.
fn amounts(state: &State, asked: &Submit, draft: &mut JobDraft) -> Result<(), Failure> {
    let cluster = &state.cluster;
    draft.amounts.iter_mut().for_each(|amount| "0".clone_into(amount));
    let gpus: Vec<usize> = cluster.gpu_dimensions().collect();
    let names = |dimensions: &[usize]| {
        let names: Vec<&str> = dimensions.iter().map(|at| cluster.dimensions[*at].name.as_str()).collect();
        names.join(", ")
    };
    match (&asked.gpus, gpus.as_slice()) {
        (Some(text), [only]) => draft.amounts[*only].clone_from(text),
        (None, [only]) if asked.amounts.is_empty() => "1".clone_into(&mut draft.amounts[*only]),
        (Some(text), several) => {
            let text = format!(
                "--gpus {text}: the cluster has several types of GPUs; write --amount NAME={text} with one of {}",
                names(several)
            );
            return Err(Failure::usage(text));
        }
        (None, _) => {}
    }
    for text in &asked.amounts {
        let read = text.split_once('=').and_then(|(name, amount)| Some((cluster.dimension(name)?, amount)));
        let Some((at, amount)) = read else {
            let all: Vec<usize> = (0..cluster.dimensions.len()).collect();
            let text = format!("--amount {text}: write NAME=AMOUNT with one of {}", names(&all));
            return Err(Failure::usage(text));
        };
        amount.clone_into(&mut draft.amounts[at]);
    }
    Ok(())
}

/// The bid.
fn bid(state: &State, asked: &Submit, (offer, place): (&str, &str), draft: &mut JobDraft) -> Result<(), Failure> {
    let known = OfferId::new(offer).ok().and_then(|id| state.market.live_offers().find(|(_, offer)| offer.id == id));
    let Some((_, known)) = known else { return Err(named::unknown_offer(offer, place)) };
    let is_lingjun = known.resource_type == ResourceType::Lingjun;
    draft.spot.offer = known.id.to_string();
    draft.spot.bid = match (asked.discount, &asked.price) {
        (Some(percent), _) => BidKind::Discount(percent),
        (None, Some(price)) => {
            draft.spot.price.clone_from(price);
            BidKind::Price
        }
        (None, None) => BidKind::AsPriceGoes,
    };
    if !BidKind::all(is_lingjun).contains(&draft.spot.bid) {
        let takes: Vec<String> = BidKind::all(is_lingjun).into_iter().map(BidKind::words).collect();
        return Err(Failure::usage(format!("{offer} takes no such bid; it takes: {}", takes.join(", "))));
    }
    let part = |text: &Option<String>| text.clone().unwrap_or_default();
    (draft.spot.vpc, draft.spot.vswitch) = (part(&asked.vpc), part(&asked.vswitch));
    draft.spot.security_group = part(&asked.security_group);
    Ok(())
}

fn idle(text: &str) -> Result<IdlePolicy, String> {
    match text {
        "off" => Ok(IdlePolicy::Off),
        "acceptable" => Ok(IdlePolicy::Acceptable),
        "only" => Ok(IdlePolicy::Only),
        _ => {
            Err("write off (its quota only), acceptable (idle GPUs of others, too) or only (idle GPUs of others only)"
                .to_owned())
        }
    }
}

fn signal(text: &str) -> Result<&'static str, String> {
    let known = SIGNALS.map(|(name, _)| name);
    known.into_iter().find(|name| *name == text).ok_or_else(|| format!("write one of {}", known.join(", ")))
}
