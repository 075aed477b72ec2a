//! Values of a dimension as people write them: `88 GPUs`, `1.5 h100 GPUs`, `4 CPUs`, `16 GiB`.

use crate::unit::amount::Dimension;
use crate::unit::amount::DimensionKind;

/// The value without its unit: GPUs and CPUs from thousandths, memory in GiB where it is whole.
#[must_use]
pub fn bare(dimension: &Dimension, value: i64) -> String {
    match dimension.kind {
        DimensionKind::Gpu | DimensionKind::Cpu => thousandths(value),
        DimensionKind::Memory if value % 1024 == 0 => (value / 1024).to_string(),
        DimensionKind::Memory | DimensionKind::Other => value.to_string(),
    }
}

/// The value with its unit.
#[must_use]
pub fn quantity(dimension: &Dimension, value: i64) -> String {
    let number = bare(dimension, value);
    let is_one = number == "1";
    match dimension.kind {
        DimensionKind::Gpu if dimension.name == "gpu" => format!("{number} {}", if is_one { "GPU" } else { "GPUs" }),
        DimensionKind::Gpu => format!("{number} {} {}", dimension.name, if is_one { "GPU" } else { "GPUs" }),
        DimensionKind::Cpu => format!("{number} {}", if is_one { "CPU" } else { "CPUs" }),
        DimensionKind::Memory if value % 1024 == 0 => format!("{number} GiB"),
        DimensionKind::Memory => format!("{number} MiB"),
        DimensionKind::Other => format!("{number} {}", dimension.name),
    }
}

/// `16`, `0.5`, `-1.25`.
fn thousandths(value: i64) -> String {
    let sign = if value < 0 { "-" } else { "" };
    let (whole, rest) = (value.unsigned_abs() / 1000, value.unsigned_abs() % 1000);
    if rest == 0 {
        return format!("{sign}{whole}");
    }
    format!("{sign}{whole}.{}", format!("{rest:03}").trim_end_matches('0'))
}

/// A price from micro-units: `0.011`, `10`.
#[must_use]
pub fn price(micros: i64) -> String {
    let sign = if micros < 0 { "-" } else { "" };
    let (whole, rest) = (micros.unsigned_abs() / 1_000_000, micros.unsigned_abs() % 1_000_000);
    if rest == 0 {
        return format!("{sign}{whole}");
    }
    format!("{sign}{whole}.{}", format!("{rest:06}").trim_end_matches('0'))
}
