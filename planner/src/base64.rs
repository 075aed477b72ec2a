//! Bytes as text that can stand in an address: base64 with `-` and `_`, without padding.

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The text.
#[must_use]
pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let value = (0..3).fold(0u32, |value, at| value << 8 | u32::from(chunk.get(at).copied().unwrap_or(0)));
        for at in 0..=chunk.len() {
            text.push(char::from(LETTERS[(value >> (18 - 6 * at) & 63) as usize]));
        }
    }
    text
}

/// The bytes; nothing for a text that has other letters, or one letter too many.
#[must_use]
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    for chunk in text.as_bytes().chunks(4) {
        let mut value = 0u32;
        for at in 0..4 {
            let digit = match chunk.get(at) {
                None => 0,
                Some(letter) => LETTERS.iter().position(|known| known == letter)?,
            };
            value = value << 6 | u32::try_from(digit).ok()?;
        }
        let all = value.to_be_bytes();
        match chunk.len() {
            1 => return None,
            count => bytes.extend_from_slice(&all[1..count]),
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::decode;
    use super::encode;

    #[test]
    fn what_was_written_is_read() {
        for length in 0..70u8 {
            let bytes: Vec<u8> = (0..length).map(|at| at.wrapping_mul(37).wrapping_add(length)).collect();
            assert_eq!(decode(&encode(&bytes)), Some(bytes));
        }
        assert_eq!(encode(b"\xff\xfe\xfd\xfc"), "__79_A");
    }

    #[test]
    fn what_is_no_such_text() {
        for text in ["A", "AAAAA", "a+b/", "ab=="] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
