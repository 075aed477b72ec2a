//! Access keys: created, rotated, revoked; a secret is shown once.

use std::sync::Arc;

use engine::explain;
use engine::message::command::Command;
use engine::message::command::people::CreateKey;
use engine::message::command::people::RevokeKey;
use engine::message::command::people::RotateKey;
use engine::unit::id::UserId;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use engine::workspace::key::AccessKey;
use engine::workspace::key::KeyId;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api::browser;
use crate::api::browser::clock;
use crate::api::client;
use crate::api::client::KeyLine;
use crate::api::failure::Failure;
use crate::pages::address::title;
use crate::pages::ask_first::ask_people;
use crate::session::Session;
use crate::session::latest::latest;
use crate::session::notices::Tone;
use crate::session::send::envelope;
use crate::widgets::action_button::ActionButton;
use crate::widgets::confirm::Confirm;
use crate::widgets::confirm::Question;
use crate::widgets::copy_button::CopyButton;
use crate::widgets::field::TextField;
use console_model::explained::sentence;
use console_model::preview::Preview;

/// How long the old secret serves beside a new one, so that programs can be told the new one.
const OVERLAP: Millis = Millis::HOUR;

/// What the page shows and does.
#[derive(Clone, Copy)]
struct Keys {
    session: Session,
    /// How many commands have been sent from here.
    n_sent: RwSignal<u32>,
    /// The secret that was made last, with its key.
    secret: RwSignal<Option<String>>,
    /// What is asked before a secret stops serving.
    question: RwSignal<Option<Question>>,
}

/// The page.
#[component]
pub(crate) fn KeysPage() -> impl IntoView {
    let session = Session::here();
    title(|| "Access keys".to_owned());
    let keys = Keys { session, n_sent: RwSignal::new(0), secret: RwSignal::new(None), question: RwSignal::new(None) };
    let shown = move || keys.secret.get();
    view! {
        <div class="page-head"><h1>"Access keys"</h1></div>
        <p class="hint">"Programs sign their requests with a key and its secret; people sign in with them."</p>
        <div role="status">
            {move || shown().map(|secret| view! {
                <section class="card" aria-labelledby="secret-title">
                    <h2 id="secret-title">"Key and secret"</h2>
                    <p>"Keep this now: it is shown this one time. Anybody who has it acts as the key's owner."</p>
                    <p><code class="secret">{secret.clone()}</code></p>
                    <CopyButton label="Copy key and secret" text=Callback::new(move |()| Some(secret.clone())) />
                </section>
            })}
        </div>
        <section class="card" aria-labelledby="keys-title">
            <h2 id="keys-title">"Keys"</h2>
            {table(keys)}
        </section>
        <section class="card" aria-labelledby="new-key-title">
            <h2 id="new-key-title">"New key"</h2>
            {form(keys)}
        </section>
        <Confirm question=keys.question />
    }
}

impl Keys {
    /// Reads the list, again after each command and whenever somebody else has changed a key.
    fn read(self) -> RwSignal<Option<Result<Vec<KeyLine>, Failure>>> {
        let news = Memo::new(move |_| self.session.ask(|state| state.keys.clone()));
        latest(move || {
            news.get();
            self.n_sent.get();
            Some(async move { client::keys(&self.session.name()).await })
        })
    }

    /// Sends a command; the secret that it makes is shown.
    fn send(self, key: KeyId, command: Command) {
        let Some(envelope) = envelope(command) else { return };
        spawn_local(async move {
            match client::make_secret(&self.session.name(), &envelope).await {
                Ok(secret) => {
                    // A key that is revoked takes its own secret away; another one is still to be copied.
                    self.secret.try_update(|shown| match secret {
                        Some(secret) => *shown = Some(format!("{key}:{secret}")),
                        None => drop(shown.take_if(|shown| shown.starts_with(&format!("{key}:")))),
                    });
                    self.n_sent.update(|n_sent| *n_sent += 1);
                }
                Err(failure) => {
                    self.session.notices.show(Tone::Refused, sentence(&failure.to_string()), None);
                }
            }
        });
    }
}

