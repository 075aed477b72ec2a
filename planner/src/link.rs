//! A plan in a link: `1.` and a compressed document. The number is the version of the form; the compressed part
//! carries a checksum, so that a link that was cut off or changed is noticed.

use std::fmt;

use miniz_oxide::deflate::compress_to_vec_zlib;
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;

use crate::base64;
use crate::document::Document;

/// The version that is written.
pub const VERSION: u32 = 1;
/// The largest document that is read, in bytes.
pub const BYTES_MAX: usize = 8 << 20;
/// Links are made once and read often.
const LEVEL: u8 = 9;

/// Why a link cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkFault {
    /// It is no link of the planner.
    Foreign,
    /// It was made by a newer planner.
    Future {
        /// Its version.
        version: u32,
    },
    /// Its end is missing.
    CutOff,
    /// Something in it was changed.
    Damaged,
    /// It holds more than a planner reads.
    TooLarge,
    /// What it holds is no plan.
    Content(String),
}

impl fmt::Display for LinkFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Foreign => f.write_str("this is no link to a plan; a link has its version, a dot and letters"),
            Self::Future { version } => write!(
                f,
                "the link was made by a newer planner (version {version}), this one reads version {VERSION}; reload the page to get the newer planner"
            ),
            Self::CutOff => f.write_str("the end of the link is missing; copy it again, all of it"),
            Self::Damaged => f.write_str("the link was changed on its way; copy it again"),
            Self::TooLarge => {
                write!(f, "the link holds a plan of more than {} MiB, which is not read", BYTES_MAX >> 20)
            }
            Self::Content(reason) => f.write_str(reason),
        }
    }
}

/// The link of a document: what stands behind `#plan=`.
#[must_use]
pub fn write(document: &Document) -> String {
    pack(&serde_json::to_vec(document).unwrap_or_default())
}

/// The document of a link.
///
/// # Errors
/// [`LinkFault`], whose text says what to do.
pub fn read(link: &str) -> Result<Document, LinkFault> {
    Document::read(&unpack(link)?).map_err(LinkFault::Content)
}

/// The link of any JSON text.
#[must_use]
pub fn pack(json: &[u8]) -> String {
    format!("{VERSION}.{}", base64::encode(&compress_to_vec_zlib(json, LEVEL)))
}

/// The JSON text of a link.
///
/// # Errors
/// [`LinkFault`], whose text says what to do.
pub fn unpack(link: &str) -> Result<String, LinkFault> {
    let (version, text) = link.trim().split_once('.').ok_or(LinkFault::Foreign)?;
    let version: u32 = version.parse().map_err(|_| LinkFault::Foreign)?;
    if version > VERSION {
        return Err(LinkFault::Future { version });
    }
    if version == 0 {
        return Err(LinkFault::Foreign);
    }
    // A text with one letter too many has lost the others.
    let is_broken = text.len() % 4 == 1;
    let bytes = match base64::decode(text) {
        Some(bytes) => bytes,
        None if is_broken => return Err(LinkFault::CutOff),
        None => return Err(LinkFault::Damaged),
    };
    let json = decompress_to_vec_zlib_with_limit(&bytes, BYTES_MAX).map_err(|error| match error.status {
        TINFLStatus::FailedCannotMakeProgress | TINFLStatus::NeedsMoreInput => LinkFault::CutOff,
        TINFLStatus::HasMoreOutput => LinkFault::TooLarge,
        TINFLStatus::Adler32Mismatch | TINFLStatus::BadParam | TINFLStatus::Failed | TINFLStatus::Done => {
            LinkFault::Damaged
        }
        _ => LinkFault::Damaged,
    })?;
    String::from_utf8(json).map_err(|_| LinkFault::Damaged)
}
