//! What a run prints, bounded: the beginning and the end are kept, the middle of a long log goes.
//!
//! A log is a row of files that are named by the offset of their first byte. The first one stays, for what a program says
//! when it starts; of the others the last two stay.

use std::fs;
use std::fs::File;
use std::io;
use std::io::Read;
use std::io::Seek;
use std::io::SeekFrom;
use std::io::Write;
use std::path::Path;
use std::path::PathBuf;

/// How many bytes each of the three files of a log may have, if nobody says otherwise.
pub const PART_BYTES: u64 = 4 << 20;

const START: &str = "log-";

/// A part of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Where it begins: later than was asked for if that has been dropped.
    pub offset: u64,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// How much was printed so far.
    pub end: u64,
}

/// The writer of a log.
pub(crate) struct Log {
    folder: PathBuf,
    part_bytes: u64,
    offset: u64,
    part: Option<(File, u64)>,
}

impl Log {
    pub(crate) fn new(folder: &Path, part_bytes: u64) -> Self {
        Self { folder: folder.to_owned(), part_bytes, offset: 0, part: None }
    }

    /// Adds bytes. What a full disk does not take is missing from the log, and holds nobody up.
    pub(crate) fn append(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let room = self.part.as_ref().map_or(0, |(_, left)| *left).min(bytes.len() as u64);
            let (now, later) = bytes.split_at(usize::try_from(room).unwrap_or_default());
            if now.is_empty() {
                if self.open().is_err() {
                    self.offset += bytes.len() as u64;
                    return;
                }
                continue;
            }
            let is_written = self.part.as_mut().is_some_and(|(file, left)| {
                *left -= room;
                file.write_all(now).is_ok()
            });
            self.offset += room;
            if !is_written {
                self.part = None;
            }
            bytes = later;
        }
    }

    fn open(&mut self) -> io::Result<()> {
        self.part = None;
        let file = File::create(self.folder.join(format!("{START}{:020}", self.offset)))?;
        self.part = Some((file, self.part_bytes));
        let parts = parts(&self.folder)?;
        let n_middle = parts.len().saturating_sub(3);
        parts.into_iter().skip(1).take(n_middle).try_for_each(|(_, path)| fs::remove_file(path))
    }
}

/// The name of a log's first file.
pub(crate) fn first_name() -> String {
    format!("{START}{:020}", 0)
}

/// The parts of a log in order, with their offsets.
fn parts(folder: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let mut parts = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let offset = path.file_name().and_then(|name| name.to_str()?.strip_prefix(START)?.parse::<u64>().ok());
        parts.extend(offset.map(|offset| (offset, path)));
    }
    parts.sort();
    Ok(parts)
}

/// How much was printed.
pub(crate) fn bytes(folder: &Path) -> io::Result<u64> {
    loop {
        let parts = parts(folder)?;
        let Some((offset, path)) = parts.last() else { return Ok(0) };
        match fs::metadata(path) {
            // It was dropped just now, since there are later ones.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            metadata => return Ok(offset + metadata?.len()),
        }
    }
}

/// Reads a log from an offset on.
pub(crate) fn read(folder: &Path, from: u64, bytes_max: usize) -> io::Result<Chunk> {
    let end = bytes(folder)?;
    for (offset, path) in parts(folder)? {
        let mut file = match File::open(path) {
            Ok(file) => file,
            // It was dropped just now.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        if offset + file.metadata()?.len() <= from {
            continue;
        }
        let begin = from.max(offset);
        file.seek(SeekFrom::Start(begin - offset))?;
        let mut bytes = Vec::new();
        file.take(bytes_max as u64).read_to_end(&mut bytes)?;
        return Ok(Chunk { offset: begin, bytes, end });
    }
    Ok(Chunk { offset: end, bytes: Vec::new(), end })
}

#[cfg(test)]
mod tests {
    use super::{Log, bytes, parts, read};
    use std::fs;
    use std::path::PathBuf;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("tidegate-log-{name}-{}", std::process::id()));
        drop(fs::remove_dir_all(&folder));
        fs::create_dir_all(&folder).expect("it can be made");
        folder
    }

    #[test]
    fn the_beginning_and_the_end_of_a_long_log_are_kept() {
        let folder = folder("long");
        let mut log = Log::new(&folder, 10);
        for at in 0..100_u8 {
            log.append(format!("line {at:02}\n").as_bytes());
        }
        assert_eq!(bytes(&folder).expect("it is readable"), 800);
        let kept: Vec<u64> = parts(&folder).expect("it is readable").iter().map(|(offset, _)| *offset).collect();
        assert_eq!(kept, [0, 780, 790]);
        assert_eq!(read(&folder, 0, 7).expect("it is readable").bytes, b"line 00");
        let late = read(&folder, 100, 100).expect("it is readable");
        assert_eq!((late.offset, late.end), (780, 800));
        assert_eq!(read(&folder, 800, 100).expect("it is readable").bytes, b"");
        fs::remove_dir_all(folder).expect("it can be removed");
    }

    #[test]
    fn a_log_is_readable_while_its_parts_are_dropped() {
        let folder = folder("busy");
        let mut log = Log::new(&folder, 1);
        let writer = std::thread::spawn(move || log.append(&[b'x'; 5_000]));
        while !writer.is_finished() {
            let before = bytes(&folder).expect("it is readable");
            let chunk = read(&folder, 0, 10).expect("it is readable");
            assert!(chunk.end >= before);
        }
        writer.join().expect("it does not panic");
        assert_eq!(bytes(&folder).expect("it is readable"), 5_000);
        fs::remove_dir_all(folder).expect("it can be removed");
    }

    #[test]
    fn a_log_is_read_on_from_where_it_ended() {
        let folder = folder("short");
        let mut log = Log::new(&folder, 100);
        log.append(b"one");
        let first = read(&folder, 0, 100).expect("it is readable");
        assert_eq!((first.bytes.as_slice(), first.end), (&b"one"[..], 3));
        log.append(b"two");
        assert_eq!(read(&folder, first.end, 100).expect("it is readable").bytes, b"two");
        fs::remove_dir_all(folder).expect("it can be removed");
    }
}
