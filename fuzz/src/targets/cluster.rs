//! What a cluster is told, and what it reads from its stores.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::task::Context;
use std::task::Poll;
use std::task::Waker;

use engine::host::authority;
use engine::message;
use engine::message::envelope::Envelope;
use engine::message::snapshot::Snapshot;
use engine::state::world::State;
use engine::unit::time::Timestamp;
use protocol::agents::script;
use protocol::digest;
use protocol::document::Head;
use protocol::document::PackRef;
use protocol::document::Segment;
use protocol::document::SegmentRef;
use protocol::fault::Fault;
use protocol::history;
use protocol::kv::KvStore;
use protocol::kv::Listed;
use protocol::name::ClusterName;
use protocol::note::Note;
use protocol::pack;
use serde::Deserialize;
use serde_json::Value;

use crate::corpus;
use crate::told::Check;
use crate::told::Told;
use crate::told::refused;
use crate::told::same;

/// When commands come: after everything in scenarios.
const LATER: Timestamp = Timestamp(40 * 86_400_000);

pub(crate) fn commands() -> Result<Check, String> {
    let states = corpus::states()?;
    Ok(Box::new(move |input| {
        let (envelope, script) = match script::read(input) {
            Ok(read) => read,
            Err(rejection) => return refused(&rejection),
        };
        let written = serde_json::to_vec(&envelope).map_err(|error| error.to_string())?;
        same(&envelope, message::read::<Envelope>(&written).map_err(|rejection| rejection.to_string()))?;
        drop(script);
        let mut state = states[input.len() % states.len()].clone();
        let before = digest::of_state(&state);
        match authority::handle(&mut state, &envelope, LATER) {
            Ok(_) => again(&state).map(|()| Told::Accepted),
            Err(rejection) if digest::of_state(&state) == before => refused(&rejection).map(|_| Told::Read),
            Err(rejection) => Err(format!("it is refused and changes something: {rejection}")),
        }
    }))
}

/// A state is the same once it has been stored and read again.
pub(crate) fn again(state: &State) -> Result<(), String> {
    let text = Snapshot::of(state).to_bytes();
    let snapshot: Snapshot = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
    let again = snapshot.restore().map_err(|rejection| format!("the state cannot be restored: {rejection}"))?;
    if digest::of_state(&again) == digest::of_state(state) { Ok(()) } else { Err("its digest is another".to_owned()) }
}

pub(crate) fn snapshots(input: &[u8]) -> Result<Told, String> {
    let snapshot: Snapshot = match message::read(input) {
        Ok(snapshot) => snapshot,
        Err(rejection) => return refused(&rejection),
    };
    match snapshot.restore() {
        Ok(state) => again(&state).map(|()| Told::Accepted),
        Err(rejection) => refused(&rejection).map(|_| Told::Read),
    }
}

/// A store that has one value under every key.
struct One(String);

impl KvStore for One {
    async fn get(&self, _: &str) -> Result<Option<String>, Fault> {
        Ok(Some(self.0.clone()))
    }

    async fn put(&self, _: &str, _: &str) -> Result<(), Fault> {
        Ok(())
    }

    async fn delete(&self, _: &str) -> Result<(), Fault> {
        Ok(())
    }

    async fn list(&self, _: &str, _: Option<&str>, _: usize) -> Result<Listed, Fault> {
        Ok(Listed::default())
    }
}

/// What a future comes to that waits for nothing.
fn now<T>(future: impl Future<Output = T>) -> Result<T, String> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => Ok(done),
        Poll::Pending => Err("it waits for something".to_owned()),
    }
}

fn name() -> Result<ClusterName, String> {
    ClusterName::new("demo").ok_or_else(|| "demo is a good name".to_owned())
}

pub(crate) fn segments() -> Result<Check, String> {
    let name = name()?;
    Ok(Box::new(move |input| {
        let Ok(text) = std::str::from_utf8(input) else { return Ok(Told::Refused) };
        // Its reference fits, if it can be read: so that what is behind the first looks is reached too.
        let read = serde_json::from_str::<Segment>(text);
        let (first, count, revision) = read.as_ref().map_or((1, 1, 1), |segment| {
            (segment.first, segment.entries.len() as u64, segment.entries.last().map_or(0, |entry| entry.revision))
        });
        let last = first.saturating_add(count).saturating_sub(1);
        let reference = SegmentRef { first, last, revision, key: name.segment(first, last, text) };
        match now(history::segment(&One(text.to_owned()), &reference))? {
            Ok(entries) => {
                let read = read.map_err(|error| format!("a segment that cannot be read has entries: {error}"))?;
                let written = serde_json::to_string(&read).map_err(|error| error.to_string())?;
                same(&read, serde_json::from_str(&written).map_err(|error| error.to_string()))?;
                if entries.len() as u64 == count { Ok(Told::Accepted) } else { Err("entries are lost".to_owned()) }
            }
            Err(fault) => refused(&fault),
        }
    }))
}

/// The buckets of a pack, as far as it can be read.
#[derive(Deserialize)]
struct Buckets {
    buckets: BTreeMap<u8, Value>,
}

pub(crate) fn notes() -> Result<Check, String> {
    let name = name()?;
    Ok(Box::new(move |input| {
        let Ok(text) = std::str::from_utf8(input) else { return Ok(Told::Refused) };
        let buckets = serde_json::from_str::<Buckets>(text).map(|read| read.buckets).unwrap_or_default();
        let buckets = buckets.into_keys().map(|bucket| (bucket, 1)).collect();
        let head = |key: String, buckets| Head {
            format: 1,
            cluster: name.to_string(),
            seq: 1,
            revision: 1,
            at: Timestamp(0),
            published_at: Timestamp(0),
            snapshot: None,
            segments: Vec::new(),
            history: None,
            milestones: Vec::new(),
            notes: Some(vec![PackRef { key, buckets }]),
        };
        // As a pack, whose key ends with its digest, and as a bucket of an earlier version.
        let packed = head(name.pack(Timestamp(0), text), buckets);
        let alone = head(name.notes(0xc4), vec![(0xc4, 1)]);
        let mut told = Told::Refused;
        for head in [packed, alone] {
            match now(pack::read(&One(text.to_owned()), &head))? {
                Ok(notes) => told = if notes.iter().any(is_said) { Told::Accepted } else { Told::Read },
                Err(fault) => drop(refused(&fault)?),
            }
        }
        Ok(told)
    }))
}

fn is_said(note: &Note) -> bool {
    !note.name.is_empty()
}
