//! How much memory it takes to open a large state and to write it, beside what it takes itself.

use std::collections::BTreeSet;
use std::sync::Arc;

use engine::host::authority;
use engine::message::snapshot::Snapshot;
use engine::state::jobs::Job;
use engine::state::world::State;
use protocol::fault::Fault;
use protocol::log::text_of;
use protocol::replay::restore_state;
use serde_json::json;

use crate::memory::START;
use crate::world::envelope;
use crate::world::founding;

const JOBS: usize = 4_000;
/// The text is read in pieces of so many bytes.
const PIECE: usize = 20_000;

/// A state with jobs that wait, of a workspace and by a user whose names are long.
fn crowded() -> State {
    let mut state = State::default();
    let (lab, user) = ("w".repeat(60), "u".repeat(60));
    let invite = json!({ "put_workspace": { "workspace": lab } });
    let attach = json!({ "attach_quota": { "workspace": lab, "quota": "a" } });
    let member = json!({ "put_member": { "workspace": lab, "user": user, "roles": ["developer"] } });
    let job = |at: usize| {
        let pods = json!([{ "amount": { "gpu": 1000 * (1 + at % 4) } }]);
        json!({ "submit_job": { "job": format!("job-{at}"), "quota": "a", "workspace": lab, "user": user, "pods": pods } })
    };
    let made = [invite, attach, member].into_iter().chain((0..JOBS).map(job));
    let made = made.enumerate().map(|(at, command)| envelope(&format!("made-{at}"), &command));
    for envelope in founding().into_iter().chain(made) {
        authority::step(&mut state, &envelope.command, START).expect("it is accepted");
    }
    state
}

fn pieces(text: &str) -> impl Iterator<Item = Result<String, Fault>> {
    let cut = |at: usize| text.floor_char_boundary(at * PIECE);
    (0..text.len().div_ceil(PIECE)).map(move |at| Ok(text[cut(at)..cut(at + 1)].to_owned()))
}

#[test]
fn a_large_state_is_opened_and_written_with_little_beside_it() {
    let state = crowded();
    let text = text_of(&Snapshot::of(&state)).expect("it is text");
    let before = heap::live();
    let (opened, most) = heap::peak(|| restore_state("the snapshot", pieces(&text)).expect("it is one"));
    let held = usize::try_from(heap::live() - before).unwrap_or_default();
    assert!(Snapshot::of(&opened).to_bytes() == text.as_bytes(), "it is the same");
    println!("{JOBS} jobs take {held} bytes, {most} while they are opened from {} bytes", text.len());
    // The jobs are there twice at no time, and of the text there are some pieces.
    assert!(most <= held + held / 8 + 2 * PIECE, "{most} bytes at once, {held} of them for good");

    let (snapshot, most) = heap::peak(|| Snapshot::of(&opened));
    assert!(most <= held / 8, "{most} bytes for a snapshot of {held}: it has the jobs of the state");
    drop(snapshot);
    let (written, most) = heap::peak(|| text_of(&Snapshot::of(&opened)).expect("it is text"));
    assert_eq!(written, text);
    assert!(most <= text.len() + text.len() / 8 + 2 * PIECE, "{most} bytes to write {}", text.len());
}

#[test]
fn jobs_that_are_opened_share_what_they_have_in_common() {
    let text = text_of(&Snapshot::of(&crowded())).expect("it is text");
    let opened = restore_state("the snapshot", pieces(&text)).expect("it is one");
    let of_workspace = |job: &Job| job.spec.workspace.as_ref().map(|id| id.as_str().as_ptr().addr());
    let of_user = |job: &Job| job.spec.user.as_ref().map(|id| id.as_str().as_ptr().addr());
    let of_shape = |job: &Job| Some(Arc::as_ptr(&job.spec.shape).addr());
    assert_eq!(n_different(&opened, of_workspace), 1);
    assert_eq!(n_different(&opened, of_user), 1);
    assert_eq!(n_different(&opened, of_shape), 4, "one for each number of GPUs");
}

/// How many places something of jobs stands in.
fn n_different(state: &State, of: impl Fn(&Job) -> Option<usize>) -> usize {
    let places = state.jobs.iter().map(|(_, job)| of(job).expect("each job has one"));
    places.collect::<BTreeSet<_>>().len()
}
