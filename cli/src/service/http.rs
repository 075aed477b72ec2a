//! Requests to a service, and which services secrets are sent to.

use std::fmt;
use std::time::Duration;

use protocol::answer::Refusal;
use ureq::http::Uri;

use crate::service::time;

/// How long an exchange may take.
const TIMEOUT: Duration = Duration::from_secs(30);
/// How large an answer may be: the largest message with room for what surrounds it.
const ANSWER_BYTES_MAX: u64 = 16 << 20;

/// The address of a service. It is encrypted on its way, or does not leave this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address(String);

impl Address {
    /// The address with this text.
    pub fn new(text: &str) -> Result<Self, String> {
        let bad = |what: &str| format!("the address {text} {what}; write one such as https://tidegate.example.org");
        let uri: Uri = text.parse().map_err(|error| bad(&format!("cannot be read ({error})")))?;
        let host = uri.host().ok_or_else(|| bad("names no machine"))?;
        if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            return Err(bad("has a name or a password in it, which does not belong there"));
        }
        if uri.path_and_query().is_some_and(|rest| !matches!(rest.as_str(), "" | "/")) {
            return Err(bad("has a path"));
        }
        let is_loopback = host == "localhost" || host == "[::1]" || is_loopback(host);
        match uri.scheme_str() {
            Some("https") => {}
            Some("http") if is_loopback => {}
            Some("http") => return Err(bad("is not encrypted; http is for this machine alone")),
            Some(_) | None => return Err(bad("begins with neither https:// nor http://")),
        }
        Ok(Self(text.trim_end_matches('/').to_owned()))
    }

    /// The same with the words for sockets.
    #[must_use]
    pub fn of_socket(&self) -> String {
        self.0.replacen("http", "ws", 1)
    }

    /// The machine and the port that are to be connected with.
    #[must_use]
    pub fn place(&self) -> Option<(String, u16)> {
        let uri: Uri = self.0.parse().ok()?;
        let port = uri.port_u16().unwrap_or(if uri.scheme_str() == Some("https") { 443 } else { 80 });
        Some((uri.host()?.trim_matches(['[', ']']).to_owned(), port))
    }
}

fn is_loopback(host: &str) -> bool {
    host.parse::<std::net::Ipv4Addr>().is_ok_and(|address| address.is_loopback())
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An answer.
#[derive(Debug)]
pub struct Answer {
    /// Its status.
    pub status: u16,
    /// What it says.
    pub text: String,
    /// A secret that is shown this one time.
    pub secret: Option<String>,
    /// Which revision of a cluster it shows, if it shows one.
    pub revision: Option<u64>,
}

impl Answer {
    /// One with nothing beside its text.
    #[must_use]
    pub fn of(status: u16, text: &str) -> Self {
        Self { status, text: text.to_owned(), secret: None, revision: None }
    }

    /// What a refusal says: its code, and the sentence for people.
    #[must_use]
    pub fn refusal(&self) -> (String, String) {
        match serde_json::from_str::<Refusal>(&self.text) {
            Ok(Refusal { code, message, rejection: _ }) => (code.into_owned(), message),
            Err(_) => (String::new(), format!("an answer with status {} that is not Tidegate's", self.status)),
        }
    }
}

/// Sends requests to one service.
#[derive(Clone, Debug)]
pub struct Client {
    address: Address,
    http: ureq::Agent,
}

impl Client {
    /// A client of this service.
    #[must_use]
    pub fn new(address: Address) -> Self {
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(TIMEOUT))
            .http_status_as_error(false)
            // Nobody sends us elsewhere with what we know.
            .max_redirects(0)
            .user_agent("tidegate");
        Self { address, http: config.build().into() }
    }

    /// Where the service is.
    #[must_use]
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Sends something. What is said of an exchange that came to nothing is for people.
    pub fn post(&self, path: &str, token: Option<&str>, body: &str) -> Result<Answer, String> {
        let request = self.http.post(format!("{}{path}", self.address)).content_type("application/json");
        let request = match token {
            Some(token) => request.header("authorization", format!("Bearer {token}")),
            None => request,
        };
        self.read(request.send(body))
    }

    /// Asks for something.
    pub fn get(&self, path: &str, token: &str) -> Result<Answer, String> {
        let request = self.http.get(format!("{}{path}", self.address));
        self.read(request.header("authorization", format!("Bearer {token}")).call())
    }

    fn read(&self, answered: Result<ureq::http::Response<ureq::Body>, ureq::Error>) -> Result<Answer, String> {
        let failed = |error: ureq::Error| format!("{} does not answer: {error}", self.address);
        let mut response = answered.map_err(failed)?;
        let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
        let secret = header("x-tidegate-secret").map(str::to_owned);
        let revision = header("x-tidegate-revision").and_then(|text| text.parse().ok());
        // What was kept on the way tells when it was made.
        if header("age").is_none() {
            time::hear(header("date"));
        }
        let status = response.status().as_u16();
        let text = response.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_string().map_err(failed)?;
        Ok(Answer { status, text, secret, revision })
    }
}

#[cfg(test)]
mod tests {
    use super::Address;

    #[test]
    fn secrets_go_encrypted_or_nowhere() {
        for good in [
            "https://tidegate.example.org",
            "https://10.0.0.1:8443/",
            "http://127.0.0.1:8787",
            "http://localhost:1",
            "http://[::1]:1",
        ] {
            assert!(Address::new(good).is_ok(), "{good}");
        }
        for (bad, words) in [
            ("http://tidegate.example.org", "is not encrypted"),
            ("http://10.0.0.1:8787", "is not encrypted"),
            ("http://127.0.0.1.example.org", "is not encrypted"),
            ("http://localhost@example.org", "has a name or a password"),
            ("ftp://localhost", "begins with neither"),
            ("localhost:8787", "begins with neither"),
            ("https://example.org/v1", "has a path"),
            ("https://", "cannot be read"),
            ("", "cannot be read"),
        ] {
            let told = Address::new(bad).unwrap_err();
            assert!(told.contains(words), "{bad}: {told}");
        }
    }
}
