//! Which buckets of notes a publication writes anew, and into which packs ([`crate::pack`]).

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use engine::unit::sort;
use engine::unit::time::Timestamp;

use crate::cluster::Cluster;
use crate::document::FORMAT;
use crate::document::Head;
use crate::document::PackRef;
use crate::fault::Fault;
use crate::garbage::KEPT;
use crate::log::LogStore;
use crate::log::Meta;
use crate::log::Write;
use crate::log::encode;
use crate::name::ClusterName;
use crate::name::is_fixed;
use crate::note::Bucket;
use crate::note::Stale;
use crate::pack;
use crate::sealed::Sealed;

/// How many bytes of notes one publication takes along. What is left goes with the next one.
const PUBLISHED_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Bytes after which a pack is full, as they are written. A bucket that has more is in several packs.
const PACK_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// From how many packs on the smallest is taken into the next one, however large that is itself.
const PACKS_MAX: usize = 16;

/// The notes of the next head.
pub(crate) struct Packed {
    /// All packs that it names.
    pub(crate) named: Vec<PackRef>,
    /// Those that are new, with their contents.
    pub(crate) new: Vec<(PackRef, String)>,
    /// The changes that are in them.
    pub(crate) stale: Vec<Stale>,
}

impl PackRef {
    /// Bytes of the buckets that are read from it.
    fn bytes(&self) -> u64 {
        self.buckets.iter().map(|(_, bytes)| bytes).sum()
    }
}

impl<S: LogStore> Cluster<S> {
    /// Packs what has changed since a head was published.
    pub(crate) fn pack_notes(&self, published: Option<&Head>, at: Timestamp) -> Result<Packed, Fault> {
        let mut kept = self.known(published)?;
        let stale = self.store.stale_buckets()?;
        // Packs of another cluster, and buckets without a digest, are not built on.
        let strange = kept.iter().filter(|pack| !self.is_own(&pack.key));
        let strange: BTreeSet<Bucket> =
            strange.flat_map(|pack| pack.buckets.iter().map(|(bucket, _)| *bucket)).collect();
        let (mut texts, mut bytes) = (BTreeMap::new(), 0);
        for bucket in stale.iter().map(|stale| stale.bucket).chain(strange) {
            if bytes > PUBLISHED_BYTES_MAX {
                break;
            }
            let pieces = self.pieces(bucket)?;
            bytes += pieces.iter().map(|text| text.len() as u64).sum::<u64>();
            texts.insert(bucket, pieces);
        }
        for pack in &mut kept {
            pack.buckets.retain(|(bucket, _)| !texts.contains_key(bucket));
        }
        kept.retain(|pack| !pack.buckets.is_empty());
        while let Some(at) = small(&kept, bytes) {
            let pack = kept.swap_remove(at);
            for (bucket, _) in &pack.buckets {
                texts.insert(*bucket, self.pieces(*bucket)?);
                // What else there is of it stands in what is written now.
                for other in &mut kept {
                    other.buckets.retain(|(of_other, _)| of_other != bucket);
                }
            }
            kept.retain(|other| !other.buckets.is_empty());
            bytes += pack.bytes();
        }
        let stale = stale.into_iter().filter(|stale| texts.contains_key(&stale.bucket)).collect();
        let new = packs(&self.name, at, texts);
        kept.extend(new.iter().map(|(pack, _)| pack.clone()));
        Ok(Packed { named: kept, new, stale })
    }

    /// The new packs of a sealed publication with their contents. Notes may have changed since it was sealed: then it is
    /// sealed again with what they are now, for what they were is not kept.
    pub(crate) fn packs_of(&mut self, sealed: &mut Sealed, now: Timestamp) -> Result<Vec<(String, String)>, Fault> {
        let mut texts = BTreeMap::new();
        for (bucket, _) in sealed.packs.iter().flat_map(|pack| &pack.buckets) {
            texts.insert(*bucket, self.pieces(*bucket)?);
        }
        let again = packs(&self.name, sealed.head.published_at, texts);
        if again.iter().map(|(pack, _)| &pack.key).eq(sealed.packs.iter().map(|pack| &pack.key)) {
            return Ok(again.into_iter().map(|(pack, text)| (pack.key, text)).collect());
        }
        let published = self.memory()?.published.clone();
        let Packed { named, new, stale } = self.pack_notes(published.as_ref(), sealed.head.published_at)?;
        let (packs, texts): (Vec<_>, Vec<_>) = new.into_iter().unzip();
        let is_again = |key: &str| named.iter().any(|pack: &PackRef| pack.key == key);
        let old = sealed.packs.iter().map(|pack| pack.key.clone()).filter(|key| !is_again(key)).collect();
        let texts = packs.iter().map(|pack| pack.key.clone()).zip(texts).collect();
        (sealed.head.notes, sealed.packs, sealed.stale) = (Some(named), packs, stale);
        let mut writes = self.dumped(old, now + KEPT);
        writes.push(Write::SetMeta(Meta::Sealed, Some(encode(sealed)?)));
        self.store.commit(writes).inspect_err(|_| self.forget())?;
        self.memory()?.sealed = Some(sealed.clone());
        Ok(texts)
    }

