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

/// How often we ask whether anybody is there, whatever else is heard: the time of the answer is how the service knows who
/// listens.
const ASKED_EVERY: Duration = Duration::from_secs(20);
/// How long we look for what has come already: whoever was busy with a message may find the answer only now.
const GLANCE: Duration = Duration::from_millis(1);
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
    let is_set = stream.set_read_timeout(Some(ASKED_EVERY)).and_then(|()| stream.set_write_timeout(Some(ASKED_EVERY)));
    is_set.map_err(|_| Closed::Unreachable)?;
    let same = stream.try_clone().map_err(|_| Closed::Unreachable)?;
    let (messages, _) = client_tls(request, stream).map_err(|_| Closed::Refused)?;
    Ok(Socket { messages, stream: same })
}

/// Hands on what is heard until the socket is of no use any more, what is called says that it has heard enough, or the
/// time is over.
pub fn hear(socket: Socket, until: Option<Instant>, heard: impl FnMut(&str) -> Hears) {
    hear_asking(socket, ASKED_EVERY, until, heard);
}

/// The same, asking that often.
fn hear_asking(socket: Socket, every: Duration, until: Option<Instant>, mut heard: impl FnMut(&str) -> Hears) {
    let Socket { mut messages, stream } = socket;
    let mut is_asked = false;
    let mut ask_at = Instant::now() + every;
    loop {
        let now = Instant::now();
        if until.is_some_and(|until| until <= now) {
            return;
        }
        if ask_at <= now && !is_asked {
            if messages.send(Message::text(QUESTION)).is_err() {
                return;
            }
            (is_asked, ask_at) = (true, now + every);
        }
        let wake_at = until.map_or(ask_at, |until| until.min(ask_at));
        if stream.set_read_timeout(Some((wake_at - now).max(GLANCE))).is_err() {
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
            Err(Error::Io(error)) if is_quiet(&error) && !(is_asked && ask_at <= Instant::now()) => {}
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

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;
    use std::time::Duration;
    use std::time::Instant;

    use tungstenite::Error;
    use tungstenite::Message;

    use super::ANSWER;
    use super::Hears;
    use super::QUESTION;
    use super::hear_asking;
    use super::is_quiet;
    use super::open;
    use crate::service::http::Address;

    /// Rings all the time, and answers; how often it was asked.
    fn ring(listener: &TcpListener) -> u32 {
        let (stream, _) = listener.accept().expect("somebody comes");
        stream.set_read_timeout(Some(Duration::from_millis(10))).expect("it can be set");
        let mut messages = tungstenite::accept(stream).expect("it is a socket");
        let mut n_asked = 0;
        loop {
            let said = match messages.read() {
                Ok(Message::Text(text)) if text.as_str() == QUESTION => {
                    n_asked += 1;
                    ANSWER
                }
                Err(Error::Io(error)) if is_quiet(&error) => "7",
                Ok(_) | Err(_) => return n_asked,
            };
            if messages.send(Message::text(said)).is_err() {
                return n_asked;
            }
        }
    }

    #[test]
    fn who_hears_something_all_the_time_asks_all_the_same() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a port");
        let address = format!("http://{}", listener.local_addr().expect("it has one"));
        let ringing = thread::spawn(move || ring(&listener));
        let socket = open(&Address::new(&address).expect("it is one"), "/", "token").expect("it opens");
        let mut n_rung = 0;
        let until = Instant::now() + Duration::from_secs(3);
        hear_asking(socket, Duration::from_millis(300), Some(until), |_| {
            n_rung += 1;
            Hears::On
        });
        assert!(Instant::now() >= until, "it has heard on until then");
        let n_asked = ringing.join().expect("it ends");
        assert!(n_rung > 10 && (2..=10).contains(&n_asked), "rung {n_rung} times, and was asked {n_asked} times");
    }
}
