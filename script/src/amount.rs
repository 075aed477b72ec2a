//! Amounts and the dimensions that they are of.

use engine::message::command::AmountByName;
use engine::unit::amount::Dimension;
use engine::unit::amount::DimensionKind;
use engine::unit::decimal::thousandths;

use crate::about::about;

/// The dimension of a number without a name.
pub(crate) const GPU: &str = "gpu";

/// MiB in a GiB.
const GIB: i64 = 1024;

/// What a dimension counts; a name that is not known otherwise is a type of GPUs.
fn kind(name: &str) -> DimensionKind {
    match name {
        "cpu" => DimensionKind::Cpu,
        "memory" => DimensionKind::Memory,
        "rdma" => DimensionKind::Other,
        _ => DimensionKind::Gpu,
    }
}

/// The dimension of this name.
pub(crate) fn dimension(name: &str) -> Dimension {
    Dimension { name: name.to_owned(), kind: kind(name) }
}

/// `8`, `0.5`, `h100=8`, `8,cpu=64,memory=512`: GPUs, cores and GiB.
///
/// # Errors
/// In words: which part is no amount.
pub fn read(word: &str) -> Result<AmountByName, String> {
    let mut amount = AmountByName::new();
    for part in word.split(',') {
        let (name, number) = part.split_once('=').unwrap_or((GPU, part));
        let value = thousandths(number).and_then(|value| match kind(name) {
            DimensionKind::Gpu | DimensionKind::Cpu => Some(value),
            DimensionKind::Memory => value.checked_mul(GIB).map(|value| value / 1000),
            DimensionKind::Other => Some(value / 1000),
        });
        let wrong = || {
            let of = if name == GPU { "GPUs" } else { name };
            about(number, &["is no number of ", of].concat())
        };
        if amount.insert(name.to_owned(), value.ok_or_else(wrong)?).is_some() {
            return Err(about(word, &["says ", name, " twice"].concat()));
        }
    }
    Ok(amount)
}

#[cfg(test)]
mod tests {
    use super::read;

    #[track_caller]
    fn check(word: &str, expected: &[(&str, i64)]) {
        let amount = read(word).unwrap();
        let read: Vec<(&str, i64)> = amount.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        assert_eq!(read, expected);
    }

    #[test]
    fn a_number_without_a_name_counts_gpus() {
        check("8", &[("gpu", 8_000)]);
        check("0.25", &[("gpu", 250)]);
    }

    #[test]
    fn every_dimension_has_its_unit() {
        check("8,cpu=1.5,memory=2,rdma=4", &[("cpu", 1_500), ("gpu", 8_000), ("memory", 2_048), ("rdma", 4)]);
        check("h100=8,a100=4", &[("a100", 4_000), ("h100", 8_000)]);
    }

    #[test]
    fn what_is_no_amount_is_named() {
        assert_eq!(read("eight").unwrap_err(), "\"eight\" is no number of GPUs");
        assert_eq!(read("8,cpu=many").unwrap_err(), "\"many\" is no number of cpu");
        assert_eq!(read("8,gpu=4").unwrap_err(), "\"8,gpu=4\" says gpu twice");
    }
}
