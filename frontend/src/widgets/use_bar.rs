//! How many GPUs of a machine are used: a bar on its own scale, and the numbers.

use leptos::prelude::*;

use console_model::gpus::bare;
use console_model::gpus::gpus;

/// The bar.
#[component]
pub(crate) fn UseBar(
    /// Those that are used, in thousandths.
    used: i64,
    /// All of them.
    all: i64,
) -> impl IntoView {
    if all <= 0 {
        return view! { <span class="zero">"no GPUs"</span> }.into_any();
    }
    let parts = [("own", used), ("idle", all - used)].into_iter().filter(|(_, value)| *value > 0);
    let segments = parts.map(|(part, value)| {
        let width = format!("{}%", value * 100 / all);
        view! { <span class=format!("bar-part bar-{part}") style:width=width></span> }
    });
    let words = format!("{} of {} used", bare(used), gpus(all));
    view! {
        <span class="use-bar">
            <span class="bar" role="img" aria-label=words.clone() title=words>{segments.collect_view()}</span>
            <span class="num" aria-hidden="true">{format!("{}/{}", bare(used), bare(all))}</span>
        </span>
    }
    .into_any()
}
