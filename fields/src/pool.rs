//! A pool of machines.

use engine::message::command::Command;
use engine::message::command::PutGroup;

use crate::facts::Facts;
use crate::field::Amounts;
use crate::field::Described;
use crate::field::Field;
use crate::field::Holds;
use crate::list::List;
use crate::number::Number;

const FIELDS: &[Field<PutGroup>] = &[
    Field {
        key: "pool",
        label: "Pool",
        about: "What the pool holds altogether.",
        holds: Holds::Amounts(Amounts {
            names: |group| group.pool.iter().flatten().map(|(name, _)| name.clone()).collect(),
            label: |_, number| number.unit.to_owned(),
            range: |group, facts, name| {
                let usual = Number::amount(facts, name);
                let most = was(group, facts, name).saturating_mul(2).max(usual.most);
                Number { most, ..usual }
            },
            read: |group, name| group.pool.as_ref().and_then(|pool| pool.get(name)).copied().unwrap_or(0),
            write: |group, _, name, value| {
                if let Some(amount) = group.pool.as_mut().and_then(|pool| pool.get_mut(name)) {
                    *amount = value;
                }
            },
        }),
    },
    Field {
        key: "group",
        label: "Pool",
        about: "The pool that grows or shrinks.",
        holds: Holds::Text {
            list: |_| List::Pools,
            read: |group| group.group.to_string(),
            write: |group, facts, name| {
                let known = facts.groups.iter().find(|known| known.group.as_str() == name && known.pool.is_some());
                group.clone_from(known.ok_or_else(|| format!("there is no pool “{name}”"))?);
                Ok(())
            },
        },
    },
];

/// What the pool held before.
fn was(group: &PutGroup, facts: &Facts, name: &str) -> i64 {
    let known = facts.groups.iter().find(|known| known.group == group.group).and_then(|known| known.pool.as_ref());
    known.and_then(|pool| pool.get(name)).copied().unwrap_or(0)
}

/// The first pool, as it is.
pub(crate) fn begin(facts: &Facts) -> Option<Command> {
    facts.groups.iter().find(|group| group.pool.is_some()).cloned().map(Described::command)
}

impl Described for PutGroup {
    fn fields(&self) -> &'static [Field<Self>] {
        FIELDS
    }

    fn line(&self, facts: &Facts) -> String {
        let parts = self.pool.iter().flatten().map(|(name, value)| {
            format!("{} → {}", facts.bare(name, was(self, facts, name)), facts.amount(name, *value))
        });
        format!("{} {}", self.group, parts.collect::<Vec<_>>().join(", "))
    }

    fn command(self) -> Command {
        Command::PutGroup(self)
    }
}
