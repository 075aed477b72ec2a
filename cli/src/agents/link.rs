//! The way from an agent to its service: requests that are answered.

use std::sync::Arc;

use agent::message::Hello;
use agent::message::SyncAnswer;
use agent::message::SyncRequest;
use agent::message::Tail;
use agent::message::TailKept;
use agent::message::Welcome;
use agent::script::Script;
use runner::serve::Link;
use runner::serve::LinkError;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::agents::session::Session;

/// Requests within the agent's session.
pub struct HttpLink(pub Arc<Session>);

impl HttpLink {
    fn post<T: DeserializeOwned>(&self, call: &str, said: &impl Serialize) -> Result<T, LinkError> {
        let body = serde_json::to_string(said).map_err(|error| LinkError::Silent(error.to_string()))?;
        let path = self.0.path(call);
        self.0.ask(|client, token| client.post(&path, Some(token), &body))
    }
}

impl Link for HttpLink {
    fn hello(&mut self, hello: &Hello) -> Result<Welcome, LinkError> {
        let welcome: Welcome = self.post("hello", hello)?;
        self.0.welcomed(welcome.incarnation);
        Ok(welcome)
    }

    fn sync(&mut self, request: &SyncRequest) -> Result<SyncAnswer, LinkError> {
        self.post("sync", request)
    }

    fn tail(&mut self, tail: &Tail) -> Result<TailKept, LinkError> {
        self.post("tail", tail)
    }

    fn script(&mut self, digest: &str) -> Result<Script, LinkError> {
        let path = self.0.path(&format!("script?digest={digest}"));
        self.0.ask(|client, token| client.get(&path, token))
    }
}
