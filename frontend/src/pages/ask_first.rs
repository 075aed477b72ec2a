//! What takes something from somebody is asked before it is sent. The engine says what it takes; where it takes
//! nothing, nobody is asked.

use std::sync::Arc;

use engine::message::command::Command;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api::browser;
use crate::session::Session;
use crate::session::notices::Tone;
use crate::widgets::confirm::Question;
use console_model::preview;
use console_model::preview::Preview;
use console_model::preview::Verdict;

/// A command that may evict, shrink or end jobs.
#[derive(Clone)]
pub(crate) struct Proposal {
    /// What it would do.
    pub(crate) command: Command,
    /// How the button that sends it begins, such as `Save`.
    pub(crate) action: &'static str,
    /// Sends it.
    pub(crate) send: Arc<dyn Fn() + Send + Sync>,
}

impl Proposal {
    /// A change that is sent as it is; once it is made, `done` is shown.
    pub(crate) fn of(session: Session, command: Command, action: &'static str, done: impl Into<String>) -> Self {
        let (ours, done) = (command.clone(), done.into());
        let send = move || {
            let (command, done) = (ours.clone(), done.clone());
            spawn_local(async move {
                if session.send(command).await.is_ok() {
                    session.notices.show(Tone::Done, done, None);
                }
            });
        };
        Self { command, action, send: Arc::new(send) }
    }
}

/// Sends a command at once if it takes nothing from any job, and asks otherwise.
pub(crate) fn ask_first(session: Session, question: RwSignal<Option<Question>>, proposal: Proposal) {
    weigh(session, question, proposal, &Preview::default());
}

/// Asks until nothing happens to jobs that has not been shown: others may change the cluster while one reads.
fn weigh(session: Session, question: RwSignal<Option<Question>>, proposal: Proposal, seen: &Preview) {
    let preview = foresee(session, &proposal.command);
    if preview.is_within(seen) {
        (proposal.send)();
        return;
    }
    let shown = preview.clone();
    let (title, button) = (preview.cost.question(), preview.cost.button(proposal.action));
    let act = Arc::new(move || weigh(session, question, proposal.clone(), &shown));
    question.set(Some(Question { title, costs: preview.cost.lost().into_iter().collect(), preview, button, act }));
}

/// A proposal about which is asked in any case, with what is said of it beside what it takes from jobs.
#[derive(Clone)]
pub(crate) struct Asked {
    /// `Cordon n1?`
    pub(crate) title: String,
    /// What it means.
    pub(crate) says: Vec<String>,
    /// What is sent.
    pub(crate) proposal: Proposal,
}

/// Asks whatever the command takes, and again if it has come to take more by the time of the answer. What is proposed is
/// made anew then, since others may change the cluster while one reads. One that would be refused is sent without a
/// question: the refusal says why.
pub(crate) fn ask_anyway(
    session: Session,
    question: RwSignal<Option<Question>>,
    propose: Arc<dyn Fn() -> Option<Asked> + Send + Sync>,
) {
    let Some(Asked { title, says, proposal }) = propose() else { return };
    let preview = foresee(session, &proposal.command);
    if preview.verdict == Verdict::Refused {
        (proposal.send)();
        return;
    }
    let (button, shown) = (preview.cost.button(proposal.action), preview.clone());
    let costs = says.into_iter().chain(preview.cost.lost()).collect();
    let act = move || {
        let Some(asked) = propose() else { return };
        if foresee(session, &asked.proposal.command).is_within(&shown) {
            (asked.proposal.send)();
        } else {
            ask_anyway(session, question, propose.clone());
        }
    };
    question.set(Some(Question { title, costs, preview, button, act: Arc::new(act) }));
}

/// Asks before a command that takes something from people. One that would be refused is sent without a question: the
/// refusal says why.
pub(crate) fn ask_people(session: Session, question: RwSignal<Option<Question>>, command: &Command, asked: Question) {
    if foresee(session, command).verdict == Verdict::Refused {
        (asked.act)();
    } else {
        question.set(Some(asked));
    }
}

fn foresee(session: Session, command: &Command) -> Preview {
    session.ask_once(|state| preview::of_change(state, command, browser::now())).unwrap_or_default()
}
