//! A request that somebody has recorded, and what becomes of its signature.

use engine::unit::time::Timestamp;
use pai::key::Accepted;
use pai::key::Secret;
use pai::problem::Problem;
use pai::request::Request;
use pai::signature::Credential;
use pai::signature::Refused;
use pai::signature::credential;
use serde::Deserialize;

/// All of a request but its body, with the key that it was signed with and the time at which it comes.
#[derive(Deserialize)]
struct Head {
    method: String,
    target: String,
    headers: Vec<(String, String)>,
    key: String,
    secret: String,
    security_token: Option<String>,
    now: Timestamp,
}

/// `accepted`, `bearer`, or the code of the refusal; none if the head cannot be read. The head is a line of JSON, and
/// the body follows it.
pub(crate) fn outcome(input: &[u8]) -> Option<String> {
    let end = input.iter().position(|byte| *byte == b'\n')?;
    let head: Head = serde_json::from_slice(&input[..end]).ok()?;
    let Head { method, target, headers, .. } = &head;
    let request = Request { method, target, headers, body: &input[end + 1..] };
    Some(match verified(&request, &head) {
        Ok(outcome) => outcome.to_owned(),
        Err(refused) => Problem::from(refused).code.into_owned(),
    })
}

fn verified(request: &Request, head: &Head) -> Result<&'static str, Refused> {
    let Credential::Signed(signed) = credential(request)? else { return Ok("bearer") };
    let Head { key, secret, security_token, now, .. } = head;
    let known = Accepted { secret: Secret::new(secret), security_token: security_token.as_deref().map(Secret::new) };
    // Of a key that nobody has made there are no secrets.
    let accepted = if signed.key_id() == key { vec![known] } else { Vec::new() };
    signed.verify(&accepted, *now).map(|_| "accepted")
}
