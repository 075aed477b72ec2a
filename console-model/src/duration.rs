//! Periods as people type them: `90m`, `2h 30 min`, `1d`; a bare number means minutes.

use engine::explain::period;
use engine::unit::time::Millis;

/// Reads a period; nothing if the field is empty.
pub fn parse(text: &str) -> Result<Option<Millis>, String> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    match total(text)? {
        Millis::ZERO => Err("a period must be longer than 0".to_owned()),
        total => Ok(Some(total)),
    }
}

/// Reads a period that may be none at all, such as `0s`.
pub fn total(text: &str) -> Result<Millis, String> {
    let text = text.trim();
    let wrong = || format!("“{text}” is no period; write for example 90m, 2h 30m or 1d");
    let mut total = 0i64;
    let mut rest = text;
    if rest.is_empty() {
        return Err(wrong());
    }
    while !rest.is_empty() {
        let (number, after) = rest.split_at(rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len()));
        let after = after.trim_start();
        let (unit, next) =
            after.split_at(after.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(after.len()));
        let (unit, value) = (unit_ms(unit).ok_or_else(wrong)?, number.parse::<i64>().map_err(|_| wrong())?);
        total = value.checked_mul(unit).and_then(|ms| total.checked_add(ms)).ok_or_else(wrong)?;
        rest = next.trim_start();
    }
    Ok(Millis(total))
}

fn unit_ms(unit: &str) -> Option<i64> {
    match unit.to_ascii_lowercase().as_str() {
        "ms" => Some(1),
        "s" => Some(1_000),
        "m" | "min" | "" => Some(60_000),
        "h" => Some(3_600_000),
        "d" => Some(86_400_000),
        _ => None,
    }
}

/// How a period is read whose unit has been left out: `5 min`.
#[must_use]
pub fn with_unit(text: &str) -> Option<String> {
    let is_bare = text.trim_end().ends_with(|letter: char| letter.is_ascii_digit());
    parse(text).ok().flatten().filter(|_| is_bare).map(period)
}

/// How long ago, in one unit: `12 s`, `5 min`, `3 h`, `2 d`.
#[must_use]
pub fn rough(period: Millis) -> String {
    let seconds = period.0.max(0) / 1000;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(text: &str) -> Result<Option<i64>, String> {
        parse(text).map(|period| period.map(|period| period.0))
    }

    #[test]
    fn nothing_is_no_period() {
        assert_eq!(ms("  "), Ok(None));
    }

    #[test]
    fn a_bare_number_means_minutes() {
        assert_eq!(ms("90"), Ok(Some(5_400_000)));
        assert_eq!(
            ["5", "1h 5 ", "5m", "", "0", "x5"].map(with_unit),
            [Some("5 min"), Some("1 h 5 min"), None, None, None, None].map(|told| told.map(str::to_owned))
        );
    }

    #[test]
    fn units_add_up() {
        assert_eq!(ms("1d 2h 30m 5s"), Ok(Some(95_405_000)));
        assert_eq!(ms("2h30m"), Ok(Some(9_000_000)));
        assert_eq!(ms("1s 5ms"), Ok(Some(1_005)));
    }

    #[test]
    fn what_is_told_can_be_typed() {
        for period in [1_000, 45 * 60_000, 9_000_000, 90_000_000] {
            assert_eq!(ms(&engine::explain::period(Millis(period))), Ok(Some(period)));
        }
    }

    #[test]
    fn words_are_refused_with_an_example() {
        assert_eq!(ms("soon"), Err("“soon” is no period; write for example 90m, 2h 30m or 1d".to_owned()));
        assert!(ms("0m").is_err());
        assert_eq!([total("0s"), total("")].map(Result::ok), [Some(Millis::ZERO), None]);
        assert!(ms("99999999999999999d").is_err());
    }

    #[test]
    fn ages_have_one_unit() {
        assert_eq!(
            ["12 s", "5 min", "3 h", "2 d"].map(str::to_owned),
            [12, 300, 10_800, 172_800].map(|s| rough(Millis(s * 1000)))
        );
    }
}
