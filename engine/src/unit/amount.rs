//! Amounts: vectors over the cluster's dimensions (rules 1.1).

use std::ops::AddAssign;
use std::ops::Index;
use std::ops::IndexMut;
use std::ops::SubAssign;

use serde::Deserialize;
use serde::Deserializer;
use serde::Serialize;
use serde::Serializer;

/// How many dimensions a cluster may declare.
pub const DIMENSIONS_MAX: usize = 8;

/// One whole GPU in the unit of GPU dimensions.
pub const GPU: i64 = 1000;

/// What a dimension counts, and in which unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DimensionKind {
    /// GPUs (of any type, or of one), in thousandths of a GPU.
    Gpu,
    /// CPU, in millicores.
    Cpu,
    /// Memory, in MiB.
    Memory,
    /// Anything else, in whole units.
    Other,
}

/// A dimension that the cluster declares, such as `gpu`, `h100` or `cpu`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Dimension {
    /// Its name on the wire.
    pub name: String,
    /// Its unit.
    pub kind: DimensionKind,
}

/// An amount in every dimension, in the dimensions' own units. Serialised as a list without trailing zeros.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Amount([i64; DIMENSIONS_MAX]);

impl Amount {
    /// Nothing in every dimension.
    pub const ZERO: Self = Self([0; DIMENSIONS_MAX]);

    /// The least of all, in the order in which amounts are listed.
    pub const MIN: Self = Self([i64::MIN; DIMENSIONS_MAX]);

    /// An amount of `value` in dimension `dimension`, nothing elsewhere.
    #[must_use]
    pub fn of(dimension: usize, value: i64) -> Self {
        let mut amount = Self::ZERO;
        amount[dimension] = value;
        amount
    }

    /// The amount that has this value in each dimension.
    #[must_use]
    pub fn each(value: impl FnMut(usize) -> i64) -> Self {
        Self(std::array::from_fn(value))
    }

    /// The dimensions in which it is not zero.
    pub fn dimensions(&self) -> impl Iterator<Item = usize> + '_ {
        (0..DIMENSIONS_MAX).filter(|&at| self.0[at] != 0)
    }

    /// Each dimension's value, in order.
    pub fn values(&self) -> impl Iterator<Item = i64> + '_ {
        self.0.iter().copied()
    }

    /// Whether every dimension is zero.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.0.iter().all(|value| *value == 0)
    }

    /// Whether this is at most `other` in every dimension.
    #[must_use]
    pub fn fits_in(&self, other: &Self) -> bool {
        self.first_over(other).is_none()
    }

    /// The first dimension in which this asks for something and exceeds `other`.
    #[must_use]
    pub fn first_over(&self, other: &Self) -> Option<usize> {
        (0..DIMENSIONS_MAX).find(|&dimension| self.0[dimension] > 0 && self.0[dimension] > other.0[dimension])
    }

    /// The smaller of both in every dimension.
    #[must_use]
    pub fn lesser(&self, other: &Self) -> Self {
        self.zip(other, i64::min)
    }

    /// The larger of both in every dimension.
    #[must_use]
    pub fn greater(&self, other: &Self) -> Self {
        self.zip(other, i64::max)
    }

    /// What is positive; zero elsewhere.
    #[must_use]
    pub fn positive(&self) -> Self {
        self.greater(&Self::ZERO)
    }

    /// This amount `count` times, saturating.
    #[must_use]
    pub fn times(&self, count: u32) -> Self {
        Self(self.0.map(|value| value.saturating_mul(i64::from(count))))
    }

    /// The sum, saturating, so that no input can overflow it.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        self.zip(other, i64::saturating_add)
    }

    /// The difference, saturating.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        self.zip(other, i64::saturating_sub)
    }

    fn zip(&self, other: &Self, combine: impl Fn(i64, i64) -> i64) -> Self {
        let mut result = *self;
        for (mine, theirs) in result.0.iter_mut().zip(other.0) {
            *mine = combine(*mine, theirs);
        }
        result
    }
}

impl Index<usize> for Amount {
    type Output = i64;
    fn index(&self, dimension: usize) -> &i64 {
        &self.0[dimension]
    }
}

impl IndexMut<usize> for Amount {
    fn index_mut(&mut self, dimension: usize) -> &mut i64 {
        &mut self.0[dimension]
    }
}

impl AddAssign for Amount {
    fn add_assign(&mut self, other: Self) {
        *self = self.plus(&other);
    }
}

impl SubAssign for Amount {
    fn sub_assign(&mut self, other: Self) {
        *self = self.minus(&other);
    }
}

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let stated = self.0.iter().rposition(|value| *value != 0).map_or(0, |last| last + 1);
        serializer.collect_seq(&self.0[..stated])
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let values = Vec::<i64>::deserialize(deserializer)?;
        if values.len() > DIMENSIONS_MAX {
            return Err(serde::de::Error::custom(format!(
                "an amount has at most {DIMENSIONS_MAX} dimensions, here are {}",
                values.len()
            )));
        }
        let mut amount = Self::ZERO;
        amount.0[..values.len()].copy_from_slice(&values);
        Ok(amount)
    }
}

/// A guaranteed amount: some dimensions are stated, the others are not constrained by it (rules 1.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Guarantee {
    /// The amount in the stated dimensions, zero elsewhere.
    pub amount: Amount,
    /// A bit for each stated dimension.
    pub stated: u8,
}

impl Guarantee {
    /// A guarantee that states exactly the dimensions given.
    #[must_use]
    pub fn new(stated: impl IntoIterator<Item = (usize, i64)>) -> Self {
        let mut guarantee = Self::default();
        for (dimension, value) in stated {
            guarantee.state(dimension, value);
        }
        guarantee
    }

    /// States `value` in a dimension.
    pub fn state(&mut self, dimension: usize, value: i64) {
        self.amount[dimension] = value;
        self.stated |= 1 << dimension;
    }

    /// Whether dimension `dimension` is stated.
    #[must_use]
    pub fn states(&self, dimension: usize) -> bool {
        self.stated & (1 << dimension) != 0
    }

    /// The first stated dimension in which a request of `asked` makes `used` exceed the guarantee. A dimension in
    /// which nothing is asked for never blocks.
    #[must_use]
    pub fn first_exceeded(&self, used: &Amount, asked: &Amount) -> Option<usize> {
        (0..DIMENSIONS_MAX).find(|&dimension| {
            self.states(dimension)
                && asked[dimension] > 0
                && used[dimension].saturating_add(asked[dimension]) > self.amount[dimension]
        })
    }

    /// `amount` in the stated dimensions, zero elsewhere.
    #[must_use]
    pub fn masked(&self, amount: &Amount) -> Amount {
        let mut masked = Amount::ZERO;
        for dimension in (0..DIMENSIONS_MAX).filter(|&dimension| self.states(dimension)) {
            masked[dimension] = amount[dimension];
        }
        masked
    }
}