    /// Where the notes are that a head stands for.
    fn known(&self, published: Option<&Head>) -> Result<Vec<PackRef>, Fault> {
        let Some(head) = published else { return Ok(Vec::new()) };
        if let Some(packs) = &head.notes {
            return Ok(packs.clone());
        }
        let mut alone = Vec::new();
        for bucket in Bucket::MIN..=Bucket::MAX {
            if self.store.bucket_bytes(bucket)? > 0 {
                alone.push(PackRef { key: self.name.notes(bucket), buckets: vec![(bucket, 0)] });
            }
        }
        Ok(alone)
    }

    fn is_own(&self, key: &str) -> bool {
        is_fixed(key) && key.starts_with(&self.name.packs_start())
    }

    /// The notes of a bucket as JSON, in pieces of which each fits into a pack; none if there are none.
    fn pieces(&self, bucket: Bucket) -> Result<Vec<String>, Fault> {
        let mut notes = self.store.notes(bucket)?;
        sort::by(&mut notes, |one, other| one.name.cmp(&other.name));
        let (mut pieces, mut piece) = (Vec::new(), String::new());
        for note in &notes {
            let line = pack::line(note)?;
            if !piece.is_empty() && (piece.len() + line.len()) as u64 > PACK_BYTES_MAX {
                pieces.push(format!("{{{}}}", std::mem::take(&mut piece)));
            }
            if !piece.is_empty() {
                piece.push(',');
            }
            piece.push_str(&line);
        }
        if !piece.is_empty() {
            pieces.push(format!("{{{piece}}}"));
        }
        Ok(pieces)
    }
}

/// The smallest pack, if it is taken into the next one: when that is as large, or there are many.
fn small(kept: &[PackRef], bytes: u64) -> Option<usize> {
    let (at, size) = kept.iter().map(PackRef::bytes).enumerate().min_by_key(|(_, size)| *size)?;
    let is_taken = bytes > 0 && (size <= bytes || kept.len() >= PACKS_MAX) && size + bytes <= PACK_BYTES_MAX;
    is_taken.then_some(at)
}

/// Buckets in packs of limited size.
fn packs(name: &ClusterName, at: Timestamp, texts: BTreeMap<Bucket, Vec<String>>) -> Vec<(PackRef, String)> {
    let mut packs = Vec::new();
    let (mut inner, mut bytes) = (BTreeMap::new(), 0);
    let mut close = |inner: &mut BTreeMap<Bucket, String>| {
        let content = text(inner);
        let buckets = std::mem::take(inner).into_iter().map(|(bucket, text)| (bucket, text.len() as u64)).collect();
        packs.push((PackRef { key: name.pack(at, &content), buckets }, content));
    };
    let pieces = texts.into_iter().flat_map(|(bucket, pieces)| pieces.into_iter().map(move |piece| (bucket, piece)));
    for (bucket, text) in pieces {
        let more = text.len() as u64;
        if !inner.is_empty() && (bytes + more > PACK_BYTES_MAX || inner.contains_key(&bucket)) {
            close(&mut inner);
            bytes = 0;
        }
        bytes += more;
        inner.insert(bucket, text);
    }
    if !inner.is_empty() {
        close(&mut inner);
    }
    packs
}

/// The content of a pack.
fn text(buckets: &BTreeMap<Bucket, String>) -> String {
    let inner: Vec<String> = buckets.iter().map(|(bucket, text)| format!("\"{bucket}\":{text}")).collect();
    format!("{{\"format\":{FORMAT},\"buckets\":{{{}}}}}", inner.join(","))
}
