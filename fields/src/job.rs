//! A new job in a quota.

use engine::job::spec::IdlePolicy;
use engine::message::command::AmountByName;
use engine::message::command::Command;
use engine::message::command::PodGroup;
use engine::message::command::SubmitJob;
use engine::unit::amount::DimensionKind;
use engine::unit::amount::GPU;
use engine::unit::id::JobId;
use engine::unit::priority::Module;
use engine::unit::priority::Priority;
use engine::unit::time::Millis;

use crate::facts::Facts;
use crate::field::Amounts;
use crate::field::Described;
use crate::field::Field;
use crate::field::Holds;
use crate::list::List;
use crate::number::Number;

const AGAIN: List = List::Words(&[("no", "it ends"), ("yes", "it is queued again")]);
const IDLE: [(IdlePolicy, (&str, &str)); 3] = [
    (IdlePolicy::Off, ("off", "its quota only")),
    (IdlePolicy::Acceptable, ("acceptable", "idle GPUs of others, too")),
    (IdlePolicy::Only, ("only", "idle GPUs of others only")),
];
const IDLE_WORDS: [(&str, &str); 3] = [IDLE[0].1, IDLE[1].1, IDLE[2].1];

pub(crate) const NAME: Field<SubmitJob> = Field {
    key: "job",
    label: "Job name",
    about: "What the job is called; no two jobs of a cluster have the same name.",
    holds: Holds::Text {
        list: |_| List::Typed,
        read: |job| job.job.to_string(),
        write: |job, _, name| {
            job.job = JobId::new(name).map_err(|bad| bad.to_string())?;
            Ok(())
        },
    },
};

pub(crate) const MODULE: Field<SubmitJob> = Field {
    key: "module",
    label: "Module",
    about: "What it is for: training (DLC), development (DSW) or inference (EAS). Policies go by it.",
    holds: Holds::Text {
        list: |_| List::Modules,
        read: |job| job.module.as_str().to_owned(),
        write: |job, _, name| {
            let known = Module::ALL.into_iter().find(|module| module.as_str() == name);
            job.module = known.ok_or_else(|| format!("there is no module “{name}”"))?;
            Ok(())
        },
    },
};

pub(crate) const AMOUNT: Field<SubmitJob> = Field {
    key: "amount",
    label: "Of a pod",
    about: "What each pod needs.",
    holds: Holds::Amounts(Amounts {
        names: |job| job.pods.first().map(|pods| pods.amount.keys().cloned().collect()).unwrap_or_default(),
        label: |_, number| format!("{} of a pod", number.unit),
        range: |_, facts, name| Number::amount(facts, name),
        read: |job, name| job.pods.first().and_then(|pods| pods.amount.get(name)).copied().unwrap_or(0),
        write: |job, _, name, value| {
            if let Some(amount) = job.pods.first_mut().and_then(|pods| pods.amount.get_mut(name)) {
                *amount = value;
            }
        },
    }),
};

pub(crate) const PODS: Field<SubmitJob> = Field {
    key: "pods",
    label: "Pods",
    about: "How many pods start together.",
    holds: Holds::Number {
        range: |_, _| Number::count(1, 64),
        read: |job| job.pods.first().map_or(0, |pods| pods.count.into()),
        write: |job, value| {
            if let (Some(pods), Ok(count)) = (job.pods.first_mut(), u32::try_from(value)) {
                pods.count = count;
            }
        },
    },
};

pub(crate) const PRIORITY: Field<SubmitJob> = Field {
    key: "priority",
    label: "Priority",
    about: "From 1 to 9; higher ones go first, and may preempt where a policy allows it.",
    holds: Holds::Number {
        range: |_, _| Number::count(1, 9),
        read: |job| job.priority.get().into(),
        write: |job, value| job.priority = Priority::new(value).unwrap_or(job.priority),
    },
};

