//! GPUs move from one quota to another: what one gets, the other gives.

use engine::message::command::Command;
use engine::message::command::ScaleMode;
use engine::message::command::ScaleQuotas;
use engine::message::command::ScaleTarget;
use engine::unit::id::QuotaId;

use crate::facts::Facts;
use crate::facts::QuotaFacts;
use crate::field::Amounts;
use crate::field::Described;
use crate::field::Field;
use crate::field::Holds;
use crate::list::List;
use crate::number::Number;

const MODES: List = List::Words(&[("drain", "may finish"), ("evict", "are evicted")]);

const FIELDS: &[Field<ScaleQuotas>] = &[
    Field {
        key: "min",
        label: "Guaranteed",
        about: "What the quota is guaranteed from then on.",
        holds: Holds::Amounts(Amounts { names, label, range, read, write }),
    },
    Field {
        key: "quota",
        label: "Quota",
        about: "The quota whose guaranteed amount changes.",
        holds: Holds::Text {
            list: |_| List::Quotas,
            read: |scale| scale.targets.first().map(|target| target.quota.to_string()).unwrap_or_default(),
            write: |scale, facts, name| {
                let quota = &facts.quota_named(name)?.quota;
                let sibling = facts.siblings(name).into_iter().next().and_then(|name| QuotaId::new(&name).ok());
                *scale = unchanged(facts, quota, sibling.as_ref(), scale.mode);
                Ok(())
            },
        },
    },
    Field {
        key: "with",
        label: "Balance against",
        about: "The sibling that gives the difference or gets it; otherwise it is the parent's.",
        holds: Holds::Text {
            list: |scale| scale.targets.first().map_or(List::Typed, |target| List::Siblings(target.quota.clone())),
            read: |scale| scale.targets.get(1).map(|target| target.quota.to_string()).unwrap_or_default(),
            write: |scale, facts, name| {
                let first = scale.targets.first().map(|target| target.quota.clone()).ok_or("no quota is chosen")?;
                let with = if name.is_empty() { None } else { Some(sibling(facts, &first, name)?) };
                *scale = unchanged(facts, &first, with.as_ref(), scale.mode);
                Ok(())
            },
        },
    },
    Field {
        key: "mode",
        label: "Jobs that are no longer covered",
        about: "Whether jobs above the new amount may finish, or are evicted after their grace period.",
        holds: Holds::Text {
            list: |_| MODES,
            read: |scale| if scale.mode == ScaleMode::Evict { "evict" } else { "drain" }.to_owned(),
            write: |scale, _, mode| {
                scale.mode = if mode == "evict" { ScaleMode::Evict } else { ScaleMode::Drain };
                Ok(())
            },
        },
    },
];

fn names(scale: &ScaleQuotas) -> Vec<String> {
    scale.targets.first().map(|first| first.min.keys().cloned().collect()).unwrap_or_default()
}

fn label(scale: &ScaleQuotas, _: &Number) -> String {
    match &scale.targets[..] {
        [first, second, ..] => format!("{}, the rest of {}", first.quota, second.quota),
        [first] => first.quota.to_string(),
        [] => String::new(),
    }
}

/// Up to what both have, what the parent has, or twice as much at the root.
fn range(scale: &ScaleQuotas, facts: &Facts, name: &str) -> Number {
    let Some(first) = scale.targets.first() else { return Number::amount(facts, name) };
    let own = facts.min(&first.quota, name);
    let parent = facts.quota(&first.quota).and_then(|quota| quota.parent.as_ref());
    let most = match (scale.targets.get(1), parent) {
        (Some(second), _) => own + facts.min(&second.quota, name),
        (None, Some(parent)) => facts.min(parent, name),
        (None, None) => own.saturating_mul(2),
    };
    Number { most, ..Number::amount(facts, name) }
}

fn read(scale: &ScaleQuotas, name: &str) -> i64 {
    scale.targets.first().and_then(|first| first.min.get(name)).copied().unwrap_or(0)
}

fn write(scale: &mut ScaleQuotas, facts: &Facts, name: &str, value: i64) {
    let rest = range(scale, facts, name).most.max(read(scale, name)) - value;
    for (target, amount) in scale.targets.iter_mut().zip([value, rest]) {
        if let Some(own) = target.min.get_mut(name) {
            *own = amount;
        }
    }
}

/// The scaling that changes nothing yet.
fn unchanged(facts: &Facts, quota: &QuotaId, with: Option<&QuotaId>, mode: ScaleMode) -> ScaleQuotas {
    let target = |quota: &QuotaId| ScaleTarget {
        quota: quota.clone(),
        min: facts.quota(quota).map(|known| known.min.clone()).unwrap_or_default(),
    };
    ScaleQuotas { targets: [Some(quota), with].into_iter().flatten().map(target).collect(), mode }
}

fn sibling(facts: &Facts, quota: &QuotaId, name: &str) -> Result<QuotaId, String> {
    let sibling = facts.quota_named(name)?.quota.clone();
    let is_sibling = facts.siblings(quota.as_str()).iter().any(|other| other == name);
    if is_sibling { Ok(sibling) } else { Err(format!("{name} has not the same parent as {quota}")) }
}

/// The first quota with a sibling gets what that one gives; a single quota is scaled alone.
pub(crate) fn begin(facts: &Facts) -> Option<Command> {
    let sibling = |at: usize| {
        let known = &facts.quotas[at];
        let is_sibling = |other: &&QuotaFacts| other.parent == known.parent && !other.min.is_empty();
        known.parent.as_ref().and_then(|_| facts.quotas[at + 1..].iter().find(is_sibling)).map(|other| (known, other))
    };
    let pair = (0..facts.quotas.len()).filter(|at| !facts.quotas[*at].min.is_empty()).find_map(sibling);
    let (quota, with) = match pair {
        Some((quota, with)) => (quota, Some(&with.quota)),
        None => (facts.quotas.iter().find(|quota| !quota.min.is_empty())?, None),
    };
    Some(unchanged(facts, &quota.quota, with, ScaleMode::Drain).command())
}

impl Described for ScaleQuotas {
    fn fields(&self) -> &'static [Field<Self>] {
        FIELDS
    }

    fn line(&self, facts: &Facts) -> String {
        let mut parts = Vec::new();
        for target in &self.targets {
            for (name, value) in &target.min {
                let was = facts.min(&target.quota, name);
                if was != *value {
                    let (was, value) = (facts.bare(name, was), facts.amount(name, *value));
                    parts.push(format!("{} {was} → {value}", target.quota));
                }
            }
        }
        match (parts.is_empty(), self.targets.first()) {
            (true, Some(first)) => format!("{} keeps its amounts", first.quota),
            _ => parts.join(", "),
        }
    }

    fn command(self) -> Command {
        Command::ScaleQuotas(self)
    }
}
