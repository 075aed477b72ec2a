//! A backup's file that is known to be whole.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::io::BufRead;
use std::io::Read;
use std::io::Seek;
use std::io::SeekFrom;

use engine::state::world::State;

use crate::backup::End;
use crate::backup::Missing;
use crate::backup::Reader;
use crate::backup::Title;
use crate::digest;
use crate::document::Head;
use crate::document::Page;
use crate::fault::Fault;
use crate::history;
use crate::log::decode;
use crate::name::verify;
use crate::pack;
use crate::replay::replay;
use crate::replay::restore_state;

/// A file in which every object is whole, everything that is named is there, and the objects come to a state.
#[derive(Debug)]
pub struct Opened<R> {
    input: R,
    /// What the file is.
    pub title: Title,
    /// The keys of its objects in their order, each with the place and the length of its text.
    objects: Vec<(String, u64, u64)>,
    places: BTreeMap<String, usize>,
    head: Head,
    /// What of the past could not be saved.
    pub missing: Vec<Missing>,
    /// The digest of the state.
    pub hash: String,
    /// How many notes are kept beside it.
    pub notes: u64,
}

impl<R: BufRead + Seek> Opened<R> {
    /// Reads all of a file.
    ///
    /// # Errors
    /// What is damaged, with its place, or what is missing that something names.
    pub fn read(input: R) -> Result<Self, Fault> {
        let mut reader = Reader::open(input)?;
        let (title, mut objects, mut last) = (reader.title.clone(), Vec::new(), None);
        while let Some(placed) = reader.object()? {
            objects.push((placed.key.clone(), placed.at, placed.text.len() as u64));
            last = Some(placed);
        }
        let (input, end) = reader.over();
        let End { missing, .. } = end.ok_or_else(|| Fault::damaged("the file", "it has no end"))?;
        let last = last.ok_or_else(|| Fault::damaged("the file", "it has no objects"))?;
        let head: Head = decode(&last.key, &last.text)?;
        if (head.seq, head.revision, &head.cluster) != (title.seq, title.revision, &title.cluster) {
            return Err(Fault::damaged(&last.key, "the first line says something else"));
        }
        let places = objects.iter().enumerate().map(|(at, (key, ..))| (key.clone(), at)).collect();
        let mut opened = Self { input, title, objects, places, head, missing, hash: String::new(), notes: 0 };
        opened.check_named()?;
        opened.hash = digest::of_state(&opened.fold()?);
        for pack in pack::named(&opened.head)? {
            opened.notes += pack::content(&pack, Some(opened.text(&pack.key)?))?.len() as u64;
        }
        Ok(opened)
    }

    /// How many objects there are.
    #[must_use]
    pub fn objects(&self) -> usize {
        self.objects.len()
    }

    /// An object by its number; none beyond the last one.
    pub fn object(&mut self, number: usize) -> Result<Option<(String, String)>, Fault> {
        let Some((key, ..)) = self.objects.get(number) else { return Ok(None) };
        let key = key.clone();
        let text = self.text(&key)?;
        Ok(Some((key, text)))
    }

    /// Everything that a page or the head names is there, or known to be missing, and nothing else. Pages are named where
    /// they are not there too: those that are older than what was saved.
    fn check_named(&mut self) -> Result<(), Fault> {
        let mut named = BTreeSet::new();
        let pages = self.objects.iter().map(|(key, ..)| key).filter(|key| is_page(key));
        for key in pages.cloned().collect::<Vec<_>>() {
            let Page { format: _, previous, snapshot, segments, milestones } = decode(&key, &self.text(&key)?)?;
            let parts = snapshot.into_iter().flat_map(|snapshot| snapshot.parts);
            let objects = parts.chain(segments.into_iter().map(|segment| segment.key)).collect::<Vec<_>>();
            self.check_there(&objects, &key)?;
            let pages = milestones.into_iter().map(|milestone| milestone.page);
            named.extend(objects.into_iter().chain(previous).chain(pages));
        }
        let of_head: Vec<String> = self.head.keys().map(str::to_owned).collect();
        let (pages, objects): (Vec<_>, Vec<_>) = of_head.into_iter().partition(|key| is_page(key));
        self.check_there(&objects, "the head")?;
        named.extend(pages.into_iter().chain(objects));
        let (_, others) = self.objects.split_last().ok_or_else(|| Fault::damaged("the file", "it has no objects"))?;
        match others.iter().find(|(key, ..)| !named.contains(key)) {
            Some((key, ..)) => Err(Fault::damaged(key, "nothing in the file names it: something is missing")),
            None => Ok(()),
        }
    }

    fn check_there(&self, named: &[String], by: &str) -> Result<(), Fault> {
        let is_known =
            |key: &String| self.places.contains_key(key) || self.missing.iter().any(|missing| missing.key == *key);
        match named.iter().find(|key| !is_known(key)) {
            Some(key) => Err(Fault::damaged(by, format!("it names {key}, which is not in the file"))),
            None => Ok(()),
        }
    }

    fn text(&mut self, key: &str) -> Result<String, Fault> {
        let place = self.places.get(key).and_then(|at| self.objects.get(*at));
        let (_, at, bytes) = place.ok_or_else(|| Fault::damaged(key, "it is not in the file"))?;
        let (at, bytes) = (*at, *bytes);
        let mut text = String::new();
        let read = self
            .input
            .seek(SeekFrom::Start(at))
            .and_then(|_| Read::by_ref(&mut self.input).take(bytes).read_to_string(&mut text));
        read.map_err(|error| Fault::damaged(key, error))?;
        // The file may have changed since.
        verify(key, &text)?;
        Ok(text)
    }

    /// The state that the head stands for.
    fn fold(&mut self) -> Result<State, Fault> {
        let (mut state, mut last) = (State::default(), 0);
        if let Some(reference) = self.head.snapshot.clone() {
            if digest::of_pieces(reference.parts.iter().map(|part| self.text(part)))? != reference.hash {
                return Err(Fault::damaged("the snapshot", "its state has another digest"));
            }
            state = restore_state("the snapshot", reference.parts.iter().map(|part| self.text(part)))?;
            last = reference.seq;
        }
        for segment in self.head.segments.clone() {
            let text = self.text(&segment.key)?;
            let known = last;
            for (seq, entry) in history::content(&segment, &text)?.into_iter().filter(|(seq, _)| *seq > known) {
                if seq != last + 1 {
                    return Err(Fault::damaged(&segment.key, format!("entry {seq} follows {last}")));
                }
                replay(&mut state, &entry)?;
                last = seq;
            }
        }
        if (last, state.revision) == (self.head.seq, self.head.revision) {
            return Ok(state);
        }
        let reason = format!("its objects lead to entry {last}, and it says {}", self.head.seq);
        Err(Fault::damaged("the head", reason))
    }
}

fn is_page(key: &str) -> bool {
    key.contains("/page/")
}
