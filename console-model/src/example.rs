//! The three-team example as a state, for tests: 128 GPUs, all of them in use.

use engine::host::authority;
use engine::message::command::Command;
use engine::message::command::SubmitJob;
use engine::message::envelope::Envelope;
use engine::state::world::State;
use engine::unit::id::QuotaId;
use engine::unit::id::QuotaNo;
use engine::unit::time::Timestamp;

use crate::job_draft::JobDraft;

/// When everything in the example happens.
pub(crate) const START: Timestamp = Timestamp(1_700_000_000_000);

/// The example.
pub(crate) fn three_teams() -> State {
    let mut state = State::default();
    for line in include_str!("../../public/examples/three-teams.jsonl").lines() {
        let envelope: Envelope = serde_json::from_str(line).expect("the example can be read");
        decide(&mut state, &envelope.command);
    }
    state
}

/// Decides a command.
pub(crate) fn decide(state: &mut State, command: &Command) {
    authority::step(state, command, START).expect("the example's commands are accepted");
}

/// A job of one pod with so many GPUs.
pub(crate) fn job(state: &State, name: &str, quota: &str, gpus: u32) -> SubmitJob {
    let draft = JobDraft::new(&state.cluster, name.to_owned(), quota.to_owned());
    JobDraft { amounts: vec![gpus.to_string()], ..draft }.command(&state.cluster).expect("the form is complete")
}

/// A quota's number.
pub(crate) fn quota(state: &State, name: &str) -> QuotaNo {
    QuotaId::new(name).ok().and_then(|id| state.quota_no(&id)).expect("the quota exists")
}
