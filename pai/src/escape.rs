//! Percent escapes of paths and queries.

use std::fmt::Write;

/// What a path segment says; none if an escape is broken.
#[must_use]
pub fn decoded(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = match (first, after) {
            (b'%', [high, low, after @ ..]) => {
                bytes.push(hex_digit(*high)? << 4 | hex_digit(*low)?);
                after
            }
            (b'%', _) => return None,
            (byte, after) => {
                bytes.push(*byte);
                after
            }
        };
    }
    Some(bytes)
}

/// What a name or value of a query says, in which a plus sign is a space.
#[must_use]
pub fn form_decoded(text: &str) -> Option<Vec<u8>> {
    decoded(&text.replace('+', " "))
}

/// Bytes with everything escaped but letters, digits, `-`, `.`, `_` and `~`.
#[must_use]
pub fn encoded(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for byte in bytes {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(byte) {
            text.push(char::from(*byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

fn hex_digit(byte: u8) -> Option<u8> {
    // A digit of base 16 fits in a byte.
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::decoded;
    use super::encoded;
    use super::form_decoded;

    #[test]
    fn all_bytes_come_back() {
        let bytes: Vec<u8> = (0..=255).collect();
        assert_eq!(decoded(&encoded(&bytes)), Some(bytes));
    }

    #[test]
    fn only_the_unreserved_stay() {
        assert_eq!(encoded(b"Az09-._~"), "Az09-._~");
        assert_eq!(encoded(b" *+/\xc3\xa9"), "%20%2A%2B%2F%C3%A9");
    }

    #[test]
    fn a_plus_is_a_space_in_a_query_only() {
        assert_eq!(form_decoded("a+b%2Bc"), Some(b"a b+c".to_vec()));
        assert_eq!(decoded("a+b"), Some(b"a+b".to_vec()));
    }

    #[test]
    fn broken_escapes_are_none() {
        for text in ["%", "a%2", "%2x", "%+1", "%é"] {
            assert_eq!(decoded(text), None, "{text}");
        }
    }
}
