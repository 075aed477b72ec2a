//! The last step of the set-up: people, their roles, and the keys by which they log in.

use engine::message::command::Command;
use engine::message::command::people::CreateKey;
use engine::state::world::State;
use engine::unit::id::UserId;
use engine::workspace::key::KeyId;
use engine::workspace::role::Role;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api::browser;
use crate::api::client;
use crate::pages::set_up_plan::made_of;
use crate::pages::set_up_plan::plan;
use crate::pages::workspace::ROLES;
use crate::pages::workspace::what_roles_are_for;
use crate::session::Session;
use crate::session::notices::Tone;
use crate::session::send::envelope;
use crate::widgets::action_button::ActionButton;
use crate::widgets::choice::Choice;
use crate::widgets::copy_button::CopyButton;
use crate::widgets::field::TextField;
use crate::widgets::step::Ways;
use console_model::explained::sentence;
use console_model::set_up;
use console_model::set_up::Person;

/// The step.
#[component]
pub(crate) fn People() -> impl IntoView {
    let session = Session::here();
    let draft = RwSignal::new(Person { role: Role::Owner.as_str().to_owned(), ..Person::default() });
    let teams = Memo::new(move |_| session.ask(team_names).unwrap_or_default());
    // Somebody who has not chosen a team is of the first one.
    Effect::new(move |_| {
        if let Some(first) = teams.get().first().filter(|_| draft.with_untracked(|draft| draft.team.is_empty())) {
            draft.update(|draft| draft.team.clone_from(first));
        }
    });
    let made = made_of(session, draft, Person::made);
    let secret = RwSignal::new(None::<String>);
    let add = Callback::new(move |()| {
        if let Ok(made) = made.get_untracked() {
            let user = draft.with_untracked(|draft| draft.user.trim().to_owned());
            spawn_local(async move {
                if session.send(plan(&made)).await.is_ok() {
                    make_key(session, &user, secret).await;
                }
            });
        }
    });
    let denied = Signal::derive(move || session.denied(made.get().ok()?.commands.first()?));
    let is_idle = Signal::derive(move || made.with(Result::is_err));
    // Nothing is wrong before a name is typed.
    let wrong = move || {
        let is_typed = draft.with(|draft| !draft.user.trim().is_empty());
        made.with(|made| made.as_ref().err().filter(|_| is_typed).cloned())
    };
    let team_options = Signal::derive(move || teams.get().into_iter().map(|name| (name.clone(), name)).collect());
    let role_options: Vec<(String, String)> =
        ROLES.map(|role| (role.as_str().to_owned(), role.as_str().to_owned())).into();
    let user = Signal::derive(move || draft.with(|draft| draft.user.clone()));
    let team = Signal::derive(move || draft.with(|draft| draft.team.clone()));
    let role = Signal::derive(move || draft.with(|draft| draft.role.clone()));
    let key_command = Signal::derive(move || {
        let user = user.get();
        if user.trim().is_empty() { String::new() } else { format!("tidegate key create {}", user.trim()) }
    });
    view! {
        <div class="form-row">
            <TextField id="person-user" label="User" value=user change=Callback::new(move |text| draft.update(|draft| draft.user = text)) is_short=true />
            <Choice id="person-team" label="Team" options=team_options value=team change=Callback::new(move |text| draft.update(|draft| draft.team = text)) />
            <Choice id="person-role" label="Role" options=Signal::stored(role_options) value=role change=Callback::new(move |text| draft.update(|draft| draft.role = text)) />
            <ActionButton id="add-person" label="Add, and make a key" denied=denied is_idle=is_idle act=add />
        </div>
        {move || wrong().map(|wrong| view! { <p class="fault">{wrong}</p> })}
        <div role="status">
            {move || secret.get().map(|secret| view! {
                <p>"Key and secret, which are shown this one time. They log in as their owner:"</p>
                <p><code class="secret">{secret.clone()}</code></p>
                <CopyButton label="Copy key and secret" text=Callback::new(move |()| Some(secret.clone())) />
            })}
        </div>
        {what_roles_are_for()}
        <Ways made=made file="people.toml" then=key_command />
    }
}

fn team_names(state: &State) -> Vec<String> {
    set_up::teams(state).into_iter().map(|no| state.quotas[no.at()].id.to_string()).collect()
}

/// Makes a key and shows it.
async fn make_key(session: Session, user: &str, secret: RwSignal<Option<String>>) {
    let key = KeyId::new(&format!("{}.{}", session.name(), browser::unique(user)));
    let (Some(key), Ok(user)) = (key, UserId::new(user)) else { return };
    let (serves, adopts) = (Vec::new(), Vec::new());
    let create = CreateKey { key: key.clone(), user, administers: false, expires: None, serves, adopts };
    let Some(envelope) = envelope(Command::CreateKey(create)) else { return };
    match client::make_secret(&session.name(), &envelope).await {
        Ok(made) => {
            secret.try_set(made.map(|made| format!("{key}:{made}")));
        }
        Err(failure) => {
            session.notices.show(Tone::Refused, sentence(&failure.to_string()), None);
        }
    }
}
