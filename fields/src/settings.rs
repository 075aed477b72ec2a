//! What is set on a quota beside its amount. Its preemption policies have a form of their own.

use engine::message::command::Command;
use engine::message::command::UpdateQuota;
use engine::quota::settings::QueueStrategy;
use engine::unit::time::Millis;

use crate::facts::Facts;
use crate::field::Described;
use crate::field::Edit;
use crate::field::Field;
use crate::field::Holds;
use crate::field::Input;
use crate::field::Value;
use crate::list::List;
use crate::number::Number;
use crate::number::Period;

const STRATEGIES: [(QueueStrategy, (&str, &str)); 4] = [
    (QueueStrategy::Intelligent, ("intelligent", "Intelligent: priority and waiting time")),
    (QueueStrategy::StrictFifo, ("strict-fifo", "Strict FIFO: the first blocks the rest")),
    (QueueStrategy::RoundRobin, ("round-robin", "Round robin: in order, passing what cannot start")),
    (QueueStrategy::Balance, ("balance", "Balance: priority, then in order")),
];
const STRATEGY_WORDS: [(&str, &str); 4] = [STRATEGIES[0].1, STRATEGIES[1].1, STRATEGIES[2].1, STRATEGIES[3].1];
const LENDS: List = List::Words(&[("yes", "may be borrowed"), ("no", "is never lent")]);

const FIELDS: &[Field<UpdateQuota>] = &[
    Field {
        key: "grace",
        label: "Grace period",
        about: "How long an evicted job of this quota may take to stop.",
        holds: Holds::Number {
            range: |_, _| Number::period(Period::Seconds, 3_600, 5_000),
            read: |update| update.settings.grace_period.0,
            write: |update, ms| update.settings.grace_period = Millis(ms),
        },
    },
    Field {
        key: "min_runtime",
        label: "Minimum run time",
        about: "How long a job that has just started cannot be preempted.",
        holds: Holds::Number {
            range: |_, _| Number::period(Period::Minutes, 24 * 60, Millis::MINUTE.0),
            read: |update| update.settings.min_runtime.0,
            write: |update, ms| update.settings.min_runtime = Millis(ms),
        },
    },
    Field {
        key: "starvation",
        label: "Reserves after",
        about: "A job that has waited longer, and fits in the guarantee, reserves what becomes free.",
        holds: Holds::Number {
            range: |_, _| Number::period(Period::Hours, 7 * 24, Millis::HOUR.0 / 2),
            read: |update| update.settings.starvation_after.0,
            write: |update, ms| update.settings.starvation_after = Millis(ms),
        },
    },
    Field {
        key: "quota",
        label: "Quota",
        about: "The quota whose settings change.",
        holds: Holds::Text {
            list: |_| List::Quotas,
            read: |update| update.quota.to_string(),
            write: |update, facts, name| {
                let known = facts.quota_named(name)?;
                (update.quota, update.settings) = (known.quota.clone(), known.settings.clone());
                Ok(())
            },
        },
    },
    Field {
        key: "strategy",
        label: "Queue strategy",
        about: "In which order its jobs start, and what one that cannot start does to those behind it.",
        holds: Holds::Text {
            list: |_| List::Words(&STRATEGY_WORDS),
            read: |update| {
                let known = STRATEGIES.iter().find(|(strategy, _)| *strategy == update.settings.strategy);
                known.map(|(_, (value, _))| (*value).to_owned()).unwrap_or_default()
            },
            write: |update, _, text| {
                let known = STRATEGIES.iter().find(|(_, (value, _))| *value == text);
                update.settings.strategy = known.ok_or_else(|| format!("there is no queue strategy “{text}”"))?.0;
                Ok(())
            },
        },
    },
    Field {
        key: "lends",
        label: "What it leaves idle",
        about: "Whether others may borrow what this quota leaves idle.",
        holds: Holds::Text {
            list: |_| LENDS,
            read: |update| if update.settings.lends { "yes" } else { "no" }.to_owned(),
            write: |update, _, text| {
                update.settings.lends = text == "yes";
                Ok(())
            },
        },
    },
];

/// The first quota, as it is set.
pub(crate) fn begin(facts: &Facts) -> Option<Command> {
    let quota = facts.quotas.first()?;
    Some(UpdateQuota { quota: quota.quota.clone(), settings: quota.settings.clone() }.command())
}

/// A value in words.
fn words(input: &Input, value: &Value) -> String {
    match (input, value) {
        (Input::Number(number), Value::Number(value)) => format!("{} {}", number.text(*value), number.unit),
        (Input::Text(List::Words(words)), Value::Text(text)) => {
            let known = words.iter().find(|(value, _)| value == text).map_or(text.as_str(), |(_, words)| words);
            known.split(':').next().unwrap_or_default().to_owned()
        }
        (Input::Text(_), Value::Text(text)) => text.clone(),
        (Input::Number(_), Value::Text(_)) | (Input::Text(_), Value::Number(_)) => String::new(),
    }
}

impl Described for UpdateQuota {
    fn fields(&self) -> &'static [Field<Self>] {
        FIELDS
    }

    fn line(&self, facts: &Facts) -> String {
        let Some(known) = facts.quota(&self.quota) else { return format!("{} is not there", self.quota) };
        let before = Self { quota: self.quota.clone(), settings: known.settings.clone() };
        let (shown, shown_now) = (before.shown(facts), self.shown(facts));
        let changed = shown.iter().zip(&shown_now).filter(|(before, after)| before.value != after.value);
        let mut parts: Vec<String> = changed
            .map(|(before, after)| {
                let (was, is) = (words(&before.input, &before.value), words(&after.input, &after.value));
                format!("{} {was} → {is}", after.label.to_lowercase())
            })
            .collect();
        let (was, is) = (&before.settings, &self.settings);
        if was.child_level != is.child_level || was.self_level != is.self_level {
            parts.push("other preemption policies".to_owned());
        }
        if parts.is_empty() {
            return format!("{} keeps its settings", self.quota);
        }
        format!("{}: {}", self.quota, parts.join(", "))
    }

    fn command(self) -> Command {
        Command::UpdateQuota(self)
    }
}
