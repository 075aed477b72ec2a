//! Dates and times as price histories write them: `2026-11-21T08:00:00Z`, `2026-11-21 08:00:00+08:00`.

use engine::unit::time::Millis;
use engine::unit::time::Timestamp;

/// The point in time that a text names, to the second; without an offset it is in universal time.
#[must_use]
pub fn timestamp(text: &str) -> Option<Timestamp> {
    let (date, rest) = text.trim().split_once(['T', ' '])?;
    let at_offset = rest.find(['Z', '+', '-']).unwrap_or(rest.len());
    let (clock, offset) = rest.split_at(at_offset);
    let [year, month, day] = numbers::<3>(date, '-')?;
    let clock = clock.split_once('.').map_or(clock, |(seconds, _)| seconds);
    let [hour, minute, second] = numbers::<3>(clock, ':').or_else(|| {
        let [hour, minute] = numbers::<2>(clock, ':')?;
        Some([hour, minute, 0])
    })?;
    let is_real = day <= days_of(year, month)? && day > 0 && hour < 24 && minute < 60 && second < 60;
    let seconds = ((days_before(year, month)? + day - 1) * 24 + hour) * 3600 + minute * 60 + second;
    is_real.then_some(Timestamp(0) + Millis::from_seconds(seconds - offset_seconds(offset)?))
}

/// So many numbers of digits between a mark.
fn numbers<const N: usize>(text: &str, mark: char) -> Option<[i64; N]> {
    let parts: Vec<i64> = text
        .split(mark)
        .map(|part| part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse().ok()).flatten())
        .collect::<Option<_>>()?;
    parts.try_into().ok()
}

/// `Z` or nothing for universal time; `+08:00` or `+0800`.
fn offset_seconds(text: &str) -> Option<i64> {
    let Some(sign) = text.chars().next().filter(|sign| *sign != 'Z') else {
        return matches!(text, "" | "Z").then_some(0);
    };
    let digits = text.get(1..)?.replace(':', "");
    let [value] = numbers::<1>(&digits, ':')?;
    let seconds = (value / 100 * 60 + value % 100) * 60;
    (digits.len() == 4).then_some(if sign == '-' { -seconds } else { seconds })
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_of(year: i64, month: i64) -> Option<i64> {
    match month {
        2 => Some(if is_leap(year) { 29 } else { 28 }),
        4 | 6 | 9 | 11 => Some(30),
        1..=12 => Some(31),
        _ => None,
    }
}

/// Days from 1970 to the beginning of a month. Price histories are younger than that.
fn days_before(year: i64, month: i64) -> Option<i64> {
    if !(1970..10_000).contains(&year) {
        return None;
    }
    let years: i64 = (1970..year).map(|year| if is_leap(year) { 366 } else { 365 }).sum();
    (1..month).try_fold(years, |days, month| Some(days + days_of(year, month)?))
}

#[cfg(test)]
mod tests {
    use super::timestamp;

    fn seconds(text: &str) -> Option<i64> {
        timestamp(text).map(|at| at.0 / 1000)
    }

    #[test]
    fn dates_count_from_1970() {
        assert_eq!(seconds("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(seconds("2000-02-29T12:00Z"), Some(951_825_600));
        assert_eq!(seconds("2026-11-21 08:00:05.250"), Some(1_795_248_005));
        assert_eq!(seconds("2026-11-21T16:00:05+08:00"), Some(1_795_248_005));
        assert_eq!(seconds("2026-11-21T03:00:05-0500"), Some(1_795_248_005));
    }

    #[test]
    fn what_is_no_date() {
        for text in
            ["", "2026-11-21", "2026-02-29T00:00Z", "2026-13-01T00:00Z", "2026-11-21T24:00Z", "2026-11-21T08:00+8"]
        {
            assert_eq!(timestamp(text), None, "{text}");
        }
    }
}
