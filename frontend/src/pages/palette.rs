//! Goes anywhere in the open cluster.

use console_model::destination;
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;

use crate::session::Session;
use crate::widgets::palette::Palette;

/// The palette, which closes itself.
#[component]
pub(crate) fn GoAnywhere(
    /// Whether it is open.
    is_open: RwSignal<bool>,
) -> impl IntoView {
    let session = Session::here();
    let navigate = use_navigate();
    let text = RwSignal::new(String::new());
    let found = Memo::new(move |_| {
        let name = session.name();
        text.with(|text| session.ask(|state| destination::found(state, &name, text))).unwrap_or_default()
    });
    let go = Callback::new(move |address: String| navigate(&address, NavigateOptions::default()));
    let close = Callback::new(move |()| is_open.set(false));
    view! { <Palette text=text found=found.into() go=go close=close /> }
}
