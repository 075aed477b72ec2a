//! A document in a link: the version that all links of planners begin with, and the document compressed. The
//! compressed part carries a checksum, so that a link that was cut off or changed is noticed.

use miniz_oxide::deflate::compress_to_vec_zlib;
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;
use planner::address;
use planner::address::AddressFault;
use planner::base64;

/// The largest document that is read, in bytes.
pub const BYTES_MAX: usize = 8 << 20;
/// Links are made once and read often.
const LEVEL: u8 = 9;

/// The link of any JSON text: what stands behind `#plan=`.
#[must_use]
pub fn pack(json: &[u8]) -> String {
    format!("{}.{}", address::VERSION, base64::encode(&compress_to_vec_zlib(json, LEVEL)))
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
