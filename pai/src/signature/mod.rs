//! Who sends a request, proved from the bytes of the wire alone.
//!
//! One algorithm is accepted, ACS3-HMAC-SHA256, beside bearer tokens; all others are refused by name. Reading a request
//! ([`credential`]) names the key, so that the caller can look it up; [`Signed::verify`] proves that its holder sent
//! exactly this, and hands out the nonce for the replay check, which comes last: a forged request must not use up the
//! nonce of a genuine one.

mod algorithm;
mod authorization;
mod canonical;
mod refused;

use std::iter;

use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use sha2::Digest;
use sha2::Sha256;
use subtle::ConstantTimeEq;

use crate::calendar;
use crate::key::Accepted;
use crate::key::hex;
use crate::key::hmac_sha256;
use crate::nonce::Nonce;
use crate::request::Request;
pub use crate::signature::algorithm::ALGORITHM;
use crate::signature::authorization::Authorization;
pub use crate::signature::refused::Refused;

/// How far a request's date may be from the server's.
pub const SKEW_MAX: Millis = Millis(15 * 60_000);

/// How many characters a nonce may have.
const NONCE_CHARS_MAX: usize = 64;

const ACTION: &str = "x-acs-action";
const VERSION: &str = "x-acs-version";
const CONTENT_HASH: &str = "x-acs-content-sha256";
const DATE: &str = "x-acs-date";
const NONCE: &str = "x-acs-signature-nonce";
const TOKEN: &str = "x-acs-security-token";
const TOKEN_KEY: &str = "x-acs-accesskey-id";
const BEARER: &str = "x-acs-bearer-token";

/// Headers that every signature covers.
const SIGNED_ALWAYS: [&str; 6] = ["host", ACTION, CONTENT_HASH, DATE, NONCE, VERSION];

/// What a request shows of its sender. Nothing of it is proved yet.
#[derive(Clone, Debug)]
pub enum Credential<'a> {
    /// It is signed with an access key.
    Signed(Signed<'a>),
    /// It carries a token.
    Bearer(&'a str),
}

/// A request with a signature that has the right form.
#[derive(Clone, Debug)]
pub struct Signed<'a> {
    request: Request<'a>,
    authorization: Authorization<'a>,
    date: Timestamp,
    nonce: &'a str,
    security_token: Option<&'a str>,
}

/// Reads who a request says it is from.
pub fn credential<'a>(request: &Request<'a>) -> Result<Credential<'a>, Refused> {
    let authorization = request.header("authorization")?.filter(|value| !value.is_empty());
    let bearer = authorization.and_then(|value| value.strip_prefix("Bearer "));
    match (request.header(BEARER)?, authorization, bearer) {
        (Some(token), Some(_), Some(same)) if token == same => Ok(Credential::Bearer(token)),
        (Some(_), Some(_), _) => Err(Refused::TwoCredentials),
        (Some(token), None, _) | (None, _, Some(token)) => Ok(Credential::Bearer(token)),
        (None, Some(authorization), None) => Signed::read(request, authorization).map(Credential::Signed),
        (None, None, None) => Err(Refused::Anonymous),
    }
}

impl<'a> Signed<'a> {
    fn read(request: &Request<'a>, authorization: &'a str) -> Result<Self, Refused> {
        let authorization = Authorization::read(authorization)?;
        check_coverage(request, &authorization.signed)?;
        let value = |name: &str| Ok::<_, Refused>(request.header(name)?.unwrap_or_default());
        let date = value(DATE)?;
        let date = calendar::read(date).ok_or_else(|| Refused::BadDate { date: date.to_owned() })?;
        let nonce = value(NONCE)?;
        let is_plain = nonce.chars().all(|c| c.is_ascii_graphic());
        if !is_plain || !(1..=NONCE_CHARS_MAX).contains(&nonce.len()) {
            return Err(Refused::BadNonce);
        }
        let security_token = request.header(TOKEN)?;
        if request.header(TOKEN_KEY)?.is_some_and(|key| key != authorization.key_id) {
            return Err(Refused::TwoCredentials);
        }
        Ok(Self { request: *request, authorization, date, nonce, security_token })
    }

