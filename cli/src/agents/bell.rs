//! The bell: a socket on which the service says that there is something to ask for, or that somebody watches a run. Without it the agent asks all the
//! same, only later; so whatever goes wrong here is no more than a pause.

use std::io;
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::thread;
use std::time::Duration;

use agent::output;
use agent::run::RunId;
use runner::clock;
use runner::local;
use tungstenite::Error;
use tungstenite::Message;
use tungstenite::WebSocket;
use tungstenite::client::IntoClientRequest;
use tungstenite::client_tls;
use tungstenite::stream::MaybeTlsStream;

use crate::agents::relay;
use crate::agents::session::Session;

/// How long it is quiet before we ask whether anybody is there.
const QUIET: Duration = Duration::from_secs(20);
/// How long the first pause after a failure is, in milliseconds; each further one is twice as long, up to the last.
const PAUSE_FIRST_MS: u64 = 500;
const PAUSE_MAX_MS: u64 = 60_000;
/// What is asked, and what the service answers without waking anybody.
const QUESTION: &str = "ping";
const ANSWER: &str = "pong";

/// Listens as long as the agent lives, and wakes it when it rings.
pub fn listen(session: Arc<Session>, state: &Path) {
    let state = state.to_owned();
    let watched = relay::start(Arc::clone(&session), &state);
    thread::spawn(move || {
        let mut pause = PAUSE_FIRST_MS;
        loop {
            if let Some(socket) = open(&session) {
                pause = PAUSE_FIRST_MS;
                // What rang while nobody listened.
                local::wake(&state);
                hear(socket, &watched, || local::wake(&state));
            }
            // Agents that lost the service together do not come back together.
            thread::sleep(Duration::from_millis(pause / 2 + clock::now() % (pause / 2 + 1)));
            pause = (pause * 2).min(PAUSE_MAX_MS);
        }
    });
}

type Socket = WebSocket<MaybeTlsStream<TcpStream>>;

fn open(session: &Session) -> Option<Socket> {
    let token = session.token().ok()?;
    let url = format!("{}{}", session.address().of_socket(), session.path("bell"));
    let mut request = url.into_client_request().ok()?;
    request.headers_mut().insert("authorization", format!("Bearer {token}").parse().ok()?);
    let stream = TcpStream::connect(session.address().place()?).ok()?;
    stream.set_read_timeout(Some(QUIET)).ok()?;
    stream.set_write_timeout(Some(QUIET)).ok()?;
    let opened = client_tls(request, stream);
    if opened.is_err() {
        // It may be over; the next one is proved anew.
        session.forget(&token);
    }
    opened.ok().map(|(socket, _)| socket)
}

/// Hears until the socket is of no use any more.
fn hear(mut socket: Socket, watched: &Sender<RunId>, wake: impl Fn()) {
    let mut is_asked = false;
    loop {
        match socket.read() {
            Ok(Message::Text(text)) if text.as_str() == ANSWER => is_asked = false,
            Ok(Message::Text(text)) => {
                is_asked = false;
                match output::asked_for(text.as_str()) {
                    // The other end lives as long as this one.
                    Some(run) => drop(watched.send(run)),
                    None => wake(),
                }
            }
            Ok(Message::Binary(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_)) => is_asked = false,
            Err(Error::Io(error)) if is_quiet(&error) && !is_asked => {
                is_asked = true;
                if socket.send(Message::text(QUESTION)).is_err() {
                    return wake();
                }
            }
            Ok(Message::Close(_)) | Err(_) => return wake(),
        }
    }
}

fn is_quiet(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}
