//! A node: how it is, what it holds, what is overdue, and what an administrator can do to it.

use std::sync::Arc;

use engine::message::command::Command;
use engine::unit::id::NodeNo;
use leptos::prelude::*;

use crate::api::browser;
use crate::api::browser::clock;
use crate::pages::ask_first::Asked;
use crate::pages::ask_first::Proposal;
use crate::pages::ask_first::ask_anyway;
use crate::session::Session;
use crate::session::agents::Agents;
use crate::widgets::action_button::ActionButton;
use crate::widgets::confirm::Confirm;
use crate::widgets::confirm::Question;
use crate::widgets::mark::Mark;
use crate::widgets::plain_table::Cell;
use crate::widgets::plain_table::PlainTable;
use console_model::agents;
use console_model::gpus::bare;
use console_model::gpus::gpus;
use console_model::node_action::NodeAction;
use console_model::nodes;
use console_model::nodes::Holder;
use console_model::nodes::NodeRow;
use console_model::path;

const TITLE_ID: &str = "node-title";

/// The node of this name, if there is one; nothing while none is chosen.
pub(crate) fn node_view(session: Session, name: Signal<String>, agents: Agents) -> impl IntoView {
    let row = Memo::new(move |_| session.ask(|state| nodes::named(state, &name.get())).flatten());
    let no = Memo::new(move |_| row.get().map(|row| row.no));
    let question = RwSignal::new(None);
    // The chosen node is scrolled into view, also where it stands below the list.
    Effect::new(move |before: Option<String>| {
        let chosen = name.get();
        if before.is_some_and(|before| before != chosen) && !chosen.is_empty() {
            request_animation_frame(|| {
                browser::focus(TITLE_ID);
            });
        }
        chosen
    });
    let card = move |no: NodeNo| {
        let row = Signal::derive(move || row.get());
        view! {
            <section class="card sticky" aria-labelledby=TITLE_ID>
                <h2 id=TITLE_ID tabindex="-1">{move || name.get()}</h2>
                {move || row.get().map(|row| head(session, &row, agents))}
                {move || warnings(session, name, agents)}
                {held(session, no)}
                {actions(session, no, agents, question)}
            </section>
        }
    };
    view! {
        {move || no.get().map(card)}
        {move || (no.get().is_none() && !name.with(String::is_empty)).then(|| view! { <section class="card"><p class="nothing">{format!("There is no node {}.", name.get())}</p></section> })}
        <Confirm question=question />
    }
}

/// How it is, and whose it is.
fn head(session: Session, row: &NodeRow, agents: Agents) -> impl IntoView + use<> {
    let NodeRow { node, group, machine, state, silent_since, gpus: all, free, .. } = row.clone();
    let now = session.now.get();
    let agent = agents.with(|agents| {
        let known = agents.as_ref()?.as_ref().ok()?;
        Some(agents::of_node(known, &node).map(|agent| format!("{}, heard {}", agent.agent, agent.last_heard(now))))
    });
    // Where nobody has been asked for agents, nothing is said of them.
    let agent = agent.map(|agent| agent.unwrap_or_else(|| "none has named it".to_owned()));
    let facts = [
        ("Group", Some(group)),
        ("Machine", Some(machine).filter(|machine| !machine.is_empty())),
        ("GPUs", Some(format!("{} of {} free", bare(free), gpus(all)))),
        ("Agent", agent),
        ("Silent since", silent_since.map(clock)),
    ];
    let fact = |(label, value): (&'static str, Option<String>)| {
        value.map(|value| view! { <div><dt>{label}</dt><dd>{value}</dd></div> })
    };
    view! {
        <p><Mark name=state.as_str() mark=state.mark() words=state.words().to_owned() />" "<span class="hint">{state.about()}</span></p>
        <dl class="facts">{facts.into_iter().filter_map(fact).collect_view()}</dl>
    }
}

/// Why nothing can begin there, and what is overdue.
fn warnings(session: Session, name: Signal<String>, agents: Agents) -> impl IntoView {
    let name = name.get();
    let overdue = session.ask(|state| nodes::overdue(state, &name, session.now.get())).unwrap_or_default();
    let all = unfit(agents, &name).into_iter().chain(overdue);
    all.map(|sentence| view! { <p class="warning">{sentence}</p> }).collect_view()
}

fn unfit(agents: Agents, node: &str) -> Option<String> {
    agents.with(|agents| agents::unfit(agents.as_ref()?.as_ref().ok()?, node))
}

/// The jobs that hold something there; those of workspaces that one does not see have no page.
fn held(session: Session, no: NodeNo) -> impl IntoView {
    let rows = Signal::derive(move || {
        let line = |Holder { job, state, holds }: Holder| {
            let name = if job.is_elsewhere() {
                Cell::Text("a job of another workspace".to_owned())
            } else {
                Cell::Link(job.to_string(), path::job(&session.name(), job.as_str()))
            };
            vec![name, Cell::State(state.as_str(), state.mark(), state.words().to_owned()), Cell::Number(holds)]
        };
        session.ask(|state| nodes::holders(state, no).into_iter().map(line).collect::<Vec<_>>()).unwrap_or_default()
    });
    view! { <PlainTable caption="Jobs there" columns=vec!["Job", "State", "Holds"] rows=rows empty="Nothing runs there." /> }
}

/// What can be done to it; each asks first.
fn actions(session: Session, no: NodeNo, agents: Agents, question: RwSignal<Option<Question>>) -> impl IntoView {
    let offered = Memo::new(move |_| session.ask(|state| NodeAction::offered(state, no)).unwrap_or_default());
    let command = move |action: NodeAction| session.ask(|state| action.command(state, no));
    let propose = move |action: NodeAction| -> Option<Asked> {
        let (node, command, says): (String, Command, Vec<String>) = session.ask_once(|state| {
            let node = state.nodes[no.at()].id.to_string();
            let says = action.says(state, no, untrack(|| unfit(agents, &node)).as_deref());
            (node, action.command(state, no), says)
        })?;
        Some(Asked {
            title: action.question(&node),
            says,
            proposal: Proposal::of(session, command, action.words(), action.done(&node)),
        })
    };
    let button = move |action: NodeAction| {
        let denied = Signal::derive(move || session.denied(&command(action)?));
        let act = Callback::new(move |()| ask_anyway(session, question, Arc::new(move || propose(action))));
        view! { <ActionButton id=format!("node-{}", action.as_str()) label=action.words() denied=denied ends=action.ends() act=act /> }
    };
    view! { <div class="form-row node-actions">{move || offered.get().into_iter().map(button).collect_view()}</div> }
}
