//! Numbers with a unit and a range, as people drag and type them.

use engine::unit::amount::DimensionKind;
use engine::unit::amount::GPU;
use engine::unit::time::Millis;

use crate::facts::Facts;

/// Micro-units of a unit of currency.
const COIN: i64 = 1_000_000;

/// What a number may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Number {
    /// Its unit, for people; empty for plain counts.
    pub unit: &'static str,
    /// The smallest value.
    pub least: i64,
    /// The largest value.
    pub most: i64,
    /// The distance between two values.
    pub step: i64,
    /// How much of the value is one unit.
    pub scale: i64,
}

impl Number {
    /// A plain count.
    #[must_use]
    pub(crate) fn count(least: i64, most: i64) -> Self {
        Self { unit: "", least, most, step: 1, scale: 1 }
    }

    /// In percent, by tens.
    #[must_use]
    pub(crate) fn tens_of_percent() -> Self {
        Self { unit: "%", least: 10, most: 90, step: 10, scale: 1 }
    }

    /// A price for an instance-minute, from a tenth of the original price to all of it, in so many steps.
    #[must_use]
    pub(crate) fn price(original: i64) -> Self {
        Self { unit: "a minute", least: original / 10, most: original, step: (original / 100).max(1), scale: COIN }
    }

    /// A period from nothing to so many units.
    #[must_use]
    pub(crate) fn period(unit: Period, most: i64, step: i64) -> Self {
        let (unit, scale) = match unit {
            Period::Seconds => ("s", 1_000),
            Period::Minutes => ("min", Millis::MINUTE.0),
            Period::Hours => ("h", Millis::HOUR.0),
        };
        Self { unit, least: 0, most: most * scale, step, scale }
    }

    /// An amount of a dimension, up to what is usual for a pod.
    #[must_use]
    pub(crate) fn amount(facts: &Facts, dimension: &str) -> Self {
        let kind = facts.dimensions.iter().find(|known| known.name == dimension).map(|known| known.kind);
        let (unit, scale, step, most) = match kind {
            Some(DimensionKind::Gpu) => ("GPUs", GPU, GPU, 64 * GPU),
            Some(DimensionKind::Cpu) => ("CPUs", 1000, 1000, 256_000),
            Some(DimensionKind::Memory) => ("GiB", 1024, 1024, 2 << 20),
            Some(DimensionKind::Other) | None => ("", 1, 1, 1_000),
        };
        Self { unit, least: 0, most, step, scale }
    }

    /// A value as people write it: in units, with no more decimals than are needed.
    #[must_use]
    pub fn text(&self, value: i64) -> String {
        let one = 10_i64.pow(self.decimals());
        let parts = i64::try_from(i128::from(value) * i128::from(one) / i128::from(self.scale.max(1)));
        let parts = parts.unwrap_or(i64::MAX);
        let (whole, part) = (parts / one, (parts % one).abs());
        if part == 0 {
            return whole.to_string();
        }
        let digits = format!("{part:0width$}", width = self.decimals() as usize);
        format!("{whole}.{}", digits.trim_end_matches('0'))
    }

    /// The value that somebody typed.
    #[must_use]
    pub fn parse(&self, text: &str) -> Option<i64> {
        let (whole, part) = text.trim().split_once('.').unwrap_or((text.trim(), ""));
        let decimals = self.decimals() as usize;
        let is_number = |digits: &str| digits.bytes().all(|digit| digit.is_ascii_digit());
        if whole.is_empty() || part.len() > decimals || !is_number(whole) || !is_number(part) {
            return None;
        }
        let parts: i128 = format!("{whole}{part:0<decimals$}").parse().ok()?;
        let one = 10_i128.pow(self.decimals());
        i64::try_from(parts.checked_mul(i128::from(self.scale))? / one).ok()
    }

    /// The range with where the number stands now, which may lie outside.
    #[must_use]
    pub(crate) fn including(self, now: i64) -> Self {
        Self { least: self.least.min(now), most: self.most.max(now), ..self }
    }

    /// The value in the range that is nearest to this one.
    #[must_use]
    pub(crate) fn nearest(&self, value: i64) -> i64 {
        value.clamp(self.least, self.most)
    }

    /// Digits behind the point.
    fn decimals(&self) -> u32 {
        match self.scale {
            COIN => 6,
            1 => 0,
            _ => 3,
        }
    }
}

/// In what a period is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Period {
    Seconds,
    Minutes,
    Hours,
}
