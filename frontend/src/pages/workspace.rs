//! A workspace: its quotas, its members and their roles.

use std::sync::Arc;

use engine::message::command::Command;
use engine::message::command::people::AttachQuota;
use engine::message::command::people::DeleteWorkspace;
use engine::message::command::people::DetachQuota;
use engine::message::command::people::PutMember;
use engine::message::command::people::RemoveMember;
use engine::state::jobs::Job;
use engine::state::world::State;
use engine::unit::id::QuotaId;
use engine::unit::id::UserId;
use engine::unit::id::WorkspaceId;
use engine::workspace::role::Role;
use engine::workspace::role::RoleSet;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos::web_sys::HtmlSelectElement;

use crate::pages::address::parameter;
use crate::pages::address::title;
use crate::pages::ask_first::ask_people;
use crate::pages::deletion::Deletion;
use crate::pages::jobs::quota_options;
use crate::pages::workspaces::used;
use crate::session::Session;
use crate::session::notices::Tone;
use crate::widgets::action_button::ActionButton;
use crate::widgets::choice::Choice;
use crate::widgets::confirm::Confirm;
use crate::widgets::confirm::Question;
use crate::widgets::field::TextField;
use console_model::deletion;
use console_model::path;
use console_model::preview::Preview;

/// What is asked before somebody or something is removed.
type Asked = RwSignal<Option<Question>>;

/// The roles that members have.
pub(crate) const ROLES: [Role; 5] = [Role::Guest, Role::Developer, Role::Operator, Role::Administrator, Role::Owner];

/// The page.
#[component]
pub(crate) fn WorkspacePage() -> impl IntoView {
    let session = Session::here();
    let name = parameter("workspace");
    title(move || name.get());
    let id = Memo::new(move |_| {
        let id = WorkspaceId::new(&name.get()).ok()?;
        session.ask(|state| state.workspaces.contains_key(&id).then_some(id)).flatten()
    });
    move || {
        match id.get() {
        Some(id) => workspace_view(session, id).into_any(),
        None => view! { <section class="state-page"><h1>{move || format!("There is no workspace {}", name.get())}</h1><p><a href=path::workspaces(&session.name())>"To all workspaces"</a></p></section> }.into_any(),
    }
    }
}

fn workspace_view(session: Session, id: WorkspaceId) -> impl IntoView {
    let id = StoredValue::new(id);
    let name = id.get_value().to_string();
    let jobs = path::jobs_where(&session.name(), "q", &name);
    let used = move || session.ask(|state| used(state, &id.get_value()));
    let question = RwSignal::new(None);
    let command = Command::DeleteWorkspace(DeleteWorkspace { workspace: id.get_value() });
    let says = Arc::new(move |state: &State| deletion::of_workspace(state, &id.get_value()));
    let after = path::workspaces(&session.name());
    let deletion = view! { <Deletion kind="workspace" name=name.clone() command=command says=says after=after /> };
    view! {
        <div class="page-head">
            <h1>{name}</h1>
            <a class="button" href=jobs>"Its jobs"</a>
        </div>
        <p class="hint">{move || used().map(|used| format!("Its running jobs hold {used}."))}</p>
        <div class="columns">
            <section class="card" aria-labelledby="members-title">
                <h2 id="members-title">"Members"</h2>
                {members(session, id, question)}
                {new_member(session, id)}
            </section>
            <section class="card" aria-labelledby="quotas-title">
                <h2 id="quotas-title">"Quotas"</h2>
                {quotas(session, id, question)}
            </section>
            <div>{deletion}</div>
        </div>
        <Confirm question=question />
    }
}

/// Sends a command and says what it has done.
fn send(session: Session, command: Command, done: String) {
    spawn_local(async move {
        if session.send(command).await.is_ok() {
            session.notices.show(Tone::Done, done, None);
        }
    });
}

fn members(session: Session, id: StoredValue<WorkspaceId>, question: Asked) -> impl IntoView {
    let list = Memo::new(move |_| {
        let of = |state: &State| {
            let workspace = state.workspaces.get(&id.get_value())?;
            Some(workspace.members.iter().map(|(user, member)| (user.clone(), member.roles)).collect::<Vec<_>>())
        };
        session.ask(of).flatten().unwrap_or_default()
    });
    let rows =
        move || list.get().into_iter().map(|(user, roles)| member(session, id, &user, roles, question)).collect_view();
    view! {
        <div class="plain-table" role="region" tabindex="0" aria-label="Table of the members">
            <table>
                <thead><tr><th scope="col">"User"</th><th scope="col">"Role"</th><th scope="col">"Change"</th></tr></thead>
                <tbody>{rows}</tbody>
            </table>
            {move || list.with(Vec::is_empty).then(|| view! { <p class="nothing">"Nobody yet."</p> })}
        </div>
    }
}

