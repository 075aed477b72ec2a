//! A figure, its target, and how the two are printed.

use std::fmt;

use serde::Serialize;

/// Which way a figure is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    Lower,
    Higher,
}

/// Something measured.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    pub what: String,
    pub value: f64,
    pub target: f64,
    pub unit: &'static str,
    pub better: Better,
    /// How many times the target it is; at most 1 where lower is better, at least 1 where higher is. Of a target of
    /// nothing: 1 when it is reached, and above otherwise.
    pub ratio: f64,
    /// How many commands, rounds or events were measured together.
    pub work: u64,
    pub is_reached: bool,
}

impl Figure {
    /// A figure that should be at most its target.
    #[must_use]
    pub fn at_most(what: &str, value: f64, target: f64, unit: &'static str) -> Self {
        Self::new(what, value, target, unit, Better::Lower)
    }

    /// A figure that should be at least its target.
    #[must_use]
    pub fn at_least(what: &str, value: f64, target: f64, unit: &'static str) -> Self {
        Self::new(what, value, target, unit, Better::Higher)
    }

    fn new(what: &str, value: f64, target: f64, unit: &'static str, better: Better) -> Self {
        let is_reached = match better {
            Better::Lower => value <= target,
            Better::Higher => value >= target,
        };
        let ratio = if target > 0.0 { value / target } else { 1.0 + value };
        Self { what: what.to_owned(), value, target, unit, better, ratio, work: 1, is_reached }
    }

    /// The figure, of so many commands, rounds or events.
    #[must_use]
    pub fn of(self, work: usize) -> Self {
        Self { work: work as u64, ..self }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, value, target, unit, better, ratio, work: _, is_reached } = self;
        let sign = match better {
            Better::Lower => "<=",
            Better::Higher => ">=",
        };
        let mark = if *is_reached { "reached" } else { "missed" };
        let digits = if *value < 10.0 { 2 } else { 0 };
        write!(f, "{what:<72} {value:>11.digits$} {unit:<9} {sign} {target:>9} {ratio:>7.2}x {mark}")
    }
}

#[cfg(test)]
mod tests {
    use super::Figure;

    #[test]
    fn reached_depends_on_the_direction() {
        assert!(Figure::at_most("time", 1.0, 2.0, "ms").is_reached);
        assert!(!Figure::at_most("time", 3.0, 2.0, "ms").is_reached);
        assert!(Figure::at_least("speed", 3.0, 2.0, "1/s").is_reached);
        assert!(!Figure::at_least("speed", 1.0, 2.0, "1/s").is_reached);
    }
}
