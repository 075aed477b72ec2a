//! The figures of `tidegate bench`, measured inside of a Wasm module.
//!
//! The host lends its clock, puts the trace in place, calls `measure`, and reads a JSON list of figures. For growth it
//! calls one of `prepare_jobs`, `prepare_nodes`, `prepare_backlog` and `prepare_bids`, and then `round`, and counts in between by its own means.
#![expect(unsafe_code, reason = "an exported or imported name is unsafe code to the compiler; nothing else here is")]

use std::sync::Mutex;
use std::time::Duration;

use script::session::Session;
use tidegate::bench::growth;
use tidegate::bench::growth::Growing;
use tidegate::bench::measure;
use tidegate::bench::timing::Bench;
use tidegate::bench::timing::Philly;
use tidegate::meter::Meter;
use tidegate::meter::Place;
use trace::sheet::Source;

#[link(wasm_import_module = "host")]
unsafe extern "C" {
    /// Microseconds since some moment that stays the same.
    safe fn now_us() -> f64;
}

/// The trace's jobs, its quotas, and what was measured.
static TEXTS: [Mutex<Vec<u8>>; 3] = [Mutex::new(Vec::new()), Mutex::new(Vec::new()), Mutex::new(Vec::new())];
const JOBS: usize = 0;
const QUOTAS: usize = 1;
const OUTPUT: usize = 2;

static SESSION: Mutex<Option<Session>> = Mutex::new(None);

/// A place for so many bytes: 0 is the trace's jobs, 1 its quotas.
#[unsafe(no_mangle)]
pub extern "C" fn reserve(text: usize, length: usize) -> *const u8 {
    let Some(Ok(mut bytes)) = TEXTS.get(text).map(Mutex::lock) else { return std::ptr::null() };
    *bytes = vec![0; length];
    bytes.as_ptr()
}

/// Measures everything, and tells how many bytes of JSON came of it: figures, or a text that says what is wrong.
#[unsafe(no_mangle)]
pub extern "C" fn measure() -> usize {
    let philly = (!text(JOBS).is_empty()).then(|| Philly {
        jobs: Source { name: "philly_week.csv".to_owned(), bytes: text(JOBS) },
        quotas: Source { name: "philly_quotas.csv".to_owned(), bytes: text(QUOTAS) },
    });
    let figures = measure::all(Bench { meter: &Module, philly: philly.as_ref(), is_once: false }, &[], &mut |_| ());
    let json = match figures {
        Ok(figures) => serde_json::to_vec(&figures),
        Err(problem) => serde_json::to_vec(&problem),
    };
    let json = json.unwrap_or_default();
    let length = json.len();
    if let Ok(mut output) = TEXTS[OUTPUT].lock() {
        *output = json;
    }
    length
}

/// Where the figures are.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    TEXTS[OUTPUT].lock().map_or(std::ptr::null(), |output| output.as_ptr())
}

/// Builds a cluster whose next round judges every job for the first time; 1 if that worked.
#[unsafe(no_mangle)]
pub extern "C" fn prepare_jobs(jobs: u32, quotas: u32) -> u32 {
    prepare(Growing::Jobs, jobs, quotas)
}

/// Builds a cluster on so many nodes whose next round judges every job for the first time; 1 if that worked.
#[unsafe(no_mangle)]
pub extern "C" fn prepare_nodes(nodes: u32, jobs: u32) -> u32 {
    prepare(Growing::Nodes, nodes, jobs)
}

/// Builds a full cluster with so many waiting jobs that may preempt; 1 if that worked.
#[unsafe(no_mangle)]
pub extern "C" fn prepare_backlog(jobs: u32, quotas: u32) -> u32 {
    prepare(Growing::Backlog, jobs, quotas)
}

/// Builds a market whose next round moves every price; 1 if that worked.
#[unsafe(no_mangle)]
pub extern "C" fn prepare_bids(bids: u32, offers: u32) -> u32 {
    prepare(Growing::Bids, bids, offers)
}

fn prepare(growing: Growing, count: u32, among: u32) -> u32 {
    let Ok(mut session) = SESSION.lock() else { return 0 };
    *session = growth::growth_cluster(growing, count, among).ok();
    u32::from(session.is_some())
}

/// Runs that round, and tells how many events came of it.
#[unsafe(no_mangle)]
pub extern "C" fn round() -> u32 {
    let Ok(mut session) = SESSION.lock() else { return 0 };
    let events = session.as_mut().map_or(Ok(0), growth::one_full_round);
    events.ok().and_then(|events| u32::try_from(events).ok()).unwrap_or(0)
}

fn text(which: usize) -> Vec<u8> {
    TEXTS[which].lock().map(|bytes| bytes.clone()).unwrap_or_default()
}

/// This module: its clock is the host's, its memory only grows.
struct Module;

impl Meter for Module {
    fn place(&self) -> Place {
        Place::Wasm
    }

    fn now(&self) -> Duration {
        Duration::from_secs_f64(now_us() / 1_000_000.0)
    }

    fn held_bytes(&self) -> Option<u64> {
        memory_bytes()
    }

    fn peak_bytes(&self) -> Option<u64> {
        memory_bytes()
    }
}

#[cfg(target_arch = "wasm32")]
fn memory_bytes() -> Option<u64> {
    u64::try_from(core::arch::wasm32::memory_size(0)).ok().map(|pages| pages << 16)
}

#[cfg(not(target_arch = "wasm32"))]
fn memory_bytes() -> Option<u64> {
    None
}
