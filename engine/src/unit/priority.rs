//! Priorities, modules, and sets of both.

use std::fmt;

use serde::Deserialize;
use serde::Serialize;

/// 1 to 9, larger is more important, 1 if not stated (rules 1.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("minimum" = 1, "maximum" = 9)))]
#[serde(try_from = "i64", into = "i64")]
pub struct Priority(u8);

impl Priority {
    /// The default.
    pub const LOWEST: Self = Self(1);
    /// The most important.
    pub const HIGHEST: Self = Self(9);

    /// `value`, if it is 1 to 9.
    pub fn new(value: i64) -> Result<Self, BadPriority> {
        match u8::try_from(value) {
            Ok(small @ 1..=9) => Ok(Self(small)),
            Ok(_) | Err(_) => Err(BadPriority(value)),
        }
    }

    /// The number, 1 to 9.
    #[must_use]
    pub fn get(self) -> u8 {
        self.0
    }
}

impl Default for Priority {
    fn default() -> Self {
        Self::LOWEST
    }
}

impl TryFrom<i64> for Priority {
    type Error = BadPriority;
    fn try_from(value: i64) -> Result<Self, BadPriority> {
        Self::new(value)
    }
}

impl From<Priority> for i64 {
    fn from(priority: Priority) -> Self {
        Self::from(priority.0)
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// A number that is no priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadPriority(i64);

impl fmt::Display for BadPriority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "priority {} is not between 1 and 9", self.0)
    }
}

/// A set of priorities. Serialised as the list of its members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(from = "Vec<Priority>", into = "Vec<Priority>")]
pub struct PrioritySet(u16);

impl PrioritySet {
    /// The priorities from `low` to `high`, both included.
    #[must_use]
    pub fn range(low: Priority, high: Priority) -> Self {
        (low.0..=high.0).map(Priority).collect()
    }

    /// Whether `priority` belongs to it.
    #[must_use]
    pub fn contains(self, priority: Priority) -> bool {
        self.0 & (1 << priority.0) != 0
    }

    /// Whether a priority belongs to both.
    #[must_use]
    pub fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Adds a priority.
    pub fn insert(&mut self, priority: Priority) {
        self.0 |= 1 << priority.0;
    }

    /// Its members, lowest first.
    pub fn iter(self) -> impl DoubleEndedIterator<Item = Priority> {
        (1..=9).map(Priority).filter(move |priority| self.contains(*priority))
    }

    /// Its lowest member.
    #[must_use]
    pub fn lowest(self) -> Option<Priority> {
        self.iter().next()
    }

    /// Its highest member.
    #[must_use]
    pub fn highest(self) -> Option<Priority> {
        self.iter().next_back()
    }
}

impl FromIterator<Priority> for PrioritySet {
    fn from_iter<I: IntoIterator<Item = Priority>>(members: I) -> Self {
        Self(members.into_iter().fold(0, |bits, priority| bits | (1 << priority.0)))
    }
}

impl From<Vec<Priority>> for PrioritySet {
    fn from(members: Vec<Priority>) -> Self {
        members.into_iter().collect()
    }
}

impl From<PrioritySet> for Vec<Priority> {
    fn from(set: PrioritySet) -> Self {
        set.iter().collect()
    }
}

/// `6 to 9`, `exactly 4`, `1, 3 and 5`.
impl fmt::Display for PrioritySet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Some(low), Some(high)) = (self.lowest(), self.highest()) else {
            return f.write_str("no priority");
        };
        if low == high {
            return write!(f, "exactly {low}");
        }
        if *self == Self::range(low, high) {
            return write!(f, "{low} to {high}");
        }
        let all: Vec<String> = self.iter().map(|priority| priority.to_string()).collect();
        write!(f, "{} and {high}", all[..all.len() - 1].join(", "))
    }
}

/// The product module of a job (rules 1.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum Module {
    /// Deep Learning Containers: training jobs.
    #[default]
    Dlc,
    /// Data Science Workshop: development instances.
    Dsw,
    /// Elastic Algorithm Service: inference services, which do not end by themselves.
    Eas,
}

impl Module {
    /// All modules.
    pub const ALL: [Self; 3] = [Self::Dlc, Self::Dsw, Self::Eas];

    /// The product's abbreviation.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Dlc => "DLC",
            Self::Dsw => "DSW",
            Self::Eas => "EAS",
        }
    }
}

impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A set of modules. Serialised as the list of its members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(from = "Vec<Module>", into = "Vec<Module>")]
pub struct ModuleSet(u8);

impl ModuleSet {
    /// Whether `module` belongs to it.
    #[must_use]
    pub fn contains(self, module: Module) -> bool {
        self.0 & (1 << module as u8) != 0
    }

    /// Its members, in the modules' order.
    pub fn iter(self) -> impl Iterator<Item = Module> {
        Module::ALL.into_iter().filter(move |module| self.contains(*module))
    }

    /// Whether it has no member.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl FromIterator<Module> for ModuleSet {
    fn from_iter<I: IntoIterator<Item = Module>>(members: I) -> Self {
        Self(members.into_iter().fold(0, |bits, module| bits | (1 << module as u8)))
    }
}

impl From<Vec<Module>> for ModuleSet {
    fn from(members: Vec<Module>) -> Self {
        members.into_iter().collect()
    }
}

impl From<ModuleSet> for Vec<Module> {
    fn from(set: ModuleSet) -> Self {
        set.iter().collect()
    }
}

/// `DLC and DSW`.
impl fmt::Display for ModuleSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.iter().map(Module::as_str).collect();
        match names.as_slice() {
            [] => f.write_str("no module"),
            [one] => f.write_str(one),
            [first @ .., last] => write!(f, "{} and {last}", first.join(", ")),
        }
    }
}
