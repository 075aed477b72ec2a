//! The session of an agent: opened with its key when one is needed, and shared by its threads.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;

use protocol::answer::Credentials;
use protocol::answer::OpenedSession;
use runner::serve::LinkError;
use serde::de::DeserializeOwned;

use crate::agents::joined::Joined;
use crate::service::http::Address;
use crate::service::http::Answer;
use crate::service::http::Client;

/// What a service says that has revoked a key, which is for ever. Any other 401 may be otherwise soon.
const REVOKED: &str = "revoked";

/// An agent that has joined, towards its service.
pub struct Session {
    client: Client,
    joined: Joined,
    token: Mutex<Option<String>>,
    /// The number of this process, once it was welcomed.
    incarnation: AtomicU64,
}

impl Session {
    /// The session of an agent; nothing is sent yet.
    pub fn new(joined: Joined) -> Result<Self, String> {
        Ok(Self {
            client: Client::new(Address::new(&joined.service)?),
            joined,
            token: Mutex::new(None),
            incarnation: AtomicU64::new(0),
        })
    }

    /// Where the service is.
    #[must_use]
    pub fn address(&self) -> &Address {
        self.client.address()
    }

    /// The path of what an agent asks for.
    #[must_use]
    pub fn path(&self, call: &str) -> String {
        format!("/v1/clusters/{}/agents/{}/{call}", self.joined.cluster, self.joined.name)
    }

    /// The number that the service has given to this process.
    #[must_use]
    pub fn incarnation(&self) -> u64 {
        self.incarnation.load(Ordering::Acquire)
    }

    /// Notes that number.
    pub fn welcomed(&self, incarnation: u64) {
        self.incarnation.store(incarnation, Ordering::Release);
    }

    /// Asks with a token; once more with a new one if it is not taken any more.
    pub fn ask<T: DeserializeOwned>(
        &self,
        ask: impl Fn(&Client, &str) -> Result<Answer, String>,
    ) -> Result<T, LinkError> {
        let token = self.token()?;
        let mut answer = ask(&self.client, &token).map_err(LinkError::Silent)?;
        if answer.status == 401 {
            self.forget(&token);
            answer = ask(&self.client, &self.token()?).map_err(LinkError::Silent)?;
        }
        read(&answer)
    }

    /// The token, of a new session if there is none.
    pub fn token(&self) -> Result<String, LinkError> {
        let mut token = self.token.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(token) = &*token {
            return Ok(token.clone());
        }
        let Joined { service, cluster, secret, .. } = &self.joined;
        let key = self.joined.key();
        let shown = Credentials { key: key.clone(), secret: secret.clone() };
        let body = serde_json::to_string(&shown).map_err(|error| LinkError::Silent(error.to_string()))?;
        let path = format!("/v1/clusters/{cluster}/sessions");
        let answer = self.client.post(&path, None, &body).map_err(LinkError::Silent)?;
        if answer.status == 401 && answer.refusal().0 != REVOKED {
            return Err(LinkError::Unproved(format!(
                "the key {key} does not open cluster {cluster} at {service}: it was rotated, has expired or is another \
                 cluster's (join anew), or the service has lost its storage (restore it)"
            )));
        }
        let OpenedSession { token: opened, .. } = read(&answer)?;
        Ok(token.insert(opened).clone())
    }

    /// Drops a token that is not taken any more.
    pub fn forget(&self, token: &str) {
        let mut kept = self.token.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.as_deref() == Some(token) {
            *kept = None;
        }
    }
}

/// What an answer means. What may be otherwise soon is as good as silence: it is asked again.
fn read<T: DeserializeOwned>(answer: &Answer) -> Result<T, LinkError> {
    if answer.status == 200 {
        return serde_json::from_str(&answer.text)
            .map_err(|error| LinkError::Silent(format!("the answer cannot be read: {error}")));
    }
    let (code, message) = answer.refusal();
    Err(match (answer.status, code.as_str()) {
        (409, "superseded") => LinkError::Superseded,
        (409, "say_hello") => LinkError::Unknown,
        (401, code) if code != REVOKED => LinkError::Unproved(message),
        (404, "no_script") | (409, "storage_lost") => LinkError::Silent(message),
        (400 | 401 | 403 | 404 | 409 | 410 | 413 | 422, code) if !code.is_empty() => LinkError::Refused(message),
        (_, _) => LinkError::Silent(message),
    })
}

#[cfg(test)]
mod tests {
    use agent::message::Welcome;
    use runner::serve::LinkError;

    use super::read;
    use crate::service::http::Answer;

    #[test]
    fn only_what_the_service_itself_refuses_ends_an_agent() {
        let told = |status, text: &str| match read::<Welcome>(&Answer::of(status, text)) {
            Ok(_) => "welcome".to_owned(),
            Err(LinkError::Superseded) => "superseded".to_owned(),
            Err(LinkError::Unknown) => "hello".to_owned(),
            Err(LinkError::Unproved(_)) => "unproved".to_owned(),
            Err(LinkError::Refused(reason)) => format!("refused: {reason}"),
            Err(LinkError::Silent(_)) => "silent".to_owned(),
        };
        let refusal = |code: &str| format!(r#"{{"code":"{code}","message":"words","rejection":null}}"#);
        assert_eq!(told(200, r#"{"format":1,"incarnation":1}"#), "welcome");
        assert_eq!(told(200, "<html>"), "silent");
        assert_eq!(told(409, &refusal("superseded")), "superseded");
        assert_eq!(told(409, &refusal("say_hello")), "hello");
        assert_eq!(told(409, &refusal("bad_node")), "refused: words");
        assert_eq!(told(403, &refusal("other_agent")), "refused: words");
        assert_eq!(told(401, &refusal("revoked")), "refused: words");
        assert_eq!(told(401, &refusal("unauthorised")), "unproved");
        assert_eq!(told(410, &refusal("deleted")), "refused: words");
        for (status, text) in [(404, "<html>"), (429, &*refusal("too_many")), (503, &refusal("unavailable")), (302, "")]
        {
            assert_eq!(told(status, text), "silent", "{status}");
        }
    }
}
