//! Sockets on which a service is heard.

use std::io;
use std::net::TcpStream;
use std::time::Duration;
use std::time::Instant;

use tungstenite::Error;
use tungstenite::Message;
use tungstenite::WebSocket;
use tungstenite::client::IntoClientRequest;
use tungstenite::client_tls;
use tungstenite::stream::MaybeTlsStream;

use crate::service::http::Address;

/// How long it is quiet before we ask whether anybody is there.
const QUIET: Duration = Duration::from_secs(20);
/// What is asked, and what the service answers without waking anybody.
const QUESTION: &str = "ping";
const ANSWER: &str = "pong";

/// A socket that is open.
pub struct Socket {
    messages: WebSocket<MaybeTlsStream<TcpStream>>,
    /// What it is made of, for how long one waits there.
    stream: TcpStream,
}

/// Why there is no socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closed {
    /// The service cannot be reached.
    Unreachable,
    /// It does not open one: the token may be over.
    Refused,
}

/// Opens the socket of a path.
pub fn open(address: &Address, path: &str, token: &str) -> Result<Socket, Closed> {
    let request = format!("{}{path}", address.of_socket()).into_client_request();
    let mut request = request.map_err(|_| Closed::Unreachable)?;
    let header = format!("Bearer {token}").parse().map_err(|_| Closed::Refused)?;
    request.headers_mut().insert("authorization", header);
    let place = address.place().ok_or(Closed::Unreachable)?;
    let stream = TcpStream::connect(place).map_err(|_| Closed::Unreachable)?;
    let is_set = stream.set_read_timeout(Some(QUIET)).and_then(|()| stream.set_write_timeout(Some(QUIET)));
    is_set.map_err(|_| Closed::Unreachable)?;
    let same = stream.try_clone().map_err(|_| Closed::Unreachable)?;
    let (messages, _) = client_tls(request, stream).map_err(|_| Closed::Refused)?;
    Ok(Socket { messages, stream: same })
}

/// Hands on what is heard until the socket is of no use any more, what is called says that it has heard enough, or the
/// time is over.
pub fn hear(socket: Socket, until: Option<Instant>, mut heard: impl FnMut(&str) -> Hears) {
    let Socket { mut messages, stream } = socket;
    let mut is_asked = false;
    loop {
        let left = until.map_or(QUIET, |until| until.saturating_duration_since(Instant::now()));
        if left.is_zero() || stream.set_read_timeout(Some(left.min(QUIET))).is_err() {
            return;
        }
        match messages.read() {
            Ok(Message::Text(text)) if text.as_str() == ANSWER => is_asked = false,
            Ok(Message::Text(text)) => {
                is_asked = false;
                match heard(text.as_str()) {
                    Hears::On => {}
                    Hears::Enough => return,
                }
            }
            Ok(Message::Binary(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_)) => is_asked = false,
            // It was not the quiet that was waited for.
            Err(Error::Io(error)) if is_quiet(&error) && left < QUIET => {}
            Err(Error::Io(error)) if is_quiet(&error) && !is_asked => {
                is_asked = true;
                if messages.send(Message::text(QUESTION)).is_err() {
                    return;
                }
            }
            Ok(Message::Close(_)) | Err(_) => return,
        }
    }
}

/// Whether somebody listens on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hears {
    /// They do.
    On,
    /// They have heard what they wanted to know.
    Enough,
}

fn is_quiet(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}
