//! Lines as people would write them: the other way round than [`crate::line::read`], for whoever has commands and wants
//! to show them.

use engine::job::spec::FaultTolerance;
use engine::job::spec::IdlePolicy;
use engine::message::command::AmountByName;
use engine::message::command::Command;
use engine::message::command::CreateQuota;
use engine::message::command::NodesByName;
use engine::message::command::PodGroup;
use engine::message::command::ScaleMode;
use engine::message::command::SubmitJob;
use engine::quota::policy::Scope;
use engine::quota::policy::SelfLevelPreemption;
use engine::quota::settings::QueueStrategy;
use engine::quota::settings::QuotaSettings;
use engine::unit::amount::Dimension;
use engine::unit::amount::DimensionKind;
use engine::unit::priority::ModuleSet;
use engine::unit::priority::Priority;
use engine::unit::priority::PrioritySet;
use engine::unit::quantity;
use engine::unit::time::Millis;

/// The line of a quota in a scene. A root draws on what the scene has.
///
/// # Errors
/// In words: what cannot stand in a line.
pub fn quota(create: &CreateQuota) -> Result<String, String> {
    let CreateQuota { quota, parent, groups: _, min, settings: set } = create;
    let mut words = vec!["quota".to_owned(), name(quota.as_str())?, gpus(min)?];
    if let Some(parent) = parent {
        words.extend(["in".to_owned(), name(parent.as_str())?]);
    }
    words.extend(settings(set)?);
    Ok(words.join(" "))
}

/// The lines of a command, of which a plan has several.
///
/// # Errors
/// In words: what cannot stand in a line.
#[expect(clippy::wildcard_enum_match_arm, reason = "few commands have a line")]
pub fn acts(command: &Command) -> Result<Vec<String>, String> {
    let mut words: Vec<String> = Vec::new();
    match command {
        Command::ApplyPlan(plan) => {
            let lines: Result<Vec<Vec<String>>, String> = plan.commands.iter().map(acts).collect();
            return Ok(lines?.concat());
        }
        Command::SubmitJob(job) => words.extend(submit(job)?),
        Command::CancelJob(cancel) => words.extend(["cancel".to_owned(), name(cancel.job.as_str())?]),
        Command::SetPriority(set) => {
            words.extend(["priority".to_owned(), name(set.job.as_str())?, set.priority.to_string()]);
        }
        Command::ResizeJob(resize) => {
            words.extend(["resize".to_owned(), name(resize.job.as_str())?, resize.pods.to_string()]);
            words.extend(resize.min_pods.map(|pods| format!("min {pods}")));
        }
        Command::UpdateQuota(update) => {
            words.extend(["update".to_owned(), name(update.quota.as_str())?]);
            words.extend(settings(&update.settings)?);
        }
        Command::ScaleQuotas(scale) => {
            words.push("scale".to_owned());
            for target in &scale.targets {
                words.push([name(target.quota.as_str())?, gpus(&target.min)?].join("="));
            }
            if scale.mode == ScaleMode::Evict {
                words.push("evict".to_owned());
            }
        }
        Command::Round(_) => words.push("round".to_owned()),
        _ => return Err("there is no line for this command".to_owned()),
    }
    Ok(vec![words.join(" ")])
}

/// The line that lets time go on.
#[must_use]
pub fn advance(by: Millis) -> String {
    format!("advance {}", period(by))
}

fn submit(job: &SubmitJob) -> Result<Vec<String>, String> {
    let plain = SubmitJob {
        quota: job.quota.clone(),
        module: job.module,
        priority: job.priority,
        min_pods: job.min_pods,
        nodes: NodesByName { gpu_type: None, ..job.nodes.clone() },
        idle: job.idle,
        fault_tolerance: job.fault_tolerance,
        duration_ms: job.duration_ms,
        checkpoint_ms: job.checkpoint_ms,
        ..SubmitJob::new(job.job.clone(), job.pods.clone())
    };
    let is_usual = job.fault_tolerance.is_none_or(|tolerance| tolerance == FaultTolerance::default());
    let (true, true, Some(quota)) = (*job == plain, is_usual, &job.quota) else {
        return Err(format!("there is no line for all that {} asks for", job.job));
    };
    let mut words = vec!["submit".to_owned(), name(job.job.as_str())?, name(quota.as_str())?];
    words.extend([job.module.to_string(), format!("p{}", job.priority), pods(&job.pods)?]);
    match job.idle {
        IdlePolicy::Off => {}
        IdlePolicy::Acceptable => words.push("acceptable".to_owned()),
        IdlePolicy::Only => words.push("only".to_owned()),
    }
    if job.fault_tolerance.is_some() {
        words.push("fault-tolerance".to_owned());
    }
    let timed = [("for", job.duration_ms), ("checkpoint", job.checkpoint_ms)];
    words.extend(timed.into_iter().filter_map(|(word, time)| Some(format!("{word} {}", period(time?)))));
    words.extend(job.min_pods.map(|pods| format!("min {pods}")));
    for (word, nodes) in [("only-on", &job.nodes.only), ("not-on", &job.nodes.without)] {
        if !nodes.is_empty() {
            let names = nodes.iter().map(|node| name(node.as_str())).collect::<Result<Vec<_>, _>>()?;
            words.push(format!("{word} {}", names.join(",")));
        }
    }
    Ok(words)
}

