//! How messages are read.

use serde::de::DeserializeOwned;

use crate::message::rejection::Rejection;

/// The largest message that is read, in bytes.
pub const MESSAGE_BYTES_MAX: usize = 1 << 20;

/// Reads a message that somebody sent: not too large, not too deep (128 levels), complete, without unknown fields.
pub fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Rejection> {
    if bytes.len() > MESSAGE_BYTES_MAX {
        return Err(Rejection::TooLarge { bytes: bytes.len() as u64, limit: MESSAGE_BYTES_MAX as u64 });
    }
    let malformed = |reason: String| Rejection::Malformed { reason };
    // Everything else is read from text: the code that reads messages exists once.
    let text = std::str::from_utf8(bytes).map_err(|error| malformed(format!("it is not UTF-8: {error}")))?;
    serde_json::from_str(text).map_err(|error| malformed(error.to_string()))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn what_cannot_be_read_is_refused_with_the_place() {
        let reason = |bytes: &[u8]| read::<Value>(bytes).map_err(|rejection| rejection.to_string());
        let refused = |words: &str| Err(format!("the message cannot be read: {words}"));
        assert_eq!(reason(b"{\"a\": 1}"), Ok(serde_json::json!({ "a": 1 })));
        assert_eq!(reason(b"{\"a\": "), refused("EOF while parsing a value at line 1 column 6"));
        assert_eq!(reason(b"\"\xff\""), refused("it is not UTF-8: invalid utf-8 sequence of 1 bytes from index 1"));
        assert_eq!(reason(&b"[".repeat(200)), refused("recursion limit exceeded at line 1 column 128"));
        let large = MESSAGE_BYTES_MAX + 1;
        let (bytes, limit) = (large as u64, MESSAGE_BYTES_MAX as u64);
        assert_eq!(read::<Value>(&vec![b' '; large]), Err(Rejection::TooLarge { bytes, limit }));
    }
}
