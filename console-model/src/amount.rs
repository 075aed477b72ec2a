//! An amount of a dimension as people type it: GPUs and CPUs with decimals, memory in GiB, or
//! in MiB where that stands behind the number.
//!
//! Nothing typed is not 0. Whoever means 0 writes it.

use engine::unit::amount::Dimension;
use engine::unit::amount::DimensionKind;

/// The unit of memory of which gibibytes are not whole, behind its number.
const MIB: &str = "MiB";

/// The value in the dimension's own unit. `asked` is what the field says while it is empty.
pub fn value(dimension: &Dimension, text: &str, asked: impl FnOnce(&str) -> String) -> Result<i64, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err(asked(unit(dimension)));
    }
    match dimension.kind {
        DimensionKind::Gpu | DimensionKind::Cpu => {
            thousandths(text).ok_or_else(|| format!("“{text}” is not an amount; write a number such as 8 or 0.5"))
        }
        DimensionKind::Memory => mib(text).ok_or_else(|| not_whole(text)),
        DimensionKind::Other => whole(text).ok_or_else(|| not_whole(text)),
    }
}

/// The unit that people write a dimension in.
#[must_use]
pub fn unit(dimension: &Dimension) -> &'static str {
    match dimension.kind {
        DimensionKind::Gpu => "GPUs",
        DimensionKind::Cpu => "CPUs",
        DimensionKind::Memory => "GiB",
        DimensionKind::Other => "units",
    }
}

/// Of memory, whose unit is GiB unless it is written.
fn mib(text: &str) -> Option<i64> {
    let in_mib = text.strip_suffix(MIB).map(|text| whole(text.trim_end()));
    in_mib.unwrap_or_else(|| whole(text)?.checked_mul(1024))
}

fn not_whole(text: &str) -> String {
    format!("“{text}” is not an amount; write a whole number such as 8")
}

fn whole(text: &str) -> Option<i64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

fn thousandths(text: &str) -> Option<i64> {
    let (units, decimals) = text.split_once('.').unwrap_or((text, ""));
    if decimals.len() > 3 || !decimals.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let thousandths: i64 = format!("{decimals:0<3}").parse().ok()?;
    whole(units)?.checked_mul(1000)?.checked_add(thousandths)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dimension(kind: DimensionKind) -> Dimension {
        Dimension { name: "any".to_owned(), kind }
    }

    fn typed(kind: DimensionKind, text: &str) -> Result<i64, String> {
        value(&dimension(kind), text, |unit| format!("Enter the {unit}"))
    }

    #[test]
    fn nothing_typed_is_not_zero() {
        for kind in [DimensionKind::Gpu, DimensionKind::Cpu, DimensionKind::Memory, DimensionKind::Other] {
            let asked = format!("Enter the {}", unit(&dimension(kind)));
            assert_eq!(["", "  "].map(|text| typed(kind, text)), [Err(asked.clone()), Err(asked)]);
            assert_eq!(typed(kind, " 0 "), Ok(0));
        }
    }

    #[test]
    fn parts_of_gpus_are_thousandths() {
        let gpu = |text| typed(DimensionKind::Gpu, text);
        assert_eq!(["0.5", "16", "1.25"].map(gpu), [Ok(500), Ok(16_000), Ok(1_250)]);
    }

    #[test]
    fn memory_is_typed_in_gib() {
        assert_eq!(typed(DimensionKind::Memory, "2"), Ok(2048));
        assert_eq!(typed(DimensionKind::Memory, "1536 MiB"), Ok(1536));
    }

    #[test]
    fn what_is_not_a_number_is_refused() {
        let texts = ["-1", "+1", "a", "1e3", "8 GPUs", "0x8", "99999999999999999999", "９", "1,5"];
        for kind in [DimensionKind::Gpu, DimensionKind::Memory, DimensionKind::Other] {
            assert!(texts.into_iter().all(|text| typed(kind, text).is_err()));
        }
        assert!(["0.0001", ".5", ".", "1.5.2"].into_iter().all(|text| typed(DimensionKind::Gpu, text).is_err()));
        assert!(typed(DimensionKind::Memory, "0.5").is_err());
    }
}
