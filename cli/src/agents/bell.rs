//! The bell: a socket on which the service says that there is something to ask for, or that somebody watches a run. Without it the agent asks all the
//! same, only later; so whatever goes wrong here is no more than a pause.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::thread;
use std::time::Duration;

use agent::output;
use agent::run::RunId;
use runner::clock;
use runner::local;

use crate::agents::relay;
use crate::agents::session::Session;
use crate::service::socket;
use crate::service::socket::Closed;
use crate::service::socket::Hears;
use crate::service::socket::Socket;

/// How long the first pause after a failure is, in milliseconds; each further one is twice as long, up to the last.
const PAUSE_FIRST_MS: u64 = 500;
const PAUSE_MAX_MS: u64 = 60_000;

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

fn open(session: &Session) -> Option<Socket> {
    let token = session.token().ok()?;
    let opened = socket::open(session.address(), &session.path("bell"), &token);
    if opened.as_ref().is_err_and(|closed| *closed == Closed::Refused) {
        // It may be over; the next one is proved anew.
        session.forget(&token);
    }
    opened.ok()
}

/// Hears until the socket is of no use any more.
fn hear(socket: Socket, watched: &Sender<RunId>, wake: impl Fn()) {
    socket::hear(socket, None, |text| {
        match output::asked_for(text) {
            // The other end lives as long as this one.
            Some(run) => drop(watched.send(run)),
            None => wake(),
        }
        Hears::On
    });
    wake();
}