    /// The key that the request says it is signed with.
    #[must_use]
    pub fn key_id(&self) -> &'a str {
        self.authorization.key_id
    }

    /// Proves that the holder of one of these secrets sent exactly this request, about now. No secret at all means
    /// that there is no such key. The nonce is still to be admitted.
    pub fn verify(&self, accepted: &[Accepted], now: Timestamp) -> Result<Nonce, Refused> {
        if accepted.is_empty() {
            return Err(Refused::UnknownKey { key: self.key_id().to_owned() });
        }
        let body_hash = hex(&Sha256::digest(self.request.body));
        if self.request.header(CONTENT_HASH)? != Some(&body_hash) {
            return Err(Refused::ContentHash);
        }
        if self.date > now + SKEW_MAX || now > self.date + SKEW_MAX {
            return Err(Refused::Stale { date: self.date, now });
        }
        let (signed_by, to_sign) = self.signed_by(accepted, &body_hash)?;
        let Some(accepted) = signed_by else { return Err(Refused::Mismatch { to_sign }) };
        let is_token_right = match (self.security_token, &accepted.security_token) {
            (None, None) => true,
            (Some(sent), Some(expected)) => bool::from(sent.as_bytes().ct_eq(expected.reveal().as_bytes())),
            (Some(_), None) | (None, Some(_)) => false,
        };
        if !is_token_right {
            return Err(Refused::SecurityToken);
        }
        Ok(Nonce::new(self.nonce, self.date + SKEW_MAX))
    }

    /// The secret that made the signature, if any did, and the text that it should have signed.
    fn signed_by<'s>(
        &self,
        accepted: &'s [Accepted],
        body_hash: &str,
    ) -> Result<(Option<&'s Accepted>, String), Refused> {
        let Authorization { signed, signature, .. } = &self.authorization;
        let query = self.request.query().ok_or(Refused::BadQuery)?;
        let to_sign = |query: String| {
            let canonical = canonical::request(&self.request, &query, signed, body_hash);
            format!("{ALGORITHM}\n{}", hex(&Sha256::digest(canonical.as_bytes())))
        };
        let documented = to_sign(canonical::query(&query));
        let texts: Vec<String> =
            iter::once(documented.clone()).chain(canonical::sdk_query(&query).map(to_sign)).collect();
        let is_signed = |accepted: &&Accepted| {
            let secret = accepted.secret.reveal().as_bytes();
            texts.iter().any(|text| bool::from(hmac_sha256(secret, text.as_bytes()).ct_eq(signature)))
        };
        Ok((accepted.iter().find(is_signed), documented))
    }
}

/// What decides must be signed, be there, and be there once. The type of an empty body decides nothing: the HTTP library
/// of asynchronous clients adds one after everything has been signed.
fn check_coverage(request: &Request, signed: &[&str]) -> Result<(), Refused> {
    let is_deciding = |name: &str| {
        name.starts_with("x-acs-") || name == "host" || (name == "content-type" && !request.body.is_empty())
    };
    let present = request.headers.iter().map(|(name, _)| name.to_ascii_lowercase());
    let mut unsigned: Vec<String> = present
        .filter(|name| is_deciding(name))
        .chain(SIGNED_ALWAYS.map(str::to_owned))
        .filter(|name| !signed.contains(&name.as_str()))
        .collect();
    unsigned.sort();
    unsigned.dedup();
    if !unsigned.is_empty() {
        return Err(Refused::Unsigned { headers: unsigned });
    }
    for name in signed {
        if request.values(name).next().is_none() {
            return Err(Refused::Absent { header: (*name).to_owned() });
        }
        if is_deciding(name) {
            request.header(name)?;
        }
    }
    Ok(())
}
