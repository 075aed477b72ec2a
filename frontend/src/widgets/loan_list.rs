//! What a quota has lent, and what it has borrowed.

use leptos::prelude::*;

/// A loan, seen from one side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LoanLine {
    /// How much.
    pub(crate) amount: String,
    /// The job that holds it.
    pub(crate) job: String,
    /// The quota on the other side.
    pub(crate) other: String,
}

/// Both lists.
#[component]
pub(crate) fn LoanList(
    /// To others.
    lent: Vec<LoanLine>,
    /// From others.
    borrowed: Vec<LoanLine>,
    /// The address of a job's page.
    href: Callback<String, String>,
) -> impl IntoView {
    let list = move |title: &'static str, preposition: &'static str, loans: Vec<LoanLine>| {
        let items = loans.into_iter().map(move |loan| {
            view! { <li>{loan.amount}{format!(" {preposition} {}: ", loan.other)}<a href=href.run(loan.job.clone())>{loan.job.clone()}</a></li> }
        });
        view! { <h3>{title}</h3><ul class="lines" aria-label=title>{items.collect_view()}</ul> }
    };
    if lent.is_empty() && borrowed.is_empty() {
        return view! { <p class="hint">"Nothing is lent and nothing is borrowed."</p> }.into_any();
    }
    let lists =
        [("Lent", "to", lent), ("Borrowed", "from", borrowed)].into_iter().filter(|(_, _, loans)| !loans.is_empty());
    lists.map(|(title, preposition, loans)| list(title, preposition, loans)).collect_view().into_any()
}
