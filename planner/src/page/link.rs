//! A document in a link: the version that all links of planners begin with, and the document compressed. The
//! compressed part carries a checksum, so that a link that was cut off or changed is noticed.

use std::io;
use std::io::BufWriter;
use std::io::Write;

use crate::address;
use crate::address::AddressFault;
use crate::base64;
use miniz_oxide::DataFormat;
use miniz_oxide::MZFlush;
use miniz_oxide::MZStatus;
use miniz_oxide::StreamResult;
use miniz_oxide::deflate::CompressionLevel;
use miniz_oxide::deflate::core::CompressorOxide;
use miniz_oxide::deflate::stream::deflate;
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;
use serde::Serialize;

/// The largest document that is read, in bytes.
pub const BYTES_MAX: usize = 8 << 20;
/// Links are made once and read often.
const LEVEL: CompressionLevel = CompressionLevel::BestCompression;

/// The link of a document, what stands behind `#plan=`, if it has at most so many letters. A document that is too large
/// for that is neither written nor packed to its end.
#[must_use]
pub fn pack<T: Serialize>(document: &T, letters_max: usize) -> Option<String> {
    let head = format!("{}.", address::VERSION);
    let mut packer = BufWriter::new(Packer::new(letters_max.saturating_sub(head.len()) / 4 * 3));
    serde_json::to_writer(&mut packer, document).ok()?;
    let bytes = packer.into_inner().ok()?.finish()?;
    Some(head + &base64::encode(&bytes))
}

/// Packs what is written to it, as long as there is room.
struct Packer {
    compressor: Box<CompressorOxide>,
    room: Vec<u8>,
    written: usize,
}

impl Packer {
    fn new(room: usize) -> Self {
        let compressor = Box::new(CompressorOxide::with_format_and_level(DataFormat::Zlib, LEVEL));
        Self { compressor, room: vec![0; room], written: 0 }
    }

    fn step(&mut self, bytes: &[u8], flush: MZFlush) -> StreamResult {
        let result = deflate(&mut self.compressor, bytes, &mut self.room[self.written..], flush);
        self.written += result.bytes_written;
        result
    }

    fn finish(mut self) -> Option<Vec<u8>> {
        let is_whole = self.step(&[], MZFlush::Finish).status == Ok(MZStatus::StreamEnd);
        self.room.truncate(self.written);
        is_whole.then_some(self.room)
    }
}

impl Write for Packer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let StreamResult { status, bytes_consumed, .. } = self.step(bytes, MZFlush::None);
        status.map(|_| bytes_consumed).map_err(|_| io::ErrorKind::WriteZero.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The JSON text of a link.
///
/// # Errors
/// In words: what is wrong with the link, and what to do.
pub fn unpack(link: &str) -> Result<String, String> {
    let bytes = address::after_version(link).and_then(bytes).map_err(|fault| fault.to_string())?;
    let json = decompress_to_vec_zlib_with_limit(&bytes, BYTES_MAX).map_err(|error| match error.status {
        TINFLStatus::HasMoreOutput => {
            format!("the link holds a plan of more than {} MiB, which is not read", BYTES_MAX >> 20)
        }
        TINFLStatus::FailedCannotMakeProgress | TINFLStatus::NeedsMoreInput => AddressFault::CutOff.to_string(),
        TINFLStatus::Adler32Mismatch | TINFLStatus::BadParam | TINFLStatus::Failed | TINFLStatus::Done => {
            AddressFault::Damaged.to_string()
        }
        _ => AddressFault::Damaged.to_string(),
    })?;
    String::from_utf8(json).map_err(|_| AddressFault::Damaged.to_string())
}

fn bytes(text: &str) -> Result<Vec<u8>, AddressFault> {
    // A text with one letter too many has lost the others.
    let fault = if text.len() % 4 == 1 { AddressFault::CutOff } else { AddressFault::Damaged };
    base64::decode(text).ok_or(fault)
}
