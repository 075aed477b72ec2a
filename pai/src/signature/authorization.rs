//! The `Authorization` header.

use crate::signature::ALGORITHM;
use crate::signature::refused::Refused;

/// What the header says: which key, which headers, and the signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Authorization<'a> {
    pub(super) key_id: &'a str,
    pub(super) signed: Vec<&'a str>,
    pub(super) signature: [u8; 32],
}

impl<'a> Authorization<'a> {
    pub(super) fn read(header: &'a str) -> Result<Self, Refused> {
        let malformed = |part| Refused::Malformed { part };
        let (algorithm, rest) = header.split_once(' ').unwrap_or((header, ""));
        if algorithm != ALGORITHM {
            return Err(Refused::Algorithm { name: algorithm.to_owned() });
        }
        let mut parts = rest.split(',').map(str::trim_start);
        let mut part = |name| {
            let value = parts.next().and_then(|part| part.strip_prefix(name)?.strip_prefix('='));
            value.filter(|value| !value.is_empty()).ok_or(malformed(name))
        };
        let (key_id, signed, signature) = (part("Credential")?, part("SignedHeaders")?, part("Signature")?);
        if parts.next().is_some() {
            return Err(malformed("what follows Signature"));
        }
        let signed: Vec<&str> = signed.split(';').collect();
        if !signed.is_sorted_by(|a, b| a < b) || signed.iter().any(|name| name.bytes().any(|b| b.is_ascii_uppercase()))
        {
            return Err(Refused::Unsorted);
        }
        Ok(Self { key_id, signed, signature: bytes(signature).ok_or(malformed("Signature"))? })
    }
}

/// 64 lower-case hexadecimal digits as bytes.
fn bytes(text: &str) -> Option<[u8; 32]> {
    let digit = |byte: &u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let digits: Vec<u8> = text.bytes().map(|byte| digit(&byte)).collect::<Option<_>>()?;
    if digits.len() != 64 {
        return None;
    }
    let mut bytes = [0; 32];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = pair[0] << 4 | pair[1];
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::Authorization;
    use crate::signature::refused::Refused;

    const SIGNATURE: &str = "74e2df8898f19e0bf662349ba9500da94ea7970d0ebc4fb510c83041f8f531fa";

    fn read(header: &str) -> Result<(String, usize), Refused> {
        let header = header.replace("SIG", SIGNATURE);
        Authorization::read(&header).map(|read| (read.key_id.to_owned(), read.signed.len()))
    }

    #[test]
    fn the_parts_are_read() {
        let expected = Ok(("k".to_owned(), 2));
        assert_eq!(read("ACS3-HMAC-SHA256 Credential=k,SignedHeaders=a;b,Signature=SIG"), expected);
        assert_eq!(read("ACS3-HMAC-SHA256 Credential=k, SignedHeaders=a;b, Signature=SIG"), expected);
    }

    #[test]
    fn other_algorithms_are_refused_by_name() {
        for name in ["acs", "ACS4-HMAC-SHA256", "ACS3-HMAC-SM3", "ACS3-RSA-SHA256", "acs3-hmac-sha256", "Basic"] {
            let header = format!("{name} Credential=k,SignedHeaders=a,Signature=SIG");
            assert_eq!(read(&header), Err(Refused::Algorithm { name: name.to_owned() }));
        }
    }

    #[test]
    fn the_parts_come_in_their_order_and_complete() {
        let malformed = |part| Err(Refused::Malformed { part });
        assert_eq!(read("ACS3-HMAC-SHA256"), malformed("Credential"));
        assert_eq!(read("ACS3-HMAC-SHA256 Credential=,SignedHeaders=a,Signature=SIG"), malformed("Credential"));
        assert_eq!(read("ACS3-HMAC-SHA256 SignedHeaders=a,Credential=k,Signature=SIG"), malformed("Credential"));
        assert_eq!(read("ACS3-HMAC-SHA256 Credential=k,Signature=SIG"), malformed("SignedHeaders"));
        assert_eq!(read("ACS3-HMAC-SHA256 Credential=k,SignedHeaders=a"), malformed("Signature"));
        assert_eq!(
            read("ACS3-HMAC-SHA256 Credential=k,SignedHeaders=a,Signature=SIG,x=y"),
            malformed("what follows Signature")
        );
    }

    #[test]
    fn a_signature_is_64_lower_case_digits() {
        for signature in [&SIGNATURE[1..], &SIGNATURE.to_uppercase(), &SIGNATURE.replace('7', "g"), "é"] {
            let header = format!("ACS3-HMAC-SHA256 Credential=k,SignedHeaders=a,Signature={signature}");
            assert_eq!(read(&header), Err(Refused::Malformed { part: "Signature" }), "{signature}");
        }
    }

    #[test]
    fn signed_headers_are_sorted_unique_and_in_lower_case() {
        for names in ["b;a", "a;a", "A;b", "a;B"] {
            let header = format!("ACS3-HMAC-SHA256 Credential=k,SignedHeaders={names},Signature=SIG");
            assert_eq!(read(&header), Err(Refused::Unsorted), "{names}");
        }
    }
}
