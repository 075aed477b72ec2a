//! A refusal in the contract's shape: a status, and a body with code, message and the request's name.

use std::borrow::Cow;
use std::fmt;
use std::fmt::Write;

use engine::unit::time::Millis;
use serde_json::json;

/// The name of a request, as everything that answers it repeats it: a UUID in capitals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestId(String);

impl RequestId {
    /// The name made of random bytes.
    #[must_use]
    pub fn new(mut random: [u8; 16]) -> Self {
        // Marks of a random UUID.
        random[6] = random[6] & 0x0f | 0x40;
        random[8] = random[8] & 0x3f | 0x80;
        let mut text = String::with_capacity(36);
        for (at, byte) in random.iter().enumerate() {
            if [4, 6, 8, 10].contains(&at) {
                text.push('-');
            }
            let _ = write!(text, "{byte:02X}");
        }
        Self(text)
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why a request is not served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The HTTP status, 400 to 599.
    pub status: u16,
    /// What programs tell problems apart by.
    pub code: Cow<'static, str>,
    /// What people read: what is wrong, where, and what to do.
    pub message: String,
    /// How long to wait, if it is that.
    pub wait: Option<Millis>,
}

impl Problem {
    /// A refusal.
    #[must_use]
    pub fn new(status: u16, code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self { status, code: code.into(), message: message.into(), wait: None }
    }

    /// The refusal of a request that has come too soon.
    #[must_use]
    pub fn too_soon(what: impl fmt::Display, wait: Millis) -> Self {
        let message = format!("{what}; wait {} ms", wait.0);
        Self { wait: Some(wait), ..Self::new(429, "Throttling", message) }
    }

    /// The body of the answer. The SDKs read nothing but an object, so there is always one.
    #[must_use]
    pub fn body(&self, request: &RequestId) -> String {
        let Self { status: _, code, message, wait: _ } = self;
        json!({ "RequestId": request.to_string(), "Code": code, "Message": message }).to_string()
    }
}

#[cfg(test)]
mod tests {
    use engine::unit::time::Millis;

    use super::Problem;
    use super::RequestId;

    #[test]
    fn a_request_is_named_by_a_random_uuid_in_capitals() {
        let name = |byte| RequestId::new([byte; 16]).to_string();
        assert_eq!(name(0x00), "00000000-0000-4000-8000-000000000000");
        assert_eq!(name(0xff), "FFFFFFFF-FFFF-4FFF-BFFF-FFFFFFFFFFFF");
    }

    #[test]
    fn what_people_read_and_what_programs_do_is_the_same_wait() {
        let problem = Problem::too_soon("too fast", Millis(20));
        assert_eq!((problem.wait, problem.message.as_str()), (Some(Millis(20)), "too fast; wait 20 ms"));
        assert_eq!(Problem::new(503, "ServiceUnavailable", "later").wait, None);
    }

    #[test]
    fn a_body_is_an_object_whatever_the_message_says() {
        let problem = Problem::new(404, "QuotaNotFound", "no \"q\"\n");
        let body: serde_json::Value = serde_json::from_str(&problem.body(&RequestId::new([0; 16]))).unwrap();
        assert_eq!(body["Code"], "QuotaNotFound");
        assert_eq!(body["Message"], "no \"q\"\n");
        assert_eq!(body["RequestId"], "00000000-0000-4000-8000-000000000000");
    }
}
