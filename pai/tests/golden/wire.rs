//! Requests as bytes of the wire.

use std::fs;
use std::path::Path;
use std::path::PathBuf;

use pai::request::Request;

/// A request that a test may change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wire {
    pub(crate) name: String,
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Wire {
    fn read(name: &str, bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        let head: String = bytes[..end].iter().map(|byte| char::from(*byte)).collect();
        let mut lines = head.split("\r\n");
        let mut first = lines.next().unwrap().split(' ').map(str::to_owned);
        let (method, target) = (first.next().unwrap(), first.next().unwrap());
        let header = |line: &str| {
            let (name, value) = line.split_once(':').unwrap();
            (name.to_owned(), value.trim_start().to_owned())
        };
        Self {
            name: name.to_owned(),
            method,
            target,
            headers: lines.map(header).collect(),
            body: bytes[end + 4..].to_vec(),
        }
    }

    pub(crate) fn request(&self) -> Request<'_> {
        Request { method: &self.method, target: &self.target, headers: &self.headers, body: &self.body }
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        let header = self.headers.iter().find(|(other, _)| other.eq_ignore_ascii_case(name));
        header.map_or("", |(_, value)| value)
    }
}

/// The recorded requests: those kept beside the tests, and all of them where `../shared` is there.
pub(crate) fn all() -> Vec<Wire> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let shared = here.join("../../shared/pai/golden");
    let mut folders = vec![here.join("tests/fixtures")];
    if shared.is_dir() {
        folders.extend([shared.clone(), shared.join("newest_dlc_1_11_6")]);
    } else {
        println!("{} is not there: only the requests beside the tests are checked", shared.display());
    }
    let mut files: Vec<PathBuf> =
        folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap()).map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "http"));
    files.sort();
    assert!(files.len() >= 9, "{files:?}");
    files.iter().map(|path| Wire::read(&path.display().to_string(), &fs::read(path).unwrap())).collect()
}

/// Those whose signature is to be accepted.
pub(crate) fn signed() -> Vec<Wire> {
    let mut all = all();
    all.retain(|wire| wire.header("authorization").starts_with("ACS3-") && !wire.name.contains("tampered_"));
    assert!(all.len() >= 5);
    all
}

/// Those whose file begins so.
pub(crate) fn named(start: &str) -> Wire {
    let is_named = |wire: &Wire| Path::new(&wire.name).file_stem().is_some_and(|name| name == start);
    all().into_iter().find(is_named).unwrap()
}