pub(crate) const DURATION: Field<SubmitJob> = Field {
    key: "duration",
    label: "Runs for",
    about: "How long it runs once it has started.",
    holds: Holds::Number {
        range: |_, _| Number {
            unit: "h",
            least: Millis::HOUR.0 / 2,
            most: 72 * Millis::HOUR.0,
            step: Millis::HOUR.0 / 2,
            scale: Millis::HOUR.0,
        },
        read: |job| job.duration_ms.map_or(0, |ms| ms.0),
        write: |job, value| job.duration_ms = Some(Millis(value)),
    },
};

pub(crate) const FIELDS: &[Field<SubmitJob>] = &[
    AMOUNT,
    PODS,
    PRIORITY,
    DURATION,
    NAME,
    Field {
        key: "quota",
        label: "In quota",
        about: "The quota that the job is submitted to.",
        holds: Holds::Text {
            list: |_| List::Quotas,
            read: |job| job.quota.as_ref().map(ToString::to_string).unwrap_or_default(),
            write: |job, facts, name| {
                job.quota = Some(facts.quota_named(name)?.quota.clone());
                Ok(())
            },
        },
    },
    MODULE,
    Field {
        key: "idle",
        label: "Runs on",
        about: "Whether it may borrow what others leave idle; what is borrowed is taken back when its owner needs it.",
        holds: Holds::Text {
            list: |_| List::Words(&IDLE_WORDS),
            read: |job| {
                let known = IDLE.iter().find(|(policy, _)| *policy == job.idle);
                known.map(|(_, (value, _))| (*value).to_owned()).unwrap_or_default()
            },
            write: |job, _, text| {
                let known = IDLE.iter().find(|(_, (value, _))| *value == text);
                job.idle = known.ok_or_else(|| format!("it runs on “off”, “acceptable” or “only”, not “{text}”"))?.0;
                Ok(())
            },
        },
    },
    Field {
        key: "again",
        label: "After an eviction",
        about: "Whether it is queued again when it is evicted, or ends.",
        holds: Holds::Text {
            list: |_| AGAIN,
            read: |job| if job.fault_tolerance.is_some() { "yes" } else { "no" }.to_owned(),
            write: |job, _, text| {
                job.fault_tolerance = (text == "yes").then(|| job.fault_tolerance.unwrap_or_default());
                Ok(())
            },
        },
    },
];

/// Eight GPUs in the last quota that has any.
pub(crate) fn begin(facts: &Facts, number: usize) -> Option<Command> {
    let quota = facts.quotas.iter().rev().find(|quota| !quota.min.is_empty())?;
    let gpus = facts.dimensions.iter().find(|known| known.kind == DimensionKind::Gpu)?;
    let amount = AmountByName::from([(gpus.name.clone(), 8 * GPU)]);
    Some(SubmitJob { quota: Some(quota.quota.clone()), ..planned(number, amount)? }.command())
}

/// A job of four hours with a name of its own.
pub(crate) fn planned(number: usize, amount: AmountByName) -> Option<SubmitJob> {
    let id = JobId::new(&planned_name(number)).ok()?;
    let duration_ms = Some(Millis(4 * Millis::HOUR.0));
    Some(SubmitJob { duration_ms, ..SubmitJob::new(id, vec![PodGroup { count: 1, amount }]) })
}

/// The first number whose job neither the facts nor these commands have.
#[must_use]
pub(crate) fn free_number(facts: &Facts, commands: &[Command]) -> usize {
    let is_of = |command: &Command, name: &str| matches!(command, Command::SubmitJob(job) if job.job.as_str() == name);
    let is_taken = |number: usize| {
        let name = planned_name(number);
        facts.jobs.iter().any(|known| known.job.as_str() == name)
            || commands.iter().any(|command| is_of(command, &name))
    };
    let mut number = 0;
    while is_taken(number) {
        number += 1;
    }
    number
}

fn planned_name(number: usize) -> String {
    format!("planned-{}", number + 1)
}
