//! What runs print goes to the service while somebody watches, by a thread of its own: neither waits for the other.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc;
use std::sync::mpsc::Receiver;
use std::sync::mpsc::RecvTimeoutError;
use std::sync::mpsc::Sender;
use std::thread;
use std::time::Duration;

use agent::output::OUTPUT_BYTES_MAX;
use agent::output::Output;
use agent::output::OutputTaken;
use agent::run::RunId;
use runner::local;

use crate::agents::session::Session;

/// How often we look for more.
const PERIOD: Duration = Duration::from_millis(500);
/// After how many looks without anything new we ask whether somebody still watches.
const QUIET_LOOKS: u32 = 10;

/// Where a run's next piece begins, and for how many looks there was none. Nothing has been sent yet without a place.
#[derive(Clone, Copy, Default)]
struct Sent {
    next: Option<u64>,
    quiet: u32,
}

/// Relays runs that are named on this channel, as long as the agent lives.
pub fn start(session: Arc<Session>, state: &Path) -> Sender<RunId> {
    let (sender, asked) = mpsc::channel();
    let state = state.to_owned();
    thread::spawn(move || relay(&session, &state, &asked));
    sender
}

fn relay(session: &Session, state: &Path, asked: &Receiver<RunId>) {
    let mut watched: BTreeMap<RunId, Sent> = BTreeMap::new();
    loop {
        let run =
            if watched.is_empty() { asked.recv().map_err(RecvTimeoutError::from) } else { asked.recv_timeout(PERIOD) };
        match run {
            // Who asks again may have lost what was sent.
            Ok(run) => drop(watched.insert(run, Sent::default())),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        watched.retain(|run, sent| match send(session, state, *run, *sent) {
            Some(now) => {
                *sent = now;
                true
            }
            None => false,
        });
    }
}

/// Sends what is new; none if nobody watches any more, or nothing can be had.
fn send(session: &Session, state: &Path, run: RunId, sent: Sent) -> Option<Sent> {
    let from = sent.next.unwrap_or(u64::MAX);
    let mut chunk = local::printed(state, run, from, OUTPUT_BYTES_MAX).ok()?;
    // Of what is behind by more than is shown, the newest is shown.
    let newest = chunk.end.saturating_sub(OUTPUT_BYTES_MAX as u64);
    if sent.next.is_none_or(|next| next < newest) {
        chunk = local::printed(state, run, newest, OUTPUT_BYTES_MAX).ok()?;
        let cut = chunk.bytes.iter().take_while(|byte| (0x80..=0xBF).contains(*byte)).count().min(3);
        let cut = if chunk.offset > 0 { cut } else { 0 };
        chunk.bytes.drain(..cut);
        chunk.offset += cut as u64;
    }
    let piece = Output::of(session.incarnation(), run, chunk.offset, &chunk.bytes);
    if piece.bytes == 0 && sent.next.is_some() && sent.quiet < QUIET_LOOKS {
        return Some(Sent { quiet: sent.quiet + 1, ..sent });
    }
    let body = serde_json::to_string(&piece).ok()?;
    let path = session.path("output");
    let OutputTaken { next, is_watched } = session.ask(|client, token| client.post(&path, Some(token), &body)).ok()?;
    is_watched.then_some(Sent { next: Some(next), quiet: 0 })
}
