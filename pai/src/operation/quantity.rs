//! Amounts as texts: `"8"` CPUs, `"0.5"` GPUs, `"64Gi"` of memory.

/// A decimal number in thousandths, if it has at most three digits after the point.
pub(crate) fn thousandths(text: &str) -> Option<i64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || fraction.len() > 3 || !is_digits(whole) || !is_digits(fraction) {
        return None;
    }
    let parts: i64 = format!("{fraction:0<3}").parse().ok()?;
    whole.parse::<i64>().ok()?.checked_mul(1000)?.checked_add(parts)
}

/// CPUs in thousandths: a decimal number, or thousandths with an `m`.
pub(crate) fn cpus(text: &str) -> Option<i64> {
    match text.strip_suffix('m') {
        Some(milli) if !milli.is_empty() && milli.bytes().all(|byte| byte.is_ascii_digit()) => milli.parse().ok(),
        Some(_) => None,
        None => thousandths(text),
    }
}

/// Memory in MiB, rounded up: a whole number of bytes, or of a unit from `K` to `T`, `Ki` to `Ti`.
pub(crate) fn mebibytes(text: &str) -> Option<i64> {
    const MIB: i128 = 1 << 20;
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let bytes_each: i128 = match &text[digits.len()..] {
        "" => 1,
        "K" => 1_000,
        "M" => 1_000_000,
        "G" | "GB" => 1_000_000_000,
        "T" | "TB" => 1_000_000_000_000,
        "Ki" | "KiB" => 1 << 10,
        "Mi" | "MiB" => 1 << 20,
        "Gi" | "GiB" => 1 << 30,
        "Ti" | "TiB" => 1 << 40,
        _ => return None,
    };
    let bytes = i128::from(thousandths(digits)?) * bytes_each;
    i64::try_from((bytes + 1000 * MIB - 1) / (1000 * MIB)).ok()
}

/// Thousandths as a decimal number.
pub(crate) fn decimal(thousandths: i64) -> String {
    let (whole, rest) = (thousandths / 1000, thousandths.unsigned_abs() % 1000);
    let text = format!("{whole}.{rest:03}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// MiB in the largest unit that needs no fraction.
pub(crate) fn memory(mebibytes: i64) -> String {
    if mebibytes % 1024 == 0 { format!("{}Gi", mebibytes / 1024) } else { format!("{mebibytes}Mi") }
}

#[cfg(test)]
mod tests {
    use super::cpus;
    use super::decimal;
    use super::mebibytes;
    use super::memory;
    use super::thousandths;

    #[test]
    fn what_is_written_is_read_as_the_same() {
        for value in [0, 1, 10, 250, 1000, 1001, 8000, 128_000, 1_000_000] {
            assert_eq!(thousandths(&decimal(value)), Some(value));
            assert_eq!(mebibytes(&memory(value)), Some(value));
        }
        assert_eq!((decimal(128_000).as_str(), decimal(500).as_str()), ("128", "0.5"));
        assert_eq!((memory(65_536).as_str(), memory(1500).as_str()), ("64Gi", "1500Mi"));
    }

    #[test]
    fn numbers() {
        assert_eq!(thousandths("8"), Some(8000));
        assert_eq!(thousandths("0.25"), Some(250));
        assert_eq!(cpus("500m"), Some(500));
        for text in ["", ".5", "-1", "1.0001", "1e3", "eight", "99999999999999999999"] {
            assert_eq!(thousandths(text), None, "{text}");
        }
        for text in ["m", "1.5m", "-5m"] {
            assert_eq!(cpus(text), None, "{text}");
        }
    }

    #[test]
    fn memory_is_rounded_up() {
        assert_eq!(mebibytes("64Gi"), Some(65_536));
        assert_eq!(mebibytes("1.5Gi"), Some(1536));
        assert_eq!(mebibytes("1"), Some(1));
        assert_eq!(mebibytes("1048577"), Some(2));
        assert_eq!(mebibytes("1G"), Some(954));
        for text in ["", "Gi", "1 Gi", "1gi", "1Xi"] {
            assert_eq!(mebibytes(text), None, "{text}");
        }
    }
}
