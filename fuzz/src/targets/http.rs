//! Requests of PAI's SDKs, and what proves who somebody is.

use engine::transition::Sender;
use engine::unit::id::UserId;
use engine::unit::time::Timestamp;
use engine::workspace::key::AccessKey;
use engine::workspace::key::KeyId;
use pai::access_token::AccessToken;
use pai::access_token::Expected;
use pai::key::Master;
use pai::key::accepted;
use pai::request::Request;
use pai::service;
use pai::service::mark::Mark;
use pai::service::memory::MemoryBackend;
use pai::session::Session;
use pai::signature;
use pai::signature::Credential;
use serde_json::Value;

use crate::corpus;
use crate::targets::cluster::again;
use crate::told::Check;
use crate::told::Told;
use crate::told::refused;

const NOW: Timestamp = Timestamp(1_763_000_000_000);

/// A request as it is read from the wire.
struct Wire {
    method: String,
    target: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Wire {
    fn read(input: &[u8]) -> Self {
        let end = input.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(input.len());
        let head: String = input[..end].iter().map(|byte| char::from(*byte)).collect();
        let mut lines = head.split("\r\n");
        let mut first = lines.next().unwrap_or_default().split(' ').map(str::to_owned);
        let (method, target) = (first.next().unwrap_or_default(), first.next().unwrap_or_default());
        let header = |line: &str| line.split_once(':').map(|(name, value)| (name.to_owned(), value.trim().to_owned()));
        let body = input.get(end + 4..).unwrap_or_default().to_vec();
        Self { method, target, headers: lines.filter_map(header).collect(), body }
    }

    fn request(&self) -> Request<'_> {
        Request { method: &self.method, target: &self.target, headers: &self.headers, body: &self.body }
    }
}

fn user(name: &str) -> Result<UserId, String> {
    UserId::new(name).map_err(|error| error.to_string())
}

pub(crate) fn bodies() -> Result<Check, String> {
    let states = corpus::states()?;
    let senders = [Sender { user: user("ops")?, administers: true }, Sender { user: user("ann")?, administers: false }];
    Ok(Box::new(move |input| {
        let wire = Wire::read(input);
        let request = wire.request();
        let mut backend =
            MemoryBackend { state: states[input.len() % states.len()].clone(), now: NOW, ..MemoryBackend::default() };
        let sender = &senders[input.len() % senders.len()];
        let answer = service::serve(&request, Mark::of(&request, NOW), sender, &mut backend, NOW);
        let body: Value =
            serde_json::from_str(&answer.body).map_err(|error| format!("its answer is no JSON: {error}"))?;
        match answer.status {
            200 => again(&backend.state).map(|()| Told::Accepted),
            400..500 if body["Message"].as_str().is_some_and(|words| words.len() >= 8) => Ok(Told::Refused),
            other => Err(format!("it is answered with {other}: {body}")),
        }
    }))
}

pub(crate) fn signatures() -> Result<Check, String> {
    let master = Master::new(&[7; 32]).ok_or("the secret is too short")?;
    let id = KeyId::new("demo.key").ok_or("the key has a good name")?;
    let key = AccessKey::new(user("ann")?, false, Timestamp(0), None);
    let secrets = accepted(&master, &id, &key, NOW);
    let token = Session { key: id, generation: 1, expires: Timestamp(NOW.0 + 1) }.token(&master).reveal().to_owned();
    Ok(Box::new(move |input| {
        let wire = Wire::read(input);
        let request = wire.request();
        let shown = String::from_utf8_lossy(input);
        if let Some(read) = AccessToken::read(&shown) {
            let _ = read.user(Expected { issuer: "https://team", audience: "tag" }, NOW);
        }
        // A token with anything put before, behind or into it is no token.
        let at = input.len() % token.len();
        let changed = format!("{}{shown}{}", &token[..at], &token[at..]);
        if !shown.is_empty() && Session::read(&master, &changed, NOW).is_some() {
            return Err("a token that was changed is accepted".to_owned());
        }
        match signature::credential(&request) {
            Ok(Credential::Bearer(_)) => Ok(Told::Read),
            Ok(Credential::Signed(signed)) => match signed.verify(&secrets, NOW) {
                // Nobody has signed anything with this key.
                Ok(_) => Err("a signature that nobody made is accepted".to_owned()),
                Err(found) => refused(&found).map(|_| Told::Accepted),
            },
            Err(found) => refused(&found),
        }
    }))
}
