//! The shape of a gang: its pods without names. Jobs of equal shape share one.

use std::borrow::Cow;

use serde::Deserialize;
use serde::Serialize;

use crate::job::nodes::NodeChoice;
use crate::unit::amount::Amount;

/// Pods of one kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "PodsOfGang"))]
#[serde(deny_unknown_fields)]
pub struct Role {
    /// How many pods.
    pub count: u32,
    /// What each of them needs.
    pub amount: Amount,
}

/// A gang: all its pods start together or none does.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(from = "Written", into = "Written")]
pub struct Shape {
    roles: Vec<Role>,
    min_pods: Option<u32>,
    nodes: NodeChoice,
    /// Kept: what the gang needs in all; every judgement asks for it.
    gang_amount: Amount,
}

/// A shape as it is written.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct Written {
    roles: Vec<Role>,
    min_pods: Option<u32>,
    #[serde(default, skip_serializing_if = "NodeChoice::is_any")]
    nodes: NodeChoice,
}

impl From<Written> for Shape {
    fn from(written: Written) -> Self {
        Self::new(written.roles, written.min_pods).on(written.nodes)
    }
}

impl From<Shape> for Written {
    fn from(shape: Shape) -> Self {
        Self { roles: shape.roles, min_pods: shape.min_pods, nodes: shape.nodes }
    }
}

impl Shape {
    /// A shape of these kinds of pods. An elastic job has one kind, and a gang of `min_pods` of them.
    #[must_use]
    pub fn new(roles: Vec<Role>, min_pods: Option<u32>) -> Self {
        let mut shape = Self { roles, min_pods, nodes: NodeChoice::default(), gang_amount: Amount::ZERO };
        shape.gang_amount = shape.gang().fold(Amount::ZERO, |sum, role| sum.plus(&role.amount.times(role.count)));
        shape
    }

    /// The same pods on chosen nodes.
    #[must_use]
    pub fn on(self, nodes: NodeChoice) -> Self {
        Self { nodes, ..self }
    }

    /// The nodes that they may run on.
    #[must_use]
    pub fn nodes(&self) -> &NodeChoice {
        &self.nodes
    }

    /// The kinds of pods, as submitted.
    #[must_use]
    pub fn roles(&self) -> &[Role] {
        &self.roles
    }

    /// How many pods the gang has if the job is elastic.
    #[must_use]
    pub fn min_pods(&self) -> Option<u32> {
        self.min_pods
    }

    /// The roles of the gang: everything, or the minimum of an elastic job.
    pub fn gang(&self) -> impl Iterator<Item = Role> + '_ {
        self.roles.iter().map(|role| Role { count: self.min_pods.unwrap_or(role.count), amount: role.amount })
    }

    /// The same as a list.
    #[must_use]
    pub fn gang_roles(&self) -> Cow<'_, [Role]> {
        match self.min_pods {
            None => Cow::Borrowed(&self.roles),
            Some(_) => Cow::Owned(self.gang().collect()),
        }
    }

    /// What the gang needs in all.
    #[must_use]
    pub fn gang_amount(&self) -> Amount {
        self.gang_amount
    }

    /// The role of a gang whose pods are all the same.
    #[must_use]
    pub fn only_role(&self) -> Option<Role> {
        let mut roles = self.gang();
        roles.next().filter(|_| roles.next().is_none())
    }

    /// What each pod of the gang needs, in the order of the roles.
    pub fn gang_pod_amounts(&self) -> impl Iterator<Item = Amount> + '_ {
        self.gang().flat_map(|role| std::iter::repeat_n(role.amount, role.count as usize))
    }

    /// How many pods the gang has.
    #[must_use]
    pub fn gang_pods(&self) -> u32 {
        self.gang().fold(0, |sum, role| sum.saturating_add(role.count))
    }

    /// How many pods an elastic job may have above its minimum.
    #[must_use]
    pub fn extra_pods(&self) -> u32 {
        self.roles.iter().fold(0u32, |sum, role| sum.saturating_add(role.count)).saturating_sub(self.gang_pods())
    }

    /// What each pod above the minimum needs.
    #[must_use]
    pub fn extra_amount(&self) -> Amount {
        self.roles.first().map_or(Amount::ZERO, |role| role.amount)
    }
}