/// What is set on a quota and is not what a line without a word of it means.
fn settings(settings: &QuotaSettings) -> Result<Vec<String>, String> {
    let QuotaSettings { strategy, lends, self_level, child_level, grace_period, min_runtime, starvation_after } =
        settings;
    let mut words = Vec::new();
    if let Some(policy) = child_level {
        words.push(format!("child-level {} {}", priorities(policy.preemptible), modules(policy.modules)));
    }
    if let Some(policy) = self_level {
        words.push(self_level_words(policy)?);
    }
    words.extend((*grace_period != Millis::ZERO).then(|| format!("grace {}", period(*grace_period))));
    words.extend((*min_runtime != Millis::ZERO).then(|| format!("min-runtime {}", period(*min_runtime))));
    if *starvation_after != QuotaSettings::default().starvation_after {
        words.push(format!("starvation {}", period(*starvation_after)));
    }
    let strategy = match strategy {
        QueueStrategy::Intelligent => None,
        QueueStrategy::StrictFifo => Some("strict-fifo"),
        QueueStrategy::RoundRobin => Some("round-robin"),
        QueueStrategy::Balance => Some("balance"),
    };
    words.extend(strategy.map(|strategy| format!("strategy {strategy}")));
    words.extend((!lends).then(|| "no-lending".to_owned()));
    Ok(words)
}

fn self_level_words(policy: &SelfLevelPreemption) -> Result<String, String> {
    let SelfLevelPreemption { high, low, modules: whose, scope } = policy;
    if low.lowest().is_none() || whose.is_empty() {
        return Err("there is no line for a self-level policy that names nobody who may be taken".to_owned());
    }
    let words = format!("self-level {} over {} {}", priorities(*high), priorities(*low), modules(*whose));
    Ok(match scope {
        Scope::SameLevel => words,
        Scope::Own => words + " scope own",
        Scope::SiblingsIdle => words + " scope siblings-idle",
    })
}

/// `6-9`, `4`, `1,3-5`.
fn priorities(set: PrioritySet) -> String {
    let mut runs: Vec<(Priority, Priority)> = Vec::new();
    for priority in set.iter() {
        match runs.last_mut() {
            Some((_, last)) if last.get() + 1 == priority.get() => *last = priority,
            Some(_) | None => runs.push((priority, priority)),
        }
    }
    let run = |(first, last): (Priority, Priority)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    runs.into_iter().map(run).collect::<Vec<String>>().join(",")
}

fn modules(set: ModuleSet) -> String {
    set.iter().map(|module| module.to_string()).collect::<Vec<String>>().join(",")
}

/// `16`, `2x8`, `1x4+2x8`.
fn pods(pods: &[PodGroup]) -> Result<String, String> {
    let role = |PodGroup { count, amount }: &PodGroup| -> Result<String, String> {
        let gpus = gpus(amount)?;
        Ok(if *count == 1 { gpus } else { format!("{count}x{gpus}") })
    };
    let roles: Result<Vec<String>, String> = pods.iter().map(role).collect();
    Ok(roles?.join("+"))
}

/// GPUs alone: `16`, `0.5`.
fn gpus(amount: &AmountByName) -> Result<String, String> {
    let mut values = amount.iter();
    let (Some((dimension, value)), None) = (values.next(), values.next()) else {
        return Err("there is no line for an amount of several dimensions".to_owned());
    };
    if dimension != "gpu" {
        return Err(format!("there is no line for an amount of {dimension}"));
    }
    Ok(quantity::bare(&Dimension { name: dimension.clone(), kind: DimensionKind::Gpu }, *value))
}

/// A period in its largest whole unit: `2h`, `90m`, `0.5s`.
fn period(period: Millis) -> String {
    let units = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1000, "s")];
    let whole = units.into_iter().find(|(unit, _)| period.0 != 0 && period.0 % unit == 0);
    whole.map_or_else(
        || {
            let second = Dimension { name: "gpu".to_owned(), kind: DimensionKind::Gpu };
            format!("{}s", quantity::bare(&second, period.0))
        },
        |(unit, letter)| format!("{}{letter}", period.0 / unit),
    )
}

/// A name that reads as one word.
fn name(name: &str) -> Result<String, String> {
    let is_word = !name.contains(char::is_whitespace) && !name.contains('=') && !name.starts_with('#');
    is_word.then(|| name.to_owned()).ok_or_else(|| format!("the name \"{name}\" cannot stand in a line"))
}

#[cfg(test)]
mod tests;
