//! A chart as data: what the module that draws it is told. Lines are told apart by their ink, to which the stylesheet
//! gives a colour, so that a chart follows the theme without being drawn again.

use serde::Deserialize;
use serde::Serialize;

/// What a line stands for. Its colour in the drawing is its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ink {
    /// The axes and their words.
    Axis = 1,
    /// The lines behind everything.
    Grid = 2,
    /// The market price.
    Price = 3,
    /// Its average.
    Average = 4,
    /// A bid.
    Bid = 5,
    /// The inventory.
    Inventory = 6,
    /// What is held of it.
    Held = 7,
    /// A plan's beginning as it would go on by itself.
    Base = 8,
    /// A variant of it.
    Variant = 9,
}

/// A line through points.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Curve {
    /// What it stands for.
    pub ink: Ink,
    /// Times in milliseconds since the epoch, and thousandths of the chart's unit.
    pub points: Vec<(i64, i64)>,
}

impl Curve {
    /// A line that keeps each value until the next, and the last one until `to`.
    #[must_use]
    pub fn steps(ink: Ink, values: &[(i64, i64)], to: i64) -> Self {
        let ends = values.iter().skip(1).map(|(at, _)| *at).chain([to]);
        Self {
            ink,
            points: values.iter().zip(ends).flat_map(|((at, value), end)| [(*at, *value), (end, *value)]).collect(),
        }
    }

    /// A level line.
    #[must_use]
    pub fn level(ink: Ink, value: i64, from: i64, to: i64) -> Self {
        Self { ink, points: vec![(from, value), (to, value)] }
    }
}

/// A chart over time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chart {
    /// In CSS pixels.
    pub width: u32,
    /// In CSS pixels.
    pub height: u32,
    /// Where time begins, in milliseconds since the epoch.
    pub from: i64,
    /// Where it ends.
    pub to: i64,
    /// The time from which others are counted, and its name: what was goes up to now, a plan goes on from its start.
    pub origin: (i64, String),
    /// The highest value that can be seen, in thousandths of the unit; the lowest is 0.
    pub top: i64,
    /// What is written behind values, such as ` %`.
    pub unit: String,
    /// The lines, the first at the back.
    pub curves: Vec<Curve>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_lasts_until_the_next_one() {
        let curve = Curve::steps(Ink::Price, &[(0, 5), (10, 7)], 30);
        assert_eq!(curve.points, [(0, 5), (10, 5), (10, 7), (30, 7)]);
    }
}