fn member(
    session: Session,
    id: StoredValue<WorkspaceId>,
    user: &UserId,
    roles: RoleSet,
    question: Asked,
) -> impl IntoView + use<> {
    let put = {
        let user = user.clone();
        move |roles: RoleSet| Command::PutMember(PutMember { workspace: id.get_value(), user: user.clone(), roles })
    };
    let remove = Command::RemoveMember(RemoveMember { workspace: id.get_value(), user: user.clone() });
    let removal = StoredValue::new(remove);
    let words: Vec<&str> = roles.iter().map(Role::as_str).collect();
    let words = words.join(" and ");
    // Whoever may not leave a role as it is may change nothing about this member.
    let unchanged = put(roles);
    let denied = Signal::derive(move || session.denied(&unchanged));
    let reason_id = format!("role-of-{user}-reason");
    let described = reason_id.clone();
    let (label, changed) = (format!("Role of {user}"), user.to_string());
    let is_one = roles.iter().count() == 1;
    let current = if is_one { words.clone() } else { String::new() };
    let change = move |event: leptos::ev::Event| {
        let chosen = event_target_value(&event);
        // What is shown is what is so: a change that is accepted shows the member anew.
        event_target::<HtmlSelectElement>(&event).set_value(&current);
        let Some(role) = ROLES.into_iter().find(|role| role.as_str() == chosen) else { return };
        send(session, put([role].into_iter().collect()), format!("{changed} is {role} now."));
    };
    let options = ROLES.into_iter().map(|role| {
        view! { <option value=role.as_str() selected=is_one && roles.contains(role)>{role.as_str()}</option> }
    });
    let several = (!is_one).then(|| view! { <option value="" selected=true>{words}</option> });
    let leaving = user.clone();
    let act = Callback::new(move |()| {
        let (command, name) = (removal.get_value(), leaving.to_string());
        let costs = session.ask_once(|state| cost_of_leaving(state, &id.get_value(), &leaving)).unwrap_or_default();
        let (sent, done) = (command.clone(), format!("{name} is no member any more."));
        let act = Arc::new(move || send(session, sent.clone(), done.clone()));
        let (title, button) = (format!("Remove {name} from {}?", id.get_value()), format!("Remove {name}"));
        ask_people(session, question, &command, Question { title, costs, preview: Preview::default(), button, act });
    });
    view! {
        <tr>
            <td>{user.to_string()}</td>
            <td>
                <select aria-label=label disabled=move || denied.get().is_some() aria-describedby=move || denied.get().map(|_| described.clone()) on:change=change>{several}{options.collect_view()}</select>
                {move || denied.get().map(|reason| view! { <span class="hint" id=reason_id.clone()>{reason}</span> })}
            </td>
            <td><ActionButton id=format!("remove-{user}") label="Remove" name=format!("Remove {user}") denied=Signal::derive(move || removal.with_value(|command| session.denied(command))) ends=true act=act /></td>
        </tr>
    }
}

/// What somebody loses with their roles, and what stays.
fn cost_of_leaving(state: &State, id: &WorkspaceId, user: &UserId) -> Vec<String> {
    let is_theirs = |job: &Job| job.spec.workspace.as_ref() == Some(id) && job.spec.user.as_ref() == Some(user);
    let n_jobs = state.jobs.iter().filter(|(_, job)| !job.is_ended() && is_theirs(job)).count();
    let stays = match n_jobs {
        0 => None,
        1 => Some("Their job there goes on.".to_owned()),
        n_jobs => Some(format!("Their {n_jobs} jobs there go on.")),
    };
    std::iter::once(format!("{user} loses all roles in {id}.")).chain(stays).collect()
}

