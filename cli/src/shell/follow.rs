//! A cluster's state as it changes: a snapshot, then what is pushed; after a lost connection, again.

use std::thread;
use std::time::Duration;
use std::time::Instant;

use engine::host::authority;
use engine::host::replica::Replica;
use engine::host::replica::Taken;
use engine::message::envelope::CommandKind;
use engine::message::envelope::Entry;
use engine::message::event::Event;
use engine::state::world::State;

use crate::service::socket;
use crate::service::socket::Closed;
use crate::service::socket::Hears;
use crate::service::time;
use crate::shell::failure::Failure;
use crate::shell::failure::Status;
use crate::shell::person;
use crate::shell::person::Person;
use crate::shell::prompt;

/// How long the first pause after a lost connection is; each further one is twice as long, up to the last.
const PAUSE_FIRST: Duration = Duration::from_millis(500);
const PAUSE_MAX: Duration = Duration::from_secs(15);

/// What has changed: nothing that is told at the beginning and after a gap, else what was decided.
pub type News<'a> = Option<&'a Entry<CommandKind>>;

/// How a connection ended.
enum Ended {
    /// `look` has seen enough.
    Enough,
    /// It was lost.
    Lost(Failure),
}

/// Looks at the state as it is and after each change, until `look` has seen enough or the time is over.
/// Says whether it has.
pub fn follow(
    person: &mut Person,
    until: Option<Instant>,
    mut look: impl FnMut(&State, News) -> Result<Hears, Failure>,
) -> Result<bool, Failure> {
    let is_over = || until.is_some_and(|until| Instant::now() >= until);
    let (mut pause, mut was_connected) = (PAUSE_FIRST, false);
    loop {
        let mut is_connected = false;
        let mut looked = |state: &State, news: News| {
            is_connected = true;
            look(state, news)
        };
        let lost = match connection(person, until, &mut looked)? {
            Ended::Enough => return Ok(true),
            Ended::Lost(lost) => lost,
        };
        was_connected |= is_connected;
        if is_over() {
            return Ok(false);
        }
        if !was_connected {
            return Err(lost);
        }
        if is_connected {
            pause = PAUSE_FIRST;
            prompt::say(&format!("tidegate: {}; trying again\n", lost.text));
        }
        let left = until.map_or(pause, |until| until.saturating_duration_since(Instant::now()));
        thread::sleep(pause.min(left));
        pause = (pause * 2).min(PAUSE_MAX);
    }
}

/// One connection, as long as it lasts. What the service refuses ends it all; what may be otherwise soon does not.
fn connection(
    person: &mut Person,
    until: Option<Instant>,
    look: &mut impl FnMut(&State, News) -> Result<Hears, Failure>,
) -> Result<Ended, Failure> {
    match begin(person, until, look) {
        Err(failure) if failure.status == Status::Unreachable => Ok(Ended::Lost(failure)),
        ended => ended,
    }
}

fn begin(
    person: &mut Person,
    until: Option<Instant>,
    look: &mut impl FnMut(&State, News) -> Result<Hears, Failure>,
) -> Result<Ended, Failure> {
    // A token that is not taken any more is found out by a request, which says why.
    person.get("me")?;
    let (token, path) = (person.token()?, person.path("events"));
    let lost = |person: &Person| {
        let at = person.address();
        person::unreachable(&format!("the connection to {at} was lost"))
    };
    let opened = socket::open(person.address(), &path, &token);
    let socket = match opened {
        Ok(socket) => socket,
        Err(Closed::Unreachable | Closed::Refused) => return Ok(Ended::Lost(lost(person))),
    };
    // The socket is opened first: it keeps what happens while the snapshot is on its way.
    let mut replica = replica(person, 0)?;
    if look(&shown(&replica), None)? == Hears::Enough {
        return Ok(Ended::Enough);
    }
    let mut outcome = Ok(false);
    socket::hear(socket, until, |text| {
        outcome = heard(person, &mut replica, text, look);
        if matches!(outcome, Ok(false)) { Hears::On } else { Hears::Enough }
    });
    Ok(if outcome? { Ended::Enough } else { Ended::Lost(lost(person)) })
}

/// Takes in what is pushed. Says whether `look` has seen enough.
fn heard(
    person: &mut Person,
    replica: &mut Replica,
    text: &str,
    look: &mut impl FnMut(&State, News) -> Result<Hears, Failure>,
) -> Result<bool, Failure> {
    let entry: Entry<CommandKind> =
        serde_json::from_str(text).map_err(|error| person.unreadable(&error.to_string()))?;
    let is_old = entry.revision <= replica.revision();
    if moves(person, &entry) || replica.receive(&entry) == Taken::Gap {
        *replica = self::replica(person, entry.revision)?;
        return Ok(look(&shown(replica), None)? == Hears::Enough);
    }
    Ok(!is_old && look(&shown(replica), Some(&entry))? == Hears::Enough)
}

/// Whether it changes what this person may see.
fn moves(person: &Person, entry: &Entry<CommandKind>) -> bool {
    let is_me = |event: &Event| {
        matches!(event, Event::MemberPut { user, .. } | Event::MemberRemoved { user, .. }
            if user.as_str() == person.context.user)
    };
    entry.events.iter().any(is_me)
}

fn replica(person: &mut Person, min_revision: u64) -> Result<Replica, Failure> {
    let newest = person.newest()?;
    let snapshot = person.snapshot_since(newest.max(min_revision))?;
    Replica::new(snapshot).map_err(|rejection| person.unreadable(&rejection.to_string()))
}

fn shown(replica: &Replica) -> std::borrow::Cow<'_, State> {
    authority::as_of(replica.state(), time::now())
}
