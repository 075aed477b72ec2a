//! The workspaces that one may see.

use std::collections::BTreeMap;

use engine::message::command::Command;
use engine::message::command::people::PutWorkspace;
use engine::state::world::State;
use engine::unit::id::WorkspaceId;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api::browser;
use crate::api::key;
use crate::pages::address::title;
use crate::pages::cluster_deletion::ClusterDeletion;
use crate::session::Session;
use crate::widgets::action_button::ActionButton;
use crate::widgets::field::TextField;
use crate::widgets::plain_table::Cell;
use crate::widgets::plain_table::PlainTable;
use console_model::gpus;
use console_model::path;

/// The page.
#[component]
pub(crate) fn WorkspacesPage() -> impl IntoView {
    let session = Session::here();
    title(|| "Workspaces".to_owned());
    let cluster = session.name();
    let rows = Signal::derive(move || session.ask(|state| rows(state, session)).unwrap_or_default());
    let who = move || {
        session.me.get().map(|me| {
            let role = if me.administers { ", administrator of the cluster" } else { "" };
            format!("Signed in as {}{role}.", me.user)
        })
    };
    let name = RwSignal::new(String::new());
    let command = move |text: &str| {
        let workspace = WorkspaceId::new(text.trim()).ok()?;
        Some(Command::PutWorkspace(PutWorkspace { workspace, name: None, description: None }))
    };
    // Whether one may create any shows before a name is typed.
    let denied = Signal::derive(move || session.denied(&command("new")?));
    let create = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let Some(command) = command(&name.get_untracked()) else { return };
        spawn_local(async move {
            if session.send(command).await.is_ok() {
                name.try_set(String::new());
            }
        });
    };
    // With the page goes its connection, and all that whoever comes next may not see.
    let sign_out = move |_| {
        key::forget();
        browser::reload();
    };
    view! {
        <div class="page-head">
            <h1>"Workspaces"</h1>
            <a class="button" href=path::keys(&cluster)>"Access keys"</a>
            <a class="button" href=path::audit(&cluster)>"Audit"</a>
            <button type="button" on:click=sign_out>"Sign out"</button>
        </div>
        <p class="hint" role="status">{who}</p>
        <div class="card">
            <PlainTable caption="Workspaces" columns=vec!["Workspace", "Your roles", "Quotas", "Members", "Jobs that have not ended"] rows=rows empty="You are a member of no workspace." />
        </div>
        <section class="card" aria-labelledby="new-title">
            <h2 id="new-title">"New workspace"</h2>
            <form class="form" aria-labelledby="new-title" on:submit=create>
                <div class="form-row">
                    <TextField id="new-workspace" label="Workspace's name" value=name change=Callback::new(move |text| name.set(text)) is_short=true />
                    <ActionButton id="create-workspace" label="Create workspace" denied=denied is_idle=Signal::derive(move || name.with(|name| name.trim().is_empty())) is_submit=true />
                </div>
            </form>
        </section>
        <ClusterDeletion />
    }
}

fn rows(state: &State, session: Session) -> Vec<Vec<Cell>> {
    let me = session.me.get();
    let mut n_jobs: BTreeMap<&WorkspaceId, usize> = BTreeMap::new();
    for (_, job) in state.jobs.iter().filter(|(_, job)| !job.is_ended()) {
        if let Some(workspace) = &job.spec.workspace {
            *n_jobs.entry(workspace).or_default() += 1;
        }
    }
    let row = |(id, workspace): (&WorkspaceId, &engine::workspace::space::Workspace)| {
        let roles = me.as_ref().map(|me| workspace.roles(&me.user)).unwrap_or_default();
        let names: Vec<&str> = roles.iter().map(engine::workspace::role::Role::as_str).collect();
        let quotas: Vec<&str> = workspace.quotas.iter().map(|no| state.quotas[no.at()].id.as_str()).collect();
        vec![
            Cell::Link(id.to_string(), path::workspace(&session.name(), id.as_str())),
            Cell::Text(names.join(", ")),
            Cell::Text(quotas.join(", ")),
            Cell::Number(workspace.members.len().to_string()),
            Cell::Number(n_jobs.get(id).copied().unwrap_or_default().to_string()),
        ]
    };
    state.workspaces.iter().map(row).collect()
}

/// What a workspace's jobs use of the GPUs, in words.
pub(crate) fn used(state: &State, id: &WorkspaceId) -> String {
    let of_it = state.jobs.iter().filter(|(_, job)| job.spec.workspace.as_ref() == Some(id) && job.is_running());
    gpus::gpus(of_it.map(|(no, _)| state.cluster.gpus(&state.held_by(no))).sum())
}
