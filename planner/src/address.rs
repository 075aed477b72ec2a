//! A scenario in an address: its version, its lines with the values of its controls, and a checksum. Whoever has the
//! address sees what was shared, whatever has become of the page.

use std::fmt;

use crate::base64;

/// The version that is written.
pub const VERSION: u32 = 1;
/// Letters of the checksum.
const SUM_LEN: usize = 6;

/// What an address holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shared {
    /// The lines of the scenario.
    pub text: String,
    /// A value for each control.
    pub values: Vec<i64>,
}

/// Why an address cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AddressFault {
    /// It is none of the planner's.
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
}

impl fmt::Display for AddressFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Foreign => f.write_str("this is no link to a plan; copy it again from the planner"),
            Self::Future { version } => write!(
                f,
                "the link was made by a newer planner (version {version}), this one reads version {VERSION}; reload the page to get the newer planner"
            ),
            Self::CutOff => f.write_str("the end of the link is missing; copy it again, all of it"),
            Self::Damaged => f.write_str("the link was changed on its way; copy it again"),
        }
    }
}

/// What stands behind `#plan=`.
#[must_use]
pub fn write(lines: &[String], values: &[i64]) -> String {
    let values: Vec<String> = values.iter().map(i64::to_string).collect();
    let text = format!("{}\n{}", values.join(" "), lines.join("\n"));
    format!("{VERSION}.{}.{}", base64::encode(text.as_bytes()), sum(text.as_bytes()))
}

/// What follows the version that all links to plans begin with.
///
/// # Errors
/// [`AddressFault::Foreign`], [`AddressFault::Future`].
pub fn after_version(address: &str) -> Result<&str, AddressFault> {
    let (version, rest) = address.trim().split_once('.').ok_or(AddressFault::Foreign)?;
    match version.parse() {
        Ok(VERSION) => Ok(rest),
        Ok(version @ VERSION..) => Err(AddressFault::Future { version }),
        Ok(_) | Err(_) => Err(AddressFault::Foreign),
    }
}

/// What an address holds.
///
/// # Errors
/// [`AddressFault`], whose text says what to do.
pub fn read(address: &str) -> Result<Shared, AddressFault> {
    let Some((text, expected)) = after_version(address)?.split_once('.').filter(|(_, sum)| sum.len() >= SUM_LEN) else {
        return Err(AddressFault::CutOff);
    };
    let bytes = base64::decode(text).filter(|bytes| sum(bytes) == expected).ok_or(AddressFault::Damaged)?;
    let text = String::from_utf8(bytes).map_err(|_| AddressFault::Damaged)?;
    let (values, text) = text.split_once('\n').ok_or(AddressFault::Damaged)?;
    let values: Option<Vec<i64>> = values.split_whitespace().map(|value| value.parse().ok()).collect();
    Ok(Shared { text: text.to_owned(), values: values.ok_or(AddressFault::Damaged)? })
}

/// FNV-1a of 32 bits, in letters that may stand in an address.
fn sum(bytes: &[u8]) -> String {
    let sum = bytes.iter().fold(0x811c_9dc5_u32, |sum, byte| (sum ^ u32::from(*byte)).wrapping_mul(0x0100_0193));
    base64::encode(&sum.to_be_bytes())
}