fn table(keys: Keys) -> impl IntoView {
    let read = keys.read();
    let lines = move || read.get().and_then(Result::ok).unwrap_or_default();
    let is_empty = move || read.with(|read| matches!(read, Some(Ok(lines)) if lines.is_empty()));
    let failed = move || read.with(|read| Some(sentence(&read.as_ref()?.as_ref().err()?.to_string())));
    let row = move |line: KeyLine| {
        let KeyLine { key, last_used, is_now } = line;
        let name = key.to_string();
        let now = keys.session.now.get_untracked();
        let state = match is_now.generations(now).count() {
            0 if is_now.is_revoked => "revoked",
            0 => "expired",
            1 => "serves",
            _ => "serves, with its secret before as well",
        };
        let is_over = Signal::stored(is_now.generations(now).next().is_none());
        let rotate = Command::RotateKey(RotateKey { key: key.clone(), overlap_ms: OVERLAP });
        let revoke = Command::RevokeKey(RevokeKey { key: key.clone() });
        let costs_of_rotating = costs_of_rotating(&is_now, now);
        let costs_of_revoking = costs_of_revoking(last_used);
        let action = move |label: &'static str, command: Command, costs: Vec<String>| {
            let (command, key, name) = (StoredValue::new(command), key.clone(), format!("{label} {key}"));
            let denied = Signal::derive(move || command.with_value(|command| keys.session.denied(command)));
            let (title, button) = (format!("{name}?"), name.clone());
            let ends = matches!(command.get_value(), Command::RevokeKey(_));
            let act = Callback::new(move |()| {
                let (command, key) = (command.get_value(), key.clone());
                let sent = command.clone();
                let act = Arc::new(move || keys.send(key.clone(), sent.clone()));
                let (title, costs, button) = (title.clone(), costs.clone(), button.clone());
                let asked = Question { title, costs, preview: Preview::default(), button, act };
                ask_people(keys.session, keys.question, &command, asked);
            });
            view! { <ActionButton id=name.replace(' ', "-") label=label name=name denied=denied is_idle=is_over ends=ends act=act /> }
        };
        view! {
            <tr>
                <td>{name}</td>
                <td>{is_now.owner.to_string()}{is_now.administers.then_some(", administrator of the cluster")}</td>
                <td>{state}</td>
                <td class="num">{clock(is_now.created)}</td>
                <td class="num">{last_used.map_or_else(|| "never".to_owned(), clock)}</td>
                <td>{action("Rotate", rotate, costs_of_rotating)}" "{action("Revoke", revoke, costs_of_revoking)}</td>
            </tr>
        }
    };
    view! {
        {move || failed().map(|reason| view! { <p class="warning" role="alert">{reason}</p> })}
        <div class="plain-table" role="region" tabindex="0" aria-label="Access keys">
            <table>
                <thead><tr>{["Key", "Owner", "State", "Created", "Last used", "Change"].map(|name| view! { <th scope="col">{name}</th> }).into_iter().collect_view()}</tr></thead>
                <tbody>{move || lines().into_iter().map(row).collect_view()}</tbody>
            </table>
            {move || is_empty().then(|| view! { <p class="nothing">"There is none."</p> })}
        </div>
    }
}

/// Which secrets stop serving, and when.
fn costs_of_rotating(key: &AccessKey, now: Timestamp) -> Vec<String> {
    let period = explain::period(OVERLAP);
    let older = (key.generations(now).count() > 1).then(|| "The secret before it stops at once.".to_owned());
    let newest =
        format!("The secret that serves now stops in {period}. Until then, give the new one to all who use it.");
    std::iter::once(newest).chain(older).collect()
}

/// Whom it shuts out.
fn costs_of_revoking(last_used: Option<Timestamp>) -> Vec<String> {
    let used = last_used
        .map_or_else(|| "It has never been used.".to_owned(), |at| format!("It was last used at {}.", clock(at)));
    vec!["Everybody who uses it is signed out and refused at once. It cannot be brought back.".to_owned(), used]
}

fn form(keys: Keys) -> impl IntoView {
    let session = keys.session;
    let me = move || session.me.get().map(|me| me.user.to_string()).unwrap_or_default();
    let typed = RwSignal::new(None::<String>);
    let user = Signal::derive(move || typed.get().unwrap_or_else(me));
    let administers = RwSignal::new(false);
    let command = move |key: KeyId| {
        let user = UserId::new(user.get().trim()).ok()?;
        Some(Command::CreateKey(CreateKey {
            key,
            user,
            administers: administers.get(),
            expires: None,
            serves: Vec::new(),
            adopts: Vec::new(),
        }))
    };
    let key = move || KeyId::new(&format!("{}.{}", session.name(), browser::unique("key")));
    let denied = Signal::derive(move || session.denied(&command(KeyId::new("any")?)?));
    let create = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let Some(key) = key() else { return };
        if let Some(command) = untrack(|| command(key.clone())) {
            keys.send(key, command);
        }
    };
    view! {
        <form class="form" aria-labelledby="new-key-title" on:submit=create>
            <div class="form-row">
                <TextField id="key-user" label="Whose it is" value=user change=Callback::new(move |text| typed.set(Some(text))) is_short=true />
                <label class="check">
                    <input type="checkbox" prop:checked=administers on:change=move |event| administers.set(event_target_checked(&event)) />
                    <span>"Administers the cluster"</span>
                </label>
                <ActionButton id="create-key" label="Create key" denied=denied is_submit=true />
            </div>
        </form>
    }
}
