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
            <h1>"A key is needed"</h1>
            <p>"This cluster answers only to a key. It stays in this tab and is forgotten when the tab is closed."</p>
            <form on:submit=submit>
                <TextField id="key" label="Key" value=key change=Callback::new(move |text| key.set(text)) hint="or open the link that carries it: …#key=…" />
                <button type="submit" class="primary">"Open the cluster"</button>
            </form>
        </section>
    }
}
