//! A backup's file, read from its beginning to its end.

use std::io::BufRead;
use std::io::Read;

use crate::backup::End;
use crate::backup::FORMAT;
use crate::backup::Line;
use crate::backup::OBJECT_BYTES_MAX;
use crate::backup::Title;
use crate::fault::Fault;
use crate::log::decode;
use crate::name::verify;

/// How many bytes a line may have; the longest is the last one of a backup of which much was missing.
const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Reads a file.
#[derive(Debug)]
pub struct Reader<R> {
    input: R,
    /// What the file is.
    pub title: Title,
    /// How many bytes have been read.
    at: u64,
    objects: u64,
    end: Option<End>,
}

/// An object with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Its key.
    pub key: String,
    /// Its text.
    pub text: String,
    /// Where its text begins in the file.
    pub at: u64,
}

impl<R: BufRead> Reader<R> {
    /// Reads what the file is.
    pub fn open(mut input: R) -> Result<Self, Fault> {
        let mut at = 0;
        let text = next_line(&mut input, &mut at).map_err(|reason| Fault::damaged("line 1", reason))?;
        let Ok(Line::TidegateBackup(title)) = decode::<Line>("line 1", &text) else {
            return Err(Fault::damaged("line 1", "it is not that of a backup made by `tidegate backup save`"));
        };
        if title.format != FORMAT {
            let reason = format!("the file has format {}, and this version reads {FORMAT}", title.format);
            return Err(Fault::damaged("line 1", reason));
        }
        Ok(Self { input, title, at, objects: 0, end: None })
    }

    /// The next object; none at the end of the file, which says [what is missing](Reader::end).
    pub fn object(&mut self) -> Result<Option<Placed>, Fault> {
        let begin = self.at;
        let place = format!("byte {begin} (object {})", self.objects + 1);
        let damaged = |reason: String| Fault::damaged(&place, reason);
        let text = next_line(&mut self.input, &mut self.at).map_err(damaged)?;
        let object = match decode::<Line>(&place, &text)? {
            Line::Object(object) => object,
            Line::End(end) => return self.finish(end, &place),
            Line::TidegateBackup(_) => return Err(damaged("another backup begins".to_owned())),
        };
        let place = format!("byte {begin} (object {}, {})", self.objects + 1, object.key);
        let damaged = |reason: String| Fault::damaged(&place, reason);
        if object.bytes > OBJECT_BYTES_MAX as u64 {
            return Err(damaged(format!(
                "it says {} bytes, and no object has more than {OBJECT_BYTES_MAX}",
                object.bytes
            )));
        }
        let at = self.at;
        let mut bytes = Vec::new();
        let read = Read::by_ref(&mut self.input).take(object.bytes + 1).read_to_end(&mut bytes);
        self.at += read.map_err(|error| damaged(error.to_string()))? as u64;
        if bytes.len() as u64 != object.bytes + 1 {
            return Err(damaged(format!("the file ends after {} of its {} bytes", bytes.len(), object.bytes)));
        }
        if bytes.pop() != Some(b'\n') {
            return Err(damaged(format!("no line ends after its {} bytes", object.bytes)));
        }
        let text = String::from_utf8(bytes).map_err(|error| damaged(error.to_string()))?;
        verify(&object.key, &text)
            .map_err(|_| damaged("its content has another digest than its key says".to_owned()))?;
        self.objects += 1;
        Ok(Some(Placed { key: object.key, text, at }))
    }

    fn finish(&mut self, end: End, place: &str) -> Result<Option<Placed>, Fault> {
        if end.objects != self.objects {
            let reason = format!("{} objects have come, and there should be {}", self.objects, end.objects);
            return Err(Fault::damaged(place, reason));
        }
        let is_over = self.input.fill_buf().is_ok_and(<[u8]>::is_empty);
        if !is_over {
            return Err(Fault::damaged(place, "something follows the end"));
        }
        self.end = Some(end);
        Ok(None)
    }

    /// The file again, with what stood at its end once that was reached.
    pub(super) fn over(self) -> (R, Option<End>) {
        (self.input, self.end)
    }
}

/// A line without its end.
fn next_line(input: &mut impl BufRead, at: &mut u64) -> Result<String, String> {
    let mut line = Vec::new();
    let read = Read::by_ref(input).take(LINE_BYTES_MAX as u64).read_until(b'\n', &mut line);
    *at += read.map_err(|error| error.to_string())? as u64;
    match line.pop() {
        Some(b'\n') => String::from_utf8(line).map_err(|error| error.to_string()),
        Some(_) if line.len() + 1 == LINE_BYTES_MAX => Err("a line is too long".to_owned()),
        Some(_) | None => Err("the file ends here, without the line that ends a backup".to_owned()),
    }
}
