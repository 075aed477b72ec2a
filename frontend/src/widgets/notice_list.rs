//! What people are told in passing, at the foot of the page.

use leptos::prelude::*;

use crate::session::notices::Notice;
use crate::session::notices::Notices;

/// The list.
#[component]
pub(crate) fn NoticeList(
    /// The notices.
    notices: Notices,
) -> impl IntoView {
    let item = move |notice: Notice| {
        let no = notice.no;
        let undo = notice.undo.map(|undo| {
            let click = move |_| {
                undo.run(());
                notices.dismiss(no);
            };
            view! { <button type="button" on:click=click>"Undo"</button> }
        });
        view! {
            <li class=format!("notice notice-{}", notice.tone.as_str())>
                <span>{notice.text}</span>
                {undo}
                <button type="button" class="quiet" aria-label="Dismiss" on:click=move |_| notices.dismiss(no)>"✕"</button>
            </li>
        }
    };
    view! {
        <div class="notices" role="region" aria-label="Messages" aria-live="polite">
            <ul role="list"><For each=move || notices.all() key=|notice| notice.no children=item /></ul>
        </div>
    }
}