fn new_member(session: Session, id: StoredValue<WorkspaceId>) -> impl IntoView {
    let (user, role) = (RwSignal::new(String::new()), RwSignal::new(Role::Developer.as_str().to_owned()));
    let command = move |user: &str, role: &str| {
        let user = UserId::new(user.trim()).ok()?;
        let roles = ROLES.into_iter().filter(|one| one.as_str() == role).collect();
        Some(Command::PutMember(PutMember { workspace: id.get_value(), user, roles }))
    };
    let denied = Signal::derive(move || {
        let user = user.get();
        session.denied(&command(if user.trim().is_empty() { "somebody" } else { &user }, &role.get())?)
    });
    let add = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let name = user.get_untracked();
        let Some(command) = command(&name, &role.get_untracked()) else { return };
        user.set(String::new());
        send(session, command, format!("{} is a member now.", name.trim()));
    };
    let options: Vec<(String, String)> = ROLES.map(|role| (role.as_str().to_owned(), role.as_str().to_owned())).into();
    view! {
        <form class="form" aria-label="New member" on:submit=add>
            <div class="form-row">
                <TextField id="new-member" label="User" value=user change=Callback::new(move |text| user.set(text)) is_short=true />
                <Choice id="new-role" label="Role" options=Signal::stored(options) value=role change=Callback::new(move |text| role.set(text)) />
                <ActionButton id="add-member" label="Add member" denied=denied is_idle=Signal::derive(move || user.with(|user| user.trim().is_empty())) is_submit=true />
            </div>
        </form>
        {what_roles_are_for()}
    }
}

/// Each role in a line, from the least to the most.
pub(crate) fn what_roles_are_for() -> impl IntoView {
    let line = |role: Role| view! { <div><dt>{role.as_str()}</dt><dd>{role.about()}</dd></div> };
    view! { <dl class="facts roles">{ROLES.map(line).into_iter().collect_view()}</dl> }
}

fn quotas(session: Session, id: StoredValue<WorkspaceId>, question: Asked) -> impl IntoView {
    let list = Memo::new(move |_| {
        let of = |state: &State| {
            let workspace = state.workspaces.get(&id.get_value())?;
            Some(workspace.quotas.iter().map(|no| state.quotas[no.at()].id.clone()).collect::<Vec<_>>())
        };
        session.ask(of).flatten().unwrap_or_default()
    });
    let attach = move |quota: &str| {
        let quota = QuotaId::new(quota).ok()?;
        Some(Command::AttachQuota(AttachQuota { workspace: id.get_value(), quota }))
    };
    let line = move |quota: QuotaId| {
        let name = quota.to_string();
        let detach = StoredValue::new(Command::DetachQuota(DetachQuota { workspace: id.get_value(), quota }));
        let detached = name.clone();
        let act = Callback::new(move |()| {
            let (command, workspace) = (detach.get_value(), id.get_value());
            let (sent, done) = (command.clone(), format!("{detached} is detached."));
            let act = Arc::new(move || send(session, sent.clone(), done.clone()));
            let costs = vec![format!("Jobs of {workspace} can no longer be submitted to {detached}.")];
            let (title, button) = (format!("Detach {detached} from {workspace}?"), format!("Detach {detached}"));
            ask_people(
                session,
                question,
                &command,
                Question { title, costs, preview: Preview::default(), button, act },
            );
        });
        view! {
            <li>
                <a href=path::quota(&session.name(), &name)>{name.clone()}</a>" "
                <ActionButton id=format!("detach-{name}") label="Detach" name=format!("Detach {name}") denied=Signal::derive(move || detach.with_value(|command| session.denied(command))) act=act />
            </li>
        }
    };
    let chosen = RwSignal::new(String::new());
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let Some(command) = attach(&chosen.get_untracked()) else { return };
        send(session, command, format!("{} is attached.", chosen.get_untracked()));
    };
    view! {
        <ul class="lines">{move || list.get().into_iter().map(line).collect_view()}</ul>
        {move || list.with(Vec::is_empty).then(|| view! { <p class="nothing">"None: its members can submit only bids on the market."</p> })}
        <form class="form" aria-label="Attach a quota" on:submit=submit>
            <div class="form-row">
                <Choice id="attach" label="Quota" options=quota_options(session, "Choose a quota") value=chosen change=Callback::new(move |text| chosen.set(text)) />
                <ActionButton id="attach-quota" label="Attach quota" denied=Signal::derive(move || session.denied(&attach("any")?)) is_idle=Signal::derive(move || chosen.with(String::is_empty)) is_submit=true />
            </div>
        </form>
    }
}
