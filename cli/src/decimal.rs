//! Decimal numbers as thousandths, so that `0.46` GPUs are 460 without a detour over floats.

/// The value of a decimal number in thousandths, if it has at most three digits after the point that matter.
#[must_use]
pub fn thousandths(text: &str) -> Option<i64> {
    let text = text.trim();
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    if !whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let fraction = fraction.trim_end_matches('0');
    if fraction.len() > 3 {
        return None;
    }
    let whole: i64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let parts: i64 = format!("{fraction:0<3}").parse().ok()?;
    whole.checked_mul(1000)?.checked_add(parts)?.checked_mul(sign)
}

#[cfg(test)]
mod tests {
    use super::thousandths;

    #[test]
    fn whole_numbers_and_fractions() {
        assert_eq!(thousandths("16"), Some(16_000));
        assert_eq!(thousandths("0.46"), Some(460));
        assert_eq!(thousandths(".5"), Some(500));
        assert_eq!(thousandths("1.0000"), Some(1000));
        assert_eq!(thousandths("-2.25"), Some(-2250));
    }

    #[test]
    fn what_is_no_such_number() {
        for text in ["", ".", "-", "1e3", "0.0001", "4,5", "99999999999999999999"] {
            assert_eq!(thousandths(text), None, "{text}");
        }
    }
}
