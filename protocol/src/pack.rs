//! Packs: how notes are published, so that a head names all of them by their content.
//!
//! Notes are in buckets by the digest of their names, and a bucket is written anew when one of its notes has changed.
//! The changed buckets of one publication go together into one pack, whose key ends with the digest of its content. The
//! head says for every bucket in which pack it is, so notes that are gone, exchanged or forged are found by who reads
//! them. Small packs are taken into the next one, so that there are few of them.
//!
//! Earlier versions have put each bucket under a key of its own, without a digest. Their heads do not name notes.

use std::collections::BTreeMap;

use engine::unit::id::UserId;
use futures_util::future::try_join_all;
use serde::Deserialize;
use serde::Serialize;

use crate::document::Head;
use crate::document::PackRef;
use crate::fault::Fault;
use crate::kv::KvStore;
use crate::kv::whole;
use crate::log::decode;
use crate::log::encode;
use crate::name::ClusterName;
use crate::name::is_fixed;
use crate::note::Bucket;
use crate::note::Note;
use crate::note::bucket;

/// The notes of some buckets.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pack {
    #[serde(rename = "format")]
    _format: u32,
    buckets: BTreeMap<Bucket, BTreeMap<String, Said>>,
}

/// What a note of a pack says. Packs of earlier versions name no owners.
#[derive(Deserialize)]
#[serde(untagged)]
enum Said {
    Text(String),
    Owned(String, UserId),
}

impl Said {
    fn note(self, name: String) -> Note {
        match self {
            Self::Text(text) => Note::new(name, text),
            Self::Owned(text, owner) => Note { name, text, owner: Some(owner) },
        }
    }
}

/// A note as a pack has it.
pub(crate) fn line(note: &Note) -> Result<String, Fault> {
    let Note { name, text, owner } = note;
    let said = match owner {
        Some(owner) => encode(&(text, owner))?,
        None => encode(text)?,
    };
    Ok(format!("{}:{said}", encode(name)?))
}

/// A bucket under a key of its own, as earlier versions have put it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Alone {
    format: u32,
    notes: BTreeMap<String, String>,
}

/// Every note that a head stands for. All packs are asked for at once: a reader far from the store waits once.
pub async fn read(kv: &impl KvStore, head: &Head) -> Result<Vec<Note>, Fault> {
    let packs = named(head)?;
    let packs = packs.iter().map(|pack| notes(kv, pack));
    Ok(try_join_all(packs).await?.into_iter().flatten().collect())
}

/// Where the notes are that a head stands for, old heads included.
pub(crate) fn named(head: &Head) -> Result<Vec<PackRef>, Fault> {
    if let Some(packs) = &head.notes {
        return Ok(packs.clone());
    }
    let name = ClusterName::new(&head.cluster).ok_or_else(|| Fault::damaged("the head", "it names no cluster"))?;
    Ok((Bucket::MIN..=Bucket::MAX)
        .map(|bucket| PackRef { key: name.notes(bucket), buckets: vec![(bucket, 0)] })
        .collect())
}

/// The notes that are read from a pack.
async fn notes(kv: &impl KvStore, pack: &PackRef) -> Result<Vec<Note>, Fault> {
    content(pack, kv.get(&pack.key).await?)
}

/// The notes that are read from what KV holds under a pack's key.
pub(crate) fn content(pack: &PackRef, text: Option<String>) -> Result<Vec<Note>, Fault> {
    let key = &pack.key;
    let mut buckets = if is_fixed(key) {
        decode::<Pack>(key, &whole(key, text)?)?.buckets
    } else {
        // Without a digest nobody can tell whether something is missing.
        let Some(text) = text else { return Ok(Vec::new()) };
        let Alone { format: _, notes } = decode(key, &text)?;
        let said = || notes.iter().map(|(name, text)| (name.clone(), Said::Text(text.clone()))).collect();
        pack.buckets.iter().map(|(bucket, _)| (*bucket, said())).collect()
    };
    let mut found = Vec::new();
    for (number, _) in &pack.buckets {
        let notes = buckets.remove(number).ok_or_else(|| Fault::damaged(key, format!("it has no bucket {number}")))?;
        if let Some(name) = notes.keys().find(|name| bucket(name) != *number) {
            return Err(Fault::damaged(
                key,
                format!("bucket {number} has the note {name}, which is not one of its own"),
            ));
        }
        found.extend(notes.into_iter().map(|(name, said)| said.note(name)));
    }
    Ok(found)
}
