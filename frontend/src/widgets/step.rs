//! A step of a guided set-up, and the other ways to do the same.

use leptos::prelude::*;

use crate::widgets::copy_button::CopyButton;
use console_model::set_up::Made;

/// The step.
#[component]
pub(crate) fn Step(
    /// Which one it is.
    number: u8,
    /// What it is about.
    title: &'static str,
    /// Whether something of it is there.
    #[prop(into)]
    is_done: Signal<bool>,
    /// What it is for.
    about: &'static str,
    /// Its form.
    children: Children,
) -> impl IntoView {
    let id = format!("step-{number}");
    let labelled = id.clone();
    view! {
        <li>
            <section class="card step" aria-labelledby=labelled>
                <h2 id=id>{format!("{number}. {title}")}{move || is_done.get().then(|| view! { <span class="done">" ✓ done"</span> })}</h2>
                <p class="hint">{about}</p>
                {children()}
            </section>
        </li>
    }
}

/// The same from a shell, with its file.
#[component]
pub(crate) fn Ways(
    /// What the step makes now.
    #[prop(into)]
    made: Signal<Result<Made, String>>,
    /// What the file is called.
    file: &'static str,
    /// A command before that.
    #[prop(optional, into)]
    first: Signal<String>,
    /// A further command.
    #[prop(optional, into)]
    then: Signal<String>,
) -> impl IntoView {
    let text = move || made.with(|made| made.as_ref().ok().map(|made| made.file.trim().to_owned()));
    let commands = move || format!("{}\ntidegate apply {file}\n{}", first.get(), then.get()).trim().to_owned();
    view! {
        <details class="ways">
            <summary>"The same from a shell"</summary>
            <pre class="shell" tabindex="0">{commands}</pre>
            <p class="hint">{file}</p>
            <pre class="file" tabindex="0">{text}</pre>
            <CopyButton label="Copy the file" text=Callback::new(move |()| text()) />
        </details>
    }
}
