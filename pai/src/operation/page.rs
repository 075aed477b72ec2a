//! Which part of a list is asked for.

use crate::operation::fields::Fields;
use crate::operation::misfit::Misfit;

/// How many things a page can have.
const SIZE_MAX: i64 = 100;
/// How many pages can be asked for: enough for everything that the engine holds.
const NUMBER_MAX: i64 = 1_000_000;

/// A part of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// How many things stand before it.
    pub skip: i64,
    /// How many things it has at most.
    pub take: i64,
}

impl Page {
    pub(crate) fn read(fields: &Fields, size: i64) -> Result<Self, Misfit> {
        let number = fields.number("PageNumber", 1, NUMBER_MAX)?.unwrap_or(1);
        let take = fields.number("PageSize", 1, SIZE_MAX)?.unwrap_or(size);
        Ok(Self { skip: (number - 1) * take, take })
    }
}

/// In which order a list comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The smallest first.
    Ascending,
    /// The largest first.
    Descending,
}

impl Direction {
    pub(crate) fn read(fields: &Fields) -> Result<Option<Self>, Misfit> {
        fields.one_of("Order", &[("asc", Self::Ascending), ("desc", Self::Descending)])
    }
}
