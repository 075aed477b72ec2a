//! The WebSocket on which the cluster pushes what it decides.

use engine::message::envelope::Deed;
use engine::message::envelope::Entry;
use futures::StreamExt;
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
    pub(crate) async fn next(&mut self) -> Option<Entry<Deed>> {
        match self.socket.next().await? {
            Ok(Message::Text(text)) => serde_json::from_str(&text).ok(),
            Ok(Message::Bytes(_)) | Err(_) => None,
        }
    }
}
