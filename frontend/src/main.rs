//! The console's entry point.
use leptos::prelude::*;

fn main() {
    console_error_panic_hook::set_once();
    leptos::mount::mount_to_body(Console);
}

#[component]
fn Console() -> impl IntoView {
    view! {
        <main id="console">
            <h1>"Tidegate"</h1>
        </main>
    }
}
