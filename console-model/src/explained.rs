//! The engine's explanations, shaped for the screens. Every sentence about a decision comes from `engine::explain`.

use engine::explain;
use engine::explain::Help;
use engine::explain::PolicyWords;
use engine::job::spec::IdlePolicy;
use engine::message::command::ApplyPlan;
use engine::message::command::CancelJob;
use engine::message::command::Command;
use engine::message::envelope::CommandKind;
use engine::message::envelope::Entry;
use engine::message::event::Event;
use engine::quota::policy::ChildLevelPreemption;
use engine::quota::policy::SelfLevelPreemption;
use engine::schedule::order;
use engine::state::world::State;
use engine::unit::id::JobNo;
use engine::unit::id::QuotaNo;
use engine::unit::ordered::Map;
use engine::unit::time::Timestamp;

/// Why a job waits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WhyText {
    /// The one reason that matters most.
    pub binding: String,
    /// All others, each with the source that was tried, in the order of the sources.
    pub others: Vec<(String, String)>,
    /// The smallest change that would start it now.
    pub help: Option<String>,
    /// That change as a command, where it is one.
    pub command: Option<Command>,
    /// Its place in the queue.
    pub place: Option<String>,
    /// When it is expected to start, where durations are declared.
    pub estimate: Option<String>,
}

/// What the engine says of a draft.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PolicyText {
    /// What it allows, or what is wrong with it.
    pub says: Vec<String>,
    /// Whether that is a fault.
    pub is_fault: bool,
}

/// How many jobs of a queue get a place in the table: beyond that it is only a long way off.
const PLACES_MAX: usize = 1_000;

/// Each waiting job's place in the queue of its quota, from 1. Who waits for an eviction's backoff has none yet.
#[must_use]
pub fn places(state: &State, now: Timestamp) -> Map<JobNo, usize> {
    let queues = state.queue.quotas.iter().map(|quota| order::positions(state, *quota, now));
    queues.flat_map(|queue| queue.into_iter().take(PLACES_MAX).zip(1..)).collect()
}

/// A waiting job's place, from 1.
#[must_use]
pub fn place(state: &State, no: JobNo, now: Timestamp) -> Option<usize> {
    let quota = state.jobs.get(no)?.spec.quota;
    order::positions(state, quota, now).into_iter().position(|other| other == no).map(|at| at + 1)
}

/// The reasons of a waiting job; nothing for a job that does not wait.
#[must_use]
pub fn why(state: &State, no: JobNo, now: Timestamp) -> Option<WhyText> {
    let why = explain::why(state, no, now)?;
    let quota = state.drawn_on(&state.jobs[no].spec);
    Some(WhyText {
        binding: sentence(&why.binding),
        others: why.others.iter().map(|(source, text)| (sentence(explain::source(*source)), sentence(text))).collect(),
        command: why.help.as_ref().and_then(|help| command(state, no, help)),
        help: Some(why.help.map_or_else(|| STARTS_ANYWAY.to_owned(), |help| sentence(&help.sentence))),
        place: why.position.map(|position| format!("Place {position} in the queue of {quota}.")),
        estimate: why
            .estimate
            .map(|at| format!("If nothing else is submitted, it starts in about {}.", explain::period(at - now))),
    })
}

/// What does what a tip says. What really runs has a command line of its own, which is not here to be sent once more.
fn command(state: &State, no: JobNo, help: &Help) -> Option<Command> {
    let anew = help.resubmit.as_ref().filter(|_| !state.cluster.is_reported()).map(|submission| {
        let cancel = Command::CancelJob(CancelJob { job: state.jobs[no].spec.id.clone() });
        Command::ApplyPlan(ApplyPlan { commands: vec![cancel, Command::SubmitJob((**submission).clone())] })
    });
    help.command.clone().or(anew)
}

/// What there is to do for a job that waits for the next round alone: a tip is given where it is not so.
const STARTS_ANYWAY: &str = "Nothing has to change: the next round starts it.";

/// The one reason that matters most: as the job's class was last told, or asked anew.
#[must_use]
pub fn binding(state: &State, no: JobNo, now: Timestamp) -> String {
    let class = state.jobs.get(no).and_then(|job| job.class).and_then(|class| state.queue.classes.get(class.at()));
    match class.and_then(|class| class.hold.as_ref()) {
        Some(hold) => sentence(&explain::binding(state, hold, now)),
        None => why(state, no, now).map(|why| why.binding).unwrap_or_default(),
    }
}

/// Words with which the engine begins a fragment. Any other first word is a name, which keeps its letters.
const FIRST_WORDS: [&str; 10] =
    ["the", "settings", "resource", "node", "scaled", "own", "idle", "taking", "child-level", "self-level"];

