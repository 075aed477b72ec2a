//! A quota's bar: where its GPUs are, on the scale of the longest bar, with a tick at what is guaranteed.

use leptos::prelude::*;

use console_model::books::Book;
use console_model::gpus::gpus;

/// The parts of a bar, left to right.
fn parts(book: &Book) -> [(&'static str, i64); 5] {
    [
        ("own", book.own),
        ("children", book.children),
        ("lent", book.lent + book.above),
        ("idle", book.idle),
        ("borrowed", book.borrowed),
    ]
}

/// The same as a sentence.
pub(crate) fn sentence(book: &Book) -> String {
    let above =
        if book.above > 0 { format!(", {} held by its parent's jobs", gpus(book.above)) } else { String::new() };
    format!(
        "{} guaranteed: {} used by own jobs, {} by children, {} lent out{above}, {} idle; {} borrowed.",
        gpus(book.guaranteed),
        gpus(book.own),
        gpus(book.children),
        gpus(book.lent),
        gpus(book.idle),
        gpus(book.borrowed)
    )
}

/// `part` of `whole` in per cent.
#[expect(clippy::cast_precision_loss, reason = "a width on the screen")]
fn per_cent(part: i64, whole: i64) -> f64 {
    if whole <= 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 }
}

/// The bar.
#[component]
pub(crate) fn QuotaBar(
    /// The numbers.
    book: Book,
    /// The longest bar of the screen.
    longest: i64,
) -> impl IntoView {
    let segments = parts(&book).into_iter().filter(|(_, value)| *value > 0).map(|(part, value)| {
        view! { <span class=format!("bar-part bar-{part}") style:width=format!("{:.3}%", per_cent(value, longest))></span> }
    });
    view! {
        <span class="bar" role="img" aria-label=sentence(&book) title=sentence(&book)>
            {segments.collect_view()}
            <span class="bar-tick" style:left=format!("{:.3}%", per_cent(book.guaranteed, longest))></span>
        </span>
    }
}
