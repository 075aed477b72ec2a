//! The WebSocket on which the cluster pushes what it decides.

use engine::message::envelope::CommandKind;
use engine::message::envelope::Entry;
use futures::SinkExt;
use futures::StreamExt;
use futures::future::Either;
use futures::future::select;
use gloo::net::websocket::Message;
use gloo::net::websocket::State;
use gloo::net::websocket::futures::WebSocket;
use gloo_timers::future::TimeoutFuture;

use crate::api::browser;
use crate::api::key;
use console_model::path;

/// How often, and after which pause, a connection that is being made is looked at.
const ATTEMPTS: u32 = 200;
const STEP_MS: u32 = 25;

/// After this silence the other side is asked whether it is still there, and given up without an answer in this time. A
/// connection can be cut without either side being told.
const SILENCE_MS: u32 = 30_000;
const ANSWER_MS: u32 = 10_000;
const QUESTION: &str = "ping";
const ANSWER: &str = "pong";

/// A stream of entries.
pub(crate) struct Events {
    socket: WebSocket,
}

impl Events {
    /// Connects. Browsers cannot set a header here, so the key travels as a subprotocol, which is not logged.
    pub(crate) fn open(cluster: &str) -> Option<Self> {
        let url = format!("{}{}", browser::origin().replacen("http", "ws", 1), path::api(cluster, "events"));
        let socket = match key::get() {
            Some(key) => WebSocket::open_with_protocols(&url, &["tidegate", &format!("bearer.{key}")]),
            None => WebSocket::open(&url),
        };
        socket.ok().map(|socket| Self { socket })
    }

    /// Waits until the connection stands. Says whether it does.
    pub(crate) async fn is_connected(&mut self) -> bool {
        for _ in 0..ATTEMPTS {
            match self.socket.state() {
                State::Open => return true,
                State::Connecting => TimeoutFuture::new(STEP_MS).await,
                State::Closing | State::Closed => return false,
            }
        }
        false
    }

    /// The next entry; nothing when the connection is lost, or speaks of what this console cannot read.
    pub(crate) async fn next(&mut self) -> Option<Entry<CommandKind>> {
        let mut is_asked = false;
        loop {
            let patience = TimeoutFuture::new(if is_asked { ANSWER_MS } else { SILENCE_MS });
            match select(self.socket.next(), patience).await {
                Either::Left((Some(Ok(Message::Text(text))), _)) if text == ANSWER => is_asked = false,
                Either::Left((Some(Ok(Message::Text(text))), _)) => return serde_json::from_str(&text).ok(),
                Either::Left(_) => return None,
                Either::Right(_) if is_asked => return None,
                Either::Right(_) => {
                    self.socket.send(Message::Text(QUESTION.to_owned())).await.ok()?;
                    is_asked = true;
                }
            }
        }
    }
}
