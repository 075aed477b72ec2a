//! What a job prints, as a page has read it so far.

/// How much of it a page keeps; of more, the newest.
const BYTES_MAX: usize = 1 << 20;

/// What has come of one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogText {
    run: String,
    next: Option<u64>,
    text: String,
    /// Whether the last line has not ended of what was taken out.
    is_in_line: bool,
}

/// A part of it, as the service answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogPart {
    /// The run.
    pub run: String,
    /// How many bytes it has printed so far.
    pub bytes: u64,
    /// Where the text begins.
    pub from: u64,
    /// The text.
    pub text: String,
}

impl LogText {
    /// After which byte there is more to ask for.
    #[must_use]
    pub fn next(&self) -> Option<u64> {
        self.next
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Takes out what has come, for whoever keeps it.
    pub fn drain(&mut self) -> String {
        let text = std::mem::take(&mut self.text);
        self.is_in_line = if text.is_empty() { self.is_in_line } else { !text.ends_with('\n') };
        text
    }

    /// Whether a part says anything new.
    #[must_use]
    pub fn is_news(&self, part: &LogPart) -> bool {
        part.run != self.run || self.next != Some(part.bytes) || !part.text.is_empty()
    }

    /// Takes a part. That of another run takes the place of everything, and what is missing between two parts is said.
    pub fn take(&mut self, part: &LogPart) {
        if part.run != self.run {
            let was_read = self.next.is_some();
            *self = Self { run: part.run.clone(), ..Self::default() };
            if was_read {
                // It was asked for after a byte of the other run: all of it is asked for next.
                return;
            }
        }
        let missing = part.from.saturating_sub(self.next.unwrap_or_default());
        if missing > 0 && !part.text.is_empty() {
            let is_in_line = if self.text.is_empty() { self.is_in_line } else { !self.text.ends_with('\n') };
            let line = if is_in_line { "\n" } else { "" };
            self.text.extend([line, "… ", &missing.to_string(), " bytes are not shown …\n"]);
        }
        self.text.push_str(&part.text);
        self.next = Some(part.bytes);
        let begin = self.text.ceil_char_boundary(self.text.len().saturating_sub(BYTES_MAX));
        drop(self.text.drain(..begin));
    }

    /// The lines that contain some words, in any case of letters; all of them without words.
    #[must_use]
    pub fn lines_with(&self, words: &str) -> String {
        let words = words.trim().to_lowercase();
        if words.is_empty() {
            return self.text.clone();
        }
        self.text.split_inclusive('\n').filter(|line| line.to_lowercase().contains(&words)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::BYTES_MAX;
    use super::LogPart;
    use super::LogText;

    fn part(run: &str, from: u64, text: &str) -> LogPart {
        LogPart { run: run.to_owned(), bytes: from + text.len() as u64, from, text: text.to_owned() }
    }

    #[test]
    fn parts_are_joined_and_gaps_are_said() {
        let mut log = LogText::default();
        log.take(&part("0-7", 0, "step 1\nst"));
        log.take(&part("0-7", 9, "ep 2\n"));
        assert_eq!((log.text(), log.next()), ("step 1\nstep 2\n", Some(14)));
        log.take(&part("0-7", 20, "step 4\n"));
        assert_eq!(log.text(), "step 1\nstep 2\n… 6 bytes are not shown …\nstep 4\n");
        log.take(&part("0-7", 27, ""));
        assert_eq!(log.next(), Some(27));
    }

    #[test]
    fn what_is_taken_out_does_not_come_again_and_gaps_begin_lines_all_the_same() {
        let mut log = LogText::default();
        log.take(&part("0-7", 0, "step 1\nst"));
        assert_eq!((log.drain().as_str(), log.drain().as_str()), ("step 1\nst", ""));
        log.take(&part("0-7", 20, "step 4\n"));
        assert_eq!(log.drain(), "\n… 11 bytes are not shown …\nstep 4\n");
    }

    #[test]
    fn another_run_begins_anew() {
        let mut log = LogText::default();
        log.take(&part("0-7", 0, "step 1\n"));
        log.take(&part("0-9", 7, "on\n"));
        assert_eq!((log.text(), log.next()), ("", None), "it was asked for after a byte of the first run");
        log.take(&part("0-9", 0, "goes on\n"));
        assert_eq!(log.text(), "goes on\n");
    }

    #[test]
    fn the_newest_is_kept() {
        let mut log = LogText::default();
        log.take(&part("0-7", 0, &"ü".repeat(BYTES_MAX)));
        assert_eq!(log.text().len(), BYTES_MAX);
        log.take(&part("0-7", 2 * BYTES_MAX as u64, "end\n"));
        assert!(log.text().ends_with("end\n") && log.text().len() <= BYTES_MAX);
    }

    #[test]
    fn lines_are_found_by_their_words() {
        let mut log = LogText::default();
        log.take(&part("0-7", 0, "Step 1\nloss 2\nstep 3"));
        assert_eq!(log.lines_with(" STEP "), "Step 1\nstep 3");
        assert_eq!(log.lines_with(""), log.text());
    }
}
