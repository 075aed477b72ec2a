//! The part of a run's time that is looked at: zoomed and moved in thousandths of itself, so that a pointer, a key and a
//! button all say the same.

use engine::unit::time::Millis;

/// The shortest part: rounds come once a minute.
const SHORTEST: i64 = 10 * Millis::MINUTE.0;

/// From when to when, after the beginning of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    /// From when.
    pub from: Millis,
    /// Until when.
    pub until: Millis,
}

impl Section {
    /// All of a run.
    #[must_use]
    pub fn whole(length: Millis) -> Self {
        Self { from: Millis::ZERO, until: Millis(length.0.max(1)) }
    }

    /// The part that an address names, in seconds after the beginning as in `3600-7200`; all of the run if it names none.
    #[must_use]
    pub fn read(text: &str, length: Millis) -> Self {
        let seconds = |text: &str| text.parse::<u32>().ok().map(|seconds| i64::from(seconds) * 1000);
        let named = text.split_once('-').and_then(|(from, until)| Some((seconds(from)?, seconds(until)?)));
        named.map_or_else(|| Self::whole(length), |(from, until)| Self::fitting(from, until - from, length))
    }

    /// As an address has it; nothing for all of the run.
    #[must_use]
    pub fn text(self, length: Millis) -> String {
        if self == Self::whole(length) {
            return String::new();
        }
        format!("{}-{}", self.from.0 / 1000, self.until.0 / 1000)
    }

    /// A part to so many thousandths of its length; what is at so many thousandths of it stays there.
    #[must_use]
    pub fn zoomed(self, to: i64, at: i64, length: Millis) -> Self {
        let is = self.long();
        // As far as a zoom goes, it goes around the same place.
        let long = share(is, to.max(1)).clamp(SHORTEST.min(length.0.max(1)), length.0.max(1));
        Self::fitting(self.from.0 + share(is - long, at.clamp(0, 1000)), long, length)
    }

    /// A part later by so many thousandths of its length.
    #[must_use]
    pub fn moved(self, by: i64, length: Millis) -> Self {
        Self::fitting(self.from.0.saturating_add(share(self.long(), by)), self.long(), length)
    }

    fn long(self) -> i64 {
        (self.until.0 - self.from.0).max(1)
    }

    /// The nearest part of this length that the run has.
    fn fitting(from: i64, long: i64, length: Millis) -> Self {
        let whole = length.0.max(1);
        let long = long.clamp(SHORTEST.min(whole), whole);
        let from = from.clamp(0, whole - long);
        // Addresses have whole seconds; the end of the run is where it is.
        let from = if from + long == whole { from } else { from / 1000 * 1000 };
        Self { from: Millis(from), until: Millis(from + long) }
    }
}

fn share(of: i64, thousandths: i64) -> i64 {
    let share = i128::from(of) * i128::from(thousandths) / 1000;
    i64::try_from(share).unwrap_or(if share < 0 { i64::MIN } else { i64::MAX })
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Millis = Millis::DAY;
    const MINUTE: i64 = Millis::MINUTE.0;

    fn section(from: i64, until: i64) -> Section {
        Section { from: Millis(from * MINUTE), until: Millis(until * MINUTE) }
    }

    #[test]
    fn a_zoom_keeps_what_is_pointed_at() {
        let whole = Section::whole(DAY);
        assert_eq!(whole.zoomed(500, 500, DAY), section(360, 1080));
        assert_eq!(whole.zoomed(500, 0, DAY), section(0, 720));
        assert_eq!(whole.zoomed(500, 1000, DAY), section(720, 1440));
        let quarter = section(360, 720);
        assert_eq!(quarter.zoomed(2000, 500, DAY), section(180, 900));
    }

    #[test]
    fn nothing_is_zoomed_beyond_the_run_or_below_ten_minutes() {
        let narrow = section(600, 612);
        assert_eq!(narrow.zoomed(10, 500, DAY), section(601, 611));
        assert_eq!(narrow.zoomed(1_000_000, 500, DAY), Section::whole(DAY));
        let short = Millis(4 * MINUTE);
        assert_eq!(Section::whole(short).zoomed(500, 500, short), Section::whole(short));
        assert_eq!(Section::whole(Millis::ZERO).zoomed(500, 500, Millis::ZERO), Section::whole(Millis::ZERO));
    }

    #[test]
    fn a_part_is_moved_up_to_the_ends_of_the_run() {
        let part = section(60, 180);
        assert_eq!(part.moved(100, DAY), section(72, 192));
        assert_eq!(part.moved(-1000, DAY), section(0, 120));
        assert_eq!(part.moved(i64::MAX, DAY), section(1320, 1440));
        assert_eq!(part.moved(i64::MIN, DAY), section(0, 120));
        assert_eq!(Section::whole(DAY).moved(500, DAY), Section::whole(DAY));
    }

    #[test]
    fn an_address_names_a_part_of_this_run() {
        assert_eq!(Section::read("3600-7200", DAY), section(60, 120));
        for part in [section(60, 120), section(0, 10), section(1320, 1440), Section::whole(DAY)] {
            assert_eq!(Section::read(&part.text(DAY), DAY), part);
        }
        let odd = Millis(DAY.0 + 777);
        let last = Section::whole(odd).zoomed(100, 1000, odd);
        assert_eq!(Section::read(&last.text(odd), odd).long() / 1000, last.long() / 1000);
        // What lies beyond this run is its end.
        assert_eq!(Section::read("90000-93600", DAY), section(1380, 1440));
        for nothing in ["", "7200", "b-a", "-5-9", "7200-3600-1"] {
            assert_eq!(Section::read(nothing, DAY), Section::whole(DAY), "{nothing}");
        }
        assert_eq!(Section::read("7200-3600", DAY), section(120, 130));
    }
}
