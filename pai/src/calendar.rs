//! Times as the contract writes them: UTC, in whole seconds, `2026-01-02T03:04:05Z`.

use engine::unit::time::Timestamp;

const DAY_SECONDS: i64 = 86_400;
/// Days from 0000-03-01 to 1970-01-01: years are counted from March, so that the leap day is a year's last.
const EPOCH_DAYS: i64 = 719_468;
const ERA_YEARS: i64 = 400;
const ERA_DAYS: i64 = 146_097;

/// The time that a text says; none if it is not a time in this form.
#[must_use]
pub fn read(text: &str) -> Option<Timestamp> {
    let bytes = text.as_bytes();
    let is_shaped = bytes.len() == 20
        && bytes.iter().zip(b"0000-00-00T00:00:00Z").all(|(byte, form)| match form {
            b'0' => byte.is_ascii_digit(),
            mark => byte == mark,
        });
    if !is_shaped {
        return None;
    }
    let number =
        |from: usize, to: usize| bytes[from..to].iter().fold(0, |value, digit| value * 10 + i64::from(digit - b'0'));
    let (year, month, day) = (number(0, 4), number(5, 7), number(8, 10));
    let (hour, minute, second) = (number(11, 13), number(14, 16), number(17, 19));
    let is_time = (1..=12).contains(&month) && hour < 24 && minute < 60 && second < 60;
    let days = is_time.then(|| days_from(year, month, day))?;
    // A day that the month does not have comes back as another one.
    if civil(days) != (year, month, day) {
        return None;
    }
    Some(Timestamp((days * DAY_SECONDS + hour * 3600 + minute * 60 + second) * 1000))
}

/// A time in this form; milliseconds are dropped.
#[must_use]
pub fn written(at: Timestamp) -> String {
    let seconds = at.0.div_euclid(1000);
    let (year, month, day) = civil(seconds.div_euclid(DAY_SECONDS));
    let second = seconds.rem_euclid(DAY_SECONDS);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", second / 3600, second / 60 % 60, second % 60)
}

/// Days since 1970-01-01 of a date.
fn days_from(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(ERA_YEARS);
    let year_of_era = year.rem_euclid(ERA_YEARS);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * ERA_DAYS + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - EPOCH_DAYS
}

/// The year, month and day that lie so many days after 1970-01-01.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + EPOCH_DAYS;
    let era = days.div_euclid(ERA_DAYS);
    let day_of_era = days.rem_euclid(ERA_DAYS);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / (ERA_DAYS - 1)) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    (era * ERA_YEARS + year_of_era + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use engine::unit::time::Timestamp;

    use super::read;
    use super::written;

    #[test]
    fn known_times() {
        for (text, seconds) in [
            ("1970-01-01T00:00:00Z", 0),
            ("1969-12-31T23:59:59Z", -1),
            ("2000-02-29T12:00:00Z", 951_825_600),
            ("2026-11-20T23:29:02Z", 1_795_217_342),
            ("9999-12-31T23:59:59Z", 253_402_300_799),
        ] {
            assert_eq!(read(text), Some(Timestamp(seconds * 1000)), "{text}");
            assert_eq!(written(Timestamp(seconds * 1000 + 999)), text);
        }
    }

    #[test]
    fn every_day_of_four_centuries_comes_back() {
        for day in -60_000..90_000 {
            let at = Timestamp((day * 86_400 + 3_723) * 1000);
            assert_eq!(read(&written(at)), Some(at));
        }
    }

    #[test]
    fn what_is_no_time_is_none() {
        for text in [
            "",
            "2026-02-29T00:00:00Z",
            "2026-04-31T00:00:00Z",
            "2026-00-10T00:00:00Z",
            "2026-13-10T00:00:00Z",
            "2026-01-00T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01T00:60:00Z",
            "2026-01-01T00:00:60Z",
            "2026-01-01T00:00:00",
            "2026-01-01T00:00:00+",
            "2026-01-01 00:00:00Z",
            "2026-01-01T00:00:00.000Z",
            "+026-01-01T00:00:00Z",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