/// A sentence fragment as a sentence on its own.
#[must_use]
pub fn sentence(fragment: &str) -> String {
    let mut text = fragment.trim().to_owned();
    if text.split(' ').next().is_some_and(|word| FIRST_WORDS.contains(&word)) {
        text[..1].make_ascii_uppercase();
    }
    if !text.is_empty() && !text.ends_with(['.', '!', '?']) {
        text.push('.');
    }
    text
}

/// What the events of an entry say, and whether somebody lost something.
#[must_use]
pub fn sentences(state: &State, events: &[Event]) -> Vec<(String, bool)> {
    let said =
        events.iter().filter_map(|event| explain::event(state, event).map(|text| (sentence(&text), is_loss(event))));
    said.collect()
}

/// Whether an event takes something from somebody.
#[must_use]
pub fn is_loss(event: &Event) -> bool {
    matches!(event, Event::Evicted { .. } | Event::Shrunk { .. })
}

/// What an entry of the log was.
#[must_use]
pub fn title(entry: &Entry<CommandKind>) -> &'static str {
    match entry.envelope.command.kind.as_deref() {
        Some("create_cluster") => "Cluster created",
        Some("update_cluster") => "Cluster changed",
        Some("node_silent") => "Node not heard",
        Some("node_heard") => "Node heard again",
        Some("put_group") => "Resource group",
        Some("put_node") => "Node",
        Some("delete_node") => "Node deleted",
        Some("create_quota") => "Quota created",
        Some("update_quota") => "Quota settings",
        Some("scale_quotas") => "Scaling",
        Some("delete_quota") => "Quota deleted",
        Some("create_offer") => "Offer created",
        Some("update_offer") => "Offer terms",
        Some("delete_offer") => "Offer removed",
        Some("publish_price") => "Price",
        Some("set_inventory") => "Inventory",
        Some("submit_job") => "Job submitted",
        Some("cancel_job") => "Job cancelled",
        Some("set_priority") => "Priority changed",
        Some("resize_job") => "Service resized",
        Some("report") => "Report",
        Some("put_workspace") => "Workspace",
        Some("delete_workspace") => "Workspace deleted",
        Some("attach_quota") => "Quota attached",
        Some("detach_quota") => "Quota detached",
        Some("put_member") => "Member",
        Some("remove_member") => "Member removed",
        Some("create_key") => "Key created",
        Some("rotate_key") => "Key rotated",
        Some("revoke_key") => "Key revoked",
        Some("apply_plan") => "Plan applied",
        Some("round") => "Round",
        Some(_) => "Another command",
        None => "In another workspace",
    }
}

/// What a child-level policy allows.
#[must_use]
pub fn child_level(state: &State, no: QuotaNo, policy: Option<&ChildLevelPreemption>) -> PolicyText {
    match policy {
        Some(policy) => text(explain::child_level(state, no, policy)),
        None => off(),
    }
}

/// What a self-level policy allows.
#[must_use]
pub fn self_level(state: &State, no: QuotaNo, policy: Option<&SelfLevelPreemption>) -> PolicyText {
    match policy {
        Some(policy) => text(explain::self_level(state, no, policy)),
        None => off(),
    }
}

fn text(words: PolicyWords) -> PolicyText {
    let PolicyWords { allows, protects } = words;
    PolicyText { says: std::iter::once(allows).chain(protects).collect(), is_fault: false }
}

fn off() -> PolicyText {
    PolicyText { says: vec!["Off: nobody is evicted by this policy.".to_owned()], ..PolicyText::default() }
}

/// A choice of the form, in words.
#[must_use]
pub fn idle_policy(idle: IdlePolicy) -> &'static str {
    match idle {
        IdlePolicy::Off => "off",
        IdlePolicy::Acceptable => "acceptable",
        IdlePolicy::Only => "only idle",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_title() {
        let entry = |command: &str| {
            let text = format!(
                r#"{{"format":1,"revision":1,"at":0,"envelope":{{"format":1,"id":"a","command":{command}}},"events":[]}}"#
            );
            title(&serde_json::from_str(&text).unwrap())
        };
        for command in include_str!("../../engine/tests/fixtures/commands.jsonl").lines() {
            assert_ne!(entry(command), "Another command", "{command}");
        }
        assert_eq!(entry(r#"{"round":{"slot":7}}"#), "Round");
        assert_eq!(entry("null"), "In another workspace");
    }

    #[test]
    fn fragments_become_sentences() {
        assert_eq!(sentence("the quota is full"), "The quota is full.");
    }

    #[test]
    fn names_keep_their_letters() {
        assert_eq!(sentence("inference stopped"), "inference stopped.");
        assert_eq!(sentence("Quota1 has 0 GPUs."), "Quota1 has 0 GPUs.");
    }
}
