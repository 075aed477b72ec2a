//! Decimal numbers as whole parts of one, so that `0.46` GPUs are 460 thousandths without a detour over floats.

/// The value of a decimal number in thousandths, if it has at most three digits after the point that matter.
#[must_use]
pub fn thousandths(text: &str) -> Option<i64> {
    parts(text, 3)
}

/// The value in millionths, with at most six digits.
#[must_use]
pub fn millionths(text: &str) -> Option<i64> {
    parts(text, 6)
}

fn parts(text: &str, digits_max: u32) -> Option<i64> {
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
    let missing = digits_max.checked_sub(u32::try_from(fraction.len()).ok()?)?;
    let whole: i64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let fraction: i64 = if fraction.is_empty() { 0 } else { fraction.parse().ok()? };
    whole.checked_mul(10i64.pow(digits_max))?.checked_add(fraction * 10i64.pow(missing))?.checked_mul(sign)
}

#[cfg(test)]
mod tests {
    use super::millionths;
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
    fn prices_have_six_digits() {
        assert_eq!(["0.0035", "-2", "0.000001"].map(millionths), [Some(3500), Some(-2_000_000), Some(1)]);
        assert_eq!(["0.0000001", "10000000000000"].map(millionths), [None, None]);
    }

    #[test]
    fn what_is_no_such_number() {
        for text in ["", ".", "-", "1e3", "0.0001", "4,5", "99999999999999999999"] {
            assert_eq!(thousandths(text), None, "{text}");
        }
    }
}
