//! The targets: what reads an input, and how much memory that may take.

use crate::told::Work;

mod cluster;
mod console;
mod http;
mod wire;

/// A target.
pub(crate) struct Target {
    pub(crate) name: &'static str,
    pub(crate) work: Work,
    /// How many bytes one input may take.
    pub(crate) memory_max: usize,
}

const MIB: usize = 1024 * 1024;

impl Target {
    const fn new(name: &'static str, work: Work) -> Self {
        Self { name, work, memory_max: 48 * MIB }
    }
}

pub(crate) const TARGETS: [Target; 10] = [
    Target::new("commands", Work::Made(cluster::commands)),
    Target::new("snapshots", Work::Plain(cluster::snapshots)),
    Target::new("segments", Work::Made(cluster::segments)),
    Target::new("notes", Work::Made(cluster::notes)),
    Target::new("bodies", Work::Made(http::bodies)),
    Target::new("signatures", Work::Made(http::signatures)),
    Target::new("scenarios", Work::Plain(console::scenarios)),
    Target::new("traces", Work::Plain(console::traces)),
    // A document of a link may have 8 MiB once it is unpacked.
    Target { memory_max: 192 * MIB, ..Target::new("links", Work::Plain(console::links)) },
    Target::new("exchanges", Work::Plain(wire::exchanges)),
];
