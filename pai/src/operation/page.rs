//! Which part of a list is asked for, and in which order.

use engine::unit::time::Timestamp;

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
        Self::of(fields, "PageNumber", size)
    }

    /// A page whose number has another name.
    pub(crate) fn of(fields: &Fields, number: &str, size: i64) -> Result<Self, Misfit> {
        let number = fields.number(number, 1, NUMBER_MAX)?.unwrap_or(1);
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

/// A span of time, both ends included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Not before.
    pub from: Option<Timestamp>,
    /// Not after.
    pub until: Option<Timestamp>,
}

impl Span {
    pub(crate) fn read(fields: &Fields, from: &str, until: &str) -> Result<Self, Misfit> {
        Ok(Self { from: fields.time(from)?, until: fields.time(until)? })
    }

    /// A span with a name of its own.
    pub(crate) fn inside(fields: &Fields, name: &str) -> Result<Self, Misfit> {
        let span = fields.inside(name)?;
        span.map_or_else(|| Ok(Self::default()), |span| Self::read(&span, "StartTime", "EndTime"))
    }

    /// Whether nothing is asked for.
    #[must_use]
    pub fn is_open(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a time lies in it.
    #[must_use]
    pub fn has(&self, at: Timestamp) -> bool {
        self.from.is_none_or(|from| from <= at) && self.until.is_none_or(|until| at <= until)
    }
}
