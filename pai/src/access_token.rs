//! Tokens of Cloudflare Access: a JSON Web Token, signed by the team with RS256. What is read here is not proved until
//! the host has verified the signature with the team's public key.

use engine::unit::id::UserId;
use engine::unit::time::Timestamp;
use serde_json::Value;

/// How many bytes a token may have.
const TOKEN_BYTES_MAX: usize = 8_192;

/// A token of the right form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessToken<'a> {
    /// The name of the public key that it is signed with.
    pub key_id: String,
    /// What is signed.
    pub signed: &'a str,
    /// The signature.
    pub signature: Vec<u8>,
    claims: Value,
}

/// For whom a token is meant to be good.
#[derive(Clone, Copy, Debug)]
pub struct Expected<'a> {
    /// The team's address, `https://team.cloudflareaccess.com`.
    pub issuer: &'a str,
    /// The tag of the application.
    pub audience: &'a str,
}

impl<'a> AccessToken<'a> {
    /// Reads a token; none if it has another form or another algorithm.
    #[must_use]
    pub fn read(token: &'a str) -> Option<Self> {
        if token.len() > TOKEN_BYTES_MAX {
            return None;
        }
        let (signed, signature) = token.rsplit_once('.')?;
        let (header, claims) = signed.split_once('.')?;
        let header = json(header)?;
        if header["alg"].as_str() != Some("RS256") {
            return None;
        }
        let key_id = header["kid"].as_str()?.to_owned();
        Some(Self { key_id, signed, signature: decoded(signature)?, claims: json(claims)? })
    }

    /// Whom the team vouches for, and until when; none if it does not, or not for this application, or not now.
    #[must_use]
    pub fn user(&self, expected: Expected, now: Timestamp) -> Option<(UserId, Timestamp)> {
        let claims = &self.claims;
        let time = |name: &str| Some(Timestamp(claims[name].as_i64()?.checked_mul(1_000)?));
        let is_named = |one: &Value| one.as_str() == Some(expected.audience);
        let is_ours = claims["aud"].as_array().map_or_else(|| is_named(&claims["aud"]), |all| all.iter().any(is_named));
        let expires = time("exp")?;
        let has_begun = claims["nbf"].is_null() || time("nbf")? <= now;
        if !is_ours || claims["iss"].as_str() != Some(expected.issuer) || expires <= now || !has_begun {
            return None;
        }
        let email = claims["email"].as_str().filter(|email| email.is_ascii() && !email.contains(' '))?;
        Some((UserId::new(email).ok()?, expires))
    }
}

fn json(part: &str) -> Option<Value> {
    serde_json::from_str(&String::from_utf8(decoded(part)?).ok()?).ok()
}

/// Base64 with the alphabet of addresses, without padding.
fn decoded(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
    for group in text.as_bytes().chunks(4) {
        let mut bits = 0_u32;
        for byte in group {
            let value = match byte {
                b'A'..=b'Z' => byte - b'A',
                b'a'..=b'z' => byte - b'a' + 26,
                b'0'..=b'9' => byte - b'0' + 52,
                b'-' => 62,
                b'_' => 63,
                _ => return None,
            };
            bits = bits << 6 | u32::from(value);
        }
        // Of a group of n characters, n - 1 bytes are whole; one character alone is none.
        let whole = group.len() - 1;
        if whole == 0 {
            return None;
        }
        let bits = bits << (6 * (4 - group.len()));
        bytes.extend_from_slice(&bits.to_be_bytes()[1..=whole]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use engine::unit::time::Timestamp;

    use super::AccessToken;
    use super::Expected;
    use super::decoded;

    const EXPECTED: Expected<'static> = Expected { issuer: "https://team.example", audience: "app" };

    fn encoded(text: &str) -> String {
        const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        let bits: Vec<u8> = text.bytes().flat_map(|byte| (0..8).rev().map(move |at| byte >> at & 1)).collect();
        let value = |six: &[u8]| (0..6).fold(0, |value, at| value << 1 | six.get(at).copied().unwrap_or(0));
        bits.chunks(6).map(|six| char::from(ALPHABET[usize::from(value(six))])).collect()
    }

    fn user(header: &str, claims: &str, now: i64) -> Option<String> {
        let token = format!("{}.{}.{}", encoded(header), encoded(claims), encoded("signature"));
        let token = AccessToken::read(&token)?;
        assert_eq!((token.key_id.as_str(), token.signature.as_slice()), ("k1", b"signature".as_slice()));
        token.user(EXPECTED, Timestamp(now)).map(|(user, _)| user.to_string())
    }

    const HEADER: &str = r#"{"alg":"RS256","kid":"k1"}"#;

    #[test]
    fn base64_of_addresses() {
        for text in ["", "a", "ab", "abc", "abcd", "~~~???"] {
            assert_eq!(decoded(&encoded(text)).unwrap(), text.as_bytes(), "{text}");
        }
        assert_eq!(decoded("-_-_"), Some(vec![0xfb, 0xff, 0xbf]));
        for bad in ["A", "AB=", "A+/A", "AAAAA"] {
            assert_eq!(decoded(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_good_token_names_its_user() {
        let claims =
            r#"{"iss":"https://team.example","aud":["other","app"],"exp":100,"nbf":50,"email":"ann@example.com"}"#;
        assert_eq!(user(HEADER, claims, 99_999).as_deref(), Some("ann@example.com"));
        assert_eq!(user(HEADER, claims, 100_000), None);
        assert_eq!(user(HEADER, claims, 49_999), None);
        let single = r#"{"iss":"https://team.example","aud":"app","exp":100,"email":"ann@example.com"}"#;
        assert_eq!(user(HEADER, single, 0).as_deref(), Some("ann@example.com"));
    }

    #[test]
    fn another_issuer_audience_algorithm_or_no_user_is_refused() {
        for claims in [
            r#"{"iss":"https://other.example","aud":"app","exp":100,"email":"a@b"}"#,
            r#"{"iss":"https://team.example","aud":["other"],"exp":100,"email":"a@b"}"#,
            r#"{"iss":"https://team.example","exp":100,"email":"a@b"}"#,
            r#"{"iss":"https://team.example","aud":"app","email":"a@b"}"#,
            r#"{"iss":"https://team.example","aud":"app","exp":100}"#,
            r#"{"iss":"https://team.example","aud":"app","exp":100,"email":""}"#,
            r#"{"iss":"https://team.example","aud":"app","exp":9223372036854775807,"email":"a@b"}"#,
        ] {
            assert_eq!(user(HEADER, claims, 0), None, "{claims}");
        }
        let claims = r#"{"iss":"https://team.example","aud":"app","exp":100,"email":"a@b"}"#;
        assert!(user(HEADER, claims, 0).is_some());
        assert_eq!(user(r#"{"alg":"none","kid":"k1"}"#, claims, 0), None);
        assert_eq!(user(r#"{"alg":"HS256","kid":"k1"}"#, claims, 0), None);
        for text in ["", "a.b", "..", "a.b.c", &"a".repeat(9_000)] {
            assert!(AccessToken::read(text).is_none(), "{text}");
        }
    }
}
