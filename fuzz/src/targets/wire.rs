//! What agents and the service say to each other.

use agent::message::Hello;
use agent::message::SyncAnswer;
use agent::message::SyncRequest;
use agent::message::Tail;
use agent::message::TailKept;
use agent::message::Welcome;
use agent::output::Output;
use agent::output::OutputTaken;
use agent::output::asked_for;
use engine::message;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::told::Told;
use crate::told::refused;
use crate::told::same;

pub(crate) fn exchanges(input: &[u8]) -> Result<Told, String> {
    let text = String::from_utf8_lossy(input);
    let _ = asked_for(&text);
    let told = [
        read::<Hello>(input, |_| true)?,
        read::<Welcome>(input, |_| true)?,
        read::<SyncRequest>(input, |said| said.check().is_ok())?,
        read::<SyncAnswer>(input, |answer| answer.check().is_ok())?,
        read::<Tail>(input, |tail| tail.check().is_ok())?,
        read::<TailKept>(input, |_| true)?,
        read::<Output>(input, |piece| piece.check().is_ok())?,
        read::<OutputTaken>(input, |_| true)?,
    ];
    let any = |wanted: Told| told.contains(&wanted).then_some(wanted);
    Ok(any(Told::Accepted).or(any(Told::Read)).unwrap_or(Told::Refused))
}

fn read<T: DeserializeOwned + Serialize + PartialEq>(input: &[u8], is_good: fn(&T) -> bool) -> Result<Told, String> {
    let read: T = match message::read(input) {
        Ok(read) => read,
        Err(rejection) => return refused(&rejection),
    };
    let written = serde_json::to_vec(&read).map_err(|error| error.to_string())?;
    same(&read, serde_json::from_slice(&written).map_err(|error| error.to_string()))?;
    Ok(if is_good(&read) { Told::Accepted } else { Told::Read })
}
