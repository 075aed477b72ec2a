//! GPUs as text.

use engine::unit::amount::Dimension;
use engine::unit::amount::DimensionKind;
use engine::unit::quantity;

fn gpu() -> Dimension {
    Dimension { name: "gpu".to_owned(), kind: DimensionKind::Gpu }
}

/// `16`.
#[must_use]
pub fn bare(thousandths: i64) -> String {
    quantity::bare(&gpu(), thousandths)
}

/// `16 GPUs`.
#[must_use]
pub fn gpus(thousandths: i64) -> String {
    quantity::quantity(&gpu(), thousandths)
}
