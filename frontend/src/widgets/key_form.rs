//! Asks for the key.

use leptos::prelude::*;

use crate::widgets::field::TextField;

/// The form.
#[component]
pub(crate) fn KeyForm(
    /// Called with the key.
    enter: Callback<String>,
) -> impl IntoView {
    let key = RwSignal::new(String::new());
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        enter.run(key.get_untracked());
    };
    view! {
        <section class="state-page">
            <h1>"Sign in"</h1>
            <p>"Paste your access key and its secret, as they were shown together. The session stays in this tab and ends after twelve hours, or when the tab is closed."</p>
            <form on:submit=submit>
                <TextField id="key" label="Key" value=key change=Callback::new(move |text| key.set(text)) hint="KEY:SECRET" />
                <button type="submit" class="primary">"Sign in"</button>
            </form>
        </section>
    }
}
