//! Copies what one pod prints into the log of its run.

use std::io::PipeReader;
use std::io::Read;

use crate::log::Log;

/// What is taken at once: as much as a pipe holds a few times, so that who prints without end keeps nobody from looking.
const READS_MAX: usize = 64;
/// A longer line is told as several.
const LINE_BYTES_MAX: usize = 8_192;
/// How long the beginning of a line waits for its end.
const LINE_WAIT_MS: u64 = 1_000;

/// A pod's output. Where several pods print into one log, each line says whose it is, and lines do not mix.
pub(super) struct Output {
    /// None when nobody can print any more.
    pub(super) pipe: Option<PipeReader>,
    /// What each line begins with; nothing for a pod that is alone.
    tag: String,
    line: Vec<u8>,
    /// Since when the line is unfinished.
    since: u64,
}

impl Output {
    pub(super) fn new(pipe: PipeReader, tag: String) -> Self {
        Self { pipe: Some(pipe), tag, line: Vec::new(), since: 0 }
    }

    /// Takes what was printed.
    pub(super) fn drain(&mut self, log: &mut Log, now: u64) {
        let mut bytes = [0; 16_384];
        for _ in 0..READS_MAX {
            let Some(pipe) = &mut self.pipe else { break };
            match pipe.read(&mut bytes) {
                // Its end would be told again and again.
                Ok(0) => self.pipe = None,
                Ok(count) => self.take(&bytes[..count], log, now),
                Err(_) => break,
            }
        }
        let is_over = self.pipe.is_none() || now.saturating_sub(self.since) >= LINE_WAIT_MS;
        if is_over && !self.line.is_empty() {
            self.tell(log);
        }
    }

    /// When the beginning of a line has waited for long enough.
    pub(super) fn due(&self) -> Option<u64> {
        (!self.line.is_empty()).then_some(self.since + LINE_WAIT_MS)
    }

    fn take(&mut self, bytes: &[u8], log: &mut Log, now: u64) {
        if self.tag.is_empty() {
            return log.append(bytes);
        }
        let lines = bytes.split_inclusive(|byte| *byte == b'\n');
        for piece in lines.flat_map(|line| line.chunks(LINE_BYTES_MAX)) {
            if self.line.len() + piece.len() > LINE_BYTES_MAX {
                self.tell(log);
            }
            if self.line.is_empty() {
                self.since = now;
            }
            self.line.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                self.tell(log);
            }
        }
    }

    fn tell(&mut self, log: &mut Log) {
        if !self.line.ends_with(b"\n") {
            self.line.push(b'\n');
        }
        self.line.splice(0..0, self.tag.bytes());
        log.append(&self.line);
        self.line.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;

    use super::LINE_BYTES_MAX;
    use super::LINE_WAIT_MS;
    use super::Output;
    use crate::log;
    use crate::log::Log;

    #[test]
    fn lines_say_whose_they_are_and_stay_whole() {
        let folder = std::env::temp_dir().join(format!("tidegate-output-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("it can be made");
        let (pipe, mut printed) = std::io::pipe().expect("there are pipes");
        rustix::fs::fcntl_setfl(&pipe, rustix::fs::OFlags::NONBLOCK).expect("it is a pipe");
        let mut log = Log::new(&folder, 1 << 20);
        let mut output = Output::new(pipe, "[3] ".to_owned());
        let mut told = |output: &mut Output, print: &[u8], now| {
            printed.write_all(print).expect("there is room");
            output.drain(&mut log, now);
            let bytes = log::read(&folder, 0, 1 << 20).expect("it is readable").bytes;
            String::from_utf8(bytes).expect("it is text")
        };
        assert_eq!(told(&mut output, b"one\ntw", 0), "[3] one\n");
        assert_eq!((told(&mut output, b"o\n", 5).as_str(), output.due()), ("[3] one\n[3] two\n", None));
        assert!(told(&mut output, b"42 %", 10).ends_with("two\n"), "it may go on");
        assert_eq!(output.due(), Some(10 + LINE_WAIT_MS));
        assert!(
            told(&mut output, b"", 10 + LINE_WAIT_MS).ends_with("two\n[3] 42 %\n"),
            "who prints no end is shown too"
        );
        let endless = vec![b'x'; LINE_BYTES_MAX + 1];
        let all = told(&mut output, &endless, 5_000);
        assert!(all.lines().all(|line| line.starts_with("[3] ") && line.len() <= LINE_BYTES_MAX + 4));
        fs::remove_dir_all(folder).expect("it can be removed");
    }
}
